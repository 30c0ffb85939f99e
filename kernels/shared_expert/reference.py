import torch
import torch.nn.functional as F


def swiglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """SiLU(gate) * up, [..., I]."""
    return F.silu(gate) * up


def add_shared_expert(
    x: torch.Tensor, routed: torch.Tensor, inner: torch.Tensor, gate_weight: torch.Tensor, shared: torch.Tensor
) -> torch.Tensor:
    """The residual, the routed experts' sum and the gated shared expert. Shapes in the package's docstring."""
    return x + torch.addcmul(routed, F.linear(inner, gate_weight).sigmoid(), shared)
