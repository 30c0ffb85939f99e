"""The desk: one engine for all visitors, loaded on its own thread, lent to one run at a time in order of arrival."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from clover_viz.errors import UserError

WAITING_ROOM = 32  # runs that may wait; one more is told to come back

log = logging.getLogger(__name__)


class Desk:
    """Loads with `load()` as soon as it is made. `name` is what the page calls the model until it is known."""

    def __init__(self, load: Callable[[], Any], name: str):
        self.name = name
        self.failure: str | None = None
        self._engine: Any = None
        self._loaded = threading.Event()
        self._line: list[threading.Event] = []  # the cancel flags of the runs, first come first served
        self._moved = threading.Condition()
        self._since = monotonic()
        threading.Thread(target=self._load, args=(load,), name="load", daemon=True).start()

    @property
    def state(self) -> str:
        """`loading`, `ready` or `failed` (then `failure` says why, in one line)."""
        if not self._loaded.is_set():
            return "loading"
        return "failed" if self.failure else "ready"

    @property
    def engine(self) -> Any:
        """The engine, or None while it is not there."""
        return self._engine

    def loading_seconds(self) -> float:
        """How long the load has gone on."""
        return monotonic() - self._since

    def full(self) -> bool:
        """Whether the waiting room is full."""
        return len(self._line) > WAITING_ROOM

    def others_wait(self) -> bool:
        """Whether a run waits for the one that has the engine."""
        return len(self._line) > 1

    def ahead(self, cancel: threading.Event) -> int:
        """How many runs go before the one that queued with this flag."""
        line = list(self._line)
        return line.index(cancel) if cancel in line else 0

    @contextmanager
    def turn(self, cancel: threading.Event) -> Iterator[Any]:
        """Waits for the engine and for this run's turn, and lends the engine; None when `cancel` was set first.

        Raises RuntimeError with the reason when the model could not be loaded.
        """
        with self._moved:
            self._line.append(cancel)
        try:
            while not cancel.is_set() and not self._loaded.wait(0.05):
                pass
            with self._moved:
                while self._line[0] is not cancel and not cancel.is_set():
                    self._moved.wait(0.05)
            if cancel.is_set():
                yield None
                return
            if self.failure:
                raise RuntimeError(f"the model could not be loaded: {self.failure}")
            yield self._engine
        finally:
            with self._moved:
                self._line.remove(cancel)
                self._moved.notify_all()

    def _load(self, load: Callable[[], Any]) -> None:
        try:
            self._engine = load()
        except UserError as problem:
            self.failure = one_line(problem)
            log.error("loading %s failed: %s", self.name, self.failure)
        except Exception as problem:  # whatever it was, visitors are told and the page stays up
            log.exception("loading %s failed", self.name)
            self.failure = one_line(problem)
        self._loaded.set()


def one_line(problem: BaseException) -> str:
    """An exception as one line for a visitor; its kind is named only where its text alone would not make sense."""
    text = " ".join(str(problem).split())
    plain = isinstance(problem, (ValueError, RuntimeError, OSError)) and text
    return text if plain else f"{type(problem).__name__}: {text}".rstrip(": ")
