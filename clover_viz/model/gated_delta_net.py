"""Gated DeltaNet: a recurrent state for the committed text, and bidirectional mixing inside a block."""

import math

import torch
from torch import nn

from clover_viz.model.cache import RecurrentCache, StagedRecurrent


class GatedNorm(nn.Module):
    """The weight of the plain RMSNorm after the mixing, over a value head's D."""

    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))


class GatedDeltaNet(nn.Module):
    """Two mixers over one set of projections: the causal delta rule, and the softmax of a preview.

    Trained for diffusion, beside the causal trunk: `conv_right_weight` and the three `bd_softmax_*` controls.
    """

    def __init__(self, config, kernels):
        super().__init__()
        self.kernels, self.eps = kernels, config.rms_norm_eps
        self.key_heads, self.key_dim = config.linear_num_key_heads, config.linear_key_head_dim
        self.value_heads, self.value_dim = config.linear_num_value_heads, config.linear_value_head_dim
        self.block_size = config.block_size
        width, values = config.hidden_size, self.value_heads * self.value_dim
        channels = 2 * self.key_heads * self.key_dim + values
        self.in_proj_qkv = nn.Linear(width, channels, bias=False)
        self.in_proj_z = nn.Linear(width, values, bias=False)
        self.in_proj_b = nn.Linear(width, self.value_heads, bias=False)
        self.in_proj_a = nn.Linear(width, self.value_heads, bias=False)
        self.conv1d = nn.Conv1d(channels, channels, config.linear_conv_kernel_dim, groups=channels, bias=False)
        self.A_log = nn.Parameter(torch.zeros(self.value_heads))
        self.dt_bias = nn.Parameter(torch.ones(self.value_heads))
        self.norm = GatedNorm(self.value_dim)
        self.out_proj = nn.Linear(values, width, bias=False)
        self.conv_right_weight = nn.Parameter(torch.zeros(channels, 3))
        self.bd_softmax_logit_scale = nn.Parameter(torch.full((self.value_heads,), math.sqrt(self.key_dim)))
        # log(B): the history starts as heavy as the whole block. At 0 it weighs 1 / (B + 1) and hardly learns.
        self.bd_softmax_history_bias = nn.Parameter(torch.full((self.value_heads,), math.log(self.block_size)))
        self.bd_softmax_history_c = nn.Parameter(torch.zeros(self.value_heads))

    @property
    def taps(self) -> torch.Tensor:
        return self.conv1d.weight.squeeze(1)  # [Cc, 4]

    def split(self, mixed: torch.Tensor):
        """[..., T, Cc] after the conv -> q, k [..., T, Hk, Dk], v [..., T, Hv, Dv]"""
        keys = self.key_heads * self.key_dim
        q, k, v = mixed.split((keys, keys, self.value_heads * self.value_dim), dim=-1)
        heads = (self.key_heads, self.key_dim)
        return q.unflatten(-1, heads), k.unflatten(-1, heads), v.unflatten(-1, (self.value_heads, self.value_dim))

    def gates(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Log decay g = -exp(A_log) softplus(a + dt_bias) and write strength beta = sigmoid(b), both [..., T, Hv]."""
        return self.kernels.delta_gates(x, self.in_proj_a.weight, self.in_proj_b.weight, self.A_log, self.dt_bias)

    def finish(self, o: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Gated norm and output projection. o [..., T, Hv, Dv], x [..., T, C] -> [..., T, C]"""
        z = self.in_proj_z(x).view(o.shape)
        return self.out_proj(self.kernels.gated_rms_norm(o, z, self.norm.weight, self.eps).flatten(-2))

    def causal(self, x: torch.Tensor, cache: RecurrentCache) -> tuple[torch.Tensor, StagedRecurrent]:
        """x [T, C] after the committed text; the cache is only read."""
        rows = self.in_proj_qkv(x)
        q, k, v = self.split(self.kernels.causal_conv(rows, cache.ring, self.taps))
        o, update = self.kernels.gated_delta(q, k, v, *self.gates(x), cache.state)
        return self.finish(o, x), StagedRecurrent(update, torch.cat((cache.ring, rows)))

    def scan(self, x: torch.Tensor, ring: torch.Tensor, state: torch.Tensor, chunk: int = 32, present=None):
        """A long text [..., T, C] from a state. Returns out [..., T, C], states [N + 1, ...] by chunk, rows with ring.

        `present` [..., T] (bool) is False for rows before a text begins: with k = v = 0 they leave it empty.
        """
        rows = self.in_proj_qkv(x)
        if present is not None:
            rows = rows * present.unsqueeze(-1)
        q, k, v = self.split(self.kernels.causal_conv(rows, ring, self.taps))
        o, states = self.kernels.gated_delta_prefill(q, k, v, *self.gates(x), state, chunk)
        return self.finish(o, x), states, torch.cat((ring, rows), dim=-2)

    def advanced(self, x: torch.Tensor, rows: torch.Tensor, state: torch.Tensor, counted: torch.Tensor) -> torch.Tensor:
        """The states [..., Hv, Dk, Dv] after the tokens of `counted` [..., T] (bool), the first ones of a stretch.

        x [..., T, C]; rows [..., 3 + T, Cc] before the conv, of the stretch and of the three tokens before it.
        """
        q, k, v = self.split(self.kernels.causal_conv(rows[..., 3:, :], rows[..., :3, :], self.taps))
        g, beta = (gate * counted.unsqueeze(-1) for gate in self.gates(x))  # 0: the state is left as it is
        _, update = self.kernels.gated_delta(q, k, v, g, beta, state)
        return self.kernels.gated_delta_advance(state, update, x.shape[-2])

    def preview(self, x: torch.Tensor, ring: torch.Tensor, state: torch.Tensor, valid=None) -> torch.Tensor:
        """x [..., B, C] with the last three committed rows [..., 3, Cc] and the state [..., Hv, Dk, Dv], only read.

        `valid` [..., B] (bool) marks the slots of shorter blocks in a batch.
        """
        rows = self.in_proj_qkv(x)
        if valid is not None:
            rows = rows * valid.unsqueeze(-1)  # slots past a block's end contribute nothing to the conv
        q, k, v = self.split(self.kernels.block_conv(rows, ring, self.taps, self.conv_right_weight))
        controls = (self.bd_softmax_logit_scale, self.bd_softmax_history_bias, self.bd_softmax_history_c)
        o = self.kernels.block_mix(q, k, v, state, *controls, *(() if valid is None else (valid,)))
        return self.finish(o, x)
