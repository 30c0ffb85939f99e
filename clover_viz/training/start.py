"""The weights a run begins from: the model's own, with two places set for training from nothing."""

import math

import torch

from clover_viz.training.plan import Plan

FASTEST, SLOWEST = 0.1, 0.001  # softplus(dt_bias) of a head's first decay, drawn log-uniformly between them


@torch.no_grad()
def begin(model, plan: Plan) -> None:
    """Draw a model's first weights anew from the global generator.

    Embeddings enter a residual stream to which the first layers soon add vectors of rms above 1: much smaller ones are
    lost below those, and copying forms late. Decays begin slow (Mamba-2's range of dt): with dt_bias = 1 most heads
    forget a token within the next, and their states learn to hold nothing.
    """
    torch.nn.init.normal_(model.model.embed_tokens.weight, std=plan.embedding_std)
    for layer in model.model.layers:
        if not layer.is_attention:
            bias = layer.linear_attn.dt_bias
            dt = torch.empty_like(bias).uniform_(math.log(SLOWEST), math.log(FASTEST)).exp()
            bias.copy_(dt + torch.log(-torch.expm1(-dt)))  # the inverse of softplus
