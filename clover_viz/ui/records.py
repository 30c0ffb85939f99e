"""Events in the short form the browser keeps: what a board draws and nothing else, one JSON text an event.

A record carries a step's decisions and only the slots that can have changed (a committed slot never does), so a
step costs a few hundred bytes, and the append-only list of a run's records holds all that scrubbing needs.
Keys: `k` kind, `b` block, `s` step, `w` rows of [slot, token id, token, confidence], `c` slots committed, `f` forced.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from clover_viz.events import BlockOpened, Denoised, Event, Prefilled, Replayed, RunFinished, RunStarted, TokenDecoded


def record(event: Event) -> str | None:
    """The event's record as compact JSON, or None for an event the board does not draw (text)."""
    match event:
        case Denoised():
            body = _denoised(event)
        case TokenDecoded():
            row = [event.token_id, event.token, _round(event.probability)]
            body = {"k": "token", "p": event.position, "w": row, "ms": _round(event.ms)}
        case BlockOpened():
            body = {"k": "open", "b": event.block, "at": event.start, "n": event.slots}
        case Replayed():
            body = {"k": "replay", "b": event.block, "n": event.tokens, "ms": _round(event.ms)}
        case Prefilled():
            body = {"k": "prefill", "n": event.tokens, "ms": _round(event.ms)}
        case RunStarted():
            body = {"k": "run", "mode": event.mode, "prompt": event.prompt_tokens, "set": dict(event.settings)}
        case RunFinished():
            body = {
                "k": "end",
                "reason": event.reason,
                "tokens": event.tokens,
                "passes": asdict(event.passes),
                "per": event.tokens_per_pass,
                "rate": event.tokens_per_second,
                "sec": _round(event.seconds),
            }
        case _:
            return None
    return json_text(body)


def json_text(value: Any) -> str:
    """Compact JSON without a `<`, so that no text can look like markup to anything on its way to the page."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _denoised(event: Denoised) -> dict:
    fresh = set(event.committed)
    rows, given = [], []
    for slot in event.slots:
        row = [slot.slot, slot.token_id, slot.token, _round(slot.confidence)]
        if slot.state == "given":
            given.append(row)
        elif slot.state == "masked" or slot.slot in fresh:
            rows.append(row)
    body = {"k": "step", "b": event.block, "s": event.step, "c": list(event.committed), "w": rows}
    if given and event.step == 1:  # they never change
        body["g"] = given
    if event.forced:
        body["f"] = 1
    body["x"] = [
        [layer.touched for layer in event.experts],
        [layer.kept for layer in event.experts],
        [_round(layer.rerouted, 2) for layer in event.experts],
    ]
    body["ms"] = _round(event.ms)
    return body


def _round(value: float, digits: int = 4) -> float:
    return round(value, digits)
