"""The time of a run: what it waits for at a gate, or in a consumer's hands, is left out."""

from collections.abc import Callable
from time import perf_counter


class Stopwatch:
    """Seconds that were not paused; starts running."""

    def __init__(self):
        self._sum, self._since = 0.0, perf_counter()

    def resume(self) -> None:
        self._since = perf_counter()

    def pause(self) -> None:
        self._sum += perf_counter() - self._since

    def outside(self, call: Callable[[], object]) -> Callable[[], None]:
        """The same call, its time left out."""

        def paused() -> None:
            self.pause()
            try:
                call()
            finally:
                self.resume()

        return paused

    def seconds(self) -> float:
        """Up to now, asked while it runs."""
        return self._sum + perf_counter() - self._since
