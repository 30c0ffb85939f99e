"""Heat maps: confidence by slot and step, drafts against their checks, experts by layer and step."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from clover_viz.trace.series import RunSeries
from clover_viz.trace.trails import BlockTrails, RoundTrail
from clover_viz.ui.charts.look import BOTTOM, KEY, LEGEND, TITLE, Look, framed, keyed, row_height, ticks
from clover_viz.ui.charts.tables import experts_of, page

GAP = 34  # pixels between two maps, for the title of the lower one


def confidence_figure(series: RunSeries, part: int, by: Look) -> go.Figure:
    """Of one block (its number), or of the rounds from index `part` on."""
    if series.rounds:
        return _rounds(page(series.rounds, part), by)
    return _block(next(block for block in series.blocks if block.block == part), by)


def _block(block: BlockTrails, by: Look) -> go.Figure:
    slots, steps = len(block.trails), block.steps
    cells = [[_cell(trail.previews, step) for trail in block.trails] for step in range(steps)]
    figure = go.Figure(_map("confidence", cells, "slot %{x}, step %{y}<br>%{text} at %{z:.4f}", x0=1, y0=1))
    figure.add_trace(_stems(block, by))
    for name, forced, symbol in (("committed", False, "circle"), ("forced", True, "diamond")):
        fixed = [trail for trail in block.trails if trail.committed and trail.forced == forced]
        figure.add_trace(_dots(name, symbol, [(t.slot + 1, t.committed, _told(t.previews[-1])) for t in fixed], by))
    if block.kept < slots:
        line = {"color": by.ink, "width": 1.5, "dash": "dot"}
        figure.add_vline(block.kept + 0.5, line=line)
        figure.add_annotation(
            text="the text ends", x=block.kept + 0.5, xanchor="left" if 2 * block.kept < slots else "right", y=1,
            yref="paper", yanchor="bottom", showarrow=False,
        )  # fmt: skip
    framed(figure, by, steps * row_height(steps), LEGEND + TITLE * (block.kept < slots), BOTTOM + KEY)
    figure.update_xaxes(title_text="slot", range=[0.5, slots + 0.5], showgrid=False, **_from_one(slots))
    figure.update_yaxes(title_text="step", range=[steps + 0.5, 0.5], showgrid=False, **_from_one(steps))
    return keyed(figure, by, ("confidence of the preview", 1))


def _rounds(rounds: Sequence[RoundTrail], by: Look) -> go.Figure:
    width = max(len(row.drafts) for row in rounds)
    drafted = [[_draft(row.drafts, at) for at in range(width)] for row in rounds]
    verified = [[_checked(row, at) for at in range(width)] for row in rounds]
    hover = "round %{y}, draft %{x}<br>%{text} at %{z:.4f}"
    first = rounds[0].round + 1
    figure, height = _stacked([
        ("The draft’s confidence", _map("draft confidence", drafted, hover, x0=1, y0=first)),
        ("The verifier’s probability of the draft", _map("verifier probability", verified, hover, x0=1, y0=first)),
    ], len(rounds))  # fmt: skip
    stood = [(at + 1, row.round + 1, "accepted") for row in rounds for at in range(row.accepted)]
    refused = [(row.refused, row.round + 1, "refused") for row in rounds if row.refused]
    for name, symbol, places in (("accepted", "circle", stood), ("first refused", "x", refused)):
        figure.add_trace(_dots(name, symbol, places, by), row=2, col=1)
    framed(figure, by, height, LEGEND + TITLE, BOTTOM + KEY)
    figure.update_xaxes(range=[0.5, width + 0.5], showgrid=False, **_from_one(width))
    figure.update_xaxes(title_text="draft behind the boundary", row=2)
    numbers = _from_one(len(rounds), first)
    figure.update_yaxes(title_text="round", range=[first + len(rounds) - 0.5, first - 0.5], showgrid=False, **numbers)
    return keyed(figure, by, ("confidence, probability", 1))


def experts_figure(series: RunSeries, part: int, by: Look) -> go.Figure:
    previews = experts_of(series, part)
    layers = [layer.layer for layer in previews[0].layers]
    labels = [_name(preview, series) for preview in previews]
    maps = []
    for name, unit in (("touched", "experts"), ("kept", "experts"), ("rerouted", "of its own lost a slot")):
        cells = [[getattr(layer, name) for layer in preview.layers] for preview in previews]
        maps.append((name, cells, unit))
    if any(preview.verifier for preview in previews):
        cells = [[layer.touched for layer in preview.verifier] or [None] * len(layers) for preview in previews]
        maps.append(("verifier", cells, "experts"))
    titles = {
        "touched": "Touched by the preview", "kept": "Kept by the coreset",
        "rerouted": "Re-routed: of its own, a slot lost", "verifier": "Touched by the verifier",
    }  # fmt: skip
    texts = [[label] * len(layers) for label in labels]
    figure, height = _stacked([
        (titles[name], go.Heatmap(
            name=name, z=cells, x=layers, y=list(range(len(labels))), text=texts, xgap=1, ygap=1, hoverongaps=False,
            coloraxis="coloraxis2" if name == "rerouted" else "coloraxis",
            hovertemplate=f"%{{text}}, layer %{{x}}<br>%{{z:.4~g}} {unit}<extra></extra>",
        )) for name, cells, unit in maps
    ], len(labels), least=6)  # fmt: skip
    framed(figure, by, height, TITLE, BOTTOM + KEY)
    figure.update_xaxes(range=[layers[0] - 0.5, layers[-1] + 0.5], showgrid=False)
    figure.update_xaxes(title_text="layer", row=len(maps), **_integers(layers))
    rows = ticks([label.rpartition(" ")[2] for label in labels], 7)
    unit = "round" if series.rounds else "step"
    figure.update_yaxes(title_text=unit, range=[len(labels) - 0.5, -0.5], showgrid=False, **rows)
    most = max(layer.touched for preview in previews for layer in (*preview.layers, *preview.verifier))
    lost = max(layer.rerouted for preview in previews for layer in preview.layers)
    return keyed(figure, by, ("experts", most or 1), ("re-routed a slot", lost or 1))


def _name(preview, series: RunSeries) -> str:
    if not series.rounds:
        return f"step {preview.step}"
    several = any(other.part == preview.part and other.step > 1 for other in series.experts)
    return f"round {preview.part + 1}" + (f".{preview.step}" if several else "")


def shown(token: str) -> str:
    """A token with its blanks made visible, and nothing in it that plotly would take for markup."""
    visible = token.replace(" ", "·").replace("\r", "").replace("\n", "↵").replace("\t", "⇥")
    return escape(f"“{visible}”", quote=False)


def _told(slot) -> str:
    return f"{shown(slot.token)} at {slot.confidence:.4f}"


def _cell(previews, step: int) -> tuple[float, str] | tuple[None, str]:
    return (previews[step].confidence, shown(previews[step].token)) if step < len(previews) else (None, "")


def _draft(drafts, at: int):
    return (drafts[at].confidence, shown(drafts[at].token)) if at < len(drafts) else (None, "")


def _checked(row: RoundTrail, at: int):
    return (row.checks[at].probability, shown(row.checks[at].token)) if at < len(row.checks) else (None, "")


def _map(name: str, cells, hover: str, x0: int, y0: int) -> go.Heatmap:
    return go.Heatmap(
        name=name, z=[[value for value, _ in row] for row in cells], text=[[text for _, text in row] for row in cells],
        x0=x0, dx=1, y0=y0, dy=1, xgap=1, ygap=1, coloraxis="coloraxis", hoverongaps=False,
        hovertemplate=hover + "<extra></extra>",
    )  # fmt: skip


def _dots(name: str, symbol: str, places: Sequence[tuple], by: Look) -> go.Scatter:
    return go.Scatter(
        name=name, x=[x for x, _, _ in places], y=[y for _, y, _ in places], text=[text for *_, text in places],
        mode="markers", marker=by.mark(symbol), showlegend=bool(places),
        hovertemplate=f"{name}<br>%{{text}}<extra></extra>",
    )  # fmt: skip


def _stems(block: BlockTrails, by: Look) -> go.Scatter:
    """A line down from each commit: from there on the slot is fixed."""
    x, y = [], []
    for trail in block.trails:
        if trail.committed or trail.given:
            x += [trail.slot + 1, trail.slot + 1, None]
            y += [trail.committed or 0.5, block.steps + 0.5, None]
    return go.Scatter(
        name="fixed", x=x, y=y, mode="lines", line={"color": by.edge, "width": 1}, hoverinfo="skip", showlegend=bool(x),
        legendrank=1001,  # below the marks, but told behind them
    )  # fmt: skip


def _stacked(maps: Sequence[tuple[str, go.Heatmap]], rows: int, least: int = 9) -> tuple[go.Figure, int]:
    """Maps of the same size one below the other, and the height of all in pixels."""
    each = max(rows * row_height(rows * len(maps), least), 40)
    height = len(maps) * each + (len(maps) - 1) * GAP
    figure = make_subplots(
        rows=len(maps), cols=1, shared_xaxes=True, vertical_spacing=GAP / height, subplot_titles=[t for t, _ in maps]
    )
    for row, (_, drawn) in enumerate(maps, start=1):
        figure.add_trace(drawn, row=row, col=1)
    figure.update_annotations(x=0, xanchor="left")
    return figure, height


def _from_one(count: int, first: int = 1) -> dict:
    settings = ticks(range(first, first + count), 8)
    return {**settings, "tickvals": [at + first for at in settings["tickvals"]]}


def _integers(labels: Sequence[int]) -> dict:
    settings = ticks(labels, 12)
    return {**settings, "tickvals": [labels[at] for at in settings["tickvals"]]}
