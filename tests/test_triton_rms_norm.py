"""The norms: the kernel against the reference."""

import pytest
import torch
from clover_kernels.rms_norm import reference
from triton_helpers import CLOSE, DTYPES, interpreted, poisoned, random, strided  # noqa: F401

kernel = interpreted("rms_norm")
SHAPES = [(1, 1), (1, 2048), (3, 48), (2, 5, 12), (33, 100), (2, 3000)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_norm_of_a_layer(shape, dtype):
    x, weight = random(*shape, dtype=DTYPES[dtype], scale=3.0), random(shape[-1], seed=1, dtype=DTYPES[dtype])
    wanted = reference.rms_norm(x, weight, 1e-6)
    for given in (x, strided(x)):
        found = kernel.rms_norm(given, weight, 1e-6)
        assert found.is_contiguous()
        torch.testing.assert_close(found, wanted, **CLOSE[x.dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_gated_norm(shape, dtype):
    x, z = random(*shape, dtype=DTYPES[dtype]), random(*shape, seed=1, dtype=DTYPES[dtype], scale=3.0)
    weight = random(shape[-1], seed=2, dtype=DTYPES[dtype])
    wanted = reference.gated_rms_norm(x, z, weight, 1e-6)
    torch.testing.assert_close(kernel.gated_rms_norm(x, strided(z), weight, 1e-6), wanted, **CLOSE[x.dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_norm_of_a_sum(shape, dtype):
    x, y = random(*shape, dtype=DTYPES[dtype], scale=3.0), random(*shape, seed=1, dtype=DTYPES[dtype])
    weight = random(shape[-1], seed=2, dtype=DTYPES[dtype])
    wanted = reference.add_rms_norm(x, y, weight, 1e-6)
    for given in ((x, y), (strided(x), y), (x, strided(y))):
        total, normed = kernel.add_rms_norm(*given, weight, 1e-6)
        assert total.is_contiguous() and normed.is_contiguous() and total.dtype == normed.dtype == x.dtype
        torch.testing.assert_close(total, wanted[0], **CLOSE[x.dtype])
        torch.testing.assert_close(normed, kernel.rms_norm(total, weight, 1e-6), rtol=0, atol=0)
        torch.testing.assert_close(normed, wanted[1], **CLOSE[x.dtype])


def test_heads_as_attention_cuts_them():
    """Per head the query, then its gate: rows of D in rows of 2 D. And a mixer's output with heads before tokens."""
    q, _ = random(5, 3, 32).chunk(2, dim=-1)
    weight = random(16, seed=1)
    torch.testing.assert_close(kernel.rms_norm(q, weight, 1e-6), reference.rms_norm(q, weight, 1e-6))
    o, z = random(3, 5, 16).transpose(0, 1), random(5, 3, 16, seed=2)
    torch.testing.assert_close(
        kernel.gated_rms_norm(o, z, weight, 1e-6), reference.gated_rms_norm(o, z, weight, 1e-6)
    )  # fmt: skip


def test_the_dtype_is_that_of_the_input():
    x, z, weight = random(2, 8), random(2, 8, dtype=torch.bfloat16), torch.ones(8)
    assert kernel.rms_norm(z, weight, 1e-6).dtype == torch.bfloat16
    assert kernel.gated_rms_norm(x, z, weight, 1e-6).dtype == torch.bfloat16
    assert kernel.rms_norm(torch.zeros(2, 8), weight, 1e-6).eq(0).all()


def test_a_gradient_comes_from_the_reference():
    x, weight = random(2, 8).requires_grad_(), torch.ones(8, requires_grad=True)
    both = kernel.rms_norm(x, weight, 1e-6) + kernel.gated_rms_norm(x, x, weight, 1e-6)
    sum(part.sum() for part in (both, *kernel.add_rms_norm(x, x, weight, 1e-6))).backward()
    assert torch.isfinite(x.grad).all() and torch.isfinite(weight.grad).all()
