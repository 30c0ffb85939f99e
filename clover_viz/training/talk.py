"""Small talk, questions about block diffusion and this model, and requests it did not learn."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cache

from clover_viz.training import words
from clover_viz.training.talk_table import REFUSED, TABLE
from clover_viz.training.turn import Turn
from clover_viz.training.values import Values
from clover_viz.training.wordings import more_wordings, vary

SYSTEMS = (
    "You are clover-tiny, a small block diffusion model.",
    "You are a helpful assistant.",
    "Answer briefly.",
    "You are clover-tiny.",
)
BODY = "head neck back arm hand finger knee foot toe eye ear tooth shoulder leg".split()
CODE = "Python Java Rust C Go JavaScript Haskell".split()


@dataclass
class Intent:
    wordings: dict[bool, list[str]] = field(default_factory=lambda: {False: [], True: []})
    answers: list[str] = field(default_factory=list)


@cache
def intents(table: str = TABLE, varied: bool = False) -> tuple[Intent, ...]:
    """The intents of a table, with `varied` in many more wordings. Raises ValueError on a line it cannot read."""
    found: list[Intent] = []
    for line in filter(None, map(str.strip, table.splitlines())):
        head, _, rest = line.partition(" ")
        if head == "@":
            found.append(Intent())
        elif head in "+-":
            found[-1].wordings[head == "-"].append(rest)
        elif head == "=":
            found[-1].answers.append(rest)
        else:
            raise ValueError(f"talk table: unknown line {line!r}")
    if varied:
        for intent in found:
            intent.wordings[False] += [pattern for _, pattern in more_wordings("talk")[intent.wordings[False][0]]]
    return tuple(found)


def talk_turns(rng: random.Random, split: str, unseen: bool, varied: bool = False) -> list[Turn]:
    """One to four questions with their answers, sometimes after a short system turn."""
    values = Values(rng, split)
    turns = [Turn("system", rng.choice(SYSTEMS))] if rng.random() < 0.3 else []
    for _ in range(rng.choice((1, 1, 2, 3, 4))):
        turns += _exchange(intents(REFUSED if rng.random() < 0.22 else TABLE, varied), values, unseen)
    return turns


def small_talk(values: Values, unseen: bool, varied: bool = False) -> list[Turn]:
    """One question and its answer that fit whether or not tools are listed."""
    return _exchange(intents(TABLE, varied), values, unseen)


def _exchange(pool: tuple[Intent, ...], values: Values, unseen: bool) -> list[Turn]:
    rng = values.rng
    intent = rng.choice(pool)
    question = _fill(vary(rng.choice(intent.wordings[unseen]), rng), values)
    if not unseen and rng.random() < 0.25:
        question = _casual(question, rng)
    return [Turn("user", question), Turn("assistant", rng.choice(intent.answers), "talk", unseen)]


def accepted(answer: str) -> tuple[str, ...]:
    """All answers that are as right as this one."""
    return next(tuple(i.answers) for i in (*intents(), *intents(REFUSED)) if answer in i.answers)


def _casual(question: str, rng: random.Random) -> str:
    roll = rng.random()
    if roll < 0.3:
        return question.rstrip("?.!") or question
    if roll < 0.6:
        return question[0].lower() + question[1:] if question[0] != "I" else question
    if roll < 0.8:
        return f"{rng.choice(('Hi!', 'OK.', 'Tell me:', 'One question:'))} {question}"
    return question + " "


def _fill(wording: str, values: Values) -> str:
    if "{" not in wording:
        return wording
    rng = values.rng
    thing, thing2 = rng.sample(words.NOUNS, 2)
    return wording.format(
        n=rng.randint(2, 9999), m=rng.randint(2, 999), k=rng.randint(2, 60), city=values.city(), place=values.city(),
        person=values.person(), thing=thing, thing2=thing2, body=rng.choice(BODY), lang=rng.choice(CODE),
        language=values.langname().said, text=values.text(),
    )
