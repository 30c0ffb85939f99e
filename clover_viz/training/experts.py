"""The routed experts as training runs them: one forward and one backward written out, instead of a node a product."""

from dataclasses import replace

import torch
import torch.nn.functional as F

import clover_viz.model  # noqa: F401 (makes `clover_kernels` importable)


def training_kernels():
    """The reference kernels on a CPU, with this file's `moe_experts` in place of theirs."""
    from clover_kernels.selection import select

    return replace(select("cpu", "reference"), moe_experts=moe_experts)


def moe_experts(
    x: torch.Tensor, experts: torch.Tensor, weights: torch.Tensor, gate_up: torch.Tensor, down: torch.Tensor
) -> torch.Tensor:
    """The kernels' operation of this name, with gradients. x [T, C], experts [T, K], weights [T, K] -> [T, C]

    Autograd would keep a node, and make a copy, for every product of every expert: on a CPU more than half the time of
    a step's experts. Here every product writes into its place, and what lies between products is done for all at once.
    """
    return _Experts.apply(x, experts, weights, gate_up, down)


class _Experts(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, experts, weights, gate_up, down):
        flat = experts.flatten()
        order = flat.argsort(stable=True)  # pairs (token, choice), expert by expert
        back = torch.empty_like(order).scatter_(0, order, torch.arange(len(order)))
        ends = torch.bincount(flat, minlength=len(gate_up)).cumsum(0).tolist()
        spans = [(e, start, end) for e, (start, end) in enumerate(zip([0, *ends], ends)) if end > start]
        token = order // experts.shape[1]
        rows = x.index_select(0, token)
        entered = x.new_empty(len(rows), gate_up.shape[1])
        for e, start, end in spans:
            torch.mm(rows[start:end], gate_up[e].mT, out=entered[start:end])
        gate, up = entered.chunk(2, dim=-1)
        inner = F.silu(gate).mul_(up)
        y = torch.empty_like(rows)
        for e, start, end in spans:
            torch.mm(inner[start:end], down[e].mT, out=y[start:end])
        y = y.index_select(0, back).view(*experts.shape, -1)  # token by token again
        ctx.save_for_backward(rows, entered, inner, y, weights, gate_up, down, token, order, back)
        ctx.spans = spans
        return torch.bmm(weights.unsqueeze(1), y).squeeze(1)

    @staticmethod
    def backward(ctx, grad):
        rows, entered, inner, y, weights, gate_up, down, token, order, back = ctx.saved_tensors
        grad_weights = torch.bmm(y, grad.unsqueeze(-1)).squeeze(-1)
        grad_y = grad.index_select(0, token).mul_(weights.flatten().index_select(0, order).unsqueeze(-1))
        grad_inner, grad_down = torch.empty_like(inner), torch.zeros_like(down)
        for e, start, end in ctx.spans:
            torch.mm(grad_y[start:end], down[e], out=grad_inner[start:end])
            torch.mm(grad_y[start:end].mT, inner[start:end], out=grad_down[e])
        gate, up = entered.chunk(2, dim=-1)
        slope = gate.sigmoid()
        grad_entered = torch.empty_like(entered)
        # silu(g) = g s(g), and its derivative is s (1 + g (1 - s)).
        torch.mul(grad_inner, gate * slope, out=grad_entered[:, up.shape[1] :])
        slope.mul_((1 - slope).mul_(gate).add_(1))
        torch.mul(grad_inner.mul_(up), slope, out=grad_entered[:, : up.shape[1]])
        grad_rows, grad_gate_up = torch.empty_like(rows), torch.zeros_like(gate_up)
        for e, start, end in ctx.spans:
            torch.mm(grad_entered[start:end], gate_up[e], out=grad_rows[start:end])
            torch.mm(grad_entered[start:end].mT, rows[start:end], out=grad_gate_up[e])
        grad_x = grad_rows.index_select(0, back).view(*y.shape).sum(1)
        return grad_x, None, grad_weights, grad_gate_up, grad_down
