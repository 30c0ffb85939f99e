"""What the charts' panel says, English pattern -> Chinese pattern; see `languages`. A figure's are in `retold`."""

from __future__ import annotations

# charts.js
CHARTS = {
    "Numbers ({n} row) | Numbers ({n} rows)": "数值（{n} 行）",
    "Numbers of the chart: {name}": "图表的数值：{name}",
    "The first {shown} of {total} rows; the CSV has all of them.": "{total} 行中的前 {shown} 行；CSV 里是全部。",
    "Download CSV": "下载 CSV",
    ", ": "，",
}  # fmt: skip

# What Python composes: sentences, names, the columns of a table and its words.
SAID = {
    # panel.py
    "There is no finished run yet.": "还没有完成的运行。",
    "Its charts can be drawn here once there is one.": "有了以后，可以在这里绘制它的图表。",
    "These events have no charts: {own_problem}.": "这些事件画不成图表：{own_problem}。",
    # drawing.py: charts and their parts
    "Confidence": "置信度",
    "Commits by step": "各步骤的提交",
    "Accepted drafts": "被接受的草稿",
    "Experts": "专家",
    "Tokens a pass": "每次前向的 token 数",
    "Block": "块",
    "Rounds": "轮",
    "All blocks": "所有块",
    "Block {n}": "第 {n} 块",
    "Round {n}": "第 {n} 轮",
    "Rounds {n} to {m}": "第 {n} 到 {m} 轮",
    # words.py: which run
    "Denoise a block": "逐块去噪",
    "Draft and verify": "草稿与验证",
    "One token at a time": "逐个 token",
    "A run": "一次运行",
    "not finished": "未完成",
    "stopped": "已停止",
    # words.py: why there is none
    "One token at a time has no slots and no steps: every pass is sure of one token only.":
        "逐个 token 没有槽位和步骤：每次前向只确定一个 token。",
    "One token at a time has no steps of a block: every pass commits one token.":
        "逐个 token 没有块的步骤：每次前向提交一个 token。",
    "One token at a time drafts nothing, so nothing is accepted or refused.": "逐个 token 不起草，所以没有接受或拒绝。",
    "One token at a time runs no previews, and only previews tell their experts.":
        "逐个 token 没有预览，而只有预览才记录所用的专家。",
    "This run ended before its first preview, so there is no confidence to show.":
        "这次运行在第一次预览之前就结束了，所以没有置信度可看。",
    "This run ended before its first step, so no slot was committed.":
        "这次运行在第一步之前就结束了，所以没有提交槽位。",
    "This run ended before its first round was verified.": "这次运行在第一轮验证之前就结束了。",
    "This run tells of no experts: it ended before its first preview, or its model has none.":
        "这次运行没有专家的记录：它在第一次预览之前就结束了，或模型没有专家。",
    "This run ended before its first pass behind the prompt.": "这次运行在提示之后的第一次前向之前就结束了。",
    "Denoising checks no drafts: a slot that is committed stays, so nothing is accepted or refused.":
        "去噪不检查草稿：提交的槽位不再改变，所以没有接受或拒绝。",
    "Draft and verify has no commits by step: a round keeps the accepted drafts and one more token at once.":
        "草稿与验证没有按步骤的提交：一轮同时保留被接受的草稿和另一个 token。",
    "Tokens a pass shows them.": "见“每次前向的 token 数”。",
    # words.py: counts
    "{n} token | {n} tokens": "{n} 个 token",
    "{n} pass | {n} passes": "{n} 次前向",
    "{n} step | {n} steps": "{n} 步",
    "{n} slot | {n} slots": "{n} 个槽位",
    "{n} block | {n} blocks": "{n} 块",
    "{n} round | {n} rounds": "{n} 轮",
    "{n} commit | {n} commits": "{n} 次提交",
    "{n} accepted draft | {n} accepted drafts": "{n} 个被接受的草稿",
    "{n} first refused draft | {n} first refused drafts": "{n} 个首个被拒绝的草稿",
    "none": "无",
    "all": "全部",
    # words.py: confidence
    "Block {n} took {steps}; the first committed {c} of its {s} slots.":
        "第 {n} 块用了 {steps}；第一步提交了 {s} 个槽位中的 {c} 个。",
    "The mean confidence of its {commits} was {c}; {forced} was forced. | "
    "The mean confidence of its {commits} was {c}; {forced} were forced.":
        "其 {commits}的平均置信度为 {c}；强制提交：{forced}。",
    "The text ends before its last {slots}.": "正文在它的最后 {slots}之前结束。",
    "Round {n}.": "第 {n} 轮。",
    "Rounds {n} to {m}.": "第 {n} 到 {m} 轮。",
    "{drafts}: confidence {c}, probability by the verifier {p}.": "{drafts}：置信度 {c}，验证给出的概率 {p}。",
    "{drafts}: mean confidence {c}, mean probability by the verifier {p}.":
        "{drafts}：平均置信度 {c}，验证给出的平均概率 {p}。",
    "No draft was accepted or refused.": "没有草稿被接受或拒绝。",
    # words.py: commits
    "{where}: {slots} committed in {steps}, {most}; {forced} was forced. | "
    "{where}: {slots} committed in {steps}, {most}; {forced} were forced.":
        "{where}：{steps}提交 {slots}，{most}；强制提交：{forced}。",
    "up to {steps}": "最多 {steps}",
    "{n} by each": "每步 {n} 个",
    "most by step {n}, {c} ({s})": "第 {n} 步最多，{c} 个（{s}）",
    "{n} ({s})": "{n}（{s}）",
    # words.py: acceptance
    "Draft 1 was accepted in {n} of {rounds} ({s}).": "{rounds}中有 {n} 轮（{s}）接受了草稿 1。",
    "Draft 1 was accepted in {n} of {rounds} ({s}); none behind draft {d} ever was.":
        "{rounds}中有 {n} 轮（{s}）接受了草稿 1；草稿 {d} 之后的从未被接受。",
    "Draft 1 was accepted in {n} of {rounds} ({s}), draft {l} in {a} ({b}).":
        "{rounds}中有 {n} 轮（{s}）接受了草稿 1，{a} 轮（{b}）接受了草稿 {l}。",
    "Draft 1 was accepted in {n} of {rounds} ({s}), draft {l} in {a} ({b}); none behind draft {d} ever was.":
        "{rounds}中有 {n} 轮（{s}）接受了草稿 1，{a} 轮（{b}）接受了草稿 {l}；草稿 {d} 之后的从未被接受。",
    "Draft 1 was accepted in {n} of {rounds} ({s}); nor was any other.":
        "{rounds}中有 {n} 轮（{s}）接受了草稿 1；其他草稿也没有被接受。",
    "A round kept {n} tokens on average.": "平均每轮保留 {n} 个 token。",
    # words.py: experts
    "block {n}": "第 {n} 块",
    "round {n}": "第 {n} 轮",
    "rounds {n} to {m}": "第 {n} 到 {m} 轮",
    "In {where} a layer touched {t} experts on average and kept {k}.":
        "在{where}，每层平均触及 {t} 个专家，保留 {k} 个。",
    "No slot lost an expert in the whole run.": "整个运行中没有槽位失去专家。",
    "Over the whole run a slot lost {n} experts of its own on average, most in layer {l}: {m}.":
        "在整个运行中，每个槽位平均失去 {n} 个自己的专家，第 {l} 层最多：{m}。",
    # words.py: tokens
    "{tokens} in {passes} behind the prompt: {r} a pass.": "提示之后，{passes}写出 {tokens}：平均每次 {r} 个。",
    "The first token costs no pass of its own: it comes with the prompt.":
        "第一个 token 不另花一次前向：它随提示得到。",
    "Every block brought the same {r}.": "每块都是 {r}。",
    "Every round brought the same {r}.": "每轮都是 {r}。",
    "The best was {best} with {b} a pass, the leanest {least} with {l}.":
        "最多的是{best}，每次前向 {b} 个；最少的是{least}，{l} 个。",
    # tables.py: columns
    "round": "轮",
    "draft": "草稿",
    "token": "token",
    "draft confidence": "草稿置信度",
    "verifier probability": "验证的概率",
    "bar": "门槛",
    "outcome": "结果",
    "step": "步骤",
    "slot": "槽位",
    "confidence": "置信度",
    "committed": "提交",
    "blocks that came so far": "进行到这一步的块",
    "slots committed": "提交的槽位",
    "of them forced": "其中强制",
    "committed a block": "每块提交",
    "rounds that had it": "有它的轮数",
    "rounds that came to it": "验证到它的轮数",
    "rounds it was accepted in": "接受它的轮数",
    "share accepted": "接受比例",
    "layer": "层",
    "touched": "触及",
    "kept": "保留",
    "re-routed a slot": "每个槽位改道",
    "touched by the verifier": "验证触及",
    "passes so far": "至此的前向次数",
    "tokens so far": "至此的 token 数",
    "tokens a pass so far": "至此每次前向的 token 数",
    "block": "块",
    "tokens of the block": "该块的 token 数",
    "passes of the block": "该块的前向次数",
    "tokens a pass in the block": "该块每次前向的 token 数",
    "tokens of the round": "该轮的 token 数",
    "passes of the round": "该轮的前向次数",
    "tokens a pass in the round": "该轮每次前向的 token 数",
    # tables.py: cells
    "forced": "强制",
    "over the threshold": "高于阈值",
    "accepted": "接受",
    "refused": "拒绝",
    "behind": "在其后",
    "not checked": "未检查",
}  # fmt: skip
