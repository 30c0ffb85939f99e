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
    token = logits.argmax(-1, keepdim=True)  # among equals argmax promises the first
    log_p = logits.log_softmax(-1)
    p = log_p.exp()
    # p is 0 below -104: any finite number there keeps 0 * -inf out of the sum.
    entropy = -(p * log_p.clamp(min=-200.0)).sum(-1)
    return TokenStats(token.squeeze(-1), p.gather(-1, token).squeeze(-1), entropy)
