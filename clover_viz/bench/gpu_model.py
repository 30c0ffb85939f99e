"""A model of random weights made where it is to run, whose slots agree on their experts as much as they are told to."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import sqrt

import torch

from clover_viz.model.clover import CloverForCausalLM

# Touched experts of 32 slots, 8 of 256 each -> weight of what the slots' router logits have in common.
CORRELATION = {8: 200.0, 32: 2.55, 64: 1.27, 128: 0.46, 163: 0.0}
SPARE = 4e9  # bytes beside the weights: the copy's buffers are gone by then, logits and workspaces are not
QUIET = 0.05  # what a layer adds to the residual, so that the slots stay as different as their embeddings
LOUD = 16  # times as much, where results are compared; a power of two, so that there and back changes no bit
LOUDEST = 6.0  # standard deviation of router logits: beyond, all but the best expert's probability is nothing


def parameters(config) -> int:
    with torch.device("meta"):
        return sum(p.numel() for p in CloverForCausalLM(config).parameters())


def shortfall(config, free: int, itemsize: int = 2) -> str:
    """Why the weights do not fit into so many bytes, in a line; empty when they do."""
    needed = parameters(config) * itemsize + SPARE
    if needed <= free:
        return ""
    cut = type(config)(**config.to_dict() | {"num_hidden_layers": 1, "layer_types": ["linear_attention"]})
    around = 2 * config.vocab_size * config.hidden_size * itemsize
    layers = int((free - SPARE - around) // (parameters(cut) * itemsize - around)) // 4 * 4
    advice = f"--layers {layers} fits" if layers >= 4 else "no number of layers fits"
    wanted = f"{config.num_hidden_layers} layers need {needed / 1e9:.0f} GB"
    return f"{wanted} and the card has {free / 1e9:.0f} free: {advice}"


@torch.inference_mode(False)
@torch.no_grad()
def build(config, kernels, device: torch.device, dtype: torch.dtype = torch.bfloat16, seed: int = 0):
    """The model, its weights made in place: no second copy of them anywhere. Returns it with its Knob."""
    with torch.device("meta"):
        model = CloverForCausalLM(config, kernels)
    model = model.to(dtype).to_empty(device=device).eval().requires_grad_(False)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        model.apply(model._init_weights)
        common = torch.randint(0, 2, (config.hidden_size,), device=device) * 2.0 - 1.0
        model.model.embed_tokens.weight.normal_().add_(common.to(dtype))
        for weight in _added(model):
            weight.mul_(QUIET)
        return model, Knob(model, common)


def _added(model) -> Iterator[torch.Tensor]:
    """The weights of which each layer's part of the residual is made."""
    for layer in model.model.layers:
        mixer = layer.self_attn.o_proj if layer.is_attention else layer.linear_attn.out_proj
        yield from (mixer.weight, layer.mlp.experts.down_proj, layer.mlp.shared_expert.down_proj.weight)


@contextmanager
def loud(model) -> Iterator[None]:
    """The layers count as long as this lasts. Quiet ones leave the logits to the token's own embedding: without the
    whole text before they would be the same but for rounding, and no comparison would tell that it was lost."""
    with torch.no_grad():
        for weight in _added(model):
            weight.mul_(LOUD)
        try:
            yield
        finally:
            for weight in _added(model):
                weight.div_(LOUD)


class Knob:
    """Router weights such that a slot's logits are N(0, 1) of its own plus `weight` times N(0, 1) that all slots share.

    Every embedding is a direction that all have in common plus noise of its own, the layers add little to it, and a
    router looks at the noise with one matrix and at the common direction with another.
    """

    def __init__(self, model, common: torch.Tensor):
        width = len(common)
        self._gates = [layer.mlp.gate.weight for layer in model.model.layers]
        self._own, self._shared = [], []
        for gate in self._gates:
            own = torch.randn(gate.shape, device=gate.device) * sqrt(2 / width)
            own -= torch.outer(own @ common, common) / width
            self._own.append(own)
            self._shared.append(torch.outer(torch.randn(len(gate), device=gate.device), common) * (sqrt(2) / width))

    @torch.no_grad()
    def turn(self, weight: float) -> None:
        """Writes the routers, where they are: what was captured goes on with the new ones."""
        scale = min(1.0, LOUDEST / weight) if weight else 1.0
        for gate, own, shared in zip(self._gates, self._own, self._shared):
            gate.copy_((own + weight * shared) * scale)
