"""The routed experts on a GPU: three launches, every touched expert's weights read once, nothing asked of the host.

_enter  inner[pair] = SiLU(gate[e] x[token]) * up[e] x[token]     a tile of an expert's inner rows a program
_leave  y[pair] = down[e] inner[pair]                             a tile of an expert's outer rows a program
_join   out[token] = sum_k weights[token, k] y[token, k]          in the order of k: the same sum every time

A pair is one choice of one token, token * K + k. Up to TOKENS tokens there is no pass that sorts them by expert:
programs are started for every pair, the first pair of an expert works for all of them, the others leave at once. Which
tokens chose the expert is a mask over the rows of one tile. Longer passes (a prompt) bring pairs together by expert
first, on the device.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from clover_kernels import tiles
from clover_kernels.inference import is_one_sequence
from clover_kernels.moe_experts import reference

TOKENS = 32  # rows of one tile: a block
DOTS = {torch.bfloat16: tl.bfloat16, torch.float16: tl.float16}  # what a card multiplies as it is, fp32 otherwise


@dataclass(frozen=True)
class Tiles:
    """Rows of weights a program of `_enter` and of `_leave` takes, columns of one step, and steps under way at once.

    Small tiles and many of them: each program waits for its weights, so what counts is the bytes all of them wait for.
    """

    enter: int
    leave: int
    depth: int
    stages: int


TILES = {
    80: Tiles(enter=32, leave=64, depth=128, stages=3),
    90: Tiles(enter=32, leave=64, depth=128, stages=4),
    100: Tiles(enter=32, leave=64, depth=128, stages=4),
    120: Tiles(enter=32, leave=64, depth=64, stages=3),
}


@triton.jit
def _of_leader(experts, weights, pair, T, K: tl.constexpr, ROWS: tl.constexpr, PLACES: tl.constexpr):
    """The expert of a pair, whether this is its first pair, and each token's pair with it: [ROWS], -1 for none."""
    token = tl.arange(0, ROWS)[:, None]
    place = tl.arange(0, PLACES)[None, :]
    index = token * K + place
    present = (token < T) & (place < K)
    expert = tl.load(experts + pair)
    # A choice of weight 0 (a coreset smaller than K leaves some) is none: its expert is not read.
    counts = tl.load(weights + index, mask=present, other=0.0).to(tl.float32) != 0.0
    mine = (tl.load(experts + index, mask=present, other=-1) == expert) & counts
    first = tl.min(tl.min(tl.where(mine, index, 0x7FFFFFFF), axis=1), axis=0)
    return expert, first == pair, tl.max(tl.where(mine, index, -1), axis=1)


@triton.jit
def _of_group(order, tile_expert, tile_start, ends, tile, ROWS: tl.constexpr):
    """The expert of a tile of sorted pairs, whether the tile holds any, and its pairs: [ROWS], -1 past the end."""
    expert = tl.load(tile_expert + tile)
    start = tl.load(tile_start + tile)
    end = tl.load(ends + expert)
    at = start + tl.arange(0, ROWS)
    return expert, start < end, tl.load(order + at, mask=at < end, other=-1)


@triton.jit(do_not_specialize=["T"])
def _enter(x, experts, weights, gate_up, inner, order, tile_expert, tile_start, ends, T, x_stride, C: tl.constexpr,
           I: tl.constexpr, K: tl.constexpr, GROUPED: tl.constexpr, ROWS: tl.constexpr, PLACES: tl.constexpr,
           OUTER: tl.constexpr, DEPTH: tl.constexpr, DOT: tl.constexpr):  # fmt: skip
    tile = tl.program_id(1)
    if GROUPED:
        expert, works, pair = _of_group(order, tile_expert, tile_start, ends, tile, ROWS)
    else:
        expert, works, pair = _of_leader(experts, weights, tile, T, K, ROWS, PLACES)
    if works:
        outer = tl.program_id(0) * OUTER + tl.arange(0, OUTER)  # rows of the gate; those of up stand I further
        depth = tl.arange(0, DEPTH)
        row = x + (tl.maximum(pair, 0) // K).to(tl.int64)[:, None] * x_stride
        gate_row = gate_up + expert.to(tl.int64) * (2 * I * C) + outer[None, :] * C
        gate = tl.zeros((ROWS, OUTER), tl.float32)
        up = tl.zeros((ROWS, OUTER), tl.float32)
        for start in range(0, C, DEPTH):
            column = start + depth
            value = tl.load(row + column[None, :], mask=(pair >= 0)[:, None] & (column < C)[None, :], other=0.0)
            held = (outer < I)[None, :] & (column < C)[:, None]
            a = tl.load(gate_row + column[:, None], mask=held, other=0.0)
            b = tl.load(gate_row + I * C + column[:, None], mask=held, other=0.0)
            gate = tl.dot(value.to(DOT), a.to(DOT), gate, input_precision="ieee")
            up = tl.dot(value.to(DOT), b.to(DOT), up, input_precision="ieee")
        value = gate * tl.sigmoid(gate) * up
        at = tl.maximum(pair, 0).to(tl.int64)[:, None] * I + outer[None, :]
        tl.store(inner + at, value.to(inner.dtype.element_ty), mask=(pair >= 0)[:, None] & (outer < I)[None, :])


@triton.jit(do_not_specialize=["T"])
def _leave(inner, experts, weights, down, y, order, tile_expert, tile_start, ends, T, C: tl.constexpr,
           I: tl.constexpr, K: tl.constexpr, GROUPED: tl.constexpr, ROWS: tl.constexpr, PLACES: tl.constexpr,
           OUTER: tl.constexpr, DEPTH: tl.constexpr, DOT: tl.constexpr):  # fmt: skip
    tile = tl.program_id(1)
    if GROUPED:
        expert, works, pair = _of_group(order, tile_expert, tile_start, ends, tile, ROWS)
    else:
        expert, works, pair = _of_leader(experts, weights, tile, T, K, ROWS, PLACES)
    if works:
        outer = tl.program_id(0) * OUTER + tl.arange(0, OUTER)
        depth = tl.arange(0, DEPTH)
        at, mine = tl.maximum(pair, 0).to(tl.int64)[:, None], (pair >= 0)[:, None]
        down_row = down + expert.to(tl.int64) * (C * I) + outer[None, :] * I
        total = tl.zeros((ROWS, OUTER), tl.float32)
        for start in range(0, I, DEPTH):
            column = start + depth
            value = tl.load(inner + at * I + column[None, :], mask=mine & (column < I)[None, :], other=0.0)
            held = (outer < C)[None, :] & (column < I)[:, None]
            w = tl.load(down_row + column[:, None], mask=held, other=0.0)
            total = tl.dot(value.to(DOT), w.to(DOT), total, input_precision="ieee")
        tl.store(y + at * C + outer[None, :], total, mask=mine & (outer < C)[None, :])


@triton.jit
def _join(y, weights, out, C: tl.constexpr, K: tl.constexpr, COLUMNS: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((COLUMNS,), tl.float32)
    for k in range(K):
        weight = tl.load(weights + token * K + k).to(out.dtype.element_ty).to(tl.float32)
        weight += tl.zeros((COLUMNS,), tl.float32)
        # nothing was written where the weight is 0
        value = tl.load(y + (token * K + k) * C + column, mask=(column < C) & (weight != 0.0), other=0.0)
        total += weight * value
    tl.store(out + token * C + column, total.to(out.dtype.element_ty), mask=column < C)


def _groups(experts: torch.Tensor, number: int):
    """Pairs by expert in tiles of TOKENS: order [T K], expert and start of every tile, end of each expert's pairs.

    The number of tiles is a bound that needs no count; a tile past the last starts at its expert's end: it has none.
    """
    flat = experts.flatten()
    order = flat.argsort(stable=True)
    ends = torch.searchsorted(flat[order], torch.arange(number, device=flat.device), right=True)
    sizes = ends.diff(prepend=ends.new_zeros(1))
    tile_ends = ((sizes + TOKENS - 1) // TOKENS).cumsum(0)
    tile = torch.arange(len(flat) // TOKENS + min(number, len(flat)), device=flat.device)
    expert = torch.searchsorted(tile_ends, tile, right=True).clamp(max=number - 1)
    before = tile_ends - (sizes + TOKENS - 1) // TOKENS
    start = (ends - sizes)[expert] + (tile - before[expert]) * TOKENS
    return order, expert, torch.minimum(start, ends[expert]), ends


def moe_experts(
    x: torch.Tensor, experts: torch.Tensor, weights: torch.Tensor, gate_up: torch.Tensor, down: torch.Tensor
) -> torch.Tensor:
    """`reference.moe_experts`: x [T, C], experts [T, K] (a token's are distinct), weights [T, K]; returns [T, C].

    Products in the dtype of the weights, sums in fp32.
    """
    if not is_one_sequence(2, x, weights, gate_up, down):
        return reference.moe_experts(x, experts, weights, gate_up, down)
    x = x if x.stride(-1) == 1 else x.contiguous()
    experts, weights, gate_up, down = (y.contiguous() for y in (experts, weights, gate_up, down))
    (tokens, width), top_k, (number, _, inner_width) = x.shape, experts.shape[1], down.shape
    sizes = TILES[tiles.architecture(x.device)]
    grouped = tokens > TOKENS
    groups = _groups(experts, number) if grouped else (None,) * 4
    works = len(groups[1]) if grouped else tokens * top_k  # programs along the second axis
    # The interpreter multiplies the bits of bf16: it gets fp32.
    dot = DOTS.get(x.dtype, tl.float32) if isinstance(_enter, triton.JITFunction) else tl.float32
    shared = dict(
        C=width, I=inner_width, K=top_k, GROUPED=grouped, ROWS=TOKENS if tokens > 16 else 16,
        PLACES=triton.next_power_of_2(top_k), DOT=dot,
    )  # fmt: skip
    inner = x.new_empty(tokens * top_k, inner_width)
    y = x.new_empty(tokens * top_k, width, dtype=torch.float32)
    out = x.new_empty(tokens, width)
    _enter[(triton.cdiv(inner_width, sizes.enter), works)](
        x, experts, weights, gate_up, inner, *groups, tokens, x.stride(0), **shared,
        OUTER=sizes.enter, DEPTH=_depth(sizes.depth, width), num_warps=4, num_stages=sizes.stages,
    )  # fmt: skip
    _leave[(triton.cdiv(width, sizes.leave), works)](
        inner, experts, weights, down, y, *groups, tokens, **shared,
        OUTER=sizes.leave, DEPTH=_depth(sizes.depth, inner_width), num_warps=4, num_stages=sizes.stages,
    )  # fmt: skip
    columns = min(1024, triton.next_power_of_2(width))
    _join[(tokens, triton.cdiv(width, columns))](y, weights, out, C=width, K=top_k, COLUMNS=columns, num_warps=4)
    return out


def _depth(most: int, width: int) -> int:
    return min(most, max(16, triton.next_power_of_2(width)))
