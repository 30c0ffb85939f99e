"""The numbers of each chart as a table, and a table as CSV. Blocks, rounds and slots count from 1, as on the board."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from clover_viz.trace.series import RunSeries

Value = str | int | float | None
ALL = -1  # stands for all blocks where one could be chosen
PAGE = 24  # rounds of one heat map


@dataclass(frozen=True)
class Table:
    """Column names, and a row of values for each; None is an empty cell."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def csv(self) -> str:
        """RFC 4180, lines ended by CR LF, numbers in full; an empty cell is an empty field."""
        text = io.StringIO()
        csv.writer(text).writerows([self.columns, *self.rows])
        return text.getvalue()


def page(rows: Sequence, part: int) -> Sequence:
    """The rounds of one heat map, which begins with the round at index `part`."""
    return rows[part : part + PAGE]


def confidence_table(series: RunSeries, part: int) -> Table:
    """One row a preview of a slot, or a draft of a round."""
    if series.rounds:
        columns = ("round", "draft", "token", "draft confidence", "verifier probability", "bar", "outcome")
        rows = []
        for row in page(series.rounds, part):
            for at, draft in enumerate(row.drafts):
                check = row.checks[at] if row.checks else None
                told = (check.probability, check.bar) if check else (None, None)
                how = _outcome(row, draft.slot) if check else "not checked"
                rows.append((row.round + 1, draft.slot, draft.token, draft.confidence, *told, how))
        return Table(columns, tuple(rows))
    block = next(block for block in series.blocks if block.block == part)
    rows = [
        (step, trail.slot + 1, slot.token, slot.confidence, _fate(trail) if trail.committed == step else "")
        for trail in block.trails
        for step, slot in enumerate(trail.previews, start=1)
    ]
    return Table(("step", "slot", "token", "confidence", "committed"), tuple(sorted(rows, key=lambda row: row[:2])))


def _fate(trail) -> str:
    return "forced" if trail.forced else "over the threshold"


def _outcome(row, slot: int) -> str:
    return "accepted" if slot <= row.accepted else "refused" if slot == row.refused else "behind"


def commits_table(series: RunSeries, part: int) -> Table:
    rows = series.commits if part == ALL else series.commits_of(part)
    columns = ("step", "blocks that came so far", "slots committed", "of them forced", "committed a block")
    return Table(columns, tuple((row.step, row.blocks, row.committed, row.forced, row.mean) for row in rows))


def acceptance_table(series: RunSeries, part: int = 0) -> Table:
    columns = ("draft", "rounds that had it", "rounds that came to it", "rounds it was accepted in", "share accepted")
    rows = ((row.draft, row.tried, row.reached, row.accepted, row.share) for row in series.acceptance)
    return Table(columns, tuple(rows))


def experts_table(series: RunSeries, part: int) -> Table:
    """One row a layer of a preview."""
    rows = []
    for preview in experts_of(series, part):
        checked = {layer.layer: layer.touched for layer in preview.verifier}
        for layer in preview.layers:
            row = (preview.step, layer.layer, layer.touched, layer.kept, layer.rerouted)
            rows.append((preview.part + 1, *row, checked.get(layer.layer)) if series.rounds else row)
    columns = ("step", "layer", "touched", "kept", "re-routed a slot")
    return Table(("round", *columns, "touched by the verifier") if series.rounds else columns, tuple(rows))


def experts_of(series: RunSeries, part: int) -> list:
    """Previews of one block, or of the rounds of one heat map."""
    shown = {row.round for row in page(series.rounds, part)} if series.rounds else {part}
    return [preview for preview in series.experts if preview.part in shown]


def tokens_table(series: RunSeries, part: int = 0) -> Table:
    """One row a point of the running figure, with the figures of the block or round that it ends or stands in."""
    parts = {row.part: row for row in series.parts}
    unit = "round" if series.rounds else "block"
    columns = ("passes so far", "tokens so far", "tokens a pass so far")
    if not parts:
        return Table(columns, tuple((point.passes, point.tokens, point.rate) for point in series.points))
    rows = []
    for point in series.points:
        row = parts.get(point.part)
        told = (row.part + 1, row.tokens, row.passes, row.rate) if row else (None,) * 4
        rows.append((point.passes, point.tokens, point.rate, *told))
    more = (unit, f"tokens of the {unit}", f"passes of the {unit}", f"tokens a pass in the {unit}")
    return Table((*columns, *more), tuple(rows))
