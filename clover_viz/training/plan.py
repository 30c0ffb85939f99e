"""The recipe's numbers."""

from dataclasses import dataclass

TINY = dict(
    hidden_size=160, num_hidden_layers=12, num_attention_heads=4, num_key_value_heads=2, head_dim=64,
    linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=32, linear_value_head_dim=32,
    num_experts=32, num_experts_per_tok=4, moe_intermediate_size=48, shared_expert_intermediate_size=64,
    max_position_embeddings=2048, initializer_range=0.04, block_size=32,
    rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25},
)  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """Causal steps first, as the released model was adapted from a causal one; then causal and masked together.

    A step is `accumulate` micro-batches of about 2,300 tokens, whoever computes them. The learning rate rises over
    `warmup` steps, stays, and falls linearly to zero over the last `cooldown` share of all steps.
    """

    causal_steps: int = 2400
    joint_steps: int = 3100
    follow_from: int = 2900  # from this step a second masking may be what the model itself leaves (`maskings.py`)
    accumulate: int = 2
    rate: float = 2.5e-3
    dense_rate: float = 2.0  # Muon's rate over AdamW's
    embedding_rate: float = 6.0  # the embeddings' rate over the other weights'
    embedding_std: float = 0.5
    warmup: int = 60
    cooldown: float = 0.39
    weight_decay: float = 0.05
    clip: float = 1.0
    seed: int = 0

    @property
    def steps(self) -> int:
        return self.causal_steps + self.joint_steps

    def rate_at(self, step: int) -> float:
        """Learning rate of step 0, 1, ..., steps - 1."""
        fall = (self.steps - step) / max(1.0, self.cooldown * self.steps)
        return self.rate * min(1.0, (step + 1) / self.warmup, fall)
