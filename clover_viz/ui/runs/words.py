"""News of the model, and the notes of a run on the board and below its answer: English pattern -> Chinese pattern; see
`retelling`."""

from __future__ import annotations

NOTES = {
    # about.py: while the model loads
    "Loading {own_name}: {n} s so far.": "正在加载 {own_name}：已用 {n} 秒。",
    "You may write already.": "现在就可以写消息。",
    "{own_name} could not be loaded: {own_why}": "{own_name} 无法加载：{own_why}",
    # runner.py and pacing.py: while a run waits or goes
    "Loading {own_name}; your message goes first as soon as it is ready.": "正在加载 {own_name}；加载完成后先处理你的消息。",
    "Loading {own_name}; {n} run ahead of yours then. | Loading {own_name}; {n} runs ahead of yours then.":
        "正在加载 {own_name}；之后前面还有 {n} 次运行。",
    "Waiting for the model: {n} run ahead of yours. | Waiting for the model: {n} runs ahead of yours.":
        "正在等待模型：前面还有 {n} 次运行。",
    "Others wait for the model, so this run goes on at full speed.": "其他人在等待模型，所以这次运行改为全速进行。",
    # session.py: below an answer
    "No answer: the run ended with an error.": "没有回答：运行出错结束。",
    "Cut short: the run ended with an error.": "回答不完整：运行出错结束。",
    "Stopped before the first pass.": "在第一次前向之前停止。",
    "Interrupted by a reload.": "因重新载入页面而中断。",
    "Stopped: {note}": "已停止：{note}",
    "Cut at the limit: {note}": "到达上限：{note}",
    "Stop text met: {note}": "遇到停止文本：{note}",
    "{n} token in {p} pass | {n} tokens in {p} pass | {n} token in {p} passes | {n} tokens in {p} passes":
        "{p} 次前向，{n} 个 token",
    "{n} token in {p} pass, {r} a pass | {n} tokens in {p} pass, {r} a pass | "
    "{n} token in {p} passes, {r} a pass | {n} tokens in {p} passes, {r} a pass":
        "{p} 次前向，{n} 个 token，平均每次 {r} 个",
    # the footer: why these kernels
    "asked for": "按要求选择",
    "asked for, interpreted on the CPU (TRITON_INTERPRET=1)": "按要求选择，在 CPU 上解释执行（TRITON_INTERPRET=1）",
    "the Triton kernels have not run on a card yet; kernels=triton asks for them":
        "Triton 内核还没有在显卡上运行过；要用它请设 kernels=triton",
    "Triton needs a CUDA device, the model is on {own_kind}": "Triton 需要 CUDA 设备，模型在 {own_kind} 上",
    "Triton is not installed": "没有安装 Triton",
    "Triton cannot be imported ({own_why})": "无法导入 Triton（{own_why}）",
    "torch sees no CUDA device": "torch 看不到 CUDA 设备",
    "the kernels are written for NVIDIA cards, and this torch is built for others":
        "内核是为 NVIDIA 显卡写的，而这个 torch 是为其他显卡构建的",
    "the card must have compute capability {own_wanted} or newer, it has {own_found}":
        "显卡的计算能力须为 {own_wanted} 或更高，实际是 {own_found}",
    # the footer: why graphs, or none
    "the graphs have not run on a card yet; graphs=on asks for them": "CUDA 图还没有在显卡上运行过；要用它请设 graphs=on",
    "the reference's experts ask the host, which a graph cannot; kernels=triton do not":
        "参考实现的专家层要询问主机，CUDA 图做不到；kernels=triton 则不需要",
}  # fmt: skip
