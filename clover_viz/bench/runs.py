"""Whole answers: one token at a time against transformers' generate, and both block modes against one at a time."""

from collections.abc import Sequence
from statistics import median
from time import perf_counter
from typing import NamedTuple

import torch

from clover_viz.bench.report import Row
from clover_viz.bench.timing import Spread
from clover_viz.events import RunFinished
from clover_viz.settings import AutoregressiveSettings, DenoiseSettings, SpeculativeSettings
from clover_viz.trace.response import response

THRESHOLD = 0.95
ROUNDS = 3
MAX_NEW_TOKENS = 128
KEPT = {16: 10, 32: 14}  # block size -> tokens that a round of self-speculation should keep

ONE_BY_ONE, TRANSFORMERS, DENOISE = "one token at a time", "transformers", f"denoise at {THRESHOLD:g}"
BLOCKS = {f"speculative exact at block {size}": size for size in sorted(KEPT, reverse=True)}
WAYS = {
    ONE_BY_ONE: AutoregressiveSettings(),
    DENOISE: DenoiseSettings(threshold=THRESHOLD),
    **{way: SpeculativeSettings(block_size=size) for way, size in BLOCKS.items()},
}

Messages = Sequence[dict]


class Tally(NamedTuple):
    """One way of answering all prompts. tokens: in the texts; written: with end tokens; later: in the texts after their
    first ones, which are prefill's; same: prompts on which it wrote what one token at a time did."""

    seconds: float = 0.0
    tokens: int = 0
    written: int = 0
    later: int = 0
    same: int = 0
    previews: int = 0
    replays: int = 0
    verifies: int = 0

    @property
    def rate(self) -> float:
        """Tokens a second, end tokens included: transformers counts them."""
        return self.written / self.seconds if self.seconds > 0 else 0.0


Round = dict[str, Tally]  # by way, one turn through all prompts


def measure(
    engine, peer, prompts: Sequence[Messages], rounds: int = ROUNDS, limit: int = MAX_NEW_TOKENS, clock=perf_counter
) -> list[Round]:
    """Every prompt in every way in turn, in the order given; one round before the first is thrown away."""
    return [_round(engine, peer, prompts, limit, clock) for _ in range(rounds + 1)][1:]


def _round(engine, peer, prompts, limit, clock) -> Round:
    totals: Round = {}
    for messages in prompts:
        wanted: list[int] = []
        for way, settings in WAYS.items():
            began = clock()
            events = list(engine.generate(messages, settings, max_new_tokens=limit))
            seconds = clock() - began
            ids = [token.token_id for token in response(events)]
            wanted = wanted or ids
            _add(totals, way, _of_run(events[-1], seconds, ids, wanted))
            if way == ONE_BY_ONE:
                _add(totals, TRANSFORMERS, _of_transformers(engine, peer, messages, wanted, clock))
    return totals


def _of_run(finished: RunFinished, seconds: float, ids: Sequence[int], wanted: Sequence[int]) -> Tally:
    passes = finished.passes
    return Tally(
        seconds=seconds,
        tokens=finished.tokens,
        written=len(ids),
        later=max(0, finished.tokens - 1),
        same=ids == wanted,
        previews=passes.preview,
        replays=passes.replay,
        verifies=passes.verify,
    )


def _of_transformers(engine, peer, messages: Messages, wanted: Sequence[int], clock) -> Tally:
    ids = torch.tensor(engine.tokenizer.chat(list(messages)), device=engine.model.device)
    began = clock()
    theirs = peer.generate(ids, len(wanted))
    return Tally(clock() - began, written=len(theirs), same=theirs == wanted)


def _add(totals: Round, way: str, one: Tally) -> None:
    totals[way] = Tally(*(a + b for a, b in zip(totals.get(way, Tally()), one)))


def rows(found: Sequence[Round], prompts: int, pass_seconds: dict[str, list[float]], width: int) -> list[Row]:
    """The ratios of `measure`. `pass_seconds`: of single passes, for break-even; `width`: slots of a denoised block."""
    tokens = found[0][TRANSFORMERS].written
    result = [
        _faster(found, ONE_BY_ONE, TRANSFORMERS, 1.5, note=f"{tokens} tokens; {_same(found, TRANSFORMERS, prompts)}"),
        _faster(found, DENOISE, ONE_BY_ONE, 1.5, 2.0, break_even(found, pass_seconds, width)),
    ]
    for way in BLOCKS:
        result.append(_faster(found, way, ONE_BY_ONE, 1.5, 2.5, _same(found, way, prompts)))
    for way in BLOCKS:
        result.append(_faster(found, way, TRANSFORMERS, 2.5))
    for way, size in BLOCKS.items():
        kept = [r[way].later / r[way].verifies for r in found if r[way].verifies]
        if kept:
            note = round_break_even(pass_seconds, size)
            result.append(Row(f"{way}, tokens kept a round", _spread(kept), KEPT[size], at_most=False, note=note))
    return result


def _faster(
    found: Sequence[Round], way: str, than: str, target: float, goal: float | None = None, note: str = ""
) -> Row:
    spread = _spread([r[way].rate / r[than].rate for r in found])
    other = "transformers'" if than == TRANSFORMERS else than
    return Row(f"{way}, tokens/s / {other}", spread, target, goal, at_most=False, note=note)


def _same(found: Sequence[Round], way: str, prompts: int) -> str:
    return f"on {found[0][way].same} of {prompts} prompts both wrote the same tokens"


def break_even(found: Sequence[Round], pass_seconds: dict[str, list[float]], width: int) -> str:
    """Tokens a pass must bring to equal one token at a time, at this run's mix of passes, and the tokens it brought."""
    previews, replays, tokens = (sum(getattr(r[DENOISE], n) for r in found) for n in ("previews", "replays", "tokens"))
    passes = previews + replays
    cost = {name: median(pass_seconds[name]) for name in (f"preview {width}", f"causal {width}", "decode")}
    mean = (previews * cost[f"preview {width}"] + replays * cost[f"causal {width}"]) / passes
    return (
        f"tokens per pass: {tokens / passes:.2f} measured, {mean / cost['decode']:.2f} to break even "
        f"({previews / len(found):g} previews and {replays / len(found):g} replays a round)"
    )


def round_break_even(pass_seconds: dict[str, list[float]], size: int) -> str:
    """Tokens a round of self-speculation must keep to equal one token at a time: its passes over a decode step."""
    parts = [median(pass_seconds[f"{kind} {size}"]) for kind in ("preview", "verify", "advance")]
    return f"{sum(parts) / median(pass_seconds['decode']):.2f} to break even: preview, verify and advance / decode step"


def rates(found: Sequence[Round]) -> dict[str, float]:
    """Tokens a second by way, medians over the rounds."""
    return {way: round(median(r[way].rate for r in found), 2) for way in found[0]}


def _spread(values: Sequence[float]) -> Spread:
    return Spread(median(values), min(values), max(values))
