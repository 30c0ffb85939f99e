"""What an event says, in a line of plain words."""

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

ENDINGS = {
    "end": "ended by the model",
    "length": "ended by the length limit",
    "stop": "ended by a stop text",
    "cancelled": "cancelled",
}


def describe(canvas, event: Event) -> str | None:
    """`canvas` is the state after the event. None for events that say nothing of their own (text)."""
    match event:
        case RunStarted():
            return f"{event.mode} mode, {event.model} on {event.device}, kernels {event.kernels.name}"
        case Prefilled(tokens=n):
            return f"prompt in the cache: {_n(n, 'token')}"  # a later turn's pass reads only what is new
        case BlockOpened():
            return f"block {event.block}: {event.slots} masks from position {event.start}"
        case Denoised():
            return _denoised(canvas, event)
        case Replayed():
            return f"block {event.block}: {_n(event.tokens, 'token')} replayed into the cache"
        case Drafted():
            return f"round {event.round}: {_n(len(event.drafts), 'draft')} after {event.boundary.token!r}"
        case Verified():
            return f"round {event.round}: {event.accepted} of {_n(len(event.checks), 'draft')} accepted"
        case TokenDecoded():
            return f"position {event.position}: {event.token!r} at {event.probability:.2f}"
        case RunFinished():
            return finish_line(event)
    return None


def _denoised(canvas, event: Denoised) -> str:
    threshold = canvas.run.settings.get("threshold") if canvas.run else None
    bar = "the threshold" if threshold is None else f"{threshold:g}"
    left = f"; {canvas.block.left} left"
    if event.forced:
        return f"block {event.block} step {event.step}: none over {bar}, the most confident slot committed{left}"
    return f"block {event.block} step {event.step}: {_n(len(event.committed), 'slot')} over {bar}{left}"


def finish_line(event: RunFinished) -> str:
    counts = ", ".join(f"{n} {kind}" for kind, n in vars(event.passes).items() if n)
    line = f"{ENDINGS[event.reason]}: {_n(event.tokens, 'token')}, passes: {counts or 'none'}"
    if event.tokens_per_pass is not None:
        line += f"; {event.tokens_per_pass:.2f} tokens a pass"
    return f"{line}; {event.tokens_per_second:.1f} tokens/s"


def _n(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
