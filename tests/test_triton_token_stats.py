"""Token statistics: the kernel against the reference, and the rules that both must hold."""

import math

import pytest
import torch
from clover_kernels.token_stats import reference
from triton_helpers import DTYPES, interpreted, poisoned, random, strided  # noqa: F401

kernel = interpreted("token_stats")


def compare(logits, mask_token_id=None):
    wanted, found = reference.token_stats(logits, mask_token_id), kernel.token_stats(logits, mask_token_id)
    assert torch.equal(found.token, wanted.token) and found.token.dtype == torch.int64
    torch.testing.assert_close(found.probability, wanted.probability, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(found.entropy, wanted.entropy, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "rows, width", [(1, 1), (1, 97), (3, kernel.SPAN), (2, kernel.SPAN + 1), (2, 3 * kernel.SPAN - 5)]
)
def test_equals_the_reference(rows, width, dtype):
    logits = random(rows, width, dtype=DTYPES[dtype], scale=4.0)
    compare(logits)
    compare(strided(logits), width // 2 if width > 1 else None)


def test_ties_take_the_lowest_id():
    logits = torch.full((3, 2 * kernel.SPAN), -1.0)
    logits[0, [5, 9, kernel.SPAN + 1]] = 2.0
    logits[1, [kernel.SPAN + 7, kernel.SPAN + 3]] = 2.0
    assert kernel.token_stats(logits, None).token.tolist() == [5, kernel.SPAN + 3, 0]
    compare(logits, 5)


def test_the_mask_token_is_out():
    found = kernel.token_stats(torch.tensor([[0.0, 9.0, 0.0]]), 1)
    assert found.token.tolist() == [0]
    assert found.probability.item() == pytest.approx(0.5)
    assert found.entropy.item() == pytest.approx(math.log(2))


def test_certainty_and_spans_without_a_number():
    """Spans of nothing but -inf, as penalties and a masked column leave them: no NaN anywhere."""
    logits = torch.full((2, 2 * kernel.SPAN + 3), float("-inf"))
    logits[0, kernel.SPAN + 1] = 3.0
    logits[1, [1, -1]] = 800.0
    found = kernel.token_stats(logits, 0)
    assert found.token.tolist() == [kernel.SPAN + 1, 1]
    assert found.probability.tolist() == [1.0, 0.5]
    torch.testing.assert_close(found.entropy, torch.tensor([0.0, math.log(2)]))


def test_a_gradient_comes_from_the_reference():
    logits = random(2, 9).requires_grad_()
    kernel.token_stats(logits, None).probability.sum().backward()
    assert torch.isfinite(logits.grad).all()
