"""What Gradio's own components say, English text -> Chinese text; see `languages`."""

from __future__ import annotations

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
    "Threshold verifier: a draft this probable always stands. Acts where it is below delta.":
        "阈值规则：概率达到这个值的草稿一律保留。比 Delta 小时才起作用。",
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
    "Go on from the message": "从消息接着写",
    "No conversation and no system prompt: the model continues the next message as it stands. For prose.":
        "没有对话，也没有系统提示：模型原样接着下一条消息写下去。适合散文。",
    # against repetition
    "Against repetition and for an end": "抑制重复与促使结束",
    "Repetition penalty": "重复惩罚",
    "Makes tokens that the answer holds already less likely, above 1: divides their logit, or multiplies a negative "
    "one. 1 is off.": "大于 1 时降低回答中已有 token 的可能：正的 logit 除以它，负的乘以它；1 表示关闭。",
    "Presence penalty": "存在惩罚",
    "Taken once from the logit of tokens that the answer holds; 0 is off.": "从回答中已有 token 的 logit 里减一次；0 表示关闭。",
    "Frequency penalty": "频率惩罚",
    "Taken for every time the answer holds a token; 0 is off.": "token 在回答中每出现一次就减一次；0 表示关闭。",
    "Stop bias": "结束偏置",
    "Added to the end token's logit for every 1,000 tokens of the answer; 0 is off.":
        "回答每满 1,000 个 token，就给结束 token 的 logit 加上它；0 表示关闭。",
    "End-of-thinking bias": "思考结束偏置",
    "Added to the end-of-thinking token's logit for every 1,000 tokens of an open thinking section; 0 is off.":
        "思考部分每满 1,000 个 token，就给思考结束 token 的 logit 加上它；0 表示关闭。",
    # the player
    "Run": "运行",
    "Compared with": "对照",
    "Open a trace file": "打开轨迹文件",
    "Download the trace": "下载轨迹",
    "Download as a web page": "下载为网页",
    # charts
    "Charts of this run": "这次运行的图表",
    "Chart": "图表",
    "Draw the latest run": "绘制最近一次运行",
    "Confidence": "置信度",
    "Commits by step": "各步骤的提交",
    "Accepted drafts": "被接受的草稿",
    "Experts": "专家",
    "Tokens a pass": "每次前向的 token 数",
}  # fmt: skip
