"""What every command shares: one-line errors, exit codes, and what goes to which stream."""

import argparse
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clover_viz.errors import UserError

DONE, FAILED, BAD_VALUE = 0, 1, 2
NEGATIVE = re.compile(r"-(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)$", re.IGNORECASE)


class Parser(argparse.ArgumentParser):
    """An argparse parser whose errors are one line, raised as UserError."""

    def __init__(self, **options):
        super().__init__(allow_abbrev=False, **options)
        self._negative_number_matcher = NEGATIVE  # argparse's own takes -1e-1 for a flag

    def error(self, message: str):
        raise UserError(message)


def number(text: str) -> int | float | str:
    """A number when it is one; else the text itself, for the setting to refuse with its name and range."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def at_least(name: str, value: Any, low: int) -> int:
    """The value, when it is a whole number of at least `low`; else raises UserError."""
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise UserError(f"{name} must be a whole number of at least {low}, got {value!r}")
    return value


def check_output(flag: str, file: str | None) -> None:
    """Raises UserError when a file that is to be written has no folder, or is one."""
    if file is not None and (Path(file).is_dir() or not Path(file).parent.is_dir()):
        raise UserError(f"{flag} must name a file in a folder that exists, got {file!r}")


def notice(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def guarded(command: Callable[[list[str]], int], argv: list[str]) -> int:
    """Runs a command: every error becomes one line on stderr and an exit code, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        return command(argv)
    except UserError as error:
        notice(f"error: {error}")
        return BAD_VALUE
    except BrokenPipeError:
        # nobody reads stdout any more; without this the interpreter complains again when it closes the stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        notice("interrupted")
        return FAILED
    except Exception as error:
        first = (str(error).strip().splitlines() or [""])[0]
        notice(f"error: {type(error).__name__}: {first}" if first else f"error: {type(error).__name__}")
        return FAILED
