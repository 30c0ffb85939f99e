"""A whole toy model on the Triton kernels, interpreted, against the same model on the reference."""

import torch
from clover_kernels.selection import OPS, select
from model_helpers import ids, toy_model
from triton_helpers import interpreted, poisoned  # noqa: F401

from clover_viz.model.clover import CloverForCausalLM

for op in OPS:
    interpreted(op)


def on_triton(model):
    twin = CloverForCausalLM(model.config, select("cpu", "triton")).eval().to(model.dtype)
    twin.load_state_dict(model.state_dict())
    return twin


def same(found, wanted):
    """Logits to within rounding, the same routing; minus infinity for the mask token on both sides."""
    torch.testing.assert_close(found.logits, wanted.logits, atol=1e-4, rtol=1e-4)
    assert torch.equal(found.routing.touched, wanted.routing.touched)
    assert torch.equal(found.routing.kept, wanted.routing.kept)
    torch.testing.assert_close(found.routing.rerouted, wanted.routing.rerouted)


def test_a_prompt_a_preview_a_verify_and_a_step():
    """A prompt longer than a tile of tokens, a block half masked, a verify accepted in part, one more token."""
    model = toy_model()
    twin = on_triton(model)
    caches = model.new_cache(), twin.new_cache()
    text, block = ids(37, seed=1), ids(8, seed=2)
    masked = torch.arange(8) % 2 == 1
    passes = [m.prefill(text, c) for m, c in zip((model, twin), caches)]
    same(*passes)
    for top_p in (0.6, None):
        same(*(m.preview(block, masked, c, top_p) for m, c in zip((model, twin), caches)))
    verified = [m.causal(block, c) for m, c in zip((model, twin), caches)]
    same(*verified)
    for cache, out in zip(caches, verified):
        cache.advance(out.staged, 3)
    same(*(m.causal(block[:1], c) for m, c in zip((model, twin), caches)))
    stats = [m.kernels.token_stats(verified[0].logits, model.config.mask_token_id) for m in (model, twin)]
    assert torch.equal(stats[0].token, stats[1].token)
    torch.testing.assert_close(stats[0].entropy, stats[1].entropy, atol=1e-5, rtol=1e-5)


def test_in_bf16():
    """Rounding may send a slot to other experts: the logits point the same way, no more than that."""
    model = toy_model(num_hidden_layers=4)
    twin = on_triton(model.to(torch.bfloat16))
    cache, theirs = twin.new_cache(), model.new_cache()
    block, masked = ids(8, seed=2), torch.arange(8) > 2
    found, wanted = (m.preview(block, masked, c, 0.9).logits[:, :-1] for m, c in ((twin, cache), (model, theirs)))
    assert found.dtype == torch.float32
    assert torch.nn.functional.cosine_similarity(found, wanted, dim=-1).min() > 0.99


def test_training_runs_on_the_reference():
    """With gradients every operation is the reference's, to the last bit; a batch without them is close to it."""
    model = toy_model(num_hidden_layers=4)
    twin = on_triton(model)
    batch = torch.stack((ids(6, seed=1), ids(6, seed=2)))
    wanted, found = model(batch).logits, twin(batch).logits
    assert torch.equal(found, wanted)
    found[torch.isfinite(found)].square().sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in twin.parameters() if p.grad is not None)
    with torch.no_grad():
        torch.testing.assert_close(twin(batch).logits, wanted.detach(), atol=1e-4, rtol=1e-4)
