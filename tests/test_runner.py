"""Runs, the desk, sessions and records: what the page is told, without a page."""

import asyncio
import json
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from scripted_engine import ScriptedEngine

from clover_viz.errors import ContextFull
from clover_viz.events import Denoised, LayerExperts, Slot, Text, TopToken
from clover_viz.settings import AutoregressiveSettings, DenoiseSettings, Limits, SpeculativeSettings
from clover_viz.ui import palette
from clover_viz.ui.chat.outset import moves
from clover_viz.ui.controls import settings_of
from clover_viz.ui.records import json_text, record
from clover_viz.ui.runs import stream
from clover_viz.ui.runs.desk import Desk, one_line
from clover_viz.ui.runs.runner import WHOLE, Run
from clover_viz.ui.runs.session import CUT_SHORT, NO_ANSWER, TURNS, Session, Turn
from clover_viz.ui.runs.stream import frames


def desk_over(engine):
    desk = Desk(lambda: engine, "scripted")
    assert desk._loaded.wait(5)
    return desk


def run_on(desk, prompt="go", settings=None, **limits):
    return Run(desk, [{"role": "user", "content": prompt}], settings or DenoiseSettings(), Limits(**limits))


def wait(condition, seconds=5.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.005)


def test_frames_in_any_cut_give_the_same_records():
    run = run_on(desk_over(ScriptedEngine("one two three " * 20, pace=400)))
    run.start()
    have, records = 0, []
    while True:
        frame, reach = run.frame(have)
        frame = json.loads(frame)
        assert frame["run"] == run.id and frame["from"] == have == len(records)
        records += frame["records"]
        have = reach
        if frame["state"] == "finished":
            break
        time.sleep(0.02)
    assert records == json.loads(run.frame(0)[0])["records"]
    assert records[0]["k"] == "run" and records[-1]["k"] == "end"
    assert run.canvas.text == "one two three " * 20


def test_the_engine_never_waits_for_a_reader():
    run = run_on(desk_over(ScriptedEngine("word " * 100, pace=500)))
    run.start()
    assert run.done.wait(5)
    assert run.length > 40  # nobody took a frame


def test_a_step_costs_a_few_hundred_bytes():
    run = run_on(desk_over(ScriptedEngine("word " * 320, pace=1e6)), max_new_tokens=512)
    run.start()
    assert run.done.wait(10)
    steps = [line for line in run._records if '"k":"step"' in line]
    assert sum(map(len, steps)) / len(steps) < 900


def test_a_record_leaves_out_what_cannot_have_changed():
    slots = (
        Slot(0, "committed", 5, "a", 0.97),
        Slot(1, "committed", 6, " <b>", 0.99),
        Slot(2, "masked", 7, "c", 0.12345678),
    )
    event = Denoised(0, 2, (1,), False, slots, (LayerExperts(0, 9, 5, 0.333333),), 1.23456)
    line = record(event)
    assert json.loads(line) == {
        "k": "step", "b": 0, "s": 2, "c": [1], "w": [[1, 6, " <b>", 0.99], [2, 7, "c", 0.1235]],
        "x": [[9], [5], [0.33]], "ms": 1.2346,
    }  # fmt: skip
    assert "<" not in line
    top = (TopToken(7, "c", 0.12345678), TopToken(9, "d", 0.1))
    told = replace(event, slots=(*slots[:2], replace(slots[2], top=top)))
    assert json.loads(record(told))["w"] == [[1, 6, " <b>", 0.99], [2, 7, "c", 0.1235, [["c", 0.1235], ["d", 0.1]]]]
    assert record(Text("delta")) is None


def test_runs_take_turns_in_order_of_arrival():
    engine = ScriptedEngine("word " * 20, pace=100)
    desk = desk_over(engine)
    runs = [run_on(desk, f"say: {number}") for number in range(4)]
    for number, run in enumerate(runs):
        run.start()
        wait(lambda: len(desk._line) == number + 1 or run.done.is_set())
    assert [run.note for run in runs[2:]] == [f"Waiting for the model: {n} runs ahead of yours." for n in (2, 3)]
    for run in runs:
        assert run.done.wait(5) and run.state == "finished"
    assert [messages[-1]["content"] for messages in engine.calls] == [f"say: {n}" for n in range(4)]


def test_a_run_cancelled_while_it_waits_never_starts():
    engine = ScriptedEngine("word " * 60, pace=50)
    desk = desk_over(engine)
    first, second, third = (run_on(desk) for _ in range(3))
    for run in (first, second, third):
        run.start()
        wait(lambda run=run: run._cancel in desk._line)
    second.cancel()
    assert second.done.wait(1) and second.state == "stopped" and second.length == 0
    first.cancel()
    assert first.done.wait(1) and first.state == "stopped"
    assert first.canvas.reason == "cancelled"
    wait(lambda: third.state == "running")
    third.cancel()
    assert third.done.wait(1)
    assert engine.started == 2


def test_an_error_is_one_line_and_frees_the_desk():
    desk = desk_over(ScriptedEngine("word " * 40, pace=500))
    broken = run_on(desk, "fail: x")
    broken.start()
    assert broken.done.wait(5)
    assert broken.state == "error" and broken.error == "the scripted engine failed on <b>purpose</b> & denoise"
    assert json.loads(broken.frame()[0])["note"] == broken.error  # stays on the board when the message is gone
    after = run_on(desk)
    after.start()
    assert after.done.wait(5) and after.state == "finished"


@pytest.mark.parametrize("turns", [1, 2])
def test_a_full_context_tells_what_helps(turns):
    class Full:
        def generate(self, *_, **__):
            raise ContextFull("no room")

    said = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "gone"}] * (turns - 1)
    run = Run(desk_over(Full()), [*said, {"role": "user", "content": "go"}], DenoiseSettings(), Limits())
    run.start()
    assert run.done.wait(5)
    assert run.error == ("no room" if turns == 1 else f"no room{WHOLE}")


def test_a_text_to_go_on_from_is_told_alone_and_kept_apart():
    engine = ScriptedEngine("on and on", pace=1e4)
    session = Session()
    session.turns = [Turn("hello", "hi", state="finished")]
    run = Run(desk_over(engine), session.messages("say: a ship", "Be brief.", raw=True), DenoiseSettings(), Limits(),
              raw=True)  # fmt: skip
    session.begin(run, "say: a ship")
    run.start()
    assert run.done.wait(5)
    session.follow(run)
    assert engine.calls == ["say: a ship"] and session.turns[-1].answer == "a ship"
    after = Session()
    after.restore(session.view())
    for one in (session, after):
        said = [message["content"] for message in one.messages("next", "")]
        assert said == ["hello", "hi", "next"]


@pytest.mark.parametrize(
    ("checkpoint", "named", "moved"),
    [
        ({}, (), {}),
        ({"threshold": 0.95, "block_size": 32, "coreset_top_p": 0.9}, (), {}),  # as the controls are made
        ({"threshold": 0.8, "stop_bias": 3.0}, (), {"threshold": {"value": 0.8}, "stop_bias": {"value": 3.0}}),
        ({"threshold": 0.8, "stop_bias": 3.0}, ("threshold",), {"stop_bias": {"value": 3.0}}),
        ({"coreset_top_p": None}, (), {"coreset": {"value": False}}),
        ({"coreset_top_p": None}, ("coreset_top_p", "coreset"), {}),
        ({"block_size": 16}, (), {"block_size": {"value": 16, "choices": [4, 8, 16]}}),
        ({"block_size": 24}, (), {"block_size": {"value": 24, "choices": [4, 8, 16, 24]}}),
    ],
)
def test_the_controls_move_to_the_checkpoints_values(checkpoint, named, moved):
    assert moves(checkpoint, named) == moved


def test_a_smaller_usual_block_leaves_the_models_own_to_choose():
    assert moves({"block_size": 16}, (), 32) == {"block_size": {"value": 16, "choices": [4, 8, 16, 32]}}


def test_a_partial_answer_is_not_called_none():
    session = Session()
    run = run_on(desk_over(ScriptedEngine("word " * 40, pace=500)), "fail: x")
    session.begin(run, "fail: x")
    run.start()
    assert run.done.wait(5)
    session.follow(run)
    assert session.turns[0].note == (CUT_SHORT if run.canvas.text else NO_ANSWER)
    assert session.turns[0].state == "error"


def test_a_fault_of_ours_is_named_and_logged(caplog):
    class Broken:
        def generate(self, *_, **__):
            raise KeyError("x")

    run = run_on(desk_over(Broken()))
    run.start()
    assert run.done.wait(5)
    assert run.error == "KeyError: 'x'"
    assert "Traceback" in caplog.text


def test_a_load_that_fails_is_told_to_everyone():
    def load():
        raise ValueError("no such folder")

    desk = Desk(load, "nowhere")
    assert desk._loaded.wait(5) and desk.state == "failed"
    run = run_on(desk)
    run.start()
    assert run.done.wait(5)
    assert run.error == "the model could not be loaded: no such folder"


def test_a_run_waits_for_the_load_and_can_be_stopped_meanwhile():
    gate = threading.Event()
    desk = Desk(lambda: gate.wait(10) and ScriptedEngine("late"), "slow")
    stopped, going = run_on(desk), run_on(desk)
    stopped.start()
    going.start()
    wait(lambda: len(desk._line) == 2)
    notes = sorted((stopped.note, going.note))
    assert notes == ["Loading slow; 1 run ahead of yours then.",
                     "Loading slow; your message goes first as soon as it is ready."]  # fmt: skip
    stopped.cancel()
    assert stopped.done.wait(1)
    gate.set()
    assert going.done.wait(5) and going.canvas.text == "late"


@pytest.mark.parametrize(
    ("problem", "line"),
    [(ValueError("a\n  b"), "a b"), (KeyError("k"), "KeyError: 'k'"), (ValueError(""), "ValueError")],
)
def test_one_line(problem, line):
    assert one_line(problem) == line


def test_controls_become_the_settings_of_their_mode():
    held = {
        "threshold": 0.9, "block_size": 16, "coreset_top_p": 0.8, "temperature": 0.0, "accept_rule": "threshold",
        "ratio": 0.7, "delta": 0.5, "draft_steps": 2,
    }  # fmt: skip
    assert settings_of("denoise", True, **held) == DenoiseSettings(
        threshold=0.9, block_size=16, coreset_top_p=0.8, temperature=0.0
    )
    assert settings_of("denoise", False, **held).coreset_top_p is None
    assert settings_of("speculative", True, **held) == SpeculativeSettings(**held)
    assert settings_of("autoregressive", True, **held | {"temperature": 0.5}) == AutoregressiveSettings(temperature=0.5)
    for mode, values, message in [
        ("denoise", {"threshold": None}, "threshold must be in"),
        ("denoise", {"coreset_top_p": 0.0}, "coreset_top_p must be"),
        ("speculative", {"temperature": 0.5}, "temperature must be 0 with accept_rule threshold"),
        ("speculative", {"ratio": 7}, "ratio must be in"),
        ("diffuse", {}, "mode must be"),
    ]:
        with pytest.raises(ValueError, match=message):
            settings_of(mode, True, **held | values)


def test_a_session_is_bounded_and_tells_the_model_only_what_was_answered():
    session = Session()
    session.turns = [Turn("a", "A", state="finished"), Turn("b", "half", state="error"), Turn("c", "", state="stopped")]
    assert session.messages("d", " be brief ") == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "A"},
        {"role": "user", "content": "d"},
    ]
    assert session.refuse("x") is None
    assert "empty" in session.refuse(" \n ")
    session.turns = [Turn("a", "A", state="finished")] * TURNS
    assert f"{TURNS} turns" in session.refuse("x")
    session.turns = [Turn("a", "A" * 199_990, state="finished")]
    assert "200,000 characters" in session.refuse("x" * 20)
    session.clear()
    assert json.loads(session.view()) == {"turns": []}


@pytest.mark.parametrize(
    "saved",
    ["", "{", "[]", '{"turns":[1]}', '{"turns":[{"u":"a"}]}',
     '{"turns":[{"u":"a","t":"","a":3,"n":"","s":"finished"}]}', "[" * 100_000,
     '{"turns":[' + ",".join(['{"u":"","t":"","a":"","n":"","s":""}'] * (TURNS + 1)) + "]}"],
)  # fmt: skip
def test_a_kept_conversation_that_does_not_fit_is_left(saved):
    session = Session()
    session.restore(saved)
    assert session.turns == []


def test_a_kept_conversation_is_taken_up_where_it_stood():
    before, after = Session(), Session()
    before.turns = [Turn("hi", "hello", "hm", "2 tokens", "finished"), Turn("and", "half", state="running")]
    after.restore(before.view())
    assert after.turns == [before.turns[0], Turn("and", "half", "", "Interrupted by a reload.", "stopped")]
    after.restore(Session().view())
    assert len(after.turns) == 2  # a conversation that has begun is not replaced


def test_text_on_its_way_to_the_page_holds_no_markup():
    value = {"a": "</script><b>\u2028</b>"}
    assert "<" not in json_text(value) and json.loads(json_text(value)) == value


def started_session(engine):
    session = Session()
    session.begin(run_on(desk_over(engine)), "go")
    session.run.start()
    return session


def test_a_stalled_page_gets_few_messages_and_the_whole_end():
    session = started_session(ScriptedEngine("word " * 40, pace=30))

    async def collect():
        return [frame async for frame in frames(session, session.run, crowded=lambda: True)]

    sent = asyncio.run(collect())
    assert len(sent) <= 3
    frame, text = map(json.loads, sent[-1])
    assert frame["state"] == "finished" and frame["from"] == 0 and len(frame["records"]) == session.run.length
    assert text["turns"][0]["a"] == "word " * 40


def test_a_quiet_run_still_gives_signs_of_life_and_a_busy_one_not_too_many(monkeypatch):
    """Closing the page is noticed where something is sent. Nothing for four seconds, then a record each 10 ms."""
    now = 0.0

    async def sleep(seconds):
        nonlocal now
        now += seconds

    monkeypatch.setattr(stream, "monotonic", lambda: now)
    monkeypatch.setattr(stream.asyncio, "sleep", sleep)
    run = SimpleNamespace(
        done=SimpleNamespace(is_set=lambda: now > 6), frame=lambda have: ("", max(0, int(100 * (now - 4))))
    )
    session = SimpleNamespace(run=run, view=lambda: "", follow=lambda run: None)

    async def collect():
        return [now async for _ in frames(session, run, crowded=lambda: False)]

    times = asyncio.run(collect())
    quiet, busy = ([moment for moment in times if (moment < 4) == early] for early in (True, False))
    longest, shortest = stream.QUIET + stream.FRAME + 1e-6, stream.FRAME - 1e-6
    assert len(quiet) >= 12 and max(b - a for a, b in zip(quiet, quiet[1:])) <= longest
    assert len(busy) >= 45 and min(b - a for a, b in zip(times, times[1:])) >= shortest


def test_a_cleared_session_sees_no_more_of_its_run():
    session = started_session(ScriptedEngine("word " * 100, pace=30))
    run = session.run

    async def collect():
        sent = []
        async for frame, text in frames(session, run, crowded=lambda: False):
            sent.append((json.loads(frame), json.loads(text)))
            if len(sent) == 3:
                session.clear()
        return sent

    sent = asyncio.run(collect())
    assert sent[-1][0]["reset"] and sent[-1][1] == {"turns": []}
    assert run.done.wait(1)


def test_the_colours_hold_their_contrast_in_both_themes():
    for colours, ramp in ((palette.LIGHT, palette.RAMP_LIGHT), (palette.DARK, palette.RAMP_DARK)):
        for ground in ("ground", "surface", "sunken", "accent-wash"):
            for text in ("ink", "quiet", "accent", "danger"):
                assert palette.contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
        assert palette.contrast(colours["accent-ink"], colours["accent"]) >= 4.5
        for ground in ("ground", "surface", "sunken"):
            assert palette.contrast(colours["edge"], colours[ground]) >= 3
        steps = palette.step_colours(ramp)
        assert all(palette.contrast(fill, ink) >= 4.5 for fill, ink in steps)
        light = [palette.luminance(fill) for fill, _ in steps]
        assert light == sorted(light) or light == sorted(light, reverse=True)  # readable without colour vision
