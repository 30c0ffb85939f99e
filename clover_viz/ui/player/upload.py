"""A trace file from outside: held to what `trace.store` says of traces, to a size, and to what a board can draw."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import IO

from clover_viz.errors import UserError
from clover_viz.trace.drawable import Drawable
from clover_viz.trace.store import GZIP_MAGIC, play
from clover_viz.ui.player.recording import Kept, packed_lines
from clover_viz.ui.player.shelf import short

MEGABYTES = 20  # of a trace, unpacked


def opened(path: Path) -> Kept:
    """The trace in a file, plain or gzipped. Raises UserError: one line with the file's name and the line's number."""
    name = path.name
    with open(path, "rb") as file:
        packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        file.seek(0)
        lines = Limited(gzip.GzipFile(fileobj=file) if packed else file, MEGABYTES << 20, name)
        written = []
        for event in play(lines, Drawable().take):
            try:
                written.append(event.to_json().encode())
            except UnicodeEncodeError:
                where = f"{name} line {lines.number}"
                raise UserError(f"{where}: text must be valid Unicode, got half of a surrogate pair") from None
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
