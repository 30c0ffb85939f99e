"""`bench cpu`: the embedded model's passes and answers on this machine's cores."""

from collections.abc import Sequence
from itertools import cycle
from time import perf_counter
from typing import Any

from clover_viz.bench import memory, passes, recording, report, runs
from clover_viz.bench.peer import Peer
from clover_viz.settings import AutoregressiveSettings, DenoiseSettings, SpeculativeSettings, check_block_size
from clover_viz.training.data import eval_prompts

MEMORY_RUNS = 50
MEMORY_TOKENS = 32


def held_out(count: int) -> list[list[dict]]:
    """The first `count` agent prompts of the evaluation, in their order."""
    return [list(prompt.messages) for prompt in eval_prompts("agent", count)]


def run(
    engine,
    prompts: Sequence[Sequence[dict]],
    where: dict[str, Any],
    context: int = passes.CONTEXT,
    pass_rounds: int = passes.ROUNDS,
    run_rounds: int = runs.ROUNDS,
    recorded_rounds: int = recording.ROUNDS,
    memory_runs: int = MEMORY_RUNS,
    max_new_tokens: int = runs.MAX_NEW_TOKENS,
    clock=perf_counter,
    told=lambda line: None,
) -> dict[str, Any]:
    """Everything measured, as plain values; `told` gets one line before each part.

    Raises UserError for a model without the block sizes that are measured.
    """
    for size in runs.KEPT:
        check_block_size(SpeculativeSettings(block_size=size), engine.model.config.block_size)
    told(f"memory over {memory_runs} runs")
    remembered = memory.over_runs(lambda i: _short_run(engine, prompts[i % len(prompts)], i), memory_runs)
    peer = Peer(engine.model)  # after the memory, which would count it
    told(f"single passes, {pass_rounds} rounds")
    seconds = passes.measure(engine.model, peer, _text(engine, prompts, context + passes.WIDTH), pass_rounds, clock)
    told(f"answers to {len(prompts)} prompts, {run_rounds} rounds")
    found = runs.measure(engine, peer, prompts, run_rounds, max_new_tokens, clock)
    told(f"one run recorded and not, {recorded_rounds} rounds")
    recorded = recording.measure(engine, prompts[0], max_new_tokens, recorded_rounds, clock)
    rows = passes.rows(seconds) + runs.rows(found, len(prompts), seconds, passes.WIDTH) + recording.rows(recorded)
    return {
        "model": engine.name,
        "machine": where,
        "rows": [row.as_dict() for row in rows],
        "pass_milliseconds": passes.milliseconds(seconds),
        "tokens_per_second": runs.rates(found),
        "rounds": [{way: tally._asdict() for way, tally in r.items()} for r in found],
        "recording_seconds": recorded,
        "memory_bytes": remembered,
        "text": "\n".join([
            report.headline(engine.name, where),
            report.table(rows),
            _by_name("median ms of a pass", passes.milliseconds(seconds)),
            _by_name("tokens a second", runs.rates(found)),
            memory.line(remembered, memory_runs),
        ]),
    }  # fmt: skip


def _short_run(engine, messages: Sequence[dict], i: int) -> None:
    engine.complete(messages, (DenoiseSettings, AutoregressiveSettings)[i % 2](), max_new_tokens=MEMORY_TOKENS)


def _text(engine, prompts: Sequence[Sequence[dict]], length: int) -> list[int]:
    """The prompts one after the other, round and round, cut at `length` tokens."""
    ids: list[int] = []
    for messages in cycle(prompts):
        ids += engine.tokenizer.chat(list(messages))
        if len(ids) >= length:
            return ids[:length]


def _by_name(title: str, values: dict[str, float]) -> str:
    return f"{title}: " + ", ".join(f"{name} {value:g}" for name, value in values.items())
