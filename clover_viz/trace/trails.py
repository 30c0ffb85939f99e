"""A run's slots through its steps, and its drafts through their checks: what the charts of confidence show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clover_viz.events import BlockOpened, Check, Denoised, Draft, Drafted, Event, RunFinished, Slot, Verified


@dataclass(frozen=True)
class Trail:
    """One slot through the steps of its block. previews: by step, up to and with the one that committed it.

    committed: that step, 0 when none did. given: it was filled before the block began, and has no previews.
    """

    slot: int
    previews: tuple[Slot, ...]
    committed: int = 0
    forced: bool = False
    given: bool = False


@dataclass(frozen=True)
class BlockTrails:
    """One denoised block. start: index of its first token in the response; kept: its slots that the response has."""

    block: int
    start: int
    steps: int
    trails: tuple[Trail, ...]
    kept: int


@dataclass(frozen=True)
class RoundTrail:
    """One round: the drafts as they went to the verifier, and its checks, none when the run ended before them.

    refused: the slot of the first draft that the verifier did not let stand; None when all stood, or when the text
    ended among those that did, because the ones behind came too late.
    """

    round: int
    drafts: tuple[Draft, ...]
    checks: tuple[Check, ...]
    accepted: int
    refused: int | None


def block_trails(events: Sequence[Event], finished: RunFinished | None) -> tuple[BlockTrails, ...]:
    """Every opened block, in order; without the end of the run (None), all that a block committed counts as kept."""
    opened = [e for e in events if isinstance(e, BlockOpened)]
    blocks, start = [], 0
    for block in opened:
        steps = [e for e in events if isinstance(e, Denoised) and e.block == block.block]
        trails = tuple(_trail(slot, steps) for slot in range(block.slots))
        kept = block.slots if finished is None else min(max(finished.tokens - start, 0), block.slots)
        blocks.append(BlockTrails(block.block, start, len(steps), trails, kept))
        start += block.slots
    return tuple(blocks)


def _trail(slot: int, steps: Sequence[Denoised]) -> Trail:
    if steps and steps[0].slots[slot].state == "given":
        return Trail(slot, (), given=True)
    by = next((event for event in steps if slot in event.committed), None)
    last = by.step if by else len(steps)
    return Trail(slot, tuple(e.slots[slot] for e in steps[:last]), by.step if by else 0, by is not None and by.forced)


def round_trails(events: Sequence[Event], finished: RunFinished | None) -> tuple[RoundTrail, ...]:
    """Every round, in order."""
    told = finished.tokens + (finished.reason == "end") if finished else None
    verified = {e.round: e for e in events if isinstance(e, Verified)}
    rows, start = [], 1  # the first token is prefill's
    for number, drafts in {e.round: e.drafts for e in events if isinstance(e, Drafted)}.items():  # the last preview's
        if number not in verified:
            rows.append(RoundTrail(number, drafts, (), 0, None))
            continue
        checks, accepted = verified[number].checks, verified[number].accepted
        ended = accepted == len(checks) or (told is not None and told <= start + accepted)
        rows.append(RoundTrail(number, drafts, checks, accepted, None if ended else accepted + 1))
        start += accepted + 1
    return tuple(rows)


def check_order(events: Sequence[Event]) -> None:
    """Raises ValueError, in one line, unless steps, slots and layers can be laid out as rows and columns."""
    steps, slots, layers = {}, {}, None
    for event in events:
        match event:
            case BlockOpened():
                slots["block", event.block] = event.slots
            case Denoised():
                part, told = ("block", event.block), [slot.slot for slot in event.slots]
                _count(part, event.step, steps)
                if told != list(range(slots.get(part, len(told)))):
                    raise ValueError(f"block {event.block} step {event.step} must tell all its slots in order")
            case Drafted():
                part, told = ("round", event.round), [draft.slot for draft in event.drafts]
                _count(part, event.step, steps)
                if told != list(range(1, slots.setdefault(part, len(told)) + 1)):
                    raise ValueError(f"round {event.round} step {event.step} must tell every draft in order")
            case Verified() if len(event.checks) != slots.get(("round", event.round), len(event.checks)):
                raise ValueError(f"round {event.round} must check every draft, got {len(event.checks)} checks")
            case Verified() if not 0 <= event.accepted <= len(event.checks):
                raise ValueError(f"round {event.round} must accept 0 to {len(event.checks)}, got {event.accepted}")
        if isinstance(event, (Denoised, Drafted)) or (isinstance(event, Verified) and event.experts):
            now = [layer.layer for layer in event.experts]
            if layers is not None and now != layers:
                raise ValueError(f"every pass must tell the same layers, got {len(now)} after {len(layers)}")
            layers = now


def _count(part: tuple[str, int], step: int, steps: dict) -> None:
    if step != steps.get(part, 0) + 1:
        raise ValueError(f"steps of {part[0]} {part[1]} must count 1, 2, 3 ..., got {step}")
    steps[part] = step
