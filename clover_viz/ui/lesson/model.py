"""What the lesson tells of the embedded model, read from its own files: shape, learned controls, measured scores."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any

from clover_viz.errors import UserError
from clover_viz.ui.lesson.rules import CONTEXT, EXPERTS, EXPERTS_A_TOKEN, LAYERS, PARAMETERS

CONTROLS = ("bd_softmax_history_bias", "bd_softmax_history_c", "bd_softmax_logit_scale")
NEEDED = (
    "num_hidden_layers", "num_experts", "num_experts_per_tok", "hidden_size", "max_position_embeddings", "block_size",
)  # fmt: skip
LONGEST_HEADER = 1 << 24  # bytes
RELEASED = {
    "parameters": PARAMETERS, "layers": LAYERS, "experts": EXPERTS, "a_token": EXPERTS_A_TOKEN, "width": 2048,
    "context": CONTEXT,
}  # fmt: skip


def model_facts(folder: Path) -> dict[str, Any]:
    """{"tiny": {...}, "released": {...}} with the same keys, all counts. Raises UserError naming what is unreadable."""
    config = _config(folder)
    header, _ = _header(folder / "model.safetensors")
    tiny = {
        "parameters": sum(_numel(tensor["shape"]) for tensor in header.values()),
        "layers": config["num_hidden_layers"],
        "experts": config["num_experts"],
        "a_token": config["num_experts_per_tok"],
        "width": config["hidden_size"],
        "context": config["max_position_embeddings"],
    }
    return {"tiny": tiny, "released": RELEASED}


def history_heads(folder: Path) -> list[dict[str, float]]:
    """One a value head of every Gated DeltaNet layer: {layer, head, bias, c, scale}, as learned."""
    file = folder / "model.safetensors"
    header, start = _header(file)
    heads = []
    with _opened(file) as weights:
        for layer in range(_config(folder)["num_hidden_layers"]):
            names = [f"model.layers.{layer}.linear_attn.{name}" for name in CONTROLS]
            if names[0] not in header:
                continue  # a full attention layer
            rows = zip(*(_numbers(weights, header, start, name, file) for name in names), strict=True)
            for head, (bias, c, scale) in enumerate(rows):
                heads.append({"layer": layer, "head": head, "bias": bias, "c": c, "scale": scale})
    return heads


def scores(folder: Path) -> list[dict[str, Any]]:
    """Rows of the model card's first measured table that were scored: {kind, mode, n, exact} with exact in percent."""
    with _opened(folder / "MODEL_CARD.md") as card:
        text = card.read().decode("utf-8", "replace")
    measured = text.partition("<!-- measured:begin -->")[2].partition("<!-- measured:end -->")[0]
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in measured.splitlines() if "|" in line]
    if not rows or rows[0][:4] != ["kind", "mode", "n", "exact"]:
        raise UserError(f"{folder / 'MODEL_CARD.md'} holds no measured table of exact answers")
    found = []
    for row in rows[2:]:
        if row[:4] == ["kind", "mode", "tokens", "preview"]:
            break
        if percent := re.fullmatch(r"(\d+(?:\.\d+)?) %", row[3]):
            found.append({"kind": row[0], "mode": row[1], "n": int(row[2]), "exact": float(percent[1])})
    return found


def _config(folder: Path) -> dict[str, Any]:
    with _opened(folder / "config.json") as file:
        try:
            config = json.loads(file.read())
        except ValueError:
            config = None
    if not isinstance(config, dict) or any(type(config.get(key)) is not int for key in NEEDED):
        raise UserError(f"config.json of {folder.name} must hold the counts {', '.join(NEEDED)}")
    return config


def _opened(file: Path):
    try:
        return open(file, "rb")
    except OSError as problem:
        raise UserError(f"{file.name} of {file.parent.name} cannot be read: {problem.strerror or problem}") from problem


def _header(file: Path) -> tuple[dict[str, Any], int]:
    """(tensor name -> its dtype, shape and data_offsets, where the data begins) of a safetensors file."""
    with _opened(file) as weights:
        try:
            (size,) = struct.unpack("<Q", weights.read(8))
            header = json.loads(weights.read(size)) if size <= LONGEST_HEADER else None
        except (struct.error, ValueError):
            header = None
    if not isinstance(header, dict):
        raise UserError(f"{file.name} of {file.parent.name} is no whole safetensors file")
    header.pop("__metadata__", None)
    return header, 8 + size


def _numbers(weights, header: dict, start: int, name: str, file: Path) -> tuple[float, ...]:
    tensor = header[name]
    low, high = tensor["data_offsets"]
    weights.seek(start + low)
    raw = weights.read(high - low)
    if len(raw) != high - low:
        raise UserError(f"{file.name} of {file.parent.name} is cut off: {name} is not whole")
    if tensor["dtype"] == "BF16":  # the upper half of an fp32 number, little-endian
        raw = b"".join(b"\0\0" + raw[at : at + 2] for at in range(0, len(raw), 2))
    elif tensor["dtype"] != "F32":
        raise UserError(f"{name} of {file.parent.name} must be BF16 or F32, got {tensor['dtype']}")
    return struct.unpack(f"<{_numel(tensor['shape'])}f", raw)


def _numel(shape: list[int]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count
