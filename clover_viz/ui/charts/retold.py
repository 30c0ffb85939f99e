"""A figure in another language: its names, titles and hover texts, and never a token of the model."""

from __future__ import annotations

import plotly.graph_objects as go

from clover_viz.ui.retelling import retold

REST = "<extra></extra>"  # of a hover text: nothing beside it
BREAK = "<br>"

FIGURES = {
    # names of what is drawn
    "confidence": "置信度",
    "draft confidence": "草稿置信度",
    "verifier probability": "验证的概率",
    "fixed": "已固定",
    "committed": "已提交",
    "forced": "强制",
    "accepted": "接受",
    "refused": "拒绝",
    "first refused": "首个拒绝",
    "touched": "触及",
    "kept": "保留",
    "rerouted": "改道",
    "verifier": "验证",
    "over the threshold": "高于阈值",
    "drafted": "起草",
    "one token a pass": "每次前向一个 token",
    "in the block": "这一块",
    "in the round": "这一轮",
    "so far": "至此",
    # titles
    "slot": "槽位",
    "step": "步骤",
    "round": "轮",
    "layer": "层",
    "rounds": "轮数",
    "draft behind the boundary": "边界之后的第几个草稿",
    "step of the block": "块的步骤",
    "slots committed": "提交的槽位",
    "tokens of the response so far": "至此回答的 token 数",
    "tokens a pass": "token / 前向",
    "the text ends": "正文到此结束",
    "The draft’s confidence": "草稿的置信度",
    "The verifier’s probability of the draft": "验证给草稿的概率",
    "Touched by the preview": "预览触及",
    "Kept by the coreset": "核心集保留",
    "Re-routed: of its own, a slot lost": "改道：每个槽位失去的自己的专家",
    "Touched by the verifier": "验证触及",
    "confidence of the preview": "预览的置信度",
    "confidence, probability": "置信度，概率",
    "experts": "专家",
    "re-routed a slot": "每个槽位改道",
    # hover texts, line by line
    "step {n}": "第 {n} 步",
    "round {n}": "第 {n} 轮",
    "slot {slot}, step {step}": "槽位 {slot}，第 {step} 步",
    "round {round}, draft {draft}": "第 {round} 轮，草稿 {draft}",
    "{own_token} at {sure}": "{own_token}，{sure}",
    "{preview}, layer {layer}": "{preview}，第 {layer} 层",
    "{number} experts": "{number} 个专家",
    "{number} of its own lost a slot": "每个槽位失去自己的专家 {number} 个",
    "step {step}: {number} over the threshold": "第 {step} 步：{number} 个高于阈值",
    "step {step}: {number} forced": "第 {step} 步：强制提交 {number} 个",
    "{mean} committed a block, of {blocks}": "平均每块提交 {mean} 个，共 {blocks} 块",
    "draft {draft}: accepted in {number} of {rounds} rounds ({share})":
        "草稿 {draft}：{rounds} 轮中有 {number} 轮接受（{share}）",
    "the verifier came to it in {number}": "验证到它的有 {number} 轮",
    "block {block}: {rate} tokens a pass": "第 {block} 块：每次前向 {rate} 个 token",
    "round {round}: {rate} tokens a pass": "第 {round} 轮：每次前向 {rate} 个 token",
    "{tokens} tokens in {passes} passes: {rate} a pass": "{passes} 次前向 {tokens} 个 token：平均每次 {rate} 个",
}  # fmt: skip


def retold_figure(figure: go.Figure) -> go.Figure:
    """The figure with every text of ours in Chinese; changed in place."""
    for trace in figure.data:
        trace.name = _told(trace.name)
        if trace.hovertemplate:
            lines = trace.hovertemplate.removesuffix(REST).split(BREAK)
            trace.hovertemplate = BREAK.join(map(_told, lines)) + REST
        if trace.text is not None:
            trace.text = _texts(trace.text)
    for note in figure.layout.annotations:
        note.text = _told(note.text)
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        if axis.title.text:
            axis.title.text = _told(axis.title.text)
    return figure


def _texts(texts):
    """Of points, or of the rows of a map."""
    return [_texts(text) if isinstance(text, (list, tuple)) else _point(text) for text in texts]


def _point(text: str) -> str:
    """A token alone stands in its quotation marks and stays as it is."""
    return text if not text or text.startswith("“") and " at " not in text else _told(text)


def _told(text: str) -> str:
    return retold(text, FIGURES)
