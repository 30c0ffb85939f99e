"""Loading a checkpoint: what is wrong with it is said in one line, before any weight is read."""

import json

import pytest
import torch
from checkpoint_helpers import NAME, SMALL, config, edit, refused, reindex, saved, shard
from model_helpers import ids, toy_model
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM

from clover_viz.model import checkpoint, memory
from clover_viz.model.clover import CloverForCausalLM


@pytest.fixture
def folder(tmp_path):
    return saved(tmp_path)


def test_round_trip(folder):
    model, kernels = checkpoint.examine(folder).read()
    original = toy_model(**SMALL)
    assert kernels.name == "reference" and kernels.reason
    for name, tensor in original.state_dict().items():
        assert torch.equal(model.state_dict()[name], tensor), name
    tokens = ids(9)
    got, wanted = (m.causal(tokens, m.new_cache()).logits for m in (model, original))
    # Not bit-equal: where a tensor starts in memory changes the order of sums.
    torch.testing.assert_close(got, wanted, atol=1e-4, rtol=1e-4)


def test_transformers_loads_it_too(folder):
    assert AutoConfig.from_pretrained(folder).model_type == "clover_moe"
    tokens = ids(9)[None]
    wanted = toy_model(**SMALL)(tokens).logits
    for loaded in (AutoModelForCausalLM.from_pretrained(folder), CloverForCausalLM.from_pretrained(folder)):
        torch.testing.assert_close(loaded(tokens).logits, wanted, atol=1e-4, rtol=1e-4)


def test_dtypes(folder):
    assert checkpoint.examine(folder, dtype="bfloat16").read()[0].dtype == torch.bfloat16
    assert checkpoint.examine(folder, dtype="auto").read()[0].dtype == torch.float32


def test_right_taps_stored_like_a_conv_weight(folder):
    name = "model.layers.0.linear_attn.conv_right_weight"
    wanted = load_file(folder / "model.safetensors")[name]
    edit(folder, lambda t: t.update({name: t[name].unsqueeze(1).contiguous()}))
    assert torch.equal(checkpoint.examine(folder).read()[0].state_dict()[name], wanted)


FAULTS = {
    "missing": (lambda t: t.pop(NAME), ["missing", NAME]),
    "extra": (lambda t: t.update({"model.visual.w": torch.zeros(2)}), ["unexpected", "model.visual.w"]),
    "misshapen": (lambda t: t.update({NAME: torch.zeros(3, 4)}), ["misshapen", NAME, "[3, 4]"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_tensor_names_itself(folder, fault):
    change, words = FAULTS[fault]
    edit(folder, change)
    message = refused(folder)
    assert all(word in message for word in words)


def test_many_wrong_tensors_are_counted(folder):
    edit(folder, lambda t: [t.pop(name) for name in list(t) if ".3." in name])
    assert "more" in refused(folder)


@pytest.mark.parametrize("keep", [4, 1000, -5])
def test_a_truncated_file_names_itself(folder, keep):
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:keep])
    assert "model.safetensors" in refused(folder)


def test_a_wrong_model_type(folder):
    config(folder, model_type="qwen3_5_moe_text")
    message = refused(folder)
    assert "clover_moe" in message and "qwen3_5_moe_text" in message


@pytest.mark.parametrize("text", ["", "{", "[]", "null"])
def test_a_broken_config(folder, text):
    (folder / "config.json").write_text(text)
    assert "config.json" in refused(folder)


@pytest.mark.parametrize("keys", [{"num_experts_per_tok": 99}, {"hidden_size": "wide"}])
def test_a_bad_value_in_the_config(folder, keys):
    config(folder, **keys)
    message = refused(folder)
    assert "config.json" in message and next(iter(keys)) in message


def test_unknown_keys_are_reported_and_code_is_not_run(folder, caplog):
    (folder / "evil.py").write_text("raise SystemExit('ran')")
    config(folder, auto_map={"AutoModelForCausalLM": "evil.Evil"}, novelty=1)
    checkpoint.examine(folder).read()
    assert "novelty" in caplog.text and "auto_map" not in caplog.text


def test_no_weights(folder):
    (folder / "model.safetensors").unlink()
    assert "safetensors" in refused(folder)


def test_an_index_whose_file_is_gone(folder):
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    names = load_file(folder / "model-00001-of-00002.safetensors")
    index = {"weight_map": {name: "model-00001-of-00002.safetensors" for name in names} | {NAME: "gone.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert "gone.safetensors" in refused(folder)


def test_shards(folder):
    tensors = shard(folder)
    model, _ = checkpoint.examine(folder).read()
    assert all(torch.equal(model.state_dict()[name], tensor) for name, tensor in tensors.items())


@pytest.mark.parametrize("name", ["../a.safetensors", "/a.safetensors", "sub/a.safetensors", "a.bin", "..", 5, None])
def test_an_index_names_files_of_its_own_folder(folder, name):
    shard(folder)
    reindex(folder, lambda names: names.update({NAME: name}))
    message = refused(folder)
    assert checkpoint.INDEX in message and repr(name) in message


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"weight_map": 3}'])
def test_a_broken_index(folder, text):
    (folder / checkpoint.INDEX).write_text(text)
    assert "not a weight index" in refused(folder)


def test_neither_a_folder_nor_a_hub_id(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "no/such-model" in refused("no/such-model")


def test_a_revision_of_a_folder_means_nothing(folder):
    assert "abc123" in refused(folder, revision="abc123")


def test_too_large_for_the_device(folder, monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda device: 1000)
    message = refused(folder)
    assert "GB" in message and "cpu" in message


@pytest.mark.parametrize(
    "needed, free, dtype, dtype_helps",
    [
        (100, 50, torch.float32, True),
        (100, 49, torch.float32, False),
        (100, 50, torch.bfloat16, False),
        (100, 99, torch.float16, False),
    ],
)
def test_another_dtype_is_advised_only_where_it_helps(needed, free, dtype, dtype_helps):
    assert ("CLOVER_DTYPE=bfloat16" in memory.advice(needed, free, dtype)) == dtype_helps
    assert "a smaller model" in memory.advice(needed, free, dtype)


@pytest.mark.parametrize("dtype", ["half", "float64", ""])
def test_an_unknown_dtype(folder, dtype):
    assert refused(folder, dtype=dtype) == f"dtype must be one of auto, float32, bfloat16, float16, got {dtype!r}"


def test_kernels_that_cannot_run_say_why(folder):
    assert "CUDA" in refused(folder, kernels="triton")
    assert "fast" in refused(folder, kernels="fast")
