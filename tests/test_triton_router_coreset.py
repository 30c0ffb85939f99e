"""Routing and the coreset: the kernel against the reference, and the edges by hand."""

import pytest
import torch
from clover_kernels.router_coreset import reference
from triton_helpers import DTYPES, interpreted, poisoned, random, strided  # noqa: F401

kernel = interpreted("router_coreset")


def same(found, wanted):
    """Equal choices wherever they carry weight: past the allowed experts any will do, at weight 0."""
    assert found.experts.dtype == found.touched.dtype == found.kept.dtype == torch.int64
    torch.testing.assert_close(found.weights, wanted.weights, atol=1e-6, rtol=1e-5)
    assert torch.equal(found.experts[found.weights > 0], wanted.experts[wanted.weights > 0])
    assert [found.touched.item(), found.kept.item()] == [wanted.touched.item(), wanted.kept.item()]
    torch.testing.assert_close(found.rerouted, wanted.rerouted)
    assert all(len(set(row)) == len(row) for row in found.experts.tolist())
    assert found.experts.min() >= 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows, number, top_k", [(1, 16, 4), (2, 5, 5), (3, 7, 1), (31, 16, 4), (32, 33, 4)])
def test_equals_the_reference(rows, number, top_k, dtype):
    # steps that bf16 tells apart, and of another size in every row: rounding decides no tie
    steps = 0.2 + 0.01 * torch.arange(rows)[:, None]
    logits = strided((random(rows, number, seed=rows).argsort(-1) * steps).to(DTYPES[dtype]))
    same(kernel.route(logits, top_k), reference.route(logits, top_k))
    for top_p in (0.5, 1.0):
        same(kernel.route_coreset(logits, top_k, top_p), reference.route_coreset(logits, top_k, top_p))


@pytest.mark.parametrize("top_p", [1e-9, 0.9])
def test_at_the_size_of_the_35b_model(top_p):
    logits = random(32, 256, seed=6) + 2 * random(1, 256, seed=7)
    same(kernel.route_coreset(logits, 8, top_p), reference.route_coreset(logits, 8, top_p))


def test_a_share_may_lie_in_a_tensor():
    """As a captured graph reads it; the same launch gives what the number of the moment asks for."""
    logits, held = random(32, 64, seed=6), torch.empty(())
    for top_p in (0.3, 0.9, 1.0):
        found = kernel.route_coreset(logits, 8, held.fill_(top_p))
        same(found, reference.route_coreset(logits, 8, top_p))
        assert all(torch.equal(a, b) for a, b in zip(found, kernel.route_coreset(logits, 8, top_p), strict=True))


def test_fewer_experts_than_k():
    logits = torch.zeros(4, 8)
    logits[:, 5] = 20.0
    found = kernel.route_coreset(logits, 4, 0.5)
    assert found.kept.item() == 1 and found.rerouted.item() == 3.0
    assert (found.experts[:, 0] == 5).all()
    assert torch.equal(found.weights, torch.tensor([[1.0, 0, 0, 0]] * 4))


@pytest.mark.parametrize("tokens, experts, top_k", [(1, 256, 8), (32, 256, 8), (5, 32, 4)])
def test_ties_go_where_they_go_in_the_reference(tokens, experts, top_k):
    logits = (random(tokens, experts, seed=8) + 3).bfloat16()
    same(kernel.route(logits, top_k), reference.route(logits, top_k))
    same(kernel.route_coreset(logits, top_k, 0.9), reference.route_coreset(logits, top_k, 0.9))


def test_ties_take_the_lower_index():
    """Sums of sixteenths are exact: all experts weigh the same, and the cut falls after the eighth."""
    found = kernel.route_coreset(torch.zeros(3, 16), 16, 0.5)
    assert found.kept.item() == 8 and found.touched.item() == 16 and found.rerouted.item() == 8.0
    assert found.experts[:, :8].tolist() == [list(range(8))] * 3
    assert kernel.route(torch.zeros(2, 16), 4).experts.tolist() == [[0, 1, 2, 3]] * 2


@pytest.mark.parametrize(
    "mass, top_p, kept",
    [
        ([0.5, 0.25, 0.1875, 0.0625], 0.9, 3),
        ([0.5, 0.25, 0.1875, 0.0625], 0.75, 2),  # reached exactly
        ([0.5, 0.25, 0.1875, 0.0625], 0.7, 2),
        ([0.5, 0.25, 0.25, 0.0], 1.0, 3),  # all touched, never one without mass
        ([0.5, 0.25, 0.1875, 0.0625], 1e-9, 1),  # at least one
    ],
)
def test_cuts(mass, top_p, kept):
    logits = torch.tensor([mass]).log()
    assert kernel.route_coreset(logits, 4, top_p).kept.item() == kept


def test_far_apart_logits():
    """All but one probability underflow to 0: still K distinct experts and no NaN."""
    logits = torch.full((2, 16), -500.0)
    logits[0, 3] = logits[1, 9] = 500.0
    for found in (kernel.route(logits, 4), kernel.route_coreset(logits, 4, 0.9)):
        assert found.weights.sum(-1).tolist() == [1.0, 1.0] and found.experts[:, 0].tolist() == [3, 9]
        assert all(len(set(row)) == 4 for row in found.experts.tolist())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_row_of_nan_names_experts_that_exist():
    logits = random(2, 16)
    logits[1] = float("nan")
    for found in (kernel.route(logits, 4), kernel.route_coreset(logits, 4, 0.9)):
        assert 0 <= found.experts.min() and found.experts.max() < 16
        assert found.weights[1].isnan().all()


def test_batches_and_gradients_come_from_the_reference():
    logits = random(2, 3, 16).requires_grad_()
    valid = torch.tensor([[True, True, True], [True, False, False]])
    found = kernel.route_coreset(logits, 4, 0.9, valid)
    assert torch.equal(found.experts, reference.route_coreset(logits, 4, 0.9, valid).experts)
    (found.weights[..., 0].sum() + kernel.route(logits[0], 4).weights[..., 0].sum()).backward()
    assert torch.isfinite(logits.grad).all()
