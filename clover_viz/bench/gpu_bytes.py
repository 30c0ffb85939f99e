"""Bytes a pass cannot do without: every weight it uses, the state and the prefix's keys and values, each read once.

Activations and logits are left out: they are small beside the weights, and a perfect kernel keeps them on the chip.
"""

from typing import NamedTuple

H200 = 4.8e12  # bytes a second, as the card's maker states it
STATE = 4  # bytes of an fp32 number


class Bytes(NamedTuple):
    """Of one pass, by what they are."""

    dense: int  # weights that every pass of its kind reads, the head among them
    experts: int  # routed experts' weights
    state: int  # recurrent states
    ring: int  # rows before the conv
    kv: int  # keys and values of the text before
    embedding: int  # the rows of the tokens

    @property
    def total(self) -> int:
        return sum(self)


def dense_parameters(config, kind: str = "all") -> int:
    """Parameters without the routed experts and the input embedding. kind: "all", or what a "preview" (no gates of the
    delta rule) or a "causal" pass (no right taps, no softmax controls) reads of them."""
    width, heads = config.hidden_size, config.linear_num_value_heads
    values, channels = heads * config.linear_value_head_dim, _channels(config)
    mixer = (channels + 2 * values) * width + config.linear_conv_kernel_dim * channels + config.linear_value_head_dim
    if kind != "preview":
        mixer += 2 * heads * width + 2 * heads
    if kind != "causal":
        mixer += 3 * channels + 3 * heads
    rows = config.num_attention_heads * config.head_dim
    attention = 3 * rows * width + 2 * config.num_key_value_heads * config.head_dim * width + 2 * config.head_dim
    shared = 3 * width * config.shared_expert_intermediate_size + width
    layer = 2 * width + config.num_experts * width + shared
    full = _full(config)
    every = config.num_hidden_layers * layer + full * attention + (config.num_hidden_layers - full) * mixer
    return every + width + config.vocab_size * width


def expert_bytes(config, itemsize: int = 2) -> int:
    """One routed expert of one layer."""
    return 3 * config.hidden_size * config.moe_intermediate_size * itemsize


def state_bytes(config) -> int:
    """The recurrent states of all layers, fp32."""
    recurrent = config.num_hidden_layers - _full(config)
    return recurrent * config.linear_num_value_heads * config.linear_key_head_dim * config.linear_value_head_dim * STATE


def pass_bytes(config, kind: str, tokens: int, experts: int, context: int, itemsize: int = 2) -> Bytes:
    """Of a "preview" or a "causal" pass of T tokens after `context` committed ones.

    experts: distinct experts whose weights are read, added up over the layers.
    """
    full = _full(config)
    return Bytes(
        dense=dense_parameters(config, kind) * itemsize,
        experts=experts * expert_bytes(config, itemsize),
        state=state_bytes(config),
        ring=(config.num_hidden_layers - full) * 3 * _channels(config) * itemsize,
        kv=full * 2 * config.num_key_value_heads * config.head_dim * itemsize * context,
        embedding=tokens * config.hidden_size * itemsize,
    )


def advance_bytes(config, tokens: int, itemsize: int = 2) -> int:
    """Of an advance: the states and rings read and written, and T tokens' u, k and g read."""
    recurrent, heads = config.num_hidden_layers - _full(config), config.linear_num_value_heads
    token = heads * config.linear_value_head_dim + heads + config.linear_num_key_heads * config.linear_key_head_dim
    ring = 2 * 3 * _channels(config) * itemsize
    return 2 * state_bytes(config) + recurrent * (tokens * token * STATE + ring)


def tokens_needed(rate: float, seconds: float) -> float:
    """Tokens a round of so many seconds must bring for `rate` tokens a second."""
    return rate * seconds


def _full(config) -> int:
    return sum(kind == "full_attention" for kind in config.layer_types)


def _channels(config) -> int:
    keys = config.linear_num_key_heads * config.linear_key_head_dim
    return 2 * keys + config.linear_num_value_heads * config.linear_value_head_dim
