"""The short convolution on a GPU: a tile of rows and channels a program, seven taps, SiLU."""

import torch
import triton
import triton.language as tl

from clover_kernels.conv import reference
from clover_kernels.inference import is_one_sequence

ROWS, CHANNELS = 8, 128  # a tile: 256 programs for a block of 32 at 8,192 channels


@triton.jit(do_not_specialize=["T"])
def _conv(x, ring, taps, right, out, T, x_stride, ring_stride, C: tl.constexpr, LEFT: tl.constexpr, RIGHT: tl.constexpr,
          ROWS: tl.constexpr, CHANNELS: tl.constexpr):  # fmt: skip
    """out[t] = SiLU(sum_j in[t + j] taps[:, j] + sum_d x[t + d] right[:, d - 1]).

    `in` is ring [LEFT - 1, C], then x [T, C].
    """
    t = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    channel = tl.program_id(1) * CHANNELS + tl.arange(0, CHANNELS)[None, :]
    here = channel < C
    total = tl.zeros((ROWS, CHANNELS), tl.float32)
    for j in tl.static_range(LEFT + RIGHT):
        row = t + (j - LEFT + 1)  # of x; negative in the ring
        of_x = tl.load(x + row.to(tl.int64) * x_stride + channel, mask=here & (row >= 0) & (row < T), other=0.0)
        value = of_x.to(tl.float32)
        if j < LEFT - 1:
            of_ring = tl.load(ring + (row + LEFT - 1) * ring_stride + channel, mask=here & (row < 0), other=0.0)
            value += of_ring.to(tl.float32)
        if j < LEFT:
            tap = tl.load(taps + channel * LEFT + j, mask=here, other=0.0)
        else:
            tap = tl.load(right + channel * RIGHT + (j - LEFT), mask=here, other=0.0)
        total += value * tap.to(tl.float32)
    total = total * tl.sigmoid(total)
    tl.store(out + t.to(tl.int64) * C + channel, total.to(out.dtype.element_ty), mask=here & (t < T))


def _launch(x: torch.Tensor, ring: torch.Tensor, taps: torch.Tensor, right: torch.Tensor | None) -> torch.Tensor:
    x, ring = (y if y.stride(-1) == 1 else y.contiguous() for y in (x, ring))
    length, channels = x.shape
    out = x.new_empty(length, channels)
    _conv[(triton.cdiv(length, ROWS), triton.cdiv(channels, CHANNELS))](
        x, ring, taps.contiguous(), right if right is None else right.contiguous(), out, length, x.stride(0),
        ring.stride(0), C=channels, LEFT=taps.shape[1], RIGHT=0 if right is None else right.shape[1],
        ROWS=ROWS, CHANNELS=CHANNELS, num_warps=4,
    )  # fmt: skip
    return out


def causal_conv(x: torch.Tensor, ring: torch.Tensor, taps: torch.Tensor) -> torch.Tensor:
    """`reference.causal_conv`: x [T, C], ring [3, C], taps [C, 4] -> [T, C]. Sums in fp32."""
    if not is_one_sequence(2, x, ring, taps):
        return reference.causal_conv(x, ring, taps)
    return _launch(x, ring, taps, None)


def block_conv(x: torch.Tensor, ring: torch.Tensor, taps: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """`reference.block_conv`: x [B, C], ring [3, C], taps [C, 4], right [C, 3] -> [B, C]. Sums in fp32."""
    if not is_one_sequence(2, x, ring, taps, right):
        return reference.block_conv(x, ring, taps, right)
    return _launch(x, ring, taps, right)
