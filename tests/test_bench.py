"""The bench measures what it says it does: a toy model, a clock that is not one. Nothing here is timed."""

import threading
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from model_helpers import ids, toy_model
from scripted import MASK, VOCAB, ByteTokenizer

from clover_viz.bench import cpu, memory, passes, recording, report, runs
from clover_viz.bench.paced import PacedEngine
from clover_viz.bench.peer import Peer
from clover_viz.bench.report import Row
from clover_viz.bench.timing import Side, Spread, ratio, take_turns
from clover_viz.engine import Engine
from clover_viz.errors import UserError
from clover_viz.events import BlockOpened, Denoised, KernelChoice, Replayed
from clover_viz.trace.canvas import fold
from clover_viz.trace.store import play
from clover_viz.training.data import eval_prompts

TRACES = Path(__file__).parent.parent / "assets" / "traces"
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
        recorded_rounds=1, max_new_tokens=4, clock=lambda: float(next(ticks)),
    )  # fmt: skip


def test_every_target_is_there(found):
    wanted = {row["name"]: (row["target"], row["goal"]) for row in found["rows"] if row["target"]}
    assert wanted == {
        "causal pass of 32 / transformers'": (0.8, None),
        "preview of 32 / decode step": (2.5, None),
        "causal pass of 32 / decode step": (3.0, None),
        "one token at a time, tokens/s / transformers'": (1.5, None),
        "denoise at 0.95, tokens/s / one token at a time": (1.5, 2.0),
        "speculative exact at block 32, tokens/s / one token at a time": (1.5, 2.5),
        "speculative exact at block 16, tokens/s / one token at a time": (1.5, 2.5),
        "speculative exact at block 32, tokens/s / transformers'": (2.5, None),
        "speculative exact at block 16, tokens/s / transformers'": (2.5, None),
        "speculative exact at block 32, tokens kept a round": (14, None),
        "speculative exact at block 16, tokens kept a round": (10, None),
        "verify of 32 / causal pass of 32 without advance": (1.1, None),
        "verify of 16 / causal pass of 16 without advance": (1.1, None),
        "advance by 17 / verify of 32": (0.1, None),
        "advance by 9 / verify of 16": (0.1, None),
        "run recorded / not recorded": (1.02, None),
    }
    by_at_most = {row["name"]: row["at_most"] for row in found["rows"]}
    assert not any(small for name, small in by_at_most.items() if "tokens" in name)
    assert all(small for name, small in by_at_most.items() if "tokens" not in name)
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
    for part in ("to break even", "median ms of a pass", "resident memory", "on 2 of 2 prompts both wrote the same"):
        assert part in text, part


def test_runs_count_tokens_and_passes(engine, peer):
    one = runs.measure(engine, peer, PROMPTS[:1], rounds=1, limit=4)[0]
    assert list(one) == [runs.ONE_BY_ONE, runs.TRANSFORMERS, runs.DENOISE, *runs.BLOCKS]
    assert all(1 <= tally.written <= 4 and tally.seconds > 0 for tally in one.values())
    denoised = one[runs.DENOISE]
    assert denoised.tokens <= 4 and 1 <= denoised.previews <= 32 and denoised.replays == denoised.verifies == 0
    for way in runs.BLOCKS:
        tally = one[way]
        assert tally.same == 1 and tally.written == one[runs.ONE_BY_ONE].written == one[runs.TRANSFORMERS].written
        assert tally.later == tally.tokens - 1 and tally.previews == tally.verifies >= 1


def round_of(**ways):
    return {getattr(runs, name, name.replace("_", " ")): runs.Tally(*numbers) for name, numbers in ways.items()}


def test_break_even_weighs_the_passes_as_they_were_mixed():
    one = round_of(DENOISE=(1.0, 60, 60, 59, 1, 30, 10))
    seconds = {"preview 32": [2.0], "causal 32": [4.0], "decode": [1.0]}
    assert "1.50 measured, 2.50 to break even" in runs.break_even([one], seconds, 32)


def test_a_round_breaks_even_at_what_its_passes_cost():
    seconds = {"preview 16": [2.0, 9.0, 1.0], "verify 16": [4.0], "advance 16": [0.5], "decode": [0.5]}
    assert runs.round_break_even(seconds, 16).startswith("13.00 to break even")


def test_rows_of_answers_by_hand():
    """Rates count end tokens; a round's tokens do not count the first one of each text."""
    one = round_of(
        ONE_BY_ONE=(2.0, 99, 100, 98, 1), TRANSFORMERS=(5.0, 0, 100, 0, 1), DENOISE=(1.0, 80, 80, 79, 0, 30, 10),
        speculative_exact_at_block_32=(0.5, 99, 100, 98, 1, 7, 0, 7),
        speculative_exact_at_block_16=(1.0, 99, 100, 98, 1, 14, 0, 14),
    )  # fmt: skip
    seconds = {f"{kind} {n}": [1.0] for kind in ("preview", "causal", "verify", "advance") for n in (16, 32)}
    got = {row.name: row for row in runs.rows([one, one], 1, seconds | {"decode": [0.5]}, 32)}
    figures = {name: row.measured.figure for name, row in got.items()}
    assert figures == {
        "one token at a time, tokens/s / transformers'": 2.5,
        "denoise at 0.95, tokens/s / one token at a time": 1.6,
        "speculative exact at block 32, tokens/s / one token at a time": 4.0,
        "speculative exact at block 16, tokens/s / one token at a time": 2.0,
        "speculative exact at block 32, tokens/s / transformers'": 10.0,
        "speculative exact at block 16, tokens/s / transformers'": 5.0,
        "speculative exact at block 32, tokens kept a round": 14.0,
        "speculative exact at block 16, tokens kept a round": 7.0,
    }
    verdicts = {name: row.verdict() for name, row in got.items()}
    assert verdicts["speculative exact at block 16, tokens/s / one token at a time"] == "met, goal missed by 0.50"
    assert verdicts["speculative exact at block 16, tokens kept a round"] == "missed by 3.00"
    assert "6.00 to break even" in got["speculative exact at block 32, tokens kept a round"].note


def test_a_text_of_one_token_has_no_round_to_count():
    one = round_of(ONE_BY_ONE=(1.0, 1, 1, 0, 1), TRANSFORMERS=(1.0, 0, 1, 0, 1), DENOISE=(1.0, 1, 1, 0, 1, 1, 0),
                   speculative_exact_at_block_32=(1.0, 1, 1, 0, 1),
                   speculative_exact_at_block_16=(1.0, 1, 1, 0, 1))  # fmt: skip
    seconds = {"preview 32": [1.0], "causal 32": [1.0], "decode": [1.0]}
    assert not [row for row in runs.rows([one], 1, seconds, 32) if "round" in row.name]


def test_recording_is_measured_against_the_same_run_without(engine):
    seconds = recording.measure(engine, PROMPTS[0], limit=4, rounds=1)
    assert list(seconds) == ["not recorded", "with three candidates a slot", "recorded", "recorded, gzipped"]
    costs = dict(zip(seconds, ([1.0], [1.2], [1.01], [1.5])))
    plain, zipped, told = recording.rows(costs)
    assert (plain.verdict(), zipped.target, zipped.measured.figure) == ("met", None, 1.5)
    assert (told.target, told.measured.figure) == (None, 1.2)


def test_a_paced_engine_repeats_a_recorded_run_as_one_long_one():
    trace = list(play(TRACES / "prose-denoise.jsonl.gz"))
    once = sum(isinstance(event, (Denoised, Replayed)) for event in trace)
    engine = PacedEngine(trace, passes=2 * once + 5, pace=1e6)
    events = list(engine.generate([], None))
    canvas = fold(events)
    opened = [event for event in events if isinstance(event, BlockOpened)]
    assert [event.block for event in opened] == list(range(len(opened)))
    assert [event.start for event in opened] == sorted({event.start for event in opened})
    assert canvas.finished.passes.preview == 2 * once + 5 and len(engine.reached) == 1
    assert canvas.finished.reason == "length"
    flag = threading.Event()
    flag.set()
    stopped = list(engine.generate([], None, cancel=flag))
    assert stopped[-1].reason == "cancelled" and stopped[-1].passes.preview == 0 and len(engine.reached) == 1


def test_a_paced_engine_is_late_when_its_consumer_is():
    engine = PacedEngine(list(play(TRACES / "prose-denoise.jsonl.gz")), passes=6, pace=100)
    for event in engine.generate([], None):
        if isinstance(event, Denoised):
            time.sleep(0.15)
    assert engine.reached[0] < 10  # 6 passes held for 0.15 s each


def test_a_model_without_those_blocks_is_refused_before_any_pass(engine):
    small = SimpleNamespace(model=SimpleNamespace(config=SimpleNamespace(block_size=8)))
    with pytest.raises(UserError, match="block_size must be one of 2, 4, 8 for this model, got 16"):
        cpu.run(small, PROMPTS, {})


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
