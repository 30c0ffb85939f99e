"""What counts as right. Texts are compared as they are: no stripping, no case folding, no re-reading of JSON."""

import re
from dataclasses import dataclass

from clover_viz.training.data import EvalPrompt

BROKEN = "\ufffd"  # what bytes that are no character become
FOREIGN = re.compile(r"\w*[^\x00-\x7f](?:\w|[^\x00-\x7f])*")  # a word or sign with a character beyond ASCII
UNSCORED = "prose"  # a book has no one right continuation

RULES = {
    "agent": "the whole text equals the expected JSON call, character for character",
    "answer": "the whole text equals the one sentence that the tool's name asks for",
    "decline": "the whole text equals the refusal, or the question for the missing argument",
    "structured": "the whole text equals the one right result",
    "talk": "the whole text equals one of the accepted answers",
    "prose": "not scored: a book has no one right continuation",
}


@dataclass(frozen=True)
class Score:
    """None where a question does not arise.

    right: the text is one of the accepted ones. copied: every value of the tool's result that the answer must hold is
    in the text. foreign: so is every word of the expected text with a character beyond ASCII. intact: no U+FFFD that
    was not in the prompt.
    """

    right: bool | None
    copied: bool | None
    foreign: bool | None
    intact: bool


def score(prompt: EvalPrompt, text: str) -> Score:
    given = prompt.text + "".join(message["content"] for message in prompt.messages)
    # of several accepted answers some may do without the word
    foreign = foreign_words(prompt.expected) if len(prompt.accepted) == 1 else ()
    return Score(
        right=None if prompt.kind == UNSCORED else text in prompt.accepted,
        copied=_all_in(prompt.copied, text),
        foreign=_all_in(foreign, text),
        intact=BROKEN not in text or BROKEN in given,
    )


def foreign_words(text: str) -> tuple[str, ...]:
    return tuple(FOREIGN.findall(text))


def _all_in(values: tuple[str, ...], text: str) -> bool | None:
    return all(value in text for value in values) if values else None
