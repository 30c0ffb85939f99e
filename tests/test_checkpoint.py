"""Loading a checkpoint: what is wrong with it is said in one line, before any weight is read."""

import json

import pytest
import torch
from model_helpers import ids, toy_model
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM

from clover_viz.errors import UserError
from clover_viz.model import checkpoint
from clover_viz.model.clover import CloverForCausalLM

SMALL = dict(num_hidden_layers=4)


@pytest.fixture
def folder(tmp_path):
    toy_model(**SMALL).save_pretrained(tmp_path)
    return tmp_path


def edit(folder, change):
    file = folder / "model.safetensors"
    tensors = load_file(file)
    change(tensors)
    save_file(tensors, file, metadata={"format": "pt"})


def config(folder, **keys):
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | keys))


def refused(folder, **options):
    with pytest.raises(UserError) as error:
        checkpoint.load(folder, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_round_trip(folder):
    model, kernels = checkpoint.load(folder)
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
    assert checkpoint.load(folder, dtype="bfloat16")[0].dtype == torch.bfloat16
    assert checkpoint.load(folder, dtype="auto")[0].dtype == torch.float32


def test_right_taps_stored_like_a_conv_weight(folder):
    name = "model.layers.0.linear_attn.conv_right_weight"
    wanted = load_file(folder / "model.safetensors")[name]
    edit(folder, lambda t: t.update({name: t[name].unsqueeze(1).contiguous()}))
    assert torch.equal(checkpoint.load(folder)[0].state_dict()[name], wanted)


NAME = "model.layers.1.mlp.experts.down_proj"
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
    checkpoint.load(folder)
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
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, part in parts.items():
        save_file({name: tensors[name] for name in part}, folder / file, metadata={"format": "pt"})
    index = {"weight_map": {name: file for file, part in parts.items() for name in part}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    model, _ = checkpoint.load(folder)
    assert all(torch.equal(model.state_dict()[name], tensor) for name, tensor in tensors.items())


def test_neither_a_folder_nor_a_hub_id(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "no/such-model" in refused("no/such-model")


def test_a_revision_of_a_folder_means_nothing(folder):
    assert "abc123" in refused(folder, revision="abc123")


def test_too_large_for_the_device(folder, monkeypatch):
    monkeypatch.setattr(checkpoint, "_free_bytes", lambda device: 1000)
    message = refused(folder)
    assert "GB" in message and "cpu" in message


def test_kernels_that_cannot_run_say_why(folder):
    assert "CUDA" in refused(folder, kernels="triton")
    assert "fast" in refused(folder, kernels="fast")
