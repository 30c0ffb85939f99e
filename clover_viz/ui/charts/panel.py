"""The panel "Charts of this run": one chart at a time, drawn when a visitor asks for it and never while a run goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr
from gradio.components.plot import PlotData

from clover_viz.events import Event
from clover_viz.trace.series import RunSeries, run_series
from clover_viz.ui.charts.drawing import ALL, CHARTS, Drawn, draw, parts
from clover_viz.ui.charts.words import run_words
from clover_viz.ui.languages import I18N, known, translated
from clover_viz.ui.records import json_text
from clover_viz.ui.theme import drawn as component

NO_RUN = "There is no finished run yet. Its charts can be drawn here once there is one."
ASKED = {"concurrency_limit": None, "show_progress": "hidden", "api_visibility": "private"}
CONFIG = {"displayModeBar": False, "doubleClick": False, "scrollZoom": False}

# Asked with every drawing: a figure is made for the theme and the language that the page has.
LOOK = """(dark, language, ...rest) => [
  document.body.classList.contains("dark"), document.documentElement.lang, ...rest]"""
WORDS = """const choose = (part) => trigger("part", { part });
const words = new ChartWords(element.firstElementChild, "#NAME", "#NAME-plot", choose);
watch("value", () => words.show(props.value));
words.show(props.value);
onTheme((dark) => trigger("themed", { dark }));"""
NUMBERS = """const table = new ChartTable(element.firstElementChild);
watch("value", () => table.show(props.value));
table.show(props.value);"""


def charts_panel(
    get_events: Callable[..., Sequence[Event] | None],
    inputs: Sequence[gr.components.Component] = (),
    title: str = "Charts of this run",
    name: str = "charts",
) -> gr.Accordion:
    """Lays the panel out where it is called, closed; opening it draws, and so does every choice made in it.

    get_events: from the values of `inputs` to the events of a run (the last one that finished, an opened trace), or
    None while there is none. It is asked when the panel is opened and at its button, so the charts stay with one run
    until then. name: of the panel on its page, for more than one of them.
    """
    with gr.Accordion(I18N(title), open=False, elem_id=name, elem_classes="cv-charts") as panel:
        drawn = gr.State(None)  # (RunSeries, part) on show
        dark, language = gr.Checkbox(False, visible=False), gr.Textbox("en", visible=False)
        offered = translated((chart.label, chart.name) for chart in CHARTS.values())
        chart = gr.Radio(offered, value=offered[0][1], label=I18N("Chart"), elem_id=f"{name}-chart")
        with gr.Row(elem_classes="cv-charts-head"):
            words = component("charts/charts.js", mount=WORDS.replace("NAME", name))
            again = gr.Button(
                I18N("Draw the latest run"), size="sm", elem_id=f"{name}-draw", elem_classes="cv-charts-draw"
            )
        plot = gr.Plot(
            show_label=False, container=False, visible="hidden", elem_id=f"{name}-plot", elem_classes="cv-charts-plot"
        )
        numbers = component("charts/charts.js", mount=NUMBERS)
    asked = {"outputs": [drawn, words, plot, numbers], "js": LOOK, **ASKED}
    for newest in (panel.expand, again.click):
        newest(_fresh(get_events), [dark, language, chart, drawn, *inputs], **asked)
    chart.input(_other, [dark, language, chart, drawn], **asked)
    words.part(_part, [dark, language, chart, drawn], **asked)
    words.themed(_same, [dark, language, chart, drawn], **asked)
    return panel


State = tuple[RunSeries, int | None] | None


def _fresh(get_events: Callable[..., Sequence[Event] | None]):
    def fresh(dark: bool, language: str, chart: str, drawn: State, *values: Any):
        events = get_events(*values)
        if not events:
            return None, *_said(NO_RUN)
        try:
            series = run_series(events)
        except ValueError as problem:
            return None, *_said(f"These events have no charts: {problem}.")
        return _show(dark, language, chart, series, None)

    return fresh


def _other(dark: bool, language: str, chart: str, drawn: State):
    """Another chart: of the same part, but one that can show all blocks begins with them."""
    if drawn is None:
        return None, *_said(NO_RUN)
    series, part = drawn
    return _show(dark, language, chart, series, ALL if ALL in dict(parts(series, chart)).values() else part)


def _part(dark: bool, language: str, chart: str, drawn: State, event: gr.EventData):
    return _show(dark, language, chart, drawn[0], event.part) if drawn else (None, *_said(NO_RUN))


def _same(dark: bool, language: str, chart: str, drawn: State):
    return _show(dark, language, chart, *drawn) if drawn else (None, *_said(NO_RUN))


def _show(dark: bool, language: str, chart: str, series: RunSeries, part: int | None):
    """What is then on show, the words, the figure and the numbers. A part that the chart lacks stands for its first."""
    offered = parts(series, chart)
    if part not in dict(offered).values():
        part = next((value for _, value in offered), part)
    made = draw(series, chart, part, dark, known(language))
    if made.missing:
        return (series, part), *_said(made.missing, run_words(series))
    words = {
        "run": run_words(series), "says": made.words, "parts": offered, "part": part,
        "unit": "Rounds" if series.rounds else "Block",
    }  # fmt: skip
    of = next((label for label, value in offered if value == part), "")
    return (series, part), json_text(words), gr.update(value=_plotly(made), visible=True), _numbers(chart, of, made)


def _said(says: str, run: Sequence[str] = ()):
    """Words alone."""
    words = json_text({"run": run, "says": says, "parts": [], "part": None, "unit": ""})
    return words, gr.update(value=None, visible="hidden"), ""


def _plotly(made: Drawn) -> PlotData:
    """With a configuration, which a figure alone cannot carry: no tool bar, and nothing that catches a finger."""
    return PlotData(type="plotly", plot=f'{made.figure.to_json()[:-1]},"config":{json_text(CONFIG)}}}')


def _numbers(chart: str, of: str, made: Drawn) -> str:
    told = [CHARTS[chart].label, of] if of else [CHARTS[chart].label]
    return json_text({
        "name": told,
        "file": "-".join(" ".join(["clover", chart, *told[1:]]).lower().split()) + ".csv",
        "columns": made.table.columns,
        "rows": made.table.rows,
        "csv": made.table.csv(),
    })  # fmt: skip
