"""What recording a run costs, and telling every slot's likeliest tokens."""

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from clover_viz.bench.report import Row
from clover_viz.bench.timing import Side, ratio, take_turns
from clover_viz.settings import DenoiseSettings
from clover_viz.trace.store import record

ROUNDS = 45  # a run takes a fraction of a second, and a round differs from the next by far more than recording costs
FILES = {"recorded": "run.jsonl", "recorded, gzipped": "run.jsonl.gz"}
ALONE = "not recorded"
TOLD = "with three candidates a slot"


def measure(
    engine, messages: Sequence[dict], limit: int, rounds: int = ROUNDS, clock=perf_counter
) -> dict[str, list[float]]:
    """Seconds of a prompt's denoising, whose events are the largest: not recorded, into each kind of file, and with
    the likeliest tokens of every slot."""

    def events(top=False):
        return engine.generate(messages, DenoiseSettings(), max_new_tokens=limit, top=top)

    with TemporaryDirectory() as folder:

        def recorded(name):
            return Side(lambda _: deque(record(events(), Path(folder) / name), maxlen=0))

        sides = {ALONE: Side(lambda _: deque(events(), maxlen=0)), TOLD: Side(lambda _: deque(events(True), maxlen=0))}
        return take_turns(sides | {way: recorded(name) for way, name in FILES.items()}, rounds, clock)


def rows(seconds: dict[str, list[float]]) -> list[Row]:
    """Recording to a plain file has a target; gzip and the candidates are told beside it."""
    targets = dict.fromkeys((*FILES, TOLD)) | {"recorded": 1.02}
    return [Row(f"run {way} / {ALONE}", ratio(seconds[way], seconds[ALONE]), target) for way, target in targets.items()]
