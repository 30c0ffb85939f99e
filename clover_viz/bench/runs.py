"""Whole answers: one token at a time against transformers' generate, and denoised against one token at a time."""

from collections.abc import Sequence
from statistics import median
from time import perf_counter
from typing import NamedTuple

import torch

from clover_viz.bench.report import Row
from clover_viz.bench.timing import Spread
from clover_viz.events import TokenDecoded
from clover_viz.settings import AutoregressiveSettings, DenoiseSettings

THRESHOLD = 0.95
ROUNDS = 3
MAX_NEW_TOKENS = 128

Messages = Sequence[dict]


class Round(NamedTuple):
    """One turn through all prompts: tokens in the texts, and seconds."""

    one_by_one_tokens: int
    one_by_one_seconds: float
    decoded_tokens: int  # with end tokens, as many as transformers was asked for
    transformers_seconds: float
    same_answers: int  # prompts on which transformers wrote the same ids
    denoised_tokens: int
    denoised_seconds: float
    previews: int
    replays: int


def measure(
    engine, peer, prompts: Sequence[Messages], rounds: int = ROUNDS, limit: int = MAX_NEW_TOKENS, clock=perf_counter
) -> list[Round]:
    """Every prompt three ways in turn, in the order given; one round before the first is thrown away."""
    return [_round(engine, peer, prompts, limit, clock) for _ in range(rounds + 1)][1:]


def _round(engine, peer, prompts, limit, clock) -> Round:
    total = [0] * len(Round._fields)
    for messages in prompts:
        began = clock()
        events = list(engine.generate(messages, AutoregressiveSettings(), max_new_tokens=limit))
        alone = clock() - began
        written = [event.token_id for event in events if isinstance(event, TokenDecoded)]

        ids = torch.tensor(engine.tokenizer.chat(list(messages)), device=engine.model.device)
        began = clock()
        theirs = peer.generate(ids, len(written))
        their_seconds = clock() - began

        began = clock()
        done = engine.complete(messages, DenoiseSettings(threshold=THRESHOLD), max_new_tokens=limit)
        denoised = clock() - began
        one = (
            events[-1].tokens, alone, len(written), their_seconds, int(theirs == written),
            done.tokens, denoised, done.passes.preview, done.passes.replay,
        )  # fmt: skip
        total = [a + b for a, b in zip(total, one)]
    return Round(*total)


def rows(found: Sequence[Round], prompts: int, pass_seconds: dict[str, list[float]], width: int) -> list[Row]:
    """The ratios of `measure`. `pass_seconds`: those of single passes, for the break-even at blocks of `width` slots."""
    against = [r.transformers_seconds / r.one_by_one_seconds for r in found]
    faster = [_rate(r.denoised_tokens, r.denoised_seconds) / _rate(r.one_by_one_tokens, r.one_by_one_seconds)
              for r in found if r.one_by_one_tokens]  # fmt: skip
    same = f"{found[0].decoded_tokens} tokens; on {found[0].same_answers} of {prompts} prompts both wrote the same ones"
    result = [Row("one token at a time, tokens/s / transformers'", _spread(against), 1.5, at_most=False, note=same)]
    if faster:
        note = break_even(found, pass_seconds, width)
        name = f"denoise at {THRESHOLD:g}, tokens/s / one token at a time"
        result.append(Row(name, _spread(faster), 1.5, 2.0, at_most=False, note=note))
    return result


def break_even(found: Sequence[Round], pass_seconds: dict[str, list[float]], width: int) -> str:
    """Tokens a pass must bring to equal one token at a time, at this run's mix of passes, and the tokens it brought."""
    previews, replays, tokens = (sum(getattr(r, n) for r in found) for n in ("previews", "replays", "denoised_tokens"))
    passes = previews + replays
    cost = {name: median(pass_seconds[name]) for name in (f"preview {width}", f"causal {width}", "decode")}
    mean = (previews * cost[f"preview {width}"] + replays * cost[f"causal {width}"]) / passes
    return (
        f"tokens per pass: {tokens / passes:.2f} measured, {mean / cost['decode']:.2f} to break even "
        f"({previews / len(found):g} previews and {replays / len(found):g} replays a round)"
    )


def rates(found: Sequence[Round]) -> dict[str, float]:
    """Tokens a second, medians over the rounds."""
    return {
        "one_by_one": round(median(_rate(r.one_by_one_tokens, r.one_by_one_seconds) for r in found), 2),
        "transformers": round(median(_rate(r.decoded_tokens, r.transformers_seconds) for r in found), 2),
        "denoise": round(median(_rate(r.denoised_tokens, r.denoised_seconds) for r in found), 2),
    }


def _rate(tokens: int, seconds: float) -> float:
    return tokens / seconds if seconds > 0 else 0.0


def _spread(values: Sequence[float]) -> Spread:
    return Spread(median(values), min(values), max(values))
