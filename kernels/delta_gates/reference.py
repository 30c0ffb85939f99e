import torch
import torch.nn.functional as F


def delta_gates(
    x: torch.Tensor, a_weight: torch.Tensor, b_weight: torch.Tensor, A_log: torch.Tensor, dt_bias: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Log decay g (fp32) and write strength beta (dtype of x), both [..., T, Hv]. Shapes in the package's docstring."""
    g = -A_log.float().exp() * F.softplus(F.linear(x, a_weight).float() + dt_bias.float())
    return g, F.linear(x, b_weight).sigmoid()
