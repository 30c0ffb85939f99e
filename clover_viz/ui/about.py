"""What the page says of the model: while it loads, in the board's line; and always, in the footer."""

from __future__ import annotations

from html import escape

from clover_viz.ui.languages import CHINESE, both, spoken
from clover_viz.ui.records import json_text
from clover_viz.ui.runs.desk import Desk

FOOTER = """<div class="cv-footer"><p>{model}</p>
<p>{formula}</p>
<p>{programs}</p></div>"""
FORMULA = (
    "The history slot, through which a block reads what was written before it, follows a formula (A1) that is our "
    "reading of public notes. It is unverified against released code; a checkpoint trained with it is exact by "
    "construction.",
    "块通过历史槽位读取它之前写下的内容；历史槽位所用的公式（A1）是我们对公开笔记的理解，没有对照过已发布的代码；用它训练的检查点则按定义是精确的。",
)
PROGRAMS = (
    "Programs reach the model through <code>gradio_client</code> and the endpoint <code>/generate</code>.",
    "程序可以用 <code>gradio_client</code> 通过端点 <code>/generate</code> 使用模型。",
)
LOADING, FAILED = ("loading", "正在加载"), ("could not be loaded", "无法加载")


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
    """HTML in both languages: which model, on what, with which kernels and why; and what is assumed."""
    engine = desk.engine
    if engine is None:
        name, (state, chinese) = _strong(desk.name), FAILED if desk.failure else LOADING
        told = f"Model {name}: {state}.", f"模型 {name}：{chinese}。"
    else:
        name, device, kernels = map(_strong, (engine.name, engine.model.device, engine.kernels.name))
        why, reason = (escape(spoken(engine.kernels.reason, language)) for language in ("en", CHINESE))
        graphs, chinese_graphs = _graphs(engine)
        told = (
            f"Model {name} on {device}, {kernels} kernels ({why}){graphs}.",
            f"模型 {name}，运行在 {device} 上，使用 {kernels} 内核（{reason}）{chinese_graphs}。",
        )
    return FOOTER.format(model=both(*told), formula=both(*FORMULA), programs=both(*PROGRAMS))


def _graphs(engine) -> tuple[str, str]:
    """Whether passes are replayed as CUDA graphs, and why; nothing where there is no card to replay them on."""
    if not str(engine.model.device).startswith("cuda"):
        return "", ""
    on, reason = engine.graphs.name == "on", engine.graphs.reason
    return (
        f"; CUDA graphs {engine.graphs.name} ({escape(reason)})",
        f"；CUDA 图{'开启' if on else '关闭'}（{escape(spoken(reason, CHINESE))}）",
    )


def _strong(text: object) -> str:
    return f"<b>{escape(str(text))}</b>"
