import torch
import torch.nn.functional as F

FEW = 8  # mean rows an expert, up to which calls cost more than arithmetic


def moe_experts(
    x: torch.Tensor, experts: torch.Tensor, weights: torch.Tensor, gate_up: torch.Tensor, down: torch.Tensor
) -> torch.Tensor:
    """Each token's K experts, weighted and summed. Shapes in the package's docstring; returns [T, C] in the dtype of x.

    Tokens are brought together by expert, so that every touched expert is read once however many tokens chose it.
    """
    weights = weights.to(x.dtype)
    if len(x) == 1:
        return _one_token(x, experts, weights, gate_up, down)
    flat = experts.flatten()
    order = flat.argsort(stable=True)  # pairs (token, choice), expert by expert
    token = order // experts.shape[1]
    counts = torch.bincount(flat, minlength=len(gate_up))
    few = len(flat) <= FEW * len(gate_up) and _can_group(x, gate_up, down)
    y = (_grouped if few else _one_by_one)(x.index_select(0, token), counts, gate_up, down)  # [T K, C]
    y = y.index_select(0, order.argsort()).view(*experts.shape, -1)  # back to token by token
    return torch.bmm(weights.unsqueeze(1), y).squeeze(1)


def _one_token(x, experts, weights, gate_up, down) -> torch.Tensor:
    """Matrix times vector, K times: nothing to bring together, and no weight copied."""
    out = torch.zeros_like(x[0])
    for expert, weight in zip(experts[0].tolist(), weights[0]):
        gate, up = torch.mv(gate_up[expert], x[0]).chunk(2)
        out = torch.addmv(out, down[expert], F.silu(gate) * up * weight)
    return out.unsqueeze(0)


def _one_by_one(rows, counts, gate_up, down) -> torch.Tensor:
    outputs = []
    # unbind, not indexing by expert: one backward node for all experts instead of a full-size gradient from each.
    for group, enter, leave in zip(rows.split(counts.tolist()), gate_up.unbind(), down.unbind()):
        if len(group):
            gate, up = F.linear(group, enter).chunk(2, dim=-1)
            outputs.append(F.linear(F.silu(gate) * up, leave))
    return torch.cat(outputs)


def _grouped(rows, counts, gate_up, down) -> torch.Tensor:
    """The same products in two calls. Weights stand on the left, tokens are columns: faster for few of them."""
    ends = counts.cumsum(0, dtype=torch.int32)
    gate, up = F.grouped_mm(gate_up, rows.mT, offs=ends).chunk(2, dim=0)  # [I, T K]
    inner = (F.silu(gate) * up).mT.contiguous()
    return F.grouped_mm(down, inner.mT, offs=ends).mT


def _can_group(x, gate_up, down) -> bool:
    """grouped_mm wants rows of whole 16 bytes and at most fp32; on CUDA it also wants a recent card."""
    aligned = all(w.shape[-1] * w.element_size() % 16 == 0 and w.is_contiguous() for w in (gate_up, down))
    return aligned and x.device.type == "cpu" and x.dtype != torch.float64
