"""The training run: numbered micro-batches, blocks drawn over answers, and a run that can be stopped anywhere."""

import random
from dataclasses import replace

import pytest
import torch
from clover_kernels.moe_experts.reference import moe_experts as reference
from model_helpers import toy_model

from clover_viz.model.batch import causal_batch
from clover_viz.training.batches import PROMPT_WEIGHT, Batches, MicroBatch
from clover_viz.training.data import Example
from clover_viz.training.loop import Worker
from clover_viz.training.experts import moe_experts
from clover_viz.training.maskings import (
    AFTER_END, ELSEWHERE, OPENED, SURE, UNSURE, draw_blocks, draw_starts, second_masking,
)  # fmt: skip
from clover_viz.training.objective import CAUSAL, PROMPT_SHARE, asked_weight, losses, predicted
from clover_viz.training.plan import Plan
from clover_viz.training.start import FASTEST, SLOWEST, begin

PAD, END, CHUNK = 0, 3, 8


def examples(indices):
    """Two turns of prompt and answer; an answer ends with the end token."""
    found = []
    for index in indices:
        rng, ids, answer = random.Random(index), [], []
        for _ in range(2):
            prompt, reply = rng.randrange(3, 12), rng.randrange(2, 20)
            ids += [rng.randrange(5, 90) for _ in range(prompt + reply)] + [END]
            answer += [False] * prompt + [True] * (reply + 1)
        found.append(Example(ids, answer))
    return found


@pytest.fixture(scope="module")
def batch():
    return Batches(examples, CHUNK, PAD, seed=0)[1]


def test_a_micro_batch_is_the_same_in_any_order():
    forwards, backwards = Batches(examples, CHUNK, PAD, seed=0), Batches(examples, CHUNK, PAD, seed=0)
    first = [forwards[i] for i in (0, 1, 40)]
    second = [backwards[i] for i in (40, 1, 0)][::-1]
    for a, b in zip(first, second):
        assert all(torch.equal(x, y) for x, y in zip(a, b))


def test_every_document_of_a_pool_is_seen_once():
    batches = Batches(examples, CHUNK, PAD, seed=0)
    seen = [tuple(row[lead:end].tolist()) for i in range(16) for row, lead, end in _rows(batches[i])]
    assert sorted(seen) == sorted(tuple(e.ids) for e in examples(range(192)))


def _rows(batch):
    return zip(batch.ids, batch.lead.tolist(), batch.end.tolist())


def test_rows_hold_the_text_and_its_weights(batch):
    for i, (ids, lead, end) in enumerate(_rows(batch)):
        outside = torch.ones_like(ids, dtype=torch.bool)
        outside[lead:end] = False
        assert 0 <= lead < CHUNK
        assert (ids[outside] == PAD).all() and (batch.weight[i][outside] == 0).all()
        assert batch.weight[i, lead] == 0
        inside = batch.weight[i, lead + 1 : end]
        wanted = torch.where(batch.answer[i, lead + 1 : end], 1.0, PROMPT_WEIGHT)
        assert torch.equal(inside, wanted)


def test_most_rows_have_an_answer_start_on_a_boundary():
    batches, hits, rows = Batches(examples, CHUNK, PAD, seed=0), 0, 0
    for i in range(16):
        batch = batches[i]
        starts = batch.answer[:, 1:] & ~batch.answer[:, :-1]
        hits += starts[:, CHUNK - 1 :: CHUNK].any(-1).sum().item()
        rows += len(starts)
    assert hits / rows > 0.7


@pytest.fixture(scope="module")
def drawn(batch):
    return draw_blocks(batch, END, CHUNK, torch.Generator().manual_seed(0))


def test_blocks_begin_where_denoising_opens_them_and_here_and_there(batch):
    counts = torch.zeros(batch.ids.shape)
    for seed in range(200):
        text, start = draw_starts(batch, CHUNK, torch.Generator().manual_seed(seed))
        counts[text, start] += 1
    share = counts / 200
    opened = torch.zeros(batch.ids.shape, dtype=torch.bool)
    for row, answer in enumerate(batch.answer.tolist()):
        for place, wanted in enumerate(answer):
            if wanted and not (place and answer[place - 1]):
                begun = place
            if wanted:
                opened[row, place] = (place - begun) % CHUNK == 0
    others = batch.answer & ~opened
    assert share[opened].mean().item() == pytest.approx(OPENED, abs=0.02) and share[opened].min() > 0.6
    assert share[others].mean().item() == pytest.approx(ELSEWHERE, rel=0.1) and share[others].max() < 0.1
    assert (share[~batch.answer] == 0).all()


def test_a_batch_of_little_text_still_has_a_block():
    answer = torch.tensor([[False, False, True, True, False]])
    ids = torch.tensor([[5, 6, 7, END, PAD]])
    batch = MicroBatch(ids, answer.float(), answer, torch.tensor([0]), torch.tensor([4]), torch.ones(1))
    for seed in range(30):
        text, start = draw_starts(batch, CHUNK, torch.Generator().manual_seed(seed))
        assert len(start) and set(start.tolist()) <= {2, 3}


def test_blocks_know_their_texts_first_row(batch, drawn):
    blocks, _, _ = drawn
    assert len(blocks.text) > 20
    assert torch.equal(blocks.lead, batch.lead[blocks.text])


def test_targets_are_the_text_and_after_an_end_token_the_end_token(batch, drawn):
    blocks, target, weight = drawn
    for m in range(len(target)):
        text, over = batch.ids[blocks.text[m]], False
        for slot in range(CHUNK):
            place = int(blocks.start[m]) + slot
            if over:
                assert target[m, slot] == END
                assert weight[m, slot] == AFTER_END * blocks.valid[m, slot]
            elif place < batch.end[blocks.text[m]]:
                assert target[m, slot] == text[place]
                over = text[place] == END
            else:
                assert not blocks.valid[m, slot]
    assert (target[:, :] == END).any()


def test_only_masked_valid_slots_count(drawn):
    blocks, _, weight = drawn
    assert torch.equal(weight > 0, blocks.valid)
    assert not (blocks.masked & ~blocks.valid).any()
    assert blocks.masked.any(-1).all()
    assert blocks.valid[:, 0].all()


def test_all_kinds_of_masking_occur(batch):
    generator = torch.Generator().manual_seed(1)
    masked, valid = [], []
    for _ in range(10):
        blocks, _, _ = draw_blocks(batch, END, CHUNK, generator)
        masked.append(blocks.masked)
        valid.append(blocks.valid)
    masked, valid = torch.cat(masked), torch.cat(valid)
    share_all = (masked == valid).all(-1).float().mean().item()
    share_given = (~masked[:, 0] & masked[:, 1] & (masked == valid)[:, 1:].all(-1)).float().mean().item()
    assert 0.3 < share_all < 0.6 and share_given > 0.1
    assert {2, 4, 8} & set(valid.sum(-1).tolist())


def test_a_second_masking_is_often_what_a_pass_leaves(drawn):
    blocks, _, _ = drawn
    confidence = torch.rand(blocks.masked.shape, generator=torch.Generator().manual_seed(2))
    sure = confidence.masked_fill(~blocks.masked, 1.0)
    after_one, later = [], []
    for seed in range(20):
        again = second_masking(blocks, confidence, torch.Generator().manual_seed(seed))
        fresh = second_masking(blocks, None, torch.Generator().manual_seed(seed))
        one = (again == blocks.masked & (confidence <= SURE)).all(-1)
        # Further on the hardest slots are left: what is over a lower bar is gone too.
        hardest = sure.masked_fill(~again, -1.0).amax(-1) < sure.masked_fill(again, 2.0).amin(-1)
        anew = (again == fresh).all(-1)
        hardest &= ~one & ~anew
        assert (one | hardest | anew).all() and not (again & ~blocks.masked)[hardest].any()
        assert (sure.masked_fill(~again, 0.0).amax(-1)[hardest] <= SURE).all()
        assert not (again & ~blocks.valid).any() and again.any(-1).all()
        after_one.append(one)
        later.append(hardest)
    after_one, later = torch.cat(after_one).float().mean(), torch.cat(later).float().mean()
    assert 0.25 < after_one < 0.7 and 0.1 < later < 0.5


def test_no_bar_is_below_the_lowest(drawn):
    """A slot just below UNSURE is left by every pass, however deep."""
    blocks, _, _ = drawn
    confidence = torch.full(blocks.masked.shape, UNSURE - 0.01)
    lowest = torch.zeros_like(blocks.masked).scatter(1, blocks.masked.int().argmax(-1, keepdim=True), True)
    confidence[lowest] = 0.0
    several = blocks.masked.sum(-1) > 1
    for seed in range(20):
        again = second_masking(blocks, confidence, torch.Generator().manual_seed(seed))
        fresh = second_masking(blocks, None, torch.Generator().manual_seed(seed))
        alone = (again == lowest).all(-1) & several & ~(fresh == lowest).all(-1)
        assert not alone.any() and (again == blocks.masked).all(-1).float().mean() > 0.4


def test_a_pass_that_leaves_nothing_is_followed_by_a_masking_at_random(drawn):
    blocks, _, _ = drawn
    again = second_masking(blocks, torch.ones(blocks.masked.shape), torch.Generator().manual_seed(3))
    assert torch.equal(again, second_masking(blocks, None, torch.Generator().manual_seed(3)))


@pytest.mark.parametrize("joint", [False, True])
def test_losses_are_finite_and_reach_the_diffusion_tensors_only_jointly(batch, joint):
    model = toy_model(num_hidden_layers=4)
    found = losses(model, batch, END, joint, seed=0)
    assert all(torch.isfinite(x) for x in found)
    found.total.backward()
    grad = model.model.layers[0].linear_attn.bd_softmax_history_bias.grad
    assert (grad is not None and grad.abs().sum() > 0) == joint


def test_every_answer_token_and_some_of_a_prompts_are_predicted(batch):
    asked = torch.zeros(batch.ids.shape)
    for seed in range(40):
        chosen = torch.zeros(batch.ids.shape)
        text, place = predicted(batch, torch.Generator().manual_seed(seed))
        chosen[text, place + 1] = 1
        asked += chosen
    asked /= 40
    assert (asked[batch.answer] == 1).all() and (asked[batch.weight == 0] == 0).all()
    prompt = ~batch.answer & (batch.weight > 0)
    assert asked[prompt].mean().item() == pytest.approx(PROMPT_SHARE, abs=0.02)
    assert 0 < asked[prompt].min() and asked[prompt].max() < 1


def test_a_prompts_drawn_tokens_count_for_all_of_them(batch):
    """On average over the draws, what a prompt's tokens count beside an answer's is their weight."""
    model = toy_model(num_hidden_layers=4)
    weights = []
    for seed in range(40):
        text, place = predicted(batch, torch.Generator().manual_seed(seed))
        weights.append(asked_weight(batch, text, place + 1).sum())
    assert torch.stack(weights).mean().item() == pytest.approx(batch.weight.sum().item(), rel=0.01)
    assert all(torch.isfinite(x) for x in losses(model, batch, END, False, 0))


def test_beside_the_masked_loss_the_causal_one_counts_more(batch):
    model, none = toy_model(num_hidden_layers=4), batch._replace(worth=0 * batch.worth)
    alone, empty = (losses(model, given, END, False, 0).total.item() for given in (batch, none))
    both, bare = (losses(model, given, END, True, 0, follow=False) for given in (batch, none))
    assert both.total.item() - bare.total.item() == pytest.approx(
        CAUSAL * (alone - empty) + both.masked.item(), rel=1e-4
    )  # fmt: skip


@pytest.mark.parametrize("tokens, number", [(1, 5), (9, 5), (40, 3)])
def test_the_experts_of_training_are_the_models_with_their_gradients(tokens, number):
    g = torch.Generator().manual_seed(tokens)
    draw = lambda *shape: torch.randn(*shape, generator=g, dtype=torch.float64)
    experts = torch.stack([torch.randperm(number, generator=g)[:2] for _ in range(tokens)])
    given = [draw(tokens, 6), draw(tokens, 2).softmax(-1), draw(number, 8, 6), draw(number, 6, 4)]
    wanted = draw(tokens, 6)

    def outcome(function):
        x, weights, gate_up, down = leaves = [t.clone().requires_grad_() for t in given]
        out = function(x, experts, weights, gate_up, down)
        (out * wanted).sum().backward()
        return [out.detach(), *(leaf.grad for leaf in leaves)]

    for ours, theirs in zip(outcome(moe_experts), outcome(reference)):
        torch.testing.assert_close(ours, theirs)


def test_no_expert_computes_a_row_outside_the_text(batch):
    """Padding changes nothing of a text, and no expert is given any of it."""
    model = toy_model(num_hidden_layers=4)
    rows = []
    counting = replace(model.kernels, moe_experts=lambda x, *rest: rows.append(len(x)) or reference(x, *rest))
    for layer in model.model.layers:
        layer.mlp.kernels = counting
    bounded = causal_batch(model, batch.ids, CHUNK, batch.lead, batch.end).hidden
    inside = torch.zeros(batch.ids.shape, dtype=torch.bool)
    for i, (_, lead, end) in enumerate(_rows(batch)):
        inside[i, lead:end] = True
    assert set(rows) == {int(inside.sum())} and int(inside.sum()) < inside.numel()
    everywhere = causal_batch(model, batch.ids, CHUNK, batch.lead).hidden
    torch.testing.assert_close(bounded[inside], everywhere[inside], atol=1e-5, rtol=1e-5)


def test_a_run_begins_with_embeddings_that_are_heard_and_decays_that_remember():
    model = toy_model()
    before = {name: p.clone() for name, p in model.named_parameters()}
    begin(model, Plan(embedding_std=0.5))
    assert model.model.embed_tokens.weight.std().item() == pytest.approx(0.5, rel=0.05)
    changed = {name for name, p in model.named_parameters() if not torch.equal(p, before[name])}
    decays = {name for name in before if name.endswith("dt_bias")}
    assert changed == decays | {"model.embed_tokens.weight"} and len(decays) == 6
    for name in decays:
        dt = torch.nn.functional.softplus(dict(model.named_parameters())[name])
        assert ((dt >= SLOWEST * 0.999) & (dt <= FASTEST * 1.001)).all()


def test_the_rate_rises_stays_and_falls():
    plan = Plan(causal_steps=50, joint_steps=50, warmup=10, cooldown=0.2, rate=1.0)
    rates = [plan.rate_at(step) for step in range(plan.steps)]
    assert rates[0] == pytest.approx(0.1) and rates[9] == rates[50] == rates[80] == 1.0
    assert rates[99] == pytest.approx(0.05)
    assert all(a >= b for a, b in zip(rates[10:], rates[11:]))


def worker(folder, plan):
    model = toy_model(num_hidden_layers=4)
    return Worker(model, Batches(examples, CHUNK, PAD, plan.seed), END, plan, folder, rank=0, workers=1)


def test_a_stopped_run_goes_on_as_if_never_stopped(tmp_path):
    plan = Plan(causal_steps=2, joint_steps=2, warmup=2)
    whole = worker(tmp_path / "whole", plan)
    (tmp_path / "whole").mkdir()
    whole.run()
    (tmp_path / "parts").mkdir()
    for until in (1, 3, None):
        part = worker(tmp_path / "parts", plan)
        part.resume()
        part.run(until)
    assert part.step == whole.step == 4
    for (name, a), b in zip(whole.model.named_parameters(), part.model.parameters()):
        assert torch.equal(a, b), name


def test_a_text_counts_by_its_worth(batch):
    """Beside the others: where all texts of a batch are cheap, the whole batch is."""
    model = toy_model(num_hidden_layers=4)
    whole = losses(model, batch, END, True, 0, follow=False)
    cheap = losses(model, batch._replace(worth=torch.full_like(batch.worth, 0.25)), END, True, 0, follow=False)
    alone = (torch.arange(len(batch.worth)) == 0).float()
    first = losses(model, batch._replace(worth=alone), END, True, 0, follow=False)
    rest = losses(model, batch._replace(worth=1 - alone), END, True, 0, follow=False)
    assert cheap.masked.item() == pytest.approx(0.25 * whole.masked.item(), rel=1e-5)
    assert first.masked.item() + rest.masked.item() == pytest.approx(whole.masked.item(), rel=1e-5)
    assert first.masked.item() > 0 and rest.masked.item() > 0
    # the causal loss, with the router balance, which is nobody's in particular
    causal = [found.total.item() for found in (losses(model, batch._replace(worth=worth), END, False, 0)
              for worth in (batch.worth, 0 * batch.worth, 0.25 * batch.worth))]  # fmt: skip
    assert causal[2] - causal[1] == pytest.approx(0.25 * (causal[0] - causal[1]), rel=1e-4) and causal[0] > causal[1]


def test_a_step_lowers_the_loss_it_was_taken_for(tmp_path):
    plan = Plan(causal_steps=30, joint_steps=0, warmup=1, cooldown=0.01, rate=3e-3)
    one = worker(tmp_path, plan)
    first = losses(one.model, one.batches[0], END, False, 0).causal.item()
    one.batches = {i: one.batches[0] for i in range(100)}
    one.run(30)
    assert losses(one.model, one.batches[0], END, False, 0).causal.item() < 0.8 * first
