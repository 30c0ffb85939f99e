"""The endpoint `/generate`: a run as the events of the Python interface, one JSON object a message."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Literal

import gradio as gr

from clover_viz.settings import settings_for
from clover_viz.ui.controls import limits_of
from clover_viz.ui.runs.desk import Desk
from clover_viz.ui.runs.runner import Run
from clover_viz.ui.runs.session import PROMPT_CHARACTERS

LOOK = 0.01  # seconds between two looks for new events


def endpoint(desk: Desk):
    """The function behind `/generate`, typed so that Gradio can describe it."""

    async def generate(
        prompt: str,
        mode: Literal["denoise", "speculative", "autoregressive"] = "denoise",
        threshold: float | None = None,
        block_size: int | None = None,
        coreset: bool = True,
        coreset_top_p: float | None = None,
        temperature: float = 0.0,
        max_new_tokens: int = 256,
        seed: int = 0,
        system: str = "",
        accept_rule: Literal["exact", "threshold"] | None = None,
        ratio: float | None = None,
        delta: float | None = None,
        draft_steps: int | None = None,
        repetition_penalty: float | None = None,
        presence_penalty: float | None = None,
        frequency_penalty: float | None = None,
        stop_bias: float | None = None,
        think_close_bias: float | None = None,
        raw: bool = False,
    ) -> AsyncIterator[str]:
        """Streams a run's events, from run_started to run_finished, each as the text of one JSON object.

        A setting left out, or None, is the checkpoint's own (the block that a CPU speculates with: 16), or exact, 0.9,
        0.6 and 1 of the four that only drafting has; one that the mode lacks is an error. `coreset` false takes the
        coreset away. With `raw` the prompt is no message but a text that the model goes on from.
        """
        try:
            if not prompt.strip():
                raise ValueError("prompt must hold some text, got none")
            if len(prompt) > PROMPT_CHARACTERS:
                raise ValueError(f"prompt must have at most {PROMPT_CHARACTERS:,} characters, got {len(prompt):,}")
            if raw and system.strip():
                raise ValueError(f"system must be empty with raw, got {len(system)} characters")
            given = dict(
                threshold=threshold, block_size=block_size, coreset_top_p=coreset_top_p,
                temperature=temperature, accept_rule=accept_rule, ratio=ratio, delta=delta, draft_steps=draft_steps,
                repetition_penalty=repetition_penalty, presence_penalty=presence_penalty,
                frequency_penalty=frequency_penalty, stop_bias=stop_bias, think_close_bias=think_close_bias,
            )  # fmt: skip
            given = {name: value for name, value in given.items() if value is not None}
            if not coreset:
                if "coreset_top_p" in given:
                    top_p = given["coreset_top_p"]
                    raise ValueError(f"coreset_top_p must be left out without the coreset, got {top_p}")
                given["coreset_top_p"] = None
            settings = settings_for(mode, given)
            limits = limits_of(max_new_tokens, seed)
        except ValueError as problem:
            raise shown(str(problem)) from None
        messages = [{"role": "user", "content": prompt}]
        if system.strip():
            messages.insert(0, {"role": "system", "content": system})
        if desk.full():
            raise shown(FULL)
        run = Run(desk, messages, settings, limits, raw=raw)
        run.start()
        try:
            sent = 0
            while True:
                over = run.done.is_set()  # before the events: then none comes after them
                for event in run.events[sent:]:
                    sent += 1
                    yield event.to_json()
                if over:
                    break
                await asyncio.sleep(LOOK)
        finally:
            run.cancel()
        if run.error:
            raise shown(run.error)

    return generate


FULL = "Too many visitors are waiting for the model just now: try again in a minute."


def shown(message: str, title: str = "Error") -> gr.Error:
    """An error that its reader sees once, and the log not at all. Programs get it in English."""
    return gr.Error(message, title=title, print_exception=False)
