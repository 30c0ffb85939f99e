"""Rounds as graphs against eager ones: what `bench gpu` compares, and that it would see a difference."""

import json

import pytest
import torch
from bench_gpu_helpers import toy_bench, toy_graphs  # noqa: F401

from clover_viz.bench import gpu_model, gpu_report, gpu_rounds
from clover_viz.bench.gpu_difference import NO_NUMBER, difference, part

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("one, other, wanted", [
    ([1.0, 2.0], [1.0, 2.0], 0.0), ([1.0, -2.0], [1.5, -2.0], 0.5), ([NAN, 1.0], [NAN, 1.0], NO_NUMBER),
    ([NAN, 1.0], [0.0, 1.0], NO_NUMBER), ([-INF, 1.0], [-INF, 1.0], NO_NUMBER), ([INF, 1.0], [3.0, 1.0], NO_NUMBER),
])  # fmt: skip
def test_no_number_is_as_far_off_as_can_be(one, other, wanted):
    one, other = torch.tensor(one), torch.tensor(other)
    assert difference(one, other) == difference(other, one) == pytest.approx(wanted)
    assert part(one, other) >= min(wanted, 0.25)


def test_a_difference_as_a_part():
    assert part(torch.tensor([4.0, -8.0]), torch.tensor([4.0, -6.0])) == 0.25
    assert part(torch.zeros(2), torch.zeros(2)) == 0.0


def as_it_is(bench):
    return lambda key, function: function()


def no_advance(bench):
    return lambda key, function: None if key[0] == "advance" else function()


def one_token_less(bench):
    def run(key, function):
        if key[0] == "advance":
            bench.cache._accepted.sub_(1)
        return function()

    return run


def stale(bench):
    """The first result of a kind is handed out for good."""
    held = {}
    return lambda key, function: held.setdefault(key[0], function())


@pytest.mark.parametrize("graph, wrong", [
    (as_it_is, set()), (no_advance, {"off", "states", "rings", "logits"}),
    (one_token_less, {"off", "states", "rings", "logits"}), (stale, {"logits"}),
], ids=lambda value: getattr(value, "__name__", ""))  # fmt: skip
def test_rounds_tell_a_graph_that_does_otherwise(bench, replayed, graph, wrong):
    replayed(graph(bench))
    with gpu_model.loud(bench.model):
        rounds = gpu_rounds.compare(bench, 0.9)
    assert [one["position"] for one in rounds] == [39, 46]
    bounds = {key: bound for key, (_, bound) in gpu_report.ROUNDS.items()}
    assert {key for key, bound in bounds.items() if max(one[key] for one in rounds) > bound} == wrong
    json.dumps(rounds, allow_nan=False)


def test_layers_are_loud_for_a_while_and_no_bit_is_lost(bench):
    before = {name: weight.clone() for name, weight in bench.model.named_parameters()}
    with pytest.raises(ZeroDivisionError), gpu_model.loud(bench.model):
        louder = {name for name, w in bench.model.named_parameters() if not torch.equal(w, before[name])}
        assert {name.split(".", 3)[-1] for name in louder} == {
            "self_attn.o_proj.weight", "linear_attn.out_proj.weight", "mlp.experts.down_proj",
            "mlp.shared_expert.down_proj.weight",
        }  # fmt: skip
        one = "model.layers.0.mlp.experts.down_proj"
        assert torch.equal(bench.model.get_parameter(one), before[one] * gpu_model.LOUD)
        raise ZeroDivisionError
    assert all(torch.equal(weight, before[name]) for name, weight in bench.model.named_parameters())


def test_the_second_round_is_past_the_bucket(bench, replayed):
    rows = []
    replayed(lambda key, function: rows.append(key) or function())
    gpu_rounds.compare(bench, 0.9)
    assert [key[:3] for key in rows] == [
        ("causal", 8, 40), ("advance", 8), ("preview", 8, 72), ("causal", 8, 72), ("advance", 8), ("preview", 8, 72),
    ]  # fmt: skip
