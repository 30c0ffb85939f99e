"""The grouped expert MLP against one token and one expert at a time."""

import pytest
import torch
import torch.nn.functional as F
from clover_kernels.moe_experts.reference import moe_experts


def one_by_one(x, experts, weights, gate_up, down):
    out = torch.zeros_like(x)
    for t, (chosen, shares) in enumerate(zip(experts, weights)):
        for e, share in zip(chosen, shares):
            gate, up = (gate_up[e] @ x[t]).chunk(2)
            out[t] += share * (down[e] @ (F.silu(gate) * up))
    return out


CASES = {
    "spread": lambda n, k, e, g: torch.stack([torch.randperm(e, generator=g)[:k] for _ in range(n)]),
    "all to one": lambda n, k, e, g: torch.arange(k).expand(n, k).contiguous(),
    "one token": lambda n, k, e, g: torch.randperm(e, generator=g)[:k][None],
}


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("top_k", [1, 3, 7])
def test_equals_one_by_one(kind, top_k):
    g = torch.Generator().manual_seed(top_k)
    number, width, inner = 7, 10, 6
    experts = CASES[kind](9, top_k, number, g)
    x = torch.randn(len(experts), width, generator=g)
    weights = torch.rand(experts.shape, generator=g)
    gate_up, down = torch.randn(number, 2 * inner, width, generator=g), torch.randn(number, width, inner, generator=g)
    got = moe_experts(x, experts, weights, gate_up, down)
    torch.testing.assert_close(got, one_by_one(x, experts, weights, gate_up, down), atol=1e-5, rtol=1e-5)


def test_a_weight_of_zero_adds_nothing():
    g = torch.Generator().manual_seed(0)
    gate_up, down = torch.randn(4, 4, 3, generator=g), torch.randn(4, 3, 2, generator=g)
    x, weights = torch.randn(2, 3, generator=g), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    first = moe_experts(x, torch.tensor([[0, 1], [2, 3]]), weights, gate_up, down)
    second = moe_experts(x, torch.tensor([[0, 2], [1, 3]]), weights, gate_up, down)
    torch.testing.assert_close(first, second)
