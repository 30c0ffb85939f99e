import torch
import torch.nn.functional as F


def _left(rows: torch.Tensor, taps: torch.Tensor, length: int) -> torch.Tensor:
    """sum_j rows[t + j] * taps[:, j] for t < length. rows [..., length + K - 1, C], taps [C, K] -> [..., length, C]"""
    out = rows[..., :length, :] * taps[:, 0]
    for j in range(1, taps.shape[1]):
        out = torch.addcmul(out, rows[..., j : j + length, :], taps[:, j])
    return out


def causal_conv(x: torch.Tensor, ring: torch.Tensor, taps: torch.Tensor) -> torch.Tensor:
    """SiLU of the causal convolution. x [..., T, C], ring [..., 3, C], taps [C, 4] -> [..., T, C]"""
    return F.silu(_left(torch.cat((ring.to(x.dtype), x), dim=-2), taps.to(x.dtype), x.shape[-2]))


def block_conv(x: torch.Tensor, ring: torch.Tensor, taps: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """SiLU of the two-sided convolution of a block. x [..., B, C], ring [..., 3, C], taps [C, 4], right [C, 3]."""
    length, reach = x.shape[-2], right.shape[1]
    end = x.new_zeros(*x.shape[:-2], reach, x.shape[-1])
    rows = torch.cat((ring.to(x.dtype), x, end), dim=-2)  # [..., 3 + B + 3, C]
    # Left and right taps are one seven-tap filter over ring, block and the empty rows past its end.
    return F.silu(_left(rows, torch.cat((taps, right), dim=1).to(x.dtype), length))
