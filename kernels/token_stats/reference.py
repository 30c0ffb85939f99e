from typing import NamedTuple

import torch


class TokenStats(NamedTuple):
    token: torch.Tensor  # [T] int64, the most probable token; ties: lowest id
    probability: torch.Tensor  # [T] fp32, its softmax probability
    entropy: torch.Tensor  # [T] fp32, of the softmax, in nats


def token_stats(logits: torch.Tensor, mask_token_id: int | None) -> TokenStats:
    """Top token, its probability and the entropy, all from an fp32 softmax with the mask token out. logits [T, V]"""
    logits = logits.float()
    if mask_token_id is not None:
        logits = logits.clone()
        logits[..., mask_token_id] = float("-inf")
    log_p = logits.log_softmax(-1)
    # torch.max leaves the choice among equals open; argmax over "is the maximum" takes the first.
    token = (logits == logits.amax(-1, keepdim=True)).int().argmax(-1)
    p = log_p.exp()
    entropy = -(p * log_p.masked_fill(p == 0, 0.0)).sum(-1)
    return TokenStats(token, p.gather(-1, token.unsqueeze(-1)).squeeze(-1), entropy)
