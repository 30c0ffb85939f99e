"""In-block mixing on a GPU: one value head and a few of its query slots a program, everything in fp32."""

import torch
import triton
import triton.language as tl

from clover_kernels.block_mix import reference
from clover_kernels.inference import is_one_sequence

ROWS = 16  # query slots a program: two programs a head for a block of 32, the fewest rows a product takes
DEPTH = 32  # key dimensions at a time
SLOTS = 256  # a longer block than this is the reference's: all its slots stand in one tile


@triton.jit(do_not_specialize=["B"])
def _mix(q, k, v, state, logit_scale, history_bias, history_c, out, B, q_token, q_head, k_token, k_head,
         v_token, v_head, HEADS: tl.constexpr, GROUP: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr,
         ROWS: tl.constexpr, SLOTS: tl.constexpr, DEPTH: tl.constexpr, VALUES: tl.constexpr):  # fmt: skip
    """o_i = softmax([h_i, s_i1 .. s_iB]) . [m_i, v_1 .. v_B]; s, m and h as in the reference."""
    head = tl.program_id(0)
    i = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    j = tl.arange(0, SLOTS)
    d = tl.arange(0, VALUES)
    query = q + i[:, None] * q_token + (head // GROUP) * q_head
    key = k + j[None, :] * k_token + (head // GROUP) * k_head
    scores = tl.zeros((ROWS, SLOTS), tl.float32)
    readout = tl.zeros((ROWS, VALUES), tl.float32)
    q_square = tl.zeros((ROWS,), tl.float32)
    k_square = tl.zeros((SLOTS,), tl.float32)
    for start in range(0, DK, DEPTH):
        c = start + tl.arange(0, DEPTH)
        a = tl.load(query + c[None, :], mask=(i < B)[:, None] & (c < DK)[None, :], other=0.0).to(tl.float32)
        b = tl.load(key + c[:, None], mask=(j < B)[None, :] & (c < DK)[:, None], other=0.0).to(tl.float32)
        of_state = (c < DK)[:, None] & (d < DV)[None, :]
        s = tl.load(state + (head * DK + c[:, None]) * DV + d[None, :], mask=of_state, other=0.0)
        scores = tl.dot(a, b, scores, input_precision="ieee")
        readout = tl.dot(a, s, readout, input_precision="ieee")
        q_square += tl.sum(a * a, axis=1)
        k_square += tl.sum(b * b, axis=0)
    # Normalising q and k after the products is the same, and reads them once.
    q_norm = tl.rsqrt(q_square + 1e-6)[:, None]
    scores *= q_norm * tl.rsqrt(k_square + 1e-6)[None, :] * tl.load(logit_scale + head).to(tl.float32)
    scores = tl.where((j < B)[None, :], scores, float("-inf"))
    readout *= q_norm
    size = tl.sqrt(tl.sum(readout * readout, axis=1) / DV + 1e-6)
    history = tl.load(history_bias + head).to(tl.float32) + tl.load(history_c + head).to(tl.float32) * size
    top = tl.maximum(tl.max(scores, axis=1), history)
    e, of_history = tl.exp(scores - top[:, None]), tl.exp(history - top)
    of_values = (j < B)[:, None] & (d < DV)[None, :]
    value = tl.load(v + j[:, None] * v_token + head * v_head + d[None, :], mask=of_values, other=0.0)
    mixed = tl.dot(e, value.to(tl.float32), readout * of_history[:, None], input_precision="ieee")
    mixed = mixed / (tl.sum(e, axis=1) + of_history)[:, None]
    at = (i[:, None] * HEADS + head) * DV + d[None, :]
    tl.store(out + at, mixed.to(out.dtype.element_ty), mask=(i < B)[:, None] & (d < DV)[None, :])


def block_mix(q, k, v, state, logit_scale, history_bias, history_c, valid: torch.Tensor | None = None) -> torch.Tensor:
    """`reference.block_mix` for one block: q, k [B, Hk, Dk], v [B, Hv, Dv], state [Hv, Dk, Dv]; returns [B, Hv, Dv]."""
    given = (q, k, v, state, logit_scale, history_bias, history_c)
    if valid is not None or not is_one_sequence(3, *given) or len(q) > SLOTS:
        return reference.block_mix(*given, valid)
    q, k, v = (y if y.stride(-1) == 1 else y.contiguous() for y in (q, k, v))
    slots, heads, values = v.shape
    out = v.new_empty(v.shape)
    _mix[(heads, triton.cdiv(slots, ROWS))](
        q, k, v, state.contiguous(), logit_scale, history_bias, history_c, out, slots, *q.stride()[:2], *k.stride()[:2],
        *v.stride()[:2], HEADS=heads, GROUP=heads // q.shape[1], DK=q.shape[2], DV=values, ROWS=ROWS,
        SLOTS=max(16, triton.next_power_of_2(slots)), DEPTH=DEPTH, VALUES=max(16, triton.next_power_of_2(values)),
        num_warps=8, num_stages=2,
    )  # fmt: skip
    return out
