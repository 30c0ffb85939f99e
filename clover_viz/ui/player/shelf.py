"""What the player can choose from: the recorded examples, the last runs of the page, and traces its visitor opened."""

from __future__ import annotations

from pathlib import Path

from clover_viz.examples import LIST, PROSE, TOOL_CALL
from clover_viz.ui.controls import OFFERED
from clover_viz.ui.player.recording import Kept, keep

RUNS = 6  # of this page, kept for the player
FILES = 2  # opened ones
TITLE = 48  # characters of a prompt in a title
TRACES = Path(__file__).parents[3] / "assets" / "traces"
EXAMPLES = {"agent": TOOL_CALL, "list": LIST, "prose": PROSE}  # by the beginning of the file's name
MODE_WORDS = {mode: words for words, mode in OFFERED}


class Shelf:
    """Bounded: the oldest run or file makes room for the newest. Keys are never used twice."""

    def __init__(self):
        self._runs: dict[str, Kept] = {}
        self._files: dict[str, Kept] = {}
        self._number = 0
        self.news: str | None = None  # key of a run that came since somebody last asked

    def put_run(self, kept: Kept) -> str:
        self.news = self._put(self._runs, "run", kept, RUNS)
        return self.news

    def put_file(self, kept: Kept) -> str:
        return self._put(self._files, "file", kept, FILES)

    @property
    def last_run(self) -> Kept | None:
        """The newest run of the page."""
        return next(reversed(self._runs.values()), None)

    def get(self, key: str) -> Kept | None:
        """None when it had to make room."""
        return self._runs.get(key) or self._files.get(key) or recorded().get(key)

    def choices(self) -> list[tuple[str, str]]:
        """(title, key): opened files, then runs, newest first, then the recorded examples."""
        return [(kept.title, key) for key, kept in [*_newest(self._files), *_newest(self._runs), *recorded().items()]]

    def _put(self, kind: dict[str, Kept], name: str, kept: Kept, most: int) -> str:
        self._number += 1
        key = f"{name}-{self._number}"
        kind[key] = kept._replace(title=f"{self._number}. {kept.title}")
        while len(kind) > most:
            del kind[next(iter(kind))]
        return key


def shelve(session) -> str | None:
    """Keeps the session's run, if it came to its end, and lets go of its events: the trace holds them. Its key.

    Again for the same run it does nothing.
    """
    run = session.run
    if run is None or not run.done.is_set() or not run.events:
        return None
    events, run.events = run.events, None
    turn = session.turns[-1] if session.turns else None
    if turn is None or run.canvas.finished is None:
        return None
    system = next((message["content"] for message in run.messages if message["role"] == "system"), "")
    title = f"{short(turn.prompt)} \u00b7 {mode_words(run.canvas.mode)}"
    earlier = sum(message["role"] == "user" for message in run.messages) - 1
    known = {"prompt": turn.prompt, "system": system, "earlier": earlier, "raw": run.raw}
    return session.shelf.put_run(keep(events, title, **known))


def recorded(folder: Path = TRACES) -> dict[str, Kept]:
    """The traces that ship with the app, by file name; empty when they are not there."""
    if folder not in _READ:
        _READ[folder] = {path.name: _example(path) for path in sorted(folder.glob("*.jsonl.gz"), key=_order)}
    return _READ[folder]


_READ: dict[Path, dict[str, Kept]] = {}


def _order(path: Path) -> tuple[str, int]:
    example, mode = _parts(path)
    return example, list(MODE_WORDS).index(mode) if mode in MODE_WORDS else len(MODE_WORDS)


def _example(path: Path) -> Kept:
    name, mode = _parts(path)
    example = EXAMPLES.get(name)
    title = f"{example.name if example else name.capitalize()} \u00b7 {mode_words(mode)}"
    if example is None:
        return Kept(title, path.read_bytes())
    return Kept(title, path.read_bytes(), example.prompt, example.system, raw=example.raw)


def _parts(path: Path) -> tuple[str, str]:
    name, _, mode = path.name.removesuffix(".jsonl.gz").partition("-")
    return name, mode


def mode_words(mode: str) -> str:
    return MODE_WORDS.get(mode, mode).lower()


def short(text: str) -> str:
    """A text on one line, cut to fit into a title."""
    line = " ".join(text.split())
    return line if len(line) <= TITLE else line[: TITLE - 1].rstrip() + "\u2026"


def _newest(kind: dict[str, Kept]) -> list[tuple[str, Kept]]:
    return list(reversed(kind.items()))
