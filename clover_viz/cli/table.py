"""Tables for a terminal."""

from collections.abc import Sequence

Table = Sequence[Sequence[str]]  # the first row is the head


def aligned(table: Table, left: int = 2) -> str:
    """Columns two blanks apart: the first `left` of them to the left, the others, numbers, to the right."""
    widths = [max(map(len, column)) for column in zip(*table)]
    lines = [
        "  ".join(cell.ljust(w) if i < left else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths)))
        for row in table
    ]
    return "\n".join(line.rstrip() for line in lines)
