"""The end of a layer on a GPU: the gate's product with one column, the gating and both sums in one launch.

All in fp32: only what is handed out is rounded.
"""

import torch
import triton
import triton.language as tl

from clover_kernels.inference import wants_gradient
from clover_kernels.rows import as_rows
from clover_kernels.shared_expert import reference

TILE = 1024  # elements a program of `_swiglu` takes


@triton.jit(do_not_specialize=["size"])
def _swiglu(gate, up, out, size, TILE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    value = tl.load(gate + at, mask=at < size, other=0.0).to(tl.float32)
    value *= tl.sigmoid(value) * tl.load(up + at, mask=at < size, other=0.0).to(tl.float32)
    tl.store(out + at, value.to(out.dtype.element_ty), mask=at < size)


@triton.jit
def _add(x, routed, inner, gate_weight, shared, out, x_stride, routed_stride, inner_stride, shared_stride,
         C: tl.constexpr, COLUMNS: tl.constexpr):  # fmt: skip
    """A row a program."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, COLUMNS)
    present = column < C
    given = tl.load(inner + row * inner_stride + column, mask=present, other=0.0).to(tl.float32)
    weight = tl.load(gate_weight + column, mask=present, other=0.0).to(tl.float32)
    gate = tl.sigmoid(tl.sum(given * weight, axis=0) + tl.zeros((COLUMNS,), tl.float32))
    of_shared = tl.load(shared + row * shared_stride + column, mask=present, other=0.0).to(tl.float32)
    total = tl.load(routed + row * routed_stride + column, mask=present, other=0.0).to(tl.float32) + gate * of_shared
    total += tl.load(x + row * x_stride + column, mask=present, other=0.0).to(tl.float32)
    tl.store(out + row * C + column, total.to(out.dtype.element_ty), mask=present)


def swiglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """`reference.swiglu`: gate, up [..., I]."""
    if wants_gradient(gate, up):
        return reference.swiglu(gate, up)
    gate, up = gate.contiguous(), up.contiguous()
    out = gate.new_empty(gate.shape)
    _swiglu[(triton.cdiv(gate.numel(), TILE),)](gate, up, out, gate.numel(), TILE=TILE, num_warps=4)
    return out


def add_shared_expert(
    x: torch.Tensor, routed: torch.Tensor, inner: torch.Tensor, gate_weight: torch.Tensor, shared: torch.Tensor
) -> torch.Tensor:
    """`reference.add_shared_expert`: x, routed, inner, shared [..., C], gate_weight [1, C]."""
    if wants_gradient(x, routed, inner, gate_weight, shared):
        return reference.add_shared_expert(x, routed, inner, gate_weight, shared)
    out = x.new_empty(x.shape)
    given = [as_rows(y) for y in (x, routed, inner, shared)]
    strides = [y.stride(0) for y in given]
    x, routed, inner, shared = given
    _add[(len(x),)](
        x, routed, inner, gate_weight.contiguous(), shared, out, *strides, C=x.shape[1],
        COLUMNS=triton.next_power_of_2(x.shape[1]), num_warps=4,
    )  # fmt: skip
    return out
