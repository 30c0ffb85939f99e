"""The state of a run after some of its events: what every view draws, live or played.

`Canvas.apply` returns a new canvas, so a view may keep any of them; going back is a fold over fewer events.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal

from clover_viz.events import (
    BlockOpened,
    Check,
    Denoised,
    Drafted,
    Event,
    LayerExperts,
    PassCounts,
    Prefilled,
    Reason,
    Replayed,
    RunFinished,
    RunStarted,
    Slot,
    Text,
    TokenDecoded,
    TopToken,
    Verified,
)
from clover_viz.trace.words import describe


@dataclass(frozen=True)
class Cell:
    """One slot of the active block. step: the step that committed it, 0 before that; state "draft" awaits its check."""

    slot: int
    state: Literal["given", "masked", "committed", "draft", "rejected"]
    token_id: int | None = None
    token: str = ""
    confidence: float = 0.0
    step: int = 0
    forced: bool = False
    top: tuple[TopToken, ...] | None = None


@dataclass(frozen=True)
class Token:
    """One token of the response. block: of denoising, round: of self-speculation, or the position's own number."""

    token_id: int
    token: str
    confidence: float
    block: int
    step: int = 0
    forced: bool = False


@dataclass(frozen=True)
class Block:
    """The block on the board. ruler: slots committed by each step so far; active: masks may still be filled."""

    index: int
    start: int
    cells: tuple[Cell, ...]
    step: int = 0
    ruler: tuple[int, ...] = ()
    active: bool = True

    @property
    def fresh(self) -> tuple[int, ...]:
        """Slots that the last step committed."""
        return tuple(cell.slot for cell in self.cells if cell.state == "committed" and cell.step == self.step)

    @property
    def left(self) -> int:
        return sum(cell.state == "masked" for cell in self.cells)


@dataclass(frozen=True)
class Round:
    """The last check of self-speculation: the drafts are the block's cells."""

    index: int
    checks: tuple[Check, ...]
    accepted: int
    boundary: str


@dataclass(frozen=True)
class Canvas:
    """tokens: the response without the active block; count: with its committed slots. line: the last event in words.

    After the end, `count` and `tokens` are exactly what the run kept. ms: time of the passes so far.
    """

    run: RunStarted | None = None
    text: str = ""
    thinking: str = ""
    tokens: tuple[Token, ...] = ()
    block: Block | None = None
    round: Round | None = None
    experts: tuple[LayerExperts, ...] = ()
    passes: PassCounts = PassCounts()
    ms: float = 0.0
    line: str = ""
    finished: RunFinished | None = None

    @property
    def reason(self) -> Reason | None:
        return self.finished.reason if self.finished else None

    @property
    def count(self) -> int:
        if self.block is None or not self.block.active or self.mode == "speculative":
            return len(self.tokens)
        return len(self.tokens) + sum(cell.state == "committed" for cell in self.block.cells)

    @property
    def mode(self) -> str | None:
        return self.run.mode if self.run else None

    @property
    def tokens_per_pass(self) -> float | None:
        return self.count / self.passes.after_prefill if self.passes.after_prefill else None

    @property
    def tokens_per_preview(self) -> float | None:
        return self.count / self.passes.preview if self.passes.preview else None

    def apply(self, event: Event) -> "Canvas":
        after = _APPLY[type(event)](self, event)
        ms = getattr(event, "ms", None)
        if ms is not None:
            after = replace(after, ms=after.ms + ms)
        return replace(after, line=describe(after, event) or after.line)

    def frame(self) -> dict[str, Any]:
        """Plain JSON for a browser; a cell is [slot, state, token, confidence, step, forced]."""
        return {
            "mode": self.mode,
            "model": self.run and self.run.model,
            "line": self.line,
            "text": self.text,
            "thinking": self.thinking,
            "tokens": self.count,
            "block": self.block and {
                "index": self.block.index,
                "start": self.block.start,
                "step": self.block.step,
                "active": self.block.active,
                "ruler": list(self.block.ruler),
                "cells": [
                    [c.slot, c.state, c.token, round(c.confidence, 4), c.step, c.forced] for c in self.block.cells
                ],
            },
            "experts": [[e.touched, e.kept, round(e.rerouted, 2)] for e in self.experts],
            "round": self.round and {
                "index": self.round.index,
                "accepted": self.round.accepted,
                "boundary": self.round.boundary,
                "checks": [[c.slot, c.token, round(c.probability, 4), c.bar, c.accepted] for c in self.round.checks],
            },
            "passes": vars(self.passes).copy(),
            "tokens_per_pass": self.tokens_per_pass,
            "tokens_per_preview": self.tokens_per_preview,
            "ms": round(self.ms, 3),
            "reason": self.reason,
        }


def fold(events: Iterable[Event], canvas: Canvas = Canvas()) -> Canvas:
    return reduce(Canvas.apply, events, canvas)


def _run_started(canvas: Canvas, event: RunStarted) -> Canvas:
    return Canvas(run=event)


def _prefilled(canvas: Canvas, event: Prefilled) -> Canvas:
    return _counted(canvas, "prefill")


def _block_opened(canvas: Canvas, event: BlockOpened) -> Canvas:
    canvas = _settled(canvas)
    cells = tuple(Cell(slot, "masked") for slot in range(event.slots))
    return replace(canvas, block=Block(event.block, event.start, cells))


def _denoised(canvas: Canvas, event: Denoised) -> Canvas:
    block = _board(canvas, event.block, "block_opened")
    cells = tuple(_cell(before, slot, event) for before, slot in zip(block.cells, event.slots, strict=True))
    block = replace(block, cells=cells, step=event.step, ruler=(*block.ruler, len(event.committed)))
    return replace(_counted(canvas, "preview"), block=block, experts=event.experts)


def _cell(before: Cell, slot: Slot, event: Denoised) -> Cell:
    if before.state == "committed":
        return before
    now = slot.slot in event.committed
    return Cell(
        slot.slot, slot.state, slot.token_id, slot.token, slot.confidence,
        step=event.step if now else 0, forced=now and event.forced, top=slot.top,
    )  # fmt: skip


def _replayed(canvas: Canvas, event: Replayed) -> Canvas:
    return _settled(_counted(canvas, "replay"))


def _drafted(canvas: Canvas, event: Drafted) -> Canvas:
    b = event.boundary
    if not canvas.tokens:
        canvas = replace(canvas, tokens=(Token(b.token_id, b.token, b.probability or 1.0, event.round),))
    given = Cell(0, "given", b.token_id, b.token, 1.0)
    drafts = tuple(Cell(d.slot, "draft", d.token_id, d.token, d.confidence, top=d.top) for d in event.drafts)
    block = Block(event.round, event.start, (given, *drafts), step=event.step)
    return replace(_counted(canvas, "preview"), block=block, round=None, experts=event.experts)


def _verified(canvas: Canvas, event: Verified) -> Canvas:
    block = _board(canvas, event.round, "drafted")
    cells = tuple(
        replace(cell, state="committed" if cell.slot <= event.accepted else "rejected", step=block.step)
        if cell.state == "draft"
        else cell
        for cell in block.cells
    )
    accepted = [Token(c.token_id, c.token, c.probability, event.round) for c in event.checks[: event.accepted]]
    b = event.boundary
    accepted.append(Token(b.token_id, b.token, b.probability or 1.0, event.round))
    return replace(
        _counted(canvas, "verify"),
        tokens=(*canvas.tokens, *accepted),
        block=replace(block, cells=cells, ruler=(event.accepted,)),
        round=Round(event.round, event.checks, event.accepted, b.token),
    )


def _token_decoded(canvas: Canvas, event: TokenDecoded) -> Canvas:
    if canvas.tokens:  # the first token is prefill's
        canvas = _counted(canvas, "decode")
    token = Token(event.token_id, event.token, event.probability, event.position)
    return replace(canvas, tokens=(*canvas.tokens, token))


def _text(canvas: Canvas, event: Text) -> Canvas:
    if event.thinking:
        return replace(canvas, thinking=canvas.thinking + event.delta)
    return replace(canvas, text=canvas.text + event.delta)


def _run_finished(canvas: Canvas, event: RunFinished) -> Canvas:
    canvas = _settled(canvas)
    block = canvas.block
    if block is not None:
        block = replace(block, cells=tuple(cell for cell in block.cells if cell.state != "masked"))
    return replace(
        canvas, tokens=canvas.tokens[: event.tokens], block=block, passes=event.passes, text=event.text, finished=event
    )


def _settled(canvas: Canvas) -> Canvas:
    """The active block's tokens join the response, up to the first mask; the board keeps showing the block."""
    block = canvas.block
    if block is None or not block.active:
        return canvas
    if canvas.mode == "speculative":
        return replace(canvas, block=replace(block, active=False))
    tokens = []
    for cell in block.cells:
        if cell.state == "masked":
            break
        tokens.append(Token(cell.token_id, cell.token, cell.confidence, block.index, cell.step, cell.forced))
    return replace(canvas, tokens=(*canvas.tokens, *tokens), block=replace(block, active=False))


def _board(canvas: Canvas, index: int, opener: str) -> Block:
    """The block an event speaks of. Raises ValueError when the events before it did not open that block."""
    if canvas.block is None or canvas.block.index != index or not canvas.block.active:
        raise ValueError(f"an event of block or round {index} came without its {opener}")
    return canvas.block


def _counted(canvas: Canvas, kind: str) -> Canvas:
    return replace(canvas, passes=replace(canvas.passes, **{kind: getattr(canvas.passes, kind) + 1}))


_APPLY = {
    RunStarted: _run_started,
    Prefilled: _prefilled,
    BlockOpened: _block_opened,
    Denoised: _denoised,
    Replayed: _replayed,
    Drafted: _drafted,
    Verified: _verified,
    TokenDecoded: _token_decoded,
    Text: _text,
    RunFinished: _run_finished,
}
