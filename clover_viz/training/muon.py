"""Muon in fp32: the optimizer of the dense matrices."""

import torch

DEPTH = 5  # iterations, as in torch's
CURVE = (3.4445, -4.7750, 2.0315)  # a, b, c of the quintic a x + b x^3 + c x^5 on a singular value x
LEAST = 1e-7  # the norm that a gradient of zeros is divided by


@torch.no_grad()
def orthogonalised(x: torch.Tensor) -> torch.Tensor:
    """Matrices [N, R, C] fp32 with the same singular vectors, and singular values of 0.68 to 1.14 (the least of a
    square matrix, which may be close to none, stay below).

    Newton-Schulz: X <- a X + (b A + c A^2) X with A = X X^T, from X of Frobenius norm 1 (Jordan et al., "Muon: an
    optimizer for hidden layers in neural networks", 2024). A matrix of zeros stays one.
    """
    a, b, c = CURVE
    tall = x.shape[-2] > x.shape[-1]
    x = x.mT if tall else x  # X X^T is then the smaller product
    x = x / x.norm(dim=(-2, -1), keepdim=True).clamp(min=LEAST)
    for _ in range(DEPTH):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """`torch.optim.Muon` with `match_rms_adamw`, whose iteration it computes in fp32 and for all matrices of a shape at
    once.

    torch's own iterates in bf16. On a CPU without instructions for it that takes as long as a causal step's gradients.
    """

    def __init__(self, params, lr: float, weight_decay: float, momentum: float = 0.95):
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum))

    @torch.no_grad()
    def step(self) -> None:
        """One update of every matrix, all of which have a gradient: a worker fills in what was not reached."""
        for group in self.param_groups:
            shapes = {}
            for p in group["params"]:
                shapes.setdefault(p.shape, []).append(p)
            for shape, matrices in shapes.items():
                update = orthogonalised(torch.stack([self._direction(p, group["momentum"]) for p in matrices]))
                # An orthogonal matrix of this shape has rms max(R, C)^-0.5; AdamW's updates have about 0.2.
                size = group["lr"] * 0.2 * max(shape) ** 0.5
                for p, direction in zip(matrices, update):
                    p.mul_(1 - group["lr"] * group["weight_decay"]).add_(direction, alpha=-size)

    def _direction(self, p: torch.Tensor, momentum: float) -> torch.Tensor:
        """The gradient, with Nesterov's momentum."""
        state = self.state[p]
        if not state:
            state["momentum_buffer"] = torch.zeros_like(p)
        mean = state["momentum_buffer"].lerp_(p.grad, 1 - momentum)
        return p.grad.lerp(mean, momentum)
