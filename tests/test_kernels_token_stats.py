"""Top token, probability and entropy of rows of logits."""

import math

import pytest
import torch
from clover_kernels.token_stats.reference import token_stats


def test_ties_take_the_lowest_id():
    logits = torch.tensor([[1.0, 3.0, 3.0, 0.0], [2.0, 2.0, 2.0, 2.0]])
    assert token_stats(logits, None).token.tolist() == [1, 0]


def test_the_mask_token_is_out():
    found = token_stats(torch.tensor([[0.0, 9.0, 0.0]]), 1)
    assert found.token.tolist() == [0]
    assert found.probability.item() == pytest.approx(0.5)
    assert found.entropy.item() == pytest.approx(math.log(2))


def test_probability_and_entropy():
    logits = torch.randn(5, 50, generator=torch.Generator().manual_seed(0)) * 3
    found = token_stats(logits, None)
    p = logits.double().softmax(-1)
    torch.testing.assert_close(found.probability.double(), p.amax(-1), atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(found.entropy.double(), -(p * p.log()).sum(-1), atol=1e-5, rtol=1e-5)


def test_certainty_has_no_entropy_and_no_nan():
    found = token_stats(torch.tensor([[0.0, float("-inf"), float("-inf")]]), None)
    assert found.probability.item() == 1.0 and found.entropy.item() == 0.0


def test_bf16_logits_are_weighed_in_fp32():
    logits = torch.tensor([[4.0, 1.0, 0.5]], dtype=torch.bfloat16)
    wanted = torch.tensor([4.0, 1.0, 0.5]).softmax(-1)[0]
    assert token_stats(logits, None).probability.item() == pytest.approx(wanted.item(), abs=1e-7)
