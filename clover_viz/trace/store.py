"""Traces on disk: JSON Lines, one event a line, plain or gzipped; one run a file."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO

from clover_viz.errors import UserError
from clover_viz.events import (
    SCHEMA,
    BlockOpened,
    Denoised,
    Drafted,
    Event,
    Replayed,
    RunFinished,
    RunStarted,
    Verified,
    from_json_dict,
)

GZIP_MAGIC = b"\x1f\x8b"
LONGEST_LINE = 1 << 24  # bytes; a step at 40 layers takes about 6 kB, so more is no trace of ours


def record(events: Iterable[Event], to: str | PathLike | IO[str]) -> Iterator[Event]:
    """Passes events through, each written before it goes on. A path ending in .gz is gzipped; a file stays open."""
    with _writer(to) as write:
        for event in events:
            write(event.to_json() + "\n")
            yield event


@contextmanager
def _writer(to: str | PathLike | IO[str]):
    if hasattr(to, "write"):

        def write(line: str) -> None:
            to.write(line)
            to.flush()

        yield write
    elif str(to).endswith(".gz"):
        with gzip.open(to, "wt", encoding="utf-8", newline="\n") as file:
            yield file.write
    else:
        # line buffered: the trace of a run that dies is whole up to its last event
        with open(to, "w", encoding="utf-8", newline="\n", buffering=1) as file:
            yield file.write


def play(source: str | PathLike | IO[bytes], check: Callable[[Event], object] | None = None) -> Iterator[Event]:
    """The events of a trace, as they were recorded. Raises UserError naming the file and the line it cannot read.

    check: called with every event before it is handed out; the ValueError that it raises is told in the same way.
    """
    name = getattr(source, "name", "trace") if hasattr(source, "read") else str(source)
    last, opened, number = None, None, 0
    for number, line in _lines(source, name):
        event = _event(line, name, number)
        if (last is None) != isinstance(event, RunStarted):
            raise UserError(f"{name} line {number}: a trace must hold one run that begins with run_started")
        if isinstance(last, RunFinished):
            raise UserError(f"{name} line {number}: a trace must end with run_finished, got more after it")
        opened = _opened(event, opened, f"{name} line {number}")
        if check is not None:
            with _at_line(name, number):
                check(event)
        yield event
        last = event
    if not isinstance(last, RunFinished):
        raise UserError(f"{name} line {number + 1}: a trace must end with run_finished, got the end of the file")


def _opened(event: Event, opened: tuple | None, where: str) -> tuple | None:
    """What may follow: the block or round that is open after an event. Raises UserError for an event of another one."""
    match event:
        case BlockOpened(block=index, slots=slots):
            return "block", index, slots
        case Drafted(round=index):
            return "round", index
        case Denoised(block=index) if opened != ("block", index, len(event.slots)):
            raise UserError(f"{where}: denoised must follow block_opened of its block and slots, got block {index}")
        case Verified(round=index) if opened != ("round", index):
            raise UserError(f"{where}: verified must follow drafted of its round, got round {index}")
        case Verified() | Replayed():
            return None
    return opened


def _lines(source: str | PathLike | IO[bytes], name: str) -> Iterator[tuple[int, bytes]]:
    """Numbered lines that are not blank."""
    number = 0
    try:
        with _reader(source) as file:
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE:
                    raise UserError(f"{name} line {number}: a line must be at most {LONGEST_LINE} bytes, got more")
                if line.strip():
                    yield number, line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UserError(f"{name} line {number + 1}: the gzip data is broken or cut off ({error})") from error
    except OSError as error:
        raise UserError(f"a trace must be a readable file, got {name}: {error.strerror or error}") from error


@contextmanager
def _reader(source: str | PathLike | IO[bytes]):
    """Gzipped or not is told by the first bytes: a download may have lost its suffix."""
    file = source if hasattr(source, "read") else open(Path(source), "rb")
    try:
        start = file.read(len(GZIP_MAGIC))
        file.seek(-len(start), 1)
        yield gzip.GzipFile(fileobj=file) if start == GZIP_MAGIC else file
    finally:
        if file is not source:
            file.close()


def _event(line: bytes, name: str, number: int) -> Event:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{name} line {number}: not a whole JSON object ({error})") from error
    if isinstance(data, dict) and data.get("event") == "run_started" and data.get("schema") != SCHEMA:
        raise UserError(f"{name} line {number}: schema must be {SCHEMA}, got {data.get('schema')!r}")
    with _at_line(name, number):
        return from_json_dict(data)


@contextmanager
def _at_line(name: str, number: int):
    """What is wrong with an event names its line. A number too large is wrong like any other, and so is depth."""
    try:
        yield
    except RecursionError as error:
        raise UserError(f"{name} line {number}: a value must not be nested as deep as here ({error})") from error
    except (ValueError, OverflowError) as error:
        raise UserError(f"{name} line {number}: {error}") from error
