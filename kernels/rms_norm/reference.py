import torch
import torch.nn.functional as F


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """The zero-centred RMSNorm of every layer: `weight` is stored around 0. x [..., C], weight [C]."""
    x32 = x.float()
    normed = x32 * torch.rsqrt(x32.square().mean(-1, keepdim=True) + eps)
    return torch.addcmul(normed, normed, weight.float()).to(x.dtype)


def add_rms_norm(
    x: torch.Tensor, y: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """What the residual stream is after a mixer, x + y, and its `rms_norm`. x, y [..., C], weight [C]."""
    total = x + y
    return total, rms_norm(total, weight, eps)


def gated_rms_norm(x: torch.Tensor, z: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """The norm after a Gated DeltaNet: plain weight, then times SiLU(z). x, z [..., D], weight [D]."""
    x32 = x.float()
    normed = x32 * torch.rsqrt(x32.square().mean(-1, keepdim=True) + eps)
    return (normed * weight.float() * F.silu(z.float())).to(z.dtype)
