"""Self-speculation under the exact rule against one token at a time: the same tokens, or a tie that rounding may break.

Passes of different width add up in a different order. Two tokens within NEAR_TIE of each other may then change places,
and the texts go on differently from there; any other difference is a fault.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import torch

from clover_viz.decoding.rules import adjust, uniform
from clover_viz.engine import Engine
from clover_viz.lab.margin import draw_margin, logit_margin
from clover_viz.settings import AutoregressiveSettings, Limits, Settings, SpeculativeSettings, check_block_size
from clover_viz.trace.response import ResponseToken, first_difference, response
from clover_viz.trace.stats import run_stats
from clover_viz.training.data import EvalPrompt, eval_prompts

KINDS = ("agent", "answer", "structured", "talk", "decline")
NEAR_TIE = 1e-5
SEEDS = 2**63


class Difference(NamedTuple):
    """Where two responses part. `at`: place in the response; None for a token where there is none, or for a margin that
    is not a number: without a second token, or with one that has no chance at all."""

    at: int
    one_by_one: ResponseToken | None
    speculative: ResponseToken | None
    margin: float | None

    @property
    def near_tie(self) -> bool:
        return self.margin is not None and self.margin <= NEAR_TIE


@dataclass(frozen=True)
class Pair:
    """A prompt both ways. tokens: of the response one token at a time, end token included; kept: tokens by round."""

    prompt: int
    kind: str
    temperature: float
    block_size: int
    tokens: int
    kept: tuple[int, ...]
    difference: Difference | None


@dataclass(frozen=True)
class Row:
    """All pairs of one block size and temperature; tokens_per_round is None when no round ran."""

    block_size: int
    temperature: float
    prompts: int
    tokens: int
    same: int
    near_ties: int
    different: int
    tokens_per_round: float | None


def mixed_prompts(count: int, seed: int = 0) -> list[EvalPrompt]:
    """Held-out prompts of all kinds in turn."""
    by_kind = [eval_prompts(kind, -(-count // len(KINDS)), seed) for kind in KINDS]
    return list(chain.from_iterable(zip(*by_kind)))[:count]


def block_sizes(trained: int) -> list[int]:
    """All that a model of blocks of `trained` slots has, the largest first."""
    return [size for size in range(trained, 1, -1) if trained % size == 0]


def compare(
    engine: Engine,
    prompts: Sequence[EvalPrompt],
    sizes: Sequence[int],
    temperatures: Sequence[float],
    max_new_tokens: int = 64,
    seed: int = 0,
    progress: Callable[[int, int, str], None] = lambda done, total, last: None,
) -> list[Pair]:
    """Every prompt at every temperature, once one token at a time and once at each block size, with the same draws.

    Prompt i draws with seed + i. Raises UserError for a block size that the model lacks, before the first pass.
    """
    for size in sizes:
        check_block_size(SpeculativeSettings(block_size=size), engine.model.config.block_size)
    pairs: list[Pair] = []
    total = len(prompts) * len(temperatures) * len(sizes)
    for index, prompt in enumerate(prompts):
        limits = Limits(max_new_tokens, (), (seed + index) % SEEDS)
        ids = engine.tokenizer.chat(list(prompt.messages))
        for temperature in temperatures:
            alone = AutoregressiveSettings(temperature=temperature)
            wanted = response(_events(engine, ids, alone, limits))
            for size in sizes:
                events = _events(engine, ids, SpeculativeSettings(block_size=size, temperature=temperature), limits)
                difference = _difference(engine, ids, alone, limits, wanted, response(events))
                kept = run_stats(events).kept
                pairs.append(Pair(index, prompt.kind, temperature, size, len(wanted), kept, difference))
                progress(len(pairs), total, f"{prompt.kind}, block {size}, temperature {temperature:g}")
    return pairs


def rows(pairs: Iterable[Pair]) -> list[Row]:
    """A row for every block size and temperature, in the order of the run."""
    groups: dict[tuple[int, float], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault((pair.block_size, pair.temperature), []).append(pair)
    return [_row(*key, group) for key, group in groups.items()]


def _row(size: int, temperature: float, pairs: Sequence[Pair]) -> Row:
    found = [pair.difference for pair in pairs if pair.difference]
    near = sum(difference.near_tie for difference in found)
    kept = [tokens for pair in pairs for tokens in pair.kept]
    return Row(
        block_size=size,
        temperature=temperature,
        prompts=len(pairs),
        tokens=sum(pair.tokens for pair in pairs),
        same=len(pairs) - len(found),
        near_ties=near,
        different=len(found) - near,
        tokens_per_round=sum(kept) / len(kept) if kept else None,
    )


def _events(engine: Engine, ids: Sequence[int], settings: Settings, limits: Limits) -> list:
    return list(engine.generate(ids, settings, **limits.as_dict(), raw=True))


def _difference(
    engine: Engine, ids: Sequence[int], settings: AutoregressiveSettings, limits: Limits,
    wanted: Sequence[ResponseToken], got: Sequence[ResponseToken],
) -> Difference | None:  # fmt: skip
    at = first_difference(wanted, got)
    if at is None:
        return None
    one, other = (text[at] if at < len(text) else None for text in (wanted, got))
    margin = None
    if one and other:
        common = [token.token_id for token in wanted[:at]]
        margin = _margin(engine, ids, settings, limits, common, (one.token_id, other.token_id))
    return Difference(at, one, other, margin)


def _margin(engine, ids, settings, limits: Limits, common: Sequence[int], tokens: tuple[int, int]) -> float | None:
    """How far the causal pass behind the common text is from taking the one token for the other."""
    request = engine.request(tuple(ids), settings.in_force(engine.usual(settings.mode)), limits, top=False)
    logits = adjust(_logits(engine.model, ids, common), request.adjustments, request.prompt, common)[0]
    if request.temperature == 0:
        margin = logit_margin(logits, tokens)
    else:
        u = uniform(request.seed, len(ids) + len(common), 0)
        margin = draw_margin(logits, request.temperature, u, tokens)
    return margin if margin < float("inf") else None


def _logits(model, ids: Sequence[int], common: Sequence[int]) -> torch.Tensor:
    """[1, V] of the causal pass over prompt and common text, with the mask token out."""
    cache = model.new_cache()
    logits = model.prefill(torch.tensor(ids, device=model.device), cache).logits
    if common:
        logits = model.causal(torch.tensor(common, device=model.device), cache, last_only=True).logits
    return logits
