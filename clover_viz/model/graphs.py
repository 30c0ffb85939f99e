"""Passes captured once as CUDA graphs and replayed; where there is no card the same functions simply run."""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import torch

PREFERENCES = ("auto", "on", "off")
# Why "auto" does not take graphs that have been tested without a card only. A buffer read too late or written too early
# would be no error but another text: only runs on a card can show that there is none.
UNPROVEN = "the graphs have not run on a card yet; graphs=on asks for them"
WARMUPS = 2  # the first run of a pass compiles kernels and makes workspaces, which a capture may not


class Captured(NamedTuple):
    """A graph, and the tensors that each replay writes anew."""

    graph: Any
    outputs: Any


class Graphs:
    """Functions without arguments, by key: (kind, ...). A function reads and writes tensors that stay where they are.

    capture: False runs every function as it is. It may be switched at any time; what was captured is kept. Graphs of
    one kind share their memory: what one hands out holds until the next of that kind runs, whatever runs of the others.
    A function that fails raises, captured or not, and leaves no graph and the current stream as it was.
    """

    def __init__(self, device: torch.device, capture: bool):
        self.device, self.capture = torch.device(device), capture
        self._captured: dict[tuple[Hashable, ...], Captured] = {}
        self._pools: dict[Hashable, Any] = {}
        self._side: Any = None  # the stream of every capture: on another one a pool's memory is not shared
        self._failed: list[Any] = []

    def __len__(self) -> int:
        return len(self._captured)

    def run(self, key: tuple[Hashable, ...], function: Callable[[], Any]) -> Any:
        """What `function` returns. Replayed, its outputs are the same tensors every time."""
        if not self.capture:
            return function()
        self.ready(key, function)
        held = self._captured[key]
        held.graph.replay()
        return held.outputs

    def ready(self, key: tuple[Hashable, ...], function: Callable[[], Any]) -> None:
        """Captures, unless that was done or nothing is captured here. Runs the function: once more must do no harm."""
        if self.capture and key not in self._captured:
            with torch.cuda.device(self.device):
                self._captured[key] = self._capture(key[0], function)

    def _capture(self, kind: Hashable, function: Callable[[], Any]) -> Captured:
        if self._side is None:
            self._side = torch.cuda.Stream(self.device)
        if kind not in self._pools:
            self._pools[kind] = torch.cuda.graph_pool_handle()
        side, here = self._side, torch.cuda.current_stream(self.device)
        side.wait_stream(here)
        with torch.cuda.stream(side):
            for _ in range(WARMUPS):
                function()
        here.wait_stream(side)
        graph, pool = torch.cuda.CUDAGraph(), self._pools[kind]
        try:
            # The outer context is left however the capture ends; that of `graph` stays on its stream when ending fails.
            # thread_local: other threads of the app may use the card meanwhile
            with torch.cuda.stream(here), torch.cuda.graph(
                graph, pool=pool, stream=side, capture_error_mode="thread_local"
            ):  # fmt: skip
                outputs = function()
        except BaseException:
            # Torch may go on taking the pool for one that is being filled, and asking this graph whether it is.
            self._failed.append(graph)
            self._side = None
            del self._pools[kind]
            raise
        return Captured(graph, outputs)


def check(prefer: str, device: torch.device | str) -> None:
    """Raises ValueError when `prefer` is unknown, or graphs are asked for where there can be none. Needs no model."""
    if prefer not in PREFERENCES:
        raise ValueError(f"graphs must be {', '.join(PREFERENCES)}, got {prefer!r}")
    if prefer == "on" and (obstacle := _no_card(device)):
        raise ValueError(f"graphs=on cannot run: {obstacle}")


def choose(model, prefer: str = "auto") -> tuple[Any | None, str]:
    """The passes of a model as graphs (`clover_viz.model.steps.Steps`), or None for the model's own, and why.

    "auto" is off, until graphs have run on a card. Raises ValueError when `prefer` is unknown, or "on" cannot be.
    """
    check(prefer, model.device)
    if prefer == "off":
        return None, "asked for"
    obstacle = _no_card(model.device)
    if obstacle is None and model.kernels.name != "triton":
        obstacle = "the reference's experts ask the host, which a graph cannot; kernels=triton do not"
    if obstacle is None and prefer == "auto":
        obstacle = UNPROVEN
    if obstacle is not None:
        if prefer == "on":
            raise ValueError(f"graphs=on cannot run: {obstacle}")
        return None, obstacle
    from clover_viz.model.steps import Steps

    return Steps(model, capture=True), "asked for"


def _no_card(device: torch.device | str) -> str | None:
    kind = torch.device(device).type
    return None if kind == "cuda" else f"CUDA graphs need a CUDA device, the model is on {kind}"
