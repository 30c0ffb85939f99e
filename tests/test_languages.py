"""English and Chinese: nothing that the page shows is without its other language, and both say the same values."""

import ast
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("gradio")

from clover_viz.examples import EXAMPLES
from clover_viz.trace.store import play
from clover_viz.ui.board.words import BOARD
from clover_viz.ui.controls import ACCEPT_RULES, OFFERED
from clover_viz.ui.languages import I18N, INTERFACE, both, phrases
from clover_viz.ui.lesson.data import TRACES
from clover_viz.ui.records import record
from clover_viz.ui.runs.pacing import SPEEDS
from clover_viz.ui.theme import BOARD_SCRIPTS, asset

UI = Path(__file__).parent.parent / "clover_viz" / "ui"
PLACEHOLDER = re.compile(r"\{(\w+)\}")
DRAWING = (*BOARD_SCRIPTS, "chat/conversation.js")  # the scripts whose words stand in BOARD


def node(program, data=None):
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    program = f"const data = {json.dumps(data)};\n{asset('languages.js')}\n{program}"
    run = subprocess.run(["node", "-"], input=program, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def written(file):
    """Texts that a Python file hands Gradio: labels, infos, placeholders, and what buttons, tabs and accordions say."""
    for call in ast.walk(ast.parse((UI / file).read_text(encoding="utf-8"))):
        if not isinstance(call, ast.Call):
            continue
        given = [word.value for word in call.keywords if word.arg in ("label", "info", "placeholder")]
        name = ast.unparse(call.func)
        if name in ("gr.Button", "gr.Tab", "gr.Accordion", "I18N") and call.args:
            given.append(call.args[0])
        yield from (value.value for value in given if isinstance(value, ast.Constant) and value.value)


@pytest.mark.parametrize("file", ["chat/tab.py", "chat/knobs.py"])
def test_every_text_of_the_interface_has_its_chinese(file):
    texts = [*written(file)]
    assert len(texts) > 5 and [text for text in texts if text not in INTERFACE] == []


def test_every_choice_has_its_chinese():
    shown = [name for choices in (OFFERED, ACCEPT_RULES, SPEEDS) for name, _ in choices]
    shown += [example.name for example in EXAMPLES]
    assert [text for text in shown if text not in INTERFACE] == []


def test_both_languages_have_the_same_keys():
    english, chinese = I18N.translations["en"], I18N.translations["zh-CN"]
    assert set(english) == set(chinese) and all(english[key] == key for key in english)


@pytest.mark.parametrize("words", [INTERFACE, BOARD], ids=["interface", "board"])
def test_both_languages_hold_the_same_values(words):
    for english, chinese in words.items():
        halves = english.split(" | ")
        places = {frozenset(PLACEHOLDER.findall(half)) for half in halves}
        assert len(halves) in (1, 2) and places == {frozenset(PLACEHOLDER.findall(chinese))}, english
        assert chinese.strip() and " | " not in chinese
        assert re.search(r"[\u4e00-\u9fff\uff00-\uffef]", chinese), f"{english} is not translated"


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
    told = re.findall(r'\btell\("((?:[^"\\]|\\.)*)"', asset(script))
    assert [text for text in told if json.loads(f'"{text}"') not in BOARD] == []


def test_a_phrase_takes_its_values_once_and_its_number():
    found = node("""process.stdout.write(JSON.stringify([
      phrase("{n} step | {n} steps", { n: 1 }), phrase("{n} step | {n} steps", { n: 0 }),
      phrase("{a} and {b}", { a: "{b}", b: "$&" }), phrase("no values"),
      known("zh-TW"), known("zh"), known("en-GB"), known("zhx"), known(""), known(undefined),
    ]))""")
    assert found == ["1 step", "0 steps", "{b} and $&", "no values", "zh-CN", "zh-CN", "en", "en", "en", "en"]


def test_tell_speaks_the_language_it_is_given_and_english_without_one():
    found = node(phrases() + """
      const before = tell("Block {n}", { n: 2 });
      tell.language = "zh-CN";
      const own = teller({ en: { key: "text" }, "zh-CN": {} });
      own.language = "zh-CN";
      process.stdout.write(JSON.stringify([before, tell("Block {n}", { n: 2 }), tell("not there"), own("key")]));""")
    assert found == ["Block 2", "第 2 块", "not there", "text"]


def test_html_in_both_languages_names_each():
    assert both("a", "b") == '<span class="cv-in" lang="en">a</span><span class="cv-in" lang="zh-CN">b</span>'
