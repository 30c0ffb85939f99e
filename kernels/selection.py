"""Which implementation of every operation runs, decided once, with the reason.

The folder is loaded under the name `clover_kernels` (see `clover_viz/kernel_folder.py`): a package of Hugging Face is
called `kernels` too, and neither may shadow the other.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Callable

OPS = ("rms_norm", "conv", "gated_delta", "block_mix", "router_coreset", "moe_experts", "token_stats")


@dataclass(frozen=True)
class KernelSet:
    """Every operation of the model under one name. Signatures are those of `<op>/reference.py`."""

    name: str
    reason: str
    rms_norm: Callable
    gated_rms_norm: Callable
    causal_conv: Callable
    block_conv: Callable
    gated_delta: Callable
    gated_delta_prefill: Callable
    gated_delta_advance: Callable
    block_mix: Callable
    route: Callable
    route_coreset: Callable
    moe_experts: Callable
    token_stats: Callable


def _triton_obstacle(device_type: str) -> str | None:
    """Why Triton kernels cannot run on this device, or None when they can."""
    if device_type != "cuda":
        return f"Triton needs a CUDA device, the model is on {device_type}"
    return "the Triton kernels are not part of this version"


def select(device: str, prefer: str = "auto") -> KernelSet:
    """The kernels for a device ("cpu", "cuda", "cuda:1").

    `prefer` is "auto" (Triton where it can run, else the reference), "reference" or "triton".
    Raises ValueError when Triton is asked for and cannot run, with the reason, or when `prefer` is unknown.
    """
    if prefer not in ("auto", "reference", "triton"):
        raise ValueError(f"kernels must be auto, reference or triton, got {prefer!r}")
    if prefer == "reference":
        return _reference("asked for")
    obstacle = _triton_obstacle(str(device).split(":")[0])
    if prefer == "triton":
        raise ValueError(f"kernels=triton cannot run: {obstacle}")
    return _reference(obstacle)


def _reference(reason: str) -> KernelSet:
    ops = {op: import_module(f"clover_kernels.{op}.reference") for op in OPS}
    return KernelSet(
        name="reference",
        reason=reason,
        rms_norm=ops["rms_norm"].rms_norm,
        gated_rms_norm=ops["rms_norm"].gated_rms_norm,
        causal_conv=ops["conv"].causal_conv,
        block_conv=ops["conv"].block_conv,
        gated_delta=ops["gated_delta"].gated_delta,
        gated_delta_prefill=ops["gated_delta"].gated_delta_prefill,
        gated_delta_advance=ops["gated_delta"].gated_delta_advance,
        block_mix=ops["block_mix"].block_mix,
        route=ops["router_coreset"].route,
        route_coreset=ops["router_coreset"].route_coreset,
        moe_experts=ops["moe_experts"].moe_experts,
        token_stats=ops["token_stats"].token_stats,
    )
