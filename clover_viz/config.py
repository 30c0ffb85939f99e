"""The shape of a Clover model. `CloverConfig()` is the released 35B, to the number."""

from transformers.models.qwen3_5_moe.configuration_qwen3_5_moe import Qwen3_5MoeTextConfig

# The release's exact keys for these two are not known: every obvious spelling is read, flat or inside a section. The
# last one only inside: a bare "top_p" at the top is a sampling setting.
_CORESET_SPELLINGS = {
    "moe_block_coreset_enabled": ("moe_block_coreset_enabled", "block_coreset_enabled", "coreset_enabled", "enabled"),
    "moe_block_coreset_top_p": ("moe_block_coreset_top_p", "block_coreset_top_p", "coreset_top_p", "top_p"),
}
_CORESET_DEFAULTS = {"moe_block_coreset_enabled": True, "moe_block_coreset_top_p": 0.9}
_CORESET_SECTIONS = ("moe_block_coreset", "moe_block_coreset_config", "block_coreset", "coreset_config", "coreset")
_SILENT = {"auto_map", "architectures", "transformers_version", "model_type", "_commit_hash", "torch_dtype", "dtype"}


class CloverConfig(Qwen3_5MoeTextConfig):
    """A transformers config: the fields of Qwen3.5-MoE's text model, and those of block diffusion.

    block_size: slots denoised together. mask_token_id: id whose embedding stands for a slot without a token.
    denoising_config: {"strategy": "low_confidence", "threshold": float in [0, 1]}; there is no other strategy.
    moe_block_coreset_enabled, moe_block_coreset_top_p: whether previews limit a block's experts, and to what share.
    unknown_keys: keys of a config.json that mean nothing to this class, for the loader to report; section.key of those
    inside a section.
    Raises ValueError naming the field, its range and the value.
    """

    model_type = "clover_moe"
    base_config_key = ""

    max_position_embeddings: int = 131072
    block_size: int = 32
    mask_token_id: int = 151669
    denoising_config: dict | None = None
    moe_block_coreset_enabled: bool | None = None
    moe_block_coreset_top_p: float | int | None = None

    def __post_init__(self, **kwargs):
        kwargs.pop("auto_map", None)  # names code in a repository; none of it is ever run
        if self.rope_parameters is None and "rope_theta" not in kwargs and "rope_scaling" not in kwargs:
            self.rope_parameters = {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25}
        kwargs.pop("unknown_keys", None)
        nested = _read_coreset(self, kwargs) + _read_denoising(self)
        known = set(kwargs) & {"partial_rotary_factor", "full_attention_interval", "rope_theta", "rope_scaling"}
        loose = [k for k in kwargs if k not in known | _SILENT and not hasattr(type(self), k)]
        self.unknown_keys = sorted(loose + nested)
        super().__post_init__(**kwargs)
        _check(self)

    def to_dict(self) -> dict:
        return {key: value for key, value in super().to_dict().items() if key != "unknown_keys"}


def _read_coreset(config: CloverConfig, keys: dict) -> list[str]:
    """Take whether there is a coreset and its share out of a config's loose keys, flat ones before a section's.

    A section may also be just true or false. Returns its keys that were not taken, as section.key.
    """
    found = {name: keys.pop(name) for name in _CORESET_SECTIONS if isinstance(keys.get(name), (dict, bool))}
    sections = {k: {"enabled": value} if isinstance(value, bool) else dict(value) for k, value in found.items()}
    for field, spellings in _CORESET_SPELLINGS.items():
        for place, names in ((keys, spellings[:-1]), *((section, spellings) for section in sections.values())):
            for name in names:
                if getattr(config, field) is None and name in place:
                    setattr(config, field, place.pop(name))
        if getattr(config, field) is None:
            setattr(config, field, _CORESET_DEFAULTS[field])
    return [f"{section}.{key}" for section, left in sections.items() for key in left]


def _read_denoising(config: CloverConfig) -> list[str]:
    """Fill up the denoising section. Returns its keys that mean nothing, as section.key."""
    given, defaults = config.denoising_config or {}, {"strategy": "low_confidence", "threshold": 0.95}
    if not isinstance(given, dict):
        raise ValueError(f"config: denoising_config must be a section with strategy and threshold, got {given!r}")
    config.denoising_config = defaults | given
    return [f"denoising_config.{key}" for key in given if key not in defaults]


def _check(config: CloverConfig) -> None:
    def require(held: bool, name: str, wanted: str) -> None:
        if not held:
            raise ValueError(f"config: {name} must be {wanted}, got {getattr(config, name)!r}")

    for name in ("vocab_size", "hidden_size", "num_hidden_layers", "num_experts", "moe_intermediate_size"):
        require(getattr(config, name) >= 1, name, "at least 1")
    experts = config.num_experts
    require(1 <= config.num_experts_per_tok <= experts, "num_experts_per_tok", f"in [1, {experts}]")
    require(config.block_size >= 2, "block_size", "at least 2")
    require(0 <= config.mask_token_id < config.vocab_size, "mask_token_id", f"in [0, {config.vocab_size})")
    require(isinstance(config.moe_block_coreset_enabled, bool), "moe_block_coreset_enabled", "true or false")
    top_p = config.moe_block_coreset_top_p
    require(isinstance(top_p, (int, float)) and 0 < top_p <= 1, "moe_block_coreset_top_p", "in (0, 1]")
    require(
        config.linear_num_value_heads % config.linear_num_key_heads == 0,
        "linear_num_value_heads",
        f"a multiple of linear_num_key_heads ({config.linear_num_key_heads})",
    )
    require(
        config.num_attention_heads % config.num_key_value_heads == 0,
        "num_attention_heads",
        f"a multiple of num_key_value_heads ({config.num_key_value_heads})",
    )
    require(len(config.layer_types) == config.num_hidden_layers, "layer_types", f"{config.num_hidden_layers} names")
    require(config.linear_conv_kernel_dim == 4, "linear_conv_kernel_dim", "4")
    require(config.hidden_act == "silu", "hidden_act", "'silu'")
    require(not config.attention_bias, "attention_bias", "false")
    rope = config.rope_parameters
    require(rope.get("rope_type", "default") == "default", "rope_parameters", "of rope_type 'default'")
    strategy, threshold = (config.denoising_config[key] for key in ("strategy", "threshold"))
    if strategy != "low_confidence":
        raise ValueError(f"config: denoising_config.strategy must be 'low_confidence', got {strategy!r}")
    if not isinstance(threshold, (int, float)) or not 0 <= threshold <= 1:
        raise ValueError(f"config: denoising_config.threshold must be a number in [0, 1], got {threshold!r}")
