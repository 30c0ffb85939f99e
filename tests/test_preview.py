"""The preview pass: who sees whom, and the in-block mixing against its formula written out term by term."""

import math

import pytest
import torch
from clover_kernels.block_mix.reference import block_mix
from clover_kernels.conv.reference import block_conv, causal_conv
from model_helpers import TOY, ids, toy_model

from clover_viz.model.batch import Blocks, causal_batch, prefixes, preview_batch

MASK = TOY["mask_token_id"]


@pytest.fixture(scope="module")
def model():
    return toy_model()


@pytest.fixture(scope="module")
def cache(model):
    cache = model.new_cache()
    model.prefill(ids(21), cache)
    return cache


def preview(model, tokens, cache, masked=None, top_p=None):
    masked = torch.zeros(len(tokens), dtype=torch.bool) if masked is None else masked
    logits = model.preview(tokens, masked, cache, top_p).logits
    return logits[:, [i for i in range(logits.shape[1]) if i != MASK]]


def test_every_slot_sees_every_slot(model, cache):
    tokens = ids(8, 1)
    before = preview(model, tokens, cache)
    for slot in range(8):
        changed = tokens.clone()
        changed[slot] = (changed[slot] + 1) % 90
        moved = (preview(model, changed, cache) - before).abs().amax(-1)
        assert (moved > 1e-6).all(), f"slot {slot} reaches only {moved}"


def test_nothing_beyond_the_block_is_seen(model, cache):
    """Logits of a block of 4 do not depend on what would follow it: a longer block differs, the same block does not."""
    tokens = ids(8, 1)
    assert torch.equal(preview(model, tokens[:4], cache), preview(model, tokens[:4].clone(), cache))
    assert not torch.allclose(preview(model, tokens, cache)[:4], preview(model, tokens[:4], cache))


def test_the_committed_text_is_seen(model):
    tokens, logits = ids(8, 1), []
    for seed in (3, 4):
        cache = model.new_cache()
        model.prefill(ids(21, seed), cache)
        logits.append(preview(model, tokens, cache))
    assert ((logits[0] - logits[1]).abs().amax(-1) > 1e-6).all()


def test_a_masked_slot_s_id_is_not_looked_at(model, cache):
    masked = torch.tensor([True, False] * 4)
    first, second = ids(8, 1), ids(8, 2)
    second[~masked] = first[~masked]
    assert torch.equal(preview(model, first, cache, masked), preview(model, second, cache, masked))


def test_a_mask_token_typed_by_a_user_is_an_ordinary_id(model, cache):
    """Masked is a flag beside the ids: the id itself, unmasked, goes through as what it is."""
    typed = ids(8, 1)
    typed[3] = MASK
    assert torch.isfinite(preview(model, typed, cache)).all()
    prompt = torch.tensor([1, MASK, 2])
    assert torch.isfinite(model.causal(prompt, model.new_cache()).logits[:, :MASK]).all()


def test_the_mask_token_is_never_predicted(model, cache):
    logits = model.preview(ids(8), torch.ones(8, dtype=torch.bool), cache, 0.9).logits
    assert torch.isneginf(logits[:, MASK]).all()


def test_an_empty_cache_will_do(model):
    logits = preview(model, ids(8), model.new_cache(), torch.ones(8, dtype=torch.bool), 0.9)
    assert torch.isfinite(logits).all()


def test_block_conv_written_out():
    generator = torch.Generator().manual_seed(0)
    x, ring = torch.randn(5, 3, generator=generator), torch.randn(3, 3, generator=generator)
    taps, right = torch.randn(3, 4, generator=generator), torch.randn(3, 3, generator=generator)
    rows = torch.cat((ring, x))
    for channel in range(3):
        for t in range(5):
            left = sum(rows[t + j, channel] * taps[channel, j] for j in range(4))
            ahead = sum(x[t + d, channel] * right[channel, d - 1] for d in range(1, 4) if t + d < 5)
            for got, total in (
                (causal_conv(x, ring, taps), left),
                (block_conv(x, ring, taps, right), left + ahead),
            ):
                wanted = total / (1 + math.exp(-total))
                assert got[t, channel] == pytest.approx(wanted.item(), abs=1e-6)


def test_block_mix_written_out():
    generator = torch.Generator().manual_seed(1)
    slots, key_heads, heads, dk, dv = 5, 2, 4, 6, 3
    q, k = (torch.randn(slots, key_heads, dk, generator=generator) for _ in range(2))
    v = torch.randn(slots, heads, dv, generator=generator)
    state = torch.randn(heads, dk, dv, generator=generator)
    scale, bias, c = (torch.randn(heads, generator=generator) for _ in range(3))
    got = block_mix(q, k, v, state, scale, bias, c)
    for h in range(heads):
        reads = h // 2
        unit = lambda x: x / (x.square().sum() + 1e-6).sqrt()  # noqa: E731
        for i in range(slots):
            query = unit(q[i, reads])
            m = state[h].T @ query
            logits = [bias[h] + c[h] * (m.square().mean() + 1e-6).sqrt()]
            logits += [scale[h] * (query @ unit(k[j, reads])) for j in range(slots)]
            weights = torch.stack(logits).softmax(0)
            wanted = weights[0] * m + sum(weights[1 + j] * v[j, h] for j in range(slots))
            torch.testing.assert_close(got[i, h], wanted, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("top_p", [None, 0.9, 0.5])
def test_a_batch_of_blocks_equals_blocks_one_by_one(model, top_p):
    """Training runs the batched twin; what it trains is what decoding runs. Texts start at different rows, blocks
    anywhere in them."""
    length, slots = 37, 8
    leads = torch.tensor([0, 3, 7])
    texts = torch.stack([ids(length, seed) for seed in range(3)])
    context = causal_batch(model, texts, chunk=slots, lead=leads).context
    text = torch.tensor([0, 0, 1, 2, 2, 0, 1, 1, 2, 2])
    start = torch.tensor([8, 24, 8, 16, 32, 1, 4, 23, 9, 37])
    sizes = [8, 5, 8, 4, 8, 8, 8, 3, 8, 8]
    valid = torch.arange(slots) < torch.tensor(sizes)[:, None]
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(MASK, (len(text), slots), generator=generator)
    masked = torch.rand(len(text), slots, generator=generator) < 0.6
    blocks = Blocks(text, start, tokens, masked, valid, leads[text])
    hidden, _ = preview_batch(model, blocks, prefixes(model, context, text, start, chunk=slots), top_p)
    logits = model.head(hidden).detach()[..., :MASK]
    for i, size in enumerate(sizes):
        cache = model.new_cache()
        model.prefill(texts[text[i], leads[text[i]] : start[i]], cache)
        wanted = preview(model, tokens[i, :size], cache, masked[i, :size], top_p)
        assert (logits[i, :size] - wanted).abs().max() < 2e-5


def test_gradients_reach_every_weight(model):
    texts = torch.stack([ids(16, 1), ids(16, 2)])
    out = causal_batch(model, texts, chunk=8)
    blocks = Blocks(
        torch.tensor([0, 1]), torch.tensor([8, 7]), texts[:, 8:], torch.ones(2, 8, dtype=torch.bool),
        torch.ones(2, 8, dtype=torch.bool), torch.zeros(2, dtype=torch.long),
    )  # fmt: skip
    before = prefixes(model, out.context, blocks.text, blocks.start, chunk=8)
    hidden, _ = preview_batch(model, blocks, before, 0.9)
    keep = [i for i in range(97) if i != MASK]
    (model.head(hidden)[..., keep].square().sum() + model.head(out.hidden)[..., keep].square().sum()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and torch.isfinite(parameter.grad).all(), name
        assert parameter.grad.abs().sum() > 0, name
    model.zero_grad(set_to_none=True)
