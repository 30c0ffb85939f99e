"""One run: the engine on its own thread, its events folded and recorded, and frames for whoever draws them.

The thread never waits for a reader. A reader takes what came since it last looked, so a slow page makes frames
larger and fewer and the run no slower.
"""

from __future__ import annotations

import logging
import secrets
import threading
from contextlib import closing

from clover_viz.errors import ContextFull
from clover_viz.events import Event
from clover_viz.settings import Limits, Settings
from clover_viz.trace.canvas import Canvas
from clover_viz.ui.records import json_text, record
from clover_viz.ui.runs.desk import Desk, one_line
from clover_viz.ui.runs.pacing import Pacing

log = logging.getLogger(__name__)
WHOLE = "; the whole conversation counts, and Clear begins a new one"


class Run:
    """One generation at a desk. `start()` it once; `cancel()` it from anywhere, any number of times.

    raw: the last message is no turn but a text that the model goes on from; there are no others.
    """

    def __init__(
        self,
        desk: Desk,
        messages: list[dict[str, str]],
        settings: Settings,
        limits: Limits,
        speed: str = "full",
        top: bool = False,
        raw: bool = False,
    ):
        self.id = secrets.token_hex(4)
        self.canvas = Canvas()
        self.error: str | None = None
        self.done = threading.Event()
        self.started = False
        self._desk = desk
        self.messages = messages
        self._call = (messages[-1]["content"] if raw else messages, settings)
        self._top, self.raw = top, raw
        self._limits = limits.as_dict()  # max_new_tokens, stop, seed
        self._cancel = threading.Event()
        self.pacing = Pacing(speed, self._cancel, desk.others_wait)
        self._running = False
        self.events: list[Event] | None = []  # None once the run lies on a shelf as a trace
        self._records: list[str] = []  # append-only; list.append and slices are atomic, so no lock

    def start(self) -> None:
        """Queues at the desk on a thread of its own."""
        self.started = True
        threading.Thread(target=self._work, name=f"run-{self.id}", daemon=True).start()

    def cancel(self) -> None:
        """Asks for the end: no further pass is started. Safe after the end too."""
        self._cancel.set()

    @property
    def state(self) -> str:
        """`waiting`, `running`, `error`, `stopped` or `finished`."""
        if self.done.is_set():
            whole = self.canvas.reason not in (None, "cancelled")
            return "error" if self.error else "finished" if whole else "stopped"
        return "running" if self._running else "waiting"

    @property
    def note(self) -> str:
        """A line for the visitor while there are no events to look at, or none come by themselves; or what failed."""
        state = self.state
        if state == "error":
            return self.error
        if state == "running":
            return self.pacing.note
        if state != "waiting":
            return ""
        ahead = self._desk.ahead(self._cancel)
        runs = f"{ahead} {'run' if ahead == 1 else 'runs'}"
        if self._desk.state == "loading":
            if ahead:
                return f"Loading {self._desk.name}; {runs} ahead of yours then."
            return f"Loading {self._desk.name}; your message goes first as soon as it is ready."
        return f"Waiting for the model: {runs} ahead of yours." if ahead else ""

    @property
    def length(self) -> int:
        """How many records there are so far."""
        return len(self._records)

    def frame(self, start: int = 0) -> tuple[str, int]:
        """(JSON text of the state and of the records from `start` on, number of records it brings the reader to)."""
        state = self.state  # before the records: a frame that says finished then carries all of them
        records = self._records[start:]
        head = json_text(
            {"run": self.id, "state": state, "note": self.note, "held": self.pacing.held, "from": start}
        )
        return f'{head[:-1]},"records":[{",".join(records)}]}}', start + len(records)

    def _work(self) -> None:
        try:
            with self._desk.turn(self._cancel) as engine:
                if engine is None:
                    return
                self._running = True
                ways = {"cancel": self._cancel, "gate": self.pacing.gate, "top": self._top, "raw": self.raw}
                with closing(engine.generate(*self._call, **ways, **self._limits)) as events:
                    for event in events:
                        self._take(event)
        except (ValueError, RuntimeError) as problem:
            self.error = one_line(problem)
            if isinstance(problem, ContextFull) and any(message["role"] == "assistant" for message in self.messages):
                self.error += WHOLE
        except Exception as problem:  # a fault of ours: the visitor gets a line, the log gets the rest
            log.exception("run %s failed", self.id)
            self.error = one_line(problem)
        finally:
            self.done.set()

    def _take(self, event: Event) -> None:
        self.canvas = self.canvas.apply(event)
        if self.events is not None:
            self.events.append(event)
        line = record(event)
        if line is not None:
            self._records.append(line)
