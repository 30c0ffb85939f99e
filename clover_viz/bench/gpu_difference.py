"""How far two results lie apart that should be the same."""

import torch

NO_NUMBER = 1e30  # stands for a difference from what is no number, or infinite: JSON knows neither


def difference(one: torch.Tensor, other: torch.Tensor) -> float:
    """The largest |one - other|; NO_NUMBER where either of two values is none, and also where both are."""
    apart = (one - other).abs()
    return torch.where(apart.isfinite(), apart, NO_NUMBER).max().item()


def part(one: torch.Tensor, other: torch.Tensor) -> float:
    """The largest |one - other| as a part of the largest |one|."""
    apart, largest = difference(one, other), one.abs().max().item()
    return apart / largest if 0 < largest < NO_NUMBER else apart
