"""One turn of a generated conversation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Turn:
    """`label` tells what an assistant's turn is (call, answer, ask, refuse, structured, talk), `unseen` whether its
    request is worded as held-out ones are, `copied` which values a sentence takes over from a tool's result."""

    role: str
    content: str
    label: str = ""
    unseen: bool = False
    copied: tuple[str, ...] = ()
