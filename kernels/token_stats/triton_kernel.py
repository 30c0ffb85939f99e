"""Token statistics on a GPU: the logits are read once, by many programs a row."""

import torch
import triton
import triton.language as tl

from clover_kernels.inference import is_one_sequence
from clover_kernels.token_stats import reference
from clover_kernels.token_stats.reference import TokenStats

SPAN = 4096  # columns a program reads: 61 programs a row at 248,320 columns, so that one row already fills a card


@triton.jit
def _span(logits, peak, place, mass, moment, row_stride, mask_token_id, V, spans, SPAN: tl.constexpr):
    """Of one span of a row: m = max x, its lowest index, sum e^(x - m), and sum e^(x - m) (x - m)."""
    row, span = tl.program_id(0), tl.program_id(1)
    column = span * SPAN + tl.arange(0, SPAN)
    x = tl.load(logits + row.to(tl.int64) * row_stride + column, mask=column < V, other=float("-inf")).to(tl.float32)
    x = tl.where(column == mask_token_id, float("-inf"), x)  # in the load's mask it would part every 16 bytes
    m = tl.max(x, axis=0)
    # A span may hold nothing but -inf: x - m would be NaN there.
    shifted = x - tl.where(m == float("-inf"), 0.0, m)
    e = tl.exp(shifted)
    at = row * spans + span
    tl.store(peak + at, m)
    tl.store(place + at, tl.min(tl.where(x == m, column, V), axis=0))
    tl.store(mass + at, tl.sum(e, axis=0))
    tl.store(moment + at, tl.sum(e * tl.where(e > 0.0, shifted, 0.0), axis=0))


@triton.jit
def _row(peak, place, mass, moment, token, probability, entropy, spans, SPANS: tl.constexpr):
    """A row's spans brought to its own maximum M: Z = sum e^(x - M), H = log Z - sum e^(x - M) (x - M) / Z."""
    row = tl.program_id(0)
    span = tl.arange(0, SPANS)
    present, at = span < spans, row * spans + span
    m = tl.load(peak + at, mask=present, other=float("-inf"))
    index = tl.load(place + at, mask=present, other=0)
    s = tl.load(mass + at, mask=present, other=0.0)
    w = tl.load(moment + at, mask=present, other=0.0)
    best = tl.max(m, axis=0)
    down = tl.where(m == float("-inf"), 0.0, m - best)
    scale = tl.where(m == float("-inf"), 0.0, tl.exp(down))
    total = tl.sum(s * scale, axis=0)
    # spans stand in the order of their columns, but equal maxima of two spans still ask for the lower column
    tl.store(token + row, tl.min(tl.where(m == best, index, 0x7FFFFFFF), axis=0).to(tl.int64))
    tl.store(probability + row, 1.0 / total)
    tl.store(entropy + row, tl.log(total) - tl.sum((w + s * down) * scale, axis=0) / total)


def token_stats(logits: torch.Tensor, mask_token_id: int | None) -> TokenStats:
    """`reference.token_stats` for logits [T, V] of any float dtype."""
    if not is_one_sequence(2, logits):
        return reference.token_stats(logits, mask_token_id)
    logits = logits if logits.stride(-1) == 1 else logits.contiguous()
    rows, width = logits.shape
    spans = triton.cdiv(width, SPAN)
    partial = logits.new_empty(3, rows, spans, dtype=torch.float32)
    place = logits.new_empty(rows, spans, dtype=torch.int32)
    token = logits.new_empty(rows, dtype=torch.int64)
    probability, entropy = logits.new_empty(2, rows, dtype=torch.float32)
    peak, mass, moment = partial
    mask = -1 if mask_token_id is None else mask_token_id
    _span[(rows, spans)](
        logits, peak, place, mass, moment, logits.stride(0), mask, width, spans, SPAN=SPAN, num_warps=8
    )
    _row[(rows,)](
        peak, place, mass, moment, token, probability, entropy, spans, SPANS=triton.next_power_of_2(spans), num_warps=1
    )
    return TokenStats(token, probability, entropy)
