"""Toy models that the tests share: real architecture, a few layers of both kinds, seeded weights."""

import torch

from clover_viz.config import CloverConfig
from clover_viz.model.clover import CloverForCausalLM

# Weights of this spread keep transformers' own fp32 logits within 1e-5 of its fp64 ones; at 0.2 they are 1.5e-2 apart,
# and no comparison at 1e-4 would mean anything.
INITIALIZER_RANGE = 0.06

TOY = dict(
    vocab_size=97, hidden_size=48, num_hidden_layers=8, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
    linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=12, linear_value_head_dim=10,
    num_experts=16, num_experts_per_tok=4, moe_intermediate_size=20, shared_expert_intermediate_size=24,
    mask_token_id=96, max_position_embeddings=256, block_size=8, initializer_range=INITIALIZER_RANGE,
)  # fmt: skip


def toy_model(seed: int = 0, **overrides) -> CloverForCausalLM:
    """A small Clover with random weights everywhere, the diffusion tensors included."""
    torch.manual_seed(seed)
    model = CloverForCausalLM(CloverConfig(**TOY | overrides)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "conv_right" in name or "norm" in name or "history" in name:
                parameter.add_(torch.randn_like(parameter) * 0.2)
            elif name.endswith("mlp.gate.weight"):
                # Decided routers: two experts within rounding of each other may swap between passes of different width,
                # which is legal and moves the logits by far more than rounding.
                parameter.mul_(20.0)
    return model


def ids(length: int, seed: int = 0, vocab: int = 96) -> torch.Tensor:
    return torch.randint(vocab, (length,), generator=torch.Generator().manual_seed(seed))
