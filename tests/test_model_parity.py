"""The causal pass against transformers' Qwen3.5-MoE text model with the same weights."""

import pytest
import torch
from model_helpers import TOY, ids, toy_model
from transformers.models.qwen3_5_moe.configuration_qwen3_5_moe import Qwen3_5MoeTextConfig
from transformers.models.qwen3_5_moe.modeling_qwen3_5_moe import Qwen3_5MoeForCausalLM

TOLERANCE = 1e-4
MASK = TOY["mask_token_id"]


@pytest.fixture(scope="module")
def model():
    return toy_model()


@pytest.fixture(scope="module")
def reference(model):
    shape = {k: v for k, v in TOY.items() if k not in ("mask_token_id", "block_size")}
    config = Qwen3_5MoeTextConfig(
        **shape, rope_parameters={"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.25}
    )
    reference = Qwen3_5MoeForCausalLM(config).eval()
    missing, unexpected = reference.load_state_dict(model.state_dict(), strict=False)
    assert not missing
    assert all("bd_softmax" in name or "conv_right" in name for name in unexpected)
    return reference


@torch.inference_mode()
def expected(reference, tokens):
    logits = reference(tokens[None], use_cache=False).logits[0].float()
    logits[:, MASK] = float("-inf")
    return logits


def assert_close(got, wanted):
    keep = [i for i in range(wanted.shape[-1]) if i != MASK]
    assert torch.isneginf(got[..., MASK]).all()
    assert (got[..., keep] - wanted[..., keep]).abs().max() <= TOLERANCE


@pytest.mark.parametrize("length", [*range(1, 9), 31, 32, 33, 63, 64, 65, 70])
def test_one_pass(model, reference, length):
    tokens = ids(length)
    wanted = expected(reference, tokens)
    assert_close(model.causal(tokens, model.new_cache()).logits, wanted)
    assert_close(model.prefill(tokens, model.new_cache(), last_only=False).logits, wanted)
    assert_close(model(tokens[None]).logits[0].detach(), wanted)


@pytest.mark.parametrize("length", [2, 3, 4, 5, 33, 41])
def test_every_two_part_split(model, reference, length):
    tokens = ids(length, seed=1)
    wanted = expected(reference, tokens)
    for cut in range(1, length):
        cache = model.new_cache()
        first = model.causal(tokens[:cut], cache)
        cache.advance(first.staged, cut)
        second = model.causal(tokens[cut:], cache)
        assert_close(torch.cat((first.logits, second.logits)), wanted)


def test_every_split_of_seventy(model, reference):
    tokens = ids(70, seed=2)
    wanted = expected(reference, tokens)
    for cut in range(1, 70):
        cache = model.new_cache()
        model.prefill(tokens[:cut], cache)
        assert_close(model.causal(tokens[cut:], cache).logits, wanted[cut:])


def test_token_by_token(model, reference):
    tokens = ids(70, seed=3)
    wanted = expected(reference, tokens)
    cache, rows = model.new_cache(), []
    for token in tokens:
        out = model.causal(token[None], cache)
        cache.advance(out.staged, 1)
        rows.append(out.logits)
    assert_close(torch.cat(rows), wanted)
