"""`bench compile`: every Triton kernel at the 35B model's shapes, compiled for four cards. No card is needed."""

from collections.abc import Iterable
from importlib.metadata import version
from typing import Any, NamedTuple
from unittest import mock

from clover_kernels import tiles

from clover_viz.bench import compile_calls
from clover_viz.bench.compile_source import Launch, Resources, compile_for, launches
from clover_viz.config import CloverConfig

# Shared memory a program may have, by compute capability, in KB.
SHARED_KB = {80: 163, 90: 227, 100: 227, 120: 99}
KB = 1024


class Compiled(NamedTuple):
    """One kernel on one card: what it takes, or why it could not be compiled."""

    call: str
    kernel: str
    architecture: int
    taken: Resources | None
    error: str = ""

    def fault(self) -> str:
        """What is wrong, in a word or two; empty when nothing is."""
        if self.taken is None:
            return "not compiled"
        if self.taken.shared > SHARED_KB[self.architecture] * KB:
            return "too large"
        return "spills" if self.taken.stack else ""

    def as_dict(self) -> dict[str, Any]:
        return self._asdict() | {"taken": self.taken and self.taken._asdict(), "fault": self.fault()}

    def cell(self) -> str:
        if self.taken is None:
            return "not compiled"
        registers, stack = ("?" if value is None else str(value) for value in self.taken[:2])
        cell = f"{registers:>3} {stack:>5} {self.taken.shared / KB:>6.1f}"
        return f"{cell}  {self.fault()}" if self.fault() else cell


def recorded(config: CloverConfig, architecture: int) -> dict[tuple[str, str], Launch]:
    """The launches of every call, by call and kernel, with the tiles of a card."""
    found: dict[tuple[str, str], Launch] = {}
    with mock.patch.object(tiles, "architecture", lambda device: architecture):
        for name, call in compile_calls.calls(config).items():
            with launches() as made:
                call()
            found |= {(name, launch.name): launch for launch in made}
    return found


def run(
    config: CloverConfig | None = None,
    architectures: Iterable[int] = tiles.ARCHITECTURES,
    only: str = "",
    told=lambda line: None,
) -> dict[str, Any]:
    """Compiles one kernel after the other. `only`: the calls whose name begins so. `told` gets a line before a card."""
    found: list[Compiled] = []
    for architecture in architectures:
        told(f"compiling for sm_{architecture}")
        for (call, kernel), launch in recorded(config or CloverConfig(), architecture).items():
            if call.startswith(only):
                found.append(_compiled(call, kernel, architecture, launch))
    return {
        "triton": version("triton"),
        "kernels": [row.as_dict() for row in found],
        "text": table(found),
    }


def _compiled(call: str, kernel: str, architecture: int, launch: Launch) -> Compiled:
    try:
        return Compiled(call, kernel, architecture, compile_for(launch, architecture))
    except Exception as error:  # of the compiler or the assembler, each of its own kind: the table tells it and goes on
        return Compiled(call, kernel, architecture, None, " ".join(str(error).split())[:300])


def table(rows: list[Compiled]) -> str:
    """A line for each kernel, a column for each card, and below what is wrong."""
    cards = list(dict.fromkeys(row.architecture for row in rows))
    lines: dict[tuple[str, str], dict[int, str]] = {}
    for row in rows:
        lines.setdefault((row.call, row.kernel), {})[row.architecture] = row.cell()
    cells = [["call", "kernel", *(f"sm_{card} ({SHARED_KB[card]} KB)" for card in cards)]]
    cells += [[*name, *(line.get(card, "") for card in cards)] for name, line in lines.items()]
    widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in cells]
    faults = [f"sm_{r.architecture} {r.call}, {r.kernel}: {r.error or r.fault()}" for r in rows if r.fault()]
    unread = any(row.taken is not None and row.taken.registers is None for row in rows)
    return "\n".join([
        f"registers a thread, stack bytes a thread (spilled registers), shared KB a program (of a card's limit); "
        f"Triton {version('triton')}",
        *text,
        *(["?: cuobjdump did not answer"] if unread else []),
        *(faults or [f"all {len(rows)} compiled, none spills, all fit"]),
    ])  # fmt: skip
