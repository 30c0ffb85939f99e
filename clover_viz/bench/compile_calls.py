"""Every Triton kernel called as a model calls it, on tensors that have shapes and no memory."""

from collections.abc import Callable
from importlib import import_module

import torch
from clover_kernels.selection import OPS

from clover_viz.model.clover import PREFILL_SEGMENT

WEIGHTS, STATE = torch.bfloat16, torch.float32


def calls(config) -> dict[str, Callable[[], object]]:
    """Calls by operation and what they are for, with the shapes and dtypes of a bf16 model of this configuration."""
    block, width, text = config.block_size, config.hidden_size, PREFILL_SEGMENT
    experts, top_k = config.num_experts, config.num_experts_per_tok
    heads, values = config.linear_num_value_heads, config.linear_value_head_dim
    key_heads, keys = config.linear_num_key_heads, config.linear_key_head_dim
    channels = 2 * key_heads * keys + heads * values
    norm, conv, gates, delta, mix, router, moe, shared, stats = (
        import_module(f"clover_kernels.{op}.triton_kernel") for op in OPS
    )

    def mixer(tokens):
        q, k, v = _empty(tokens, channels).split((key_heads * keys, key_heads * keys, heads * values), dim=-1)
        q, k = q.unflatten(-1, (key_heads, keys)), k.unflatten(-1, (key_heads, keys))
        return q, k, v.unflatten(-1, (heads, values))

    def scan(tokens):
        return *mixer(tokens), _empty(tokens, heads, dtype=STATE), _empty(tokens, heads), state

    def routed(tokens):
        chosen = _empty(tokens, top_k, dtype=torch.int64)
        return moe.moe_experts(_empty(tokens, width), chosen, _empty(tokens, top_k, dtype=STATE), gate_up, down)

    def gated(tokens):
        return gates.delta_gates(_empty(tokens, width), *(_empty(heads, width) for _ in range(2)), *controls[:2])

    def added(tokens):
        rows = [_empty(tokens, width) for _ in range(4)]
        return shared.add_shared_expert(*rows[:3], _empty(1, width), rows[3])

    state = _empty(heads, keys, values, dtype=STATE)
    gate_up = _empty(experts, 2 * config.moe_intermediate_size, width)
    down = _empty(experts, width, config.moe_intermediate_size)
    ring, taps, right = _empty(3, channels), _empty(channels, config.linear_conv_kernel_dim), _empty(channels, 3)
    update = delta.Update(
        _empty(heads, block, values, dtype=STATE), _empty(key_heads, block, keys, dtype=STATE),
        _empty(block, heads, dtype=STATE).mT,
    )  # fmt: skip
    controls = [_empty(heads) for _ in range(3)]
    head = _empty(block, config.num_attention_heads, 2 * config.head_dim).chunk(2, dim=-1)[0]
    o, z = _empty(block, heads, values), _empty(block, heads, values)
    return {
        "rms_norm, layer": lambda: norm.rms_norm(_empty(block, width), _empty(width), 1e-6),
        "add_rms_norm": lambda: norm.add_rms_norm(_empty(block, width), _empty(block, width), _empty(width), 1e-6),
        "rms_norm, head": lambda: norm.rms_norm(head, _empty(config.head_dim), 1e-6),
        "gated_rms_norm": lambda: norm.gated_rms_norm(o, z, _empty(values), 1e-6),
        "causal_conv": lambda: conv.causal_conv(_empty(block, channels), ring, taps),
        "block_conv": lambda: conv.block_conv(_empty(block, channels), ring, taps, right),
        "delta_gates, a token": lambda: gated(1),
        "delta_gates, a block": lambda: gated(block),
        "gated_delta": lambda: delta.gated_delta(*scan(block)),
        "gated_delta_advance": lambda: delta.gated_delta_advance(state, update, block),
        "gated_delta_prefill": lambda: delta.gated_delta_prefill(*scan(text)),
        "block_mix": lambda: mix.block_mix(*mixer(block), state, *controls),
        "route": lambda: router.route(_empty(block, experts), top_k),
        "route_coreset": lambda: router.route_coreset(_empty(block, experts), top_k, 0.9),
        "moe_experts, a token": lambda: routed(1),
        "moe_experts, a block": lambda: routed(block),
        "moe_experts, a prompt": lambda: routed(text),
        "swiglu": lambda: shared.swiglu(*(_empty(block, config.shared_expert_intermediate_size) for _ in range(2))),
        "add_shared_expert": lambda: added(block),
        "token_stats": lambda: stats.token_stats(_empty(block, config.vocab_size, dtype=STATE), config.mask_token_id),
    }


def _empty(*shape: int, dtype: torch.dtype = WEIGHTS) -> torch.Tensor:
    return torch.empty(*shape, dtype=dtype, device="meta")
