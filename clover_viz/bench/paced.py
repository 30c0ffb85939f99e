"""Engines without a model: recorded runs at a pace of their own, over and over as one long run, or as they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event as Flag
from time import perf_counter, sleep
from types import SimpleNamespace
from typing import Any

from clover_viz.events import (
    BlockOpened,
    Denoised,
    Drafted,
    Event,
    KernelChoice,
    PassCounts,
    Prefilled,
    Replayed,
    RunFinished,
    RunStarted,
    TokenDecoded,
    Verified,
)
from clover_viz.settings import FALLBACKS, MODES
from clover_viz.trace.canvas import fold
from clover_viz.trace.store import play

CATCH_UP = 0.1  # seconds of delay that are made good; what is later than that is lost, and shows in `reached`
KERNELS = KernelChoice("none", "the passes are recorded ones")


class _Recorded:
    """What a page asks of an engine beside its runs."""

    def __init__(self, name: str, pace: float):
        self.name, self.kernels, self.pace = name, KERNELS, pace
        self.model = SimpleNamespace(device="no device")

    def usual(self, mode: str) -> Mapping[str, Any]:
        """The release's values of the settings."""
        return FALLBACKS


class PacedEngine(_Recorded):
    """Answers every message with `passes` passes of a denoising trace, `pace` of them a second if nobody is in the way.

    reached: passes a second of each finished run.
    """

    def __init__(self, trace: Sequence[Event], passes: int, pace: float):
        super().__init__("paced", pace)
        self.passes = passes
        self.reached: list[float] = []
        self._head = [event for event in trace if isinstance(event, (RunStarted, Prefilled))]
        self._body = [event for event in trace if isinstance(event, (BlockOpened, Denoised, Replayed))]
        self._end = next(event for event in trace if isinstance(event, RunFinished))
        self._blocks = 1 + max(event.block for event in self._body)
        self._slots = next(event.slots for event in self._body if isinstance(event, BlockOpened))

    def generate(self, messages, settings, cancel: Flag | None = None, gate=None, **_) -> Iterator[Event]:
        """A run's events; the settings have no say."""
        yield from self._head
        timer = _Timer(self.pace, gate)
        done = 0
        for event in self._endless():
            if not isinstance(event, BlockOpened):
                if done == self.passes or cancel is not None and cancel.is_set():
                    break
                timer.wait()
                done += 1
            yield event
        seconds, whole = timer.seconds, done == self.passes
        if whole:
            self.reached.append(done / seconds)
        counts = PassCounts(prefill=1, preview=done)
        yield replace(self._end, passes=counts, seconds=seconds, reason="length" if whole else "cancelled")

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


class PlayedEngine(_Recorded):
    """Answers every message with the recorded run of the mode that is asked for, `pace` passes a second.

    traces: the events of one whole run by mode. What else the settings and the message say has no say.
    """

    def __init__(self, traces: Mapping[str, Sequence[Event]], pace: float):
        super().__init__("recorded runs", pace)
        self._traces = traces

    @classmethod
    def of(cls, folder: Path, pace: float) -> PlayedEngine:
        """Over the recorded prose of a folder of traces."""
        return cls({mode: list(play(folder / f"prose-{mode}.jsonl.gz")) for mode in MODES}, pace)

    def generate(self, messages, settings, cancel: Flag | None = None, gate=None, **_) -> Iterator[Event]:
        """The run's events; once `cancel` is set no further pass, and the end counts what there was till then."""
        *events, end = self._traces[settings.mode]
        timer = _Timer(self.pace, gate)
        for at, event in enumerate(events):
            if isinstance(event, (Denoised, Replayed, Drafted, Verified, TokenDecoded)):
                if cancel is None or not cancel.is_set():
                    timer.wait()
                if cancel is not None and cancel.is_set():  # it may have come while the run was held
                    end = _stopped(events[:at], end)
                    break
            yield event
        seconds = timer.seconds
        yield replace(end, seconds=seconds, tokens_per_second=end.tokens / max(seconds, 1e-9))


def _stopped(events: Sequence[Event], end: RunFinished) -> RunFinished:
    """The end of a run that was stopped after these events."""
    canvas = fold(events)
    return replace(
        end, reason="cancelled", text=canvas.text, tokens=canvas.count, passes=canvas.passes,
        tokens_per_pass=canvas.tokens_per_pass, tokens_per_preview=canvas.tokens_per_preview,
    )  # fmt: skip


class _Timer:
    """Waits for a visitor's gate and for the time of each pass, `pace` of them a second."""

    def __init__(self, pace: float, gate):
        self._pace, self._gate = pace, gate
        self._began = self._due = perf_counter()

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return perf_counter() - self._began

    def wait(self) -> None:
        if self._gate is not None:
            self._gate()
        self._due = max(self._due + 1 / self._pace, perf_counter() - CATCH_UP)
        sleep(max(0.0, self._due - perf_counter()))
