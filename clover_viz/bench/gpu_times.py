"""Milliseconds, bandwidth and launches on a card; on a CPU the same calls by the clock."""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch

from clover_viz.bench.timing import Side


class Budget:
    """Seconds for everything. A part may use the time up to its share of the whole, counted from the beginning."""

    def __init__(self, seconds: float, clock: Callable[[], float] = perf_counter):
        self.seconds, self._clock, self._began = seconds, clock, clock()

    def spent(self) -> float:
        return self._clock() - self._began

    def over(self, share: float) -> bool:
        return self.spent() >= self.seconds * share


def milliseconds(side: Side, rounds: int, device: torch.device, warmup: int = 2) -> list[float]:
    """Of each round of `side`, its preparation left out; the device is idle before every round."""
    taken = []
    for turn in range(warmup + rounds):
        given = side.prepare()
        taken.append(_on_card(side.run, given, device) if device.type == "cuda" else _by_clock(side.run, given))
    return taken[warmup:]


def _on_card(run: Callable[[Any], Any], given: Any, device: torch.device) -> float:
    began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize(device)
    began.record()
    run(given)
    ended.record()
    ended.synchronize()
    return began.elapsed_time(ended)


def _by_clock(run: Callable[[Any], Any], given: Any) -> float:
    began = perf_counter()
    run(given)
    return 1000 * (perf_counter() - began)


def copy_bandwidth(device: torch.device, size: int, rounds: int) -> float:
    """Bytes a second, read and written, of the quickest copy of `size` random bytes: zeros may move faster."""
    source = torch.empty(size, dtype=torch.uint8, device=device).random_()
    target = torch.empty_like(source)
    best = min(milliseconds(Side(lambda _: target.copy_(source)), rounds, device))
    return 2 * size / (best / 1000)


def launches(run: Callable[[], Any], device: torch.device) -> dict[str, int]:
    """Kernels and copies that a card ran for a call; none on a CPU."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device.type == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
        torch.cuda.synchronize(device)
    with torch.profiler.profile(activities=activities) as profile:
        run()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
    names = [event.name for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    copies = sum(name.startswith(("Memcpy", "Memset")) for name in names)
    return {"kernels": len(names) - copies, "copies": copies}
