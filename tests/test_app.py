"""The page in a real browser, over a scripted engine: what a visitor sees is what the events say."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

gr = pytest.importorskip("gradio")

from browser import Visitor, served
from scripted_engine import ScriptedEngine

from clover_viz.events import Event, Text, Verified
from clover_viz.examples import EXAMPLES, PROSE, TOOLS
from clover_viz.settings import AutoregressiveSettings, DenoiseSettings, SpeculativeSettings, usual
from clover_viz.trace.canvas import fold
from clover_viz.trace.stats import run_stats
from clover_viz.ui.chat.knobs import hidden, make_controls
from clover_viz.ui.theme import asset

ROOT = Path(__file__).parent.parent
TINY = ROOT / "assets" / "clover-tiny"
LONG = "say: " + "word " * 300  # more steps than any test waits for
STORY = "The keeper of the lighthouse counts.\n\n  - one\n  - two\n\nThen the lamp goes out, and nobody minds. " * 3


@pytest.fixture(scope="module")
def engine():
    return ScriptedEngine(STORY, pace=80)


@pytest.fixture(scope="module")
def address(engine):
    with served(lambda: engine) as (address, _):
        yield address


@pytest.fixture
def visitor(browser, address, engine):
    engine.pace = 80
    with Visitor(browser, address) as visitor:
        yield visitor
        assert not visitor.faults


# Records what the board shows after every drawing, with the number of records it had folded.
WATCH = """() => {
  const board = document.querySelector(".cv-board").parentElement.board;
  const draw = board.draw.bind(board);
  window.seen = [];
  board.draw = () => {
    draw();
    const tiles = [...document.querySelectorAll(".cv-tile")].map((tile) => ({
      state: tile.className.match(/cv-(masked|committed|given|unused|dropped|draft|rejected|discarded)/)[1],
      token: tile.querySelector(".cv-word").textContent,
      step: Number(tile.querySelector(".cv-step").textContent),
      forced: tile.classList.contains("cv-forced"),
    }));
    window.seen.push({ run: board.id, records: board.fold.records.length, tiles });
  };
}"""


def shown(token):
    return token.replace(" ", "·").replace("\n", "↵")


def drawn_events(engine, settings, **options):
    """The run again without a page: the events that the board draws."""
    pace, engine.pace = engine.pace, 1e6
    try:
        events = list(engine.generate([{"role": "user", "content": "go"}], settings, **options))
    finally:
        engine.pace = pace
    return [event for event in events if not isinstance(event, Text)]


def snapshots(visitor):
    return [seen for seen in visitor.page.evaluate("window.seen") if seen["run"] and seen["records"]]


def test_a_message_settles_on_the_board_and_in_the_conversation(visitor):
    visitor.send("go")
    visitor.page.wait_for_function("document.querySelectorAll('.cv-tile.cv-committed').length > 4")
    visitor.shoot("light-running")
    visitor.until("finished")
    visitor.ready()
    assert visitor.answer() == STORY
    assert visitor.tiles("masked") == 0 and visitor.tiles() > 0
    assert "Finished: " in visitor.words() and " a pass." in visitor.words()
    assert "passes" in visitor.page.locator(".cv-note").text_content()
    text = visitor.page.locator(".cv-answer .cv-text")
    assert text.evaluate("node => getComputedStyle(node).whiteSpace") == "pre-wrap"
    visitor.shoot("light-finished")


def test_every_drawing_equals_the_fold_of_the_events_so_far(visitor, engine):
    engine.pace = 15
    visitor.page.evaluate(WATCH)
    visitor.ask("go")
    events = drawn_events(engine, DenoiseSettings(threshold=0.95, block_size=32, coreset_top_p=0.9))
    seen = snapshots(visitor)
    assert len(seen) > 3
    for snapshot in seen:
        canvas = fold(events[: snapshot["records"]])
        if canvas.block is None or canvas.finished:
            continue
        for cell, tile in zip(canvas.block.cells, snapshot["tiles"], strict=True):
            state = cell.state if canvas.block.active or cell.state == "committed" else "unused"
            assert (tile["state"], tile["step"], tile["forced"]) == (state, cell.step, cell.forced)
            assert tile["token"] == ("" if state == "unused" else shown(cell.token))
    assert seen[-1]["records"] == len(events)
    assert [t["token"] for t in seen[-1]["tiles"] if t["state"] == "committed"] == [
        shown(cell.token) for cell in fold(events).block.cells
    ]


@pytest.mark.parametrize("mode, rule, steps, ids", [
    ("denoise", "exact", 1, "accept_rule ratio delta draft_steps"),
    ("denoise", "threshold", 3, "accept_rule ratio delta draft_steps"),
    ("speculative", "exact", 1, "threshold ratio delta"),
    ("speculative", "exact", 2, "ratio delta"),
    ("speculative", "threshold", 1, "threshold"),
    ("autoregressive", "exact", 1, "threshold block_size accept_rule ratio delta draft_steps coreset top_p"),
])  # fmt: skip
def test_what_does_nothing_is_hidden(mode, rule, steps, ids):
    assert sorted(hidden(mode, rule, steps)) == sorted(ids.split())
    sheet = asset("page.css")
    assert [name for name in ids.split() if f'body[data-hides~="{name}"] #{name}' not in sheet] == []
    if (mode, rule, steps) == ("denoise", "exact", 1):  # as the page comes
        assert f"body:not([data-hides]) :is({', '.join('#' + name for name in ids.split())})" in sheet


def test_one_token_at_a_time_fills_the_board_in_reading_order(visitor, engine):
    visitor.page.evaluate(WATCH)
    visitor.page.get_by_role("radio", name="One token at a time").check()
    visitor.page.wait_for_selector("#threshold", state="hidden")
    visitor.ask("go")
    events = drawn_events(engine, AutoregressiveSettings())
    for snapshot in snapshots(visitor):
        tokens = [shown(token.token) for token in fold(events[: snapshot["records"]]).tokens]
        start = (len(tokens) - 1) // 32 * 32 if tokens else 0
        shown_tokens = [tile["token"] for tile in snapshot["tiles"] if tile["state"] == "committed"]
        assert shown_tokens == tokens[start:]
    assert visitor.page.locator(".cv-part", has_text="Experts").is_hidden()
    visitor.shoot("light-one-token")


def test_draft_and_verify_shows_every_round(visitor, engine):
    engine.pace = 6
    visitor.page.evaluate(WATCH)
    visitor.page.get_by_label("Draft and verify").check()
    visitor.page.wait_for_selector("#accept_rule", state="visible")
    visitor.page.wait_for_selector("#threshold", state="hidden")
    visitor.ask("go")
    events = drawn_events(engine, SpeculativeSettings(block_size=32, coreset_top_p=0.9))
    seen = snapshots(visitor)
    states = set()
    for snapshot in seen:
        canvas = fold(events[: snapshot["records"]])
        if canvas.block is None or canvas.finished:
            continue
        for cell, tile in zip(canvas.block.cells, snapshot["tiles"], strict=True):
            states.add(tile["state"])
            refused = ("rejected", "discarded") if cell.state == "rejected" else (cell.state,)
            assert tile["state"] in refused and tile["token"] == shown(cell.token)
        if canvas.round is not None:
            kinds = [tile["state"] for tile in snapshot["tiles"][1:]]
            rest = len(kinds) - canvas.round.accepted
            refused = ["rejected"] + ["discarded"] * (rest - 1) if rest else []
            assert kinds == ["committed"] * canvas.round.accepted + refused
    assert states >= {"given", "draft", "committed", "rejected", "discarded"}
    rounds = sum(isinstance(event, Verified) for event in events)
    assert visitor.page.locator(".cv-ruler .cv-tick").count() == rounds
    assert visitor.page.locator(".cv-check").count() == len(events[-2].checks)
    meter = visitor.page.locator(".cv-meter", has_text="tokens / round").locator(".cv-value").text_content()
    assert meter == f"{run_stats(events).tokens_per_round:.2f}"
    visitor.page.locator(".cv-check").first.hover()
    verifier = visitor.page.locator(".cv-part", has_text="Verifier")
    assert "causal probability" in verifier.locator(".cv-says").text_content()
    visitor.shoot("light-draft-and-verify")


def test_the_lossy_verifier_says_so_and_shows_its_own_settings(visitor, engine):
    visitor.page.get_by_label("Draft and verify").check()
    visitor.page.get_by_label("Threshold: lossy").check()
    visitor.more_settings()
    visitor.page.wait_for_selector("#ratio", state="visible")
    visitor.ask("go")
    assert visitor.page.locator(".cv-limit:visible").count() > 0
    assert "lossy" in visitor.page.locator("#accept_rule").text_content()


SOON = 15  # passes at 5 a second: a click must have reached the engine by then, on a busy machine too


@pytest.mark.parametrize("mode", ["Denoise a block", "Draft and verify", "One token at a time"])
def test_stop_ends_the_passes_at_once_and_the_next_run_works(visitor, engine, mode):
    visitor.page.get_by_role("radio", name=mode).check()
    engine.pace = 5
    visitor.begins(lambda: visitor.send(LONG))
    visitor.page.wait_for_function("document.querySelectorAll('.cv-tile.cv-committed').length > 3")
    before = engine.passes
    visitor.page.locator("#stop").click()
    visitor.until("stopped")
    visitor.ready()
    assert engine.passes - before <= SOON
    assert "Stopped" in visitor.page.locator(".cv-note").text_content()
    if mode == "Denoise a block":
        assert visitor.tiles("committed") + visitor.tiles("masked") == 32, "a stopped block stays as it stood"
    engine.pace = 80
    visitor.ask("say: and on")
    assert visitor.answer() == "and on"


def test_step_by_step_holds_the_engine_between_passes(visitor, engine):
    engine.pace = 500
    records = "document.querySelector('.cv-board').parentElement.board.fold.records.filter((r) => 'ms' in r).length"
    visitor.page.get_by_label("Step by step").check()
    onward = visitor.page.get_by_role("button", name="Next pass")
    onward.wait_for()
    visitor.begins(lambda: visitor.send("go"))
    for passes in (1, 2, 3):
        visitor.page.wait_for_function(f"{records} === {passes}")
        visitor.hears("Held")
        visitor.page.wait_for_timeout(300)
        assert visitor.page.evaluate(records) == passes
        onward.click()
    visitor.page.wait_for_function(f"{records} === 4")
    visitor.shoot("light-step-by-step")
    visitor.page.get_by_label("Full speed").check()
    visitor.until("finished")
    assert visitor.answer() == STORY and "Held" not in visitor.words()
    assert onward.count() == 0 or not onward.is_visible()


def test_stop_ends_a_held_run(visitor, engine):
    visitor.page.get_by_label("Step by step").check()
    visitor.begins(lambda: visitor.send("go"))
    visitor.hears("Held")
    before = engine.passes
    visitor.page.locator("#stop").click()
    visitor.until("stopped")
    visitor.ready()
    assert engine.passes == before
    visitor.page.get_by_label("Full speed").check()
    visitor.ask("say: after")
    assert visitor.answer() == "after"


def test_two_visitors_never_mix_and_the_second_sees_that_it_waits(browser, visitor, address, engine):
    engine.pace = 2
    with Visitor(browser, address) as other:
        visitor.send("say: " + "alpha " * 30)
        visitor.until("running")
        other.send("say: " + "omega " * 30)
        other.hears("1 run ahead")
        assert other.tiles() == 0
        engine.pace = 80
        visitor.until("finished")
        other.until("finished")
        for page, own, foreign in ((visitor, "alpha", "omega"), (other, "omega", "alpha")):
            body = page.page.locator("body").inner_text()
            assert own in body and foreign not in body
            assert page.answer() == f"{own} " * 30


def test_one_visitors_settings_and_runs_are_not_the_others(browser, visitor, address, engine):
    with Visitor(browser, address) as other:
        other.page.get_by_label("Draft and verify").check()
        other.more_settings()
        other.page.locator("#system textarea").fill("Speak of omega only.")
        other.page.locator("#seed input").fill("7")
        other.page.locator("#temperature input[type=number]").fill("0.5")
        other.ask("say: omega")
        visitor.ask("say: alpha")
        (theirs, drafting, seven), (ours, denoising, none) = engine.runs[-2:]
        assert (drafting.mode, drafting.temperature, seven) == ("speculative", 0.5, 7)
        assert [m["content"] for m in theirs] == ["Speak of omega only.", "say: omega"]
        assert (denoising.mode, denoising.temperature, none) == ("denoise", 0.0, 0)
        assert [m["content"] for m in ours] == ["say: alpha"]
        for page, own, foreign in ((visitor, "alpha", "omega"), (other, "omega", "alpha")):
            page.page.get_by_role("tab", name="Player").click()
            page.page.locator("#player_run input").click()
            offered = page.page.locator("ul[role=listbox] [role=option]:visible")
            offered.first.wait_for()
            listed = " ".join(offered.all_text_contents())
            assert own in listed and foreign not in listed


def test_html_and_scripts_are_shown_as_they_are(visitor, engine):
    text = '<script>window.hit=1</script><img src=x onerror="window.hit=1"> {"a": [1, "|"]} `${window.hit=1}` {{value}}'
    visitor.ask(f"say: {text}")
    assert visitor.answer() == text
    assert visitor.page.locator(".cv-prompt .cv-text").text_content() == f"say: {text}"
    assert "".join(visitor.page.locator(".cv-tile.cv-committed .cv-word").all_text_contents()) == shown(text)
    assert visitor.page.evaluate("window.hit") is None
    assert visitor.page.locator(".cv-talk script, .cv-talk img, .cv-board script, .cv-board img").count() == 0


def test_nothing_is_asked_of_other_hosts(visitor, address):
    visitor.ask("go")
    assert visitor.requests
    assert [url for url in visitor.requests if not url.startswith((address, "data:", "blob:"))] == []


def test_an_error_is_shown_once_and_the_next_run_works(visitor):
    visitor.send("fail: now")
    visitor.until("error")
    visitor.ready()
    toast = visitor.page.locator(".toast-body")
    assert toast.count() == 1
    assert "the scripted engine failed on <b>purpose</b> & denoise" in toast.inner_text()
    told = "The run ended with an error: the scripted engine failed on <b>purpose</b> & denoise"
    assert visitor.page.locator(".cv-board .cv-words").first.text_content() == told  # when the message is gone
    assert "error" in visitor.page.locator(".cv-note").text_content()
    visitor.shoot("light-error", full_page=False)
    visitor.ask("say: fine")
    assert visitor.answer() == "fine"
    assert "failed on" not in visitor.page.locator(".cv-board .cv-words").first.text_content()


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("   ", "The message is empty"),
        ("x" * 100_001, "at most 100,000 characters, got 100,001"),
        ("x" * 30_000, "got a prompt of 30000"),
    ],
    ids=["empty", "too long for a page", "too long for the model"],
)
def test_a_prompt_that_cannot_be_taken_is_refused_in_words(visitor, engine, message, says):
    before = engine.started
    visitor.send(message)
    visitor.page.wait_for_selector(".toast-body")
    assert says in visitor.page.locator(".toast-body").inner_text()
    assert engine.started == before
    visitor.ready()


def test_a_setting_out_of_range_is_refused_in_words(visitor, engine):
    before = engine.started
    visitor.more_settings()
    visitor.page.locator("#seed input").fill("-1")
    visitor.page.keyboard.press("Tab")
    visitor.send("go")
    visitor.page.wait_for_selector(".toast-body")
    assert "seed must be a whole number in [0, " in visitor.page.locator(".toast-body").inner_text()
    assert engine.started == before


def test_settings_reach_the_engine(visitor, engine):
    visitor.more_settings()
    visitor.page.locator("#block_size").get_by_label("8", exact=True).check()
    visitor.page.locator("#coreset").get_by_role("checkbox").uncheck()
    visitor.page.locator("#system textarea").fill("Be brief.")
    visitor.unfold("Against repetition", "#presence_penalty input[type=number]")
    penalty = visitor.page.locator("#presence_penalty input[type=number]")
    penalty.fill("0.5")
    penalty.blur()
    visitor.ask("go")
    assert visitor.page.locator(".cv-tile").count() == 8
    assert engine.calls[-1] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "go"}]
    run = visitor.page.evaluate("document.querySelector('.cv-board').parentElement.board.fold.run")
    assert run["set"]["block_size"] == 8 and run["set"]["coreset_top_p"] is None
    assert run["set"]["presence_penalty"] == 0.5 and run["set"]["frequency_penalty"] == 0
    assert visitor.page.locator(".cv-chip").count() > 10


def test_examples_run_at_a_press_with_their_tools(visitor, engine):
    visitor.begins(visitor.page.get_by_role("button", name=EXAMPLES[0].name).click)
    visitor.until("finished")
    assert engine.calls[-1] == [
        {"role": "system", "content": TOOLS},
        {"role": "user", "content": EXAMPLES[0].prompt},
    ]


def test_an_example_begins_a_conversation_and_leaves_what_is_being_written(visitor, engine):
    visitor.ask("say: before")
    visitor.page.locator("#prompt textarea").fill("half a thought")
    for example in EXAMPLES:
        visitor.begins(visitor.page.get_by_role("button", name=example.name).click)
        visitor.until("finished")
        visitor.ready()
        assert engine.calls[-1] == (example.prompt if example.raw else example.messages)
        assert visitor.page.locator(".cv-answer").count() == 1
        if example is EXAMPLES[0]:
            visitor.more_settings()  # filled in while nobody saw it
        assert visitor.page.locator("#system textarea").input_value() == example.system
    assert visitor.page.locator("#prompt textarea").input_value() == "half a thought"
    assert not visitor.page.get_by_label("Go on from the message").is_checked()


def test_an_example_that_cannot_begin_leaves_the_conversation(visitor, engine):
    visitor.more_settings()
    visitor.ask("say: before")
    visitor.page.get_by_label("Step by step").check()
    visitor.begins(lambda: visitor.send("say: " + "word " * 40))
    visitor.page.get_by_role("button", name=EXAMPLES[0].name).click()
    visitor.page.wait_for_selector(".toast-body")
    assert "A run is going in this conversation" in visitor.page.locator(".toast-body").inner_text()
    assert visitor.page.locator(".cv-answer").count() == 2
    assert visitor.page.locator("#system textarea").input_value() == ""
    visitor.page.locator("#stop").click()
    visitor.until("stopped")


def test_a_hundred_rounds_stay_inside_the_board(visitor):
    visitor.page.get_by_label("Draft and verify").check()
    visitor.page.locator("#block_size label", has_text="4").first.click()
    visitor.ask("say: " + "word " * 240)
    edges = """() => {
      const right = (query) => document.querySelector(query).getBoundingClientRect().right;
      const ruler = document.querySelector('.cv-ruler');
      const last = ruler.lastElementChild.getBoundingClientRect().right;
      return { ticks: ruler.children.length, over: right('.cv-ruler') - right('.cv-board'),
               last: last - right('.cv-ruler'), side: document.documentElement.scrollWidth - innerWidth };
    }"""
    found = visitor.page.evaluate(edges)
    assert found["ticks"] > 60
    assert found["over"] <= 3 and found["last"] <= 1 and found["side"] <= 0
    visitor.shoot("light-many-rounds")


def test_prose_goes_on_from_its_text_and_is_no_part_of_the_conversation(visitor, engine):
    visitor.begins(visitor.page.get_by_role("button", name=PROSE.name).click)
    visitor.until("finished")
    assert engine.calls[-1] == PROSE.prompt
    visitor.ready()
    visitor.begins(visitor.page.locator("#retry").click)
    visitor.until("finished")
    assert engine.calls[-2:] == [PROSE.prompt] * 2
    visitor.ready()
    visitor.ask("go")  # a message again: the next one is not gone on from by surprise
    assert engine.calls[-1] == [{"role": "user", "content": "go"}]


def test_the_conversation_goes_on_is_tried_again_and_cleared(visitor, engine):
    visitor.ask("say: one")
    visitor.ask("say: two")
    said = [("user", "say: one"), ("assistant", "one"), ("user", "say: two")]
    assert [(m["role"], m["content"]) for m in engine.calls[-1]] == said
    visitor.begins(visitor.page.locator("#retry").click)
    visitor.until("finished")
    visitor.ready()
    assert [(m["role"], m["content"]) for m in engine.calls[-1]] == said
    assert visitor.page.locator(".cv-turn").count() == 2
    visitor.page.locator("#clear").click()
    visitor.page.wait_for_selector(".cv-turn", state="detached")
    visitor.until("idle")
    visitor.ask("say: three")
    assert [m["content"] for m in engine.calls[-1]] == ["say: three"]


def test_clear_in_the_middle_of_a_run_stops_it_for_good(visitor, engine):
    engine.pace = 5
    visitor.send(LONG)
    visitor.page.wait_for_function("document.querySelectorAll('.cv-tile.cv-committed').length > 3")
    before = engine.passes
    visitor.page.locator("#clear").click()
    visitor.until("idle")
    visitor.ready()
    assert engine.passes - before <= SOON
    assert engine._lock.acquire(timeout=2)
    engine._lock.release()
    assert visitor.page.locator(".cv-turn").count() == 0 and visitor.tiles() == 0


@pytest.mark.parametrize("while_it", ["runs", "waits", "is held"])
def test_a_page_that_is_closed_leaves_the_model_to_others(browser, visitor, address, engine, while_it):
    engine.pace = 5
    if while_it == "waits":
        visitor.begins(lambda: visitor.send(LONG))
        visitor.until("running")
    started = engine.started
    with Visitor(browser, address) as other:
        if while_it == "is held":
            other.page.get_by_label("Step by step").check()
        other.begins(lambda: other.send("say: " + "omega " * 90))
        other.hears({"runs": "Block 1", "waits": "1 run ahead", "is held": "Held"}[while_it])
    if while_it == "waits":
        visitor.page.wait_for_timeout(2000)  # a connection's end is not heard of at once
        visitor.page.locator("#stop").click()
        visitor.until("stopped")
        visitor.ready()
        assert engine.started == started, "the run of a page that is gone began"
    assert engine._lock.acquire(timeout=3), "the model is still held three seconds after the page was closed"
    engine._lock.release()
    engine.pace = 80
    visitor.ask("say: free")
    assert visitor.answer() == "free"


def test_a_reload_in_the_middle_of_a_run_frees_the_model(visitor, engine):
    engine.pace = 5
    visitor.send(LONG)
    visitor.page.wait_for_function("document.querySelectorAll('.cv-tile.cv-committed').length > 0")
    visitor.page.reload()
    assert engine._lock.acquire(timeout=2), "the model is still held two seconds after the page left"
    engine._lock.release()
    engine.pace = 80
    visitor.page.wait_for_selector(".cv-tile.cv-committed")
    assert visitor.page.locator(".cv-board").get_attribute("data-state") == "stopped"
    assert visitor.page.locator(".cv-note").inner_text() == "Interrupted by a reload."
    visitor.ask("say: back")
    assert visitor.answer() == "back"


def test_a_reload_keeps_board_and_conversation_of_this_tab_alone(browser, visitor, address, engine):
    visitor.ask("say: kept")
    tiles = visitor.tiles()
    visitor.page.reload()
    visitor.page.wait_for_selector(".cv-tile.cv-committed")
    visitor.page.wait_for_selector(".cv-answer .cv-text")
    assert visitor.answer() == "kept" and visitor.tiles() == tiles and visitor.words().startswith("Finished")
    visitor.ask("say: more")  # the model is told what was said before the reload
    assert [m["content"] for m in engine.calls[-1]] == ["say: kept", "kept", "say: more"]
    with Visitor(browser, address) as other:
        assert other.page.locator(".cv-turn").count() == 0 and other.tiles() == 0
    visitor.page.locator("#clear").click()
    visitor.until("idle")
    visitor.page.reload()
    visitor.page.wait_for_selector(".cv-tile")
    visitor.page.wait_for_timeout(500)
    assert visitor.page.locator(".cv-turn").count() == 0 and visitor.tiles() == 0


def test_an_answer_can_be_copied(visitor, address):
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=address.rstrip("/"))
    visitor.ask("say: a <b>bold</b> word")
    visitor.page.get_by_role("button", name="Copy this answer").click()
    visitor.page.get_by_text("Copied").wait_for()
    assert visitor.page.evaluate("navigator.clipboard.readText()") == "a <b>bold</b> word"


def test_lost_frames_are_made_good(visitor):
    visitor.page.evaluate("""() => {
      const board = document.querySelector(".cv-board").parentElement.board;
      const take = board.frame.bind(board), ask = board.askFrom;
      let number = 0;
      window.asked = 0;
      let wanted = -1;
      board.frame = (text) => {
        number += 1;
        if (number % 5 !== 3 || JSON.parse(text).from === wanted) take(text);
      };
      board.askFrom = (have) => {
        window.asked += 1;
        ask((wanted = have));
      };
    }""")
    visitor.ask("go")
    assert visitor.page.evaluate("window.asked") > 0
    assert visitor.page.evaluate("document.querySelector('.cv-board').parentElement.board.fold.end.text") is None
    assert visitor.answer() == STORY
    assert "Finished" in visitor.words()


def test_slots_past_the_end_and_given_slots_have_their_own_look(visitor):
    records = [
        {"k": "run", "mode": "denoise", "prompt": 10, "set": {"threshold": 0.95}},
        {"k": "open", "b": 0, "at": 10, "n": 5},
        {"k": "step", "b": 0, "s": 1, "c": [1, 3], "w": [[1, 1, "a", 1], [2, 1, "b", 0.5], [3, 1, "c", 1]],
         "g": [[0, 1, "x", 1]], "x": [[9], [5], [1]], "ms": 1},
    ]  # fmt: skip
    end = {"k": "end", "reason": "end", "tokens": 2, "per": 2, "rate": 9, "sec": 1, "passes": {"preview": 1}}
    show = "frame => document.querySelector('.cv-board').parentElement.board.frame(JSON.stringify(frame))"

    def looks():
        visitor.drawn()
        return visitor.page.evaluate(
            "[...document.querySelectorAll('.cv-tile')].map(t => t.className.match(/cv-(?!tile|now|forced)(\\w+)/)[1])"
        )

    visitor.page.evaluate(show, {"run": "r", "state": "running", "note": "", "from": 0, "records": records})
    assert looks() == ["given", "committed", "masked", "committed", "masked"]
    visitor.page.evaluate(show, {"run": "r", "state": "finished", "note": "", "from": 3, "records": [end]})
    assert looks() == ["given", "committed", "unused", "dropped", "unused"]


@pytest.mark.parametrize(
    ("tokens", "reason", "looks", "round_"),
    [
        (2, "end", ["given", "committed", "committed", "discarded"], "1.00"),  # the last draft kept is the end token
        (3, "end", ["given", "committed", "committed", "rejected"], "2.00"),  # the end token is the boundary
        (2, "length", ["given", "committed", "dropped", "discarded"], "1.00"),
    ],
)
def test_a_draft_behind_the_end_is_not_called_refused(visitor, tokens, reason, looks, round_):
    passes = {"prefill": 1, "preview": 1, "replay": 0, "verify": 1, "decode": 0}
    records = [
        {"k": "run", "mode": "speculative", "prompt": 10, "set": {}},
        {"k": "draft", "b": 0, "s": 1, "at": 10, "g": [1, "a"], "w": [[i, 1, "x", 0.9] for i in (1, 2, 3)],
         "x": [[9], [5], [1]], "ms": 1},
        {"k": "verify", "b": 0, "n": 2, "v": [[0.9, 0.1, None]] * 3, "w": [1, "y", 0.9], "t": [9], "ms": 1},
        {"k": "end", "reason": reason, "tokens": tokens, "per": 2, "rate": 9, "sec": 1, "passes": passes},
    ]  # fmt: skip
    frame = {"run": "r", "state": "finished", "note": "", "from": 0, "records": records}
    show = "frame => document.querySelector('.cv-board').parentElement.board.frame(JSON.stringify(frame))"
    visitor.page.evaluate(show, frame)
    visitor.drawn()
    found = "[...document.querySelectorAll('.cv-tile')].map(t => t.className.match(/cv-(?!tile|now|forced)(\\w+)/)[1])"
    assert visitor.page.evaluate(found) == looks
    meter = visitor.page.locator(".cv-meter", has_text="tokens / round").locator(".cv-value")
    assert meter.text_content() == round_


def test_frames_are_coalesced(visitor, engine):
    engine.pace = 300
    visitor.page.evaluate("""() => {
      const board = document.querySelector(".cv-board").parentElement.board;
      const take = board.frame.bind(board);
      window.arrivals = [];
      board.frame = (text) => { window.arrivals.push(performance.now()); take(text); };
    }""")
    visitor.ask("say: " + "word " * 200)
    arrivals = visitor.page.evaluate("window.arrivals")
    assert len(arrivals) <= 25 * (arrivals[-1] - arrivals[0]) / 1000 + 3  # the first, the last, and the button's
    assert len(arrivals) < visitor.page.evaluate(
        "document.querySelector('.cv-board').parentElement.board.fold.records.length"
    )


def test_a_client_that_never_reads_piles_up_no_messages(engine):
    import httpx

    engine.pace = 150
    with served(lambda: engine) as (address, blocks):
        numbers = {block.fn.__name__: number for number, block in reversed(blocks.fns.items()) if block.fn}

        def call(name, *data):
            body = {"data": [None, *data], "fn_index": numbers[name], "session_hash": "deaf"}
            assert httpx.post(f"{address}gradio_api/queue/join", json=body).status_code == 200

        values = {
            "mode": "denoise", "threshold": 0.95, "block_size": 32, "accept_rule": "exact", "ratio": 0.9, "delta": 0.6,
            "draft_steps": 1, "coreset": True, "coreset_top_p": 0.9, "temperature": 0, "max_new_tokens": 1000,
            "seed": 0, "system": "", "repetition_penalty": 1, "presence_penalty": 0, "frequency_penalty": 0,
            "stop_bias": 0, "think_close_bias": 0, "raw": False,
        }  # fmt: skip
        with gr.Blocks():
            order = make_controls()  # the page's controls, in its order
        assert set(order) == set(values)
        call("begin", "say: " + "word " * 300, "full", *(values[name] for name in order))
        time.sleep(0.5)
        before = engine.started
        call("stream")
        deadline = time.monotonic() + 10
        while engine.started == before or engine._lock.locked():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert blocks._queue.pending_messages_per_session["deaf"].qsize() < 20


def test_many_runs_leave_the_page_no_larger(visitor):
    count = "document.getElementsByTagName('*').length"
    sizes = []
    for _ in range(4):
        visitor.ask("say: " + "word " * 60)
        visitor.page.locator("#clear").click()
        visitor.until("idle")
        visitor.page.wait_for_selector(".cv-turn", state="detached")
        visitor.drawn()
        sizes.append(visitor.page.evaluate(count))
    assert len(set(sizes[1:])) == 1


def test_every_control_has_a_name_and_the_keyboard_reaches_it(visitor):
    visitor.more_settings()
    nameless = visitor.page.evaluate("""() => {
      const named = (node) => (node.innerText || "").trim() || node.getAttribute("aria-label") || node.labels?.length;
      const controls = document.querySelectorAll("button, input, textarea, [role=listbox], [role=log]");
      return [...controls].filter((node) => node.offsetParent && !named(node)).map((node) => node.outerHTML);
    }""")
    assert nameless == []
    visitor.ask("go")
    visitor.page.locator("#prompt textarea").focus()
    reached = set()
    for _ in range(60):
        visitor.page.keyboard.press("Tab")
        reached.add(visitor.page.evaluate("""() => {
          const node = document.activeElement;
          const part = node.closest(".cv-tiles, .cv-ruler, .cv-experts, .cv-blocks");
          return part ? part.className : node.closest("[id]:not([id^=component])")?.id;
        }"""))
    places = "send retry clear mode threshold seed system cv-tiles cv-ruler cv-experts cv-blocks".split()
    assert [place for place in places if place not in " ".join(filter(None, reached))] == []
    grid = visitor.page.locator(".cv-tiles")
    grid.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowRight"):
        visitor.page.keyboard.press(key)
    active = grid.get_attribute("aria-activedescendant")
    assert active.endswith("-9")
    assert visitor.page.locator(f"#{active}").get_attribute("aria-label").startswith("slot 10, ")
    visitor.page.wait_for_function("document.querySelector('.cv-facts').textContent.includes('position')")


def test_a_slot_under_the_pointer_tells_its_confidence_over_the_steps(visitor):
    visitor.ask("go")
    visitor.page.locator(".cv-chip").first.click()
    slot = visitor.page.evaluate("""() => {
      const { slots } = document.querySelector(".cv-board").parentElement.board.fold.blocks[0];
      const at = slots.findIndex((slot) => slot.step > 2);
      return { at, ...slots[at] };
    }""")
    visitor.page.locator(".cv-tile").nth(slot["at"]).hover()
    visitor.page.wait_for_function("document.querySelector('.cv-trail').textContent !== ''")
    assert f"at step {slot['step']}" in visitor.page.locator(".cv-facts").text_content()
    others = visitor.page.locator(".cv-others").text_content()
    assert others.startswith(f"preview: “{shown(slot['token'])}” {slot['confidence']:.2f}") and "“·also”" in others
    assert len(visitor.page.locator(".cv-trail").text_content().split("   ")) == slot["step"]
    assert len(visitor.page.locator(".cv-curve").get_attribute("points").split()) == slot["step"]
    visitor.shoot("light-slot")


def test_a_phone_shows_everything_without_scrolling_sideways(browser, address):
    with Visitor(browser, address, 390, 844, has_touch=True, is_mobile=True) as phone:
        phone.send("go")
        phone.page.wait_for_function("document.querySelectorAll('.cv-tile.cv-committed').length > 4")
        phone.shoot("phone-running")
        phone.until("finished")
        phone.ready()
        assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
        columns = phone.page.evaluate("getComputedStyle(document.querySelector('.cv-tiles')).gridTemplateColumns")
        assert len(columns.split()) == 4
        phone.page.locator(".cv-tile").nth(5).tap()
        phone.page.wait_for_function("document.querySelector('.cv-facts').textContent.includes('position')")
        phone.shoot("phone-finished")
        assert not phone.faults


def test_dark_and_still(browser, address):
    with Visitor(browser, address, color_scheme="dark", reduced_motion="reduce") as visitor:
        visitor.send("go")
        visitor.page.wait_for_function("document.querySelectorAll('.cv-tile.cv-committed').length > 4")
        tile = visitor.page.locator(".cv-tile.cv-committed").first
        assert tile.evaluate("node => getComputedStyle(node).animationName") == "none"
        visitor.shoot("dark-running")
        visitor.until("finished")
        visitor.ready()
        visitor.shoot("dark-finished")
        assert not visitor.faults


def test_the_board_has_a_name_and_tells_what_happens(visitor):
    visitor.ask("go")
    assert visitor.page.get_by_role("region", name="Block board").count() == 1
    assert visitor.page.locator(".cv-aloud[role=status]").text_content().startswith("Finished")
    assert "slots committed" in visitor.page.locator(".cv-tiles").get_attribute("aria-label")


def test_a_model_that_loads_is_said_to_load_and_answers_then(browser):
    gate = threading.Event()

    def load():
        gate.wait(120)
        return ScriptedEngine("late but well")

    with served(load, "heavy-model") as (address, _), Visitor(browser, address) as visitor:
        visitor.hears("Loading heavy-model")
        visitor.shoot("light-loading")
        visitor.send("go")
        visitor.hears("your message goes first")
        gate.set()
        visitor.until("finished")
        assert visitor.answer() == "late but well"
        visitor.page.wait_for_function("document.querySelector('.cv-footer').textContent.includes('scripted on cpu')")


def test_the_controls_set_out_from_the_checkpoints_values(browser):
    engine = ScriptedEngine(STORY, pace=400)
    engine.checkpoint = {"threshold": 0.8, "block_size": 16, "coreset_top_p": None, "repetition_penalty": 2.5}
    with served(lambda: engine) as (address, _):
        with Visitor(browser, address) as visitor:
            visitor.page.wait_for_function("document.querySelector('#threshold input[type=number]').value === '0.8'")
            visitor.ask("go")
            run = visitor.page.evaluate("document.querySelector('.cv-board').parentElement.board.fold.run")
            own = {name: run["set"][name] for name in engine.checkpoint}
            assert own == engine.checkpoint
        with Visitor(browser, address + "?threshold=0.5") as visitor:
            visitor.page.wait_for_function("document.querySelectorAll('#block_size input').length === 3")
            assert visitor.page.locator("#threshold input[type=number]").input_value() == "0.5"


CHECKED = "document.querySelector('#block_size input:checked')?.value"


def picks(visitor, name, value):
    visitor.page.locator(f"#{name} input[value='{value}']").check()


def test_the_block_size_goes_with_the_mode_until_one_is_chosen(browser):
    gate = threading.Event()

    def load():
        gate.wait(120)
        engine = ScriptedEngine(STORY, pace=400)
        engine.usual = lambda mode: usual(mode, {}, "cpu")
        return engine

    with served(load) as (address, _):
        with Visitor(browser, address) as visitor:
            picks(visitor, "mode", "speculative")  # before anybody knows what the model runs on
            visitor.page.wait_for_timeout(300)
            assert visitor.page.evaluate(CHECKED) == "32"
            gate.set()
            visitor.page.wait_for_function(f"{CHECKED} === '16'")
            for mode, expected in (("autoregressive", "16"), ("denoise", "32"), ("speculative", "16")):
                picks(visitor, "mode", mode)
                visitor.page.wait_for_function(f"{CHECKED} === '{expected}'")
            picks(visitor, "block_size", 32)
            for mode in ("denoise", "speculative"):
                picks(visitor, "mode", mode)
                visitor.page.wait_for_timeout(500)
                assert visitor.page.evaluate(CHECKED) == "32"


def test_a_block_size_chosen_while_the_model_loads_stays(browser):
    gate, engine = threading.Event(), ScriptedEngine(STORY, pace=400)
    engine.usual = lambda mode: usual(mode, {}, "cpu")
    with served(lambda: gate.wait(120) and engine) as (address, _), Visitor(browser, address) as visitor:
        picks(visitor, "block_size", 8)
        visitor.page.wait_for_timeout(300)
        gate.set()
        visitor.page.wait_for_function("document.querySelector('.cv-footer').textContent.includes('scripted on cpu')")
        visitor.page.wait_for_timeout(700)
        picks(visitor, "mode", "speculative")
        visitor.page.wait_for_timeout(700)
        assert visitor.page.evaluate(CHECKED) == "8"


@pytest.mark.parametrize(
    "query, mode, block",
    [
        ("?mode=speculative", "speculative", "16"),
        ("?mode=speculative&block_size=32", "speculative", "32"),
        ("?mode=speculative&max_new_tokens=5000", "denoise", "32"),  # out of range: nothing of it is taken
    ],
)
def test_a_link_without_a_block_size_gets_its_modes(browser, query, mode, block):
    engine = ScriptedEngine(STORY, pace=400)
    engine.usual = lambda mode: usual(mode, {}, "cpu")
    with served(lambda: engine) as (address, _), Visitor(browser, address + query) as visitor:
        visitor.page.wait_for_function(f"document.querySelector('#mode input:checked').value === '{mode}'")
        visitor.page.wait_for_timeout(700)  # twice as long as the model's values take to come
        assert visitor.page.evaluate(CHECKED) == block


def test_a_model_that_does_not_load_says_why(browser):
    def load():
        raise ValueError("model.norm.weight must have the shape [160], got [128]")

    with served(load, "broken-model") as (address, _), Visitor(browser, address) as visitor:
        visitor.hears("got [128]")
        visitor.send("go")
        visitor.page.wait_for_selector(".toast-body")
        assert "model.norm.weight must have" in visitor.page.locator(".toast-body").inner_text()
        visitor.ready()


def test_generate_streams_the_engines_events(address, engine):
    from gradio_client import Client
    from gradio_client.exceptions import AppError

    client = Client(address, verbose=False)
    lines = list(client.submit(prompt="go", block_size=16, seed=3, api_name="/generate"))
    events = [Event.from_json_dict(json.loads(line)) for line in lines]
    settings = DenoiseSettings(threshold=0.95, block_size=16, coreset_top_p=0.9)
    expected = list(engine.generate([{"role": "user", "content": "go"}], settings, seed=3))
    assert [e for e in events if e != events[-1]] == [e for e in expected if e != expected[-1]]
    assert events[-1].text == STORY
    list(client.submit(prompt="say: on", raw=True, api_name="/generate"))
    assert engine.calls[-1] == "say: on"
    with pytest.raises(AppError, match="failed on <b>purpose</b>"):
        client.predict(prompt="fail: now", api_name="/generate")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"prompt": " \n"}, "prompt must hold some text, got none"),
        ({"prompt": "x" * 100_001}, "prompt must have at most 100,000 characters, got 100,001"),
        ({"raw": True, "system": "Hi"}, "system must be empty with raw, got 2 characters"),
        ({"threshold": 3}, r"threshold must be in \[0, 1\], got 3"),
        ({"mode": "slow"}, "mode must be denoise or speculative or autoregressive, got 'slow'"),
        ({"ratio": 0.5}, "ratio is not a setting of denoise mode"),
        ({"accept_rule": "exact"}, "accept_rule is not a setting of denoise mode"),
        ({"mode": "autoregressive", "threshold": 0.5}, "threshold is not a setting of autoregressive mode"),
        ({"mode": "autoregressive", "block_size": 8}, "block_size is not a setting of autoregressive mode"),
        ({"mode": "autoregressive", "coreset": False}, "coreset_top_p is not a setting of autoregressive mode"),
        ({"coreset": False, "coreset_top_p": 0.5}, "coreset_top_p must be left out without the coreset, got 0.5"),
        ({"mode": "speculative", "draft_steps": 0}, "draft_steps must be .*got 0"),
    ],
)
def test_generate_refuses_what_cannot_be_before_any_pass(address, engine, given, says):
    from gradio_client import Client
    from gradio_client.exceptions import AppError

    started = engine.started
    with pytest.raises(AppError, match=says):
        Client(address, verbose=False).predict(**{"prompt": "go"} | given, api_name="/generate")
    assert engine.started == started


def test_generate_stops_when_its_caller_does(address, engine):
    from gradio_client import Client

    engine.pace = 5
    job = Client(address, verbose=False).submit(prompt=LONG, api_name="/generate")
    for _ in range(200):
        time.sleep(0.05)
        if job.outputs():  # from here on its caller can say which run is meant
            break
    assert engine._lock.locked()
    job.cancel()
    assert engine._lock.acquire(timeout=2)
    engine._lock.release()


@pytest.mark.skipif(not (TINY / "model.safetensors").is_file(), reason="assets/clover-tiny is not there")
def test_the_embedded_model_answers_on_the_page(browser):
    def load():
        from clover_viz.engine import Engine

        return Engine.load(TINY, device="cpu")

    with served(load, "clover-tiny") as (address, _), Visitor(browser, address) as visitor:
        visitor.page.get_by_role("button", name=EXAMPLES[0].name).click()
        visitor.until("finished")
        visitor.ready()
        assert visitor.answer().strip()
        assert visitor.page.locator(".cv-layer").count() == 12
        visitor.shoot("light-clover-tiny")
        assert not visitor.faults


def test_the_command_line_refuses_a_bad_port_in_one_line():
    done = subprocess.run(
        [sys.executable, "app.py", "--port", "99999"], cwd=ROOT, capture_output=True, text=True, env={**os.environ}
    )
    assert done.returncode == 2
    assert "port must be in [1, 65535], got '99999'" in done.stderr.splitlines()[-1]
