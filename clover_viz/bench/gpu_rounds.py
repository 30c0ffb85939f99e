"""Rounds of self-speculation as graphs, against the same ones run as they are: all they hand out and leave behind."""

from typing import Any

import torch

from clover_viz.bench.gpu_difference import difference, part
from clover_viz.model.static_cache import StaticAttention

ACCEPTED = 7  # tokens a round keeps: neither none nor all, and more than the ring holds


def compare(bench, top_p: float) -> list[dict[str, Any]]:
    """Two rounds from one cache, each a verify, an advance by ACCEPTED tokens and a preview. The text ends with a
    bucket, so that the second round, and the preview before it, look at the next one.

    Of each: the `position` it should end at, how far `off` the ways end from it, and the ways' largest difference: of
    `logits` as it is, of `states` and `rings` as a part of the largest value.
    """
    bench.refill()
    text = [tensor.clone() for tensor in _held(bench)]
    ways = {}
    for way in ("eager", "graph"):
        bench.cache.length = bench.context
        for tensor, before in zip(_held(bench), text, strict=True):
            tensor.copy_(before)
        bench.take(way)
        # told as a number, and then on the device, as who does not want to wait for it would
        ways[way] = [_round(bench, top_p, n) for n in (ACCEPTED, torch.tensor(ACCEPTED, device=bench.device))]
    found = []
    for number, (eager, graph) in enumerate(zip(*ways.values(), strict=True), start=1):
        position = bench.context + number * ACCEPTED
        found.append({
            "position": position,
            "off": max(abs(one["position"] - position) for one in (eager, graph)),
            "logits": max(difference(eager[name], graph[name]) for name in ("verified", "previewed")),
            "states": part(eager["states"], graph["states"]),
            "rings": part(eager["rings"], graph["rings"]),
        })  # fmt: skip
    return found


@torch.inference_mode()
def _round(bench, top_p: float, n: int | torch.Tensor) -> dict[str, Any]:
    """What a round hands out and leaves behind: copies, as the next passes write over it, and not on the card, whose
    peak memory is measured."""
    out = bench.verify()
    verified = bench.numbers(out).cpu()
    bench.cache.advance(out.staged, n)
    previewed = bench.numbers(bench.preview(top_p)).cpu()
    held = {name: getattr(bench.cache, name).to("cpu", copy=True) for name in ("states", "rings")}
    return {"verified": verified, "previewed": previewed, "position": int(bench.cache.position), **held}


def _held(bench) -> list[torch.Tensor]:
    """What the cache holds of the text, where it lies."""
    cache, rows = bench.cache, slice(0, bench.context)
    of_attention = [layer for layer in cache.layers if isinstance(layer, StaticAttention)]
    return [cache.states, cache.rings, *(t[:, rows] for layer in of_attention for t in (layer.k, layer.v))]
