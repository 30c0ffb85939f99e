"""What the model remembers of the committed text: keys and values, recurrent states, and the conv rings."""

from typing import NamedTuple

import torch
from clover_kernels.gated_delta.reference import Update


class StagedAttention(NamedTuple):
    """Rows an attention layer would append, in position order."""

    k: torch.Tensor  # [Hkv, T, D], rotated
    v: torch.Tensor  # [Hkv, T, D]


class StagedRecurrent(NamedTuple):
    """What a Gated DeltaNet layer would write, token by token."""

    update: Update
    rows: torch.Tensor  # [3 + T, Cc]: the ring the pass started from, then the pass's own rows before the conv


class Staged(NamedTuple):
    """Everything a causal pass of `length` tokens would write, made from the cache when it held `start` tokens."""

    start: int
    length: int
    layers: tuple[StagedAttention | StagedRecurrent, ...]


class AttentionCache:
    """Rotated keys and values [Hkv, capacity, D] of one layer; rows at or past the cache's length are undefined."""

    GROWTH = 256

    def __init__(self, heads: int, head_dim: int, device, dtype):
        self.k = torch.empty(heads, 0, head_dim, device=device, dtype=dtype)
        self.v = torch.empty(heads, 0, head_dim, device=device, dtype=dtype)

    def with_block(self, length: int, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The first `length` rows followed by a pass's own: [Hkv, length + T, D]. Writes only past `length`.

        Rows past the length are scratch space: nothing there is ever read as committed text.
        """
        end = length + k.shape[1]
        if end > self.k.shape[1]:
            capacity = end + self.GROWTH
            for name in ("k", "v"):
                old = getattr(self, name)
                new = old.new_empty(old.shape[0], capacity, old.shape[2])
                new[:, :length] = old[:, :length]
                setattr(self, name, new)
        self.k[:, length:end] = k
        self.v[:, length:end] = v
        return self.k[:, :end], self.v[:, :end]


class RecurrentCache:
    """One Gated DeltaNet layer: state [Hv, Dk, Dv] fp32 and the last three rows before the conv, [3, Cc]."""

    def __init__(self, heads: int, key_dim: int, value_dim: int, channels: int, device, dtype):
        self.state = torch.zeros(heads, key_dim, value_dim, device=device, dtype=torch.float32)
        self.ring = torch.zeros(3, channels, device=device, dtype=dtype)


class CloverCache:
    """The committed text of one sequence. Passes read it; only `advance` (and a prefill) writes it.

    length: number of tokens it holds. A preview or a causal pass leaves it as it was, bit for bit.
    """

    def __init__(self, config, device, dtype, advance_state):
        self.length = 0
        self._advance_state = advance_state
        channels = (
            2 * config.linear_num_key_heads * config.linear_key_head_dim
            + config.linear_num_value_heads * config.linear_value_head_dim
        )
        self.layers = [
            AttentionCache(config.num_key_value_heads, config.head_dim, device, dtype)
            if kind == "full_attention"
            else RecurrentCache(
                config.linear_num_value_heads, config.linear_key_head_dim, config.linear_value_head_dim,
                channels, device, dtype,
            )
            for kind in config.layer_types
        ]

    @torch.inference_mode()
    def advance(self, staged: Staged, n: int) -> None:
        """Commit the first `n` tokens of a causal pass, exactly as if only they had been run.

        Raises ValueError when n is outside 0..staged.length or when the cache moved since that pass.
        """
        if not 0 <= n <= staged.length:
            raise ValueError(f"advance by {n} tokens: the pass staged {staged.length}")
        if staged.start != self.length:
            raise ValueError(f"advance from {staged.start} tokens: the cache holds {self.length}")
        if n == 0:
            return
        for layer, update in zip(self.layers, staged.layers):
            if isinstance(layer, AttentionCache):
                layer.with_block(self.length, update.k[:, :n], update.v[:, :n])
            else:
                layer.state = self._advance_state(layer.state, update.update, n)
                layer.ring = update.rows[n : n + 3].clone()
        self.length += n

    def fork(self) -> "CloverCache":
        """An independent copy."""
        twin = object.__new__(CloverCache)
        twin.length, twin._advance_state, twin.layers = self.length, self._advance_state, []
        for layer in self.layers:
            copy = object.__new__(type(layer))
            for name, tensor in vars(layer).items():
                setattr(copy, name, tensor.clone())
            twin.layers.append(copy)
        return twin
