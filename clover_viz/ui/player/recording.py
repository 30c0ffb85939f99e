"""Runs as the browser plays them, and as traces in memory."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Sequence
from io import BytesIO
from typing import NamedTuple

from clover_viz.events import Event, RunFinished, RunStarted, Text
from clover_viz.trace.store import play
from clover_viz.ui.records import record


def recording(events: Iterable[Event], title: str) -> dict:
    """{title, mode, records, ms, text, thinking} of a run's events, for `Player.load` in player.js.

    records: what `records.record` gives, in order. By record: `ms`, the milliseconds of its pass or None; `text` and
    `thinking`, what the run said right after it.
    """
    records, ms, text, thinking, mode = [], [], [], [], ""
    for event in events:
        if isinstance(event, RunStarted):
            mode = event.mode
        line = record(event)
        if line is not None:
            records.append(json.loads(line))
            ms.append(getattr(event, "ms", None))
            text.append("")
            thinking.append("")
        elif isinstance(event, Text):
            (thinking if event.thinking else text)[-1] += event.delta
    return {"title": title, "mode": mode, "records": records, "ms": ms, "text": text, "thinking": thinking}


class Kept(NamedTuple):
    """A whole run as its trace. prompt: the message it answered, None where that is not known; earlier: how many turns
    of the conversation stood before it; raw: the prompt is a text that it went on from."""

    title: str
    trace: bytes
    prompt: str | None = None
    system: str = ""
    earlier: int = 0
    raw: bool = False

    @property
    def events(self) -> list[Event]:
        """Equal to those it was made from, timings too."""
        return list(play(BytesIO(self.trace)))

    @property
    def recording(self) -> dict:
        return recording(self.events, self.title)


def keep(events: Sequence[Event], title: str, **known) -> Kept:
    """A run as a trace (gzipped JSON Lines; the same events give the same bytes). Raises ValueError when it has no end.

    known: `prompt`, `system`, `earlier`, `raw`.
    """
    if not events or not isinstance(events[-1], RunFinished):
        raise ValueError("a trace ends with run_finished")
    return Kept(title, packed_lines([event.to_json().encode() for event in events]), **known)


def packed_lines(lines: Sequence[bytes]) -> bytes:
    """The bytes of a trace from its lines without their ends."""
    return gzip.compress(b"".join(line + b"\n" for line in lines), mtime=0)
