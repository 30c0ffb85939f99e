"""Tensors as rows, the way most kernels take them."""

import torch


def as_rows(x: torch.Tensor) -> torch.Tensor:
    """[..., C] as [R, C], its last dimension in one piece; a view where the strides allow it, as those of heads do."""
    rows = x.reshape(-1, x.shape[-1])
    return rows if rows.stride(-1) == 1 else rows.contiguous()
