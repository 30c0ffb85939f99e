"""What the controls show where nobody chose: the values of the checkpoint and the device, once it is loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import Any

import gradio as gr

from clover_viz.settings import FALLBACKS
from clover_viz.ui.chat.knobs import QUICK
from clover_viz.ui.controls import BLOCK_SIZES, DENOISE, has
from clover_viz.ui.player.link import settings_from_link
from clover_viz.ui.player.tab import ranges_of
from clover_viz.ui.runs.desk import Desk

LOOK = 0.2  # seconds between two looks whether the model is there


def set_out(page: gr.Blocks, desk: Desk, controls: dict) -> None:
    """Moves the controls of an opening page to the values of its model; those that its link names stay. Later the block
    size goes with the mode, until somebody chooses one."""
    chosen, ranges = gr.State(False), ranges_of(controls)
    mode, block_size = controls["mode"], controls["block_size"]

    async def start(request: gr.Request):
        await _loaded(desk)
        named = settings_from_link(dict(request.query_params), ranges).values
        moved = moves(_usual(desk, named.get("mode", DENOISE)), named, _usual(desk, DENOISE)["block_size"])
        updates = [gr.update(**_widened(moved[name], control)) if name in moved else gr.skip()
                   for name, control in controls.items()]  # fmt: skip
        return [*updates, True if "block_size" in named else gr.skip()]  # one may be chosen while the model loads

    async def follow(mode: str, block_size: int, chosen: bool):
        await _loaded(desk)
        return block_size if chosen or not has(mode, "block_size") else _usual(desk, mode)["block_size"]

    waits = {"concurrency_limit": None, "show_progress": "hidden", "api_visibility": "private"}
    page.load(start, None, [*controls.values(), chosen], **waits)
    mode.input(follow, [mode, block_size, chosen], [block_size], trigger_mode="always_last", **waits)
    block_size.input(lambda: True, None, [chosen], **QUICK)


async def _loaded(desk: Desk) -> None:
    while desk.state == "loading":
        await asyncio.sleep(LOOK)


def _usual(desk: Desk, mode: str) -> Mapping[str, Any]:
    """What the desk's model takes in a mode where nothing is said; the release's values where none could be loaded."""
    return desk.engine.usual(mode) if desk.engine else FALLBACKS


def moves(wanted: Mapping[str, Any], named: Collection[str] = (), largest: int | None = None) -> dict[str, dict]:
    """What to change of which control, by its name: where a model wants another value than the controls are made with.
    named: settings that somebody chose already; largest: the model's own block, where another one is wanted."""
    made = {}
    for name, usual in FALLBACKS.items():
        value = wanted.get(name, usual)
        if value == usual or name in named:
            continue
        if name == "coreset_top_p" and value is None:
            made["coreset"] = {"value": False}
        elif name == "block_size":
            own = largest or value
            made[name] = {"value": value, "choices": sorted({own, *(size for size in BLOCK_SIZES if size < own)})}
        else:
            made[name] = {"value": value}
    return made


def _widened(change: dict, control) -> dict:
    """With room for the value on a slider."""
    if not isinstance(control, gr.Slider) or control.minimum <= change["value"] <= control.maximum:
        return change
    value = change["value"]
    return {**change, "minimum": min(value, control.minimum), "maximum": max(value, control.maximum)}
