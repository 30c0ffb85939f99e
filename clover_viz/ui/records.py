"""Events in the short form the browser keeps: what a board draws and nothing else, one JSON text an event.

A record carries a step's decisions and only the slots that can have changed (a committed slot never does), so a
step costs a few hundred bytes, and the append-only list of a run's records holds all that scrubbing needs.
Keys: `k` kind, `b` block or round, `s` step, `w` rows of [slot, token id, token, confidence], `c` slots committed,
`f` forced, `g` what was given, `v` checks of [probability, entropy, bar], `x` experts, `t` experts of a causal pass.
Where an event tells the likeliest tokens, its row or check ends with a list of [token, probability].
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from clover_viz.events import (
    BlockOpened,
    Denoised,
    Drafted,
    Event,
    Prefilled,
    Replayed,
    RunFinished,
    RunStarted,
    TokenDecoded,
    Verified,
)


def record(event: Event) -> str | None:
    """The event's record as compact JSON, or None for an event the board does not draw (text)."""
    match event:
        case Denoised():
            body = _denoised(event)
        case Drafted():
            body = {"k": "draft", "b": event.round, "s": event.step, "at": event.start}
            body["g"] = [event.boundary.token_id, event.boundary.token]
            body["w"] = [[d.slot, d.token_id, d.token, _round(d.confidence), *_top(d)] for d in event.drafts]
            body |= {"x": _experts(event.experts), "ms": _round(event.ms)}
        case Verified():
            b = event.boundary
            body = {"k": "verify", "b": event.round, "n": event.accepted}
            body["v"] = [
                [_round(c.probability), _round(c.entropy, 3), c.bar and _round(c.bar), *_top(c)] for c in event.checks
            ]
            body["w"] = [b.token_id, b.token, _round(b.probability)]
            body |= {"t": [layer.touched for layer in event.experts], "ms": _round(event.ms)}
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
            rows.append([*row, *_top(slot)])
    body = {"k": "step", "b": event.block, "s": event.step, "c": list(event.committed), "w": rows}
    if given and event.step == 1:  # they never change
        body["g"] = given
    if event.forced:
        body["f"] = 1
    body |= {"x": _experts(event.experts), "ms": _round(event.ms)}
    return body


def _experts(layers) -> list[list]:
    return [
        [layer.touched for layer in layers],
        [layer.kept for layer in layers],
        [_round(layer.rerouted, 2) for layer in layers],
    ]


def _top(told) -> list[list[list]]:
    """Nothing, or one list of the likeliest tokens."""
    return [] if told.top is None else [[[t.token, _round(t.p)] for t in told.top]]


def _round(value: float, digits: int = 4) -> float:
    return round(value, digits)
