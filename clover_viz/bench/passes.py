"""What single passes cost, against transformers' and against one decode step."""

from collections.abc import Sequence
from statistics import median
from time import perf_counter

import torch

from clover_viz.bench.report import Row
from clover_viz.bench.timing import Side, ratio, take_turns

CONTEXT, WIDTH, NARROW = 512, 32, (4, 8, 16)  # tokens
ROUNDS = 31


def measure(model, peer, text: Sequence[int], rounds: int = ROUNDS, clock=perf_counter) -> dict[str, list[float]]:
    """Seconds of the passes behind the first tokens of `text`, which is longer than a context by WIDTH.

    Ours: `preview N`, `causal N` (with its advance: transformers' pass writes the cache as well) and `decode` (a causal
    pass of one token). Theirs: `transformers N`. Every pass starts from the same cache of len(text) - WIDTH tokens.
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

    def theirs(n):
        return Side(lambda copy: peer.causal(block[:n], copy), lambda: peer.copy(their_cache))

    sides = {"decode": causal(1), f"causal {WIDTH}": causal(WIDTH), f"transformers {WIDTH}": theirs(WIDTH)}
    sides |= {f"preview {WIDTH}": preview(WIDTH), "transformers 1": theirs(1)}
    for n in NARROW:
        sides |= {f"causal {n}": causal(n), f"preview {n}": preview(n)}
    return take_turns(sides, rounds, clock, warmup=2)


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
    return found


def milliseconds(seconds: dict[str, list[float]]) -> dict[str, float]:
    """Median of each pass."""
    return {name: round(1000 * median(values), 3) for name, values in seconds.items()}
