"""transformers' causal model on the very tensors of ours: two copies of a large model do not fit on one card."""

from itertools import chain

import torch

from clover_viz.bench.peer import DIFFUSION, OURS, Peer, Qwen3_5MoeForCausalLM, Qwen3_5MoeTextConfig


class SharingPeer(Peer):
    """As Peer, without a weight of its own. Raises RuntimeError when a tensor of its has no counterpart in ours."""

    def __init__(self, model):
        shape = {key: value for key, value in model.config.to_dict().items() if key not in OURS}
        with torch.device("meta"):
            self.model = Qwen3_5MoeForCausalLM(Qwen3_5MoeTextConfig(**shape)).eval()
        weights = {k: v for k, v in model.state_dict().items() if not any(part in k for part in DIFFUSION)}
        self.model.load_state_dict(weights, assign=True)
        inner = self.model.model  # its RoPE table is no weight: made anew, on the device
        inner.rotary_emb = type(inner.rotary_emb)(self.model.config).to(model.device)
        empty = [n for n, t in chain(self.model.named_parameters(), self.model.named_buffers()) if t.is_meta]
        if empty:
            raise RuntimeError(f"transformers' model has tensors that ours lacks: {', '.join(empty)}")
        self.model.generation_config.eos_token_id = None
