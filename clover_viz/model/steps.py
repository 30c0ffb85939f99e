"""A model whose passes are graphs: the interface of `CloverForCausalLM`, over one static cache."""

from typing import NamedTuple

import torch
from clover_kernels.token_stats.reference import TokenStats

from clover_viz.model import static_passes
from clover_viz.model.cache import Staged
from clover_viz.model.clover import CausalOutput, LayerRouting
from clover_viz.model.graphs import Graphs
from clover_viz.model.static_cache import SMALLEST_BUCKET, StaticCache


class StepOutput(NamedTuple):
    """What a pass hands out. On a card its tensors are written anew by the next pass of the same kind.

    packed: see `static_passes.unpack`. staged: of a causal pass, for the cache's `advance`; None of a preview.
    """

    logits: torch.Tensor  # [T, V] fp32, the mask token's at -inf
    routing: LayerRouting
    packed: torch.Tensor  # [3 T + 3 L] int32
    staged: Staged | None

    def told(self) -> tuple[TokenStats, LayerRouting]:
        """What the pass itself found out of all of its T tokens, and its routing: views of `packed`."""
        return static_passes.views(self.packed, len(self.packed) // 3 - len(self.routing.touched))


class Steps:
    """Preview (with a coreset of whatever share, and without), causal pass (verify, replay, and decode with one token)
    and advance, each captured once for its number of tokens and its bucket when `capture` says so, and run as they are
    otherwise.

    One sequence at a time: `new_cache` empties the one cache there is. positions: the longest text (default: the
    model's context). smallest: positions of the smallest bucket. Passes raise ValueError for more tokens than a block.
    """

    def __init__(self, model, capture: bool, positions: int | None = None, smallest: int = SMALLEST_BUCKET):
        self.model, self.config, self.kernels, self.device = model, model.config, model.kernels, model.device
        self.graphs = Graphs(model.device, capture)
        weight = model.model.embed_tokens.weight
        self.cache = StaticCache(
            model.config, weight.device, weight.dtype, model.kernels.gated_delta_advance,
            positions or model.config.max_position_embeddings, smallest, self.graphs,
        )  # fmt: skip
        self._ids = torch.zeros(model.config.block_size, dtype=torch.int64, device=weight.device)
        self._masked = torch.zeros(model.config.block_size, dtype=torch.bool, device=weight.device)
        # Read by the captured previews: one for every share asked for would be kept for good.
        self._top_p = torch.ones((), dtype=torch.float32, device=weight.device)

    def new_cache(self) -> StaticCache:
        """The cache, emptied: whoever held it before holds nothing now."""
        self.cache.reset()
        return self.cache

    def prefill(self, ids: torch.Tensor, cache: StaticCache, last_only: bool = True) -> CausalOutput:
        """As the model's own: a prompt's length is anyone's, so this is no graph."""
        self._check(cache)
        if cache.length + len(ids) > cache.positions:
            raise ValueError(f"the cache has room for {cache.positions} tokens, got {cache.length} + {len(ids)}")
        return self.model.prefill(ids, cache, last_only)

    @torch.inference_mode()
    def preview(
        self, ids: torch.Tensor, masked: torch.Tensor, cache: StaticCache, coreset_top_p: float | None
    ) -> StepOutput:
        """As the model's own: ids [B] int64, masked [B] bool."""
        tokens, rows = self._begin(ids, cache)
        self._masked[:tokens].copy_(masked)
        ids, masked = self._ids[:tokens], self._masked[:tokens]
        top_p = None if coreset_top_p is None else self._top_p.fill_(coreset_top_p)
        cache.opened(None)
        out = self.graphs.run(
            ("preview", tokens, rows, top_p is not None),
            lambda: static_passes.preview(self.model, cache, rows, ids, masked, top_p),
        )
        return StepOutput(*out, None)

    @torch.inference_mode()
    def causal(self, ids: torch.Tensor, cache: StaticCache, last_only: bool = False) -> StepOutput:
        """As the model's own: ids [T] int64, T up to a block. `last_only` hands out the last position's logits."""
        tokens, rows = self._begin(ids, cache)
        ids = self._ids[:tokens]
        staged = cache.opened(tokens)
        run = self.graphs.run
        out = run(("causal", tokens, rows), lambda: static_passes.causal(self.model, cache, rows, ids))
        return StepOutput(out.logits[-1:] if last_only else out.logits, out.routing, out.packed, staged)

    def _begin(self, ids: torch.Tensor, cache: StaticCache) -> tuple[int, int]:
        """Tokens and rows of a pass; the ids are in their place then."""
        self._check(cache)
        if not 1 <= len(ids) <= len(self._ids):
            raise ValueError(f"a pass takes 1 to {len(self._ids)} tokens, got {len(ids)}")
        rows = cache.rows(len(ids))
        self._ids[: len(ids)].copy_(ids)
        return len(ids), rows

    def _check(self, cache: StaticCache) -> None:
        if cache is not self.cache:
            raise ValueError("these passes have one cache, of their own: see new_cache")
