"""What `bench gpu` tells of wrong results, and what is left of a run when a card, a capture or the time fails it."""

import json
from dataclasses import replace

import pytest
import torch
from bench_gpu_helpers import CPU, REFERENCE, TOY, toy_bench, toy_graphs  # noqa: F401

from clover_viz.bench import gpu, gpu_checks, gpu_model, gpu_passes, gpu_report
from clover_viz.bench.gpu_difference import NO_NUMBER
from clover_viz.bench.gpu_fault import fault
from clover_viz.bench.gpu_passes import Bench
from clover_viz.model.graphs import Graphs

PASSES = {"preview", "preview, coreset", "verify", "advance", "decode"}


def measured(bench, over=lambda: False):
    """A load, both ways, every pass once."""
    found = gpu_passes.nothing(bench)
    for way in gpu_passes.ROUNDS:
        gpu_passes.measure(bench, 0.9, way, found, over, rounds=1)
    return found


def whole(**changes):
    """A run of all layers, as far as it is given."""
    return {
        "date": "d", "notes": [], "loads": [],
        "machine": dict.fromkeys(("card", "torch", "triton", "transformers"), "x"),
        "model": {"layers": 40, "of_layers": 40, "dtype": "bfloat16", "kernels": "triton", "block": 32, "context": 512},
    } | changes  # fmt: skip


def test_nan_both_ways_shows(bench, replayed):
    replayed(lambda key, function: function())
    bench.model.lm_head.weight[5] = float("nan")
    found = measured(bench)
    assert set(found["largest_difference"]) == {"preview", "preview, coreset", "verify"}
    assert min(found["largest_difference"].values()) == pytest.approx(NO_NUMBER)


# The report


ROUND = {"position": 519, "off": 0, "logits": 0.0, "states": 0.0, "rings": 0.0}
LOAD = {
    "target": 64, "experts": {}, "bytes": {"preview": 10**9}, "milliseconds": {"preview": {"eager": 2.0}},
    "largest_difference": {}, "notes": [],
}  # fmt: skip


def apart(**logits):
    return {"loads": [LOAD | {"largest_difference": logits}]}


def cosine(value):
    return {"decode": {"milliseconds": {}, "cosine_with_transformers": value}}


@pytest.mark.parametrize("changes, line", [
    (cosine(0.03), "smallest cosine: 0.0300, wanted >= 0.9900: missed"),
    (cosine(0.9999), "smallest cosine: 0.9999, wanted >= 0.9900: met"),
    (apart(preview=37.5, verify=0.0), "against eager, largest difference of a logit: 37.5, wanted <= 0.001: missed"),
    (apart(preview=0.0), "against eager, largest difference of a logit: 0, wanted <= 0.001: met"),
    (apart(verify=NO_NUMBER), "against eager, largest difference of a logit: 1e+30, wanted <= 0.001: missed"),
    (apart(preview=0.3), "| preview |  |  | 1.00 | 2.000 |  | 10% |  | 0.3 |"),
    ({"rounds": [ROUND, ROUND | {"states": 0.4}]}, "a state, as a part: 0.4, wanted <= 0.001: missed"),
    ({"rounds": [ROUND | {"rings": 0.2}, ROUND]}, "a ring, as a part: 0.2, wanted <= 0.001: missed"),
    ({"rounds": [ROUND | {"off": 7}]}, "position off by: 7, wanted <= 0: missed"),
    ({"rounds": [ROUND | {"logits": 2.0}]}, "after rounds, largest difference of a logit: 2, wanted <= 0.001: missed"),
    ({"rounds": [ROUND]}, "| 519 | 0 | 0 | 0 | 0 |"),
    ({}, "smallest cosine: not compared"), ({}, "graph against eager, largest difference of a logit: not compared"),
    ({}, "graph against eager after rounds, position off by: not compared"),
])  # fmt: skip
def test_what_must_agree_has_a_line(changes, line):
    assert line in gpu_report.text(whole(**changes))
    fewer = whole(**changes)
    fewer["model"] |= {"layers": 8}
    assert line in gpu_report.text(fewer)  # also of a part of the layers
    if changes.get("loads"):
        assert line in gpu_report.section(whole(**changes))


def test_what_was_measured_is_told_without_a_load():
    told = gpu_report.text(whole(
        decode={"milliseconds": {"transformers, eager": 50.0}}, launches={"preview": {"kernels": 900, "copies": 3}},
        copy_bandwidth=4.0e12,
    ))  # fmt: skip
    assert "| transformers, eager | 50.000 | 20 |" in told and "| preview | 900 | 3 |" in told
    assert "A copy moves 4.00 TB/s" in told


def test_a_failure_met_at_several_loads_is_told_once():
    loads = [LOAD | {"target": n, "notes": ["verify, graph: failed, X: y"]} for n in (64, 8)]
    assert gpu_report.text(whole(loads=loads)).count("verify, graph") == 1
    assert gpu_report.text(whole(loads=loads)).endswith("at 64, 8 touched experts: verify, graph: failed, X: y")


def test_a_report_that_fails_takes_no_figure_along(monkeypatch):
    for name in ("_operations", "_model"):
        monkeypatch.setattr(gpu._Run, name, lambda self: None)
    monkeypatch.setattr(gpu, "copy_bandwidth", lambda *a, **k: 123456.0)
    monkeypatch.setattr(gpu_report, "text", lambda found: {}["advance"])
    found = gpu.run(gpu.Options(rehearse=True))
    assert found["copy_bandwidth"] == 123456.0
    assert found["text"].startswith("report: failed, KeyError: 'advance'") and "123456.0" in found["text"]


# Passes


def test_a_capture_that_fails_leaves_the_eager_figures(bench, replayed):
    def refuse(key, function):
        raise RuntimeError("CUDA error: operation not permitted when\nstream is capturing")

    replayed(refuse)
    found = measured(bench)
    sides = set(bench.sides(0.9))
    assert {name: set(ms) for name, ms in found["milliseconds"].items()} == dict.fromkeys(sides, {"eager"})
    assert set(found["experts"]) == {"preview", "preview, coreset", "verify"} and set(found["bytes"]) == sides
    assert len(found["notes"]) == 5
    assert found["notes"][0] == (
        "preview, graph: failed, RuntimeError: CUDA error: operation not permitted when stream is capturing"
    )
    told = gpu_report.text(whole(loads=[{"target": 64} | found]))
    assert "preview, graph: failed" in told and "| advance |" in told and "largest difference of a logit: not" in told


def test_without_its_text_the_passes_are_timed(bench, replayed, monkeypatch):
    def refuse(*given):
        raise RuntimeError("No available kernel")

    replayed(lambda key, function: function())
    monkeypatch.setattr(bench.steps, "prefill", refuse)
    found = measured(bench)
    assert found["notes"] == ["prefill: failed, RuntimeError: No available kernel"]
    assert set(found["milliseconds"]) == set(bench.sides(0.9))
    assert all(set(ways) == {"eager", "graph"} for ways in found["milliseconds"].values())


def test_no_graph_is_captured_before_all_that_needs_none_is_measured(monkeypatch):
    """After a capture that went wrong a card may do nothing more for this process."""
    seen, broken = [], []
    run = Graphs.run

    def breaks(self, key, function):
        if self.capture or broken:
            broken.append(key)
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        return run(self, key, function)

    monkeypatch.setattr(Graphs, "run", breaks)
    monkeypatch.setattr(gpu_passes, "Bench", lambda *given, **named: Bench(*given, **named | {"capture": True}))
    monkeypatch.setattr(gpu_checks, "run", lambda *given: {"seed": 0, "results": [], "left": 0})
    found = gpu.run(gpu.Options(rehearse=True), saved=lambda found: seen.append(json.dumps(found)))
    assert broken and len(seen) > len(gpu.UNTIL)
    assert [load["target"] for load in found["loads"]] == list(gpu.LOADS)
    for load in found["loads"]:
        assert {name: set(ms) for name, ms in load["milliseconds"].items()} == dict.fromkeys(PASSES, {"eager"})
    assert set(found["launches"]) == PASSES and found["decode"]["cosine_with_transformers"] > 0.99
    assert set(found["decode"]["milliseconds"]) == {
        "eager", "transformers, eager pass", "transformers, eager generate"}  # fmt: skip
    assert "rounds: failed" in found["text"] and "statistics: skipped" in found["text"]


def test_a_load_and_a_peer_that_fail_leave_the_others(monkeypatch):
    turn = gpu_model.Knob.turn

    def stuck(self, weight):
        if weight == gpu_model.CORRELATION[163]:
            raise RuntimeError("stuck")
        return turn(self, weight)

    def refuse(*given):
        raise RuntimeError("no such model")

    monkeypatch.setattr(gpu_model.Knob, "turn", stuck)
    monkeypatch.setattr(gpu.SharingPeer, "causal", refuse)
    options = gpu.Options(rehearse=True, without=("operations", "copy", "launches", "statistics", "rounds"))
    found = gpu.run(options)
    assert [load["target"] for load in found["loads"] if load["milliseconds"]] == [64, 8, 32, 128]
    assert found["notes"] == [
        "operations: left out", "copy: left out",
        "eager, 163 touched experts: failed, RuntimeError: stuck", "launches: left out",
        "transformers, a pass: failed, RuntimeError: no such model",
        "transformers, cosine: failed, RuntimeError: no such model",
        "graph, 163 touched experts: failed, RuntimeError: stuck", "statistics: left out", "rounds: left out",
    ]  # fmt: skip
    assert found["decode"]["milliseconds"]["transformers, eager generate"] > 0


def test_figures_that_cannot_be_kept_are_still_told(monkeypatch):
    def full(found):
        raise OSError("No space left on device")

    monkeypatch.setattr(gpu_checks, "run", lambda *given: {"seed": 0, "results": [], "left": 0})
    said = []
    found = gpu.run(gpu.Options(rehearse=True, without=("model",)), told=said.append, saved=full)
    assert found["copy_bandwidth"] > 0 and "A copy moves" in found["text"]
    assert "what there is could not be kept: OSError: No space left on device" in said


def test_one_pass_that_fails_leaves_the_others(bench, replayed):
    def refuse(key, function):
        if key[0] == "causal" and key[1] > 1:
            raise RuntimeError("no")
        return function()

    replayed(refuse)
    found = measured(bench)
    both, one = {"eager", "graph"}, {"eager"}
    assert {name: set(ms) for name, ms in found["milliseconds"].items()} == {
        "preview": both, "preview, coreset": both, "verify": one, "advance": one, "decode": both,
    }  # fmt: skip
    assert found["notes"] == [f"{name}, graph: failed, RuntimeError: no" for name in ("verify", "advance")]


@pytest.mark.parametrize("passes", range(11))
def test_time_may_run_out_before_any_pass(bench, replayed, passes):
    replayed(lambda key, function: function())
    asked = iter([False] * passes + [True])
    found = measured(bench, lambda: next(asked, True))
    assert sum(len(ways) for ways in found["milliseconds"].values()) == passes
    assert gpu_report.text(whole(loads=[{"target": 64} | found]))
    json.dumps(found, allow_nan=False)


# Operations


def test_a_card_that_failed_takes_no_result_along(monkeypatch):
    """As after an illegal memory access: nothing on the card works any more, making inputs included."""
    failed, kept = [], []

    def breaks(*given):
        failed.append(True)
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    class Draw(gpu_checks.Draw):
        def __init__(self, *given):
            if failed:
                breaks()
            super().__init__(*given)

        def __call__(self, *shape, **options):
            if failed:
                breaks()
            return super().__call__(*shape, **options)

    monkeypatch.setattr(gpu_checks, "Draw", Draw)
    kernels = replace(REFERENCE, causal_conv=breaks)
    found = gpu_checks.run(TOY, kernels, CPU, 1, lambda: False, lambda found: kept.append(len(found["results"])))
    assert [(r["case"], r["dtype"], r["passed"]) for r in found["results"]] == [
        ("rms_norm, 8", "bfloat16", True), ("add_rms_norm, 8", "bfloat16", True),
        ("rms_norm, 8 of heads", "bfloat16", True), ("gated_rms_norm, 8", "bfloat16", True),
        ("causal_conv, 8", "bfloat16", False), ("the cases that follow", "bfloat16", False),
        ("the cases that follow", "float32", False),
    ]  # fmt: skip
    assert kept == [1, 2, 3, 4, 5, 6, 7]
    assert "an illegal memory access" in gpu_report.text(whole(operations=found))


def test_experts_of_weight_0_are_checked():
    """Two of every token's, and in some tokens the first."""
    given = []

    def seen(x, experts, weights, gate_up, down):
        given.append(weights)
        return REFERENCE.moe_experts(x, experts, weights, gate_up, down)

    made = gpu_checks.cases(TOY, replace(REFERENCE, moe_experts=seen), gpu_checks.Draw(CPU, torch.float32, 2))
    for case in made:
        if case.name == "moe_experts, 8, 2 weights 0":
            assert gpu_checks.check(case)["passed"]
    none = given[0] == 0
    assert len(given) == 1 and none.sum(-1).tolist() == [2] * 8 and none[:, 0].any() and not none[:, 0].all()


def test_a_fault_names_its_cause():
    try:
        try:
            raise ValueError("not\npermitted")
        finally:
            raise RuntimeError("could not be ended")
    except RuntimeError as error:
        assert fault(error) == "ValueError: not permitted, then RuntimeError: could not be ended"
        assert fault(error, 12) == "ValueError: , then RuntimeError"
    assert fault(KeyError("advance")) == "KeyError: 'advance'"
