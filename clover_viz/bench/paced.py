"""An engine without a model: the passes of a recorded run, over and over, at a pace of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from threading import Event as Flag
from time import perf_counter, sleep
from types import SimpleNamespace

from clover_viz.events import (
    BlockOpened,
    Denoised,
    Event,
    KernelChoice,
    PassCounts,
    Prefilled,
    Replayed,
    RunFinished,
    RunStarted,
)

CATCH_UP = 0.1  # seconds of delay that are made good; what is later than that is lost, and shows in `reached`


class PacedEngine:
    """Answers every message with `passes` passes of a denoising trace, `pace` of them a second if nobody is in the way.

    reached: passes a second of each finished run.
    """

    def __init__(self, trace: Sequence[Event], passes: int, pace: float):
        self.name, self.kernels = "paced", KernelChoice("none", "the passes are recorded ones")
        self.model = SimpleNamespace(device="no device")
        self.passes, self.pace = passes, pace
        self.reached: list[float] = []
        self._head = [event for event in trace if isinstance(event, (RunStarted, Prefilled))]
        self._body = [event for event in trace if isinstance(event, (BlockOpened, Denoised, Replayed))]
        self._end = next(event for event in trace if isinstance(event, RunFinished))
        self._blocks = 1 + max(event.block for event in self._body)
        self._slots = next(event.slots for event in self._body if isinstance(event, BlockOpened))

    def generate(self, messages, settings, cancel: Flag | None = None, gate=None, **_) -> Iterator[Event]:
        """A run's events; the settings have no say."""
        yield from self._head
        began = due = perf_counter()
        done = 0
        for event in self._endless():
            if not isinstance(event, BlockOpened):
                if done == self.passes or cancel is not None and cancel.is_set():
                    break
                if gate is not None:
                    gate()
                due = max(due + 1 / self.pace, perf_counter() - CATCH_UP)
                sleep(max(0.0, due - perf_counter()))
                done += 1
            yield event
        seconds = perf_counter() - began
        if done == self.passes:
            self.reached.append(done / seconds)
        counts = PassCounts(prefill=1, preview=done)
        yield replace(self._end, passes=counts, seconds=seconds, reason="length" if done == self.passes else "cancelled")

    def _endless(self) -> Iterator[Event]:
        turn = 0
        while True:
            for event in self._body:
                block = event.block + turn * self._blocks
                if isinstance(event, BlockOpened):
                    yield replace(event, block=block, start=event.start + turn * self._blocks * self._slots)
                else:
                    yield replace(event, block=block)
            turn += 1
