"""The response of a run, token by token, and where two responses part."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from clover_viz.events import Event, RunFinished
from clover_viz.trace.canvas import Canvas


class ResponseToken(NamedTuple):
    token_id: int
    token: str


def response(events: Iterable[Event]) -> tuple[ResponseToken, ...]:
    """What a whole run kept, in any mode, and the end token that ended it, which its text and its count leave out.

    Raises ValueError when the events do not end with RunFinished.
    """
    canvas = Canvas()
    for event in events:
        if isinstance(event, RunFinished):
            kept = event.tokens + (event.reason == "end")
            return tuple(ResponseToken(token.token_id, token.token) for token in _chosen(canvas)[:kept])
        canvas = canvas.apply(event)
    raise ValueError("the events of a whole run end with run_finished")


def first_difference(one: Sequence, other: Sequence) -> int | None:
    """The first place where two responses differ, which may be the end of the shorter one; None when they are equal."""
    missing = object()
    pairs = zip_longest(one, other, fillvalue=missing)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), None)


def _chosen(canvas: Canvas) -> list:
    """The response and, in reading order, what the active block has committed (of denoising: up to the end token, if it
    has one, without a gap)."""
    block = canvas.block
    if canvas.mode != "denoise" or block is None or not block.active:
        return [*canvas.tokens]
    return [*canvas.tokens, *(cell for cell in block.cells if cell.state == "committed")]
