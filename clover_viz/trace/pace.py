"""Playing events at the speed they happened, or slower, or faster."""

import time
from collections.abc import Callable, Iterable, Iterator

from clover_viz.events import Event


def pace(
    events: Iterable[Event], speed: float = 1.0, sleep: Callable[[float], object] = time.sleep
) -> Iterator[Event]:
    """Holds each event back for its own `ms` divided by `speed`; speed 0 is as fast as they come."""
    for event in events:
        ms = getattr(event, "ms", 0.0)
        if speed > 0 and ms > 0:
            sleep(ms / 1000 / speed)
        yield event
