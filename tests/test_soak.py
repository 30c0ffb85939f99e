"""The soak: its rule by hand, and a page that stays open for two minutes in a real browser."""

import os
import threading
from collections import Counter
from pathlib import Path

import pytest

from clover_viz.bench import soak
from clover_viz.bench.paced import PlayedEngine
from clover_viz.errors import UserError
from clover_viz.events import RunFinished
from clover_viz.settings import MODES
from clover_viz.trace.canvas import fold
from clover_viz.trace.store import play

TRACES = Path(__file__).parent.parent / "assets" / "traces"
SECONDS = float(os.environ.get("CLOVER_SOAK_SECONDS", "120"))
NOISE = [0, 3, -2, 1, 4, -3, 2, -1]


def noisy(values, size=1.0):
    return [value + size * NOISE[at % len(NOISE)] for at, value in enumerate(values)]


FLAT = {
    "nodes": {
        "the same throughout": [2000] * 12,
        "noise": noisy([2000] * 24, 5),
        "a warm-up": [1500, 1900, *[2000] * 14],
        "a step within what is allowed": [2000] * 12 + [2040] * 12,
        "one sample out of line": [2000] * 22 + [4000, 2000],
        "less than before": [2000 - 20 * at for at in range(24)],
        "a small page": [100] * 12 + [110] * 12,
    },
    "listeners": {"the same throughout": [170] * 24, "to and fro": [170, 173] * 12},
    "heap": {"noise": noisy([9.8] * 24, 0.3), "a plateau late in the warm-up": [8, 8, 9, 11, 12, 12, *[12.5] * 18]},
    "server": {
        "noise": noisy([165.0] * 24, 1),
        "an allocator that settles": [160 + 9 * (1 - 0.8**at) for at in range(24)],
    },
}
GROWING = {
    "nodes": {
        "a tile a turn": [2000 + 6 * at for at in range(24)],
        "under noise": noisy([2000 + 10 * at for at in range(24)], 5),
        "in a few samples": [2000 + 60 * at for at in range(8)],
        "a step beyond what is allowed": [2000] * 12 + [2041] * 12,
        "behind a warm-up": [1500, 1900, *(2000 + 10 * at for at in range(22))],
    },
    "listeners": {"one a turn": [170 + at for at in range(24)]},
    "heap": {"a quarter of a MiB a turn": [9.8 + 0.25 * at for at in range(24)]},
    "server": {"a MiB a turn": noisy([165.0 + at for at in range(24)], 0.5)},
}


def cases(table):
    return [
        pytest.param(name, values, id=f"{name}: {says}")
        for name, by in table.items()
        for says, values in by.items()
    ]


@pytest.mark.parametrize(("name", "values"), cases(FLAT))
def test_what_is_flat(name, values):
    assert soak.growth(name, values).flat


@pytest.mark.parametrize(("name", "values"), cases(GROWING))
def test_what_grows(name, values):
    assert not soak.growth(name, values).flat


def test_the_thirds_by_hand():
    """Of ten samples two are warm-up; the thirds of the other eight have two each."""
    found = soak.growth("nodes", [9000, 9000, 1000, 1010, 0, 0, 0, 0, 1020, 1040])
    assert (found.first, found.last, found.by) == (1005, 1030, 25)
    assert found.allowed == pytest.approx(20.1) and not found.flat
    assert soak.growth("listeners", [100] * 8).allowed == 3
    with pytest.raises(ValueError, match="at least 8 samples, got 7"):
        soak.growth("nodes", [1] * 7)


def samples(count=24, told=True, **rates):
    """Each figure grows by its rate a sample."""
    return [
        soak.Sample(
            at, 3 * at, 2000 + rates.get("nodes", 0) * at, 170 + rates.get("listeners", 0) * at,
            9.8 + rates.get("heap", 0) * at, 165 + rates.get("server", 0) * at if told else None,
        )
        for at in range(count)
    ]  # fmt: skip


def test_the_verdict_names_what_grows():
    assert soak.verdict(soak.judge(samples())) == "flat"
    assert soak.verdict(soak.judge(samples(nodes=10))) == "grows: browser nodes"
    assert soak.verdict(soak.judge(samples(listeners=2, server=2))) == "grows: browser listeners, server memory"
    assert soak.verdict(soak.judge(samples(heap=1))) == "grows: browser heap"


def test_the_report_tells_every_sample_the_growth_and_the_rule():
    where, did = {"cores": 2, "python": "3.11"}, {"runs": 69, "stopped": 23}
    found = soak.report(samples(nodes=10), where, did)
    assert found["verdict"] == "grows: browser nodes" and found["rule"] == soak.RULE and found["did"] == did
    assert [each["nodes"] for each in found["samples"]] == [2000 + 10 * at for at in range(24)]
    nodes = found["growth"][0]
    assert nodes == {"name": "nodes", "first": 2085, "last": 2205, "allowed": pytest.approx(41.7), "flat": False}
    for told in ("69 runs, 23 stopped", "browser nodes            2,085     2,205      +120        42  grows",
                 "server memory, MiB       165.0     165.0      +0.0       8.0  flat", "verdict: grows: browser nodes"):
        assert told in found["text"], told
    assert sum(line.endswith(" 165.0") for line in found["text"].splitlines()) == 24


def test_a_system_that_tells_no_memory_is_judged_by_the_rest():
    found = soak.report(samples(told=False), {"cores": 2, "python": "3.11"}, {})
    assert found["verdict"] == "flat" and "not in the verdict" in found["text"] and "not told" in found["text"]
    assert [each["name"] for each in found["growth"]] == ["nodes", "listeners", "heap"]


def visited(seconds, step):
    """A visit whose turns take `step` seconds: (turns, samples)."""
    now, turns = [0.0], []

    def turn(number):
        turns.append(number)
        now[0] += step
        return 3

    def sample(at, runs):
        return soak.Sample(at, runs, 1, 1, 1.0, None)

    return turns, soak.visit(turn, sample, seconds, clock=lambda: now[0])


def test_a_visit_lasts_as_long_as_it_was_asked_to():
    turns, found = visited(120, 10)
    assert turns == list(range(12)) and [each.runs for each in found] == [3 * (at + 1) for at in range(12)]


def test_fast_turns_share_samples_and_slow_ones_go_on_until_there_are_enough():
    turns, found = visited(600, 5)
    assert len(turns) == 120 and len(found) == soak.SAMPLES
    turns, found = visited(30, 60)
    assert len(turns) == len(found) == soak.FEWEST


@pytest.mark.parametrize("value", [0.5, 10, 120])
def test_minutes_in_range(value):
    assert soak.minutes(value) == value


@pytest.mark.parametrize("value", [0, 0.4, 121, -1, float("nan"), float("inf"), "long", True])
def test_other_minutes_are_refused_in_one_line(value):
    with pytest.raises(UserError) as refused:
        soak.minutes(value)
    assert str(refused.value) == f"--soak must be minutes in [0.5, 120], got {value!r}"


@pytest.mark.parametrize("mode", MODES)
def test_a_played_engine_answers_with_the_recorded_run_of_the_mode(mode):
    recorded = list(play(TRACES / f"prose-{mode}.jsonl.gz"))
    assert list(PlayedEngine.of(TRACES, 1e6).generate([], MODES[mode]())) == recorded


@pytest.mark.parametrize("mode", MODES)
def test_a_played_engine_stops_before_the_next_pass(mode):
    flag, seen, gates = threading.Event(), [], Counter()

    def gate():
        gates["passes"] += 1
        if gates["passes"] == 7:
            flag.set()  # while the run is held

    for event in PlayedEngine.of(TRACES, 1e6).generate([], MODES[mode](), cancel=flag, gate=gate):
        seen.append(event)
    end, before = seen[-1], fold(seen[:-1])
    assert isinstance(end, RunFinished) and end.reason == "cancelled" and gates["passes"] == 7
    assert (end.passes, end.tokens, end.text) == (before.passes, before.count, before.text)
    assert seen[:-1] == list(play(TRACES / f"prose-{mode}.jsonl.gz"))[: len(seen) - 1]


def test_page_and_server_stay_as_large_as_they_were(browser):
    pytest.importorskip("gradio")
    from clover_viz.bench.app import soaked

    found, did = soaked(browser, SECONDS, TRACES)
    assert did["stopped"] and did["scrubbed"] and did["watched"] and did["cleared"]
    told = soak.report(found, {"cores": os.cpu_count(), "python": ""}, did)
    print(told["text"])
    assert told["verdict"] == "flat"
