"""Finds, among recorded denoise runs, a commit that decided an error; and says what kind of find it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from clover_viz.errors import UserError
from clover_viz.events import Denoised, Event, RunFinished, TokenDecoded
from clover_viz.examples import LIST, TOOL_CALL
from clover_viz.trace.canvas import Canvas, Cell

ITEMS = ("apple", "pear", "plum", "cherry")
# Requests with one right answer, which can be checked. LIST and TOOL_CALL name what the answers hold (a test looks).
RIGHT = {
    "list": (LIST.prompt, "\n".join(f"{number}. {item}" for number, item in enumerate(ITEMS, start=1))),
    "agent": (
        TOOL_CALL.prompt,
        json.dumps({"name": "get_weather", "arguments": {"city": "Lisbon", "day": "tomorrow"}}),
    ),
}


def find_error(runs: dict[str, Sequence[Event]]) -> dict[str, Any]:
    """{kind, run, asked, right, got, alone, slot, cells, steps} of the most telling denoise run.

    kind: "wrong", the answer is not the right one; "parted", it is not that of one token at a time, and no answer was
    wrong; "least", neither, so the least sure commit of all. right: the text it was held against; alone: what one
    token at a time wrote; slot: the commit that decided it, in the first block. cells: that block as it was kept,
    [token, confidence, step, forced]; steps: by step [confidence of the surest open slot, slots committed, forced].
    """
    stories = {name.removesuffix("-denoise"): run for name, run in runs.items() if name.endswith("-denoise")}
    if not stories:
        raise UserError("none of the recorded denoise runs can be read")
    others = {story: runs.get(f"{story}-autoregressive", ()) for story in stories}
    alone = {story: _text(run) for story, run in others.items()}
    for story, (asked, right) in RIGHT.items():
        if story in stories and _text(stories[story]) != right:
            found = _found("wrong", story, stories[story], right, others[story])
            if found:
                return found | {"asked": asked}
    for story, run in stories.items():
        if alone[story] is not None and _text(run) != alone[story]:
            found = _found("parted", story, run, alone[story], others[story])
            if found:
                return found | {"asked": RIGHT[story][0] if story in RIGHT else None}
    story = min(stories, key=lambda story: min(cell.confidence for cell in _first_cells(stories[story])))
    found = _found("least", story, stories[story], None, others[story])
    return found | {"asked": RIGHT[story][0] if story in RIGHT else None}


def decisive(cells: Sequence[Cell], right: str | None, path: Sequence[str] = ()) -> int | None:
    """Which commit to point at, among cells of a block in reading order, up to the one that ends the text.

    path: the tokens of `right`, end token and all, where they are known. Of the slots that hold another token than the
    path has there, the one fixed first (the least sure of one step): from then on `right` could not be written that
    way. Without a path, the first slot in reading order that leaves the text `right`; without a text, the least sure of
    all. None when the cells do not leave the text.
    """
    if right is None:
        return min(cells, key=lambda cell: cell.confidence).slot
    if path:
        astray = [cell for at, cell in enumerate(cells) if at >= len(path) or cell.token != path[at]]
        return min(astray, key=lambda cell: (cell.step, cell.confidence)).slot if astray else None
    text = ""
    for cell in cells:
        text += cell.token
        if not right.startswith(text):
            return cell.slot
    return None


def _found(
    kind: str, story: str, run: Sequence[Event], right: str | None, other: Sequence[Event]
) -> dict[str, Any] | None:
    """other: the same request, one token at a time."""
    cells, alone = _first_cells(run), _text(other)
    path = [event.token for event in other if isinstance(event, TokenDecoded)] if alone == right else ()
    slot = decisive(cells, right, path)
    if slot is None:  # it leaves the text in a later block
        return None
    settings = run[0].settings
    return {
        "kind": kind, "run": f"{story}-denoise", "right": right, "got": _text(run), "alone": alone, "slot": slot,
        "threshold": settings["threshold"],
        "cells": [[cell.token, cell.confidence, cell.step, cell.forced] for cell in cells],
        "steps": [_surest(event) for event in run if isinstance(event, Denoised) and event.block == 0],
    }  # fmt: skip


def _first_cells(run: Sequence[Event]) -> tuple[Cell, ...]:
    """The first block's committed cells that the run kept, the end token's with them."""
    canvas = Canvas()
    for event in run:
        if canvas.block is not None and canvas.block.index == 0 and isinstance(event, RunFinished):
            kept = event.tokens + (event.reason == "end")
            return tuple(cell for cell in canvas.block.cells if cell.state == "committed")[:kept]
        after = canvas.apply(event)
        if canvas.block is not None and after.block.index != canvas.block.index:
            return canvas.block.cells
        canvas = after
    return ()


def _surest(event: Denoised) -> list:
    fresh = set(event.committed)
    waiting = [slot.confidence for slot in event.slots if slot.state == "masked" or slot.slot in fresh]
    return [max(waiting), len(event.committed), event.forced]


def _text(run: Sequence[Event]) -> str | None:
    return run[-1].text if run and isinstance(run[-1], RunFinished) else None
