"""`bench gpu` without a card: its counts, its tables, its router knob, and a whole run at toy size on the CPU."""

import json
import re
from dataclasses import replace

import pytest
import torch
from clover_kernels.selection import select

from clover_viz.__main__ import main
from clover_viz.bench import gpu, gpu_checks, gpu_model, gpu_passes, gpu_report, gpu_rounds
from clover_viz.bench.gpu_bytes import (
    advance_bytes, dense_parameters, expert_bytes, pass_bytes, state_bytes, tokens_needed,
)  # fmt: skip
from clover_viz.bench.gpu_peer import SharingPeer
from clover_viz.bench.gpu_times import Budget, copy_bandwidth, launches, milliseconds
from clover_viz.bench.timing import Side
from clover_viz.config import CloverConfig
from clover_viz.errors import UserError
from clover_viz.model.clover import CloverForCausalLM

CPU = torch.device("cpu")
WHOLE = CloverConfig()
REFERENCE = select("cpu", "reference")


@pytest.fixture(scope="module")
def toy():
    return CloverConfig(**gpu.TOY)


# Bytes


def test_parameters_are_those_of_the_model(toy):
    """Every tensor of the 35B is in the count, and the parts that one kind of pass leaves out are the others'."""
    for config in (WHOLE, toy):
        with torch.device("meta"):
            sizes = {name: p.numel() for name, p in CloverForCausalLM(config).named_parameters()}
        dense = {n: size for n, size in sizes.items() if ".mlp.experts." not in n and "embed_tokens" not in n}
        assert dense_parameters(config) == sum(dense.values())
        of_gates = ("in_proj_a.weight", "in_proj_b.weight", "A_log", "dt_bias")
        gates = sum(size for name, size in dense.items() if name.endswith(of_gates))
        diffusion = sum(size for n, size in dense.items() if "conv_right" in n or "bd_softmax" in n)
        assert dense_parameters(config) - dense_parameters(config, "preview") == gates
        assert dense_parameters(config) - dense_parameters(config, "causal") == diffusion
        experts = sum(size for name, size in sizes.items() if ".mlp.experts." in name)
        assert expert_bytes(config) * config.num_experts * config.num_hidden_layers == 2 * experts


def test_the_35b_s_counts():
    assert dense_parameters(WHOLE) == 1_940_536_768
    assert dense_parameters(WHOLE) - dense_parameters(WHOLE, "causal") == 740_160
    assert expert_bytes(WHOLE) == 2 * 3_145_728
    assert state_bytes(WHOLE) == pytest.approx(63e6, rel=0.01)
    assert pass_bytes(WHOLE, "causal", 1, 0, 1).kv == 20_480
    assert pass_bytes(WHOLE, "causal", 1, 0, 131_072).kv == pytest.approx(2.7e9, rel=0.01)
    one = pass_bytes(WHOLE, "causal", 1, 40 * 8, 0)
    assert one.dense + one.experts == pytest.approx(5.89e9, rel=0.001)
    assert 4.8e12 / (one.dense + one.experts) == pytest.approx(814, abs=1)


@pytest.mark.parametrize(
    "preview, verify, efficiency, gigabytes, milliseconds, tokens",
    [(64, 163, 0.6, 65, 22.5, 11.6), (64, 64, 0.6, 40, None, 7.1), (32, 64, 0.8, None, None, 4.3)],
)
def test_the_worked_rounds(preview, verify, efficiency, gigabytes, milliseconds, tokens):
    parts = [pass_bytes(WHOLE, *p, 0) for p in (("preview", 32, 40 * preview), ("causal", 32, 40 * verify))]
    size = sum(p.dense + p.experts for p in parts)
    seconds = size / (4.8e12 * efficiency)
    if gigabytes:
        assert round(size / 1e9) == gigabytes
    if milliseconds:
        assert round(1000 * seconds, 1) == milliseconds
    assert tokens_needed(515, seconds) == pytest.approx(tokens, abs=0.06)


def test_a_pass_is_the_sum_of_its_parts(toy):
    parts = pass_bytes(toy, "preview", 8, 40, 100, itemsize=4)
    assert parts.experts == 40 * 3 * 64 * 16 * 4
    assert parts.state == 3 * 4 * 16 * 16 * 4 and parts.ring == 3 * 3 * 128 * 4
    assert parts.kv == 2 * 2 * 16 * 4 * 100 and parts.embedding == 8 * 64 * 4
    assert parts.total == sum(parts)
    assert advance_bytes(toy, 8) == 2 * parts.state + 3 * (8 * (64 + 4 + 32) * 4 + 6 * 128 * 2)


# The model and its knob


@pytest.mark.parametrize("target", gpu_model.CORRELATION)
def test_the_knob_s_figures(target):
    """256 experts, 32 slots, 8 each: logits as the knob means to make them touch what its name says."""
    weight, draw = gpu_model.CORRELATION[target], torch.Generator().manual_seed(1)
    logits = torch.randn(150, 32, 256, generator=draw) + weight * torch.randn(150, 1, 256, generator=draw)
    chosen = logits.topk(8, -1).indices.flatten(1)
    touched = torch.zeros(150, 256).scatter(1, chosen, 1.0).sum(1).mean().item()
    assert touched == pytest.approx(target, rel=0.06)


@pytest.fixture(scope="module")
def routed():
    """256 experts in two layers of each kind, as the card will build them."""
    config = CloverConfig(**gpu.TOY | dict(num_experts=256, num_experts_per_tok=8, hidden_size=256, block_size=32))
    model, knob = gpu_model.build(config, REFERENCE, CPU)
    return gpu_passes.Bench(model, capture=False, context=33), knob


def test_the_model_touches_as_many_experts_as_it_is_told_to(routed):
    bench, knob = routed
    for target in (8, 64, 163):
        knob.turn(gpu_model.CORRELATION[target])
        bench.refill()
        for out in (bench.preview(1.0), bench.verify()):
            assert out.routing.touched.float().mean().item() == pytest.approx(target, rel=0.2, abs=2)
            assert torch.equal(out.routing.kept, out.routing.touched)
            assert torch.isfinite(out.logits[:, :198]).all()
    assert (bench.preview(0.9).routing.kept < bench.preview(0.9).routing.touched).all()


def test_a_build_is_seeded_in_place_and_leaves_the_generator_alone(toy):
    before = torch.get_rng_state()
    (one, _), (same, _), (other, _) = (gpu_model.build(toy, REFERENCE, CPU, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), before)
    for (name, p), q in zip(one.named_parameters(), same.parameters()):
        assert p.dtype == torch.bfloat16 and p.device == CPU and torch.isfinite(p).all() and torch.equal(p, q), name
    assert not torch.equal(one.lm_head.weight, other.lm_head.weight)


def test_what_does_not_fit_says_so_in_a_line():
    assert gpu_model.parameters(WHOLE) == 34_661_350_848
    assert gpu_model.shortfall(WHOLE, int(141e9)) == ""
    short = gpu_model.shortfall(WHOLE, int(40e9))
    assert short.startswith("40 layers need 73 GB and the card has 40 free: --layers 20 fits")
    assert gpu_model.shortfall(gpu._cut(WHOLE, 20), int(40e9)) == ""
    assert gpu_model.shortfall(WHOLE, int(6e9)).endswith("no number of layers fits")


def test_transformers_runs_on_our_tensors(toy):
    model, _ = gpu_model.build(toy, REFERENCE, CPU)
    peer = SharingPeer(model)
    theirs = dict(peer.model.named_parameters())
    for name, p in model.named_parameters():
        if name in theirs:
            assert theirs[name].data_ptr() == p.data_ptr(), name
    assert len(theirs) == sum("conv_right" not in n and "bd_softmax" not in n for n, _ in model.named_parameters())


# Checks of operations


def test_every_operation_is_checked_and_a_wrong_one_found(toy):
    found = gpu_checks.run(toy, REFERENCE, CPU, 3, lambda: False)
    # The reference rounds a bf16 convolution after every tap, and the products that go into a gate of fp32, where
    # kernels round once: it may miss by a little.
    most = {"delta_gates": 50.0, "block_conv": 2.0, "causal_conv": 2.0}
    missed = [r for r in found["results"] if not r["passed"] and (
        r["dtype"] == "float32" or r["of_allowed"] > most.get(r["case"].split(",")[0], 1.0))]  # fmt: skip
    assert found["left"] == 0 and missed == []
    names = {r["case"].split(",")[0] for r in found["results"]}
    assert names == {name for name in vars(REFERENCE) if name not in ("name", "reason")}
    assert {r["dtype"] for r in found["results"]} == {"bfloat16", "float32"}

    def off(x, w, eps):
        return REFERENCE.rms_norm(x, w, eps) * 1.05

    def lost(logits, top_k):
        return REFERENCE.route(logits, top_k)._replace(experts=REFERENCE.route(logits, top_k).experts.flip(-1))

    def empty(*given):
        return REFERENCE.block_mix(*given) * float("nan")

    def broken(*given):
        raise RuntimeError("out of\nregisters")

    wrong = replace(REFERENCE, rms_norm=off, route=lost, block_mix=empty, block_conv=broken)
    results = gpu_checks.run(toy, wrong, CPU, 3, lambda: False)["results"]
    failed = [r for r in results if not r["passed"] and r["dtype"] == "float32"]
    assert {r["case"].split(",")[0] for r in failed} == {"rms_norm", "route", "block_mix", "block_conv"}
    assert {r["fault"] for r in failed if "fault" in r} == {"RuntimeError: out of registers"}
    json.dumps(failed, allow_nan=False)
    assert gpu_checks.run(toy, REFERENCE, CPU, 3, lambda: True)["results"] == []


# Times


def test_time_is_shared_out():
    now = iter([0.0, 1.0, 50.0, 100.0])
    budget = Budget(100, clock=lambda: next(now))
    assert [budget.over(share) for share in (0.5, 0.5, 1.0)] == [False, True, True]


def test_only_the_run_is_timed_and_what_comes_before_it_is_not():
    order = []
    side = Side(lambda given: order.append(given), lambda: order.append("before") or "run")
    taken = milliseconds(side, 3, CPU, warmup=1)
    assert len(taken) == 3 and min(taken) >= 0 and order == ["before", "run"] * 4
    assert copy_bandwidth(CPU, 2**16, 2) > 0
    assert launches(lambda: torch.ones(3) + 1, CPU) == {"kernels": 0, "copies": 0}


# Reports


def load(target, graph, read=None):
    read = target if read is None else read
    size = pass_bytes(WHOLE, "preview", 32, 40 * read, 512).total
    experts = {"touched": float(target), "read": float(read)}
    ms = {name: {"eager": 30.0, "graph": graph} for name in ("preview", "verify", "advance", "decode")}
    ms["preview, coreset"] = {"graph": graph - 1.0}
    return {
        "target": target, "milliseconds": ms, "experts": {"preview": experts, "verify": experts},
        "bytes": dict.fromkeys(ms, size), "largest_difference": {},
    }  # fmt: skip


@pytest.fixture
def found():
    return {
        "date": "2000-01-01", "notes": ["peer: skipped, the time for it is used up"], "loads": [load(64, 5.0)],
        "machine": {"card": "A card", "torch": "2.11", "triton": "3.6", "cuda": "13", "transformers": "5.17"},
        "model": {"layers": 40, "of_layers": 40, "dtype": "bfloat16", "kernels": "triton", "block": 32, "context": 512},
        "operations": {"seed": 7, "left": 2, "results": [
            {"case": "route, 1", "dtype": "float32", "error": 0.5, "of_allowed": 3.0, "passed": False}]},
        "copy_bandwidth": 4.0e12, "peak_bytes": 75_000_000_000, "statistics_of_preview": 0.03,
        "decode": {"milliseconds": {"eager": 20.0, "graph": 2.5, "transformers, eager generate": 50.0}},
        "peer": {"fla": False}, "launches": {"preview": {"kernels": 900, "copies": 3}},
    }  # fmt: skip


def test_the_section_tells_the_run_and_what_it_missed(found):
    told = gpu_report.section(found)
    assert told.startswith("2000-01-01, A card: 40 layers of random bfloat16 weights, kernels triton, torch 2.11")
    # 20.07 GB: 4.18 ms at 4.8 TB/s, 5.02 ms at a copy's
    assert "| preview | 64.0 | 64.0 | 20.05 | 30.000 | 5.000 | 84% | 100% |" in told
    assert "| decode |  |  | 20.05 | 30.000 | 5.000 | 84% | 100% |" in told
    assert "| preview | 64.0 | 15.00 | 7.7 | 10.2 |" in told
    assert "| preview, coreset | 64.0 | 14.00 | 7.2 | 9.5 |" in told
    assert "| graph | 2.500 | 400 |" in told and "| transformers, eager generate | 50.000 | 20 |" in told
    assert "transformers computes its DeltaNet layers in plain PyTorch here" in told
    assert "| preview | 900 | 3 |" in told
    assert "preview at 64 experts, of the byte floor: 84%, wanted >= 60%: met (goal 85%)" in told
    assert "statistics, of a preview: 3.0%, wanted <= 2.0%: missed" in told
    assert "peak memory, GB: 75.0, wanted <= 76.0: met" in told
    assert "one token at a time, tok/s: 400, wanted >= 300: met" in told
    whole = gpu_report.text(found)
    assert "0 of 1 checks" in whole and "2 checks were not reached" in whole and "| FAILED |" in whole
    assert whole.endswith("peer: skipped, the time for it is used up")


def test_a_part_of_a_run_is_told_as_far_as_it_goes(found):
    del found["loads"][0]["milliseconds"]["verify"], found["copy_bandwidth"], found["decode"], found["launches"]
    del found["loads"][0]["milliseconds"]["preview"]["eager"], found["peak_bytes"]
    found["model"]["layers"], found["operations"] = 8, None
    told = gpu_report.section(found)
    assert "tokens a round" not in told and "8 of 40 layers: no target applies" in told
    assert "| preview | 64.0 | 64.0 | 20.05 |  | 5.000 | 84% |  |" in told
    assert gpu_report.text(found)


@pytest.mark.parametrize("nothing", [None, {}, {"loads": []}, {"loads": [{"milliseconds": {}}]}])
def test_without_a_run_the_section_says_one_thing(nothing):
    assert gpu_report.section(nothing) == "GPU: not measured yet."


# The command


def test_without_a_card_one_line_and_exit_2(capsys):
    assert main(["bench", "gpu"]) == 2
    assert capsys.readouterr().err == "error: bench gpu needs a CUDA card, and torch sees none here\n"


@pytest.mark.parametrize("flags, told", [
    (["--layers", "3"], r"--layers must be in \[4, 4\], got 3"), (["--layers", "0"], "--layers must be a whole number"),
    (["--minutes", "none"], "--minutes must be a whole number of at least 1, got 'none'"),
    (["--without", "copy,peer"], "--without must name parts of operations, copy, .*, rounds, got 'peer'"),
])  # fmt: skip
def test_bad_values(flags, told, capsys):
    assert main(["bench", "gpu", "--rehearse", *flags]) == 2
    assert re.search(told, capsys.readouterr().err)
    with pytest.raises(UserError, match="in .4, 40., got 41"):
        gpu._cut(WHOLE, 41)
    assert gpu._cut(WHOLE, 8).layer_types == WHOLE.layer_types[:8]


def test_a_whole_run_at_toy_size(tmp_path, capsys):
    """Every line that a card will run but the capture itself: no part may fail, none may be left out."""
    file = tmp_path / "found.json"
    assert main(["bench", "gpu", "--rehearse", "--minutes", "60", "--json", str(file)]) == 0
    out, found = capsys.readouterr().out, json.loads(file.read_text(), parse_constant=pytest.fail)
    assert found["notes"] == [], found["notes"]
    assert [one["target"] for one in found["loads"]] == list(gpu.LOADS)
    for one in found["loads"]:
        assert set(one["milliseconds"]) == {"preview", "preview, coreset", "verify", "advance", "decode"}
        assert all(set(ms) == {"eager", "graph"} and min(ms.values()) > 0 for ms in one["milliseconds"].values())
        assert one["experts"]["preview"]["read"] == one["experts"]["preview"]["touched"]
        assert one["experts"]["preview, coreset"]["read"] <= one["experts"]["preview"]["read"]
        assert max(one["largest_difference"].values()) == 0.0  # the same code twice
        assert set(one["bytes"]) == set(one["milliseconds"])
    read = [one["experts"]["verify"]["read"] for one in sorted(found["loads"], key=lambda one: one["target"])]
    assert read == sorted(read) and read[0] < read[-1]
    peers = ("transformers, eager pass", "transformers, eager generate")
    assert list(found["decode"]["milliseconds"]) == ["eager", *peers, "graph"]
    assert min(found["decode"]["milliseconds"].values()) > 0 and set(found["peer"]) == {"fla"}
    assert found["decode"]["cosine_with_transformers"] > 0.99
    assert [one["position"] for one in found["rounds"]] == [64 + gpu_rounds.ACCEPTED, 64 + 2 * gpu_rounds.ACCEPTED]
    assert all(one[key] == 0 for one in found["rounds"] for key in ("off", "logits", "states", "rings"))
    assert set(found["launches"]) == set(found["loads"][0]["milliseconds"])
    assert found["operations"]["left"] == 0 and found["statistics_of_preview"] > 0 and found["copy_bandwidth"] > 0
    assert "| preview, coreset |" in out and "a rehearsal on the CPU" in out
    assert "not compared" not in out and out.count("wanted <= 0.001: met") == 4 and "wanted >= 0.9900: met" in out


def test_a_part_that_fails_and_one_without_time_are_told(monkeypatch):
    monkeypatch.setattr(gpu, "copy_bandwidth", lambda *a, **k: 1 / 0)
    monkeypatch.setattr(gpu_checks, "run", lambda *a: {"seed": 0, "results": [], "left": 1})
    monkeypatch.setitem(gpu.UNTIL, "model", 0.0)
    kept = []
    found = gpu.run(gpu.Options(rehearse=True), saved=lambda found: kept.append(list(found["notes"])))
    assert found["notes"] == [
        "copy: failed, ZeroDivisionError: division by zero",
        "model: skipped, the time for it is used up",
        *(f"{part}: skipped, there is no model"
          for part in ("eager", "launches", "transformers", "graph", "statistics", "rounds")),
    ]  # fmt: skip
    assert [len(notes) for notes in kept] == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert gpu_report.section(found) == "GPU: not measured yet."
