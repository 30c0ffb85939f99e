"""What single passes cost, against transformers' and against one decode step."""

from collections.abc import Sequence
from statistics import median
from time import perf_counter

import torch

from clover_viz.bench.report import Row
from clover_viz.bench.timing import Side, ratio, take_turns
from clover_viz.decoding.passes import Request, choose
from clover_viz.decoding.rules import Adjustments

CONTEXT, WIDTH, NARROW = 512, 32, (4, 8, 16)  # tokens
VERIFIED = (16, WIDTH)  # widths of the rounds that are measured
ROUNDS = 31


def measure(model, peer, text: Sequence[int], rounds: int = ROUNDS, clock=perf_counter) -> dict[str, list[float]]:
    """Seconds of the passes behind the first tokens of `text`, which is longer than a context by WIDTH.

    Ours: `preview N`, `causal N` (with its advance: transformers' pass writes the cache as well) and `decode` (a causal
    pass of one token); of a round also `read N` (a causal pass without its advance), `verify N` (the same with the
    checks of N - 1 drafts) and `advance N` (by half of them). Theirs: `transformers N`. Every pass starts from the same
    cache of len(text) - WIDTH tokens.
    """
    ids = torch.tensor(text)
    prompt, block = ids[:-WIDTH], ids[-WIDTH:]
    cache, their_cache = model.new_cache(), peer.prefilled(prompt)
    model.prefill(prompt, cache)
    top_p = model.config.moe_block_coreset_top_p if model.config.moe_block_coreset_enabled else None
    masked = torch.arange(WIDTH) % 2 == 0  # a block half done

    def preview(n):
        return Side(lambda _: model.preview(block[:n], masked[:n], cache, top_p))

    def causal(n):
        def run(copy):
            copy.advance(model.causal(block[:n], copy).staged, n)

        return Side(run, cache.fork)

    def read(n):
        return Side(lambda _: model.causal(block[:n], cache))

    def verify(n):
        request, drafts = _greedy(model, prompt.tolist()), block[1:n].tolist()
        positions = range(len(prompt) + 1, len(prompt) + 1 + n)

        def run(_):
            out = model.causal(block[:n], cache)
            choose(model.kernels.token_stats, out.logits, request, (), positions, 0, out.routing, drafts)

        return Side(run)

    def advance(n):
        def prepare():
            copy = cache.fork()
            return copy, model.causal(block[:n], copy).staged

        return Side(lambda given: given[0].advance(given[1], 1 + n // 2), prepare)

    def theirs(n):
        return Side(lambda copy: peer.causal(block[:n], copy), lambda: peer.copy(their_cache))

    sides = {"decode": causal(1), f"causal {WIDTH}": causal(WIDTH), f"transformers {WIDTH}": theirs(WIDTH)}
    sides |= {f"preview {WIDTH}": preview(WIDTH), "transformers 1": theirs(1)}
    for n in NARROW:
        sides |= {f"causal {n}": causal(n), f"preview {n}": preview(n)}
    for n in VERIFIED:
        sides |= {f"read {n}": read(n), f"verify {n}": verify(n), f"advance {n}": advance(n)}
    return take_turns(sides, rounds, clock, warmup=2)


def _greedy(model, prompt: Sequence[int]) -> Request:
    """A run without temperature and adjustments, as far as its choices need to know it."""
    config = model.config
    return Request(
        prompt=tuple(prompt), max_new_tokens=WIDTH, context=config.max_position_embeddings, end_ids=frozenset(),
        mask_token_id=config.mask_token_id, seed=0, temperature=0.0, adjustments=Adjustments(), printable=str,
    )  # fmt: skip


def rows(seconds: dict[str, list[float]]) -> list[Row]:
    """The ratios of `measure`."""
    wide, decode = f"causal {WIDTH}", "decode"
    found = [
        Row(f"causal pass of {WIDTH} / transformers'", ratio(seconds[wide], seconds[f"transformers {WIDTH}"]), 0.8),
        Row(f"preview of {WIDTH} / decode step", ratio(seconds[f"preview {WIDTH}"], seconds[decode]), 2.5),
        Row(f"causal pass of {WIDTH} / decode step", ratio(seconds[wide], seconds[decode]), 3.0),
        Row("decode step / transformers'", ratio(seconds[decode], seconds["transformers 1"])),
    ]
    for kind, name in (("preview", "preview"), ("causal", "causal pass")):
        found += [Row(f"{name} of {n} / decode step", ratio(seconds[f"{kind} {n}"], seconds[decode])) for n in NARROW]
    for n in VERIFIED:
        verify = seconds[f"verify {n}"]
        name = f"verify of {n} / causal pass of {n} without advance"
        found.append(Row(name, ratio(verify, seconds[f"read {n}"]), 1.1))
        found.append(Row(f"advance by {1 + n // 2} / verify of {n}", ratio(seconds[f"advance {n}"], verify), 0.1))
    return found


def milliseconds(seconds: dict[str, list[float]]) -> dict[str, float]:
    """Median of each pass."""
    return {name: round(1000 * median(values), 3) for name, values in seconds.items()}
