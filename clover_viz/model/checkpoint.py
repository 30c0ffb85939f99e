"""From a folder or a hub id to a model on a device. Only data is read: no code of a repository ever runs."""

import json
import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from accelerate.utils import set_module_tensor_to_device
from clover_kernels.selection import KernelSet, select
from safetensors import SafetensorError, safe_open

from clover_viz.config import CloverConfig
from clover_viz.errors import UserError
from clover_viz.model import memory
from clover_viz.model.clover import CloverForCausalLM

INDEX = "model.safetensors.index.json"
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
# Of a hub repository, first: config, tokenizer and index. Weights only once these were found sound.
SMALL_FILES = ["*.json", "*.jinja"]
SHOWN = 3  # names listed of many that are wrong

log = logging.getLogger("clover_viz")


@dataclass(frozen=True)
class Examined:
    """A checkpoint that was found sound but for its weights, none of which was read yet.

    folder: holds config, tokenizer and index; of a hub id, one commit's. model: without weights yet. source: the hub id
    and revision that the weights are still to come from.
    """

    folder: Path
    model: CloverForCausalLM
    kernels: KernelSet
    device: str
    dtype: torch.dtype
    wanted: dict[str, tuple[int, ...]]
    index: dict[str, str] | None
    source: tuple[str, str | None] | None

    def read(self) -> tuple[CloverForCausalLM, KernelSet]:
        """The model with its weights, on the device, and its kernels. Raises UserError for weights that the index and
        the config do not promise, before any is read, and for a hub id that changed since it was examined."""
        if self.source:
            path, revision = self.source
            weights = ["*.safetensors"] if self.index is None else sorted(set(self.index.values()))
            if _fetch(path, revision, weights) != self.folder:  # a folder a commit
                raise UserError(f"model {path!r} changed on the hub while it was being fetched: load it again")
        where = _locate(self.folder, self.index, self.wanted)
        for file in sorted(set(where.values())):
            with safe_open(file, framework="pt") as tensors:
                for name in tensors.keys():
                    value = tensors.get_tensor(name).reshape(self.wanted[name])
                    set_module_tensor_to_device(self.model, name, self.device, value=value, dtype=self.dtype)
        return self.model.eval(), self.kernels


def examine(
    path: str | os.PathLike,
    device: str = "cpu",
    dtype: str = "auto",
    kernels: str = "auto",
    revision: str | None = None,
) -> Examined:
    """All that can be found out of a checkpoint before its weights are fetched or read.

    path: a local folder, or a hub id (then `revision` is honoured). dtype "auto" is fp32 on a CPU and bf16 elsewhere.
    Raises UserError for a wrong model type, kernels that cannot run, an index with a tensor missing or unexpected, and
    weights larger than the device's free memory.
    """
    target = _dtype(dtype, device)
    try:
        chosen = select(device, kernels)
    except ValueError as error:
        raise UserError(str(error)) from None
    local = Path(path).is_dir()
    if local and revision is not None:
        raise UserError(f"revision must be left out for a local folder, got {revision!r} for {str(path)!r}")
    folder = Path(path) if local else _fetch(path, revision, SMALL_FILES)
    config = read_config(folder)
    with torch.device("meta"):
        model = CloverForCausalLM(config, chosen)
    wanted = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    index = read_index(folder)
    if index is not None:
        _check_names(folder / INDEX, index, wanted)
    memory.check(wanted, target, device)
    return Examined(folder, model, chosen, device, target, wanted, index, None if local else (str(path), revision))


def read_config(folder: Path) -> CloverConfig:
    """The folder's config.json as a CloverConfig; keys that mean nothing to it are reported, code is ignored."""
    file = folder / "config.json"
    try:
        keys = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{file}: not found; a checkpoint folder holds config.json") from None
    except ValueError as error:
        raise UserError(f"{file}: not valid JSON ({error})") from None
    kind = keys.get("model_type") if isinstance(keys, dict) else None
    if kind != CloverConfig.model_type:
        raise UserError(f"{file}: model_type must be {CloverConfig.model_type!r}, got {kind!r}")
    try:
        config = CloverConfig(**keys)
    except Exception as error:  # the config library raises several kinds, some of several lines
        raise UserError(f"{file}: {' '.join(str(error).split())}") from None
    if config.unknown_keys:
        log.warning("%s: ignoring keys that are not understood: %s", file, ", ".join(config.unknown_keys))
    return config


def read_index(folder: Path) -> dict[str, str] | None:
    """The file of each tensor by the folder's index, each beside the index; None where there is no index."""
    file = folder / INDEX
    if not file.exists():
        return None
    try:
        files = dict(json.loads(file.read_text(encoding="utf-8"))["weight_map"])
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{file}: not a weight index") from None
    for name in files.values():
        if not isinstance(name, str) or Path(name).name != name or not name.endswith(".safetensors"):
            raise UserError(f"{file}: must name *.safetensors files of its own folder, got {name!r}")
    return files


def _dtype(name: str, device: str) -> torch.dtype:
    if name == "auto":
        return torch.float32 if device.startswith("cpu") else torch.bfloat16
    if name not in DTYPES:
        raise UserError(f"dtype must be one of auto, {', '.join(DTYPES)}, got {name!r}")
    return DTYPES[name]


def _fetch(path: str | os.PathLike, revision: str | None, patterns: list[str]) -> Path:
    """The folder of a hub id's snapshot, with the files at its top that match."""
    from huggingface_hub import snapshot_download

    try:
        return Path(
            snapshot_download(str(path), revision=revision, allow_patterns=patterns, ignore_patterns=["*/*"])
        )  # fmt: skip
    except Exception as error:  # anything from a malformed id to an unreachable hub
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        at = "" if revision is None else f" at revision {revision!r}"
        raise UserError(f"model {str(path)!r}{at} is neither a folder nor to be had from the hub: {reason}") from None


def _locate(folder: Path, index: dict[str, str] | None, wanted: dict[str, tuple[int, ...]]) -> dict[str, Path]:
    """Which file holds each tensor; every name and shape is checked, from the headers alone."""
    files = set(folder.glob("*.safetensors")) if index is None else {folder / name for name in index.values()}
    if not files:
        raise UserError(f"{folder}: holds no *.safetensors file")
    where, wrong = {}, []
    for file in sorted(files):
        try:
            with safe_open(file, framework="pt") as tensors:
                for name in tensors.keys():
                    where[name] = file
                    shape = tuple(tensors.get_slice(name).get_shape())
                    if name in wanted and shape not in _shapes(name, wanted[name]):
                        wrong.append(f"{name} is {list(shape)}, expected {list(wanted[name])}")
        except FileNotFoundError:
            raise UserError(f"{file}: not found, though the index names it") from None
        except (SafetensorError, OSError) as error:
            raise UserError(f"{file}: cut off or damaged ({error})") from None
    _refuse(folder, "misshapen", wrong)
    _check_names(folder, where, wanted)
    return where


def _check_names(place: Path, found: Iterable[str], wanted: Iterable[str]) -> None:
    _refuse(place, "missing", sorted(set(wanted) - set(found)))
    _refuse(place, "unexpected", sorted(set(found) - set(wanted)))


def _shapes(name: str, shape: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The right taps may be stored like a conv weight, with a middle dimension of one."""
    return {shape, (shape[0], 1, shape[1])} if name.endswith("conv_right_weight") else {shape}


def _refuse(place: Path, fault: str, names: list[str]) -> None:
    if names:
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        raise UserError(f"{place}: {fault} tensor{'s' * (len(names) > 1)}: {'; '.join(names[:SHOWN])}{more}")
