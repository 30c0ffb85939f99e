"""Figures of a whole run, from its events: how many tokens a pass brought, which experts, how much the text repeats."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from clover_viz.events import Denoised, Drafted, Event, PassCounts, Verified
from clover_viz.trace.canvas import Canvas

LONGEST_UNIT = 32  # tokens: the longest unit whose repetition is looked for
NGRAM = 4


@dataclass(frozen=True)
class LayerMeans:
    """Means over the previews of a run."""

    layer: int
    touched: float
    kept: float
    rerouted: float


@dataclass(frozen=True)
class RunStats:
    """tokens_per_pass counts every pass but prefill, tokens_per_preview previews only; None when none ran.

    commits_by_step: mean slots committed by step 1, 2, ... over the blocks that got that far; forced: how many steps
    fell back to one slot. accepted: drafts accepted, by round; kept: tokens that the round brought to the response, by
    round, so without what the end or the limit cut off. acceptance: by draft, the first one behind the boundary first,
    the share of the rounds that drafted there in which it was accepted (behind an end token none is). longest_repeat:
    tokens of the longest stretch made of one unit over and over; distinct: share of different 4-grams (None below 4
    tokens).
    """

    tokens: int
    passes: PassCounts
    tokens_per_pass: float | None
    tokens_per_preview: float | None
    commits_by_step: tuple[float, ...]
    forced: int
    experts: tuple[LayerMeans, ...]
    accepted: tuple[int, ...]
    kept: tuple[int, ...]
    acceptance: tuple[float, ...]
    longest_repeat: int
    distinct: float | None

    @property
    def tokens_per_round(self) -> float | None:
        """Mean of `kept`; the first token of a response is no round's."""
        return sum(self.kept) / len(self.kept) if self.kept else None


def run_stats(events: Iterable[Event]) -> RunStats:
    """Figures of the events so far."""
    canvas = Canvas()
    commits: list[list[int]] = []
    forced, previews = 0, []
    rounds: list[tuple[int, int, Verified]] = []  # tokens before and after it
    for event in events:
        before = len(canvas.tokens)
        canvas = canvas.apply(event)
        match event:
            case Denoised():
                if event.step > len(commits):
                    commits.append([])
                commits[event.step - 1].append(len(event.committed))
                forced += event.forced
                previews.append(event.experts)
            case Drafted():
                previews.append(event.experts)
            case Verified():
                rounds.append((before, len(canvas.tokens), event))
    ids = [token.token_id for token in canvas.tokens]
    return RunStats(
        tokens=canvas.count,
        passes=canvas.passes,
        tokens_per_pass=canvas.tokens_per_pass,
        tokens_per_preview=canvas.tokens_per_preview,
        commits_by_step=tuple(sum(counts) / len(counts) for counts in commits),
        forced=forced,
        experts=_layer_means(previews),
        accepted=tuple(verified.accepted for *_, verified in rounds),
        kept=tuple(min(after, len(ids)) - min(before, len(ids)) for before, after, _ in rounds),
        acceptance=_acceptance([verified for *_, verified in rounds]),
        longest_repeat=longest_repeat(ids),
        distinct=distinct(ids, NGRAM),
    )


def _acceptance(rounds: Sequence[Verified]) -> tuple[float, ...]:
    by_draft = zip_longest(*([check.accepted for check in verified.checks] for verified in rounds))
    had = [[flag for flag in flags if flag is not None] for flags in by_draft]
    return tuple(sum(flags) / len(flags) for flags in had)


def _layer_means(previews) -> tuple[LayerMeans, ...]:
    return tuple(
        LayerMeans(layer[0].layer, *(sum(getattr(e, name) for e in layer) / len(layer) for name in
                                     ("touched", "kept", "rerouted")))
        for layer in zip(*previews)
    )  # fmt: skip


def longest_repeat(ids: Sequence[int], longest_unit: int = LONGEST_UNIT) -> int:
    """Tokens of the longest stretch in which a unit of 1..longest_unit tokens follows itself at least once, else 0."""
    longest = 0
    for unit in range(1, min(longest_unit, len(ids) // 2) + 1):
        same = 0
        for i in range(unit, len(ids)):
            same = same + 1 if ids[i] == ids[i - unit] else 0
            if same >= unit:
                longest = max(longest, same + unit)
    return longest


def distinct(ids: Sequence[int], n: int) -> float | None:
    """Different n-grams over all n-grams, in (0, 1]; None for fewer than n tokens."""
    grams = [tuple(ids[i : i + n]) for i in range(len(ids) - n + 1)]
    return len(set(grams)) / len(grams) if grams else None
