"""Whether the weights fit the free memory of a device, and what to do when they do not."""

import os
from pathlib import Path

import torch

from clover_viz.errors import UserError


def check(shapes: dict[str, tuple[int, ...]], dtype: torch.dtype, device: str) -> None:
    """Raises UserError when tensors of these shapes and this dtype need more than the device has free."""
    needed = sum(torch.Size(shape).numel() for shape in shapes.values()) * dtype.itemsize
    free = free_bytes(device)
    if free is not None and needed > free:
        raise UserError(
            f"the weights need {needed / 1e9:.1f} GB in {str(dtype).removeprefix('torch.')} and {device} has "
            f"{free / 1e9:.1f} GB free: choose {advice(needed, free, dtype)}"
        )


def advice(needed: int, free: int, dtype: torch.dtype) -> str:
    """What would help, in words; another dtype only where its weights would fit."""
    smaller = "a smaller model such as assets/clover-tiny"
    halved = needed // dtype.itemsize * 2
    if dtype.itemsize > 2 and halved <= free:
        return f"a larger device, dtype bfloat16 (the app: CLOVER_DTYPE=bfloat16), or {smaller}"
    return f"a larger device, or {smaller}"


def free_bytes(device: str) -> int | None:
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
