"""Several things timed in turns, A B C A B C: what slows a machine for a while then slows all of them."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple


class Side(NamedTuple):
    """One thing to time. `prepare` is not timed; its result is what `run` gets."""

    run: Callable[[Any], Any]
    prepare: Callable[[], Any] = lambda: None


class Spread(NamedTuple):
    """A figure and the smallest and largest of its single rounds."""

    figure: float
    low: float
    high: float


def take_turns(
    sides: Mapping[str, Side], rounds: int, clock: Callable[[], float] = perf_counter, warmup: int = 1
) -> dict[str, list[float]]:
    """Seconds of every side in every round. The first `warmup` rounds are thrown away."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(warmup + rounds):
        for name, side in sides.items():
            given = side.prepare()
            began = clock()
            side.run(given)
            taken = clock() - began
            if turn >= warmup:
                seconds[name].append(taken)
    return seconds


def ratio(above: Sequence[float], below: Sequence[float]) -> Spread:
    """Median over median; low and high are those of the ratios within one round."""
    rounds = [a / b for a, b in zip(above, below)]
    return Spread(median(above) / median(below), min(rounds), max(rounds))
