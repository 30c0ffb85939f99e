"""What the lesson's pictures draw: recorded runs as the page's compact records, and what is worked out from them.

A file that is missing or cannot be read becomes {"problem": one line}; the picture that needs it shows that line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from clover_viz.errors import UserError
from clover_viz.events import Denoised, Event, Prefilled, Replayed, RunStarted, Verified
from clover_viz.trace.store import play
from clover_viz.ui.lesson.errors import find_error
from clover_viz.ui.lesson.model import history_heads, model_facts, scores
from clover_viz.ui.lesson.rules import CARDS, REPORTED
from clover_viz.ui.records import record

ASSETS = Path(__file__).resolve().parents[3] / "assets"
TRACES, MODEL = ASSETS / "traces", ASSETS / "clover-tiny"
STORIES = ("agent", "list", "prose")
MODES = ("autoregressive", "denoise", "speculative")
ROUNDS = 6  # of a speculative run: a picture shows one at a time, and a long run has dozens


def picture_data(traces: Path = TRACES, model: Path = MODEL) -> dict[str, Any]:
    """Plain JSON values, by what they are: `runs`, `sure`, `passes`, `error`, `facts`, `heads`, `scores`, `cards`."""
    events = {
        f"{story}-{mode}": _guarded(lambda: list(play(traces / f"{story}-{mode}.jsonl.gz")))
        for story in STORIES
        for mode in MODES
    }
    return {
        "runs": {name: _problem(found) or _records(name, found) for name, found in events.items()},
        "sure": {
            name: _problem(found) or confidences(_first_block(found))
            for name, found in events.items()
            if name.endswith("-denoise")
        },
        "passes": _guarded(lambda: longest_passes(_read(events))),
        "error": _guarded(lambda: find_error(_read(events))),
        "facts": _guarded(lambda: model_facts(model)),
        "heads": _guarded(lambda: history_heads(model)),
        "scores": _guarded(lambda: scores(model)),
        "cards": {card: [speed, REPORTED[card]] for card, speed in CARDS.items()},
    }


def confidences(events: Sequence[Event]) -> list[list[float | None]]:
    """By step: the confidence of every slot that was open, not rounded as a record rounds it; None for the others."""
    return [
        [slot.confidence if slot.state == "masked" or slot.slot in event.committed else None for slot in event.slots]
        for event in events
        if isinstance(event, Denoised)
    ]


def longest_passes(runs: dict[str, list[Event]]) -> dict[str, Any]:
    """{run, passes} of the denoise run with most replays; a pass is [kind, block, step, slots committed, tokens in the
    cache after it]."""
    names = [name for name in runs if name.endswith("-denoise")]
    if not names:
        raise UserError("none of the recorded denoise runs can be read")
    name = max(names, key=lambda name: sum(isinstance(event, Replayed) for event in runs[name]))
    passes: list[list] = []
    cached = 0
    for event in runs[name]:
        match event:
            case Prefilled(tokens=tokens):
                cached += tokens
                passes.append(["prefill", 0, 0, 0, cached])
            case Denoised(block=block, step=step, committed=committed):
                passes.append(["preview", block, step, len(committed), cached])
            case Replayed(block=block, tokens=tokens):
                cached += tokens
                passes.append(["replay", block, 0, 0, cached])
    return {"run": name, "passes": passes}


def _records(name: str, events: Sequence[Event]) -> dict[str, Any]:
    """{mode, whole, records}. A long run is shown by its beginning: the first block, or the first rounds."""
    shown = _first_rounds(events) if name.endswith("-speculative") else _first_block(events)
    started = events[0]
    assert isinstance(started, RunStarted)  # `play` holds it
    return {
        "mode": started.mode,
        "whole": len(shown) == len(events),
        "records": [json.loads(text) for text in map(record, shown) if text],
    }


def _first_block(events: Sequence[Event]) -> Sequence[Event]:
    for at, event in enumerate(events):
        if isinstance(event, Replayed):
            return events[: at + 1]
    return events


def _first_rounds(events: Sequence[Event]) -> Sequence[Event]:
    for at, event in enumerate(events):
        if isinstance(event, Verified) and event.round == ROUNDS:
            return events[:at]
    return events


def _read(events: dict[str, Any]) -> dict[str, list[Event]]:
    return {name: found for name, found in events.items() if not _problem(found)}


def _guarded(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except UserError as problem:
        return {"problem": str(problem)}


def _problem(found: Any) -> dict[str, str] | None:
    return found if isinstance(found, dict) and "problem" in found else None
