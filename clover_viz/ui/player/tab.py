"""The player's tab: which run is played, traces in and out, and links that fill the page in."""

from __future__ import annotations

import base64
import re
from html import escape
from itertools import count
from pathlib import Path

import gradio as gr

from clover_viz.errors import UserError
from clover_viz.ui.languages import CHINESE, I18N, both, language_of, spoken
from clover_viz.ui.player.link import link_of, settings_from_link
from clover_viz.ui.player.page import SCRIPTS, player_page
from clover_viz.ui.player.recording import Kept
from clover_viz.ui.player.shelf import recorded
from clover_viz.ui.player.upload import MEGABYTES, opened
from clover_viz.ui.records import json_text
from clover_viz.ui.theme import drawn

QUIET = {"show_progress": "hidden", "api_visibility": "private", "concurrency_limit": 4}
ALONE = ("One run alone", "")
GONE = "This run is no longer kept: the page holds the last six. Choose another."
STAGE = """const tab = new PlayerTab(element.firstElementChild);
element.player = tab.player;
watch("value", () => tab.show(props.value));
tab.show(props.value);"""
NOTE = """const note = new PlayerNote(element.firstElementChild);
watch("value", () => note.show(props.value));
note.show(props.value);"""
COURIER = """watch("value", () => saveFile(props.value));"""

ABOUT_TRACES = (
    f"A trace holds every event of one run: .jsonl or .jsonl.gz, at most {MEGABYTES} MB unpacked.",
    f"轨迹保存一次运行的所有事件：.jsonl 或 .jsonl.gz，解压后最多 {MEGABYTES} MB。",
)

_numbers = count(1)  # of files sent: the same file twice is still news to the page


def player_tab(session: gr.State, tab: gr.Tab) -> None:
    """The player's components and what each does, inside `tab`. The session's `shelf` holds the runs of the page."""
    choices = [(kept.title, key) for key, kept in recorded().items()]
    first = choices[0][1] if choices else None
    with gr.Row(elem_id="player_choice"):
        run = gr.Dropdown(choices, value=first, label=I18N("Run"), elem_id="player_run")
        other = gr.Dropdown([ALONE, *choices], value="", label=I18N("Compared with"), elem_id="player_other")
        upload = gr.UploadButton(I18N("Open a trace file"), elem_id="player_open", size="sm")
    note = drawn("player/tab.js", "elements.js", mount=NOTE)
    note.value = "" if choices else "No recorded traces are here: open one, or run the model."
    stage = drawn(*SCRIPTS, "player/tab.js", mount=STAGE)
    stage.value = _shown([recorded()[first]]) if first else ""
    with gr.Row(elem_id="player_files"):
        trace = gr.Button(I18N("Download the trace"), size="sm")
        page = gr.Button(I18N("Download as a web page"), size="sm")
        gr.HTML(f'<p class="cv-says">{both(*ABOUT_TRACES)}</p>', apply_default_css=False)
    courier = drawn("player/tab.js", mount=COURIER)

    for choice in (run, other):
        choice.input(_choose, [session, run, other], [stage, note], trigger_mode="always_last", **QUIET)
    upload.upload(_open, [session, upload, other], [run, other, stage, note], **QUIET)
    tab.select(_arrive, [session, run, other], [run, other, stage, note], **QUIET)
    trace.click(_save_trace, [session, run], [courier, note], **QUIET)
    page.click(_save_page, [session, run, other], [courier, note], **QUIET)


def fill_from_link(page: gr.Blocks, prompt: gr.Textbox, controls: dict) -> None:
    """Fills prompt and controls (by name, see `knobs`) from the page's address when it opens. Nothing is sent."""
    ranges = ranges_of(controls)

    def fill(request: gr.Request):
        filled = settings_from_link(dict(request.query_params), ranges)
        if filled.line:
            language = language_of(request)
            gr.Warning(escape(spoken(filled.line, language)), duration=None, title=spoken("Link", language))
        given = filled.values
        return [gr.update(value=given[name]) if name in given else gr.update() for name in ("prompt", *controls)]

    page.load(fill, None, [prompt, *controls.values()], **QUIET)


def ranges_of(controls: dict) -> dict:
    """What the controls can hold, by name, where that is limited; what a link says is held against it."""
    return {name: allowed for name, control in controls.items() if (allowed := _range(control))}


def _range(control):
    """What a control can hold: (low, high) of a slider, the set of a choice, None without limits."""
    if isinstance(control, gr.Slider):
        return control.minimum, control.maximum
    return {value for _, value in control.choices} if isinstance(control, gr.Radio) else None


def _choose(session, run: str | None, other: str | None) -> tuple:
    kept = [session.shelf.get(key) for key in (run, other) if key]
    if not kept or None in kept:
        return gr.skip(), GONE
    return _shown(kept), ""


def _open(session, request: gr.Request, path: str, other: str | None) -> tuple:
    try:
        kept = opened(Path(path))
    except UserError as problem:
        return gr.skip(), gr.skip(), gr.skip(), str(problem)
    return _listed(session, request, session.shelf.put_file(kept), other)


def _arrive(session, request: gr.Request, run: str | None, other: str | None) -> tuple:
    """The newest run of the page when there is one that was not yet shown here; else the lists, brought up to date."""
    news, session.shelf.news = session.shelf.news, None
    if news or run and session.shelf.get(run) is None:
        return _listed(session, request, news or session.shelf.choices()[0][1], "")
    return _lists(session, request, run, other) + (gr.skip(), gr.skip())


def _listed(session, request: gr.Request, run: str, other: str | None) -> tuple:
    """The lists, and a run of them on the stage."""
    if other and session.shelf.get(other) is None:
        other = ""
    return _lists(session, request, run, other) + _choose(session, run, other)


def _lists(session, request: gr.Request, run: str | None, other: str | None) -> tuple:
    """Their titles in the visitor's language, which a list cannot look up by itself."""
    language = language_of(request)
    alone, *choices = ((spoken(title, language), key) for title, key in (ALONE, *session.shelf.choices()))
    keys = [key for _, key in choices]
    run = run if run in keys else next(iter(keys), None)
    other = other if other in keys else ""
    return gr.update(choices=choices, value=run), gr.update(choices=[alone, *choices], value=other)


def _save_trace(session, run: str | None) -> tuple:
    kept = session.shelf.get(run) if run else None
    if kept is None:
        return gr.skip(), GONE
    return _file(f"{_slug(kept.title)}.jsonl.gz", "application/gzip", kept.trace), ""


def _save_page(session, request: gr.Request, run: str | None, other: str | None) -> tuple:
    kept = [session.shelf.get(key) for key in (run, other) if key]
    if not kept or None in kept:
        return gr.skip(), GONE
    language, title = language_of(request), " and ".join(one.title for one in kept)
    said = (" 与 " if language == CHINESE else " and ").join(spoken(one.title, language) for one in kept)
    text = player_page([one.recording for one in kept], said)
    return _file(f"{_slug(title)}.html", "text/html", text.encode()), ""


def _shown(kept: list[Kept]) -> str:
    """What the stage draws; the link is that of the first run."""
    first, recordings = kept[0], [one.recording for one in kept]
    start = recordings[0]["records"][0]
    link = link_of(start["mode"], start["set"], first.prompt, first.system, first.earlier, first.raw)
    return json_text({"recordings": recordings, "link": link._asdict()})


def _file(name: str, kind: str, data: bytes) -> str:
    return json_text({"number": next(_numbers), "name": name, "type": kind, "data": base64.b64encode(data).decode()})


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:80] or "run"
