"""English and Chinese: nothing that the page shows is without its other language, and both say the same values."""

import ast
import json
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("gradio")

from browser import WAIT, Visitor, served
from scripted_engine import ScriptedEngine

from clover_viz.examples import EXAMPLES
from clover_viz.trace.store import play
from clover_viz.ui.about import footer, news
from clover_viz.ui.board.words import BOARD
from clover_viz.ui.charts.chinese import CHARTS, SAID
from clover_viz.ui.charts.drawing import CHARTS as DRAWN
from clover_viz.ui.charts.retold import FIGURES
from clover_viz.ui.controls import ACCEPT_RULES, OFFERED
from clover_viz.ui.interface import INTERFACE
from clover_viz.ui.languages import CHINESE, I18N, WORDS, both, known, language_of, phrases, spoken
from clover_viz.ui.lesson.data import TRACES
from clover_viz.ui.page import SAYS
from clover_viz.ui.player.page import SCRIPTS as PLAYING
from clover_viz.ui.player.words import LINES, PLAYER
from clover_viz.ui.problems import PROBLEMS
from clover_viz.ui.records import record
from clover_viz.ui.retelling import SENTENCES, pattern, retold
from clover_viz.ui.runs.pacing import SPEEDS
from clover_viz.ui.runs.session import CHARACTERS, PROMPT_CHARACTERS, TURNS, Session, Turn
from clover_viz.ui.runs.words import NOTES
from clover_viz.ui.theme import BOARD_SCRIPTS, asset

UI = Path(__file__).parent.parent / "clover_viz" / "ui"
PLACEHOLDER = re.compile(r"\{(\w+)\}")
PLAYER_SCRIPTS = tuple(name for name in PLAYING if name.startswith("player/")) + ("player/tab.js",)
DRAWING = (*BOARD_SCRIPTS, "chat/conversation.js", *PLAYER_SCRIPTS, "charts/charts.js")
TABLES = {
    "interface": INTERFACE, "board": BOARD, "player": PLAYER, "charts": CHARTS,  # looked up
    "notes": NOTES, "lines": LINES, "problems": PROBLEMS, "said": SAID, "figures": FIGURES,  # told by their patterns
}  # fmt: skip


def node(program, data=None):
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    program = f"const data = {json.dumps(data)};\n{asset('languages.js')}\n{program}"
    run = subprocess.run(["node", "-"], input=program, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


# ---- the tables


def written(file):
    """Texts that a Python file hands Gradio: labels, infos, placeholders, and what buttons, tabs and accordions say."""
    for call in ast.walk(ast.parse((UI / file).read_text(encoding="utf-8"))):
        if not isinstance(call, ast.Call):
            continue
        given = [word.value for word in call.keywords if word.arg in ("label", "info", "placeholder")]
        name = ast.unparse(call.func)
        if name in ("gr.Button", "gr.UploadButton", "gr.Tab", "gr.Accordion", "I18N") and call.args:
            given.append(call.args[0])
        yield from (value.value for value in given if isinstance(value, ast.Constant) and value.value)


@pytest.mark.parametrize(
    ("file", "least"), [("chat/tab.py", 6), ("chat/knobs.py", 6), ("player/tab.py", 5), ("charts/panel.py", 2)]
)
def test_every_text_of_the_interface_has_its_chinese(file, least):
    texts = [*written(file)]
    assert len(texts) >= least and [text for text in texts if text not in INTERFACE] == []


def test_no_text_goes_to_gradio_without_its_key():
    """A label that is no I18N is one language only."""
    for file in ("chat/tab.py", "player/tab.py", "charts/panel.py", "page.py"):
        for call in ast.walk(ast.parse((UI / file).read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func).startswith("gr."):
                bare = [word.value for word in call.keywords if word.arg in ("label", "info", "placeholder")]
                if ast.unparse(call.func) in ("gr.Button", "gr.UploadButton", "gr.Tab", "gr.Accordion"):
                    bare += call.args[:1]
                assert [value.value for value in bare if isinstance(value, ast.Constant)] == [], ast.unparse(call)


def test_every_choice_has_its_chinese():
    shown = [name for choices in (OFFERED, ACCEPT_RULES, SPEEDS) for name, _ in choices]
    shown += [example.name for example in EXAMPLES] + [chart.label for chart in DRAWN.values()] + ["Charts of this run"]
    assert [text for text in shown if text not in INTERFACE] == []


def test_both_languages_have_the_same_keys():
    english, chinese = I18N.translations["en"], I18N.translations[CHINESE]
    assert set(english) == set(chinese) and all(english[key] == key for key in english)


@pytest.mark.parametrize("words", TABLES.values(), ids=TABLES)
def test_both_languages_hold_the_same_values(words):
    for english, chinese in words.items():
        halves = english.split(" | ")
        places = {frozenset(PLACEHOLDER.findall(half)) for half in halves}
        assert len(halves) in (1, 2, 4) and places == {frozenset(PLACEHOLDER.findall(chinese))}, english
        assert chinese.strip() and " | " not in chinese
        has_chinese = re.search(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]", chinese)
        same = {"token", "true or false", "exact or threshold"}  # names, with nothing but a sign between them
        assert has_chinese or english in same, f"{english} is not translated"


@pytest.mark.parametrize("words", [NOTES, LINES, PROBLEMS, SAID, FIGURES], ids=lambda words: next(iter(words))[:20])
def test_every_pattern_is_the_one_that_is_found_for_its_text(words):
    """No other pattern takes a text away from the one that it is of."""
    for english, chinese in words.items():
        for half in english.split(" | "):
            text = PLACEHOLDER.sub(lambda name: "7" if len(name[1]) == 1 else "Q.q", half)
            told = PLACEHOLDER.sub(lambda name: "7" if len(name[1]) == 1 else "Q.q", chinese)
            assert retold(text, words) == told, half


# ---- what scripts say


def test_every_sentence_of_the_board_is_one_of_its_patterns():
    runs = [[json.loads(text) for text in map(record, play(file)) if text] for file in sorted(TRACES.glob("*.gz"))]
    said = node(
        "const tell = teller({});\n" + asset("board/fold.js") + """
        const said = new Set();
        for (const records of data) {
          const fold = new Fold();
          for (const record of records) { fold.add(record); said.add(fold.words); }
        }
        process.stdout.write(JSON.stringify([...said]));""",
        runs,
    )

    def matcher(half):
        return re.compile("(?s)" + "(.+?)".join(map(re.escape, PLACEHOLDER.split(half)[::2])) + r"\Z")

    matchers = [matcher(half) for pattern in BOARD for half in pattern.split(" | ")]
    assert len(said) > 100
    assert [text for text in said if not any(found.match(text) for found in matchers)] == []


@pytest.mark.parametrize("script", DRAWING)
def test_what_a_script_tells_has_its_chinese(script):
    folders = {"board", script.partition("/")[0]}  # a player's page has the board's words too
    words = {key for folder in folders for key in WORDS.get(folder, {})}
    told = re.findall(r'\btell\((?:playing \? |kind === "prefill" \? )?"((?:[^"\\]|\\.)*)"', asset(script))
    assert [text for text in told if json.loads(f'"{text}"') not in words] == []


@pytest.mark.parametrize("script", DRAWING)
def test_a_script_writes_no_words_but_those_it_tells(script):
    bare = re.findall(r'(?:textContent = |aria-label", |title = |\bsay\([\w.]+, )["`]([A-Za-z][^"`]*)', asset(script))
    assert bare == []


def test_words_that_a_script_chooses_between_have_their_chinese():
    chosen = ["Play", "Pause", "Again", "Passes", "Milliseconds"]
    chosen += [f"{{n}} {kind}" for kind in ("preview", "replay", "verify", "decode")]
    assert [text for text in chosen if text not in PLAYER | BOARD] == []


def test_a_phrase_takes_its_values_once_and_its_number():
    found = node("""process.stdout.write(JSON.stringify([
      phrase("{n} step | {n} steps", { n: 1 }), phrase("{n} step | {n} steps", { n: 0 }),
      phrase("{a} and {b}", { a: "{b}", b: "$&" }), phrase("no values"),
      known("zh-TW"), known("zh"), known("en-GB"), known("zhx"), known(""), known(undefined),
    ]))""")
    assert found == ["1 step", "0 steps", "{b} and $&", "no values", "zh-CN", "zh-CN", "en", "en", "en", "en"]


def test_tell_speaks_the_language_it_is_given_and_english_without_one():
    found = node(phrases("board") + """
      const before = [tell("Block {n}", { n: 2 }), tell.text("Interrupted by a reload.")];
      tell.language = "zh-CN";
      const own = teller({ en: { key: "text" }, "zh-CN": {} });
      own.language = "zh-CN";
      process.stdout.write(JSON.stringify([...before, tell("Block {n}", { n: 2 }),
        tell.text("Interrupted by a reload."), tell.text("not ours"), tell.text(""), tell("not there"),
        own("key"), own.text("whole")]));""")
    assert found[:2] == ["Block 2", "Interrupted by a reload."]
    assert found[2:] == ["第 2 块", NOTES["Interrupted by a reload."], "not ours", "", "not there", "text", "whole"]


def test_html_in_both_languages_names_each():
    assert both("a", "b") == '<span class="cv-in" lang="en">a</span><span class="cv-in" lang="zh-CN">b</span>'


# ---- texts that come whole

SMALL = {
    "{n} step | {n} steps": "{n} 步",
    "It took {steps}.": "用了 {steps}。",
    "{word} must be {wanted}, got {own_given}": "{word} 必须是 {wanted}，收到 {own_given}",
    "{word} must be a number, got {own_given}": "{word} 须是数，收到 {own_given}",
    "{own_name} line {n}: {problem}": "{own_name} 第 {n} 行：{problem}",
    "in {own_range}": "{own_range} 之内",
}
WHOLE = {
    "It took 1 step.": "用了 1 步。",
    "It took 1,234 steps. It took 2 steps.": "用了 1,234 步。用了 2 步。",
    "It took 2 steps. Unknown. It took 3 steps.": "用了 2 步。Unknown. 用了 3 步。",
    "It took some steps.": "用了 some steps。",  # no number: that pattern does not fit
    "x must be in [0, 1], got 3": "x 必须是 [0, 1] 之内，收到 3",
    "x must be a number, got 'in a $1 {x} \\d. It took 2 steps.'": "x 须是数，收到 'in a $1 {x} \\d. It took 2 steps.'",
    "my file line 3: x must be in [0, 1], got 3": "my file 第 3 行：x 必须是 [0, 1] 之内，收到 3",
    "nothing of ours": "nothing of ours",
    "a\nb must be big, got\nc": "a\nb must be big, got\nc",
}  # fmt: skip


def test_a_text_is_told_by_its_pattern_and_what_is_not_ours_is_left():
    assert {text: retold(text, SMALL) for text in WHOLE} == WHOLE
    assert retold("It took 2 steps." * 1000, SMALL) == "It took 2 steps." * 1000  # longer than anything of ours


def test_the_browser_tells_the_same():
    words = [english for table in (NOTES, LINES, PROBLEMS, SAID) for english in table]
    texts = [*WHOLE, *(PLACEHOLDER.sub("12", half) for english in words for half in english.split(" | "))]
    tables = [SMALL, NOTES, {**LINES, **PROBLEMS}, SAID]
    found = node(
        "const made = data[0].map(retellings);"
        "process.stdout.write(JSON.stringify(made.map((table) => data[1].map((text) => retold(text, table)))));",
        [tables, texts],
    )
    assert found == [[retold(text, table) for text in texts] for table in tables]


@pytest.mark.parametrize(
    ("header", "language"),
    [("zh-CN,zh;q=0.9,en;q=0.8", CHINESE), ("zh-TW", CHINESE), ("zh-tw;q=0.9", CHINESE), ("en-GB,zh-CN;q=0.5", "en"),
     ("zh,en", "en"), ("zh-HK,zh-CN", "en"), ("zh-Hans-CN", "en"),  # the page itself is English there
     ("", "en"), ("zha", "en")],
)  # fmt: skip
def test_errors_speak_the_language_of_the_page(header, language):
    assert language_of(SimpleNamespace(headers={"accept-language": header} if header else {})) == language
    assert language_of(None) == "en"


@pytest.mark.parametrize(("tag", "language"), [("zh-CN", CHINESE), ("zh", CHINESE), ("zh-Hant-TW", CHINESE),
                                               ("en-GB", "en"), ("", "en"), ("zha", "en")])  # fmt: skip
def test_any_chinese_is_served_in_ours_where_the_page_can_tell(tag, language):
    assert known(tag) == language


def english(text):
    return re.findall(r"[A-Za-z]{2,}", text)


def test_every_refusal_of_a_message_has_its_chinese():
    full, long, going = Session(), Session(), Session()
    full.turns = [Turn("a", "b")] * TURNS
    long.turns = [Turn("a" * CHARACTERS)]
    going.run = SimpleNamespace(started=True, done=SimpleNamespace(is_set=lambda: False))
    refused = [Session().refuse(" "), Session().refuse("x" * (PROMPT_CHARACTERS + 1))]
    refused += [session.refuse("x") for session in (full, long, going)]
    assert None not in refused and len(set(refused)) == 5
    assert [line for line in refused if english(spoken(line, CHINESE))] == []


def test_every_raised_text_of_the_chat_has_its_chinese():
    raised = []
    for call in ast.walk(ast.parse((UI / "chat/tab.py").read_text(encoding="utf-8"))):
        if isinstance(call, ast.Call) and ast.unparse(call.func) in ("_told", "shown"):
            raised += [value.value for value in call.args if isinstance(value, ast.Constant)]
    assert len(raised) == 2 and [text for text in raised if text not in PROBLEMS] == []


def test_news_and_notes_have_their_chinese():
    desk = SimpleNamespace(name="7", failure="9", loading_seconds=lambda: 3.2)
    for desk.state in ("loading", "failed"):
        note = json.loads(news(desk))["note"]
        assert note and english(spoken(note, CHINESE)) == []
    found = [text for file in ("runner", "session", "pacing") for text in notes(f"runs/{file}.py")]
    assert len(found) == 8, found
    for run in found:
        assert english(spoken(run, CHINESE).replace("token", "")) == [], run


def notes(file):
    """Notes as they are composed in a file, with a number for each value."""
    for found in ast.walk(ast.parse((UI / file).read_text(encoding="utf-8"))):
        if isinstance(found, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "7" for part in found.values]
            text = "".join(parts)
            if re.match(r"(Loading|Waiting) ", text):
                yield text.replace("7 ahead", "7 runs ahead")
        elif isinstance(found, ast.Constant) and isinstance(found.value, str):
            if re.match(r"(Others|No answer|Cut short|Interrupted|Stopped before) ?[^\n]*\.$", found.value):
                yield found.value


def test_the_note_below_an_answer_has_its_chinese():
    from clover_viz.trace.canvas import fold
    from clover_viz.ui.runs.session import _note

    for file in sorted(TRACES.glob("*.gz")):
        canvas = fold(play(file))
        note = _note(SimpleNamespace(canvas=canvas))
        passes, tokens = canvas.finished.passes.after_prefill, canvas.finished.tokens
        told = spoken(note, CHINESE)
        assert f"{passes} 次前向，{tokens} 个 token" in told and f"{canvas.finished.tokens_per_pass:.2f}" in told
        assert english(told.replace("token", "")) == []


def test_the_footer_says_the_same_in_both_languages():
    engine = SimpleNamespace(
        name="m<b>", model=SimpleNamespace(device="cpu"), kernels=SimpleNamespace(name="reference", reason="asked for")
    )
    for desk in (SimpleNamespace(name="m<b>", engine=engine), SimpleNamespace(name="m<b>", engine=None, failure=None)):
        spans = re.findall(r'<span class="cv-in" lang="([\w-]+)">(.*?)</span>', footer(desk), re.S)
        said = {language: [text for tag, text in spans if tag == language] for language in ("en", CHINESE)}
        assert len(said["en"]) == len(said[CHINESE]) == 3
        for one, other in zip(said["en"], said[CHINESE], strict=True):
            tags = [re.findall(r"<(?:b|code)>.*?</(?:b|code)>", text) for text in (one, other)]
            assert tags[0] == tags[1] and one != other and "m<b>" not in other
    assert SAYS[0] != SAYS[1]


def test_the_footer_tells_of_graphs_where_there_is_a_card():
    reason = "the graphs have not run on a card yet; graphs=on asks for them"
    engine = SimpleNamespace(
        name="m", model=SimpleNamespace(device="cuda:0"), kernels=SimpleNamespace(name="triton", reason="asked for"),
        graphs=SimpleNamespace(name="off", reason=reason),
    )  # fmt: skip
    told = footer(SimpleNamespace(name="m", engine=engine))
    assert f"CUDA graphs off ({reason})." in told and f"CUDA 图关闭（{NOTES[reason]}）。" in told
    engine.model.device = "cpu"
    assert "CUDA" not in footer(SimpleNamespace(name="m", engine=engine))


def test_every_reason_for_the_kernels_has_its_chinese():
    source = (UI.parent.parent / "kernels" / "selection.py").read_text(encoding="utf-8")
    for text in ("asked for", "Triton is not installed", "torch sees no CUDA device", "interpreted on the CPU"):
        assert text in source
    from clover_kernels.selection import UNPROVEN

    assert {UNPROVEN, "asked for", "Triton is not installed", "torch sees no CUDA device"} <= set(NOTES)


def test_a_sentence_ends_where_the_next_begins():
    assert SENTENCES.split("At 0.5. Then 3.2! 4 left. so") == ["At 0.5.", "Then 3.2!", "4 left. so"]
    assert pattern("{n} of {all}").names == ("n", "all")


# ---- the page


def test_a_chinese_visitor_meets_no_english(browser):
    with served(lambda: ScriptedEngine("one two three " * 4, pace=200)) as (address, _):
        with Visitor(browser, address, locale="zh-CN") as visitor:
            page = visitor.page
            assert page.locator(".cv-banner p").inner_text() == SAYS[1]
            visitor.send("  ")
            page.wait_for_selector(".toast-body")
            empty = PROBLEMS["The message is empty: write something to send."]
            assert empty in page.locator(".toast-body").inner_text()
            visitor.ask("go")
            page.wait_for_function("document.querySelector('.cv-note').textContent.includes('次前向')")
            footer = page.locator(".cv-footer").inner_text()
            assert "scripted" in footer and "端点" in footer and "endpoint" not in footer
            page.get_by_role("button", name=INTERFACE["Charts of this run"]).click()
            page.wait_for_selector("#charts-plot .js-plotly-plot .main-svg", timeout=WAIT)
            says = page.locator(".cv-chart-says").inner_text()
            assert says.startswith("第 1 块用了") and english(says.replace("token", "")) == []
            drawn = page.evaluate("""() => {
              const { data, layout } = document.querySelector('#charts-plot .js-plotly-plot');
              return [...data.map((trace) => trace.name), layout.xaxis.title.text, layout.yaxis.title.text];
            }""")
            assert FIGURES["slot"] in drawn and [text for text in drawn if english(text)] == []
            page.locator(".cv-chart-details summary").click()
            page.locator(".cv-chart-box th").first.wait_for()
            heads = page.locator(".cv-chart-box th").all_text_contents()
            assert heads == [SAID[name] for name in ("step", "slot", "token", "confidence", "committed")]
            visitor.shoot("zh-charts")
            page.get_by_role("tab", name=INTERFACE["Player"]).click()
            page.wait_for_selector(".cv-player .cv-tile")
            page.wait_for_function("document.querySelector('.cv-lane-title').textContent === '1. go · 逐块去噪'")
            page.locator("#player_other input").click()
            offered = page.get_by_role("option").all_text_contents()
            for title in ("只看一次运行", "JSON 工具调用 · 草稿与验证"):
                assert any(title in text for text in offered)
            page.keyboard.press("Escape")
            for name in ("Run", "Compared with", "Open a trace file", "Download the trace", "Download as a web page"):
                assert page.locator("#tabs").get_by_text(INTERFACE[name], exact=True).count(), name
            assert page.locator(".cv-play").inner_text() == PLAYER["Again"]
            assert english(page.locator(".cv-controls").inner_text().replace("token", "")) == []
            visitor.shoot("zh-player")
            assert not visitor.faults
