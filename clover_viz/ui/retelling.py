"""English texts that came whole, told in another language by patterns. Its twin in the browser is in languages.js.

A pattern holds {values}, which are told in turn. A value named by one letter stands for a number, and the pattern fits
nothing else; one whose name begins with `word` is one word and `own` is somebody's own text, and both stay as they are.
`one | many` are two ways to say the same in English, and one way in the other language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

SENTENCES = re.compile(r"(?<=[.!?]) (?=[A-Z0-9])")  # where one ends and the next begins
VALUE = re.compile(r"\{(\w+)\}", re.ASCII)
NUMBER = r"([0-9.,]*[0-9]%?)"
WORD, OWN = r"([^ ]+)", r"(.+?)"
PART = r"((?:(?![.!?] [A-Z0-9]).)+?)"  # of a sentence
LONGEST = 4000  # characters of a text that is looked at: a link's bad value may be as long as an address


class Pattern(NamedTuple):
    """names: of the values, in the order of the groups of `fits`; told: the other language's pattern."""

    fits: re.Pattern
    names: tuple[str, ...]
    told: str
    words: int  # characters that are not values


def retold(text: str, patterns: Mapping[str, str]) -> str:
    """As a whole by the pattern that fits, or else sentence by sentence; what none fits stays as it is.

    Where several fit, the one with the most words of its own says what is meant.
    """
    if len(text) > LONGEST:
        return text
    whole = _sentence(text, patterns)
    if whole is not None:
        return whole
    told, gap = "", ""
    for sentence in SENTENCES.split(text):
        own = _sentence(sentence, patterns)
        told += gap + (sentence if own is None else own)
        gap = " " if own is None else ""
    return told


def _sentence(text: str, patterns: Mapping[str, str]) -> str | None:
    for pattern in _compiled(tuple(patterns.items())):
        found = pattern.fits.match(text)
        if found:
            values = {
                name: value if name.startswith(("own", "word")) else retold(value, patterns)
                for name, value in zip(pattern.names, found.groups(), strict=True)
            }
            return VALUE.sub(lambda name: values[name[1]], pattern.told)
    return None


@cache
def _compiled(patterns: tuple[tuple[str, str], ...]) -> list[Pattern]:
    made = [pattern(half, told) for english, told in patterns for half in english.split(" | ")]
    return sorted(made, key=lambda pattern: -pattern.words)


def pattern(english: str, told: str = "") -> Pattern:
    """What fits one English pattern, whole."""
    texts, names = VALUE.split(english)[::2], tuple(VALUE.findall(english))
    groups = map(_group, names)
    fits = re.escape(texts[0]) + "".join(group + re.escape(text) for group, text in zip(groups, texts[1:], strict=True))
    return Pattern(re.compile(rf"(?s){fits}\Z"), names, told, sum(map(len, texts)))


def _group(name: str) -> str:
    if len(name) == 1:
        return NUMBER
    return OWN if name.startswith("own") else WORD if name.startswith("word") else PART
