"""The two passes over a static cache: no shape depends on the text's length, and nothing asks the device.

They are the model's own passes but for the length, which is a tensor here and acts through masks and places.
"""

from typing import NamedTuple

import torch
from clover_kernels.token_stats.reference import TokenStats

from clover_viz.model.attention import rotation
from clover_viz.model.clover import LayerRouting, by_layer
from clover_viz.model.static_cache import StaticCache


class PassOutput(NamedTuple):
    logits: torch.Tensor  # [T, V] fp32, the mask token's at -inf
    routing: LayerRouting
    packed: torch.Tensor  # int32: all that an event needs to know, see `pack`


class Numbers(NamedTuple):
    """A pass in plain values: of each row, then of each layer."""

    token: list[int]
    probability: list[float]
    entropy: list[float]  # nats
    touched: list[int]
    kept: list[int]
    rerouted: list[float]


def pack(stats, routing: LayerRouting) -> torch.Tensor:
    """TokenStats of T rows and the routing of L layers as one int32 tensor [3 T + 3 L]; of fp32 the bits."""
    parts = (*stats, *routing)
    bits = [p.float().view(torch.int32) if p.is_floating_point() else p.to(torch.int32) for p in parts]
    return torch.cat([b.reshape(-1) for b in bits])


def views(packed: torch.Tensor, tokens: int) -> tuple[TokenStats, LayerRouting]:
    """What `pack` took of a pass of T tokens, where it lies: fp32, and int32 for whole numbers."""
    layers = len(packed) // 3 - tokens
    token, probability, entropy, touched, kept, rerouted = packed.split([tokens] * 3 + [layers] * 3)
    stats = TokenStats(token, probability.view(torch.float32), entropy.view(torch.float32))
    return stats, LayerRouting(touched, kept, rerouted.view(torch.float32))


def unpack(packed: torch.Tensor, tokens: int) -> Numbers:
    """The inverse of `pack` for a pass of T tokens, by one copy from the device."""
    stats, routing = views(packed.cpu(), tokens)
    return Numbers(*(part.tolist() for part in (*stats, *routing)))


def preview(
    model, cache: StaticCache, rows: int, ids: torch.Tensor, masked: torch.Tensor, coreset_top_p: torch.Tensor | None
) -> PassOutput:
    """ids [B] int64, masked [B] bool: every slot sees the committed text and the whole block. `rows` of the cache.
    coreset_top_p: fp32 of one element, which stays where it is; None is no coreset."""
    tokens = len(ids)
    x = model.model.embed_tokens(ids.masked_fill(masked, model.config.mask_token_id))
    place, angles = _places(model, cache, tokens)
    seen = torch.arange(rows, device=ids.device) < cache.position + tokens  # [rows]: all slots see the same
    routings = []
    for layer, held in zip(model.model.layers, cache.layers):
        inner = layer.before_mixer(x)
        if layer.is_attention:
            q, gate, k, v = layer.self_attn.project(inner, angles)
            mixed = layer.self_attn.attend(q, gate, *held.put(place, k, v, rows), seen.unsqueeze(0))
        else:
            mixed = layer.linear_attn.preview(inner, held.ring, held.state)
        x, routing = layer.with_experts(x, mixed, coreset_top_p)
        routings.append(routing)
    return _output(model, x, routings)


def causal(model, cache: StaticCache, rows: int, ids: torch.Tensor) -> PassOutput:
    """ids [T] int64 after the committed text, coreset off; fills the cache's staged buffers of T tokens."""
    tokens = len(ids)
    x = model.model.embed_tokens(ids)
    place, angles = _places(model, cache, tokens)
    seen = torch.arange(rows, device=ids.device) <= place.unsqueeze(-1)  # [T, rows]
    routings, staged = [], []
    for layer, held in zip(model.model.layers, cache.layers):
        inner = layer.before_mixer(x)
        if layer.is_attention:
            q, gate, k, v = layer.self_attn.project(inner, angles)
            mixed = layer.self_attn.attend(q, gate, *held.put(place, k, v, rows), seen)
        else:
            mixed, of_layer = layer.linear_attn.causal(inner, held)
            staged.append(of_layer)
        x, routing = layer.with_experts(x, mixed)
        routings.append(routing)
    if staged:
        buffers = cache.staged(tokens)
        for name in ("u", "k", "g"):
            torch.stack([getattr(one.update, name) for one in staged], out=getattr(buffers, name))
        torch.stack([one.rows for one in staged], out=buffers.rows)
    return _output(model, x, routings)


def _places(model, cache: StaticCache, tokens: int):
    """Absolute positions [T] of a pass's tokens, which are also their rows, and the RoPE angles there."""
    place = cache.position + torch.arange(tokens, device=cache.position.device)
    return place, rotation(model.config, place)


def _output(model, x: torch.Tensor, routings) -> PassOutput:
    logits, routing = model.head(x), by_layer(routings)
    stats = model.kernels.token_stats(logits, model.config.mask_token_id)
    return PassOutput(logits, routing, pack(stats, routing))
