"""The routed experts on a GPU: four launches, every touched expert's weights read once, nothing asked of the host.

_plan   which experts a block touches, and of each the pairs that chose it     one program
_enter  inner[pair] = SiLU(gate[e] x[token]) * up[e] x[token]                  a tile of an expert's inner rows a work
_leave  y[pair] = down[e] inner[pair]                                          a tile of an expert's outer rows a work
_join   out[token] = sum_k weights[token, k] y[token, k]                       in the order of k: always the same sum

A pair is one choice of one token, token * K + k. How many experts are touched only the device knows, and it may be few
of many: as many programs as the card runs at once are started, and take works in turn until there are none. (A program
for every expert or pair that might be would find the card's places taken by those that have nothing to do.) In longer
passes (a prompt) an expert may have more pairs than a tile has rows: there, torch's own sorting makes the plan.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from clover_kernels import tiles
from clover_kernels.inference import is_one_sequence
from clover_kernels.interpreter import mend
from clover_kernels.moe_experts import reference

mend()  # of the loops over works
TOKENS = 32  # rows of one tile: a block
AT_ONCE = 3  # programs a processor holds, by the shared memory of the tiles below
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


@triton.jit(do_not_specialize=["T"])
def _plan(experts, weights, expert_of, pairs, count, T, K: tl.constexpr, NUMBER: tl.constexpr, ROWS: tl.constexpr):
    """The touched experts in order, [count], and each token's pair with them, [count, ROWS], -1 for none."""
    number = tl.arange(0, NUMBER)
    token = tl.arange(0, ROWS)[None, :]
    pair = tl.full((NUMBER, ROWS), -1, tl.int32)
    for k in tl.static_range(K):
        chosen = tl.load(experts + token * K + k, mask=token < T, other=-1)
        # A choice of weight 0 (a coreset smaller than K leaves some) is none: its expert is not read.
        counts = tl.load(weights + token * K + k, mask=token < T, other=0.0).to(tl.float32) != 0.0
        pair = tl.where((chosen == number[:, None]) & counts, token * K + k, pair)
    touched = tl.max(pair, axis=1) >= 0
    place = tl.cumsum(touched.to(tl.int32), axis=0) - 1
    tl.store(expert_of + place, number, mask=touched)
    tl.store(pairs + place[:, None] * ROWS + token, pair, mask=touched[:, None])
    tl.store(count, tl.sum(touched.to(tl.int32), axis=0))


@triton.jit
def _enter(x, gate_up, inner, expert_of, pairs, count, x_stride, C: tl.constexpr, I: tl.constexpr, K: tl.constexpr,
           ROWS: tl.constexpr, OUTER: tl.constexpr, TILES: tl.constexpr, DEPTH: tl.constexpr,
           DOT: tl.constexpr):  # fmt: skip
    depth = tl.arange(0, DEPTH)
    for work in range(tl.program_id(0), tl.load(count) * TILES, tl.num_programs(0)):
        group = work // TILES
        outer = (work % TILES) * OUTER + tl.arange(0, OUTER)  # rows of the gate; those of up stand I further
        pair = tl.load(pairs + group * ROWS + tl.arange(0, ROWS))
        row = x + (tl.maximum(pair, 0) // K).to(tl.int64)[:, None] * x_stride
        gate_row = gate_up + tl.load(expert_of + group).to(tl.int64) * (2 * I * C) + outer[None, :] * C
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


@triton.jit
def _leave(inner, down, y, expert_of, pairs, count, C: tl.constexpr, I: tl.constexpr, ROWS: tl.constexpr,
           OUTER: tl.constexpr, TILES: tl.constexpr, DEPTH: tl.constexpr, DOT: tl.constexpr):  # fmt: skip
    depth = tl.arange(0, DEPTH)
    for work in range(tl.program_id(0), tl.load(count) * TILES, tl.num_programs(0)):
        group = work // TILES
        outer = (work % TILES) * OUTER + tl.arange(0, OUTER)
        pair = tl.load(pairs + group * ROWS + tl.arange(0, ROWS))
        at, mine = tl.maximum(pair, 0).to(tl.int64)[:, None], (pair >= 0)[:, None]
        down_row = down + tl.load(expert_of + group).to(tl.int64) * (C * I) + outer[None, :] * I
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
        weight = tl.load(weights + token * K + k).to(tl.float32) + tl.zeros((COLUMNS,), tl.float32)
        # nothing was written where the weight is 0
        value = tl.load(y + (token * K + k) * C + column, mask=(column < C) & (weight != 0.0), other=0.0)
        total += weight * value
    tl.store(out + token * C + column, total.to(out.dtype.element_ty), mask=column < C)


def _block_plan(experts: torch.Tensor, weights: torch.Tensor, number: int, rows: int):
    """Of up to `rows` tokens: the expert of every group, its pairs [groups, rows], and how many groups there are."""
    tokens, top_k = experts.shape
    most = min(number, tokens * top_k)
    expert_of, count = (experts.new_empty(size, dtype=torch.int32) for size in (most, 1))
    pairs = experts.new_empty(most, rows, dtype=torch.int32)
    _plan[(1,)](
        experts, weights, expert_of, pairs, count, tokens, K=top_k, NUMBER=triton.next_power_of_2(number), ROWS=rows,
        num_warps=8,
    )  # fmt: skip
    return expert_of, pairs, count


def _prompt_plan(experts: torch.Tensor, number: int, rows: int):
    """As `_block_plan`, of any number of tokens: an expert with more pairs than rows has several groups.

    The number of groups that are made room for is a bound that needs no count.
    """
    flat = experts.flatten()
    order = flat.argsort(stable=True)
    ends = torch.searchsorted(flat[order], torch.arange(number, device=flat.device), right=True)
    sizes = ends.diff(prepend=ends.new_zeros(1))
    group_ends = ((sizes + rows - 1) // rows).cumsum(0)
    group = torch.arange(len(flat) // rows + min(number, len(flat)), device=flat.device)
    expert = torch.searchsorted(group_ends, group, right=True).clamp(max=number - 1)
    before = group_ends - (sizes + rows - 1) // rows
    start = (ends - sizes)[expert] + (group - before[expert]) * rows
    place = start[:, None] + torch.arange(rows, device=flat.device)
    held = order[place.clamp(max=len(flat) - 1)].masked_fill(place >= ends[expert][:, None], -1)
    return expert.to(torch.int32), held.to(torch.int32), group_ends[-1:].to(torch.int32)


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
    rows = TOKENS if tokens > 16 else 16
    plan = _prompt_plan(experts, number, rows) if tokens > rows else _block_plan(experts, weights, number, rows)
    sizes, at_once = TILES[tiles.architecture(x.device)], AT_ONCE * tiles.processors(x.device)
    entering, leaving = triton.cdiv(inner_width, sizes.enter), triton.cdiv(width, sizes.leave)
    # The interpreter multiplies the bits of bf16: it gets fp32.
    dot = DOTS.get(x.dtype, tl.float32) if isinstance(_enter, triton.JITFunction) else tl.float32
    inner = x.new_empty(tokens * top_k, inner_width)
    y = x.new_empty(tokens * top_k, width, dtype=torch.float32)
    out = x.new_empty(tokens, width)
    groups = len(plan[0])
    shared = dict(C=width, I=inner_width, ROWS=rows, DOT=dot, num_warps=4, num_stages=sizes.stages)
    _enter[(min(at_once, groups * entering),)](
        x, gate_up, inner, *plan, x.stride(0), K=top_k, OUTER=sizes.enter, TILES=entering,
        DEPTH=_depth(sizes.depth, width), **shared,
    )  # fmt: skip
    _leave[(min(at_once, groups * leaving),)](
        inner, down, y, *plan, OUTER=sizes.leave, TILES=leaving, DEPTH=_depth(sizes.depth, inner_width), **shared
    )
    columns = min(1024, triton.next_power_of_2(width))
    _join[(tokens, triton.cdiv(width, columns))](y, weights, out, C=width, K=top_k, COLUMNS=columns, num_warps=4)
    return out


def _depth(most: int, width: int) -> int:
    return min(most, max(16, triton.next_power_of_2(width)))
