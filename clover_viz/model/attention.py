"""Full attention with an output gate, q/k norm, and RoPE on the first dimensions of every head."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from clover_viz.model.cache import AttentionCache, StagedAttention


class Rotation(NamedTuple):
    """cos and sin of the angles of some positions, [T, R] fp32 (R rotated dimensions, the halves repeated)."""

    cos: torch.Tensor
    sin: torch.Tensor


def rotation(config, positions: torch.Tensor) -> Rotation:
    """RoPE angles of absolute positions [T]: position * theta^(-2 i / R)."""
    rope = config.rope_parameters
    dims = int(config.head_dim * rope.get("partial_rotary_factor", 1.0))
    exponent = torch.arange(0, dims, 2, dtype=torch.float32, device=positions.device) / dims
    angles = positions.float()[:, None] * rope["rope_theta"] ** -exponent
    angles = torch.cat((angles, angles), dim=-1)
    return Rotation(angles.cos(), angles.sin())


def _rotate(x: torch.Tensor, angles: Rotation) -> torch.Tensor:
    """x [..., T, H, D]: the first R of D dimensions turned by the position's angle, the rest as they are."""
    dims = angles.cos.shape[-1]
    cos, sin = angles.cos.unsqueeze(-2), angles.sin.unsqueeze(-2)  # [T, 1, R]
    turned, rest = x.split((dims, x.shape[-1] - dims), dim=-1)
    low, high = turned.chunk(2, dim=-1)
    turned = torch.addcmul(turned * cos, torch.cat((-high, low), dim=-1), sin)
    return torch.cat((turned.to(x.dtype), rest), dim=-1)


def _by_key_head(q, k, v, seen: torch.Tensor | None) -> torch.Tensor:
    """Softmax attention as `Attention.mix`, in the one form that a card's fused kernels take together with a mask.

    They ask for four dimensions and a key head for every query head: each key head is an entry of the batch, which its
    group of query heads sees as a view. Of anything else torch makes plain products in fp32, with every key and value
    repeated for its group: 13 GB for 512 tokens at 131,072 positions.
    """
    heads = k.shape[-3]
    grouped = q.unflatten(-3, (heads, -1))  # [..., Hkv, G, T, D]
    k, v = (x.unsqueeze(-3).expand(*grouped.shape[:-2], *x.shape[-2:]).flatten(0, -4) for x in (k, v))  # [N, G, S, D]
    if seen is not None and seen.dim() > 2:  # of a batch, heads as 1
        seen = seen.repeat_interleave(heads, 0)
    # cuDNN, which newer torch prefers on some cards, plans anew for every length, and a prompt's are all different.
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]):
        return F.scaled_dot_product_attention(grouped.flatten(0, -4), k, v, attn_mask=seen).reshape(q.shape)


def _scores(rows: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    """rows [..., N, D] by keys [..., S, D]: fp32 [..., N, S], on a card as they were summed.

    Rounded to bf16 first, a score of a long row is off by more than all the rounding of its factors together.
    """
    halves = rows.dtype in (torch.bfloat16, torch.float16)
    if rows.device.type == "cpu" or not halves or rows.dim() != 3 or rows.requires_grad:
        return (rows @ keys.mT).float()  # a CPU's product has one dtype, a batch's and a gradient's need not be exact
    return torch.bmm(rows, keys.mT, out_dtype=torch.float32)


class HeadNorm(nn.Module):
    """The weight of a zero-centred RMSNorm over D."""

    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(width))


class Attention(nn.Module):
    """H query heads over Hkv key/value heads. Positions are absolute; what is seen is the caller's choice."""

    def __init__(self, config, kernels):
        super().__init__()
        self.head_dim, self.eps, self.kernels = config.head_dim, config.rms_norm_eps, kernels
        width, heads, kv_heads = config.hidden_size, config.num_attention_heads, config.num_key_value_heads
        self.q_proj = nn.Linear(width, 2 * heads * self.head_dim, bias=False)  # per head: D query, then D gate
        self.k_proj = nn.Linear(width, kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(width, kv_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(heads * self.head_dim, width, bias=False)
        self.q_norm = HeadNorm(self.head_dim)
        self.k_norm = HeadNorm(self.head_dim)

    def project(self, x: torch.Tensor, angles: Rotation):
        """x [..., T, C] -> q [..., H, T, D], gate [..., T, H D], k and v [..., Hkv, T, D]; q and k rotated."""
        heads = (*x.shape[:-1], -1, self.head_dim)
        q, gate = self.q_proj(x).view(*heads[:-1], 2 * self.head_dim).chunk(2, dim=-1)
        q = self.kernels.rms_norm(q, self.q_norm.weight, self.eps)
        k = self.kernels.rms_norm(self.k_proj(x).view(heads), self.k_norm.weight, self.eps)
        v = self.v_proj(x).view(heads)
        turned = _rotate(torch.cat((q, k), dim=-2), angles).split((q.shape[-2], k.shape[-2]), dim=-2)
        q, k, v = (y.transpose(-3, -2) for y in (*turned, v))
        return q, gate.flatten(-2), k, v

    def attend(self, q, gate, k, v, seen: torch.Tensor | None) -> torch.Tensor:
        """Softmax attention, then the gate and the output projection. `seen` [..., T, S] (heads as 1); None is all."""
        mixed = self.mix(q, k, v, seen).transpose(-3, -2).flatten(-2)  # [..., T, H D]
        return self.o_proj(mixed * gate.sigmoid())

    @staticmethod
    def mix(q, k, v, seen: torch.Tensor | None) -> torch.Tensor:
        group = q.shape[-3] // k.shape[-3]
        if q.shape[-2] <= 64:
            # Few queries: fold the group into the query rows, so that keys and values are neither copied nor expanded.
            rows = q.unflatten(-3, (-1, group)).flatten(-3, -2)  # [..., Hkv, G T, D]
            scores = _scores(rows, k) * q.shape[-1] ** -0.5
            if seen is not None:
                hidden = ~seen.unsqueeze(-3)
                scores = scores.unflatten(-2, (group, -1)).masked_fill(hidden, float("-inf")).flatten(-3, -2)
            return (scores.softmax(-1).to(v.dtype) @ v).unflatten(-2, (group, -1)).flatten(-4, -3)
        if q.device.type == "cuda":
            return _by_key_head(q, k, v, seen)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=seen, enable_gqa=group > 1)

    def causal(self, x: torch.Tensor, angles: Rotation, cache: AttentionCache, length: int):
        """x [T, C] after `length` committed tokens. Returns [T, C] and the rows to append."""
        q, gate, k, v = self.project(x, angles)
        keys, values = cache.with_block(length, k, v)
        seen = None
        if len(x) > 1:
            seen = torch.ones(len(x), length + len(x), dtype=torch.bool, device=x.device).tril(length)
        return self.attend(q, gate, keys, values, seen), StagedAttention(k, v)

    def preview(self, x: torch.Tensor, angles: Rotation, cache: AttentionCache, length: int) -> torch.Tensor:
        """x [B, C]: every slot sees the whole committed text and the whole block."""
        q, gate, k, v = self.project(x, angles)
        keys, values = cache.with_block(length, k, v)
        return self.attend(q, gate, keys, values, None)
