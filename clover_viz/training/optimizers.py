"""Muon for the dense matrices, AdamW for everything else."""

import torch

from clover_viz.training.muon import Muon
from clover_viz.training.plan import Plan


def optimizers(model, plan: Plan) -> list[torch.optim.Optimizer]:
    """Embeddings, head, router and the stacked experts are AdamW's: their rows are seen by few tokens each.

    Muon's updates are scaled to AdamW's size, so one learning rate serves both, up to `plan.dense_rate`.
    """
    dense, decayed, plain, embedding = [], [], [], []
    for name, p in model.named_parameters():
        if "embed_tokens" in name:
            embedding.append(p)
        elif p.ndim == 2 and "_proj" in name and "in_proj_a" not in name and "in_proj_b" not in name:
            dense.append(p)
        elif p.ndim >= 2 and "conv" not in name:
            decayed.append(p)
        else:
            plain.append(p)
    groups = [
        {"params": decayed, "weight_decay": plan.weight_decay},
        {"params": plain, "weight_decay": 0.0},
        {"params": embedding, "weight_decay": 0.0},
    ]
    adam = torch.optim.AdamW(groups, lr=plan.rate, betas=(0.9, 0.95), eps=1e-10, fused=True)
    muon = Muon(dense, lr=plan.rate, weight_decay=plan.weight_decay)
    return [adam, muon]


def set_rate(optimizers: list[torch.optim.Optimizer], plan: Plan, step: int) -> None:
    adam, muon = optimizers
    for group in adam.param_groups:
        group["lr"] = plan.rate_at(step)
    adam.param_groups[-1]["lr"] *= plan.embedding_rate
    for group in muon.param_groups:
        group["lr"] = plan.rate_at(step) * plan.dense_rate
