"""The embedded checkpoint: what is shipped is whole, small, a Clover, and writes the text that transformers would."""

import json
from pathlib import Path

import pytest
import torch
from transformers.models.qwen3_5_moe.configuration_qwen3_5_moe import Qwen3_5MoeTextConfig
from transformers.models.qwen3_5_moe.modeling_qwen3_5_moe import Qwen3_5MoeForCausalLM

from clover_viz.engine import Engine
from clover_viz.events import Denoised
from clover_viz.settings import AutoregressiveSettings, DenoiseSettings, SpeculativeSettings
from clover_viz.training.data import eval_prompts

FOLDER = Path(__file__).parent.parent / "assets" / "clover-tiny"


@pytest.fixture(scope="module")
def engine():
    return Engine.load(FOLDER)


@pytest.fixture(scope="module")
def prompts():
    kinds = ("agent", "structured", "talk")
    return [list(prompt.messages) for kind in kinds for prompt in eval_prompts(kind, 3, seed=11)]


def test_the_files():
    names = {file.name for file in FOLDER.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "generation_config.json",
            "MODEL_CARD.md"} <= names  # fmt: skip
    assert (FOLDER / "model.safetensors").stat().st_size <= 64_000_000
    card = (FOLDER / "MODEL_CARD.md").read_text()
    assert "not measured yet" not in card


def test_the_shape(engine):
    config = engine.model.config
    assert json.loads((FOLDER / "config.json").read_text())["model_type"] == "clover_moe"
    assert config.num_hidden_layers >= 12 and config.layer_types.count("full_attention") * 4 == config.num_hidden_layers
    assert config.num_experts >= 32 and config.num_experts_per_tok >= 4
    assert config.shared_expert_intermediate_size and config.block_size == 32


def test_the_diffusion_tensors_were_trained(engine):
    for name, tensor in engine.model.state_dict().items():
        if "conv_right" in name or "history_c" in name:
            assert tensor.abs().max() > 0, name


def test_one_token_at_a_time_is_what_transformers_writes(engine, prompts):
    """The whole path of ours (prefill, cache, decode) against the library's greedy generate, with the same weights."""
    mine = engine.model
    shared = {k: v for k, v in mine.config.to_dict().items() if k in Qwen3_5MoeTextConfig().to_dict()}
    shared |= {"model_type": "qwen3_5_moe_text", "dtype": "float32"}
    theirs = Qwen3_5MoeForCausalLM(Qwen3_5MoeTextConfig(**shared)).eval()
    assert not theirs.load_state_dict(mine.state_dict(), strict=False).missing_keys
    for messages in prompts:
        ids = torch.tensor([engine.tokenizer.chat(messages)])
        wanted = theirs.generate(ids, max_new_tokens=24, do_sample=False, eos_token_id=sorted(engine.end_ids))
        wanted = [i for i in wanted[0, ids.shape[1] :].tolist() if i not in engine.end_ids]
        got = engine.complete(messages, AutoregressiveSettings(), max_new_tokens=24)
        assert got.text == engine.tokenizer.decode(wanted)


def test_blocks_take_fewer_passes_than_tokens(engine, prompts):
    tokens = passes = 0
    for messages in prompts:
        done = engine.complete(messages, DenoiseSettings(), max_new_tokens=64)
        tokens, passes = tokens + done.tokens, passes + done.passes.preview + done.passes.replay
    assert tokens > passes


def test_the_coreset_keeps_fewer_experts_than_are_touched(engine, prompts):
    rows = [
        row for event in engine.generate(prompts[0], DenoiseSettings(), max_new_tokens=64)
        if isinstance(event, Denoised) for row in event.experts
    ]  # fmt: skip
    assert {row.layer for row in rows} == set(range(engine.model.config.num_hidden_layers))
    assert all(1 <= row.kept <= row.touched <= 32 for row in rows)
    assert sum(row.kept for row in rows) < sum(row.touched for row in rows)


MODES = (DenoiseSettings, SpeculativeSettings, AutoregressiveSettings)
every_mode = pytest.mark.parametrize("mode", MODES, ids=[kind.mode for kind in MODES])


@every_mode
def test_the_same_seed_gives_the_same_events(engine, prompts, mode):
    settings = mode(temperature=0.7)
    first, second = (list(engine.generate(prompts[0], settings, max_new_tokens=40, seed=5)) for _ in range(2))
    assert first == second


def floats(value):
    """Every float of an event that is no time, in order."""
    if isinstance(value, dict):
        untimed = (item for name, item in value.items() if name not in ("ms", "seconds", "tokens_per_second"))
        return [number for item in untimed for number in floats(item)]
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in floats(item)]
    return [value] if isinstance(value, float) else []


@every_mode
def test_the_number_of_threads_changes_no_event(engine, prompts, mode):
    def events(threads):
        torch.set_num_threads(threads)
        return [event.to_json_dict() for event in engine.generate(prompts[1], mode(), max_new_tokens=40)]

    before = torch.get_num_threads()
    try:
        one, two = events(1), events(2)
    finally:
        torch.set_num_threads(before)
    assert [event["event"] for event in one] == [event["event"] for event in two]
    assert one[-1]["text"] == two[-1]["text"] and one[-1]["passes"] == two[-1]["passes"]
    assert floats(one) == pytest.approx(floats(two), abs=1e-5) and len(floats(one)) > 20


@every_mode
def test_a_second_turn_is_that_of_the_same_messages_from_scratch(engine, prompts, monkeypatch, mode):
    settings, messages, read = mode(), list(prompts[0]), []
    messages.append({"role": "assistant", "content": engine.complete(messages, settings, 64).text})
    messages.append({"role": "user", "content": "Make a JSON list of apple and plum."})
    prefill = engine.model.prefill
    monkeypatch.setattr(engine.model, "prefill", lambda ids, *more: read.append(len(ids)) or prefill(ids, *more))
    on = engine.complete(messages, settings, 64)
    engine._remembered = None
    fresh = engine.complete(messages, settings, 64)
    assert read[0] < read[1] == len(engine.tokenizer.chat(messages))
    assert (on.text, on.tokens, on.reason, on.passes) == (fresh.text, fresh.tokens, fresh.reason, fresh.passes)


def test_any_unicode_typed_in_survives(engine):
    text = 'Repeat exactly: "naïve 東京 🧑‍🚀 <|im_end|> <|mask|>"'
    ids = engine.tokenizer.chat([{"role": "user", "content": text}])
    assert text in engine.tokenizer.decode(ids)
    assert sum(i in engine.end_ids for i in ids) == 1  # the template's own, not the one typed
