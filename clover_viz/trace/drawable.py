"""What a view relies on beyond what `store` says of traces: places that exist, and passes that end."""

from __future__ import annotations

from clover_viz.events import (
    BlockOpened,
    Denoised,
    Drafted,
    Event,
    Replayed,
    RunStarted,
    TokenDecoded,
    Verified,
    event_name,
)

WIDEST = 1024  # slots of a block
LONGEST = 86_400_000  # milliseconds of a pass: a day


class Drawable:
    """Holds the events of one run, in order, to what a board can draw. `take` raises ValueError, in one line."""

    def __init__(self):
        self._mode = ""
        self._size = 0  # slots of the block or round that is open
        self._last: int | None = None  # position of the token before, where one comes at a time

    def take(self, event: Event) -> None:
        modes, name, ms = MODES_OF.get(type(event)), event_name(type(event)), getattr(event, "ms", 0.0)
        _hold(modes is None or self._mode in modes, f"{name} must be of {modes} mode", self._mode)
        _hold(0 <= ms <= LONGEST, f"{name}.ms must be in [0, {LONGEST}]", ms)
        match event:
            case RunStarted(mode=mode, settings=settings):
                self._mode = mode
                bar = settings.get("threshold", 0.0)
                _hold(isinstance(bar, (int, float)), "settings.threshold must be a number", repr(bar))
                _hold(0 <= bar <= 1, "settings.threshold must be in [0, 1]", bar)
            case BlockOpened(slots=slots):
                _hold(1 <= slots <= WIDEST, f"slots must be in [1, {WIDEST}]", slots)
                self._open(slots)
            case Denoised(slots=slots, committed=committed):
                _hold([slot.slot for slot in slots] == [*range(self._size)], "slots must be in order", "others")
                _hold(all(0 <= at < self._size for at in committed), "committed must be slots of the block", committed)
            case Drafted(step=step, drafts=drafts):
                _hold(step == 1 or self._size > 0, "a round must begin with step 1", step)
                if step == 1:
                    _hold(len(drafts) < WIDEST, f"drafts must be fewer than {WIDEST}", len(drafts))
                    self._open(len(drafts) + 1)
                at = [draft.slot for draft in drafts]
                _hold(all(1 <= slot < self._size for slot in at), "drafts must be of slots of the round", at)
            case Verified(checks=checks, accepted=accepted, boundary=boundary):
                _hold(len(checks) == self._size - 1, f"checks must be {self._size - 1}, one a draft", len(checks))
                _hold(0 <= accepted <= len(checks), f"accepted must be in [0, {len(checks)}]", accepted)
                _hold(boundary.probability is not None, "boundary.probability must be told", None)
            case Replayed(tokens=tokens):
                _hold(self._size > 0 and tokens >= 0, "replayed must follow the block it replays", tokens)
            case TokenDecoded(position=position):
                _hold(self._last is None or position > self._last, "position must not go back", position)
                self._last = position

    def _open(self, size: int) -> None:
        self._size, self._last = size, None


MODES_OF = {
    BlockOpened: "denoise",
    Denoised: "denoise",
    Replayed: "denoise",
    Drafted: "speculative",
    Verified: "speculative",
    TokenDecoded: "autoregressive or speculative",
}


def _hold(held: bool, wanted: str, got: object) -> None:
    if not held:
        raise ValueError(f"{wanted}, got {got}")
