"""The example runs that ship with the app: fixed prompts in every mode, recorded as traces."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clover_viz.engine import Engine
from clover_viz.events import RunFinished
from clover_viz.examples import LIST, PROSE, TOOL_CALL
from clover_viz.settings import MODES
from clover_viz.trace.store import record

class Example(NamedTuple):
    """`prompt`: messages, or with `raw` a text to go on from."""

    name: str
    prompt: Any
    raw: bool = False


EXAMPLES = (
    Example("agent", TOOL_CALL.messages),
    Example("list", LIST.messages),
    Example("prose", PROSE.prompt, raw=PROSE.raw),
)


class Recorded(NamedTuple):
    """A trace that was written. size: bytes of the file."""

    file: Path
    finished: RunFinished
    size: int

    @property
    def bytes_a_step(self) -> float | None:
        """Over all passes but prefill; None when there was none."""
        passes = self.finished.passes.after_prefill
        return self.size / passes if passes else None


def record_all(
    engine: Engine,
    folder: Path,
    max_new_tokens: int,
    seed: int = 0,
    examples: Sequence[Example] = EXAMPLES,
    told: Callable[[Recorded], None] = lambda recorded: None,
) -> list[Recorded]:
    """Writes EXAMPLE-MODE.jsonl.gz for every example and mode into a folder that exists.

    Apart from timings the events are the same every time. A file is replaced only by a whole run. Raises UserError
    before the first pass when a prompt has no room.
    """
    # The model's own block in both block modes, whatever a device speculates with: the runs are there to be compared.
    block = {"block_size": engine.checkpoint["block_size"]}
    runs = {
        folder / f"{example.name}-{mode}.jsonl.gz": engine.generate(
            example.prompt, settings(**(block if hasattr(settings, "block_size") else {})), max_new_tokens, seed=seed,
            raw=example.raw,
        )
        for example in examples
        for mode, settings in MODES.items()
    }  # fmt: skip
    done = []
    for file, run in runs.items():
        events = list(run)
        for _ in record(events, file):
            pass
        done.append(Recorded(file, events[-1], file.stat().st_size))
        told(done[-1])
    return done
