"""Clover as a transformers model: a causal trunk, and the preview pass that denoises a block."""

from typing import NamedTuple

import torch
from clover_kernels.selection import KernelSet, select
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel
from transformers import initialization as init
from transformers.modeling_outputs import CausalLMOutput

from clover_viz.config import CloverConfig
from clover_viz.model.attention import Attention, HeadNorm, Rotation, rotation
from clover_viz.model.cache import AttentionCache, CloverCache, Staged
from clover_viz.model.gated_delta_net import GatedDeltaNet, GatedNorm
from clover_viz.model.moe import Experts, Gate, MixtureOfExperts

PREFILL_SEGMENT = 512  # tokens a prompt is cut into: bounds the memory of a long prompt, changes nothing else


class LayerRouting(NamedTuple):
    """Experts by layer, [L] each: distinct before the coreset, kept by it, mean lost choices of a slot."""

    touched: torch.Tensor
    kept: torch.Tensor
    rerouted: torch.Tensor


class PreviewOutput(NamedTuple):
    logits: torch.Tensor  # [B, V] fp32, the mask token's at -inf
    routing: LayerRouting


class CausalOutput(NamedTuple):
    logits: torch.Tensor  # [T, V] (or [1, V], the last position) fp32, the mask token's at -inf
    routing: LayerRouting
    staged: Staged | None


class LayerNorm(HeadNorm):
    """The weight of a zero-centred RMSNorm over C."""


class DecoderLayer(nn.Module):
    """RMSNorm, mixer, residual, RMSNorm, experts, residual."""

    def __init__(self, config: CloverConfig, kernels: KernelSet, kind: str):
        super().__init__()
        self.kernels, self.eps, self.is_attention = kernels, config.rms_norm_eps, kind == "full_attention"
        if self.is_attention:
            self.self_attn = Attention(config, kernels)
        else:
            self.linear_attn = GatedDeltaNet(config, kernels)
        self.mlp = MixtureOfExperts(config, kernels)
        self.input_layernorm = LayerNorm(config.hidden_size)
        self.post_attention_layernorm = LayerNorm(config.hidden_size)

    def before_mixer(self, x: torch.Tensor) -> torch.Tensor:
        return self.kernels.rms_norm(x, self.input_layernorm.weight, self.eps)

    def before_experts(self, x: torch.Tensor, mixed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The residual stream after the mixer, and what the experts get of it."""
        return self.kernels.add_rms_norm(x, mixed, self.post_attention_layernorm.weight, self.eps)

    def with_experts(self, x: torch.Tensor, mixed: torch.Tensor, coreset_top_p: float | None = None):
        """x [T, C] and what the mixer made of it -> [T, C] after the layer, and its Routing."""
        return self.mlp(*self.before_experts(x, mixed), coreset_top_p)

    def preview(self, x: torch.Tensor, angles: Rotation, cache, length: int, coreset_top_p: float | None):
        """x [B, C]: a block after `length` committed tokens. The cache is only read."""
        inner = self.before_mixer(x)
        if self.is_attention:
            mixed = self.self_attn.preview(inner, angles, cache, length)
        else:
            mixed = self.linear_attn.preview(inner, cache.ring, cache.state)
        return self.with_experts(x, mixed, coreset_top_p)

    def causal(self, x: torch.Tensor, angles: Rotation, cache, length: int):
        """x [T, C] after `length` committed tokens. Returns [T, C], the Routing, and what the layer would write."""
        inner = self.before_mixer(x)
        if self.is_attention:
            mixed, staged = self.self_attn.causal(inner, angles, cache, length)
        else:
            mixed, staged = self.linear_attn.causal(inner, cache)
        return *self.with_experts(x, mixed), staged

    def prefill(self, x: torch.Tensor, angles: Rotation, cache, length: int):
        """x [T, C], any length; writes the layer's cache. Returns [T, C] and the Routing."""
        inner = self.before_mixer(x)
        if isinstance(cache, AttentionCache):
            mixed, _ = self.self_attn.causal(inner, angles, cache, length)
        else:
            mixed, states, rows = self.linear_attn.scan(inner, cache.ring, cache.state)
            cache.state, cache.ring = states[-1].clone(), rows[-3:].clone()
        return self.with_experts(x, mixed)


class CloverModel(nn.Module):
    def __init__(self, config: CloverConfig, kernels: KernelSet):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(DecoderLayer(config, kernels, kind) for kind in config.layer_types)
        self.norm = LayerNorm(config.hidden_size)


class CloverForCausalLM(PreTrainedModel):
    """State-dict names and shapes are those of the released checkpoint.

    `kernels` is a KernelSet of `clover_kernels.selection.select`; the reference when left out. The passes take one
    sequence, without a batch dimension.
    """

    config_class = CloverConfig
    base_model_prefix = "model"
    _no_split_modules = ["DecoderLayer"]

    def __init__(self, config: CloverConfig, kernels: KernelSet | None = None):
        super().__init__(config)
        self.kernels = kernels or select("cpu", "reference")
        self.model = CloverModel(config, self.kernels)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        std = self.config.initializer_range
        if isinstance(module, (nn.Linear, nn.Embedding, nn.Conv1d, Gate)):
            init.normal_(module.weight, std=std if not isinstance(module, nn.Conv1d) else 0.25)
        elif isinstance(module, Experts):
            init.normal_(module.gate_up_proj, std=std)
            init.normal_(module.down_proj, std=std)
        elif isinstance(module, HeadNorm):
            init.zeros_(module.weight)
        elif isinstance(module, GatedNorm):
            init.ones_(module.weight)
        elif isinstance(module, GatedDeltaNet):
            init.copy_(module.A_log, torch.empty_like(module.A_log).uniform_(0.01, 16).log())
            init.ones_(module.dt_bias)
            init.zeros_(module.conv_right_weight)
            init.constant_(module.bd_softmax_logit_scale, module.key_dim**0.5)
            init.constant_(module.bd_softmax_history_bias, torch.tensor(float(module.block_size)).log().item())
            init.zeros_(module.bd_softmax_history_c)

    def new_cache(self) -> CloverCache:
        """An empty cache for one sequence."""
        weight = self.model.embed_tokens.weight
        return CloverCache(self.config, weight.device, weight.dtype, self.kernels.gated_delta_advance)

    def _angles(self, start: int, length: int) -> Rotation:
        return rotation(self.config, torch.arange(start, start + length, device=self.model.embed_tokens.weight.device))

    def head(self, x: torch.Tensor) -> torch.Tensor:
        """Final norm and head. x [..., C] -> logits [..., V] fp32; the mask token is never a prediction."""
        x = self.kernels.rms_norm(x, self.model.norm.weight, self.config.rms_norm_eps)
        logits = self.lm_head(x).float()
        logits[..., self.config.mask_token_id] = float("-inf")
        return logits

    @torch.inference_mode()
    def preview(
        self, ids: torch.Tensor, masked: torch.Tensor, cache: CloverCache, coreset_top_p: float | None
    ) -> PreviewOutput:
        """One denoising pass over a block. ids [B] int64; masked [B] bool: slots whose id is not looked at.

        Every slot sees the committed text and the whole block. The cache is left as it was. `coreset_top_p` in (0, 1]
        limits the experts of the block in every layer; None leaves every expert allowed.
        """
        embed = self.model.embed_tokens
        x = embed(ids.masked_fill(masked, self.config.mask_token_id))  # [B, C]
        angles = self._angles(cache.length, len(ids))
        routings = []
        for layer, layer_cache in zip(self.model.layers, cache.layers):
            x, routing = layer.preview(x, angles, layer_cache, cache.length, coreset_top_p)
            routings.append(routing)
        return PreviewOutput(self.head(x), by_layer(routings))

    @torch.inference_mode()
    def causal(self, ids: torch.Tensor, cache: CloverCache, last_only: bool = False) -> CausalOutput:
        """One causal pass over ids [T] after the cache, coreset off. The cache is left as it was.

        `cache.advance(output.staged, n)` then commits the first n tokens. `last_only` skips the other positions'
        logits. The work grows with T^2: meant for a block; `prefill` takes a prompt.
        """
        x = self.model.embed_tokens(ids)  # [T, C]
        angles = self._angles(cache.length, len(ids))
        routings, staged = [], []
        for layer, layer_cache in zip(self.model.layers, cache.layers):
            x, routing, update = layer.causal(x, angles, layer_cache, cache.length)
            routings.append(routing)
            staged.append(update)
        logits = self.head(x[-1:] if last_only else x)
        return CausalOutput(logits, by_layer(routings), Staged(cache.length, len(ids), tuple(staged)))

    @torch.inference_mode()
    def prefill(self, ids: torch.Tensor, cache: CloverCache, last_only: bool = True) -> CausalOutput:
        """The causal pass over ids [T] of any length, written to the cache at once."""
        parts = []
        for segment in ids.split(PREFILL_SEGMENT):
            x = self.model.embed_tokens(segment)
            angles = self._angles(cache.length, len(segment))
            routings = []
            for layer, layer_cache in zip(self.model.layers, cache.layers):
                x, routing = layer.prefill(x, angles, layer_cache, cache.length)
                routings.append(routing)
            cache.length += len(segment)
            parts.append(x[-1:] if last_only else x)
        x = parts[-1] if last_only else torch.cat(parts)
        return CausalOutput(self.head(x), by_layer(routings), None)

    def forward(self, input_ids: torch.Tensor, **_) -> CausalLMOutput:
        """The causal pass from nothing, for a batch of texts of one length, with gradients. input_ids [N, T]"""
        from clover_viz.model.batch import causal_batch

        hidden = causal_batch(self, input_ids).hidden
        return CausalLMOutput(logits=self.head(hidden))


def by_layer(routings) -> LayerRouting:
    return LayerRouting(
        torch.stack([r.touched for r in routings]),
        torch.stack([r.kept for r in routings]),
        torch.stack([r.rerouted for r in routings]),
    )


AutoConfig.register("clover_moe", CloverConfig, exist_ok=True)
AutoModelForCausalLM.register(CloverConfig, CloverForCausalLM, exist_ok=True)
