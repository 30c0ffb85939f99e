"""The tab that explains how the model writes: a lesson of ten screens, each with a live picture beside its text."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr

from clover_viz.ui.lesson.data import MODEL, TRACES, picture_data
from clover_viz.ui.lesson.rules import figures
from clover_viz.ui.lesson.text import SCREENS, Page
from clover_viz.ui.lesson.words import words
from clover_viz.ui.records import json_text
from clover_viz.ui.theme import BOARD_SCRIPTS, script

SCRIPTS = (
    *BOARD_SCRIPTS, "lesson/rules.js", "lesson/parts.js", "lesson/pictures.js",
    "lesson/finds.js", "lesson/numbers.js", "lesson/lesson.js",
)  # fmt: skip
MOUNT = """const lesson = new Lesson(element.firstElementChild, props.value);
element.lesson = lesson;"""
# Opens the tab whose `elem_id` is "lesson" when the address names one of its screens; for the page's `load`.
OPEN_LINKED = """() => {
  if (/^#lesson-\\d+$/.test(location.hash)) document.querySelector("#lesson-button")?.click();
}"""


def lesson_tab() -> gr.HTML:
    """The lesson, inside the tab that is open. Its pictures draw recorded runs and need no engine."""
    return gr.HTML(
        value=lesson_json(), html_template="<div></div>", apply_default_css=False, elem_id="lesson-screens",
        js_on_load=f"{script(*SCRIPTS)}\n{MOUNT}",
    )  # fmt: skip


@cache
def lesson_json(traces: Path = TRACES, model: Path = MODEL) -> str:
    """Everything the browser needs, as one JSON text: `screens`, `words` and the pictures' `data`."""
    data = picture_data(traces, model)
    values = {**figures(), **_shape(data["facts"])}
    screens = [
        {"key": s.key, "picture": s.picture, "en": _page(s.en, values), "zh-CN": _page(s.zh, values)} for s in SCREENS
    ]
    return json_text({"screens": screens, "words": words(), "data": data})


def _shape(facts: dict[str, Any]) -> dict[str, Any]:
    """What the text tells of the embedded model; a question mark where its files cannot be read."""
    if "problem" in facts:
        return dict.fromkeys(("a_token", "experts", "times"), "?")
    tiny, released = facts["tiny"], facts["released"]
    times = int(round(released["parameters"] / tiny["parameters"], -2))
    return {"a_token": tiny["a_token"], "experts": tiny["experts"], "times": f"{times:,}"}


def _page(page: Page, values: dict[str, Any]) -> dict[str, Any]:
    return {"title": page.title, "text": [paragraph.format(**values) for paragraph in page.text]}
