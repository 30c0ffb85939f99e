"""Which implementation of every operation runs, decided once, with the reason.

The folder is loaded under the name `clover_kernels` (see `clover_viz/kernel_folder.py`): a package of Hugging Face is
called `kernels` too, and neither may shadow the other.
"""

import os
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Callable

# Why "auto" does not take kernels that are proven under the interpreter and by the compiler only.
UNPROVEN = "the Triton kernels have not run on a card yet; kernels=triton asks for them"

# Folder -> the operations in it.
OPS = {
    "rms_norm": ("rms_norm", "add_rms_norm", "gated_rms_norm"),
    "conv": ("causal_conv", "block_conv"),
    "delta_gates": ("delta_gates",),
    "gated_delta": ("gated_delta", "gated_delta_prefill", "gated_delta_advance"),
    "block_mix": ("block_mix",),
    "router_coreset": ("route", "route_coreset"),
    "moe_experts": ("moe_experts",),
    "shared_expert": ("swiglu", "add_shared_expert"),
    "token_stats": ("token_stats",),
}


@dataclass(frozen=True)
class KernelSet:
    """Every operation of the model under one name. Signatures are those of `<op>/reference.py`."""

    name: str
    reason: str
    rms_norm: Callable
    add_rms_norm: Callable
    gated_rms_norm: Callable
    causal_conv: Callable
    block_conv: Callable
    delta_gates: Callable
    gated_delta: Callable
    gated_delta_prefill: Callable
    gated_delta_advance: Callable
    block_mix: Callable
    route: Callable
    route_coreset: Callable
    moe_experts: Callable
    swiglu: Callable
    add_shared_expert: Callable
    token_stats: Callable


def select(device: str, prefer: str = "auto") -> KernelSet:
    """The kernels for a device ("cpu", "cuda", "cuda:1").

    `prefer` is "auto" (the reference, until the Triton kernels have run on a card), "reference" or "triton". With
    TRITON_INTERPRET=1 in the environment "triton" also runs on a CPU, interpreted and slow: that is for tests.
    Raises ValueError when Triton is asked for and cannot run, with the reason, or when `prefer` is unknown.
    """
    if prefer not in ("auto", "reference", "triton"):
        raise ValueError(f"kernels must be auto, reference or triton, got {prefer!r}")
    if prefer == "reference":
        return _reference("asked for")
    interpreted = prefer == "triton" and os.environ.get("TRITON_INTERPRET") == "1"
    device = str(device)
    obstacle = _triton_obstacle(device, interpreted)
    if obstacle is None and prefer == "auto":
        obstacle = UNPROVEN
    if obstacle is None:
        return _triton(device, interpreted)
    if prefer == "triton":
        raise ValueError(f"kernels=triton cannot run: {obstacle}")
    return _reference(obstacle)


def _triton_obstacle(device: str, interpreted: bool) -> str | None:
    """Why Triton kernels cannot run on this device, or None when they can. On a CPU nothing heavy is imported."""
    kind = device.split(":")[0]
    if kind != "cuda" and not (interpreted and kind == "cpu"):
        return f"Triton needs a CUDA device, the model is on {kind}"
    if find_spec("triton") is None:
        return "Triton is not installed"
    obstacle = None if interpreted else _card_obstacle(device)
    if obstacle is None:
        try:
            import_module("triton")
        except Exception as error:  # a build for another Python, driver or machine fails in its own way
            obstacle = f"Triton cannot be imported ({' '.join(str(error).split())})"
    return obstacle


def _card_obstacle(device: str) -> str | None:
    import torch

    from clover_kernels.tiles import OLDEST

    if not torch.cuda.is_available():
        return "torch sees no CUDA device"
    if torch.version.cuda is None:
        return "the kernels are written for NVIDIA cards, and this torch is built for others"
    found = torch.cuda.get_device_capability(device)
    if found < OLDEST:
        return f"the card must have compute capability {_dotted(OLDEST)} or newer, it has {_dotted(found)}"
    return None


def _dotted(capability: tuple[int, int]) -> str:
    return ".".join(map(str, capability))


def _reference(reason: str) -> KernelSet:
    return KernelSet("reference", reason, **_operations("reference"))


def _triton(device: str, interpreted: bool) -> KernelSet:
    operations = _operations("triton_kernel")
    if interpreted:
        return KernelSet("triton", "asked for, interpreted on the CPU (TRITON_INTERPRET=1)", **operations)
    import torch

    if ":" in device:
        # A launch goes to the current card; with one card, or the first, that is the tensors' own.
        operations = {name: _on(torch.device(device), function) for name, function in operations.items()}
    return KernelSet("triton", torch.cuda.get_device_name(device), **operations)


def _on(device, function: Callable) -> Callable:
    import torch

    def there(*args, **kwargs):
        with torch.cuda.device(device):
            return function(*args, **kwargs)

    return there


def _operations(kind: str) -> dict[str, Callable]:
    """Every operation by name, from `<op>/<kind>.py`."""
    return {
        name: getattr(import_module(f"clover_kernels.{op}.{kind}"), name) for op, names in OPS.items() for name in names
    }
