"""A toy checkpoint in a folder, and ways to spoil it."""

import json

import pytest
from model_helpers import toy_model
from safetensors.torch import load_file, save_file

from clover_viz.errors import UserError
from clover_viz.model import checkpoint

SMALL = dict(num_hidden_layers=4)
NAME = "model.layers.1.mlp.experts.down_proj"


def saved(folder):
    """The folder, with a toy model in one file."""
    toy_model(**SMALL).save_pretrained(folder)
    return folder


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
        checkpoint.examine(folder, **options).read()
    assert "\n" not in str(error.value)
    return str(error.value)


def shard(folder):
    """Two files and an index in place of the one file; its tensors."""
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, part in parts.items():
        save_file({name: tensors[name] for name in part}, folder / file, metadata={"format": "pt"})
    index = {"weight_map": {name: file for file, part in parts.items() for name in part}}
    (folder / checkpoint.INDEX).write_text(json.dumps(index))
    return tensors


def reindex(folder, change):
    file = folder / checkpoint.INDEX
    index = json.loads(file.read_text())
    change(index["weight_map"])
    file.write_text(json.dumps(index))
