"""The gated delta rule: a pass, its advance, and a text in chunks, each against the reference."""

import pytest
import torch
from clover_kernels.gated_delta import reference
from triton_helpers import CLOSE, DTYPES, interpreted, poisoned, random, strided  # noqa: F401

kernel = interpreted("gated_delta")


def case(length, key_heads=2, heads=4, dk=12, dv=10, dtype=torch.float32):
    g = torch.Generator().manual_seed(length)
    q, k = (random(length, key_heads, dk, seed=i, dtype=dtype) for i in (0, 1))
    v, state = random(length, heads, dv, seed=2, dtype=dtype), random(heads, dk, dv, seed=3)
    decay = -torch.rand(length, heads, generator=g)
    return q, k, v, decay, torch.rand(length, heads, generator=g).to(dtype), state


def compare_pass(*given):
    before = given[-1].clone()
    wanted, staged = reference.gated_delta(*given)
    found, update = kernel.gated_delta(*given)
    assert found.dtype == given[2].dtype and torch.equal(given[-1], before)
    torch.testing.assert_close(found, wanted, **CLOSE[found.dtype])
    for ours, theirs in zip(update, staged):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    return update


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", [1, 2, 3, 31])
def test_a_pass(length, dtype):
    q, k, v, *rest = case(length, dtype=DTYPES[dtype])
    compare_pass(strided(q), strided(k), strided(v), *rest)


def test_as_the_model_cuts_it():
    """q, k and v side by side in the rows of one projection; one value head for each key head; a block."""
    rows = random(32, 2 * 2 * 8 + 2 * 9)
    q, k, v = rows.split((16, 16, 18), dim=-1)
    q, k, v = q.unflatten(-1, (2, 8)), k.unflatten(-1, (2, 8)), v.unflatten(-1, (2, 9))
    compare_pass(q, k, v, *case(32, heads=2, dk=8, dv=9)[3:])


def test_repeated_keys_at_full_strength():
    """The system's hardest case: equal keys, no decay, beta near one."""
    q, k, v, g, beta, state = case(32, key_heads=1, heads=1)
    given = q, k[:1].expand_as(k), v, g * 0, beta * 0 + 0.999, state
    compare_pass(*given)
    found, states = kernel.gated_delta_prefill(*given)
    wanted, theirs = reference.gated_delta_prefill(*given)
    torch.testing.assert_close(found, wanted, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(states, theirs, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("length", [1, 3, 33])
def test_every_advance(length):
    """n = 0 to T, from the kernel's own update and from the reference's, whose heads and tokens lie otherwise."""
    given = case(length)
    update, staged = kernel.gated_delta(*given)[1], reference.gated_delta(*given)[1]
    for n in sorted({0, 1, 2, 3, 16, 17, 31, 32, 33} & {*range(length + 1)}):
        wanted = reference.gated_delta_advance(given[-1], staged, n)
        for found in (kernel.gated_delta_advance(given[-1], u, n) for u in (update, staged)):
            torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)


def test_two_rejection_histories_leave_one_state():
    """What was staged behind the accepted tokens leaves no trace in them."""
    q, k, v, g, beta, state = case(9)
    first = kernel.gated_delta(q, k, v, g, beta, state)[1]
    k, v = k.clone(), v.clone()
    k[4:], v[4:] = k[4:].flip(0), -v[4:]
    second = kernel.gated_delta(q, k, v, g, beta, state)[1]
    assert torch.equal(kernel.gated_delta_advance(state, first, 4), kernel.gated_delta_advance(state, second, 4))
    assert kernel.gated_delta_advance(state, first, 0) is state


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length, chunk", [(1, 32), (31, 8), (32, 32), (33, 32), (70, 32)])
def test_a_text_in_chunks(length, chunk, dtype):
    q, k, v, *rest = case(length, dtype=DTYPES[dtype])
    wanted, states = reference.gated_delta_prefill(q, k, v, *rest, chunk)
    found, ours = kernel.gated_delta_prefill(strided(q), strided(k), strided(v), *rest, chunk)
    torch.testing.assert_close(found, wanted, **CLOSE[found.dtype])
    torch.testing.assert_close(ours, states, atol=2e-5, rtol=2e-5)


@pytest.mark.parametrize("dk", [2 * kernel.DEPTH, 4 * kernel.DEPTH - 3])
def test_a_state_in_slices(dk):
    """Keys over two and four slices of the state, values over three programs."""
    given = case(40, key_heads=1, heads=2, dk=dk, dv=2 * kernel.SCAN_VALUES + 1)
    wanted, states = reference.gated_delta_prefill(*given)
    found, ours = kernel.gated_delta_prefill(*given)
    torch.testing.assert_close(found, wanted, **CLOSE[found.dtype])
    torch.testing.assert_close(ours, states, atol=2e-5, rtol=2e-5)


def test_batches_and_gradients_come_from_the_reference():
    given = case(3)
    batch = tuple(torch.stack((x, x)) for x in given)
    for name in ("gated_delta", "gated_delta_prefill"):
        found, wanted = getattr(kernel, name)(*batch), getattr(reference, name)(*batch)
        assert torch.equal(found[0], wanted[0])
    given[1].requires_grad_()
    out, update = kernel.gated_delta(*given)
    (out.sum() + kernel.gated_delta_advance(given[-1], update, 2).sum()).backward()
    assert torch.isfinite(given[1].grad).all()
