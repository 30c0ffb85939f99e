"""The page: layout, and what each control does. Drawing is the browser's (board.js, conversation.js)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from html import escape

import gradio as gr

from clover_viz.ui.about import footer, news
from clover_viz.ui.api import FULL, endpoint, shown
from clover_viz.ui.controls import ACCEPT_RULES, BLOCK_SIZES, DENOISE, OFFERED, has, limits_of, settings_of
from clover_viz.ui.desk import Desk
from clover_viz.examples import EXAMPLES
from clover_viz.ui.runner import Run
from clover_viz.ui.session import Session
from clover_viz.ui.stream import IDLE, frames, last_frame, missing
from clover_viz.ui.theme import asset, script, style, theme

CROWD = 8  # messages waiting for a slow page; beyond this frames are held back and come as one later
BANNER = """<div class="cv-banner">{mark}<h1>Clover Viz</h1>
<p>A language model that writes a block at a time: every step previews all open slots and commits the sure ones.</p>
</div>"""
RUNS = {"concurrency_limit": None, "show_progress": "hidden", "api_visibility": "private"}
QUICK = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}


def build(desk: Desk) -> gr.Blocks:
    """The page over one desk. Launch it with `launch_options()`."""
    with gr.Blocks(title="Clover Viz", analytics_enabled=False, fill_width=True) as page:
        session = gr.State(Session())
        gr.HTML(BANNER.format(mark=asset("mark.svg")), apply_default_css=False)
        with gr.Row(elem_id="stage"):
            with gr.Column(elem_id="talk"):
                talk = _drawn("conversation.js", TALK)
                with gr.Row(elem_id="composer"):
                    prompt = gr.Textbox(
                        "", label="Message", show_label=False, container=False, placeholder="Write a message",
                        lines=1, max_lines=8, autofocus=True, elem_id="prompt",
                    )  # fmt: skip
                    send = gr.Button("Send", variant="primary", elem_id="send")
                    stop = gr.Button("Stop", interactive=False, elem_id="stop")
                with gr.Row(elem_id="examples"):
                    offers = [gr.Button(example.name, size="sm") for example in EXAMPLES]
                    retry = gr.Button("Retry", size="sm", elem_id="retry")
                    clear = gr.Button("Clear", size="sm", elem_id="clear")
            with gr.Column(elem_id="side"):
                board = _drawn("fold.js", "board.js", BOARD)
            with gr.Column(elem_id="more"):
                mode = gr.Radio(list(OFFERED), value=DENOISE, label="How to write", elem_id="mode")
                threshold = gr.Slider(
                    0, 1, value=0.95, step=0.01, label="Threshold", elem_id="threshold",
                    info="A slot is committed once the model is surer of it than this.",
                )  # fmt: skip
                block_size = gr.Radio(
                    list(BLOCK_SIZES), value=32, label="Block size", elem_id="block_size",
                    info="Slots denoised together, all of them in every step.",
                )  # fmt: skip
                accept_rule = gr.Radio(
                    list(ACCEPT_RULES), value="exact", label="Verifier", elem_id="accept_rule", visible=False,
                    info="Which drafts the causal pass lets stand, from the left up to the first refused.",
                )  # fmt: skip
                with gr.Accordion("More settings", open=False):
                    ratio = gr.Slider(
                        0, 1, value=0.9, step=0.01, label="Ratio", elem_id="ratio", visible=False,
                        info="Threshold verifier: a draft this probable always stands.",
                    )  # fmt: skip
                    delta = gr.Slider(
                        0, 2, value=0.6, step=0.05, label="Delta", elem_id="delta", visible=False,
                        info="Threshold verifier: the bar is this times exp(-entropy), at most the ratio.",
                    )  # fmt: skip
                    draft_steps = gr.Slider(
                        1, 8, value=1, step=1, label="Draft steps", elem_id="draft_steps", visible=False,
                        info="Previews a round; all but the last commit slots over the threshold.",
                    )  # fmt: skip
                    coreset = gr.Checkbox(True, label="Limit experts to the block's coreset", elem_id="coreset")
                    top_p = gr.Slider(0.05, 1, value=0.9, step=0.01, label="Coreset top-p", elem_id="top_p")
                    temperature = gr.Slider(0, 2, value=0, step=0.05, label="Temperature", elem_id="temperature")
                    tokens = gr.Slider(1, 1024, value=256, step=1, label="Most new tokens", elem_id="tokens")
                    seed = gr.Number(0, label="Seed", precision=0, elem_id="seed")
                    system = gr.Textbox("", label="System prompt", lines=3, max_lines=10, elem_id="system")
        foot = gr.HTML(footer(desk), apply_default_css=False)

        settings = {
            "threshold": threshold, "block_size": block_size, "coreset_top_p": top_p, "temperature": temperature,
            "accept_rule": accept_rule, "ratio": ratio, "delta": delta, "draft_steps": draft_steps,
        }  # fmt: skip
        controls = [mode, coreset, tokens, seed, system, *settings.values()]
        setting_names = tuple(settings)
        started = {"outputs": [prompt, talk, send, stop], **RUNS}  # queued: Gradio shows no error of an unqueued one
        first = gr.on(
            [prompt.submit, send.click], _begin(desk, setting_names), [session, prompt, *controls],
            trigger_mode="once", **started,
        )  # fmt: skip
        again = retry.click(_again(desk, setting_names), [session, *controls], trigger_mode="once", **started)
        for began in (first, again):
            streamed = began.success(_stream(page), [session], [board, talk], **RUNS)
            for ended in (streamed.then, streamed.failure):  # `then` is not reached after an error
                ended(_finish, [session], [send, stop, board], **QUICK)
        stop.click(_stop, [session], None, **QUICK)
        clear.click(_clear, [session], [board, talk], **QUICK)
        for button, example in zip(offers, EXAMPLES):
            fill = f"() => [{json.dumps(example.prompt)}, {json.dumps(example.system)}]"
            button.click(None, None, [prompt, system], js=fill, **QUICK).then(None, js=PRESS_SEND, **QUICK)
        depending = {"coreset": coreset, **settings}
        for changed in (mode.change, accept_rule.change, draft_steps.change):
            changed(_fitting(tuple(depending)), [mode, accept_rule, draft_steps], list(depending.values()), **QUICK)
        board.gap(_resend, [session], [board], **QUICK)
        page.load(_arrive(desk), None, [board, foot], **RUNS)
        gr.api(endpoint(desk), api_name="generate", concurrency_limit=None)
    page.queue(max_size=200)
    return page


def launch_options() -> dict:
    """What `launch` must be told so that the page looks as meant and asks nothing of other hosts."""
    return {
        "theme": theme(),
        "css": style(),
        "footer_links": [],
        "run_history": False,
        "ssr_mode": False,
        "state_session_capacity": 256,
    }


def _drawn(*scripts: str) -> gr.HTML:
    """A component whose elements a script makes; its value is only ever a JSON text. The last script mounts it."""
    *names, mount = scripts
    return gr.HTML(
        value="", html_template="<div></div>", js_on_load=f"{script(*names)}\n{mount}", apply_default_css=False
    )


TALK = """const talk = new Conversation(element.firstElementChild);
element.conversation = talk;
watch("value", () => talk.show(props.value));
talk.show(props.value);"""
BOARD = """const board = new Board(element.firstElementChild, (have) => trigger("gap", { have }));
element.board = board;
watch("value", () => board.frame(props.value));
board.frame(props.value);"""
PRESS_SEND = """() => { setTimeout(() => document.querySelector("#send").click(), 0); }"""


def _begin(desk: Desk, names: tuple[str, ...]):
    def begin(session: Session, prompt: str, *controls):
        _prepare(desk, names, session, prompt, *controls)
        return "", session.view(), *_buttons(running=True)

    return begin


def _again(desk: Desk, names: tuple[str, ...]):
    def again(session: Session, *controls):
        if session.busy():
            raise shown("A run is going in this conversation: stop it first.")
        if not session.turns:
            raise shown("There is no message to try again yet.")
        turn = session.turns.pop()
        try:
            _prepare(desk, names, session, turn.prompt, *controls)
        except gr.Error:
            session.turns.append(turn)
            raise
        return gr.skip(), session.view(), *_buttons(running=True)

    return again


def _prepare(desk, names, session, prompt, mode, coreset, tokens, seed, system, *values):
    """Takes the prompt into the session with a run that is ready to start, or raises the reason why not.

    values: of the settings called `names`.
    """
    reason = session.refuse(prompt) or (FULL if desk.full() else None)
    if reason:
        raise shown(escape(reason))
    try:
        settings = settings_of(mode, coreset, **dict(zip(names, values, strict=True)))
        limits = limits_of(tokens, seed)
    except ValueError as problem:
        raise shown(escape(str(problem))) from None
    session.begin(Run(desk, session.messages(prompt, system), settings, limits), prompt)


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
            raise shown(escape(run.error))

    return stream


def _backlog(page: gr.Blocks, request: gr.Request) -> int:
    """How many messages the server still holds for a page: Gradio itself never holds a sender back."""
    messages = page._queue.pending_messages_per_session.get(request.session_hash)
    return messages.qsize() if messages is not None else 0


def _finish(session: Session):
    """The buttons back, and the last word on the board, which an error would otherwise leave unsaid."""
    return *_buttons(running=session.pending()), last_frame(session)


def _stop(session: Session) -> None:
    if session.run:
        session.run.cancel()


def _clear(session: Session) -> tuple[str, str]:
    session.clear()
    return IDLE, session.view()


def _resend(session: Session, event: gr.EventData) -> str:
    return missing(session, event.have)


def _fitting(names: tuple[str, ...]):
    """Only controls that the mode has, and that the choices made in it give something to do."""

    def fitting(mode: str, accept_rule: str, draft_steps: int):
        idle = set()
        if mode != DENOISE:
            idle |= {"threshold"} if draft_steps == 1 else set()
            idle |= {"ratio", "delta"} if accept_rule == "exact" else set()
        fits = (has(mode, "coreset_top_p" if name == "coreset" else name) and name not in idle for name in names)
        return [gr.update(visible=visible) for visible in fits]

    return fitting


def _buttons(running: bool):
    return gr.update(interactive=not running), gr.update(interactive=running)


def _arrive(desk: Desk):
    async def arrive() -> AsyncIterator[tuple[str, str]]:
        """News of the model until it is there."""
        while desk.state == "loading":
            yield news(desk), footer(desk)
            await asyncio.sleep(1)
        yield news(desk), footer(desk)

    return arrive
