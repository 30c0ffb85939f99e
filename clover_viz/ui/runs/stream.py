"""A run as the frames of one page: board and conversation, coalesced, and bounded for a page that does not read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from time import monotonic

from clover_viz.ui.records import json_text
from clover_viz.ui.runs.runner import Run
from clover_viz.ui.runs.session import Session

FRAME = 0.04  # seconds between two frames at least
TEXT = 0.2  # seconds between two updates of the conversation at least
QUIET = 0.25  # seconds after which an unchanged frame is sent again: closing the page is noticed at a send
IDLE = json_text({"run": None, "state": "idle", "from": 0, "records": [], "reset": True})


async def frames(session: Session, run: Run, crowded: Callable[[], bool]) -> AsyncIterator[tuple[str, str]]:
    """(board, conversation) as they change, at most 25 a second; while `crowded()`, only a sign of life each second.

    Ends with the run, or when the session has dropped it. What was held back comes as one frame.
    """
    have, frame, text = 0, IDLE, session.view()
    told = sent = 0.0
    while session.run is run:
        over = run.done.is_set()  # before the frame: the last one then has everything
        now = monotonic()
        if over or not crowded():
            news, reach = run.frame(have)
            if over or now - told >= TEXT + len(text) / 500_000:  # the longer the conversation, the rarer
                session.follow(run)
                text, told = session.view(), now
            if over or reach > have or now - sent >= QUIET:
                frame, have, sent = news, reach, now
                yield frame, text
        elif now - sent >= 4 * QUIET:
            sent = now
            yield frame, text
        if over:
            return
        await asyncio.sleep(FRAME)
    if session.run is None:  # cleared, and nothing new begun
        yield IDLE, session.view()


def last_frame(session: Session) -> str:
    """The state of the session's run without its records, which the page has or asks for."""
    return session.run.frame(session.run.length)[0] if session.run else IDLE


def missing(session: Session, have: object) -> str:
    """The frame that brings a page with `have` records up to date."""
    number = have if isinstance(have, int) and have > 0 else 0
    return session.run.frame(min(number, session.run.length))[0] if session.run else IDLE
