"""What the page says of the model: while it loads, in the board's line; and always, in the footer."""

from __future__ import annotations

from html import escape

from clover_viz.ui.records import json_text
from clover_viz.ui.runs.desk import Desk

FOOTER = """<div class="cv-footer"><p>{model}</p>
<p>The history slot, through which a block reads what was written before it, follows a formula (A1) that is our reading
of public notes. It is unverified against released code; a checkpoint trained with it is exact by construction.</p>
<p>Programs reach the model through <code>gradio_client</code> and the endpoint <code>/generate</code>.</p></div>"""


def news(desk: Desk) -> str:
    """A board frame without a run: shown until there is one."""
    note = {
        "loading": f"Loading {desk.name}: {desk.loading_seconds():.0f} s so far. You may write already.",
        "failed": f"{desk.name} could not be loaded: {desk.failure}",
        "ready": "",
    }[desk.state]
    state = "idle" if desk.state == "ready" else desk.state
    return json_text({"run": None, "state": state, "note": note, "from": 0, "records": []})


def footer(desk: Desk) -> str:
    """HTML: which model, on what, with which kernels and why; and what is assumed."""
    engine = desk.engine
    if engine is None:
        told = f"Model {_strong(desk.name)}: {'could not be loaded' if desk.failure else 'loading'}."
    else:
        kernels = f"{_strong(engine.kernels.name)} kernels ({escape(engine.kernels.reason)})"
        told = f"Model {_strong(engine.name)} on {_strong(engine.model.device)}, {kernels}."
    return FOOTER.format(model=told)


def _strong(text: object) -> str:
    return f"<b>{escape(str(text))}</b>"
