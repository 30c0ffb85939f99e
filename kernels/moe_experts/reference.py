import torch
import torch.nn.functional as F


def moe_experts(
    x: torch.Tensor, experts: torch.Tensor, weights: torch.Tensor, gate_up: torch.Tensor, down: torch.Tensor
) -> torch.Tensor:
    """Each token's K experts, weighted and summed. Shapes in the package's docstring; returns [T, C] in the dtype of x.

    Tokens are brought together by expert, so that every touched expert is read once however many tokens chose it.
    """
    flat = experts.flatten()
    order = flat.argsort(stable=True)  # pairs (token, choice), expert by expert
    token = order // experts.shape[1]
    counts = torch.bincount(flat, minlength=gate_up.shape[0]).tolist()
    outputs = []
    # unbind, not indexing by expert: one backward node for all experts instead of a full-size gradient from each.
    for rows, enter, leave in zip(x[token].split(counts), gate_up.unbind(), down.unbind()):
        if len(rows):
            gate, up = F.linear(rows, enter).chunk(2, dim=-1)
            outputs.append(F.linear(F.silu(gate) * up, leave))
    y = torch.cat(outputs) * weights.flatten()[order].unsqueeze(-1)
    return torch.zeros_like(x).index_add(0, token, y.to(x.dtype))
