"""The optimizer of the dense matrices, against torch's own and against the singular value decomposition."""

import pytest
import torch

from clover_viz.training.muon import LEAST, Muon, orthogonalised

SHAPES = [(160, 64), (64, 160), (160, 160), (64, 160), (1, 24), (24, 1)]


@pytest.mark.parametrize("rows, columns", [(24, 80), (80, 24), (1, 7), (7, 1)])
def test_singular_vectors_stay_and_singular_values_come_near_one(rows, columns):
    x = torch.randn(3, rows, columns, generator=torch.Generator().manual_seed(0))
    y = orthogonalised(x)
    u, _, vh = torch.linalg.svd(x, full_matrices=False)
    inside = u.mT @ y @ vh.mT  # diagonal where the vectors are the same
    values = inside.diagonal(dim1=-2, dim2=-1)
    assert (inside - torch.diag_embed(values)).abs().max() < 1e-5
    assert 0.68 < values.min() and values.max() < 1.14


def test_matrices_of_a_batch_do_not_meet():
    x = torch.randn(2, 12, 30, generator=torch.Generator().manual_seed(1))
    x[1] *= 1e4
    assert torch.allclose(orthogonalised(x)[0], orthogonalised(x[:1])[0], atol=1e-6)


def test_a_gradient_of_zeros_stays_one():
    assert not orthogonalised(torch.zeros(2, 6, 4)).any()
    assert torch.isfinite(orthogonalised(torch.full((1, 6, 4), LEAST**2))).all()


def test_steps_are_those_of_torch_but_for_the_rounding_of_bf16():
    """Three steps with other gradients, so that momentum, decay and the scale by shape are all in play."""
    generator = torch.Generator().manual_seed(2)
    ours = [torch.nn.Parameter(torch.randn(shape, generator=generator)) for shape in SHAPES]
    theirs = [torch.nn.Parameter(p.detach().clone()) for p in ours]
    muon = Muon(ours, lr=0.01, weight_decay=0.5)
    reference = torch.optim.Muon(theirs, lr=0.01, weight_decay=0.5, adjust_lr_fn="match_rms_adamw")
    begun = [p.detach().clone() for p in ours]
    for step in range(3):
        for a, b in zip(ours, theirs):
            a.grad = torch.randn(a.shape, generator=generator) * 10.0**step
            b.grad = a.grad.clone()
        muon.step()
        reference.step()
    for a, b, start in zip(ours, theirs, begun):
        assert (a - b).norm() <= 0.03 * (b - start).norm(), tuple(a.shape)


def test_a_saved_state_goes_on_as_if_it_had_never_been_saved():
    def run(stop: bool) -> torch.Tensor:
        generator = torch.Generator().manual_seed(3)
        p = torch.nn.Parameter(torch.randn(8, 12, generator=generator))
        muon = Muon([p], lr=0.01, weight_decay=0.1)
        for step in range(4):
            if stop and step == 2:
                saved = muon.state_dict()
                muon = Muon([p], lr=0.5, weight_decay=0.0)
                muon.load_state_dict(saved)
            p.grad = torch.randn(8, 12, generator=generator)
            muon.step()
        return p.detach()

    assert torch.equal(run(stop=False), run(stop=True))
