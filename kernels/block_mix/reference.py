import torch


def block_mix(q, k, v, state, logit_scale, history_bias, history_c, valid: torch.Tensor | None = None) -> torch.Tensor:
    """Bidirectional mixing inside a block, with the committed text as one more slot. Returns o [..., B, Hv, Dv].

    Known of the released model: one joint softmax per value head, a history slot read from the committed state, the
    three per-head controls, the state untouched. Assumed (A1 in the README), and all of it in this function so that one
    edit fits the truth later: with q, k l2-normalised and S the state,

        s_ij = logit_scale * <q_i, k_j>
        m_i  = S^T q_i
        h_i  = history_bias + history_c * sqrt(mean_d (m_i)_d^2 + 1e-6)
        o_i  = softmax([h_i, s_i1 .. s_iB]) . [m_i, v_1 .. v_B]

    `valid` [..., B] (bool) leaves slots out of the sums: shorter blocks in a batch. All arithmetic is fp32.
    """
    dtype, heads = v.dtype, v.shape[-2]
    q = _normalised(q.float().transpose(-3, -2))  # [..., Hk, B, Dk]
    k = _normalised(k.float().transpose(-3, -2))
    v = v.float().transpose(-3, -2)  # [..., Hv, B, Dv]
    group = heads // q.shape[-3]
    scores = (q @ k.mT).repeat_interleave(group, dim=-3) * logit_scale.float()[:, None, None]  # [..., Hv, B, B]
    if valid is not None:
        scores = scores.masked_fill(~valid[..., None, None, :], float("-inf"))
    readout = q.repeat_interleave(group, dim=-3) @ state.float()  # [..., Hv, B, Dv]
    size = (readout.square().mean(-1, keepdim=True) + 1e-6).sqrt()
    history_bias, history_c = history_bias.float()[:, None, None], history_c.float()[:, None, None]
    history = torch.addcmul(history_bias, history_c, size)  # [..., Hv, B, 1]
    weights = torch.cat((history, scores), dim=-1).softmax(-1)
    o = torch.addcmul(weights[..., 1:] @ v, weights[..., :1], readout)
    return o.transpose(-3, -2).to(dtype)


def _normalised(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)
