"""The controls beside the board: one component a setting, named as in the settings classes, shown where it acts."""

from __future__ import annotations

import gradio as gr

from clover_viz.settings import MODES
from clover_viz.ui.controls import ACCEPT_RULES, BLOCK_SIZES, DENOISE, OFFERED, has
from clover_viz.ui.languages import I18N, translated
from clover_viz.ui.records import json_text

QUICK = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}


def make_controls() -> dict[str, gr.components.Component]:
    """The components by name, made where the layout stands: `mode`, `coreset`, the settings, and the run's limits."""
    made: dict[str, gr.components.Component] = {}

    def put(component, name: str, *args, **kwargs):
        words = {key: I18N(kwargs.pop(key)) for key in ("label", "info") if key in kwargs}
        made[name] = component(*args, elem_id=IDS.get(name, name), **words, **kwargs)

    put(gr.Radio, "mode", translated(OFFERED), value=DENOISE, label="How to write")
    put(gr.Slider, "threshold", 0, 1, value=0.95, step=0.01, label="Threshold",
        info="A slot is committed once the model is surer of it than this.")
    put(gr.Radio, "block_size", list(BLOCK_SIZES), value=32, label="Block size",
        info="Slots denoised together, all of them in every step.")
    put(gr.Radio, "accept_rule", translated(ACCEPT_RULES), value="exact", label="Verifier",
        info="Which drafts the causal pass lets stand, from the left up to the first refused.")
    with gr.Accordion(I18N("More settings"), open=False):
        put(gr.Slider, "ratio", 0, 1, value=0.9, step=0.01, label="Ratio",
            info="Threshold verifier: a draft this probable always stands. Acts where it is below delta.")
        put(gr.Slider, "delta", 0, 2, value=0.6, step=0.05, label="Delta",
            info="Threshold verifier: the bar is this times exp(-entropy), at most the ratio.")
        put(gr.Slider, "draft_steps", 1, 8, value=1, step=1, label="Draft steps",
            info="Previews a round; all but the last commit slots over the threshold.")
        put(gr.Checkbox, "coreset", True, label="Limit experts to the block's coreset",
            info="Off: every slot takes its own experts, and a pass reads more of them.")
        put(gr.Slider, "coreset_top_p", 0.05, 1, value=0.9, step=0.01, label="Coreset top-p",
            info="The share of the block's expert probability that the kept experts must reach, layer by layer.")
        put(gr.Slider, "temperature", 0, 2, value=0, step=0.05, label="Temperature",
            info="0 takes the likeliest token; above it tokens are drawn, by the seed.")
        put(gr.Slider, "max_new_tokens", 1, 1024, value=256, step=1, label="Most new tokens",
            info="The answer is cut there.")
        put(gr.Number, "seed", 0, label="Seed", precision=0, info="The same seed and settings give the same text.")
        put(gr.Textbox, "system", "", label="System prompt", lines=3, max_lines=10,
            info="Read before the conversation: the tools of an agent, for instance.")
        put(gr.Checkbox, "raw", False, label="Go on from the message",
            info="No conversation and no system prompt: the model continues the next message as it stands. For prose.")
        with gr.Accordion(I18N("Against repetition and for an end"), open=False):
            put(gr.Slider, "repetition_penalty", 0.5, 2, value=1, step=0.05, label="Repetition penalty",
                info="Makes tokens that the answer holds already less likely, above 1: divides their logit, or "
                "multiplies a negative one. 1 is off.")
            put(gr.Slider, "presence_penalty", -2, 2, value=0, step=0.1, label="Presence penalty",
                info="Taken once from the logit of tokens that the answer holds; 0 is off.")
            put(gr.Slider, "frequency_penalty", -2, 2, value=0, step=0.1, label="Frequency penalty",
                info="Taken for every time the answer holds a token; 0 is off.")
            put(gr.Slider, "stop_bias", 0, 100, value=0, step=1, label="Stop bias",
                info="Added to the end token's logit for every 1,000 tokens of the answer; 0 is off.")
            put(gr.Slider, "think_close_bias", 0, 100, value=0, step=1, label="End-of-thinking bias",
                info="Added to the end-of-thinking token's logit for every 1,000 tokens of an open thinking section; "
                "0 is off.")
    return made


IDS = {"coreset_top_p": "top_p", "max_new_tokens": "tokens"}  # where an element's name differs from the setting's
IDLE_WHEN_EXACT = {"ratio", "delta"}
HIDEABLE = ("threshold", "block_size", "accept_rule", "ratio", "delta", "draft_steps", "coreset", "coreset_top_p")
CHOICES = ("mode", "accept_rule", "draft_steps")  # what decides on the others


def fit(controls: dict) -> None:
    """Keeps in view only controls that the mode has, and that the choices made in it give something to do.

    The page's style does it (page.css), by what `body` is told it hides. Updates from the server would cost: Gradio
    never frees what one took out of view, keeps one more component in the session each time, and does not reach what is
    still folded away.
    """
    choices = [controls[name] for name in CHOICES]
    table = {
        f"{mode} {rule} {several}": " ".join(hidden(mode, rule, 1 + several))
        for mode in MODES
        for _, rule in ACCEPT_RULES
        for several in (0, 1)
    }
    told = f"""(mode, rule, steps) => {{
      document.body.dataset.hides = {json_text(table)}[`${{mode}} ${{rule}} ${{+(steps > 1)}}`];
    }}"""
    for choice in choices:
        choice.change(None, choices, None, js=told, **QUICK)


def hidden(mode: str, accept_rule: str, draft_steps: int) -> list[str]:
    """The ids of the controls that do nothing in a mode with these choices; `coreset` goes with its top-p."""
    idle = set()
    if mode != DENOISE:
        idle |= {"threshold"} if draft_steps == 1 else set()
        idle |= IDLE_WHEN_EXACT if accept_rule == "exact" else set()
    lacks = {name for name in HIDEABLE if not has(mode, "coreset_top_p" if name == "coreset" else name)}
    return [IDS.get(name, name) for name in HIDEABLE if name in lacks | idle]
