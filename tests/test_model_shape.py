"""The released model's shape, to the number, on the meta device."""

import pytest
import torch

from clover_viz.config import CloverConfig
from clover_viz.model.clover import CloverForCausalLM

LAYER = {
    "input_layernorm.weight": (2048,),
    "post_attention_layernorm.weight": (2048,),
    "mlp.gate.weight": (256, 2048),
    "mlp.experts.gate_up_proj": (256, 1024, 2048),
    "mlp.experts.down_proj": (256, 2048, 512),
    "mlp.shared_expert.gate_proj.weight": (512, 2048),
    "mlp.shared_expert.up_proj.weight": (512, 2048),
    "mlp.shared_expert.down_proj.weight": (2048, 512),
    "mlp.shared_expert_gate.weight": (1, 2048),
}
DIFFUSION = {
    "linear_attn.conv_right_weight": (8192, 3),
    "linear_attn.bd_softmax_logit_scale": (32,),
    "linear_attn.bd_softmax_history_bias": (32,),
    "linear_attn.bd_softmax_history_c": (32,),
}
RECURRENT = {
    "linear_attn.in_proj_qkv.weight": (8192, 2048),
    "linear_attn.in_proj_z.weight": (4096, 2048),
    "linear_attn.in_proj_b.weight": (32, 2048),
    "linear_attn.in_proj_a.weight": (32, 2048),
    "linear_attn.conv1d.weight": (8192, 1, 4),
    "linear_attn.A_log": (32,),
    "linear_attn.dt_bias": (32,),
    "linear_attn.norm.weight": (128,),
    "linear_attn.out_proj.weight": (2048, 4096),
} | DIFFUSION
ATTENTION = {
    "self_attn.q_proj.weight": (8192, 2048),
    "self_attn.k_proj.weight": (512, 2048),
    "self_attn.v_proj.weight": (512, 2048),
    "self_attn.o_proj.weight": (2048, 4096),
    "self_attn.q_norm.weight": (256,),
    "self_attn.k_norm.weight": (256,),
}


@pytest.fixture(scope="module")
def shapes():
    with torch.device("meta"):
        model = CloverForCausalLM(CloverConfig())
    return {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}


def elements(shapes, part=""):
    return sum(torch.Size(shape).numel() for name, shape in shapes.items() if part in name)


def test_names_and_shapes(shapes):
    wanted = {
        "model.embed_tokens.weight": (248320, 2048),
        "model.norm.weight": (2048,),
        "lm_head.weight": (248320, 2048),
    }
    for i in range(40):
        mixer = ATTENTION if i % 4 == 3 else RECURRENT
        wanted |= {f"model.layers.{i}.{name}": shape for name, shape in (LAYER | mixer).items()}
    assert shapes == wanted
    assert len(shapes) == 813


def test_counts(shapes):
    routed = elements(shapes, ".mlp.experts.")
    one = routed // (40 * 256)
    assert elements(shapes) == 34_661_350_848
    assert routed == 32_212_254_720
    assert one == 3_145_728
    assert sum(elements(shapes, name) for name in DIFFUSION) == 740_160
    assert elements(shapes, "lm_head") == 508_559_360
    other = elements(shapes) - routed - elements(shapes, "embed_tokens")
    assert other == 1_940_536_768
    assert other + 40 * 8 * one == 2_947_169_728  # active per token


def test_released_values():
    config = CloverConfig()
    assert config.model_type == "clover_moe"
    assert config.rope_parameters["rope_theta"] == 1e7
    assert config.max_position_embeddings == 131072
    assert (config.block_size, config.mask_token_id) == (32, 151669)
    assert config.denoising_config == {"strategy": "low_confidence", "threshold": 0.95}
    assert config.moe_block_coreset_enabled is True and config.moe_block_coreset_top_p == 0.9
    assert [i for i, kind in enumerate(config.layer_types) if kind == "full_attention"] == list(range(3, 40, 4))


@pytest.mark.parametrize(
    "keys",
    [
        {"moe_block_coreset_top_p": 0.8},
        {"block_coreset_top_p": 0.8},
        {"coreset_top_p": 0.8},
        {"moe_block_coreset": {"top_p": 0.8}},
        {"moe_block_coreset_config": {"coreset_top_p": 0.8}},
        {"coreset": {"top_p": 0.8}},
    ],
)
def test_spellings_of_the_coreset_share(keys):
    assert CloverConfig(**keys).moe_block_coreset_top_p == 0.8


@pytest.mark.parametrize(
    "keys, enabled, top_p, unknown",
    [
        ({}, True, 0.9, []),
        ({"moe_block_coreset_enabled": False}, False, 0.9, []),
        ({"coreset_enabled": False}, False, 0.9, []),
        ({"moe_block_coreset": {"enabled": False, "top_p": 0.8}}, False, 0.8, []),
        ({"coreset": {"moe_block_coreset_enabled": True}}, True, 0.9, []),
        ({"coreset_config": {"top_p": 0.7, "enabled": False, "per": "layer"}}, False, 0.7, ["coreset_config.per"]),
        ({"moe_block_coreset": False}, False, 0.9, []),
        # a flat key goes before a section's, which is told
        ({"moe_block_coreset_enabled": True, "coreset": {"enabled": False}}, True, 0.9, ["coreset.enabled"]),
        ({"moe_block_coreset_top_p": 0.6, "coreset": {"top_p": 0.7}}, True, 0.6, ["coreset.top_p"]),
        ({"moe_block_coreset": {"enabled": False}, "coreset": {"top_p": 0.6}}, False, 0.6, []),
        ({"denoising_config": {"threshold": 0.9, "steps": 8}, "x": 1}, True, 0.9, ["denoising_config.steps", "x"]),
        ({"enabled": False}, True, 0.9, ["enabled"]),
    ],
)
def test_nothing_of_a_section_is_dropped(keys, enabled, top_p, unknown):
    config = CloverConfig(**keys)
    assert (config.moe_block_coreset_enabled, config.moe_block_coreset_top_p) == (enabled, top_p)
    assert config.unknown_keys == unknown


def test_unknown_keys_are_kept_for_the_report_and_code_is_ignored():
    config = CloverConfig(auto_map={"AutoModel": "evil.Evil"}, surprise=3, top_p=0.5)
    assert config.unknown_keys == ["surprise", "top_p"]
    assert config.moe_block_coreset_top_p == 0.9
    assert not hasattr(config, "auto_map")


@pytest.mark.parametrize(
    "keys, names",
    [
        ({"block_size": 1}, "block_size"),
        ({"moe_block_coreset_top_p": 0}, "moe_block_coreset_top_p"),
        ({"moe_block_coreset_top_p": 1.5}, "moe_block_coreset_top_p"),
        ({"num_experts_per_tok": 300}, "num_experts_per_tok"),
        ({"mask_token_id": 248320}, "mask_token_id"),
        ({"denoising_config": {"threshold": 2}}, "threshold"),
        ({"denoising_config": {"threshold": "high"}}, "threshold"),
        ({"denoising_config": {"strategy": "entropy"}}, "denoising_config.strategy must be 'low_confidence', got 'e"),
        ({"denoising_config": "low_confidence"}, "denoising_config must be a section"),
        ({"moe_block_coreset": {"enabled": "no"}}, "moe_block_coreset_enabled must be true or false, got 'no'"),
        ({"moe_block_coreset": {"top_p": "most"}}, "moe_block_coreset_top_p must be in .0, 1., got 'most'"),
        ({"linear_num_value_heads": 33}, "linear_num_value_heads"),
        ({"hidden_act": "gelu"}, "hidden_act"),
    ],
)
def test_a_bad_value_is_named(keys, names):
    with pytest.raises(ValueError, match=names):
        CloverConfig(**keys)


def test_the_config_survives_a_file(tmp_path):
    config = CloverConfig(block_size=16, num_experts=64, denoising_config={"threshold": 0.9})
    config.save_pretrained(tmp_path)
    again = CloverConfig.from_pretrained(tmp_path)
    assert again.to_dict() == config.to_dict()
    assert again.unknown_keys == []
