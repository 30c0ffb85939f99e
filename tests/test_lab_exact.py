"""Exactness: a decoder that is right, one that is not, and ties that rounding breaks."""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from scripted import BYTE, END, VOCAB, ScriptedModel, engine, ids, row

from clover_viz.__main__ import main
from clover_viz.decoding.rules import uniform
from clover_viz.engine import Engine
from clover_viz.errors import UserError
from clover_viz.lab.exact import KINDS, block_sizes, compare, mixed_prompts, rows
from clover_viz.lab.margin import draw_margin, logit_margin

D, X = BYTE + ord("d"), BYTE + ord("x")
ANSWER = [*ids("abcdefghij"), END]
INF = float("inf")


class Shaky(ScriptedModel):
    """The fourth token of its response is chosen from `fourth(wide, position)`; wide: in a verify."""

    def __init__(self, fourth=None, **config):
        super().__init__(ANSWER, block_size=8, max_position_embeddings=4096, **config)
        self.fourth, self.wide = fourth, False
        # what the head of a result tells
        self.config.num_experts, self.config.num_experts_per_tok, self.dtype = 16, 4, torch.float32
        self.named_parameters = lambda: [("lm_head.weight", SimpleNamespace(numel=lambda: 20))]

    def causal(self, tokens, cache, last_only=False):
        self.wide = not last_only
        return super().causal(tokens, cache, last_only)

    def _causal_logits(self, position):
        if self.fourth and position - self.prompt == 3:
            return self.fourth(self.wide, position)
        return super()._causal_logits(position)


def of_two(p: float) -> torch.Tensor:
    """Logits of 'd' with p and 'x' with the rest."""
    logits = torch.full((VOCAB,), -INF)
    logits[D], logits[X] = math.log(p), math.log(1 - p)
    return logits


def swapping(margin):
    """'d' is ahead of 'x' by the margin in narrow passes, and behind by as much in wide ones."""

    def fourth(wide, position):
        logits = row(D)
        logits[X] = logits[D] + (margin if wide else -margin)
        return logits

    return fourth


def at_the_edge(distance, seed):
    """The draw of the position is below the edge between 'd' and 'x' in narrow passes, and above it in wide ones."""
    return lambda wide, position: of_two(uniform(seed, position, 0) + (-distance if wide else distance))


def pairs_of(model, sizes=(8, 4), temperatures=(0.0,), prompts=5, **options):
    return compare(engine(model), mixed_prompts(prompts), sizes, temperatures, **options)


# What is run


def test_prompts_of_all_kinds_come_in_turn():
    assert [p.kind for p in mixed_prompts(7)] == [*KINDS, *KINDS[:2]]
    assert mixed_prompts(12)[:7] == mixed_prompts(7) != mixed_prompts(7, seed=1)


def test_block_sizes_are_the_divisors_of_the_models_own():
    assert block_sizes(32) == [32, 16, 8, 4, 2] and block_sizes(12) == [12, 6, 4, 3, 2]


def test_a_block_size_that_the_model_lacks_fails_before_the_first_pass():
    model = Shaky()
    with pytest.raises(UserError, match="block_size must be one of 2, 4, 8 for this model, got 16"):
        pairs_of(model, sizes=(8, 16))
    assert model.calls == []


# Margins


@pytest.mark.parametrize(
    "logits, tokens, margin",
    [
        ([1.0, 3.0, 2.75], (1, 2), 0.25),
        ([1.0, 3.0, 2.75], (2, 1), 0.25),
        ([1.0, 3.0, 3.0], (1, 2), 0.0),
        ([1.0, 3.0, 2.75], (0, 2), 2.0),  # neither is the best: as far as the worse one is behind
        ([1.0, 3.0, -INF], (1, 2), INF),
    ],
)
def test_the_margin_of_a_greedy_choice(logits, tokens, margin):
    assert logit_margin(torch.tensor(logits), tokens) == margin


@pytest.mark.parametrize(
    "u, tokens, margin",
    [
        (0.5, (0, 1), 0.0),  # edges of 0.5, 0.25, 0.25: at 0.5, 0.75 and 1
        (0.49, (0, 1), 0.01),
        (0.51, (0, 1), 0.01),
        (0.51, (1, 0), 0.01),
        (0.49, (0, 2), 0.26),  # token 1 lies between
        (0.7, (0, 1), 0.2),
        (0.1, (1, 2), 0.65),
        (0.99, (2, 2), 0.0),
    ],
)
def test_the_margin_of_a_draw_is_its_distance_from_the_edge(u, tokens, margin):
    logits = torch.tensor([0.5, 0.25, 0.25]).log()
    assert draw_margin(logits, 1.0, u, tokens) == pytest.approx(margin, abs=1e-7)
    assert draw_margin(logits * 2, 2.0, u, tokens) == pytest.approx(margin, abs=1e-7)


# What is found


def test_a_decoder_that_is_right():
    found = rows(pairs_of(Shaky(), temperatures=(0.0, 0.8)))
    assert [(r.block_size, r.temperature) for r in found] == [(8, 0.0), (4, 0.0), (8, 0.8), (4, 0.8)]
    assert all((r.prompts, r.same, r.near_ties, r.different) == (5, 5, 0, 0) for r in found)
    assert [r.tokens for r in found[:2]] == [5 * 11] * 2  # the end token is compared as well
    assert [r.tokens_per_round for r in found[:2]] == [9 / 2, 9 / 3]  # the first token is no round's


@pytest.mark.parametrize("margin, near", [(4e-6, True), (2e-5, False), (0.5, False)])
def test_a_swap_is_a_near_tie_or_a_fault_by_its_margin(margin, near):
    found = pairs_of(Shaky(swapping(margin)))
    for pair in found:
        d = pair.difference
        assert (d.at, d.one_by_one.token, d.speculative.token, d.near_tie) == (3, "d", "x", near)
        assert d.margin == pytest.approx(margin, rel=1e-2)
    assert [(r.same, r.near_ties, r.different) for r in rows(found)] == [(0, 5 * near, 5 * (not near))] * 2


@pytest.mark.parametrize("distance, near", [(4e-6, True), (2e-5, False), (0.01, False)])
def test_a_draw_is_a_near_tie_or_a_fault_by_its_distance_from_the_edge(distance, near):
    pair = pairs_of(Shaky(at_the_edge(distance, seed=5)), (4,), (1.0,), prompts=1, seed=5)[0]
    d = pair.difference
    assert (d.at, d.one_by_one.token, d.speculative.token, d.near_tie) == (3, "d", "x", near)
    assert d.margin == pytest.approx(distance, rel=0.1)


def test_the_margin_is_of_adjusted_logits():
    """A penalty brings 'a', which the response holds, down to where 'd' is."""
    a = BYTE + ord("a")

    def fourth(wide, position):
        logits = of_two(0.9)
        logits[a] = logits[D] + 0.5 + (4e-6 if wide else -4e-6)
        return logits

    made = engine(Shaky(fourth), generation={"presence_penalty": 0.5})
    d = compare(made, mixed_prompts(1), (4,), (0.0,))[0].difference
    assert (d.at, d.one_by_one.token, d.speculative.token) == (3, "d", "a") and d.near_tie


def test_a_text_that_ends_too_early_is_no_near_tie():
    early = lambda wide, position: row(END if wide else D, 1.0)  # noqa: E731
    pair = pairs_of(Shaky(early), (4,), prompts=1)[0]
    assert (pair.difference.at, pair.difference.speculative.token) == (3, "<end>")
    assert pair.difference.margin is None and not pair.difference.near_tie


def test_every_prompt_has_draws_of_its_own_and_the_same_ones_both_ways():
    made, seeds = engine(Shaky()), []
    generate = made.generate
    made.generate = lambda *args, **more: seeds.append(more["seed"]) or generate(*args, **more)
    compare(made, mixed_prompts(2), (8, 4), (0.8,), seed=7)
    assert seeds == [7, 7, 7, 8, 8, 8]


# The command


def command(monkeypatch, model, *argv):
    monkeypatch.setattr(Engine, "load", lambda *_: engine(model))
    return main(["lab", "exact", "--prompts", "5", *argv])


def test_the_command_says_that_all_are_the_same(monkeypatch, capsys, tmp_path):
    assert command(monkeypatch, Shaky(), "--temperatures", "0", "--json", str(tmp_path / "r.json")) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == "block temperature prompts tokens same near ties different tokens a round".split()
    assert [line.split() for line in lines] == [
        ["8", "0", "5", "55", "5", "0", "0", "4.50"], ["4", "0", "5", "55", "5", "0", "0", "3.00"],
        ["2", "0", "5", "55", "5", "0", "0", "1.80"],
    ]  # fmt: skip
    result = json.loads((tmp_path / "r.json").read_text())
    assert (result["model"], result["seed"], result["near_tie"]) == ("scripted", 0, 1e-5)
    assert result["differences"] == [] and [r["same"] for r in result["rows"]] == [5, 5, 5]


def test_near_ties_are_listed_and_do_not_fail(monkeypatch, capsys):
    assert command(monkeypatch, Shaky(swapping(4e-6)), "--block-sizes", "4,8", "--temperatures", "0") == 0
    out, err = capsys.readouterr()
    assert out.count("near tie: ") == 10 and "not exact" not in err
    assert "near tie: prompt 1 (answer), block 8, temperature 0, token 3: 'd' one at a time, 'x' by self-spec" in out


def test_anything_else_fails_and_says_so(monkeypatch, capsys, tmp_path):
    file = tmp_path / "r.json"
    given = ("--block-sizes", "4", "--temperatures", "0", "--json", str(file))
    assert command(monkeypatch, Shaky(swapping(0.5)), *given) == 1
    out, err = capsys.readouterr()
    assert out.count("different: prompt") == 5
    assert err.splitlines()[-1] == "not exact: 5 of 5 runs differ by more than a near tie (1e-05)"
    first = json.loads(file.read_text())["differences"][0]
    assert (first["prompt"], first["kind"], first["at"], first["near_tie"]) == (0, "agent", 3, False)
    assert first["one_by_one"] == {"token_id": D, "token": "d"} and first["margin"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    "argv, says",
    [
        (["--prompts", "0"], "prompts must be a whole number of at least 1, got 0"),
        (["--prompts", "many"], "prompts must be a whole number of at least 1, got 'many'"),
        (["--block-sizes", "8,one"], "block_size must be a whole number of at least 2, got 'one'"),
        (["--block-sizes", ""], "block_size must be a whole number of at least 2, got ''"),
        (["--block-sizes", "8,5"], "block_size must be one of 2, 4, 8 for this model, got 5"),
        (["--temperatures", "0,-1"], "temperature must be in [0, 10], got -1"),
        (["--temperatures", "warm"], "temperature must be in [0, 10], got 'warm'"),
        (["--max-new-tokens", "0"], "max_new_tokens must be a whole number of at least 1, got 0"),
        (["--seed", "-1"], "seed must be a whole number in [0, 9223372036854775807], got -1"),
        (["--json", "nowhere/at.json"], "--json must name a file in a folder that exists, got 'nowhere/at.json'"),
    ],
)
def test_a_bad_value_is_one_line_and_exit_2(monkeypatch, capsys, argv, says):
    model = Shaky()
    assert command(monkeypatch, model, *argv) == 2
    out, err = capsys.readouterr()
    assert (out, err, model.calls) == ("", f"error: {says}\n", [])


def test_help_for_newcomers(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["lab", "exact", "--help"])
    assert stop.value.code == 0 and "one token at a time" in capsys.readouterr().out


# The embedded model


def test_the_embedded_model_is_exact():
    """Thirty prompts of all kinds, half of them greedy and half of them drawn."""
    tiny = Engine.load(Path(__file__).parent.parent / "assets" / "clover-tiny")
    prompts = mixed_prompts(30)
    for temperature, own in ((0.0, prompts[::2]), (0.8, prompts[1::2])):
        found = rows(compare(tiny, own, (32, 8), (temperature,), max_new_tokens=12))
        assert [r.different for r in found] == [0, 0]
        assert all(r.same + r.near_ties == 15 and r.near_ties <= 1 and r.tokens > 15 * 4 for r in found)
