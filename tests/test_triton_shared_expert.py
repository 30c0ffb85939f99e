"""What stands around the shared expert's products: the kernels against the reference, pinned to plain numbers.

The reference in fp64: it rounds bf16 on the way, the kernels only what they hand out.
"""

import pytest
import torch
from clover_kernels.shared_expert import reference
from triton_helpers import CLOSE, DTYPES, interpreted, poisoned, random, strided  # noqa: F401

kernel = interpreted("shared_expert")
SHAPES = [(1, 1), (1, 20), (5, 33), (2, 3, 12), (3, 1500)]


def test_the_reference_by_hand():
    assert reference.swiglu(torch.tensor([0.0, 2.0]), torch.tensor([5.0, 3.0])).tolist() == pytest.approx([0.0, 5.284782])
    x, routed, inner, shared = (torch.tensor([[1.0, 2.0]]) * n for n in (1, 10, 1, 100))
    found = reference.add_shared_expert(x, routed, inner, torch.tensor([[2.0, -1.0]]), shared)
    assert found.tolist() == [pytest.approx([61.0, 122.0])]  # the gate's logit is 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_swiglu(shape, dtype):
    gate, up = random(*shape, dtype=DTYPES[dtype], scale=3.0), random(*shape, seed=1, dtype=DTYPES[dtype])
    wanted = reference.swiglu(gate.double(), up.double()).to(gate.dtype)
    for given in (gate, strided(gate)):
        found = kernel.swiglu(given, up)
        assert found.dtype == gate.dtype
        torch.testing.assert_close(found, wanted, **CLOSE[gate.dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_end_of_a_layer(shape, dtype):
    given = [random(*shape, seed=seed, dtype=DTYPES[dtype]) for seed in range(4)]
    weight = random(1, shape[-1], seed=5, dtype=DTYPES[dtype], scale=shape[-1] ** -0.5)
    x, routed, inner, shared = given
    wanted = reference.add_shared_expert(*(y.double() for y in (x, routed, inner, weight, shared))).to(x.dtype)
    for x, routed, inner, shared in (given, [strided(y) for y in given]):
        found = kernel.add_shared_expert(x, routed, inner, weight, shared)
        assert found.dtype == x.dtype and found.is_contiguous()
        torch.testing.assert_close(found, wanted, **CLOSE[x.dtype])


def test_a_gate_that_is_shut_or_open():
    x, routed, shared = random(2, 8), random(2, 8, seed=1), random(2, 8, seed=2)
    for logit, wanted in ((-200.0, x + routed), (200.0, x + routed + shared)):
        inner, weight = torch.full((2, 8), logit), torch.full((1, 8), 1.0)
        torch.testing.assert_close(kernel.add_shared_expert(x, routed, inner, weight, shared), wanted)


def test_a_gradient_comes_from_the_reference():
    given = [random(2, 8, seed=seed).requires_grad_() for seed in range(4)]
    weight = random(1, 8, seed=5).requires_grad_()
    x, routed, inner, shared = given
    kernel.add_shared_expert(x, routed, inner, weight, kernel.swiglu(shared, inner)).sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in (*given, weight))
