"""The gated delta rule against its four-line definition, token by token in fp64."""

import pytest
import torch
from clover_kernels.gated_delta.reference import (
    _UnitLowerSolve,
    gated_delta,
    gated_delta_advance,
    gated_delta_prefill,
)


def case(length, seed=0, key_heads=2, heads=4, dk=6, dv=5):
    g = torch.Generator().manual_seed(seed)
    q, k = (torch.randn(length, key_heads, dk, generator=g) for _ in range(2))
    v = torch.randn(length, heads, dv, generator=g)
    decay = -torch.rand(length, heads, generator=g)
    beta = torch.rand(length, heads, generator=g)
    return q, k, v, decay, beta, torch.randn(heads, dk, dv, generator=g)


def by_definition(q, k, v, g, beta, state):
    q, k, v, g, beta, state = (x.double() for x in (q, k, v, g, beta, state))
    group = v.shape[1] // q.shape[1]
    out, states = torch.zeros_like(v), [state.clone()]
    for t in range(len(v)):
        state = state.clone()
        for h in range(v.shape[1]):
            key = k[t, h // group] / (k[t, h // group].square().sum() + 1e-6).sqrt()
            query = q[t, h // group] / (q[t, h // group].square().sum() + 1e-6).sqrt() * q.shape[2] ** -0.5
            s = g[t, h].exp() * state[h]
            s = s + torch.outer(key, beta[t, h] * (v[t, h] - s.T @ key))
            out[t, h], state[h] = s.T @ query, s
        states.append(state)
    return out, states


@pytest.mark.parametrize("length", [1, 2, 3, 5, 31, 32, 33, 64, 70])
def test_a_pass_and_its_states(length):
    inputs = case(length)
    wanted, states = by_definition(*inputs)
    out, update = gated_delta(*inputs)
    torch.testing.assert_close(out.double(), wanted, atol=1e-5, rtol=1e-4)
    for n in range(length + 1):
        torch.testing.assert_close(gated_delta_advance(inputs[-1], update, n).double(), states[n], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("length", [1, 3, 31, 32, 33, 65, 100])
@pytest.mark.parametrize("chunk", [8, 32])
def test_a_text_in_chunks(length, chunk):
    inputs = case(length, seed=1)
    wanted, states = by_definition(*inputs)
    out, found = gated_delta_prefill(*inputs, chunk)
    torch.testing.assert_close(out.double(), wanted, atol=1e-5, rtol=1e-4)
    for i, state in enumerate(found):
        torch.testing.assert_close(state.double(), states[min(i * chunk, length)], atol=1e-5, rtol=1e-4)


def test_repeated_keys_at_full_strength():
    """The system's hardest case: equal keys, no decay, beta near one. A power series would lose every digit here."""
    q, k, v, g, beta, state = case(32, seed=2)
    inputs = (q, k[:1].expand_as(k), v, g * 0, beta * 0 + 0.999, state)
    wanted, _ = by_definition(*inputs)
    torch.testing.assert_close(gated_delta(*inputs)[0].double(), wanted, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 16, 33])
def test_the_triangular_solve_and_its_gradient(length):
    g = torch.Generator().manual_seed(length)
    lower = torch.rand(2, length, length, dtype=torch.float64, generator=g).tril(-1).requires_grad_()
    right = torch.randn(2, length, 3, dtype=torch.float64, generator=g).requires_grad_()
    wanted = torch.linalg.solve_triangular(lower, right, upper=False, unitriangular=True)
    torch.testing.assert_close(_UnitLowerSolve.apply(lower, right), wanted)
    assert torch.autograd.gradcheck(lambda a, b: _UnitLowerSolve.apply(a.tril(-1), b), (lower, right))
