"""What each chart shows, in a sentence or two computed from its numbers, and why a run may not have it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from clover_viz.trace.series import RunSeries
from clover_viz.ui.charts.tables import ALL, experts_of, page

AUTOREGRESSIVE = {
    "confidence": "One token at a time has no slots and no steps: every pass is sure of one token only.",
    "commits": "One token at a time has no steps of a block: every pass commits one token.",
    "acceptance": "One token at a time drafts nothing, so nothing is accepted or refused.",
    "experts": "One token at a time runs no previews, and only previews tell their experts.",
}
NONE = {
    "confidence": "This run ended before its first preview, so there is no confidence to show.",
    "commits": "This run ended before its first step, so no slot was committed.",
    "acceptance": "This run ended before its first round was verified.",
    "experts": "This run tells of no experts: it ended before its first preview, or its model has none.",
    "tokens": "This run ended before its first pass behind the prompt.",
}
OTHER = {
    ("denoise", "acceptance"): "Denoising checks no drafts: a slot that is committed stays, so nothing is accepted "
    "or refused.",
    ("speculative", "commits"): "Draft and verify has no commits by step: a round keeps the accepted drafts and one "
    "more token at once. Tokens a pass shows them.",
}


def missing(series: RunSeries, chart: str) -> str | None:
    """Why a run has no such chart; None when it has."""
    has = {
        "confidence": series.rounds or any(block.steps for block in series.blocks),
        "commits": series.commits,
        "acceptance": series.acceptance,
        "experts": any(preview.layers for preview in series.experts),
        "tokens": series.points,
    }
    if has[chart]:
        return None
    told = AUTOREGRESSIVE.get(chart) if series.mode == "autoregressive" else OTHER.get((series.mode, chart))
    return told or NONE[chart]


def confidence_words(series: RunSeries, part: int) -> str:
    if series.rounds:
        return _drafts(page(series.rounds, part))
    block = next(block for block in series.blocks if block.block == part)
    fixed = [trail for trail in block.trails if trail.committed]
    first = sum(trail.committed == 1 for trail in fixed)
    slots = len(block.trails)
    words = f"Block {part + 1} took {_n(block.steps, 'step')}; the first committed {first} of its {slots} slots."
    if fixed:
        sure = fmean(trail.previews[-1].confidence for trail in fixed)
        forced = sum(trail.forced for trail in fixed)
        words += f" The mean confidence of its {_n(len(fixed), 'commit')} was {sure:.2f}; "
        words += f"{_some(forced, len(fixed))} {'was' if forced == 1 else 'were'} forced."
    out = slots - block.kept
    return words + (f" The text ends before its last {_n(out, 'slot')}." if out else "")


def _drafts(rounds: Sequence) -> str:
    stood = [(row.drafts[at], row.checks[at]) for row in rounds for at in range(row.accepted)]
    refused = [(row.drafts[row.refused - 1], row.checks[row.refused - 1]) for row in rounds if row.refused]
    first, last = rounds[0].round + 1, rounds[-1].round + 1
    words = f"Round {first}." if first == last else f"Rounds {first} to {last}."
    for pairs, name in ((stood, "accepted draft"), (refused, "first refused draft")):
        if pairs:
            draft = fmean(draft.confidence for draft, _ in pairs)
            check = fmean(check.probability for _, check in pairs)
            mean = "mean " if len(pairs) > 1 else ""
            words += f" {_n(len(pairs), name)}: {mean}confidence {draft:.2f}, "
            words += f"{mean}probability by the verifier {check:.2f}."
    return words if stood or refused else words + " No draft was accepted or refused."


def commits_words(series: RunSeries, part: int) -> str:
    rows = series.commits if part == ALL else series.commits_of(part)
    every = sum(row.committed for row in rows)
    forced = sum(row.forced for row in rows)
    best = max(rows, key=lambda row: row.committed)
    where = f"{_n(rows[0].blocks, 'block')}" if part == ALL else f"Block {part + 1}"
    words = f"{where}: {_n(every, 'slot')} committed in {'up to ' if part == ALL else ''}{_n(len(rows), 'step')}, "
    if all(row.committed == best.committed for row in rows):
        words += f"{best.committed} by each"
    else:
        words += f"most by step {best.step}, {best.committed} ({_share(best.committed, every)})"
    share = f" ({_share(forced, every)})" if 0 < forced < every else ""
    return f"{words}; {_some(forced, every)}{share} {'was' if forced == 1 else 'were'} forced."


def acceptance_words(series: RunSeries, part: int = 0) -> str:
    first, *_ = rows = series.acceptance
    share = _share(first.accepted, first.tried)
    words = f"Draft 1 was accepted in {first.accepted} of {_n(first.tried, 'round')} ({share})"
    last = max((row.draft for row in rows if row.accepted), default=0)
    if last > 1:
        end = rows[last - 1]
        words += f", draft {last} in {end.accepted} ({_share(end.accepted, end.tried)})"
    if last < len(rows):
        words += f"; none behind draft {last} ever was" if last else "; nor was any other"
    return words + f". A round kept {series.stats.tokens_per_round:.2f} tokens on average."


def experts_words(series: RunSeries, part: int) -> str:
    previews = experts_of(series, part)
    layers = [layer for preview in previews for layer in preview.layers]
    touched, kept = fmean(layer.touched for layer in layers), fmean(layer.kept for layer in layers)
    unit, first, last = "round" if series.rounds else "block", previews[0].part + 1, previews[-1].part + 1
    where = f"{unit} {first}" if first == last else f"{unit}s {first} to {last}"
    words = f"In {where} a layer touched {touched:.1f} experts on average and kept {kept:.1f}."
    whole = series.stats.experts
    most = max(whole, key=lambda layer: layer.rerouted)
    if not most.rerouted:
        return words + " No slot lost an expert in the whole run."
    mean = fmean(layer.rerouted for layer in whole)
    lost = f"a slot lost {mean:.2f} experts of its own on average, most in layer {most.layer}: {most.rerouted:.2f}"
    return f"{words} Over the whole run {lost}."


def tokens_words(series: RunSeries, part: int = 0) -> str:
    end = series.points[-1]
    words = f"{_n(end.tokens, 'token')} in {_n(end.passes, 'pass', 'passes')} behind the prompt: {end.rate:.2f} a pass."
    if not series.parts:
        return words + " The first token costs no pass of its own: it comes with the prompt."
    unit = "round" if series.rounds else "block"
    best = max(series.parts, key=lambda row: row.rate)
    least = min(series.parts, key=lambda row: row.rate)
    if best.rate == least.rate:
        return words if len(series.parts) == 1 else words + f" Every {unit} brought the same {best.rate:.2f}."
    return words + (
        f" The best was {unit} {best.part + 1} with {best.rate:.2f} a pass, "
        f"the leanest {unit} {least.part + 1} with {least.rate:.2f}."
    )


def run_words(series: RunSeries) -> list[str]:
    """Which run the charts are of, word by word: a model has any name."""
    run, end = series.run, series.finished
    how = {"denoise": "Denoise a block", "speculative": "Draft and verify", "autoregressive": "One token at a time"}
    told = [how.get(series.mode, "A run"), f"{_n(series.stats.tokens, 'token')}"]
    told += [run.model] if run else []
    if end is None:
        told.append("not finished")
    elif end.reason == "cancelled":
        told.append("stopped")
    return told


def _share(some: int, of: int) -> str:
    return f"{100 * some / of:.0f}%" if of else "0%"


def _some(count: int, of: int) -> str:
    return "none" if not count else "all" if count == of > 1 else str(count)


def _n(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
