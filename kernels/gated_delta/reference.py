from typing import NamedTuple

import torch


class Update(NamedTuple):
    """What a pass would write into the state, token by token, in fp32."""

    u: torch.Tensor  # [..., Hv, T, Dv] the corrections beta (v - S^T k)
    k: torch.Tensor  # [..., Hk, T, Dk] the normalised keys
    g: torch.Tensor  # [..., Hv, T] the log decays


def _normalised(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)


def _heads_first(q, k, v, g, beta):
    """fp32, heads before tokens, q and k normalised, q scaled; q and k still one per key head."""
    q = _normalised(q.float().transpose(-3, -2)) * q.shape[-1] ** -0.5  # [..., Hk, T, Dk]
    k = _normalised(k.float().transpose(-3, -2))
    return q, k, v.float().transpose(-3, -2), g.float().transpose(-2, -1), beta.float().transpose(-2, -1)


def _per_value_head(x: torch.Tensor, heads: int) -> torch.Tensor:
    """[..., Hk, T, T'] -> [..., Hv, T, T']: each key head serves Hv // Hk neighbouring value heads."""
    return x if x.shape[-3] == heads else x.repeat_interleave(heads // x.shape[-3], dim=-3)


def _unit_lower_solve(system: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """X of (I + L) X = R, where L is what stands below the diagonal of `system` [..., T, T]; R [..., T, M]."""
    if system.device.type == "cpu" and system[..., 0, 0].numel() <= 32:
        return torch.linalg.solve_triangular(system, right, upper=False, unitriangular=True)  # reads nothing else of it
    return _UnitLowerSolve.apply(system.tril(-1), right)


class _UnitLowerSolve(torch.autograd.Function):
    """The solve for many systems at once.

    The inverse is built from the diagonal outwards: [[A, 0], [C, D]]^-1 = [[A^-1, 0], [-D^-1 C A^-1, D^-1]], doubling
    the block size each time. As stable as forward substitution, and all of it batched products, where a library's
    triangular solve goes matrix by matrix.
    """

    @staticmethod
    def forward(ctx, lower, right):
        length = lower.shape[-1]
        size = 1 << (length - 1).bit_length()
        inverse = torch.nn.functional.pad(lower, (0, size - length, 0, size - length)).neg()
        inverse.diagonal(dim1=-2, dim2=-1).fill_(1.0)
        half = 2  # blocks of 2 are done: [[1, 0], [c, 1]]^-1 = [[1, 0], [-c, 1]]
        while half < size:
            # Diagonal blocks of twice the size, as views: corner <- D^-1 (-C) A^-1 with -C standing in the corner.
            tiles = inverse.unflatten(-1, (-1, 2 * half)).unflatten(-3, (-1, 2 * half))  # [..., n, 2h, n, 2h]
            tiles = tiles.diagonal(dim1=-4, dim2=-2).movedim(-1, -3)  # [..., n, 2h, 2h]
            corner = tiles[..., half:, :half]
            corner.copy_(tiles[..., half:, half:] @ corner @ tiles[..., :half, :half])
            half *= 2
        inverse = inverse[..., :length, :length]
        solution = inverse @ right
        ctx.save_for_backward(inverse, solution)
        return solution

    @staticmethod
    def backward(ctx, grad):
        inverse, solution = ctx.saved_tensors
        grad_right = inverse.mT @ grad
        return (grad_right @ solution.mT).neg().tril(-1), grad_right


def _within(q, k, v, g, beta):
    """The part of a chunk that does not depend on the state it starts from.

    Every correction solves u_t = beta_t (v_t - e^{G_t} S0^T k_t - sum_{s<t} e^{G_t - G_s} (k_t . k_s) u_s), a unit
    lower triangular system whose right-hand side is linear in S0. With A the system:
    u = A^-1 (beta v) - A^-1 (beta e^G k) S0.
    Returns that v term [..., T, Dv], the k term [..., T, Dk], the scores of the queries [..., T, T] and G [..., T].
    """
    heads = v.shape[-3]
    total = g.cumsum(-1)  # [..., Hv, T]
    causal = torch.ones(g.shape[-1], g.shape[-1], dtype=torch.bool, device=g.device).tril()
    decay = (total.unsqueeze(-1) - total.unsqueeze(-2)).masked_fill(~causal, float("-inf")).exp()
    system = _per_value_head(k @ k.mT, heads) * decay * beta.unsqueeze(-1)
    scores = _per_value_head(q @ k.mT, heads) * decay
    k = _per_value_head(k, heads)
    right = torch.cat((v, k * total.exp().unsqueeze(-1)), dim=-1) * beta.unsqueeze(-1)
    solved = _unit_lower_solve(system, right)
    from_v, from_k = solved.split((v.shape[-1], k.shape[-1]), dim=-1)
    return from_v, from_k, scores, total


def gated_delta(q, k, v, g, beta, state: torch.Tensor) -> tuple[torch.Tensor, Update]:
    """One pass of T tokens from a frozen state. Returns o [..., T, Hv, Dv] in the dtype of v, and the staged update.

    The work grows with T^2: meant for T up to a block or a chunk.
    """
    dtype = v.dtype
    q, k, v, g, beta = _heads_first(q, k, v, g, beta)
    heads = v.shape[-3]
    if v.shape[-2] == 1:
        # One token needs no system: the same four lines as the definition.
        decayed = state * g.exp().unsqueeze(-1)
        query, key = _per_value_head(q, heads), _per_value_head(k, heads)
        u = (v - key @ decayed) * beta.unsqueeze(-1)
        o = query @ decayed + (query * key).sum(-1, keepdim=True) * u
    else:
        from_v, from_k, scores, total = _within(q, k, v, g, beta)
        u = from_v - from_k @ state
        o = (_per_value_head(q, heads) * total.exp().unsqueeze(-1)) @ state + scores @ u
    return o.transpose(-3, -2).to(dtype), Update(u, k, g)


def gated_delta_advance(state: torch.Tensor, update: Update, n: int) -> torch.Tensor:
    """S_n = e^{G_n} S_0 + sum_{t<=n} e^{G_n - G_t} k_t u_t^T: the state after the first n tokens."""
    if n == 0:
        return state
    if n == 1:
        decay = update.g[..., 0].exp()[..., None, None]
        k = _per_value_head(update.k[..., :1, :], state.shape[-3])
        return torch.addcmul(state * decay, k.mT, update.u[..., :1, :])
    total = update.g[..., :n].cumsum(-1)
    weight = (total[..., -1:] - total).exp().unsqueeze(-1)  # [..., Hv, n, 1]
    k = _per_value_head(update.k[..., :n, :], state.shape[-3])
    return state * total[..., -1].exp()[..., None, None] + k.mT @ (update.u[..., :n, :] * weight)


def gated_delta_prefill(q, k, v, g, beta, state: torch.Tensor, chunk: int = 32) -> tuple[torch.Tensor, torch.Tensor]:
    """A text of any length T >= 1, chunk by chunk.

    Returns o [..., T, Hv, Dv] and the states [N + 1, ..., Hv, Dk, Dv]: the one given, then the one after each chunk.
    """
    dtype, length = v.dtype, v.shape[-3]
    heads = v.shape[-2]
    q, k, v, g, beta = _heads_first(q, k, v, g, beta)
    pad = -length % chunk
    if pad:
        # A token with k = 0, beta = 0 and g = 0 leaves the state as it is.
        q, k, v = (torch.nn.functional.pad(x, (0, 0, 0, pad)) for x in (q, k, v))
        g, beta = (torch.nn.functional.pad(x, (0, pad)) for x in (g, beta))
    q, k, v = (x.unflatten(-2, (-1, chunk)).movedim(-3, 0) for x in (q, k, v))  # [N, ..., H, chunk, D]
    g, beta = (x.unflatten(-1, (-1, chunk)).movedim(-2, 0) for x in (g, beta))
    from_v, from_k, scores, total = _within(q, k, v, g, beta)
    keep = total[..., -1].exp()[..., None, None]
    write = (_per_value_head(k, heads) * (total[..., -1:] - total).exp().unsqueeze(-1)).mT  # [N, ..., Hv, Dk, chunk]
    states, corrections = [state], []
    for i in range(len(from_v)):
        u = from_v[i] - from_k[i] @ states[-1]
        corrections.append(u)
        states.append(states[-1] * keep[i] + write[i] @ u)
    states = torch.stack(states)
    o = (_per_value_head(q, heads) * total.exp().unsqueeze(-1)) @ states[:-1] + scores @ torch.stack(corrections)
    o = o.movedim(0, -3).flatten(-3, -2)[..., :length, :]  # [..., Hv, T, Dv]
    return o.transpose(-3, -2).to(dtype), states
