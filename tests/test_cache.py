"""What the cache holds after any mixture of passes is what the accepted text alone would have left."""

import pytest
import torch
from model_helpers import ids, toy_model

from clover_viz.model.cache import AttentionCache

BLOCK = 32
# Passes of different width round differently: eight layers of decided routers turn that into up to 1e-4 (fp32 against
# fp64). One token more or less in the cache moves it by more than a hundred times the tolerance, which a test holds.
TOLERANCE = 5e-4


@pytest.fixture(scope="module")
def model():
    return toy_model(block_size=BLOCK)


def contents(cache):
    """Everything a cache remembers, by name."""
    found = {"length": torch.tensor(cache.length)}
    for i, layer in enumerate(cache.layers):
        if isinstance(layer, AttentionCache):
            found |= {f"{i}.k": layer.k[:, : cache.length], f"{i}.v": layer.v[:, : cache.length]}
        else:
            found |= {f"{i}.state": layer.state, f"{i}.ring": layer.ring}
    return {name: tensor.clone() for name, tensor in found.items()}


def assert_same(got, wanted, tolerance=TOLERANCE):
    got, wanted = contents(got), contents(wanted) if not isinstance(wanted, dict) else wanted
    assert got.keys() == wanted.keys()
    for name, tensor in wanted.items():
        assert got[name].shape == tensor.shape, name
        torch.testing.assert_close(got[name], tensor, atol=tolerance, rtol=0, msg=name)


def fresh(model, tokens):
    cache = model.new_cache()
    if len(tokens):
        model.prefill(tokens, cache)
    return cache


def test_previews_change_nothing(model):
    cache = fresh(model, ids(37))
    before = contents(cache)
    for size in (2, 4, 8, 16, 32):
        for seed in range(3):
            generator = torch.Generator().manual_seed(seed)
            masked = torch.rand(size, generator=generator) < 0.5
            model.preview(ids(size, seed), masked, cache, 0.9 if seed else None)
    assert_same(cache, before, 0)


def test_a_causal_pass_changes_nothing_until_advanced(model):
    cache = fresh(model, ids(5))
    before = contents(cache)
    out = model.causal(ids(BLOCK, 1), cache)
    assert_same(cache, before, 0)
    cache.advance(out.staged, 0)
    assert_same(cache, before, 0)


@pytest.mark.parametrize("prefix", [0, 1, 2, 3, 31, 32, 33])
def test_every_accepted_length(model, prefix):
    text, block = ids(prefix, 2), ids(BLOCK, 3)
    start = fresh(model, text)
    staged = model.causal(block, start).staged
    for accepted in range(BLOCK + 1):
        cache = start.fork()
        cache.advance(staged, accepted)
        assert_same(cache, fresh(model, torch.cat((text, block[:accepted]))))


def test_the_tolerance_tells_one_token_from_none(model):
    text, block = ids(33, 2), ids(BLOCK, 3)
    states = [contents(fresh(model, torch.cat((text, block[:n])))) for n in (7, 8)]
    for name in states[0]:
        if name.endswith(("state", "ring")):
            assert (states[0][name] - states[1][name]).abs().max() > 100 * TOLERANCE, name


def test_rejected_drafts_leave_no_trace(model):
    text = ids(40, 4)
    histories = []
    for wrong in (5, 6):  # two runs that rejected different drafts on the way to one text
        cache = fresh(model, text[:20])
        for at in range(20, 40, 4):
            drafts = torch.cat((text[at : at + 4], ids(9, wrong + at)))
            cache.advance(model.causal(drafts, cache).staged, 4)
        histories.append(contents(cache))
    for name, tensor in histories[0].items():
        torch.testing.assert_close(histories[1][name], tensor, atol=TOLERANCE, rtol=0, msg=name)


@pytest.mark.parametrize("length", [1, 2, 3, 31, 32, 33, 63, 64, 65])
def test_one_pass_is_chunks_is_token_by_token(model, length):
    tokens = ids(length, 5)
    whole = fresh(model, tokens)
    single, chunked = model.new_cache(), model.new_cache()
    for token in tokens:
        single.advance(model.causal(token[None], single).staged, 1)
    for part in tokens.split(7):
        chunked.advance(model.causal(part, chunked).staged, len(part))
    assert_same(single, whole)
    assert_same(chunked, whole)
    block = ids(BLOCK, 6)
    masked = torch.ones(BLOCK, dtype=torch.bool)
    wanted = model.preview(block, masked, whole, 0.9).logits[:, :-1]
    for cache in (single, chunked):
        assert (model.preview(block, masked, cache, 0.9).logits[:, :-1] - wanted).abs().max() < 10 * TOLERANCE


def test_a_prompt_longer_than_a_prefill_segment(model, monkeypatch):
    tokens = ids(150, 7)
    wanted = model.causal(tokens, model.new_cache()).logits[:, :-1]
    monkeypatch.setattr("clover_viz.model.clover.PREFILL_SEGMENT", 64)
    cache = model.new_cache()
    got = model.prefill(tokens, cache, last_only=False).logits[:, :-1]
    assert cache.length == 150
    assert (got - wanted).abs().max() < 10 * TOLERANCE


@pytest.mark.parametrize("n", [-1, 33])
def test_advancing_past_a_pass_is_an_error(model, n):
    cache = fresh(model, ids(3))
    staged = model.causal(ids(BLOCK), cache).staged
    with pytest.raises(ValueError, match=str(n)):
        cache.advance(staged, n)


def test_a_stale_pass_is_an_error(model):
    cache = fresh(model, ids(3))
    staged = model.causal(ids(4), cache).staged
    cache.advance(staged, 2)
    with pytest.raises(ValueError, match="holds 5"):
        cache.advance(staged, 2)
