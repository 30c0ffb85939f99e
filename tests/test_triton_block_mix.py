"""In-block mixing: the kernel against the reference."""

import pytest
import torch
from clover_kernels.block_mix import reference
from triton_helpers import CLOSE, DTYPES, interpreted, poisoned, random, strided  # noqa: F401

kernel = interpreted("block_mix")


def case(slots, key_heads=2, heads=4, dk=12, dv=10, dtype=torch.float32):
    q, k = (random(slots, key_heads, dk, seed=i, dtype=dtype) for i in (0, 1))
    v, state = random(slots, heads, dv, seed=2, dtype=dtype), random(heads, dk, dv, seed=3)
    scale, bias, c = random(heads, seed=4) + 3, random(heads, seed=5) + 2, random(heads, seed=6)
    return q, k, v, state, scale.to(dtype), bias.to(dtype), c.to(dtype)


def compare(*given, **close):
    found = kernel.block_mix(*given)
    assert found.dtype == given[2].dtype and found.is_contiguous()
    torch.testing.assert_close(found, reference.block_mix(*given), **close or CLOSE[found.dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("slots", [1, 2, 3, 8, 31, 32, 33])
def test_equals_the_reference(slots, dtype):
    q, k, v, *rest = case(slots, dtype=DTYPES[dtype])
    compare(strided(q), strided(k), strided(v), *rest)


def test_as_the_model_cuts_it():
    """q, k and v side by side in the rows of one projection; one value head for each key head; deeper than one step."""
    rows = random(5, 2 * 2 * 40 + 2 * 17)
    q, k, v = rows.split((80, 80, 34), dim=-1)
    q, k, v = q.unflatten(-1, (2, 40)), k.unflatten(-1, (2, 40)), v.unflatten(-1, (2, 17))
    compare(q, k, v, *case(5, heads=2, dk=40, dv=17)[3:])


def test_the_history_alone_and_the_block_alone():
    q, k, v, state, scale, bias, c = case(4)
    compare(q, k, v, state, scale, bias + 1000.0, c)
    compare(q, k, v, state, scale, bias - 1000.0, c * 0)
    compare(q * 0, k, v, state * 0, scale, bias, c)


def test_the_state_is_left_as_it_was():
    given = case(8)
    before = given[3].clone()
    kernel.block_mix(*given)
    assert torch.equal(given[3], before)


def test_batches_long_blocks_and_gradients_come_from_the_reference():
    q, k, v, state, *controls = case(6)
    valid = torch.tensor([[True] * 4 + [False] * 2])
    batch = (q[None], k[None], v[None], state[None], *controls)
    assert torch.equal(kernel.block_mix(*batch, valid), reference.block_mix(*batch, valid))
    long = case(kernel.SLOTS + 1)
    assert torch.equal(kernel.block_mix(*long), reference.block_mix(*long))
    controls[0].requires_grad_()
    kernel.block_mix(q, k, v, state, *controls).sum().backward()
    assert torch.isfinite(controls[0].grad).all()
