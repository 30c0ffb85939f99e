"""Passes captured once as CUDA graphs and replayed; where there is no card the same functions simply run."""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import torch

PREFERENCES = ("auto", "on", "off")
# Why "auto" does not take graphs that have been tested without a card only.
UNPROVEN = "the graphs have not run on a card yet; graphs=on asks for them"
WARMUPS = 2  # the first run of a pass compiles kernels and makes workspaces, which a capture may not


class Captured(NamedTuple):
    """A graph, and the tensors that each replay writes anew."""

    graph: Any
    outputs: Any


class Graphs:
    """Functions without arguments, by key. A function reads and writes tensors that stay where they are.

    capture: False runs every function as it is. It may be switched at any time; what was captured is kept.
    """

    def __init__(self, device: torch.device, capture: bool):
        self.device, self.capture = torch.device(device), capture
        self._captured: dict[Hashable, Captured] = {}
        self._pool = None

    def __len__(self) -> int:
        return len(self._captured)

    def run(self, key: Hashable, function: Callable[[], Any]) -> Any:
        """What `function` returns. Replayed, its outputs are the same tensors every time: read them before the next."""
        if not self.capture:
            return function()
        self.ready(key, function)
        held = self._captured[key]
        held.graph.replay()
        return held.outputs

    def ready(self, key: Hashable, function: Callable[[], Any]) -> None:
        """Captures, unless that was done or nothing is captured here. Runs the function: once more must do no harm."""
        if self.capture and key not in self._captured:
            with torch.cuda.device(self.device):
                self._captured[key] = self._capture(function)

    def _capture(self, function: Callable[[], Any]) -> Captured:
        self._pool = self._pool or torch.cuda.graph_pool_handle()
        side, here = torch.cuda.Stream(self.device), torch.cuda.current_stream(self.device)
        side.wait_stream(here)
        with torch.cuda.stream(side):
            for _ in range(WARMUPS):
                function()
        here.wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        # thread_local: other threads of the app may use the card meanwhile
        with torch.cuda.graph(graph, pool=self._pool, stream=side, capture_error_mode="thread_local"):
            outputs = function()
        return Captured(graph, outputs)


def choose(model, prefer: str = "auto") -> tuple[Any | None, str]:
    """The passes of a model as graphs (`clover_viz.model.steps.Steps`), or None for the model's own, and why.

    "auto" is off, until graphs have run on a card. "on" captures on a card and runs the same code as it is on a CPU.
    Raises ValueError when `prefer` is unknown, or the kernels are such that nothing can be captured.
    """
    if prefer not in PREFERENCES:
        raise ValueError(f"graphs must be {', '.join(PREFERENCES)}, got {prefer!r}")
    on_card = model.device.type == "cuda"
    if prefer == "off":
        return None, "asked for"
    if prefer == "auto":
        return None, UNPROVEN if on_card else "a CPU has no graphs"
    from clover_viz.model.steps import Steps

    if not on_card:
        return Steps(model, capture=False), "asked for; on a CPU the passes run as they are"
    if model.kernels.name != "triton":
        raise ValueError("graphs=on cannot run: the reference's experts ask the host, kernels=triton do not")
    return Steps(model, capture=True), "asked for"
