import torch
import torch.nn.functional as F


def _left(rows: torch.Tensor, taps: torch.Tensor, length: int) -> torch.Tensor:
    """sum_j rows[t + j] * taps[j] for t < length. rows [..., length + K - 1, C], taps [K, C] -> [..., length, C]"""
    if length == 1:
        return (rows * taps).sum(-2, keepdim=True)
    out = rows[..., :length, :] * taps[0]
    for j in range(1, len(taps)):
        out = torch.addcmul(out, rows[..., j : j + length, :], taps[j])
    return out


def causal_conv(x: torch.Tensor, ring: torch.Tensor, taps: torch.Tensor) -> torch.Tensor:
    """SiLU of the causal convolution. x [..., T, C], ring [..., 3, C], taps [C, 4] -> [..., T, C]"""
    # Taps as rows, each in one piece: a tap then meets its row of channels in memory order.
    rows, taps = torch.cat((ring.to(x.dtype), x), dim=-2), taps.to(x.dtype).mT.contiguous()
    return F.silu(_left(rows, taps, x.shape[-2]))


def block_conv(x: torch.Tensor, ring: torch.Tensor, taps: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """SiLU of the two-sided convolution of a block. x [..., B, C], ring [..., 3, C], taps [C, 4], right [C, 3]."""
    length, reach = x.shape[-2], right.shape[1]
    end = x.new_zeros(*x.shape[:-2], reach, x.shape[-1])
    rows = torch.cat((ring.to(x.dtype), x, end), dim=-2)  # [..., 3 + B + 3, C]
    # Left and right taps are one seven-tap filter over ring, block and the empty rows past its end.
    return F.silu(_left(rows, torch.cat((taps.mT, right.mT)).to(x.dtype).contiguous(), length))
