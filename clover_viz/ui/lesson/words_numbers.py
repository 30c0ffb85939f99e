"""The words of the pictures that are computed (numbers.js); see `words`."""

from __future__ import annotations

NUMBERS: dict[str, tuple[str, str]] = {
    "history.likeness": ("Likeness of query and slots", "查询与槽位的相似度"),
    "history.readout": ("Size of what is read from the state", "从状态读出量的大小"),
    "history.columns": ("Heads, by the share the history slot gets", "各注意力头分给历史槽位的比例"),
    "history.equal": ("an equal share, {share}", "平均分配，{share}"),
    "history.says": (
        "Against {slots} slots the past gets {mean} on average, {low} to {high} over the {heads} heads.",
        "面对 {slots} 个槽位，过去平均分到 {mean}，{heads} 个头之间从 {low} 到 {high}。",
    ),
    "history.head": (
        "Layer {layer}, head {head}: bias {bias}, c {c}, scale {scale}; the past gets {share}.",
        "第 {layer} 层第 {head} 头：bias {bias}，c {c}，scale {scale}；过去分到 {share}。",
    ),
    "history.point": ("Columns are heads, numbered by layer. Point at one for its controls.",
                      "每一列是一个头，数字是层号。把指针移上去查看它的参数。"),
    "history.formula": (
        "A1: slot j scores scale · ⟨q, kⱼ⟩, the past scores bias + c · rms(Sᵀq); one softmax over both.",
        "A1：槽位 j 的得分是 scale · ⟨q, kⱼ⟩，过去的得分是 bias + c · rms(Sᵀq)；两者共用一个 softmax。",
    ),
    "history.caveat": (
        "Bias, c and scale are learned numbers from clover-tiny's file. Likeness (a cosine) and size are yours to set: "
        "they change with every text, and no recording holds them. Here all slots are equally alike.",
        "bias、c、scale 是 clover-tiny 文件里学到的数值。相似度（余弦）和读出量由你设定：它们随文本而变，录制里没有保存。这里假定各槽位同样相似。",
    ),
    "budget.presets": ("Try", "试试"),
    "budget.apart": ("Experts chosen independently", "专家各选各的"),
    "budget.alike": ("64 experts in both passes", "两次前向都用 64 个专家"),
    "budget.best": ("Few experts, 80 % of the bandwidth", "专家更少，带宽用到 80%"),
    "budget.card": ("Card", "显卡"),
    "budget.bandwidth": ("Memory bandwidth", "显存带宽"),
    "budget.efficiency": ("Share of it reached", "实际达到的比例"),
    "budget.preview": ("Experts touched, preview", "预览触及的专家数"),
    "budget.verify": ("Experts touched, verify", "验证触及的专家数"),
    "budget.target": ("Speed to reach", "目标速度"),
    "budget.part_dense": ("dense weights, read twice: {gb} GB", "稠密权重，读两遍：{gb} GB"),
    "budget.part_preview": ("experts of the preview: {gb} GB", "预览的专家：{gb} GB"),
    "budget.part_verify": ("experts of the verify: {gb} GB", "验证的专家：{gb} GB"),
    "budget.bytes": ("read a round", "每轮读取"),
    "budget.ms": ("a round takes", "每轮耗时"),
    "budget.needed": ("needed a round", "每轮需要"),
    "budget.ceiling": ("one at a time", "逐个 token"),
    "budget.two": ("in two passes", "两次前向合计"),
    "budget.at": ("at {share} of the bandwidth", "按带宽的 {share} 计"),
    "budget.for": ("tokens, for {target} tok/s", "个 token，才能达到 {target} tok/s"),
    "budget.alone": ("tok/s at best; {target} is {share} of it", "tok/s 为上限；{target} 是它的 {share}"),
    "budget.caveat": (
        "A budget for the released model, not a measurement: bandwidths are the published ones, and the experts its "
        "passes touch on real text are not known here. State and the cache (20,480 B for every position) are left out.",
        "这是对发布模型的估算，不是测量：带宽取公布值；真实文本上每次前向触及多少专家，这里并不知道。状态和缓存（每个位置 20,480 字节）没有计入。",
    ),
    "facts.parameters": ("parameters", "参数"),
    "facts.layers": ("layers", "层数"),
    "facts.experts": ("experts a layer", "每层专家"),
    "facts.a_token": ("of them for a token", "每个 token 使用"),
    "facts.width": ("width", "宽度"),
    "facts.context": ("context, tokens", "上下文（token）"),
    "scores.title": ("How often clover-tiny is exactly right", "clover-tiny 完全答对的比例"),
    "scores.denoise": ("in blocks", "逐块"),
    "scores.alone": ("one token at a time", "逐个 token"),
    "scores.row": ("{name}: {exact} % of {count}", "{name}：{count} 题中 {exact}%"),
    "scores.caveat": (
        "From the model card: held-out prompts, judged character for character.",
        "数据来自模型卡：训练中未出现的提示，逐字符判定。",
    ),
    "kind.agent": ("tool calls", "工具调用"),
    "kind.answer": ("sentences about results", "关于结果的句子"),
    "kind.decline": ("refusals and questions", "拒绝与追问"),
    "kind.structured": ("structured texts", "结构化文本"),
    "kind.talk": ("small talk", "寒暄"),
}
