"""Routing on a GPU: one program a row, in one launch for one token and two otherwise.

The first launch routes every row on its own and leaves `chosen` [T, E] behind: the probability of each of a row's K
choices, -1 elsewhere. From it the second one counts, and with a coreset also sums, cuts and routes again. Every program
of the second works out the whole coreset for itself, which takes no longer than waiting for one that does.
"""

import torch
import triton
import triton.language as tl

from clover_kernels.inference import is_one_sequence
from clover_kernels.interpreter import mend
from clover_kernels.router_coreset import reference
from clover_kernels.router_coreset.reference import Routing

mend()  # of the loops over T

AHEAD = tl.constexpr(8)  # rows that are asked for before the first is there


@triton.jit
def _softmax(x):
    """fp32 softmax of a row [WIDE]; -inf counts nothing."""
    e = tl.exp(x - tl.max(x, axis=0))
    return e / tl.sum(e, axis=0)


@triton.jit
def _best(p, column, E, K: tl.constexpr, PLACES: tl.constexpr):
    """The K largest of p [WIDE], largest first (ties: lower index), in PLACES >= K, and p with -1 in their stead."""
    place = tl.arange(0, PLACES)
    value = tl.zeros((PLACES,), tl.float32)
    expert = tl.zeros((PLACES,), tl.int32)
    left = tl.where(column < E, p, -2.0)  # below what was taken: padding is never a choice
    for k in range(K):
        top = tl.max(left, axis=0)
        # A row of NaN equals nothing: any expert will do, as long as there is one.
        at = tl.minimum(tl.min(tl.where(left == top, column, E), axis=0), E - 1)
        value = tl.where(place == k, top, value)
        expert = tl.where(place == k, at, expert)
        left = tl.where(column == at, -1.0, left)
    return value, expert, left


@triton.jit
def _write(experts, weights, row, value, expert, K: tl.constexpr, PLACES: tl.constexpr):
    """A row's K experts, and their probabilities divided by their sum."""
    place = tl.arange(0, PLACES)
    at = row.to(tl.int64) * K + place
    tl.store(experts + at, expert.to(tl.int64), mask=place < K)
    tl.store(weights + at, value / tl.sum(value, axis=0), mask=place < K)


@triton.jit(do_not_specialize=["T"])
def _own(logits, chosen, experts, weights, counts, rerouted, T, row_stride, E: tl.constexpr, K: tl.constexpr,
         FREE: tl.constexpr, WIDE: tl.constexpr, PLACES: tl.constexpr):  # fmt: skip
    """Each row's own K choices. FREE: they are the routing, and a single row is its own count."""
    row = tl.program_id(0)
    column = tl.arange(0, WIDE)
    x = tl.load(logits + row.to(tl.int64) * row_stride + column, mask=column < E, other=float("-inf")).to(tl.float32)
    p = _softmax(x)
    value, expert, left = _best(p, column, E, K, PLACES)
    tl.store(chosen + row.to(tl.int64) * E + column, tl.where(left == -1.0, p, -1.0), mask=column < E)
    if FREE:
        _write(experts, weights, row, value, expert, K, PLACES)
        if T == 1:
            tl.store(counts, K)
            tl.store(rerouted, 0.0)


@triton.jit(do_not_specialize=["T"])
def _count(chosen, counts, rerouted, T, E: tl.constexpr, WIDE: tl.constexpr):
    """Distinct experts of all rows, where all are allowed."""
    column = tl.arange(0, WIDE)
    top = tl.full((WIDE,), -1.0, tl.float32)
    for start in range(0, T, AHEAD):
        for t in tl.static_range(AHEAD):
            row = tl.zeros((WIDE,), tl.int32) + (start + t)
            p = tl.load(chosen + row * E + column, mask=(column < E) & (row < T), other=-1.0)
            top = tl.maximum(top, p)
    tl.store(counts, tl.sum((top >= 0.0).to(tl.int64), axis=0))
    tl.store(rerouted, 0.0)


@triton.jit
def _needed(mass, column, top_p, WIDE: tl.constexpr, BITS: tl.constexpr):
    """Which experts reach the share `top_p` of the mass [WIDE] first, largest first (ties: lower index)."""
    # The bits of a positive fp32 rank like an integer; the index behind them makes every key of BITS bits its own.
    key = mass.to(tl.int32, bitcast=True).to(tl.int64) * WIDE + (WIDE - 1 - column)
    share = top_p * tl.sum(mass, axis=0)
    # The highest key from which on the experts reach the share, bit by bit: no sort, one sum a step.
    cut, one = tl.full((), 0, tl.int64), tl.full((), 1, tl.int64)
    for i in range(BITS):
        higher = cut + (one << (BITS - 1 - i))
        cut = tl.where(tl.sum(tl.where(key >= higher, mass, 0.0), axis=0) >= share, higher, cut)
    # The first expert is always needed, and a share of one needs them all, however little the last ones add.
    cut = tl.where(top_p >= 1.0, 0, tl.minimum(cut, tl.max(key, axis=0)))
    return (key >= cut) & (mass > 0.0)


@triton.jit(do_not_specialize=["T"])
def _inside(logits, chosen, experts, weights, counts, rerouted, top_p, T, row_stride, E: tl.constexpr, K: tl.constexpr,
            WIDE: tl.constexpr, PLACES: tl.constexpr, BITS: tl.constexpr, HELD: tl.constexpr):  # fmt: skip
    """The block's coreset, and one row routed inside it. counts: touched, kept. HELD: top_p is where a number lies."""
    row = tl.program_id(0)
    if HELD:
        top_p = tl.load(top_p)
    column = tl.arange(0, WIDE)
    mass = tl.zeros((WIDE,), tl.float32)
    votes = tl.zeros((WIDE,), tl.int32)
    # Slot by slot: equal shares make equal sums, whichever slots they come from.
    for start in range(0, T, AHEAD):
        for t in tl.static_range(AHEAD):
            slot = tl.zeros((WIDE,), tl.int32) + (start + t)
            p = tl.load(chosen + slot * E + column, mask=(column < E) & (slot < T), other=-1.0)
            mass += tl.maximum(p, 0.0)
            votes += (p >= 0.0).to(tl.int32)
    allowed = _needed(mass, column, top_p, WIDE, BITS)
    x = tl.load(logits + row.to(tl.int64) * row_stride + column, mask=allowed, other=float("-inf"))
    value, expert, _ = _best(_softmax(x.to(tl.float32)), column, E, K, PLACES)
    _write(experts, weights, row, value, expert, K, PLACES)
    if row == 0:
        tl.store(counts, tl.sum((votes > 0).to(tl.int64), axis=0))
        tl.store(counts + 1, tl.sum(allowed.to(tl.int64), axis=0))
        tl.store(rerouted, tl.sum(tl.where(allowed, 0, votes), axis=0).to(tl.float32) / T)


def _empty(logits: torch.Tensor, top_k: int):
    """chosen [T, E], experts and weights [T, K], counts [2] int64 and rerouted, all to be written."""
    rows, number = logits.shape
    return (
        logits.new_empty(rows, number, dtype=torch.float32),
        logits.new_empty(rows, top_k, dtype=torch.int64),
        logits.new_empty(rows, top_k, dtype=torch.float32),
        logits.new_empty(2, dtype=torch.int64),
        logits.new_empty((), dtype=torch.float32),
    )


def _sizes(number: int, top_k: int) -> dict[str, int]:
    return dict(E=number, K=top_k, WIDE=max(16, triton.next_power_of_2(number)), PLACES=triton.next_power_of_2(top_k))


def route(logits: torch.Tensor, top_k: int) -> Routing:
    """`reference.route` for logits [T, E]; ties go to the lower index."""
    if not is_one_sequence(2, logits):
        return reference.route(logits, top_k)
    logits = logits if logits.stride(-1) == 1 else logits.contiguous()
    rows, number = logits.shape
    sizes = _sizes(number, top_k)
    chosen, experts, weights, counts, rerouted = _empty(logits, top_k)
    _own[(rows,)](
        logits, chosen, experts, weights, counts, rerouted, rows, logits.stride(0), **sizes, FREE=True, num_warps=1
    )
    if rows > 1:
        _count[(1,)](chosen, counts, rerouted, rows, E=number, WIDE=sizes["WIDE"], num_warps=4)
    return Routing(experts, weights, counts[0], counts[0], rerouted)


def route_coreset(
    logits: torch.Tensor, top_k: int, top_p: float | torch.Tensor, valid: torch.Tensor | None = None
) -> Routing:
    """`reference.route_coreset` for logits [B, E]; ties go to the lower index. A batch (`valid`) is the reference's."""
    if valid is not None or not is_one_sequence(2, logits):
        return reference.route_coreset(logits, top_k, top_p, valid)
    logits = logits if logits.stride(-1) == 1 else logits.contiguous()
    rows, number = logits.shape
    sizes = _sizes(number, top_k)
    chosen, experts, weights, counts, rerouted = _empty(logits, top_k)
    _own[(rows,)](
        logits, chosen, experts, weights, counts, rerouted, rows, logits.stride(0), **sizes, FREE=False, num_warps=1
    )
    held = isinstance(top_p, torch.Tensor)  # a graph that was captured once reads the number of each replay there
    _inside[(rows,)](
        logits, chosen, experts, weights, counts, rerouted, top_p if held else float(top_p), rows, logits.stride(0),
        **sizes, BITS=31 + sizes["WIDE"].bit_length() - 1, HELD=held, num_warps=1,
    )  # fmt: skip
    return Routing(experts, weights, counts[0], counts[1], rerouted)
