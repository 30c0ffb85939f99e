"""The bench measures what it says it does: a toy model, a clock that is not one. Nothing here is timed."""

import json
from itertools import count

import pytest
import torch
from model_helpers import ids, toy_model
from scripted import MASK, VOCAB, ByteTokenizer

from clover_viz.__main__ import main
from clover_viz.bench import cli, cpu, memory, passes, report, runs
from clover_viz.bench.peer import Peer
from clover_viz.bench.report import Row
from clover_viz.bench.timing import Side, Spread, ratio, take_turns
from clover_viz.engine import Engine
from clover_viz.events import KernelChoice
from clover_viz.training.data import eval_prompts

PROMPTS = [[{"role": "user", "content": text}] for text in ("one", "two")]


class Clock:
    """Seconds that only pass when something says that it took some."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def takes(self, *seconds):
        each = iter(seconds)

        def run(_):
            self.now += next(each)

        return run


@pytest.fixture(scope="module")
def model():
    return toy_model(vocab_size=VOCAB, mask_token_id=MASK, block_size=32, num_hidden_layers=4)


@pytest.fixture(scope="module")
def peer(model):
    return Peer(model)


@pytest.fixture(scope="module")
def engine(model):
    return Engine(model, ByteTokenizer(), KernelChoice("reference", "asked for"), "toy")


# Taking turns


def test_sides_take_turns_and_the_warmup_is_thrown_away():
    clock, order = Clock(), []
    first, second = clock.takes(9, 1, 2), clock.takes(9, 2, 8)
    sides = {"a": Side(lambda _: (order.append("a"), first(_))), "b": Side(lambda _: (order.append("b"), second(_)))}
    assert take_turns(sides, 2, clock, warmup=1) == {"a": [1, 2], "b": [2, 8]}
    assert "".join(order) == "ababab"


def test_what_is_prepared_is_not_timed():
    clock = Clock()
    slow = clock.takes(100, 100)
    given = []
    side = Side(lambda what: (given.append(what), clock.takes(1)(None)), lambda: (slow(None), "a copy")[1])
    assert take_turns({"a": side}, 2, clock, warmup=0) == {"a": [1, 1]}
    assert given == ["a copy", "a copy"]


def test_a_ratio_is_of_medians_and_its_spread_of_rounds():
    assert ratio([1, 4, 3], [2, 2, 2]) == Spread(1.5, 0.5, 2.0)


# Rows


@pytest.mark.parametrize(
    "figure, options, verdict",
    [
        (0.8, dict(target=0.8), "met"),
        (0.85, dict(target=0.8), "missed by 0.05"),
        (1.4, dict(target=1.5, at_most=False), "missed by 0.10"),
        (1.6, dict(target=1.5, goal=2.0, at_most=False), "met, goal missed by 0.40"),
        (2.0, dict(target=1.5, goal=2.0, at_most=False), "met"),
        (7.0, dict(), ""),
    ],
)
def test_the_verdict_of_a_row(figure, options, verdict):
    row = Row("x", Spread(figure, figure, figure), **options)
    assert row.verdict() == verdict == row.as_dict()["verdict"]


def test_a_table_shows_figure_spread_target_and_goal():
    row = Row("speed", Spread(1.6, 1.5, 1.75), 1.5, 2.0, at_most=False, note="why")
    _, line, note = report.table([row]).splitlines()
    assert [part.strip() for part in line.split("  ") if part] == [
        "speed", "1.60", "1.50 .. 1.75", ">= 1.5", ">= 2", "met, goal missed by 0.40",
    ]  # fmt: skip
    assert note.strip() == "why"


# The peer


def test_the_peer_is_the_same_model(model, peer):
    tokens = ids(24, vocab=VOCAB)
    cache, theirs = model.new_cache(), peer.prefilled(tokens[:20])
    model.prefill(tokens[:20], cache)
    for _ in range(2):  # from the same cache twice: a copy is a copy
        wanted = peer.causal(tokens[20:], peer.copy(theirs))
        got = model.causal(tokens[20:], cache).logits
        known = [i for i in range(VOCAB) if i != MASK]
        assert (got - wanted)[:, known].abs().max() < 1e-3


def test_the_peer_writes_as_many_tokens_as_asked_for(peer):
    assert len(peer.generate(ids(5, vocab=VOCAB), 7)) == 7


# The whole bench


@pytest.fixture(scope="module")
def found(engine):
    ticks = count()
    return cpu.run(
        engine, PROMPTS, report.machine(1, "float32"), context=40, pass_rounds=2, run_rounds=1, memory_runs=2,
        max_new_tokens=4, clock=lambda: float(next(ticks)),
    )  # fmt: skip


def test_every_target_is_there(found):
    wanted = {row["name"]: (row["target"], row["goal"]) for row in found["rows"] if row["target"]}
    assert wanted == {
        "causal pass of 32 / transformers'": (0.8, None),
        "preview of 32 / decode step": (2.5, None),
        "causal pass of 32 / decode step": (3.0, None),
        "one token at a time, tokens/s / transformers'": (1.5, None),
        "denoise at 0.95, tokens/s / one token at a time": (1.5, 2.0),
    }
    names = [row["name"] for row in found["rows"]]
    assert all(f"{kind} of {n} / decode step" in names for kind in ("preview", "causal pass") for n in (4, 8, 16))


def test_one_tick_a_measurement_makes_every_pass_ratio_one(found):
    assert all(row["measured"]["figure"] == 1 for row in found["rows"] if "decode step" in row["name"])
    assert set(found["pass_milliseconds"].values()) == {1000.0}


def test_the_text_says_where_and_what(found):
    text = found["text"]
    torch_version = torch.__version__.split("+")[0]
    for part in (f"torch {torch_version}", "transformers ", "1 thread,", "cores", "target", "tokens per pass"):
        assert part in text, part
    for part in ("to break even", "median ms of a pass", "resident memory"):
        assert part in text, part


def test_runs_count_tokens_and_passes(engine, peer):
    one = runs.measure(engine, peer, PROMPTS[:1], rounds=1, limit=4)[0]
    assert 1 <= one.decoded_tokens <= 4 and one.denoised_tokens <= 4
    assert 1 <= one.previews <= 32 and one.replays == 0
    assert one.one_by_one_seconds > 0 and one.denoised_seconds > 0


def test_break_even_weighs_the_passes_as_they_were_mixed():
    one = runs.Round(10, 1.0, 10, 1.0, 1, 60, 1.0, previews=30, replays=10)
    seconds = {"preview 32": [2.0], "causal 32": [4.0], "decode": [1.0]}
    assert "1.50 measured, 2.50 to break even" in runs.break_even([one], seconds, 32)


def test_passes_leave_the_cache_alone_between_rounds(model, peer):
    text = ids(passes.WIDTH + 20, vocab=VOCAB).tolist()
    seconds = passes.measure(model, peer, text, rounds=1)
    assert {len(values) for values in seconds.values()} == {1}


def test_memory_is_read_before_after_one_and_after_all():
    read = iter([100 * 2**20, 150 * 2**20, 151 * 2**20])
    done = []
    found = memory.over_runs(done.append, 5, lambda: next(read))
    assert done == [0, 1, 2, 3, 4]
    assert "100 MiB with the model loaded, 150 after 1 run, 151 after 5" in memory.line(found, 5)
    assert "+1.0 MiB" in memory.line(found, 5)
    assert "does not tell" in memory.line(memory.over_runs(done.append, 2, lambda: None), 2)


def test_prompts_are_the_first_ones_never_chosen():
    assert cpu.held_out(3) == [list(prompt.messages) for prompt in eval_prompts("agent", 3)]


# The command


@pytest.mark.parametrize(
    "argv, says",
    [
        (["gpu"], "bench must be one of cpu, got 'gpu'"),
        (["cpu", "--threads", "0"], "--threads must be a whole number of at least 1, got 0"),
        (["cpu", "--prompts", "few"], "--prompts must be a whole number of at least 1, got 'few'"),
        (["cpu", "--model", "no/such"], "--model must be a folder with a checkpoint (config.json), got 'no/such'"),
    ],
)
def test_bad_values_are_one_line_and_exit_2(capsys, argv, says):
    assert main(["bench", *argv]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err == f"error: {says}\n"


def test_a_json_file_holds_the_figures(tmp_path, monkeypatch, capsys):
    (tmp_path / "config.json").write_text("{}")
    file = tmp_path / "bench.json"
    monkeypatch.setattr(cli, "measure_cpu", lambda _, *given: {"text": "as text", "rows": list(given)})
    given = ["--model", str(tmp_path), "--threads", "2", "--prompts", "3", "--json", str(file)]
    assert main(["bench", "cpu", *given]) == 0
    assert capsys.readouterr().out == "as text\n"
    assert json.loads(file.read_text()) == {"rows": [2, 3]}
