"""Autoregressive mode against a model whose logits are written down."""

import pytest
import torch
from scripted import BYTE, END, MASK, OTHER_END, VOCAB, Clock, ScriptedModel, engine, ids, of, prompt_tokens, row

from clover_viz.decoding.rules import draw, uniform
from clover_viz.events import PassCounts, Prefilled, RunFinished, Text, TokenDecoded
from clover_viz.settings import AutoregressiveSettings

A, B = BYTE + ord("a"), BYTE + ord("b")


def run(model, settings=AutoregressiveSettings(), prompt="hi", **options):
    return list(engine(model).generate(prompt, settings, **options))


def test_the_whole_sequence_of_a_run():
    model = ScriptedModel([A, B, END])
    events = run(model)
    n = len(model.calls[0][1])
    p = pytest.approx(0.99, rel=1e-4)
    assert events[1:] == [
        Prefilled(n, 0.0),
        TokenDecoded(n, A, "a", p, 0.0),
        Text("a"),
        TokenDecoded(n + 1, B, "b", p, 0.0),
        Text("b"),
        TokenDecoded(n + 2, END, "<end>", p, 0.0),
        RunFinished("end", "ab", 2, PassCounts(prefill=1, decode=2), 1.0, None, 0.0, 0.0),
    ]
    assert model.kinds() == ["prefill", "causal", "causal"]
    assert model.caches[0].tokens[n:] == [A, B]
    assert events[0].mode == "autoregressive" and "threshold" not in events[0].settings


def test_the_time_of_a_pass_leaves_out_what_holds_it(monkeypatch):
    model = ScriptedModel([A, B, END])
    events = run(model, gate=Clock(model, monkeypatch).gate)
    assert [x.ms for x in of(Prefilled, events)] == [250.0]
    assert [x.ms for x in of(TokenDecoded, events)] == [0.0, 250.0, 250.0]  # the first one's pass was the prompt's


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33])
def test_n_tokens_take_n_minus_one_passes_after_prefill(n):
    finished = run(ScriptedModel(ids("x" * 50)), max_new_tokens=n)[-1]
    assert (finished.reason, finished.tokens, finished.passes.decode) == ("length", n, n - 1)
    assert finished.tokens_per_pass == (n / (n - 1) if n > 1 else None)
    assert finished.tokens_per_preview is None
    assert finished.tokens_per_second > 0  # also for a single token, which took no pass of its own


@pytest.mark.parametrize("end_id", [END, OTHER_END])
def test_an_end_token_first_gives_an_empty_text(end_id):
    finished = run(ScriptedModel([end_id, A], eos_token_id=[END, OTHER_END]))[-1]
    assert (finished.reason, finished.text, finished.tokens, finished.passes.decode) == ("end", "", 0, 0)


@pytest.mark.parametrize("limit, reason", [(2, "length"), (3, "end")])
def test_the_end_token_counts_against_the_limit_but_not_as_a_token(limit, reason):
    finished = run(ScriptedModel([A, B, END]), max_new_tokens=limit)[-1]
    assert (finished.reason, finished.tokens) == (reason, 2)


@pytest.mark.parametrize("room", [1, 2, 5])
def test_the_context_ends_the_run(room):
    model = ScriptedModel(ids("x" * 50))
    model.config.max_position_embeddings = prompt_tokens("hi") + room
    finished = run(model)[-1]
    assert (finished.reason, finished.tokens, finished.passes.decode) == ("length", room, room - 1)


@pytest.mark.parametrize("temperature", [0, 1])
def test_the_mask_is_never_chosen(temperature):
    def fond(at):
        logits = row(A)
        logits[MASK] = 50.0
        return logits

    model = ScriptedModel([], causal_logits=fond)
    events = run(model, AutoregressiveSettings(temperature=temperature), max_new_tokens=20)
    assert MASK not in [x.token_id for x in of(TokenDecoded, events)]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_logits_that_are_no_numbers_are_an_error(bad):
    def broken(at):
        logits = row(A)
        logits[B] = bad if at == 1 else logits[B]
        return logits

    events = engine(ScriptedModel([], causal_logits=broken)).generate("hi", AutoregressiveSettings())
    with pytest.raises(FloatingPointError, match="not finite at position"):
        list(events)


def test_ties_go_to_the_lowest_id():
    model = ScriptedModel([], causal_logits=lambda at: torch.zeros(VOCAB))
    assert of(TokenDecoded, run(model, max_new_tokens=1))[0].token_id == MASK + 1 == END


def test_the_draw_of_a_position_is_a_function_of_seed_and_position():
    logits = torch.randn(VOCAB, generator=torch.Generator().manual_seed(0))
    model = ScriptedModel([], causal_logits=lambda at: logits, eos_token_id=None)
    settings = AutoregressiveSettings(temperature=0.7)
    events = of(TokenDecoded, run(model, settings, max_new_tokens=12, seed=9))
    masked = logits.clone()
    masked[MASK] = float("-inf")
    for event in events:
        assert event.token_id == draw(masked[None], 0.7, [uniform(9, event.position, 0)]).item()
        assert event.probability == pytest.approx(masked.softmax(-1)[event.token_id].item(), rel=1e-6)
    assert len({x.token_id for x in events}) > 3


def test_penalties_act_on_the_choice():
    logits = torch.full((VOCAB,), float("-inf"))
    logits[A], logits[B] = 1.0, 0.0
    model = ScriptedModel([], causal_logits=lambda at: logits)
    assert run(model, max_new_tokens=4)[-1].text == "aaaa"
    assert run(model, AutoregressiveSettings(frequency_penalty=2), max_new_tokens=4)[-1].text == "abab"
