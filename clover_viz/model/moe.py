"""The mixture of experts of one layer: router, coreset, routed experts, and the gated shared expert."""

import torch
import torch.nn.functional as F
from torch import nn


class Gate(nn.Module):
    """The router's weight [E, C]."""

    def __init__(self, experts: int, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(experts, width))


class Experts(nn.Module):
    """The routed experts' weights, stacked: gate rows first in gate_up_proj."""

    def __init__(self, experts: int, width: int, inner: int):
        super().__init__()
        self.gate_up_proj = nn.Parameter(torch.empty(experts, 2 * inner, width))
        self.down_proj = nn.Parameter(torch.empty(experts, width, inner))


class SharedExpert(nn.Module):
    def __init__(self, width: int, inner: int):
        super().__init__()
        self.gate_proj = nn.Linear(width, inner, bias=False)
        self.up_proj = nn.Linear(width, inner, bias=False)
        self.down_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x: torch.Tensor, swiglu) -> torch.Tensor:
        return self.down_proj(swiglu(self.gate_proj(x), self.up_proj(x)))


class MixtureOfExperts(nn.Module):
    def __init__(self, config, kernels):
        super().__init__()
        self.top_k, self.kernels = config.num_experts_per_tok, kernels
        width = config.hidden_size
        self.gate = Gate(config.num_experts, width)
        self.experts = Experts(config.num_experts, width, config.moe_intermediate_size)
        self.shared_expert = SharedExpert(width, config.shared_expert_intermediate_size)
        self.shared_expert_gate = nn.Linear(width, 1, bias=False)

    def router_logits(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self.gate.weight)  # [..., T, E]

    def run(self, x: torch.Tensor, inner: torch.Tensor, routing) -> torch.Tensor:
        """inner [T, C] through the experts of a routing and the shared one, added to x [T, C]."""
        kernels, experts = self.kernels, self.experts
        routed = kernels.moe_experts(inner, routing.experts, routing.weights, experts.gate_up_proj, experts.down_proj)
        shared = self.shared_expert(inner, kernels.swiglu)
        return kernels.add_shared_expert(x, routed, inner, self.shared_expert_gate.weight, shared)

    def forward(self, x: torch.Tensor, inner: torch.Tensor, coreset_top_p: float | None = None):
        """x [T, C] of one sequence, and `inner`, the same normed -> [T, C] and its Routing. With `coreset_top_p`, x is
        one block."""
        logits = self.router_logits(inner)
        if coreset_top_p is None:
            routing = self.kernels.route(logits, self.top_k)
        else:
            routing = self.kernels.route_coreset(logits, self.top_k, coreset_top_p)
        return self.run(x, inner, routing), routing
