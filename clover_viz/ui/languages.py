"""The page in two languages: English, which is written where it is shown, and Simplified Chinese, which stands here.

The English text is the key. Gradio's own components take theirs from `I18N`, by the browser's language: write
`label=I18N("Threshold")`, and give `launch` the object. What scripts draw is looked up by `tell` of languages.js, which
`phrases` hands this module's patterns; there `one | many` is chosen by the value n, and {names} are filled in.
"""

from __future__ import annotations

import gradio as gr

from clover_viz.ui.board.words import BOARD
from clover_viz.ui.records import json_text

INTERFACE = {
    # tabs and the conversation
    "Chat": "对话",
    "Player": "回放",
    "Lab": "实验室",
    "How it works": "工作原理",
    "Message": "消息",
    "Write a message": "写点什么",
    "Send": "发送",
    "Stop": "停止",
    "Retry": "重试",
    "Clear": "清空",
    "Speed": "速度",
    "Full speed": "全速",
    "Slow motion": "慢动作",
    "Step by step": "逐步",
    "Next pass": "下一次前向",
    "JSON tool call": "JSON 工具调用",
    "A list": "列表",
    "Prose": "散文",
    "Small talk": "寒暄",
    # how to write
    "How to write": "生成方式",
    "Denoise a block": "逐块去噪",
    "Draft and verify": "草稿与验证",
    "One token at a time": "逐个 token",
    "Threshold": "阈值",
    "A slot is committed once the model is surer of it than this.": "模型对槽位的置信度超过这个值，就提交该槽位。",
    "Block size": "块大小",
    "Slots denoised together, all of them in every step.": "一起去噪的槽位数，每一步都处理全部槽位。",
    "Verifier": "验证规则",
    "Which drafts the causal pass lets stand, from the left up to the first refused.":
        "因果前向从左到右保留哪些草稿，直到第一个被拒绝的为止。",
    "Exact: the text of one token at a time": "精确：与逐个 token 的文本一致",
    "Threshold: lossy, keeps more": "阈值：有损，保留更多",
    # more settings
    "More settings": "更多设置",
    "Ratio": "Ratio（上限）",
    "Threshold verifier: a draft this probable always stands.": "阈值规则：概率达到这个值的草稿一律保留。",
    "Delta": "Delta（系数）",
    "Threshold verifier: the bar is this times exp(-entropy), at most the ratio.":
        "阈值规则：门槛是它乘以 exp(-熵)，最高不超过 Ratio。",
    "Draft steps": "起草步数",
    "Previews a round; all but the last commit slots over the threshold.":
        "每轮的预览次数；除最后一次外，都会提交高于阈值的槽位。",
    "Limit experts to the block's coreset": "专家只用块的核心集",
    "Off: every slot takes its own experts, and a pass reads more of them.":
        "关闭时，每个槽位各用各的专家，一次前向要读更多专家。",
    "Coreset top-p": "核心集 top-p",
    "The share of the block's expert probability that the kept experts must reach, layer by layer.":
        "每一层保留的专家，其概率之和在整块中至少要占的比例。",
    "Temperature": "温度",
    "0 takes the likeliest token; above it tokens are drawn, by the seed.": "0 取最可能的 token；大于 0 时按种子抽取。",
    "Most new tokens": "最多新 token 数",
    "The answer is cut there.": "回答到此截断。",
    "Seed": "随机种子",
    "The same seed and settings give the same text.": "种子和设置相同，文本就相同。",
    "System prompt": "系统提示",
    "Read before the conversation: the tools of an agent, for instance.": "在对话之前读入，例如 Agent 的工具列表。",
    # against repetition
    "Against repetition and for an end": "抑制重复与促使结束",
    "Repetition penalty": "重复惩罚",
    "Divides the logit of tokens that the answer holds already; 1 is off.": "除以回答中已有 token 的 logit；1 表示关闭。",
    "Presence penalty": "存在惩罚",
    "Taken once from the logit of tokens that the answer holds; 0 is off.": "从回答中已有 token 的 logit 里减一次；0 表示关闭。",
    "Frequency penalty": "频率惩罚",
    "Taken for every time the answer holds a token; 0 is off.": "token 在回答中每出现一次就减一次；0 表示关闭。",
    "Stop bias": "结束偏置",
    "Added to the end token's logit for every 1,000 tokens of the answer; 0 is off.":
        "回答每满 1,000 个 token，就给结束 token 的 logit 加上它；0 表示关闭。",
}  # fmt: skip

I18N = gr.I18n(en={text: text for text in INTERFACE}, **{"zh-CN": INTERFACE})


def translated(choices) -> list[tuple]:
    """(text, value) pairs with their texts as keys that the browser translates."""
    return [(I18N(text), value) for text, value in choices]


def phrases() -> str:
    """JavaScript that makes `tell` out of what languages.js defines, with the patterns of the board."""
    return f"const tell = teller({json_text({'zh-CN': BOARD})});"


def both(english: str, chinese: str) -> str:
    """HTML with a text in both languages, of which the page's style shows the one of the page."""
    return f'<span class="cv-in" lang="en">{english}</span><span class="cv-in" lang="zh-CN">{chinese}</span>'
