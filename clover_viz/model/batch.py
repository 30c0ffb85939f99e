"""The two passes for a batch, with gradients: what training runs, and `CloverForCausalLM.forward`.

The same modules and operations as the passes of one sequence; only the batch dimensions differ. Where a block begins
between two chunk boundaries of the recurrent scan, its state is the one of the boundary before, advanced.
"""

from typing import NamedTuple

import torch

from clover_viz.model.attention import rotation


class LayerContext(NamedTuple):
    """What the previews of a layer need of the clean text: one pair is None."""

    k: torch.Tensor | None = None  # [N, Hkv, T, D]
    v: torch.Tensor | None = None
    states: torch.Tensor | None = None  # [T / chunk + 1, N, Hv, Dk, Dv] fp32
    rows: torch.Tensor | None = None  # [N, 3 + T, Cc] before the conv, the empty ring first
    inner: torch.Tensor | None = None  # [N, T, C] the mixer's input


class CausalBatch(NamedTuple):
    hidden: torch.Tensor  # [N, T, C] before the final norm
    context: list[LayerContext]
    router_logits: list[torch.Tensor]  # L of [N, T, E]


def causal_batch(
    model, ids: torch.Tensor, chunk: int = 32, lead: torch.Tensor | None = None, end: torch.Tensor | None = None
) -> CausalBatch:
    """The causal pass from nothing over ids [N, T].

    `lead` [N] is the number of rows before each text begins, which chooses where its chunk boundaries fall. They are as
    if absent: they leave state and ring empty, nothing attends to them, and RoPE only knows distances. `end` [N] is one
    past a text's last row. No expert computes a row outside the text.
    """
    texts, length = ids.shape
    place = torch.arange(length, device=ids.device)
    angles = rotation(model.config, place)
    seen = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril()
    present = counted = None
    if end is not None:
        counted = place < end[:, None]
    if lead is not None:
        present = place >= lead[:, None]  # [N, T]
        # A row before the text sees itself, so that its (unused) softmax has a term.
        seen = (seen & (present[:, None] | torch.eye(length, dtype=torch.bool, device=ids.device))).unsqueeze(1)
        counted = present if counted is None else counted & present
    x = model.model.embed_tokens(ids)
    context, router_logits = [], []
    for layer in model.model.layers:
        inner = layer.before_mixer(x)
        if layer.is_attention:
            q, gate, k, v = layer.self_attn.project(inner, angles)
            mixed = layer.self_attn.attend(q, gate, k, v, seen)
            context.append(LayerContext(k=k, v=v))
        else:
            gdn = layer.linear_attn
            ring = inner.new_zeros(texts, 3, gdn.conv1d.weight.shape[0])
            state = inner.new_zeros(texts, gdn.value_heads, gdn.key_dim, gdn.value_dim, dtype=torch.float32)
            mixed, states, rows = gdn.scan(inner, ring, state, chunk, present)
            context.append(LayerContext(states=states, rows=rows, inner=inner))
        x, logits = _experts(layer, x, mixed, lambda logits, mlp: mlp.kernels.route(logits, mlp.top_k), counted)
        router_logits.append(logits)
    return CausalBatch(x, context, router_logits)


class Blocks(NamedTuple):
    """M blocks of S slots over the texts of a batch."""

    text: torch.Tensor  # [M] int64, which text a block belongs to
    start: torch.Tensor  # [M] int64, absolute position of slot 0
    ids: torch.Tensor  # [M, S]
    masked: torch.Tensor  # [M, S] bool
    valid: torch.Tensor  # [M, S] bool: False past the end of a shorter block
    lead: torch.Tensor  # [M] int64, rows before the block's text begins


class Prefix(NamedTuple):
    """What a layer's previews of M blocks read of the text before each: one pair is None."""

    k: torch.Tensor | None = None  # [M, Hkv, T, D], also what comes after the block began
    v: torch.Tensor | None = None
    state: torch.Tensor | None = None  # [M, Hv, Dk, Dv]
    ring: torch.Tensor | None = None  # [M, 3, Cc]


def prefixes(
    model, context: list[LayerContext], text: torch.Tensor, start: torch.Tensor, chunk: int = 32
) -> list[Prefix]:
    """By layer, for blocks that begin at `start` [M] of the texts `text` [M]; once for all maskings of them."""
    found = []
    for layer, known in zip(model.model.layers, context):
        if layer.is_attention:
            found.append(Prefix(k=known.k[text], v=known.v[text]))
        else:
            ring = known.rows[text[:, None], start[:, None] + torch.arange(3, device=start.device)]
            found.append(Prefix(state=_state(layer.linear_attn, known, text, start, chunk), ring=ring))
    return found


def preview_batch(model, blocks: Blocks, before: list[Prefix], coreset_top_p: float | None):
    """The preview pass over M blocks at once. Returns hidden [M, S, C] and the router logits, L of [M, S, E]."""
    slots = blocks.ids.shape[1]
    x = model.model.embed_tokens(blocks.ids.masked_fill(blocks.masked, model.config.mask_token_id))
    positions = blocks.start[:, None] + torch.arange(slots, device=x.device)  # [M, S]
    angles = rotation(model.config, positions.flatten())
    angles = type(angles)(*(a.view(*positions.shape, -1) for a in angles))

    def route(logits, mlp):
        if coreset_top_p is None:
            return mlp.kernels.route(logits, mlp.top_k)
        return mlp.kernels.route_coreset(logits, mlp.top_k, coreset_top_p, blocks.valid)

    router_logits = []
    for layer, known in zip(model.model.layers, before):
        inner = layer.before_mixer(x)
        if layer.is_attention:
            q, gate, k, v = layer.self_attn.project(inner, angles)
            keys = torch.cat((known.k, k), dim=-2)  # [M, Hkv, T + S, D]
            values = torch.cat((known.v, v), dim=-2)
            place = torch.arange(known.k.shape[-2], device=x.device)
            prefix = (place < blocks.start[:, None]) & (place >= blocks.lead[:, None])  # [M, T]
            seen = torch.cat((prefix, blocks.valid), dim=-1)[:, None, None, :]
            mixed = layer.self_attn.attend(q, gate, keys, values, seen)  # [M, 1, 1, T + S]: all slots see the same
        else:
            mixed = layer.linear_attn.preview(inner, known.ring, known.state, blocks.valid)
        x, logits = _experts(layer, x, mixed, route, blocks.valid)
        router_logits.append(logits)
    return x, router_logits


def _state(gdn, known: LayerContext, text: torch.Tensor, start: torch.Tensor, chunk: int) -> torch.Tensor:
    """The recurrent states [M, Hv, Dk, Dv] before the rows `start` [M] of the texts `text` [M]."""
    state, between = known.states[start // chunk, text], start % chunk
    inside = between.nonzero().squeeze(1)
    if not len(inside):
        return state
    text, boundary, between = text[inside, None], (start - between)[inside, None], between[inside, None]
    place = boundary + torch.arange(3 + chunk, device=state.device)  # of the rows, which the empty ring shifts by three
    last = known.inner.shape[1] - 1  # what lies past the end is past the start of any block too
    x, rows = known.inner[text, place[:, :chunk].clamp(max=last)], known.rows[text, place.clamp(max=last + 3)]
    counted = torch.arange(chunk, device=state.device) < between
    return state.index_copy(0, inside, gdn.advanced(x, rows, state[inside], counted))


def _experts(layer, x: torch.Tensor, mixed: torch.Tensor, route, counted: torch.Tensor | None):
    """The experts' half of a layer for x [N, T, C] and what the mixer made of it. `route` chooses per text; the experts
    run over all tokens at once, or over those of `counted` [N, T] (bool): the others keep what the mixer left."""
    x, inner = layer.before_experts(x, mixed)
    logits = layer.mlp.router_logits(inner)
    routing = route(logits, layer.mlp)
    into, rows, experts, weights = (t.flatten(0, 1) for t in (x, inner, routing.experts, routing.weights))
    if counted is None:
        return layer.mlp.run(into, rows, routing._replace(experts=experts, weights=weights)).view_as(x), logits
    chosen = counted.flatten().nonzero().squeeze(1)
    own, rows, experts, weights = (t.index_select(0, chosen) for t in (into, rows, experts, weights))
    out = layer.mlp.run(own, rows, routing._replace(experts=experts, weights=weights))
    return into.index_copy(0, chosen, out).view_as(x), logits
