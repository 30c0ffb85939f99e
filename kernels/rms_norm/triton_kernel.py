"""All norms on a GPU: one tile of whole rows a program, all arithmetic in fp32."""

import torch
import triton
import triton.language as tl

from clover_kernels.inference import wants_gradient
from clover_kernels.rms_norm import reference
from clover_kernels.rows import as_rows

TILE = 2048  # elements a program holds; short rows (heads) share one


@triton.jit(do_not_specialize=["rows"])
def _norm(x, y, z, weight, total, out, eps, rows, x_stride, y_stride, z_stride, C: tl.constexpr, ADDED: tl.constexpr,
          GATED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # fmt: skip
    """x * rsqrt(mean x^2 + eps) * (1 + weight), or with a gate * weight * SiLU(z). Where y is ADDED, x is x + y, which
    goes to `total`. total, out [rows, C] are contiguous."""
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    column = tl.arange(0, COLUMNS)[None, :]
    present = (row < rows) & (column < C)
    given = tl.load(x + row * x_stride + column, mask=present, other=0.0)
    value = given.to(tl.float32)
    if ADDED:
        added = tl.load(y + row * y_stride + column, mask=present, other=0.0)
        both = (value + added.to(tl.float32)).to(given.dtype)
        tl.store(total + row * C + column, both, mask=present)
        value = both.to(tl.float32)
    w = tl.load(weight + column, mask=column < C, other=0.0).to(tl.float32)
    normed = value * tl.rsqrt(tl.sum(value * value, axis=1) / C + eps)[:, None]
    if GATED:
        gate = tl.load(z + row * z_stride + column, mask=present, other=0.0).to(tl.float32)
        normed = normed * w * (gate * tl.sigmoid(gate))
    else:
        normed += normed * w
    tl.store(out + row * C + column, normed.to(out.dtype.element_ty), mask=present)


def _launch(x: torch.Tensor, weight: torch.Tensor, eps: float, dtype, y=None, z=None):
    """The norm in a dtype and, of x + y, the sum."""
    out = x.new_empty(x.shape, dtype=dtype)
    total = None if y is None else x.new_empty(x.shape)
    x, y, z = (given if given is None else as_rows(given) for given in (x, y, z))
    strides = (0 if given is None else given.stride(0) for given in (x, y, z))
    columns = triton.next_power_of_2(x.shape[1])
    rows = max(1, TILE // columns)
    _norm[(triton.cdiv(len(x), rows),)](
        x, y, z, weight, total, out, eps, len(x), *strides, C=x.shape[1], ADDED=y is not None, GATED=z is not None,
        ROWS=rows, COLUMNS=columns, num_warps=4,
    )  # fmt: skip
    return out if total is None else (total, out)


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """`reference.rms_norm`: x [..., C], weight [C]; returns the dtype of x."""
    if wants_gradient(x, weight):
        return reference.rms_norm(x, weight, eps)
    return _launch(x, weight, eps, x.dtype)


def add_rms_norm(
    x: torch.Tensor, y: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """`reference.add_rms_norm`: x, y [..., C] of one dtype, weight [C]; returns x + y and its norm."""
    if wants_gradient(x, y, weight):
        return reference.add_rms_norm(x, y, weight, eps)
    return _launch(x, weight, eps, x.dtype, y=y)


def gated_rms_norm(x: torch.Tensor, z: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """`reference.gated_rms_norm`: x, z [..., D], weight [D]; returns the dtype of z."""
    if wants_gradient(x, z, weight):
        return reference.gated_rms_norm(x, z, weight, eps)
    return _launch(x, weight, eps, z.dtype, z=z)
