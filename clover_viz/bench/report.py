"""A row is a ratio with what it should be; a report is rows and where they were measured."""

import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from clover_viz.bench.timing import Spread


@dataclass(frozen=True)
class Row:
    """`at_most` tells whether small figures are good ones. Without a target the row only informs."""

    name: str
    measured: Spread
    target: float | None = None
    goal: float | None = None
    at_most: bool = True
    note: str = ""

    def short_of(self, wanted: float) -> float:
        """How much the figure misses a wanted value by; 0 when it does not."""
        by = self.measured.figure - wanted
        return max(0.0, by if self.at_most else -by)

    def verdict(self) -> str:
        if self.target is None:
            return ""
        short = self.short_of(self.target)
        if short:
            return f"missed by {_figure(short)}"
        if self.goal is not None and self.short_of(self.goal):
            return f"met, goal missed by {_figure(self.short_of(self.goal))}"
        return "met"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"measured": self.measured._asdict(), "verdict": self.verdict()}


def machine(threads: int, dtype: str) -> dict[str, Any]:
    """Where a run took place."""
    return {
        "cores": os.cpu_count(),
        "threads": threads,
        "dtype": dtype,
        "processor": platform.machine(),
        "python": platform.python_version(),
        "torch": version("torch"),
        "transformers": version("transformers"),
    }


def headline(model: str, where: dict[str, Any]) -> str:
    return (
        f"{model} on the CPU: {_count(where['cores'], 'core')}, {_count(where['threads'], 'thread')}, "
        f"{where['dtype']}, torch {where['torch']}, transformers {where['transformers']}, Python {where['python']}"
    )


def table(rows: Iterable[Row]) -> str:
    """Rows as aligned text, each note on a line of its own."""
    cells = [("ratio", "figure", "of single rounds", "target", "goal", "")]
    notes = [""]
    for row in rows:
        low, high = _figure(row.measured.low), _figure(row.measured.high)
        wanted = [_wanted(row.at_most, value) for value in (row.target, row.goal)]
        cells.append((row.name, _figure(row.measured.figure), f"{low} .. {high}", *wanted, row.verdict()))
        notes.append(row.note)
    widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    lines = []
    for line, note in zip(cells, notes):
        lines.append("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
        if note:
            lines.append(f"    {note}")
    return "\n".join(lines)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)


def _wanted(at_most: bool, value: float | None) -> str:
    return "" if value is None else f"{'<=' if at_most else '>='} {value:g}"


def _figure(value: float) -> str:
    return f"{value:.3g}" if value < 0.1 else f"{value:.2f}"
