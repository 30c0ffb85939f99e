"""Which fixed tile sizes a card gets. No autotuning: the same card always runs the same code."""

from functools import lru_cache

import torch

# What every table of tiles holds, by compute capability: A100, H100 and H200, B200 and B300, RTX 50.
ARCHITECTURES = (80, 90, 100, 120)
OLDEST = (8, 0)


@lru_cache(maxsize=None)
def architecture(device: torch.device) -> int:
    """The entry of ARCHITECTURES that fits a device. A CPU, under the interpreter, gets the first."""
    return nearest(torch.cuda.get_device_capability(device)) if device.type == "cuda" else ARCHITECTURES[0]


@lru_cache(maxsize=None)
def processors(device: torch.device) -> int:
    """Streaming multiprocessors of a device. A CPU, under the interpreter, counts as two."""
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 2


def nearest(capability: tuple[int, int]) -> int:
    """Cards of 8.6 and 8.9 have the small shared memory of 12.0 (99 KB), and get its tiles."""
    if capability in ((8, 6), (8, 9)):
        return 120
    return max((a for a in ARCHITECTURES if a <= 10 * capability[0]), default=ARCHITECTURES[0])
