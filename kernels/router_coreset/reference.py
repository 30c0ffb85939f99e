from typing import NamedTuple

import torch


class Routing(NamedTuple):
    experts: torch.Tensor  # [..., T, K] int64, most probable first
    weights: torch.Tensor  # [..., T, K] fp32, sum to 1 over the allowed ones; 0 where fewer than K are allowed
    touched: torch.Tensor  # [...] int64, distinct experts among the slots' own choices
    kept: torch.Tensor  # [...] int64, experts allowed (= touched without a coreset)
    rerouted: torch.Tensor  # [...] fp32, mean number of a slot's own K choices that were not allowed


def _largest(p: torch.Tensor, top_k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The K largest and where they stand, [..., T, K] each; equal ones in the order of their experts, which `topk` does
    not promise (and router logits in bf16 are often equal)."""
    ranked, order = p.sort(dim=-1, descending=True, stable=True)
    return ranked[..., :top_k], order[..., :top_k]


def _own_choices(logits: torch.Tensor, top_k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The K largest softmax probabilities (fp32, not renormalised) and their experts. [..., T, K] each"""
    return _largest(logits.float().softmax(-1), top_k)


def _chosen(experts: torch.Tensor, number: int) -> torch.Tensor:
    """Was an expert chosen by any slot? [..., T, K] -> bool [..., E]"""
    flat = experts.flatten(-2)
    return torch.zeros(*flat.shape[:-1], number, dtype=torch.bool, device=flat.device).scatter(-1, flat, True)


def route(logits: torch.Tensor, top_k: int) -> Routing:
    """Softmax over all experts in fp32, the K best, renormalised. logits [..., T, E]"""
    p, experts = _own_choices(logits, top_k)
    if logits.shape[-2] == 1:  # the choices of one token are distinct
        touched = experts.new_full(experts.shape[:-2], top_k)
    else:
        touched = _chosen(experts, logits.shape[-1]).sum(-1)
    none = torch.zeros_like(touched, dtype=torch.float32)
    return Routing(experts, p / p.sum(-1, keepdim=True), touched, touched, none)


def coreset(p: torch.Tensor, experts: torch.Tensor, number: int, top_p: float | torch.Tensor) -> torch.Tensor:
    """The experts a block may use: bool [..., E].

    Sums each slot's K probabilities (as the softmax gave them) per expert, sorts descending (ties: lower index first)
    and keeps the smallest set whose share of the total reaches `top_p` (a number, or an fp32 tensor of one element): at
    least one expert, never one that no slot chose.
    """
    # A slot's experts are distinct: each probability has a place of its own, and the sum over the slots one order.
    # Added where they meet (scatter_add), a card would add them in another order every time, and decide otherwise.
    mass = torch.zeros(*p.shape[:-1], number, dtype=torch.float32, device=p.device).scatter_(-1, experts, p).sum(-2)
    ranked, order = mass.sort(dim=-1, descending=True, stable=True)
    reached = ranked.cumsum(-1)
    # An expert is needed while the ones before it fall short of the share.
    # A share of 1 needs them all: rounding could let the sum reach its total before the smallest are added.
    short = reached - ranked < top_p * reached[..., -1:]
    everything = top_p >= 1  # of a tensor another one, which is not asked
    if everything is not False:
        short = short | everything
    needed = short & (ranked > 0)
    needed[..., 0] = True
    return torch.zeros_like(needed).scatter(-1, order, needed)


def route_coreset(
    logits: torch.Tensor, top_k: int, top_p: float | torch.Tensor, valid: torch.Tensor | None = None
) -> Routing:
    """Route every slot inside the coreset of its block: its top min(K, kept) there, renormalised. logits [..., B, E]

    `top_p`: a number, or an fp32 tensor of one element, which is read where it lies.
    `valid` [..., B] (bool) leaves slots out of the block: shorter blocks in a batch.
    """
    number = logits.shape[-1]
    p, own = _own_choices(logits, top_k)
    with torch.no_grad():
        counted = torch.ones_like(p) if valid is None else valid.unsqueeze(-1).expand(p.shape).float()
        allowed = coreset(p if valid is None else p * counted, own, number, top_p)
        votes = torch.zeros(allowed.shape, device=p.device).scatter_add(-1, own.flatten(-2), counted.flatten(-2))
        lost = votes.masked_fill(allowed, 0.0).sum(-1)
        rerouted = lost / (p.shape[-2] if valid is None else valid.sum(-1))
    inside = logits.float().masked_fill(~allowed.unsqueeze(-2), float("-inf")).softmax(-1)
    p, experts = _largest(inside, top_k)
    return Routing(experts, p / p.sum(-1, keepdim=True), (votes > 0).sum(-1), allowed.sum(-1), rerouted)
