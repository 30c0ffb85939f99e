"""transformers' own causal model with the weights of ours: what our causal passes are measured against."""

from copy import deepcopy
from inspect import signature

import torch
from transformers.models.qwen3_5_moe.configuration_qwen3_5_moe import Qwen3_5MoeTextConfig
from transformers.models.qwen3_5_moe.modeling_qwen3_5_moe import Qwen3_5MoeForCausalLM

DIFFUSION = ("conv_right_weight", "bd_softmax_")
OURS = ("block_size", "mask_token_id", "denoising_config", "moe_block_coreset_enabled", "moe_block_coreset_top_p",
        "architectures", "model_type", "transformers_version")  # fmt: skip
# The argument was renamed within the versions that we support.
CACHE = "cache" if "cache" in signature(Qwen3_5MoeForCausalLM.forward).parameters else "past_key_values"


class Peer:
    """The causal passes of transformers, on the device and in the dtype of `model`."""

    def __init__(self, model):
        shape = {key: value for key, value in model.config.to_dict().items() if key not in OURS}
        self.model = Qwen3_5MoeForCausalLM(Qwen3_5MoeTextConfig(**shape)).to(model.device, model.dtype).eval()
        weights = {k: v for k, v in model.state_dict().items() if not any(part in k for part in DIFFUSION)}
        self.model.load_state_dict(weights)
        self.model.generation_config.eos_token_id = None  # so that it writes as many tokens as asked for

    @torch.inference_mode()
    def prefilled(self, ids: torch.Tensor):
        """Its cache after ids [T]."""
        return getattr(self.model(ids[None], use_cache=True), CACHE)

    @staticmethod
    def copy(cache):
        """Passes write into a cache and its recurrent states cannot be cropped: every pass needs a copy."""
        return deepcopy(cache)

    @torch.inference_mode()
    def causal(self, ids: torch.Tensor, cache) -> torch.Tensor:
        """Logits [T, V] of ids [T] after what `cache` holds; writes the cache."""
        return self.model(ids[None], **{CACHE: cache}, use_cache=True).logits[0]

    def generate(self, ids: torch.Tensor, tokens: int) -> list[int]:
        """Exactly `tokens` greedy tokens after ids [T], whatever they are."""
        out = self.model.generate(
            ids[None], attention_mask=torch.ones_like(ids[None]), do_sample=False, max_new_tokens=tokens
        )
        return out[0, len(ids) :].tolist()
