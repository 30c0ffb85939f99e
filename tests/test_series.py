"""The numbers of the charts: counted by hand on small runs, and counted again from the lines of the recorded ones."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from clover_viz.events import (
    SCHEMA,
    BlockOpened,
    Boundary,
    Check,
    Denoised,
    Draft,
    Drafted,
    KernelChoice,
    LayerExperts,
    LayerTouched,
    PassCounts,
    Prefilled,
    Replayed,
    RunFinished,
    RunStarted,
    Slot,
    TokenDecoded,
    Verified,
)
from clover_viz.trace.series import DraftAcceptance, PartRate, RatePoint, StepCommits, run_series
from clover_viz.trace.store import play

TRACES = sorted((Path(__file__).parent.parent / "assets" / "traces").iterdir())
EXPERTS = (LayerExperts(0, 5, 3, 0.5), LayerExperts(1, 4, 4, 0.0))
CHECKED = (LayerTouched(0, 6), LayerTouched(1, 2))


def started(mode):
    return RunStarted(SCHEMA, mode, "m", "cpu", KernelChoice("reference", ""), 3, {"threshold": 0.9})


def finished(tokens, reason="length", **passes):
    counts = PassCounts(prefill=1, **passes)
    rate = tokens / counts.after_prefill if counts.after_prefill else None
    return RunFinished(reason, "", tokens, counts, rate, None, 1.0, 1.0)


def step(block, number, confidences, committed, before=(), forced=False):
    """`before`: slots that earlier steps committed."""
    slots = tuple(
        Slot(i, "committed" if i in (*before, *committed) else "masked", 10 + i, chr(97 + i), c)
        for i, c in enumerate(confidences)
    )
    return Denoised(block, number, tuple(committed), forced, slots, EXPERTS, 1.0)


def drafted(number, confidences, step=1, text="abc"):
    drafts = tuple(Draft(i, i, token, c) for i, (token, c) in enumerate(zip(text, confidences), start=1))
    return Drafted(number, step, 0, Boundary(9, "z"), drafts, EXPERTS, 1.0)


def verified(number, probabilities, accepted, text="abc"):
    pairs = enumerate(zip(text, probabilities), start=1)
    checks = tuple(Check(i, i, token, p, 0.1, None, i <= accepted) for i, (token, p) in pairs)
    return Verified(number, checks, accepted, Boundary(9, "z", 0.5), CHECKED, 1.0)


# Two blocks of three slots. The second one ends the text at its second slot, so four tokens are kept.
DENOISE = [
    started("denoise"),
    Prefilled(3, 1.0),
    BlockOpened(0, 3, 3),
    step(0, 1, [0.95, 0.2, 0.99], [0, 2]),
    step(0, 2, [0.95, 0.4, 0.99], [1], before=[0, 2], forced=True),
    Replayed(0, 3, 1.0),
    BlockOpened(1, 6, 3),
    step(1, 1, [0.5, 0.97, 0.1], [1]),
    step(1, 2, [0.92, 0.97, 0.2], [0], before=[1]),
    finished(4, "end", preview=4, replay=1),
]
# Rounds of three drafts: two stand, then none, then the limit of seven tokens falls among three that stood.
SPECULATIVE = [
    started("speculative"),
    Prefilled(3, 1.0),
    drafted(0, [0.9, 0.8, 0.3]),
    verified(0, [0.99, 0.7, 0.2], 2),
    drafted(1, [0.4, 0.5, 0.6]),
    verified(1, [0.1, 0.2, 0.3], 0),
    drafted(2, [0.1, 0.1, 0.1]),
    drafted(2, [0.7, 0.8, 0.9], step=2),
    verified(2, [0.7, 0.8, 0.9], 3),
    finished(7, preview=4, verify=3),
]


def test_every_slot_is_followed_to_the_step_that_committed_it():
    first, second = run_series(DENOISE).blocks
    assert [trail.committed for trail in first.trails] == [1, 2, 1]
    assert [[slot.confidence for slot in trail.previews] for trail in first.trails] == [[0.95], [0.2, 0.4], [0.99]]
    assert [trail.forced for trail in first.trails] == [False, True, False]
    assert [trail.committed for trail in second.trails] == [2, 1, 0]
    assert [slot.confidence for slot in second.trails[2].previews] == [0.1, 0.2]
    assert [(block.start, block.steps, block.kept) for block in (first, second)] == [(0, 2, 3), (3, 2, 1)]


def test_commits_by_step_of_all_blocks_and_of_one():
    series = run_series(DENOISE)
    assert series.commits == (StepCommits(1, 2, 3, 0, 1.5), StepCommits(2, 2, 2, 1, 1.0))
    assert series.commits_of(1) == (StepCommits(1, 1, 1, 0, 1.0), StepCommits(2, 1, 1, 0, 1.0))


def test_tokens_a_pass_count_what_the_response_kept():
    """The second block's second slot is the end token: it costs its step and brings nothing."""
    series = run_series(DENOISE)
    points = [(1, 2, 0), (2, 3, 0), (3, 3, 0), (4, 3, 1), (5, 4, 1)]
    assert series.points == tuple(RatePoint(*point) for point in points)
    assert series.parts == (PartRate(0, 0, 3, 3), PartRate(1, 3, 1, 2))
    assert series.points[-1].rate == DENOISE[-1].tokens_per_pass and series.parts[0].rate == 1.0


def test_a_given_slot_has_no_previews_and_counts_from_the_start():
    given = Slot(0, "given", 1, "x", 1.0)
    slots = step(0, 1, [1.0, 0.95, 0.2], [1]).slots[1:]
    first = Denoised(0, 1, (1,), False, (given, *slots), EXPERTS, 1.0)
    series = run_series([*DENOISE[:3], first, finished(2, "end", preview=1)])
    assert series.blocks[0].trails[0].given and series.blocks[0].trails[0].previews == ()
    assert series.points == (RatePoint(1, 2, 0),)


def test_rounds_keep_the_last_drafts_and_tell_the_first_refused():
    series = run_series(SPECULATIVE)
    assert [[draft.confidence for draft in row.drafts] for row in series.rounds] == [
        [0.9, 0.8, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]
    ]  # fmt: skip
    assert [(row.accepted, row.refused) for row in series.rounds] == [(2, 3), (0, 1), (3, None)]


def test_acceptance_counts_tried_reached_and_accepted():
    assert run_series(SPECULATIVE).acceptance == (
        DraftAcceptance(1, 3, 3, 2, 2 / 3), DraftAcceptance(2, 3, 2, 2, 2 / 3), DraftAcceptance(3, 3, 2, 1, 1 / 3)
    )  # fmt: skip


@pytest.mark.parametrize("tokens, reason, refused, reached", [(3, "length", None, 0), (4, "length", 3, 1),
                                                              (2, "end", None, 0), (3, "end", 3, 1)])  # fmt: skip
def test_a_draft_behind_the_end_is_not_refused(tokens, reason, refused, reached):
    series = run_series([*SPECULATIVE[:4], finished(tokens, reason, preview=1, verify=1)])
    assert series.rounds[0].refused == refused and series.acceptance[2].reached == reached


def test_rounds_bring_what_was_kept():
    series = run_series(SPECULATIVE)
    assert series.parts == (PartRate(0, 1, 3, 2), PartRate(1, 4, 1, 2), PartRate(2, 5, 2, 3))
    assert series.points == (RatePoint(2, 4, 0), RatePoint(4, 5, 1), RatePoint(7, 7, 2))
    assert series.points[-1].rate == SPECULATIVE[-1].tokens_per_pass


def test_experts_of_every_preview_and_of_the_pass_that_verified_it():
    rows = run_series(SPECULATIVE).experts
    assert [(row.part, row.step, bool(row.verifier)) for row in rows] == [
        (0, 1, True), (1, 1, True), (2, 1, False), (2, 2, True)
    ]  # fmt: skip
    assert rows[0].layers == EXPERTS and rows[0].verifier == CHECKED
    assert [(row.part, row.step) for row in run_series(DENOISE).experts] == [(0, 1), (0, 2), (1, 1), (1, 2)]


def test_one_token_at_a_time_has_tokens_a_pass_and_nothing_else():
    tokens = [TokenDecoded(3 + i, i, "t", 0.9, 1.0) for i in range(3)]
    series = run_series([started("autoregressive"), Prefilled(3, 1.0), *tokens, finished(3, decode=2)])
    assert series.points == (RatePoint(1, 2, None), RatePoint(2, 3, None))
    assert not (series.blocks or series.rounds or series.commits or series.acceptance or series.experts or series.parts)


def test_a_run_that_was_stopped_behind_its_drafts_counts_their_pass():
    series = run_series([*SPECULATIVE[:5], finished(4, "cancelled", preview=2, verify=1)])
    assert series.points == (RatePoint(2, 4, 0), RatePoint(3, 4, 1))
    assert series.rounds[1].checks == () and series.rounds[1].refused is None


def test_events_without_an_end_count_all_that_was_committed():
    series = run_series(DENOISE[:-1])
    assert [block.kept for block in series.blocks] == [3, 3] and series.points[-1] == RatePoint(5, 5, 1)


def test_nothing_but_a_start_has_no_numbers():
    series = run_series([started("denoise")])
    assert not (series.blocks or series.commits or series.points or series.parts) and series.mode == "denoise"


@pytest.mark.parametrize(
    "events, says",
    [
        ([*DENOISE[:3], step(0, 2, [1, 1, 1], [0])], "steps of block 0 must count 1, 2, 3 ..., got 2"),
        ([*DENOISE[:3], step(0, 1, [1, 1], [0])], "block 0 step 1 must tell all its slots in order"),
        ([*SPECULATIVE[:3], verified(0, [1, 1], 1)], "round 0 must check every draft, got 2 checks"),
        ([*SPECULATIVE[:3], verified(0, [1, 1, 1], 4)], "round 0 must accept 0 to 3, got 4"),
        ([*SPECULATIVE[:4], drafted(0, [1, 1, 1])], "steps of round 0 must count 1, 2, 3 ..., got 1"),
        ([DENOISE[0], step(0, 1, [1, 1, 1], [0])], "an event of block or round 0 came without its block_opened"),
        ([*DENOISE[:4], Denoised(0, 2, (), False, DENOISE[4].slots, EXPERTS[:1], 1.0)], "tell the same layers"),
    ],
)
def test_events_that_are_no_run_are_refused_in_one_line(events, says):
    with pytest.raises(ValueError, match=says.replace(".", r"\.")) as caught:
        run_series(events)
    assert "\n" not in str(caught.value)


@pytest.fixture(params=TRACES, ids=lambda path: path.name.split(".")[0])
def trace(request):
    """(series, the trace's lines as plain JSON)."""
    with gzip.open(request.param, "rt", encoding="utf-8") as file:
        return run_series(play(request.param)), [json.loads(line) for line in file]


def of_kind(lines, *kinds):
    return [line for line in lines if line["event"] in kinds]


def test_recorded_confidences(trace):
    series, lines = trace
    told = {
        (block.block, step, slot.slot): slot.confidence
        for block in series.blocks for trail in block.trails for step, slot in enumerate(trail.previews, start=1)
    }  # fmt: skip
    again = {
        (line["block"], line["step"], slot["slot"]): slot["confidence"]
        for line in of_kind(lines, "denoised") for slot in line["slots"]
        if slot["state"] == "masked" or slot["slot"] in line["committed"]
    }  # fmt: skip
    assert told == again
    last = {line["round"]: [draft["confidence"] for draft in line["drafts"]] for line in of_kind(lines, "drafted")}
    assert {row.round: [draft.confidence for draft in row.drafts] for row in series.rounds} == last
    checks = {line["round"]: [check["probability"] for check in line["checks"]] for line in of_kind(lines, "verified")}
    assert {row.round: [check.probability for check in row.checks] for row in series.rounds} == checks


def test_recorded_commits(trace):
    series, lines = trace
    steps = of_kind(lines, "denoised")
    committed, forced, blocks = Counter(), Counter(), Counter()
    for line in steps:
        committed[line["step"]] += len(line["committed"])
        forced[line["step"]] += len(line["committed"]) * line["forced"]
        blocks[line["step"]] += 1
    rows = [(row.step, row.blocks, row.committed, row.forced) for row in series.commits]
    assert rows == [(step, blocks[step], committed[step], forced[step]) for step in sorted(blocks)]
    assert all(row.mean == pytest.approx(row.committed / row.blocks) for row in series.commits)
    assert sum(row.forced for row in series.commits) == series.stats.forced
    apart = [sum(c.committed for c in series.commits_of(block.block)) for block in series.blocks]
    assert apart == [sum(len(line["committed"]) for line in steps if line["block"] == b.block) for b in series.blocks]


def test_recorded_acceptance(trace):
    series, lines = trace
    flags = [[check["accepted"] for check in line["checks"]] for line in of_kind(lines, "verified")]
    again = [(i + 1, len(flags), sum(column), sum(column) / len(flags)) for i, column in enumerate(zip(*flags))]
    assert [(row.draft, row.tried, row.accepted, row.share) for row in series.acceptance] == again
    for before, row in zip(series.acceptance, series.acceptance[1:]):
        assert row.accepted <= row.reached <= before.accepted


def test_recorded_experts(trace):
    series, lines = trace
    again = [
        [(layer["layer"], layer["touched"], layer["kept"], layer["rerouted"]) for layer in line["experts"]]
        for line in of_kind(lines, "denoised", "drafted")
    ]
    assert [[(e.layer, e.touched, e.kept, e.rerouted) for e in row.layers] for row in series.experts] == again
    verifier = [[layer["touched"] for layer in line["experts"]] for line in of_kind(lines, "verified")]
    assert [[e.touched for e in row.verifier] for row in series.experts if row.verifier] == verifier


def test_recorded_tokens_a_pass(trace):
    """Counted from positions: a slot is in the response when its place in the text lies before the end."""
    series, lines = trace
    start, end = lines[0], lines[-1]
    places, starts, passes, points = set(), {}, 0, []
    for line in lines:
        kind = line["event"]
        if kind == "block_opened":
            starts[line["block"]] = line["start"]
        elif kind == "denoised":
            places |= {starts[line["block"]] + slot for slot in line["committed"]}
        elif kind == "drafted":
            places.add(line["start"])
        elif kind == "verified":
            first = max(places) + 1
            places |= set(range(first, first + line["accepted"] + 1))
        elif kind == "token_decoded":
            places.add(line["position"])
        passes += kind in ("denoised", "replayed", "drafted", "verified")
        passes += kind == "token_decoded" and line["position"] > start["prompt_tokens"]
        kept = sum(place < start["prompt_tokens"] + end["tokens"] for place in places)
        if kind in ("denoised", "replayed", "verified", "token_decoded") and passes:
            points.append((passes, kept))
    assert [(point.passes, point.tokens) for point in series.points] == points
    assert series.points[-1].rate == end["tokens_per_pass"]
    if series.parts:
        assert sum(row.passes for row in series.parts) == series.points[-1].passes
        assert sum(row.tokens for row in series.parts) == end["tokens"] - bool(series.rounds)
        assert [row.start + row.tokens for row in series.parts][:-1] == [row.start for row in series.parts][1:]
