"""More wordings of the requests, as patterns with alternatives; `wordings/` holds them.

A block begins with `@ key`: a tool's first name, the first wording of a question, or the family of a text task. Each of
its lines is a sign as in the tables (`+`, `?param`, `>`) and a pattern, where `(a|b|c)` stands for any of its parts.
"""

import random
import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("wordings")
ALTERNATIVES = re.compile(r"\(([^()]*\|[^()]*)\)")  # the innermost ones


@cache
def more_wordings(name: str) -> dict[str, list[tuple[str, str]]]:
    """The (sign, pattern) lines of `wordings/<name>.txt` by block. Raises ValueError on a block that occurs twice."""
    blocks: dict[str, list[tuple[str, str]]] = {}
    for line in filter(None, map(str.strip, (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines())):
        sign, _, rest = line.partition(" ")
        if sign == "@":
            if rest in blocks:
                raise ValueError(f"wordings {name}: block {rest!r} occurs twice")
            blocks[rest] = []
        else:
            blocks[list(blocks)[-1]].append((sign, rest))
    return blocks


def vary(pattern: str, rng: random.Random) -> str:
    """One sentence of a pattern. A pattern without alternatives draws nothing from `rng`."""
    while found := ALTERNATIVES.search(pattern):
        pattern = pattern[: found.start()] + rng.choice(found.group(1).split("|")) + pattern[found.end() :]
    return pattern


def sentences(pattern: str) -> list[str]:
    """Every different sentence of a pattern."""
    found = ALTERNATIVES.search(pattern)
    if not found:
        return [pattern]
    before, after = pattern[: found.start()], pattern[found.end() :]
    return list(dict.fromkeys(t for part in found.group(1).split("|") for t in sentences(before + part + after)))
