"""How near a choice was to another one."""

from collections.abc import Collection

import torch


def logit_margin(logits: torch.Tensor, tokens: Collection[int]) -> float:
    """Of greedy choice: how far the last of `tokens` is behind the best token. logits [V]; with the two best tokens it
    is the difference of their logits, and inf with a token at -inf."""
    return (logits.max() - logits[list(tokens)].min()).item()


def draw_margin(logits: torch.Tensor, temperature: float, u: float, tokens: Collection[int]) -> float:
    """Of a draw by inverse CDF: how far `u` in [0, 1) would have to move for any of `tokens` to be drawn, in the worst
    case. logits [V]; sums in fp64, as the draw's own are. Between two neighbours it is the distance of u from the edge
    between them."""
    cdf = ((logits - logits.max()).double() / temperature).exp().cumsum(0)
    cdf = torch.cat([cdf.new_zeros(1), cdf]) / cdf[-1]  # token i is drawn for u in [cdf[i], cdf[i + 1])
    return max(max(cdf[token].item() - u, u - cdf[token + 1].item(), 0.0) for token in tokens)
