"""A model from the hub: small files first, weights only when what those tell is sound. The hub is a folder here."""

import shutil
from types import SimpleNamespace

import pytest
import torch
from checkpoint_helpers import NAME, SMALL, config, edit, refused, reindex, saved, shard
from huggingface_hub.utils import filter_repo_objects
from model_helpers import toy_model
from scripted import ByteTokenizer

from clover_viz.engine import Engine
from clover_viz.model import checkpoint, memory


@pytest.fixture
def hub(tmp_path_factory, monkeypatch):
    """A hub whose one repository is the folder. calls: (revision, files that came) of every fetch. commits: the
    repository's commit at the next fetch, and those after it."""
    folder, snapshots = saved(tmp_path_factory.mktemp("repository")), tmp_path_factory.mktemp("snapshots")
    calls, commits = [], ["a" * 40, "a" * 40]

    def snapshot_download(repo_id, *, revision, allow_patterns, ignore_patterns):
        assert repo_id == "org/model"
        snapshot = snapshots / commits.pop(0)
        every = [str(file.relative_to(folder)) for file in sorted(folder.rglob("*")) if file.is_file()]
        came = list(filter_repo_objects(every, allow_patterns=allow_patterns, ignore_patterns=ignore_patterns))
        for file in came:
            (snapshot / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / file, snapshot / file)
        calls.append((revision, came))
        return str(snapshot)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    (folder / "tokenizer.json").write_text("{}")
    (folder / "chat_template.jinja").write_text("")
    (folder / "code.py").write_text("")
    (folder / "original").mkdir()
    for name in ("original/consolidated.safetensors", "pytorch_model.bin"):
        (folder / name).write_text("not asked for")
    small = ["chat_template.jinja", "config.json", "tokenizer.json"]
    return SimpleNamespace(folder=folder, calls=calls, commits=commits, small=small)


@pytest.mark.parametrize("sharded", [False, True])
def test_small_files_come_first_then_the_weights(hub, sharded):
    small, weights = hub.small, ["model.safetensors"]
    if sharded:
        shard(hub.folder)
        (hub.folder / "consolidated.safetensors").write_text("no part of the index")
        small, weights = [*small, checkpoint.INDEX], ["a.safetensors", "b.safetensors"]
    generation = [file.name for file in hub.folder.glob("generation_config.json")]
    model, _ = checkpoint.examine("org/model", revision="v1").read()
    assert torch.equal(model.state_dict()[NAME], toy_model(**SMALL).state_dict()[NAME])
    assert hub.calls == [("v1", sorted(small + generation)), ("v1", weights)]


HUB_FAULTS = {
    "model type": (lambda hub: config(hub.folder, model_type="llama"), "llama"),
    "config value": (lambda hub: config(hub.folder, num_experts_per_tok=99), "num_experts_per_tok"),
    "no config": (lambda hub: (hub.folder / "config.json").unlink(), "config.json"),
    "missing": (lambda hub: reindex(hub.folder, lambda names: names.pop(NAME)), f"missing tensor: {NAME}"),
    "unexpected": (
        lambda hub: reindex(hub.folder, lambda names: names.update({"model.visual.w": "a.safetensors"})),
        "unexpected tensor: model.visual.w",
    ),
    "outside": (lambda hub: reindex(hub.folder, lambda names: names.update({NAME: "../a.safetensors"})), "../a"),
    "memory": (None, "GB free"),
}  # fmt: skip


@pytest.mark.parametrize("fault", HUB_FAULTS)
def test_what_small_files_tell_is_refused_before_any_weight_is_fetched(hub, fault, monkeypatch):
    spoil, says = HUB_FAULTS[fault]
    shard(hub.folder)
    if spoil is None:
        monkeypatch.setattr(memory, "free_bytes", lambda device: 1000)
    else:
        spoil(hub)
    assert says in refused("org/model")
    assert len(hub.calls) == 1 and not any(name.endswith(".safetensors") for name in hub.calls[0][1])


@pytest.mark.parametrize("options", [{"kernels": "triton"}, {"kernels": "fast"}, {"dtype": "half"}])
def test_a_bad_value_is_refused_before_anything_is_fetched(hub, options):
    refused("org/model", **options)
    assert hub.calls == []


def test_what_only_weights_tell_is_refused_after(hub):
    edit(hub.folder, lambda tensors: tensors.pop(NAME))
    assert "missing" in refused("org/model")
    assert [revision for revision, _ in hub.calls] == [None, None]


def test_a_branch_that_moves_meanwhile_is_no_mixture(hub):
    hub.commits[1] = "b" * 40
    assert refused("org/model") == "model 'org/model' changed on the hub while it was being fetched: load it again"


def test_a_repository_without_weights(hub):
    (hub.folder / "model.safetensors").unlink()
    assert "holds no *.safetensors file" in refused("org/model")


def test_the_hubs_reason_is_one_line(monkeypatch):
    def fails(*_, **__):
        raise OSError("404 Client Error\nmore")

    monkeypatch.setattr("huggingface_hub.snapshot_download", fails)
    assert refused("org/model", revision="v1") == (
        "model 'org/model' at revision 'v1' is neither a folder nor to be had from the hub: 404 Client Error"
    )


def test_tokenizer_and_generation_config_are_the_snapshots_and_come_before_the_weights(hub, monkeypatch):
    (hub.folder / "generation_config.json").write_text('{"presence_penalty": 0.5}')
    with pytest.raises(ValueError, match="cannot load the tokenizer .*tokenizer.json"):  # the repository's is empty
        Engine.load("org/model", device="cpu", revision="v1")
    assert [revision for revision, _ in hub.calls] == ["v1"]
    hub.commits += ["a" * 40, "a" * 40]
    asked = []
    monkeypatch.setattr("clover_viz.tokenizer.Tokenizer.load", lambda path: asked.append(path) or ByteTokenizer())
    engine = Engine.load("org/model", device="cpu", revision="v1")
    assert engine.name == "org/model" and engine.checkpoint["presence_penalty"] == 0.5
    assert [path.name for path in asked] == ["a" * 40]


def test_a_bad_generation_config_is_told_before_any_weight_is_fetched(hub, monkeypatch):
    (hub.folder / "generation_config.json").write_text("{")
    monkeypatch.setattr("clover_viz.tokenizer.Tokenizer.load", lambda path: ByteTokenizer())
    with pytest.raises(ValueError, match="generation_config.json must be JSON"):
        Engine.load("org/model", device="cpu")
    assert len(hub.calls) == 1
