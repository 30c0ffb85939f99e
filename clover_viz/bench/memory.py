"""Resident memory of this process."""

import os
from collections.abc import Callable
from pathlib import Path

STATM = Path("/proc/self/statm")


def resident() -> int | None:
    """Bytes, or None where the system does not tell."""
    if not STATM.exists():
        return None
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def over_runs(
    run: Callable[[int], None], runs: int, read: Callable[[], int | None] = resident
) -> dict[str, int | None]:
    """Memory before any run, after the first one (buffers are then there) and after `runs` of them."""
    found = {"loaded": read()}
    for i in range(runs):
        run(i)
        if i == 0:
            found["after_1"] = read()
    return found | {f"after_{runs}": read()}


def line(found: dict[str, int | None], runs: int) -> str:
    if found["loaded"] is None:
        return "resident memory: this system does not tell"
    loaded, first, last = (found[name] / 2**20 for name in ("loaded", "after_1", f"after_{runs}"))
    return (
        f"resident memory: {loaded:.0f} MiB with the model loaded, {first:.0f} after 1 run, {last:.0f} after {runs} "
        f"(growth from the first to the last: {last - first:+.1f} MiB)"
    )
