"""The gated delta rule on a GPU, everything in fp32.

A short pass and its advance take one program for a value head and a few of its value dimensions: the columns of a state
do not know of each other. A pass is the definition, token by token, the state in registers. A text goes chunk by chunk:
`_within` prepares every chunk on its own (the formulas are those of the reference's `_within`), `_scan` carries the
state through them.
"""

import torch
import triton
import triton.language as tl

from clover_kernels.gated_delta import reference
from clover_kernels.gated_delta.reference import Update
from clover_kernels.inference import is_one_sequence
from clover_kernels.interpreter import mend

mend()  # of the loops over T and over chunks

PASS_VALUES = 8  # value dimensions of a program: one warp, a state of 128 x 8 in it
ADVANCE_VALUES = 32
ADVANCE_TOKENS = 16
SCAN_VALUES = 16
DEPTH = 32  # key dimensions of one product


@triton.jit
def _token(q, k, v, g, beta, t, T, head, key_head, c, d, q_token, q_head, k_token, k_head, v_token, v_head,
           DK: tl.constexpr, DV: tl.constexpr, HEADS: tl.constexpr):  # fmt: skip
    """What token t brings to a head, in fp32; past the end the last one again, which nobody looks at."""
    t = tl.minimum(t, T - 1)
    query = tl.load(q + t * q_token + key_head * q_head + c, mask=c < DK, other=0.0).to(tl.float32)
    key = tl.load(k + t * k_token + key_head * k_head + c, mask=c < DK, other=0.0).to(tl.float32)
    value = tl.load(v + t * v_token + head * v_head + d, mask=d < DV, other=0.0).to(tl.float32)
    decay = tl.load(g + t * HEADS + head).to(tl.float32)
    strength = tl.load(beta + t * HEADS + head).to(tl.float32)
    return query, key, value, decay, strength


@triton.jit(do_not_specialize=["T"])
def _pass(q, k, v, g, beta, state, out, u_out, k_out, T, q_token, q_head, k_token, k_head, v_token, v_head, scale,
          HEADS: tl.constexpr, GROUP: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr, KEYS: tl.constexpr,
          VALUES: tl.constexpr):  # fmt: skip
    """S <- e^g S;  u = beta (v - S^T k);  S <- S + k u^T;  o = S^T q."""
    head, key_head = tl.program_id(0), tl.program_id(0) // GROUP
    c, d = tl.arange(0, KEYS), tl.program_id(1) * VALUES + tl.arange(0, VALUES)
    at = (head * DK + c[:, None]) * DV + d[None, :]
    s = tl.load(state + at, mask=(c < DK)[:, None] & (d < DV)[None, :], other=0.0)
    # One token ahead: its rows are on their way while this one is worked on.
    q1, k1, v1, g1, b1 = _token(
        q, k, v, g, beta, 0, T, head, key_head, c, d, q_token, q_head, k_token, k_head, v_token, v_head, DK, DV, HEADS
    )
    for t in range(T):
        query, key, value, decay, strength = q1, k1, v1, g1, b1
        q1, k1, v1, g1, b1 = _token(
            q, k, v, g, beta, t + 1, T, head, key_head, c, d, q_token, q_head, k_token, k_head, v_token, v_head, DK, DV,
            HEADS,
        )  # fmt: skip
        query *= tl.rsqrt(tl.sum(query * query, axis=0) + 1e-6) * scale
        key *= tl.rsqrt(tl.sum(key * key, axis=0) + 1e-6)
        s *= tl.exp(decay)
        u = (value - tl.sum(s * key[:, None], axis=0)) * strength
        s += key[:, None] * u[None, :]
        o = tl.sum(s * query[:, None], axis=0)
        tl.store(out + (t * HEADS + head) * DV + d, o.to(out.dtype.element_ty), mask=d < DV)
        tl.store(u_out + (head * T + t) * DV + d, u, mask=d < DV)
        if (tl.program_id(1) == 0) & (head % GROUP == 0):
            tl.store(k_out + (key_head * T + t) * DK + c, key, mask=c < DK)


@triton.jit(do_not_specialize=["n"])
def _advance(state, u, k, g, out, n, u_head, u_token, k_head, k_token, g_head, g_token, GROUP: tl.constexpr,
             DK: tl.constexpr, DV: tl.constexpr, KEYS: tl.constexpr, VALUES: tl.constexpr,
             TOKENS: tl.constexpr):  # fmt: skip
    """S <- e^G S + sum_t e^(G - G_t) k_t u_t^T, a tile of tokens at a time; G the sum of the tile's g."""
    head = tl.program_id(0)
    c, d = tl.arange(0, KEYS), tl.program_id(1) * VALUES + tl.arange(0, VALUES)
    at = (head * DK + c[:, None]) * DV + d[None, :]
    inside = (c < DK)[:, None] & (d < DV)[None, :]
    s = tl.load(state + at, mask=inside, other=0.0)
    for start in range(0, n, TOKENS):
        t = start + tl.arange(0, TOKENS)
        decay = tl.load(g + head * g_head + t * g_token, mask=t < n, other=0.0)
        total = tl.sum(decay, axis=0)
        weight = tl.exp(total - tl.cumsum(decay, axis=0))
        key = tl.load(k + (head // GROUP) * k_head + t[None, :] * k_token + c[:, None],
                      mask=(t < n)[None, :] & (c < DK)[:, None], other=0.0)  # fmt: skip
        write = tl.load(u + head * u_head + t[:, None] * u_token + d[None, :],
                        mask=(t < n)[:, None] & (d < DV)[None, :], other=0.0)  # fmt: skip
        s = tl.dot(key, write * weight[:, None], s * tl.exp(total), input_precision="ieee")
    tl.store(out + at, s, mask=inside)


@triton.jit
def _unit_lower_inverse(lower, TOKENS: tl.constexpr):
    """(I + L)^-1 for a strictly lower triangular L [TOKENS, TOKENS], row by row: a power series loses all digits."""
    row = tl.arange(0, TOKENS)[:, None]
    inverse = -lower
    for i in range(1, TOKENS):
        line = tl.sum(tl.where(row == i, inverse, 0.0), axis=0)
        line += tl.sum(line[:, None] * inverse, axis=0)
        inverse = tl.where(row == i, line[None, :], inverse)
    return inverse + tl.where(row == tl.arange(0, TOKENS)[None, :], 1.0, 0.0)


@triton.jit(do_not_specialize=["T", "chunks"])
def _within(q, k, v, g, beta, from_v, from_k, q_out, k_out, scores, keep, T, chunks, q_token, q_head, k_token, k_head,
            v_token, v_head, scale, HEADS: tl.constexpr, GROUP: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr,
            CHUNK: tl.constexpr, TOKENS: tl.constexpr, DEPTH: tl.constexpr):  # fmt: skip
    """All of a chunk that does not depend on the state it starts from; every array [Hv, N, TOKENS, ...]."""
    chunk, head = tl.program_id(0), tl.program_id(1)
    i = tl.arange(0, TOKENS)
    t = chunk * CHUNK + i
    # A row past the end is a token with k = 0, beta = 0 and g = 0: it leaves the state as it is.
    here = (t < T) & (i < CHUNK)
    query, key = q + (head // GROUP) * q_head, k + (head // GROUP) * k_head
    decay = tl.load(g + t * HEADS + head, mask=here, other=0.0).to(tl.float32)
    strength = tl.load(beta + t * HEADS + head, mask=here, other=0.0).to(tl.float32)
    total, summed = tl.sum(decay, axis=0), tl.cumsum(decay, axis=0)

    of_keys, of_queries = tl.zeros((TOKENS, TOKENS), tl.float32), tl.zeros((TOKENS, TOKENS), tl.float32)
    k_square, q_square = tl.zeros((TOKENS,), tl.float32), tl.zeros((TOKENS,), tl.float32)
    for start in range(0, DK, DEPTH):
        c = start + tl.arange(0, DEPTH)
        inside = here[:, None] & (c < DK)[None, :]
        a = tl.load(query + t[:, None] * q_token + c[None, :], mask=inside, other=0.0).to(tl.float32)
        b = tl.load(key + t[:, None] * k_token + c[None, :], mask=inside, other=0.0).to(tl.float32)
        of_keys = tl.dot(b, tl.trans(b), of_keys, input_precision="ieee")
        of_queries = tl.dot(a, tl.trans(b), of_queries, input_precision="ieee")
        k_square += tl.sum(b * b, axis=1)
        q_square += tl.sum(a * a, axis=1)
    k_norm, q_norm = tl.rsqrt(k_square + 1e-6), tl.rsqrt(q_square + 1e-6) * scale
    causal = i[:, None] >= i[None, :]
    between = tl.exp(tl.where(causal, summed[:, None] - summed[None, :], float("-inf"))) * k_norm[None, :]
    system = of_keys * between * (strength * k_norm)[:, None]
    inverse = _unit_lower_inverse(tl.where(i[:, None] > i[None, :], system, 0.0), TOKENS)

    row = ((head * chunks + chunk) * TOKENS + i)[:, None]
    tl.store(scores + row * TOKENS + i[None, :], of_queries * between * q_norm[:, None])
    tl.store(keep + head * chunks + chunk, tl.exp(total))
    for start in range(0, DK, DEPTH):
        c = start + tl.arange(0, DEPTH)
        inside, at = here[:, None] & (c < DK)[None, :], row * DK + c[None, :]
        kept = (c < DK)[None, :] & (i >= 0)[:, None]
        a = tl.load(query + t[:, None] * q_token + c[None, :], mask=inside, other=0.0).to(tl.float32)
        b = tl.load(key + t[:, None] * k_token + c[None, :], mask=inside, other=0.0).to(tl.float32) * k_norm[:, None]
        tl.store(q_out + at, a * (q_norm * tl.exp(summed))[:, None], mask=kept)
        tl.store(k_out + at, b * tl.exp(total - summed)[:, None], mask=kept)
        right = b * (strength * tl.exp(summed))[:, None]
        tl.store(from_k + at, tl.dot(inverse, right, input_precision="ieee"), mask=kept)
    for start in range(0, DV, DEPTH):
        d = start + tl.arange(0, DEPTH)
        inside = here[:, None] & (d < DV)[None, :]
        b = tl.load(v + head * v_head + t[:, None] * v_token + d[None, :], mask=inside, other=0.0).to(tl.float32)
        right = tl.dot(inverse, b * strength[:, None], input_precision="ieee")
        tl.store(from_v + row * DV + d[None, :], right, mask=(d < DV)[None, :] & (i >= 0)[:, None])


@triton.jit
def _times(rows, row, s, start, DK: tl.constexpr, DEPTH: tl.constexpr):
    """Columns start .. start + DEPTH of some rows [TOKENS, Dk], times those rows of the state [DEPTH, VALUES]."""
    c = start + tl.arange(0, DEPTH)
    part = tl.load(rows + row[:, None] * DK + c[None, :], mask=(row >= 0)[:, None] & (c < DK)[None, :], other=0.0)
    return tl.dot(part, s, input_precision="ieee")


@triton.jit
def _written(k, row, u, s, keep, states, at, start, DK: tl.constexpr, DV: tl.constexpr, DEPTH: tl.constexpr):
    """keep s + k^T u for rows start .. start + DEPTH of the state, also stored."""
    c = start + tl.arange(0, DEPTH)
    key = tl.load(k + row[None, :] * DK + c[:, None], mask=(row >= 0)[None, :] & (c < DK)[:, None], other=0.0)
    s = tl.dot(key, u, s * keep, input_precision="ieee")
    _store_state(states, at, s, start, DK, DV, DEPTH)
    return s


@triton.jit
def _load_state(state, at, start, DK: tl.constexpr, DV: tl.constexpr, DEPTH: tl.constexpr):
    """Rows start .. start + DEPTH of a head's state, columns `at`."""
    c = start + tl.arange(0, DEPTH)
    return tl.load(state + c[:, None] * DV + at[None, :], mask=(c < DK)[:, None] & (at < DV)[None, :], other=0.0)


@triton.jit
def _store_state(state, at, s, start, DK: tl.constexpr, DV: tl.constexpr, DEPTH: tl.constexpr):
    c = start + tl.arange(0, DEPTH)
    tl.store(state + c[:, None] * DV + at[None, :], s, mask=(c < DK)[:, None] & (at < DV)[None, :])


@triton.jit(do_not_specialize=["T", "chunks"])
def _scan(from_v, from_k, q, k, scores, keep, state, states, out, T, chunks, HEADS: tl.constexpr, DK: tl.constexpr,
          DV: tl.constexpr, KEYS: tl.constexpr, VALUES: tl.constexpr, CHUNK: tl.constexpr, TOKENS: tl.constexpr,
          DEPTH: tl.constexpr):  # fmt: skip
    """u = from_v - from_k S;  o = q S + scores u;  S <- keep S + k^T u, chunk by chunk; every S is kept.

    The state stands in up to four slices of DEPTH rows: a product over all 128 at once would not fit the registers.
    """
    head = tl.program_id(0)
    i, d = tl.arange(0, TOKENS), tl.program_id(1) * VALUES + tl.arange(0, VALUES)
    state += head * DK * DV
    states += head * DK * DV
    s0 = _load_state(state, d, 0, DK, DV, DEPTH)
    _store_state(states, d, s0, 0, DK, DV, DEPTH)
    if KEYS > DEPTH:
        s1 = _load_state(state, d, DEPTH, DK, DV, DEPTH)
        _store_state(states, d, s1, DEPTH, DK, DV, DEPTH)
    if KEYS > 2 * DEPTH:
        s2 = _load_state(state, d, 2 * DEPTH, DK, DV, DEPTH)
        s3 = _load_state(state, d, 3 * DEPTH, DK, DV, DEPTH)
        _store_state(states, d, s2, 2 * DEPTH, DK, DV, DEPTH)
        _store_state(states, d, s3, 3 * DEPTH, DK, DV, DEPTH)
    for n in range(chunks):
        row = (head * chunks + n) * TOKENS + i
        kept = tl.load(keep + head * chunks + n)
        u = tl.load(from_v + row[:, None] * DV + d[None, :], mask=(i >= 0)[:, None] & (d < DV)[None, :], other=0.0)
        u -= _times(from_k, row, s0, 0, DK, DEPTH)
        o = _times(q, row, s0, 0, DK, DEPTH)
        if KEYS > DEPTH:
            u -= _times(from_k, row, s1, DEPTH, DK, DEPTH)
            o += _times(q, row, s1, DEPTH, DK, DEPTH)
        if KEYS > 2 * DEPTH:
            u -= _times(from_k, row, s2, 2 * DEPTH, DK, DEPTH) + _times(from_k, row, s3, 3 * DEPTH, DK, DEPTH)
            o += _times(q, row, s2, 2 * DEPTH, DK, DEPTH) + _times(q, row, s3, 3 * DEPTH, DK, DEPTH)
        states += HEADS * DK * DV
        s0 = _written(k, row, u, s0, kept, states, d, 0, DK, DV, DEPTH)
        if KEYS > DEPTH:
            s1 = _written(k, row, u, s1, kept, states, d, DEPTH, DK, DV, DEPTH)
        if KEYS > 2 * DEPTH:
            s2 = _written(k, row, u, s2, kept, states, d, 2 * DEPTH, DK, DV, DEPTH)
            s3 = _written(k, row, u, s3, kept, states, d, 3 * DEPTH, DK, DV, DEPTH)
        o = tl.dot(tl.load(scores + row[:, None] * TOKENS + i[None, :]), u, o, input_precision="ieee")
        t = n * CHUNK + i
        tl.store(out + (t[:, None] * HEADS + head) * DV + d[None, :], o.to(out.dtype.element_ty),
                 mask=((t < T) & (i < CHUNK))[:, None] & (d < DV)[None, :])  # fmt: skip


def _ready(q, k, v, g, beta, state):
    """Heads in one piece (tokens and heads may be apart, as slices of a projection are), gates and state contiguous."""
    q, k, v = (y if y.stride(-1) == 1 else y.contiguous() for y in (q, k, v))
    return q, k, v, g.contiguous(), beta.contiguous(), state.contiguous()


def _sizes(q: torch.Tensor, v: torch.Tensor) -> dict[str, int]:
    heads, (key_heads, keys) = v.shape[1], q.shape[1:]
    padded = max(16, triton.next_power_of_2(keys))
    return dict(HEADS=heads, GROUP=heads // key_heads, DK=keys, DV=v.shape[2], KEYS=padded)


def gated_delta(q, k, v, g, beta, state: torch.Tensor) -> tuple[torch.Tensor, Update]:
    """`reference.gated_delta`: q, k [T, Hk, Dk], v [T, Hv, Dv], g, beta [T, Hv], state [Hv, Dk, Dv], only read."""
    if not is_one_sequence(3, q, k, v, g, beta, state):
        return reference.gated_delta(q, k, v, g, beta, state)
    q, k, v, g, beta, state = _ready(q, k, v, g, beta, state)
    length, heads, values = v.shape
    out = v.new_empty(v.shape)
    u = v.new_empty(heads, length, values, dtype=torch.float32)
    keys = v.new_empty(q.shape[1], length, q.shape[2], dtype=torch.float32)
    _pass[(heads, triton.cdiv(values, PASS_VALUES))](
        q, k, v, g, beta, state, out, u, keys, length, *q.stride()[:2], *k.stride()[:2], *v.stride()[:2],
        q.shape[2] ** -0.5, **_sizes(q, v), VALUES=PASS_VALUES, num_warps=1,
    )  # fmt: skip
    return out, Update(u, keys, g.float().mT)


def gated_delta_advance(state: torch.Tensor, update: Update, n: int) -> torch.Tensor:
    """`reference.gated_delta_advance` for a state [Hv, Dk, Dv]; n = 0 is the state itself, otherwise a new tensor."""
    if n == 0 or not is_one_sequence(3, state, *update):
        return reference.gated_delta_advance(state, update, n)
    state, out = state.contiguous(), state.new_empty(state.shape)
    u, k = (y if y.stride(-1) == 1 else y.contiguous() for y in (update.u, update.k))
    heads, keys, values = state.shape
    _advance[(heads, triton.cdiv(values, ADVANCE_VALUES))](
        state, u, k, update.g, out, n, *u.stride()[:2], *k.stride()[:2], *update.g.stride(), GROUP=heads // k.shape[0],
        DK=keys, DV=values, KEYS=max(16, triton.next_power_of_2(keys)), VALUES=ADVANCE_VALUES, TOKENS=ADVANCE_TOKENS,
        num_warps=8, num_stages=1,
    )  # fmt: skip
    return out


def gated_delta_prefill(q, k, v, g, beta, state: torch.Tensor, chunk: int = 32) -> tuple[torch.Tensor, torch.Tensor]:
    """`reference.gated_delta_prefill` for one text: o [T, Hv, Dv] and the states [N + 1, Hv, Dk, Dv]."""
    if not is_one_sequence(3, q, k, v, g, beta, state) or q.shape[2] > 4 * DEPTH:
        return reference.gated_delta_prefill(q, k, v, g, beta, state, chunk)
    q, k, v, g, beta, state = _ready(q, k, v, g, beta, state)
    (length, heads, values), keys = v.shape, q.shape[2]
    chunks, tokens = triton.cdiv(length, chunk), max(16, triton.next_power_of_2(chunk))
    scratch = [v.new_empty(heads, chunks, tokens, n, dtype=torch.float32) for n in (values, keys, keys, keys, tokens)]
    keep = v.new_empty(heads, chunks, dtype=torch.float32)
    out, states = v.new_empty(v.shape), state.new_empty(chunks + 1, *state.shape)
    _within[(chunks, heads)](
        q, k, v, g, beta, *scratch, keep, length, chunks, *q.stride()[:2], *k.stride()[:2], *v.stride()[:2], keys**-0.5,
        HEADS=heads, GROUP=heads // q.shape[1], DK=keys, DV=values, CHUNK=chunk, TOKENS=tokens, DEPTH=DEPTH,
        num_warps=4, num_stages=1,
    )  # fmt: skip
    _scan[(heads, triton.cdiv(values, SCAN_VALUES))](
        *scratch, keep, state, states, out, length, chunks, HEADS=heads, DK=keys, DV=values,
        KEYS=triton.next_power_of_2(keys), VALUES=SCAN_VALUES, CHUNK=chunk, TOKENS=tokens, DEPTH=DEPTH,
        num_warps=8, num_stages=1,
    )  # fmt: skip
    return out, states
