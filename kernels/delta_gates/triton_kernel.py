"""Both gates of every head on a GPU, projections included, in one launch.

As plain operations they are two products with very few columns and ten passes over a handful of numbers in each of 30
layers. A program holds some whole rows and one head's two rows of weights. Products stay in fp32.
"""

import torch
import triton
import triton.language as tl

from clover_kernels.delta_gates import reference
from clover_kernels.inference import wants_gradient
from clover_kernels.rows import as_rows

ROWS = 4  # of a program, where there is more than one


@triton.jit
def _softplus(x):
    """log(1 + exp(x)), exact to the last bits also where exp(x) is lost in 1 + exp(x)."""
    small = tl.exp(-tl.abs(x))
    one_more = 1.0 + small
    # log(1 + s) = log(w) s / (w - 1) for w = 1 + s as it is rounded (HP-15C Advanced Functions Handbook, appendix)
    apart = tl.where(one_more == 1.0, 1.0, one_more - 1.0)
    log1p = tl.where(one_more == 1.0, small, tl.log(one_more) * (small / apart))
    return tl.maximum(x, 0.0) + log1p


@triton.jit(do_not_specialize=["rows"])
def _gates(x, a_weight, b_weight, A_log, dt_bias, g, beta, rows, x_stride, C: tl.constexpr, HEADS: tl.constexpr,
           ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # fmt: skip
    head = tl.program_id(1)
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    column = tl.arange(0, COLUMNS)[None, :]
    present = (row < rows)[:, None] & (column < C)
    value = tl.load(x + row[:, None] * x_stride + column, mask=present, other=0.0).to(tl.float32)
    a_row = tl.load(a_weight + head * C + column, mask=column < C, other=0.0).to(tl.float32)
    b_row = tl.load(b_weight + head * C + column, mask=column < C, other=0.0).to(tl.float32)
    a = tl.sum(value * a_row, axis=1) + tl.load(dt_bias + head).to(tl.float32)
    b = tl.sum(value * b_row, axis=1)
    at = row * HEADS + head
    tl.store(g + at, -tl.exp(tl.load(A_log + head).to(tl.float32)) * _softplus(a), mask=row < rows)
    tl.store(beta + at, tl.sigmoid(b).to(beta.dtype.element_ty), mask=row < rows)


def delta_gates(
    x: torch.Tensor, a_weight: torch.Tensor, b_weight: torch.Tensor, A_log: torch.Tensor, dt_bias: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """`reference.delta_gates`: x [..., T, C]; returns g (fp32) and beta (dtype of x), [..., T, Hv]."""
    if wants_gradient(x, a_weight, b_weight, A_log, dt_bias):
        return reference.delta_gates(x, a_weight, b_weight, A_log, dt_bias)
    heads, width = a_weight.shape
    g = x.new_empty(*x.shape[:-1], heads, dtype=torch.float32)
    beta = x.new_empty(*x.shape[:-1], heads)
    x, a_weight, b_weight = as_rows(x), a_weight.contiguous(), b_weight.contiguous()
    rows = ROWS if len(x) > 1 else 1
    _gates[(triton.cdiv(len(x), rows), heads)](
        x, a_weight, b_weight, A_log, dt_bias, g, beta, len(x), x.stride(0), C=width, HEADS=heads, ROWS=rows,
        COLUMNS=triton.next_power_of_2(width), num_warps=4,
    )  # fmt: skip
    return g, beta
