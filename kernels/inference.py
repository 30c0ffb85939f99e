"""When a Triton kernel leaves a call to its reference."""

import torch


def is_one_sequence(rank: int, first: torch.Tensor, *others: torch.Tensor) -> bool:
    """Whether a kernel may take the call: `first` has `rank` dimensions, no batch before them, and wants no gradient.

    Batches and gradients belong to training, which runs on the reference.
    """
    return first.dim() == rank and not wants_gradient(first, *others)


def wants_gradient(*tensors: torch.Tensor) -> bool:
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
