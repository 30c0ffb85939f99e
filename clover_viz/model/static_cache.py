"""A cache whose buffers never move and whose length the device knows: a step is the same launches every time."""

from typing import NamedTuple

import torch
from clover_kernels.gated_delta.reference import Update

from clover_viz.model.cache import AttentionCache, CloverCache, RecurrentCache, Staged
from clover_viz.model.graphs import Graphs

SMALLEST_BUCKET = 256  # positions; each further bucket holds twice as many


class StaticAttention(AttentionCache):
    """Rotated keys and values [Hkv, rows, D]. Rows at or past the length are scratch, but always numbers: a masked row
    still takes part in a product."""

    def __init__(self, heads: int, rows: int, head_dim: int, device, dtype):
        self.k = torch.zeros(heads, rows, head_dim, device=device, dtype=dtype)
        self.v = torch.zeros_like(self.k)

    def with_block(self, length: int, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """As the parent's, for a prompt; raises ValueError where the parent would grow."""
        if length + k.shape[1] > self.k.shape[1]:
            raise ValueError(f"the cache has {self.k.shape[1]} rows, got {length} + {k.shape[1]}")
        return super().with_block(length, k, v)

    def put(self, place: torch.Tensor, k: torch.Tensor, v: torch.Tensor, rows: int):
        """Writes a pass's own rows k, v [Hkv, T, D] at place [T], and hands out the first `rows`: [Hkv, rows, D]."""
        self.k.index_copy_(1, place, k)
        self.v.index_copy_(1, place, v)
        return self.k[:, :rows], self.v[:, :rows]


class StaticRecurrent(RecurrentCache):
    """One layer's part of the tensors that all of them share. Assigning to it writes into that part."""

    def __init__(self, state: torch.Tensor, ring: torch.Tensor):
        self._state, self._ring = state, ring

    @property
    def state(self) -> torch.Tensor:
        return self._state

    @state.setter
    def state(self, value: torch.Tensor) -> None:
        self._state.copy_(value)

    @property
    def ring(self) -> torch.Tensor:
        return self._ring

    @ring.setter
    def ring(self, value: torch.Tensor) -> None:
        self._ring.copy_(value)


class StagedRows(NamedTuple):
    """What a causal pass of T tokens would write, of all G Gated DeltaNet layers at once. Keys and values of the
    attention layers are in their place already: only the length decides whether they count."""

    u: torch.Tensor  # [G, Hv, T, Dv] fp32
    k: torch.Tensor  # [G, Hk, T, Dk] fp32
    g: torch.Tensor  # [G, Hv, T] fp32
    rows: torch.Tensor  # [G, 3 + T, Cc], the ring first


class StaticCache(CloverCache):
    """The committed text of one sequence, of at most `positions` tokens.

    position: the length on the device, a scalar int64. Passes take the smallest of `buckets` that holds the text, plus
    their own T rows; what lies past the length is masked.
    """

    def __init__(self, config, device, dtype, advance_state, positions: int, smallest: int, graphs: Graphs):
        self.positions, self.graphs, self._advance_state = positions, graphs, advance_state
        self.buckets = _buckets(smallest, positions)
        heads, self._key_heads = config.linear_num_value_heads, config.linear_num_key_heads
        keys, values = config.linear_key_head_dim, config.linear_value_head_dim
        recurrent = sum(kind != "full_attention" for kind in config.layer_types)
        channels = 2 * self._key_heads * keys + heads * values
        self.states = torch.zeros(recurrent, heads, keys, values, device=device, dtype=torch.float32)
        self.rings = torch.zeros(recurrent, 3, channels, device=device, dtype=dtype)
        parts = zip(self.states, self.rings)
        rows = positions + config.block_size
        self.layers = [
            StaticAttention(config.num_key_value_heads, rows, config.head_dim, device, dtype)
            if kind == "full_attention"
            else StaticRecurrent(*next(parts))
            for kind in config.layer_types
        ]
        self.position = torch.zeros((), device=device, dtype=torch.int64)
        self._accepted = torch.zeros((), device=device, dtype=torch.int64)
        self._staged: dict[int, StagedRows] = {}
        self._open: Staged | None = None  # the causal pass whose rows still stand
        self._length, self._most = 0, 0

    @property
    def length(self) -> int:
        """Tokens it holds. After an `advance` by a number on the device, asking waits for the device once."""
        if self._length is None:
            self._length = self._most = int(self.position)
        return self._length

    @length.setter
    @torch.inference_mode()
    def length(self, value: int) -> None:
        self._length = self._most = value
        self._open = None
        self.position.fill_(value)

    @torch.inference_mode()
    def reset(self) -> None:
        """Back to the empty text; also what a failed pass may have left in the scratch rows is gone."""
        self.length = 0
        for layer in self.layers:
            for tensor in (layer.k, layer.v) if isinstance(layer, StaticAttention) else (layer.state, layer.ring):
                tensor.zero_()

    def rows(self, tokens: int) -> int:
        """Rows a pass of T tokens looks at: the bucket and its own. Raises ValueError when the text fills the cache."""
        for bucket in self.buckets:
            if self._most <= bucket:
                return bucket + tokens
        raise ValueError(f"the cache has room for {self.positions} tokens, it holds {self._most}")

    def staged(self, tokens: int) -> StagedRows:
        """The buffers of a causal pass of T tokens."""
        if tokens not in self._staged:
            many, heads, keys, values = self.states.shape
            fp32 = dict(device=self.states.device, dtype=torch.float32)
            self._staged[tokens] = StagedRows(
                torch.zeros(many, heads, tokens, values, **fp32),
                torch.zeros(many, self._key_heads, tokens, keys, **fp32),
                torch.zeros(many, heads, tokens, **fp32),
                self.rings.new_zeros(many, 3 + tokens, self.rings.shape[-1]),
            )
        return self._staged[tokens]

    def opened(self, tokens: int | None) -> Staged | None:
        """To be called with every pass: T of a causal one, None of a preview, which writes over the staged keys."""
        self._open = None
        if tokens is not None:
            self.staged(tokens)  # made here, not in the middle of a capture
            # a length that only the device knows stays there: -1
            self._open = Staged(-1 if self._length is None else self._length, tokens, ())
        return self._open

    @torch.inference_mode()
    def advance(self, staged: Staged, n: int | torch.Tensor) -> None:
        """Commits the first `n` tokens of the last causal pass, exactly as if only they had been run.

        n: a number, or an integer tensor of one element on the device, which must lie in 0..staged.length and is not
        looked at here. Raises ValueError when a number lies outside, or when another pass came after that one.
        """
        tokens = staged.length
        if isinstance(n, int) and not 0 <= n <= tokens:
            raise ValueError(f"advance by {n} tokens: the pass staged {tokens}")
        if staged is not self._open:
            raise ValueError("advance by a pass that was not the cache's last one")
        if isinstance(n, int) and n == 0:
            return
        self._accepted.zero_()  # a capture runs it a few times first: by no token
        self.graphs.ready(("advance", tokens), lambda: self._apply(tokens))
        if isinstance(n, int):
            self._accepted.fill_(n)
        else:
            self._accepted.copy_(n.reshape(()))
        self.graphs.run(("advance", tokens), lambda: self._apply(tokens))
        self._open = None
        if isinstance(n, int) and self._length is not None:
            self._length = self._most = self._length + n
        else:
            self._length, self._most = None, self._most + tokens

    def _apply(self, tokens: int) -> None:
        """All layers in one call: the first tokens as they are, behind them tokens that leave the state as it is."""
        n, staged = self._accepted, self.staged(tokens)
        if len(self.states):
            behind = torch.arange(tokens, device=n.device) >= n
            u, g = staged.u.masked_fill(behind.unsqueeze(-1), 0.0), staged.g.masked_fill(behind, 0.0)
            # Layers stand side by side like heads: value head h of either reads key head h // (Hv // Hk).
            update = Update(u.flatten(0, 1), staged.k.flatten(0, 1), g.flatten(0, 1))
            states = self.states.flatten(0, 1)
            states.copy_(self._advance_state(states, update, tokens))
            place = n + torch.arange(3, device=n.device)
            self.rings.copy_(staged.rows.index_select(1, place))
        self.position.add_(n)

    def fork(self) -> CloverCache:
        raise NotImplementedError("a static cache is the only one of its passes")


def _buckets(smallest: int, positions: int) -> tuple[int, ...]:
    """Twice as large each, up to the positions there are."""
    found = []
    while smallest < positions:
        found.append(smallest)
        smallest *= 2
    return (*found, positions)
