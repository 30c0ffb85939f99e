"""The charts of a run: which there are, and one of them drawn, told in words and laid out as a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import plotly.graph_objects as go

from clover_viz.trace.series import RunSeries
from clover_viz.ui.charts import tables, words
from clover_viz.ui.charts.heat import confidence_figure, experts_figure
from clover_viz.ui.charts.lines import acceptance_figure, commits_figure, tokens_figure
from clover_viz.ui.charts.look import look
from clover_viz.ui.charts.retold import retold_figure
from clover_viz.ui.charts.tables import ALL, PAGE, Table
from clover_viz.ui.languages import CHINESE

Parts = list[tuple[str, int]]  # what can be chosen within a chart: its name, and the number that stands for it


@dataclass(frozen=True)
class Drawn:
    """One chart of a run. missing: why there is none, and then there is nothing else."""

    missing: str | None = None
    figure: go.Figure | None = None
    words: str = ""
    table: Table | None = None


@dataclass(frozen=True)
class Chart:
    """A kind of chart. figure, words and table take the run's series and a part, the figure its theme as well."""

    name: str
    label: str
    parts: Callable[[RunSeries], Parts]
    figure: Callable[..., go.Figure]
    words: Callable[[RunSeries, int], str]
    table: Callable[[RunSeries, int], Table]


def blocks_or_rounds(series: RunSeries) -> Parts:
    """Blocks that were begun, or stretches of rounds."""
    if series.rounds:
        firsts = range(0, len(series.rounds), PAGE)
        return [(_stretch(at, min(at + PAGE, len(series.rounds))), at) for at in firsts]
    return [(f"Block {block.block + 1}", block.block) for block in series.blocks if block.steps]


def all_or_one_block(series: RunSeries) -> Parts:
    blocks = blocks_or_rounds(series)
    return [("All blocks", ALL), *blocks] if len(blocks) > 1 else blocks


def whole_run(series: RunSeries) -> Parts:
    return []


CHARTS = {
    chart.name: chart
    for chart in (
        Chart("confidence", "Confidence", blocks_or_rounds, confidence_figure, words.confidence_words,
              tables.confidence_table),
        Chart("commits", "Commits by step", all_or_one_block, commits_figure, words.commits_words,
              tables.commits_table),
        Chart("acceptance", "Accepted drafts", whole_run, acceptance_figure, words.acceptance_words,
              tables.acceptance_table),
        Chart("experts", "Experts", blocks_or_rounds, experts_figure, words.experts_words, tables.experts_table),
        Chart("tokens", "Tokens a pass", whole_run, tokens_figure, words.tokens_words, tables.tokens_table),
    )
}  # fmt: skip


def parts(series: RunSeries, name: str) -> Parts:
    """What can be chosen within a chart of this run; empty when it has one picture only, or none."""
    return [] if words.missing(series, name) else CHARTS[name].parts(series)


def draw(series: RunSeries, name: str, part: int | None, dark: bool, language: str = "en") -> Drawn:
    """A chart of a run, its figure for one theme and language; words and table are English.

    part: one of `parts`; anything else stands for the first of them.
    """
    reason = words.missing(series, name)
    if reason:
        return Drawn(reason)
    chart = CHARTS[name]
    values = [value for _, value in chart.parts(series)] or [0]
    part = part if part in values else values[0]
    figure = chart.figure(series, part, look(dark))
    if language == CHINESE:
        figure = retold_figure(figure)
    return Drawn(figure=figure, words=chart.words(series, part), table=chart.table(series, part))


def _stretch(first: int, behind: int) -> str:
    return f"Round {first + 1}" if behind == first + 1 else f"Rounds {first + 1} to {behind}"
