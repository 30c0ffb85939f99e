"""The numbers behind the charts of a run: events in, plain rows out. Indices count as the events do.

What `stats` already tells (means by step and layer, acceptance, tokens kept by a round) is taken from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from clover_viz.events import (
    Denoised,
    Drafted,
    Event,
    LayerExperts,
    LayerTouched,
    Replayed,
    RunFinished,
    RunStarted,
    TokenDecoded,
    Verified,
)
from clover_viz.trace.stats import RunStats, run_stats
from clover_viz.trace.trails import BlockTrails, RoundTrail, block_trails, check_order, round_trails


@dataclass(frozen=True)
class StepCommits:
    """Slots committed by this step of the blocks that got so far; forced: those of them that were the fallback."""

    step: int
    blocks: int
    committed: int
    forced: int
    mean: float  # committed a block


@dataclass(frozen=True)
class DraftAcceptance:
    """Rounds that had a draft at this place, in which the verifier came to it (reached), and in which it stood.

    The verifier comes to a draft when all before it stood and the text did not end there.
    """

    draft: int  # 1 is the first one behind the boundary
    tried: int
    reached: int
    accepted: int
    share: float  # accepted / tried


@dataclass(frozen=True)
class PreviewExperts:
    """Experts of one preview of a block or round. verifier: of the causal pass behind a round's last preview."""

    part: int
    step: int
    layers: tuple[LayerExperts, ...]
    verifier: tuple[LayerTouched, ...] = ()


@dataclass(frozen=True)
class RatePoint:
    """After a step, replay, round or decoded token: passes but prefill, and kept tokens; part: its block or round."""

    passes: int
    tokens: int
    part: int | None

    @property
    def rate(self) -> float:
        return self.tokens / self.passes


@dataclass(frozen=True)
class PartRate:
    """What one block or round brought. start: response tokens before it; passes: its previews, replay and verify."""

    part: int
    start: int
    tokens: int
    passes: int

    @property
    def rate(self) -> float:
        return self.tokens / self.passes


@dataclass(frozen=True)
class RunSeries:
    """Every chart's numbers. What a mode does not have is empty."""

    run: RunStarted | None
    finished: RunFinished | None
    stats: RunStats
    blocks: tuple[BlockTrails, ...]
    rounds: tuple[RoundTrail, ...]
    commits: tuple[StepCommits, ...]
    acceptance: tuple[DraftAcceptance, ...]
    experts: tuple[PreviewExperts, ...]
    points: tuple[RatePoint, ...]
    parts: tuple[PartRate, ...]

    @property
    def mode(self) -> str | None:
        return self.run.mode if self.run else None

    def commits_of(self, block: int) -> tuple[StepCommits, ...]:
        """The commits of one block alone."""
        return tuple(_commits([b for b in self.blocks if b.block == block]))


def run_series(events: Iterable[Event]) -> RunSeries:
    """The numbers of the events so far. Raises ValueError, in one line, for events that are no run of this app."""
    events = list(events)
    check_order(events)
    stats = run_stats(events)
    finished = next((e for e in events if isinstance(e, RunFinished)), None)
    blocks, rounds = block_trails(events, finished), round_trails(events, finished)
    most = finished.tokens if finished else stats.tokens
    return RunSeries(
        run=next((e for e in events if isinstance(e, RunStarted)), None),
        finished=finished,
        stats=stats,
        blocks=blocks,
        rounds=rounds,
        commits=tuple(_commits(blocks, stats.commits_by_step)),
        acceptance=tuple(_acceptance(rounds, stats.acceptance)),
        experts=tuple(_experts(events)),
        points=tuple(_points(events, blocks, stats, most)),
        parts=tuple(_parts(events, blocks, stats)),
    )


def _commits(blocks: Sequence[BlockTrails], means: Sequence[float] = ()) -> Iterable[StepCommits]:
    for step in range(1, max((block.steps for block in blocks), default=0) + 1):
        reached = sum(block.steps >= step for block in blocks)
        fixed = [trail for block in blocks for trail in block.trails if trail.committed == step]
        mean = means[step - 1] if means else len(fixed) / reached
        yield StepCommits(step, reached, len(fixed), sum(trail.forced for trail in fixed), mean)


def _acceptance(rounds: Sequence[RoundTrail], shares: Sequence[float]) -> Iterable[DraftAcceptance]:
    for draft, share in enumerate(shares, start=1):
        had = [row for row in rounds if draft <= len(row.checks)]
        accepted = sum(row.accepted >= draft for row in had)
        yield DraftAcceptance(draft, len(had), accepted + sum(row.refused == draft for row in had), accepted, share)


def _experts(events: Sequence[Event]) -> Iterable[PreviewExperts]:
    last = {e.round: e.step for e in events if isinstance(e, Drafted)}
    verifier = {e.round: e.experts for e in events if isinstance(e, Verified)}
    for event in events:
        if isinstance(event, Denoised):
            yield PreviewExperts(event.block, event.step, event.experts)
        elif isinstance(event, Drafted):
            behind = verifier.get(event.round, ()) if event.step == last[event.round] else ()
            yield PreviewExperts(event.round, event.step, event.experts, behind)


def _points(events: Sequence[Event], blocks: Sequence[BlockTrails], stats: RunStats, most: int) -> list[RatePoint]:
    """A point after whatever can bring tokens, and one more for a pass at the end that could not. most: tokens kept."""
    by_block, kept = {block.block: block for block in blocks}, iter(stats.kept)
    points, passes, tokens, part = [], 0, 0, None
    for event in events:
        match event:
            case Denoised():
                part, block = event.block, by_block[event.block]
                tokens = block.start + _filled(block, event.step)
            case Replayed():
                part = event.block
            case Drafted():
                part, tokens = event.round, max(tokens, 1)  # the first token is prefill's
            case Verified():
                tokens += next(kept)
            case TokenDecoded():
                part, tokens = None, tokens + 1
            case _:
                continue
        passes += not (isinstance(event, TokenDecoded) and tokens == 1)
        if passes and not isinstance(event, Drafted):
            points.append(RatePoint(passes, min(tokens, most), part))
    if passes and (not points or points[-1].passes < passes):
        points.append(RatePoint(passes, min(tokens, most), part))
    return points


def _filled(block: BlockTrails, step: int) -> int:
    """Kept slots that are filled after a step."""
    return sum(trail.given or 0 < trail.committed <= step for trail in block.trails[: block.kept])


def _parts(events: Sequence[Event], blocks: Sequence[BlockTrails], stats: RunStats) -> Iterable[PartRate]:
    replays = Counter(e.block for e in events if isinstance(e, Replayed))
    for block in blocks:
        if block.steps:
            yield PartRate(block.block, block.start, _filled(block, block.steps), block.steps + replays[block.block])
    previews = Counter(e.round for e in events if isinstance(e, Drafted))
    starts = accumulate(stats.kept, initial=1)  # the first token is no round's
    for verified, start, kept in zip((e for e in events if isinstance(e, Verified)), starts, stats.kept):
        yield PartRate(verified.round, start, kept, previews[verified.round] + 1)
