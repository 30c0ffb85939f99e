"""How far an experiment is: a line on stderr every few seconds."""

import time

from clover_viz.cli.console import notice

SECONDS = 10


class Progress:
    """Call it after each of `total` things of one kind (`noun`); the last one always has its line."""

    def __init__(self, noun: str):
        self._noun = noun
        self._began = self._shown = time.monotonic()

    def __call__(self, done: int, total: int, last: str) -> None:
        now = time.monotonic()
        if now - self._shown < SECONDS and done < total:
            return
        self._shown = now
        left = (now - self._began) / done * (total - done)
        notice(f"{done}/{total} {self._noun}s, about {left / 60:.0f} min left; {last}")
