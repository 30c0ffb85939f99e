"""What the controls show at first: the values of the checkpoint, once it is loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import Any

import gradio as gr

from clover_viz.settings import FALLBACKS
from clover_viz.ui.controls import BLOCK_SIZES
from clover_viz.ui.player.link import settings_from_link
from clover_viz.ui.runs.desk import Desk

LOOK = 0.2  # seconds between two looks whether the model is there


def set_out(page: gr.Blocks, desk: Desk, controls: dict) -> None:
    """Moves the controls of an opening page to the checkpoint's values; those that its link names stay."""

    async def start(request: gr.Request):
        while desk.state == "loading":
            await asyncio.sleep(LOOK)
        named = settings_from_link(dict(request.query_params)).values
        moved = moves(getattr(desk.engine, "checkpoint", {}), named)
        return [gr.update(**_widened(moved[name], control)) if name in moved else gr.skip()
                for name, control in controls.items()]  # fmt: skip

    page.load(start, None, [*controls.values()], concurrency_limit=None, show_progress="hidden",
              api_visibility="private")  # fmt: skip


def moves(checkpoint: Mapping[str, Any], named: Collection[str] = ()) -> dict[str, dict]:
    """What to change of which control, by its name: where a checkpoint wants another value than the controls are made
    with. named: settings that somebody chose already."""
    made = {}
    for name, usual in FALLBACKS.items():
        value = checkpoint.get(name, usual)
        if value == usual or name in named:
            continue
        if name == "coreset_top_p" and value is None:
            made["coreset"] = {"value": False}
        elif name == "block_size":
            made[name] = {"value": value, "choices": sorted({value, *(size for size in BLOCK_SIZES if size < value)})}
        else:
            made[name] = {"value": value}
    return made


def _widened(change: dict, control) -> dict:
    """With room for the value on a slider."""
    if not isinstance(control, gr.Slider) or control.minimum <= change["value"] <= control.maximum:
        return change
    value = change["value"]
    return {**change, "minimum": min(value, control.minimum), "maximum": max(value, control.maximum)}
