"""How fast a run goes on: at full speed, slowly enough to watch, or one pass at a press.

A held run holds the engine, and with it everyone who waits for it. So it may take as long as it likes while nobody
waits, and once somebody does goes on at full speed after a while.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

SPEEDS = (("Full speed", "full"), ("Slow motion", "slow"), ("Step by step", "step"))
SLOW = 0.8  # seconds between two passes in slow motion
PATIENCE = 20.0  # seconds in all that a run may stand at its gate while others wait
LOOK = 0.1  # seconds between two looks at `cancelled` and at who waits


class Pacing:
    """One run's gate. `gate` is called between passes on the run's thread, everything else from anywhere."""

    def __init__(self, speed: str, cancelled: threading.Event, others_wait: Callable[[], bool]):
        self._speed = _known(speed)
        self._cancelled, self._others_wait = cancelled, others_wait
        self._moved = threading.Condition()
        self._granted = False
        self._kept_waiting = 0.0  # seconds that it stood while others waited
        self.held = False  # whether the run stands before a pass until `next`
        self.note = ""

    @property
    def speed(self) -> str:
        return self._speed

    def set(self, speed: str) -> None:
        """Changes the speed, of a held run at once. Raises ValueError for one that does not exist."""
        with self._moved:
            self._speed = _known(speed)
            self.note = ""
            self._moved.notify_all()

    def next(self) -> None:
        """Lets a held run do one pass; otherwise nothing, so that presses do not pile up."""
        with self._moved:
            self._granted = self.held
            self._moved.notify_all()

    def gate(self) -> None:
        """Returns when the next pass may begin, or the run was cancelled."""
        since = looked = monotonic()
        with self._moved:
            self._granted = False
            while not self._cancelled.is_set() and not self._passes(looked - since):
                self.held = self._speed == "step"
                self._moved.wait(LOOK)
                now = monotonic()
                self._kept_waiting += now - looked if self._others_wait() else 0.0
                looked = now
            self.held = False

    def _passes(self, waited: float) -> bool:
        if self._speed == "full":
            return True
        if self._kept_waiting >= PATIENCE and self._others_wait():
            self._speed, self.note = "full", "Others wait for the model, so this run goes on at full speed."
            return True
        return waited >= SLOW if self._speed == "slow" else self._granted


def _known(speed: str) -> str:
    names = [name for _, name in SPEEDS]
    if speed not in names:
        raise ValueError(f"speed must be one of {', '.join(names)}, got {speed!r}")
    return speed
