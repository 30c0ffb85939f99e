"""From a folder or a hub id to a model on a device. Only data is read: no code of a repository ever runs."""

import json
import logging
import os
from pathlib import Path

import torch
from accelerate.utils import set_module_tensor_to_device
from clover_kernels.selection import KernelSet, select
from safetensors import SafetensorError, safe_open

from clover_viz.config import CloverConfig
from clover_viz.errors import UserError
from clover_viz.model.clover import CloverForCausalLM

INDEX = "model.safetensors.index.json"
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
SHOWN = 3  # names listed of many that are wrong

log = logging.getLogger("clover_viz")


def load(
    path: str | os.PathLike,
    device: str = "cpu",
    dtype: str = "auto",
    kernels: str = "auto",
    revision: str | None = None,
) -> tuple[CloverForCausalLM, KernelSet]:
    """The model of a checkpoint, and the kernels it runs on.

    path: a local folder, or a hub id (then `revision` is honoured). dtype "auto" is fp32 on a CPU and bf16 elsewhere.
    Raises UserError, before any weight is read, for a wrong model type, kernels that cannot run, a tensor that is
    missing, unexpected, misshapen or cut off, and weights larger than the device's free memory.
    """
    folder = _folder(path, revision)
    config = read_config(folder)
    try:
        chosen = select(device, kernels)
    except ValueError as error:
        raise UserError(str(error)) from None
    target = DTYPES.get(dtype) or (torch.float32 if device.startswith("cpu") else torch.bfloat16)
    with torch.device("meta"):
        model = CloverForCausalLM(config, chosen)
    wanted = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    where = _locate(folder, wanted)
    _check_memory(wanted, target, device)
    for file in sorted(set(where.values())):
        with safe_open(file, framework="pt") as tensors:
            for name in tensors.keys():
                value = tensors.get_tensor(name).reshape(wanted[name])
                set_module_tensor_to_device(model, name, device, value=value, dtype=target)
    return model.eval(), chosen


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


def _folder(path: str | os.PathLike, revision: str | None) -> Path:
    if Path(path).is_dir():
        if revision is not None:
            raise UserError(f"revision must be left out for a local folder, got {revision!r} for {str(path)!r}")
        return Path(path)
    from huggingface_hub import snapshot_download

    try:
        patterns = ["*.json", "*.safetensors", "*.jinja"]
        return Path(snapshot_download(str(path), revision=revision, allow_patterns=patterns))
    except Exception as error:  # anything from a malformed id to an unreachable hub
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        at = "" if revision is None else f" at revision {revision!r}"
        raise UserError(f"model {str(path)!r}{at} is neither a folder nor to be had from the hub: {reason}") from None


def _files(folder: Path) -> list[Path]:
    if (folder / INDEX).exists():
        try:
            names = set(json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"].values())
        except (ValueError, KeyError, AttributeError, TypeError):
            raise UserError(f"{folder / INDEX}: not a weight index") from None
        files = [folder / name for name in sorted(names)]
        if any(file.resolve().parent != folder.resolve() and not file.is_symlink() for file in files):
            raise UserError(f"{folder / INDEX}: names a file outside its folder")
    else:
        files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise UserError(f"{folder}: holds no *.safetensors file")
    return files


def _locate(folder: Path, wanted: dict[str, tuple[int, ...]]) -> dict[str, Path]:
    """Which file holds each tensor; every name and shape is checked, from the headers alone."""
    where, wrong = {}, []
    for file in _files(folder):
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
    _refuse(folder, "missing", sorted(set(wanted) - set(where)))
    _refuse(folder, "unexpected", sorted(set(where) - set(wanted)))
    return where


def _shapes(name: str, shape: tuple[int, ...]) -> set[tuple[int, ...]]:
    """The right taps may be stored like a conv weight, with a middle dimension of one."""
    return {shape, (shape[0], 1, shape[1])} if name.endswith("conv_right_weight") else {shape}


def _refuse(folder: Path, fault: str, names: list[str]) -> None:
    if names:
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        raise UserError(f"{folder}: {fault} tensor{'s' * (len(names) > 1)}: {'; '.join(names[:SHOWN])}{more}")


def _check_memory(wanted: dict[str, tuple[int, ...]], dtype: torch.dtype, device: str) -> None:
    needed = sum(torch.Size(shape).numel() for shape in wanted.values()) * dtype.itemsize
    free = _free_bytes(device)
    if free is not None and needed > free:
        raise UserError(
            f"the weights need {needed / 1e9:.1f} GB in {str(dtype).removeprefix('torch.')} and {device} has "
            f"{free / 1e9:.1f} GB free: choose a larger device, a 16-bit dtype, "
            "or a smaller model such as assets/clover-tiny"
        )


def _free_bytes(device: str) -> int | None:
    """Free memory of a device; None when this system does not tell."""
    if device.startswith("cuda"):
        return torch.cuda.mem_get_info(device)[0]
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") + _reclaimable()
    except (ValueError, OSError, AttributeError):
        return None


def _reclaimable() -> int:
    """Bytes the system would give back from its file cache, where it says so."""
    try:
        rows = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        return int(rows["Cached"].split()[0]) * 1024
    except (OSError, ValueError, KeyError):
        return 0
