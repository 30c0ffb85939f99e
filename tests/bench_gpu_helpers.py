"""A toy bench whose graphs are what a test makes of them."""

import pytest
import torch
from clover_kernels.selection import select

from clover_viz.bench import gpu, gpu_model, gpu_passes
from clover_viz.config import CloverConfig
from clover_viz.model.graphs import Graphs

CPU, REFERENCE = torch.device("cpu"), select("cpu", "reference")
TOY = CloverConfig(**gpu.TOY)


@pytest.fixture(name="bench")
def toy_bench():
    model, knob = gpu_model.build(TOY, REFERENCE, CPU)
    knob.turn(gpu_model.CORRELATION[64])
    return gpu_passes.Bench(model, capture=True, context=32)


@pytest.fixture(name="replayed")
def toy_graphs(monkeypatch):
    """Graphs are what a function makes of them: `change(key, function)`."""

    def use(change):
        def run(self, key, function):
            return change(key, function) if self.capture else function()

        monkeypatch.setattr(Graphs, "run", run)
        monkeypatch.setattr(Graphs, "ready", lambda self, key, function: None)

    return use
