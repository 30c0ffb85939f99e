"""The chat tab: layout, and what each control does. Drawing is the browser's (board.js, conversation.js)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from html import escape
from typing import NamedTuple

import gradio as gr

from clover_viz.events import Event
from clover_viz.examples import EXAMPLES, Example
from clover_viz.ui.api import FULL, shown
from clover_viz.ui.charts.panel import charts_panel
from clover_viz.ui.chat.knobs import fit, make_controls
from clover_viz.ui.controls import limits_of, settings_of
from clover_viz.ui.languages import I18N, language_of, spoken, translated
from clover_viz.ui.player.shelf import shelve
from clover_viz.ui.runs.desk import Desk
from clover_viz.ui.runs.pacing import SPEEDS
from clover_viz.ui.runs.runner import Run
from clover_viz.ui.runs.session import Session
from clover_viz.ui.runs.stream import IDLE, frames, last_frame, missing
from clover_viz.ui.theme import BOARD_SCRIPTS, asset, drawn

CROWD = 8  # messages waiting for a slow page; beyond this frames are held back and come as one later
RUNS = {"concurrency_limit": None, "show_progress": "hidden", "api_visibility": "private"}
QUICK = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
TALK = """const talk = new Conversation(element.firstElementChild);
element.conversation = talk;
watch("value", () => talk.show(props.value));
talk.show(props.value);
rememberTalk(talk);"""
BOARD = """const board = new Board(element.firstElementChild, (have) => trigger("gap", { have }));
element.board = board;
watch("value", () => board.frame(props.value));
board.frame(props.value);
rememberBoard(board);"""
RECALL = f"""(_, session) => {{
{asset("memory.js")}
return [recalled("talk") || "", session];
}}"""


class Chat(NamedTuple):
    """What the page around the tab needs of it. controls: by name, see `knobs`."""

    session: gr.State
    prompt: gr.Textbox
    board: gr.HTML
    controls: dict


def chat_tab(page: gr.Blocks, desk: Desk) -> Chat:
    """The chat's components and what each does, inside the tab that is open. `page` is asked how far it lags behind."""
    session = gr.State(Session())
    saved = gr.Textbox("", visible=False)  # what the browser tab kept over a reload
    with gr.Row(elem_id="stage"):
        with gr.Column(elem_id="talk"):
            talk = drawn("chat/conversation.js", "memory.js", mount=TALK)
            with gr.Row(elem_id="composer"):
                prompt = gr.Textbox(
                    "", label=I18N("Message"), show_label=False, container=False,
                    placeholder=I18N("Write a message"),
                    lines=1, max_lines=8, autofocus=True, elem_id="prompt",
                )  # fmt: skip
                send = gr.Button(I18N("Send"), variant="primary", elem_id="send")
                stop = gr.Button(I18N("Stop"), interactive=False, elem_id="stop")
            with gr.Row(elem_id="pacing"):
                speed = gr.Radio(translated(SPEEDS), value="full", label=I18N("Speed"), elem_id="speed")
                onward = gr.Button(I18N("Next pass"), variant="primary", size="sm", elem_id="next", visible="hidden")
            with gr.Row(elem_id="examples"):
                offers = [gr.Button(I18N(example.name), size="sm") for example in EXAMPLES]
                retry = gr.Button(I18N("Retry"), size="sm", elem_id="retry")
                clear = gr.Button(I18N("Clear"), size="sm", elem_id="clear")
        with gr.Column(elem_id="side"):
            board = drawn(*BOARD_SCRIPTS, "memory.js", mount=BOARD)
            charts_panel(_last_events, [session])
        with gr.Column(elem_id="more"):
            controls = make_controls()

    inputs, names = [*controls.values()], tuple(controls)
    taken = [talk, send, stop]
    started = {"trigger_mode": "once", **RUNS}  # queued: Gradio shows no error of an unqueued one
    first = gr.on(
        [prompt.submit, send.click], _begin(desk, names), [session, prompt, speed, *inputs], [prompt, *taken],
        **started,
    )  # fmt: skip
    first.success(None, None, controls["raw"], js="() => false", **QUICK)  # it was said of that message
    again = retry.click(_again(desk, names), [session, speed, *inputs], taken, **started)
    offered = [
        offer.click(_offer(desk, names, example), [session, speed, *inputs], [controls["system"], *taken], **started)
        for offer, example in zip(offers, EXAMPLES, strict=True)
    ]
    for began in (first, again, *offered):
        streamed = began.success(_stream(page), [session], [board, talk], **RUNS)
        for ended in (streamed.then, streamed.failure):  # `then` is not reached after an error
            ended(_finish, [session], [send, stop, board], **QUICK)
    stop.click(_stop, [session], None, **QUICK)
    speed.change(_set_speed, [session, speed], [onward], **QUICK)
    onward.click(_next, [session], None, **QUICK)
    clear.click(_clear, [session], [board, talk], **QUICK)
    page.load(_restore, [saved, session], [talk], js=RECALL, **QUICK)
    fit(controls)
    board.gap(_resend, [session], [board], **QUICK)
    return Chat(session, prompt, board, controls)


def _begin(desk: Desk, names: tuple[str, ...]):
    def begin(session: Session, request: gr.Request, prompt: str, speed: str, *values):
        shelve(session)  # a run that ended just now, before its `_finish` came
        _prepare(desk, session, request, prompt, speed, dict(zip(names, values, strict=True)))
        return "", session.view(), *_buttons(running=True)

    return begin


def _again(desk: Desk, names: tuple[str, ...]):
    def again(session: Session, request: gr.Request, speed: str, *values):
        if session.busy():
            raise _told("A run is going in this conversation: stop it first.", request)
        if not session.turns:
            raise _told("There is no message to try again yet.", request)
        shelve(session)
        turn = session.turns.pop()
        try:
            held = dict(zip(names, values, strict=True)) | {"raw": turn.raw}
            _prepare(desk, session, request, turn.prompt, speed, held)
        except gr.Error:
            session.turns.append(turn)
            raise
        return session.view(), *_buttons(running=True)

    return again


def _offer(desk: Desk, names: tuple[str, ...], example: Example):
    """An example begins a conversation: in one that goes before, with other tools, it would show something else."""

    def offer(session: Session, request: gr.Request, speed: str, *values):
        shelve(session)
        before, held = session.turns, dict(zip(names, values, strict=True))
        if not session.busy():
            session.turns = []
        try:
            held |= {"system": example.system, "raw": example.raw}
            _prepare(desk, session, request, example.prompt, speed, held)
        except gr.Error:
            session.turns = before
            raise
        return example.system, session.view(), *_buttons(running=True)

    return offer


def _prepare(desk: Desk, session: Session, request: gr.Request, prompt: str, speed: str, controls: dict) -> None:
    """Takes the prompt into the session with a run that is ready to start, or raises the reason why not."""
    reason = session.refuse(prompt) or (FULL if desk.full() else None)
    if reason:
        raise _told(reason, request)
    tokens, seed, system, raw = (controls.pop(name) for name in ("max_new_tokens", "seed", "system", "raw"))
    try:
        settings, limits = settings_of(**controls), limits_of(tokens, seed)
        run = Run(desk, session.messages(prompt, system, raw), settings, limits, speed=speed, top=True, raw=raw)
    except ValueError as problem:
        raise _told(str(problem), request) from None
    session.begin(run, prompt)


def _told(problem: str, request: gr.Request) -> gr.Error:
    """An error in the visitor's language, and without markup."""
    language = language_of(request)
    return shown(escape(spoken(problem, language)), spoken("Error", language))


def _stream(page: gr.Blocks):
    async def stream(session: Session, request: gr.Request) -> AsyncIterator[tuple[str, str]]:
        """The frames of the session's run. Closing the page cancels it."""
        run = session.run
        if run is None or run.started:
            return
        run.start()
        try:
            async for frame in frames(session, run, lambda: _backlog(page, request) > CROWD):
                yield frame
        finally:
            run.cancel()
        if run.error and session.run is run:
            raise _told(run.error, request)

    return stream


def _backlog(page: gr.Blocks, request: gr.Request) -> int:
    """How many messages the server still holds for a page: Gradio itself never holds a sender back."""
    messages = page._queue.pending_messages_per_session.get(request.session_hash)
    return messages.qsize() if messages is not None else 0


def _finish(session: Session):
    """Keeps the run; the buttons back, and the last word on the board, which an error would leave unsaid."""
    shelve(session)
    return *_buttons(running=session.pending()), last_frame(session)


def _stop(session: Session) -> None:
    if session.run:
        session.run.cancel()


def _set_speed(session: Session, request: gr.Request, speed: str):
    """Also of the run that is going; the Next button only where there is something to hold."""
    if session.run:
        try:
            session.run.pacing.set(speed)
        except ValueError as problem:
            raise _told(str(problem), request) from None
    return gr.update(visible=speed == "step" or "hidden")


def _next(session: Session) -> None:
    if session.run:
        session.run.pacing.next()


def _clear(session: Session) -> tuple[str, str]:
    session.clear()
    return IDLE, session.view()


def _restore(saved: str, session: Session) -> str:
    session.restore(saved)
    return session.view()


def _last_events(session: Session) -> list[Event] | None:
    kept = session.shelf.last_run
    return kept.events if kept else None


def _resend(session: Session, event: gr.EventData) -> str:
    return missing(session, event.have)


def _buttons(running: bool):
    return gr.update(interactive=not running), gr.update(interactive=running)
