"""A trace file from outside: held to what `trace.store` says of traces, to a size, and to what a board can draw."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import IO

from clover_viz.errors import UserError
from clover_viz.events import (
    BlockOpened,
    Denoised,
    Drafted,
    Event,
    Replayed,
    RunStarted,
    TokenDecoded,
    Verified,
    event_name,
)
from clover_viz.trace.store import GZIP_MAGIC, play
from clover_viz.ui.player.recording import Kept, packed_lines
from clover_viz.ui.player.shelf import short

MEGABYTES = 20  # of a trace, unpacked
WIDEST = 1024  # slots of a block


def opened(path: Path) -> Kept:
    """The trace in a file, plain or gzipped. Raises UserError: one line with the file's name and the line's number."""
    name = path.name
    with open(path, "rb") as file:
        packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        file.seek(0)
        lines = Limited(gzip.GzipFile(fileobj=file) if packed else file, MEGABYTES << 20, name)
        written, drawable = [], Drawable()
        for event in play(lines):
            where = f"{name} line {lines.number}"
            try:
                drawable.take(event)
                written.append(event.to_json().encode())
            except UnicodeEncodeError:
                raise UserError(f"{where}: text must be valid Unicode, got half of a surrogate pair") from None
            except ValueError as problem:
                raise UserError(f"{where}: {problem}") from None
    return Kept(short(name.removesuffix(".gz").removesuffix(".jsonl")), packed_lines(written))


class Limited:
    """A file to read lines from, of at most `limit` bytes. Beyond them, or packed twice, it raises UserError."""

    def __init__(self, file: IO[bytes], limit: int, name: str):
        self.name = name
        self.number = 0  # of the line last read
        self._file, self._left = file, limit

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        if data.startswith(GZIP_MAGIC):
            raise UserError(f"{self.name} line 1: a trace must be packed once at most, got gzip inside gzip")
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def readline(self, size: int) -> bytes:
        line = self._file.readline(min(size, self._left + 1))
        self.number += 1
        self._left -= len(line)
        if self._left < 0:
            most = f"a trace must have at most {MEGABYTES} MB unpacked"
            raise UserError(f"{self.name} line {self.number}: {most}, got more")
        return line


class Drawable:
    """What a board relies on beyond what the store checks: places that exist. `take` raises ValueError."""

    def __init__(self):
        self._mode = ""
        self._size = 0  # slots of the block or round that is open
        self._last: int | None = None  # position of the token before, where one comes at a time

    def take(self, event: Event) -> None:
        modes = MODES_OF.get(type(event))
        _hold(modes is None or self._mode in modes, f"{event_name(type(event))} must be of {modes} mode", self._mode)
        match event:
            case RunStarted(mode=mode, settings=settings):
                self._mode = mode
                bar = settings.get("threshold", 0.0)
                _hold(isinstance(bar, (int, float)), "settings.threshold must be a number", repr(bar))
            case BlockOpened(slots=slots):
                _hold(1 <= slots <= WIDEST, f"slots must be in [1, {WIDEST}]", slots)
                self._open(slots)
            case Denoised(slots=slots, committed=committed):
                _hold([slot.slot for slot in slots] == [*range(self._size)], "slots must be in order", "others")
                _hold(all(0 <= at < self._size for at in committed), "committed must be slots of the block", committed)
            case Drafted(step=step, drafts=drafts):
                _hold(step == 1 or self._size > 0, "a round must begin with step 1", step)
                if step == 1:
                    _hold(len(drafts) < WIDEST, f"drafts must be fewer than {WIDEST}", len(drafts))
                    self._open(len(drafts) + 1)
                at = [draft.slot for draft in drafts]
                _hold(all(1 <= slot < self._size for slot in at), "drafts must be of slots of the round", at)
            case Verified(checks=checks, accepted=accepted, boundary=boundary):
                _hold(len(checks) == self._size - 1, f"checks must be {self._size - 1}, one a draft", len(checks))
                _hold(0 <= accepted <= len(checks), f"accepted must be in [0, {len(checks)}]", accepted)
                _hold(boundary.probability is not None, "boundary.probability must be told", None)
            case Replayed(tokens=tokens):
                _hold(self._size > 0 and tokens >= 0, "replayed must follow the block it replays", tokens)
            case TokenDecoded(position=position):
                _hold(self._last is None or position > self._last, "position must not go back", position)
                self._last = position

    def _open(self, size: int) -> None:
        self._size, self._last = size, None


MODES_OF = {
    BlockOpened: "denoise",
    Denoised: "denoise",
    Replayed: "denoise",
    Drafted: "speculative",
    Verified: "speculative",
    TokenDecoded: "autoregressive or speculative",
}


def _hold(held: bool, wanted: str, got: object) -> None:
    if not held:
        raise ValueError(f"{wanted}, got {got}")
