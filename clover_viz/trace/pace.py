"""Playing events at the speed they happened, or slower, or faster."""

import time
from collections.abc import Callable, Iterable, Iterator

from clover_viz.events import Event

LONGEST = 86_400.0  # seconds of a wait; far more than that, sleep refuses


def pace(
    events: Iterable[Event], speed: float = 1.0, sleep: Callable[[float], object] = time.sleep
) -> Iterator[Event]:
    """Holds each event back for its own `ms` divided by `speed`; speed 0 is as fast as they come."""
    for event in events:
        ms = getattr(event, "ms", 0.0)
        if speed > 0 and ms > 0:
            sleep(min(ms / 1000 / speed, LONGEST))
        yield event
