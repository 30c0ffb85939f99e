"""Bars and lines: commits by step, accepted drafts by place, tokens a pass over the text."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from clover_viz.trace.series import RunSeries
from clover_viz.ui.charts.look import Look, framed
from clover_viz.ui.charts.tables import ALL

HEIGHT = 280  # pixels


def commits_figure(series: RunSeries, part: int, by: Look) -> go.Figure:
    rows = series.commits if part == ALL else series.commits_of(part)
    steps = [row.step for row in rows]
    mean = [[row.blocks, row.mean] for row in rows]
    hover = "step %{x}: %{y} NAME<br>%{customdata[1]:.2f} committed a block, of %{customdata[0]}<extra></extra>"
    figure = go.Figure([
        go.Bar(
            name="over the threshold", x=steps, y=[row.committed - row.forced for row in rows], customdata=mean,
            marker={"color": by.accent},
            hovertemplate=hover.replace("NAME", "over the threshold"),
        ),
        go.Bar(
            name="forced", x=steps, y=[row.forced for row in rows], customdata=mean,
            marker=_hatched(by, [row.forced for row in rows]),
            hovertemplate=hover.replace("NAME", "forced"),
        ),
    ])  # fmt: skip
    framed(figure, by, HEIGHT)
    x = {"range": [0.4, len(rows) + 0.6], "showgrid": False, **_whole(len(rows))}
    figure.update_xaxes(title_text="step of the block", **x)
    figure.update_yaxes(title_text="slots committed", rangemode="tozero", **_whole(max(row.committed for row in rows)))
    return figure.update_layout(barmode="stack", bargap=0.2, showlegend=True)


def acceptance_figure(series: RunSeries, part: int, by: Look) -> go.Figure:
    rows = series.acceptance
    drafts = [row.draft for row in rows]
    more = [[row.tried, row.reached, row.share] for row in rows]
    figure = go.Figure([
        go.Bar(
            name="drafted", x=drafts, y=[row.tried for row in rows], hoverinfo="skip",
            marker={"color": by.surface, "line": {"color": by.edge, "width": 1}},
        ),
        go.Bar(
            name="accepted", x=drafts, y=[row.accepted for row in rows], customdata=more,
            marker={"color": by.accent},
            hovertemplate="draft %{x}: accepted in %{y} of %{customdata[0]} rounds (%{customdata[2]:.0%})"
            "<br>the verifier came to it in %{customdata[1]}<extra></extra>",
        ),
    ])  # fmt: skip
    framed(figure, by, HEIGHT)
    x = {"range": [0.4, len(rows) + 0.6], "showgrid": False, **_whole(len(rows))}
    figure.update_xaxes(title_text="draft behind the boundary", **x)
    figure.update_yaxes(title_text="rounds", rangemode="tozero", **_whole(max(row.tried for row in rows)))
    return figure.update_layout(barmode="overlay", bargap=0.2, showlegend=True)


def tokens_figure(series: RunSeries, part: int, by: Look) -> go.Figure:
    points = series.points
    figure = go.Figure(go.Scatter(
        name="one token a pass", x=[0, points[-1].tokens], y=[1, 1], mode="lines", hoverinfo="skip",
        line={"color": by.quiet, "width": 1, "dash": "dot"},
    ))  # fmt: skip
    if series.parts:
        unit = "round" if series.rounds else "block"
        x = [place for row in series.parts for place in (row.start, row.start + row.tokens)]
        figure.add_trace(go.Scatter(
            name=f"in the {unit}", x=x, y=[row.rate for row in series.parts for _ in "12"], mode="lines",
            customdata=[row.part + 1 for row in series.parts for _ in "12"],
            line={"color": by.edge, "width": 2},
            hovertemplate=f"{unit} %{{customdata}}: %{{y:.2f}} tokens a pass<extra></extra>",
        ))  # fmt: skip
    figure.add_trace(go.Scatter(
        name="so far", x=[point.tokens for point in points], y=[point.rate for point in points],
        customdata=[point.passes for point in points], mode="lines+markers" if len(points) <= 40 else "lines",
        line={"color": by.accent, "width": 2.5}, marker={"color": by.accent, "size": 6},
        hovertemplate="%{x} tokens in %{customdata} passes: %{y:.2f} a pass<extra></extra>",
    ))  # fmt: skip
    framed(figure, by, HEIGHT)
    figure.update_xaxes(title_text="tokens of the response so far", showgrid=False, rangemode="tozero")
    figure.update_yaxes(title_text="tokens a pass", rangemode="tozero")
    return figure.update_layout(showlegend=True)


def _hatched(by: Look, heights: Sequence[int]) -> dict:
    """Told from a solid bar without its colour; a bar of no height has no outline either."""
    return {
        "color": by.surface, "line": {"color": by.ink, "width": [min(height, 1) for height in heights]},
        "pattern": {"shape": "/", "fgcolor": by.ink, "bgcolor": by.surface, "size": 6, "solidity": 0.3},
    }  # fmt: skip


def _whole(most: int) -> dict:
    """Ticks at whole numbers only."""
    return {"tickmode": "linear", "tick0": 0, "dtick": 1} if most <= 8 else {"tickmode": "auto", "nticks": 8}
