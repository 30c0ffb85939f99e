"""Both norms on a GPU: one tile of whole rows a program, all arithmetic in fp32."""

import torch
import triton
import triton.language as tl

from clover_kernels.inference import wants_gradient
from clover_kernels.rms_norm import reference

TILE = 2048  # elements a program holds; short rows (heads) share one


@triton.jit(do_not_specialize=["rows"])
def _norm(x, z, weight, out, eps, rows, x_stride, z_stride, C: tl.constexpr, GATED: tl.constexpr,
          ROWS: tl.constexpr, COLUMNS: tl.constexpr):  # fmt: skip
    """x * rsqrt(mean x^2 + eps) * (1 + weight), or with a gate * weight * SiLU(z). out [rows, C] is contiguous."""
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    column = tl.arange(0, COLUMNS)[None, :]
    present = (row < rows) & (column < C)
    value = tl.load(x + row * x_stride + column, mask=present, other=0.0).to(tl.float32)
    w = tl.load(weight + column, mask=column < C, other=0.0).to(tl.float32)
    normed = value * tl.rsqrt(tl.sum(value * value, axis=1) / C + eps)[:, None]
    if GATED:
        gate = tl.load(z + row * z_stride + column, mask=present, other=0.0).to(tl.float32)
        normed = normed * w * (gate * tl.sigmoid(gate))
    else:
        normed += normed * w
    tl.store(out + row * C + column, normed.to(out.dtype.element_ty), mask=present)


def _rows(x: torch.Tensor) -> torch.Tensor:
    """[..., C] as [R, C], its last dimension in one piece; a view where the strides allow it, as those of heads do."""
    rows = x.reshape(-1, x.shape[-1])
    return rows if rows.stride(-1) == 1 else rows.contiguous()


def _launch(x: torch.Tensor, z: torch.Tensor | None, weight: torch.Tensor, eps: float, dtype) -> torch.Tensor:
    out = x.new_empty(x.shape, dtype=dtype)
    x, z = _rows(x), z if z is None else _rows(z)
    columns = triton.next_power_of_2(x.shape[1])
    rows = max(1, TILE // columns)
    _norm[(triton.cdiv(len(x), rows),)](
        x, z, weight, out, eps, len(x), x.stride(0), 0 if z is None else z.stride(0), C=x.shape[1], GATED=z is not None,
        ROWS=rows, COLUMNS=columns, num_warps=4,
    )  # fmt: skip
    return out


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """`reference.rms_norm`: x [..., C], weight [C]; returns the dtype of x."""
    if wants_gradient(x, weight):
        return reference.rms_norm(x, weight, eps)
    return _launch(x, None, weight, eps, x.dtype)


def gated_rms_norm(x: torch.Tensor, z: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """`reference.gated_rms_norm`: x, z [..., D], weight [D]; returns the dtype of z."""
    if wants_gradient(x, z, weight):
        return reference.gated_rms_norm(x, z, weight, eps)
    return _launch(x, z, weight, eps, z.dtype)
