"""The gates of the delta rule: the kernel against the reference, which is pinned to plain numbers."""

import math

import pytest
import torch
from clover_kernels.delta_gates import reference
from triton_helpers import CLOSE, DTYPES, interpreted, poisoned, random, strided  # noqa: F401

kernel = interpreted("delta_gates")


def parts(heads, width, dtype=torch.float32):
    a_weight, b_weight = (random(heads, width, seed=seed, dtype=dtype, scale=width**-0.5) for seed in (1, 2))
    return a_weight, b_weight, random(heads, seed=3, dtype=dtype), random(heads, seed=4, dtype=dtype, scale=3.0)


def test_the_reference_by_hand():
    x, one = torch.tensor([[2.0, -1.0]]), torch.eye(2)
    g, beta = reference.delta_gates(x, one, one, torch.tensor([0.0, math.log(3.0)]), torch.tensor([0.5, 0.0]))
    assert g.tolist() == [pytest.approx([-math.log1p(math.exp(2.5)), -3 * math.log1p(math.exp(-1.0))], rel=1e-6)]
    assert beta.tolist() == [pytest.approx([1 / (1 + math.exp(-2.0)), 1 / (1 + math.exp(1.0))], rel=1e-6)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape, heads", [((1, 1), 1), ((1, 20), 3), ((4, 16), 2), ((7, 33), 5), ((2, 3, 12), 4)])
def test_equals_the_reference(shape, heads, dtype):
    """In fp64: the reference rounds bf16 products, the kernel only what it hands out."""
    x, given = random(*shape, dtype=DTYPES[dtype]), parts(heads, shape[-1], DTYPES[dtype])
    wanted = reference.delta_gates(x.double(), *(p.double() for p in given))
    for rows in (x, strided(x)):
        g, beta = kernel.delta_gates(rows, *given)
        assert g.dtype == torch.float32 and beta.dtype == x.dtype and g.shape == beta.shape == (*shape[:-1], heads)
        torch.testing.assert_close(g, wanted[0], **CLOSE[torch.float32])
        torch.testing.assert_close(beta, wanted[1].to(x.dtype), **CLOSE[x.dtype])


def test_what_is_far_from_0_on_either_side():
    """softplus is x past 20, and exp(x) where 1 + exp(x) is 1: no overflow, and no log of what was lost."""
    a = torch.tensor([-90.0, -40.0, -17.5, -5.0, 0.0, 5.0, 19.9, 20.1, 88.0, 300.0]).unsqueeze(-1)
    given = torch.ones(1, 1), torch.ones(1, 1), torch.zeros(1), torch.zeros(1)
    g, beta = kernel.delta_gates(a, *given)
    exact = torch.nn.functional.softplus(a.double(), threshold=800)
    assert torch.isfinite(g).all() and torch.isfinite(beta).all()
    torch.testing.assert_close(-g.double(), exact, rtol=1e-6, atol=1e-37)
    torch.testing.assert_close(g, reference.delta_gates(a, *given)[0], rtol=1e-6, atol=1e-37)


def test_a_gradient_comes_from_the_reference():
    x, given = random(2, 8).requires_grad_(), [p.requires_grad_() for p in parts(2, 8)]
    sum(part.sum() for part in kernel.delta_gates(x, *given)).backward()
    assert all(torch.isfinite(p.grad).all() for p in (x, *given))
