"""The lesson as data: its screens in order, each with the picture that goes with it, in English and Chinese.

{names} in a text are filled with figures that are computed (`rules.figures`, and the embedded model's shape).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """A screen in one language. text: paragraphs."""

    title: str
    text: tuple[str, ...]


@dataclass(frozen=True)
class Screen:
    """key: its name, for tests and styles; picture: the name of what draws beside it (lesson.js)."""

    key: str
    picture: str
    en: Page
    zh: Page


SCREENS = (
    Screen(
        "between", "lanes",
        Page("One token, one block, or everything at once", (
            "Most language models write one token a pass. Such a pass is causal: each token sees only those before it, "
            "and each costs a reading of the weights. At the other end everything could be written in one pass, but "
            "then no token knows what its neighbours became.",
            "Block diffusion stands between. Blocks of 32 slots follow one another; inside a block all slots are "
            "guessed together, over several passes, and each pass keeps what the model is sure of. The block size is "
            "the dial: 1 is one token at a time, the whole text is full diffusion.",
            "Here are three recorded ways through one request.",
        )),
        Page("逐个 token、逐块，还是一次写完", (
            "大多数语言模型每次前向只写一个 token：这种前向是因果的，每个 token 只看得到它前面的内容，代价是把权重读一遍。另一个极端是一次前向写完全文，"
            "可这样一来，每个 token 都不知道左右邻居最后变成了什么。",
            "块扩散介于两者之间：32 个槽位组成一块，块与块依次进行；块内所有槽位一起猜，分几次前向完成，每次只留下模型有把握的。"
            "块大小就是旋钮：等于 1 就是逐个 token，等于全文长度就是整段扩散。",
            "下面是同一个请求的三种真实录制。",
        )),
    ),
    Screen(
        "board", "board",
        Page("Masks, previews and the board", (
            "The first mode denoises: it turns a block of 32 masks into text. Every pass previews all open slots "
            "together: for each, the likeliest token and how sure the model is of it, its confidence. A short answer "
            "closes with an end token; what stands behind it is not kept.",
            "On the board an open slot shows its preview, faint while the model is unsure. A solid tile is committed: "
            "it never changes again, and number and colour name the step that fixed it. A diamond marks a forced "
            "commit. Below are the steps, and the experts each layer used.",
            "Play the recorded run, or drag through it, and point at a slot to see how its confidence moved.",
        )),
        Page("掩码、预览与看板", (
            "第一种模式是去噪：把 32 个掩码变成文本。每次前向会同时预览所有未定的槽位：每个槽位最可能的 token，以及模型对它有多大把握，"
            "也就是置信度。比一块短的回答以结束 token 收尾，其后的内容不保留。",
            "看板上，未定的槽位显示当前预览，把握越小颜色越淡。实心的格子已经提交：不会再变，数字和颜色表示它在第几步定下。"
            "菱形表示强制提交。下方是每一步提交了多少槽位，以及每层用到的专家。",
            "播放这段录制，或拖动进度；把指针移到某个槽位上，可以看到它的置信度如何变化。",
        )),
    ),
    Screen(
        "commit", "commit",
        Page("The commit rule", (
            "After each preview one rule decides. Every open slot whose confidence is strictly above the threshold, "
            "0.95 by default, is committed. If there is none, exactly one is committed anyway, the most confident: the "
            "forced commit, without which a block could stand still. The next preview reads the committed tokens in "
            "place of their masks and guesses the others anew. So a block of 32 takes between 1 and 32 steps.",
            "Drag the line, or move the slider. These are the recorded confidences of one step. A lower threshold "
            "commits more at once and trusts weaker guesses; what the later steps would then have said, no recording "
            "can tell.",
        )),
        Page("提交规则", (
            "每次预览之后，由一条规则决定。凡是置信度严格大于阈值（默认 0.95）的未定槽位，全部提交。如果一个都没有，就只提交置信度最高的那一个："
            "这叫强制提交，没有它，一块可能永远停在原地。下一次预览读到的是已提交的 token，不再是掩码，其余槽位重新猜测。所以 32 个槽位的块最少 1 步、最多 32 步。",
            "拖动那条线，或移动滑块。这里用的是某一步真实录下的置信度。阈值越低，一次提交得越多，也就越相信没把握的猜测；"
            "至于后面的步骤会因此变成什么样，录制无法回答。",
        )),
    ),
    Screen(
        "final", "error",
        Page("Why errors are final", (
            "A committed slot is never looked at again. The steps after it must fit around it, and later blocks build "
            "on it. Waiting costs one more pass; a wrong commit costs the answer. That is why the threshold is high. "
            "(A refused draft of the second mode is different: it is simply thrown away.)",
            "The picture holds the recorded answers against the right ones and shows a commit that decided an error, "
            "and what the model made of the rest. If the recordings hold no error it says so, and shows the least "
            "sure commit instead.",
        )),
        Page("为什么错误无法挽回", (
            "已提交的槽位不会再被检查。之后的步骤只能迁就它，后面的块也建立在它之上。多等一步只多花一次前向，提交错了却会毁掉答案，"
            "所以阈值定得很高。（第二种模式里被拒绝的草稿不同：扔掉就是。）",
            "这幅图把录制的答案与正确答案逐一对照，指出决定了错误的那次提交，以及模型之后怎样收场。"
            "如果录制里没有错误，它会如实说明，并改为展示把握最小的一次提交。",
        )),
    ),
    Screen(
        "replay", "cache",
        Page("The causal replay and the cache", (
            "A preview looks both ways inside its block, and leaves no trace: it reads the cache of what was written "
            "before, and writes nothing to it.",
            "Once every slot is committed, the finished block goes through the model once more as ordinary text, each "
            "slot seeing only what is left of it, with all experts allowed. This replay writes the cache: keys and "
            "values in attention layers, a running state in the others. So a block costs its previews and one pass "
            "more, and counts without the replay flatter. The last block needs none: a further turn reads it together "
            "with the new message.",
        )),
        Page("因果重放与缓存", (
            "预览在块内左右都看，但不留痕迹：它读取之前内容的缓存，却从不写入。",
            "等所有槽位都提交后，整块再作为普通文本过一遍模型，每个槽位只看左边，专家不受限制。这次重放才写入缓存："
            "注意力层写入键和值，其余各层更新循环状态。所以一块的代价是若干次预览再加一次前向，不算重放的速度都偏乐观。"
            "最后一块不需要重放：下一轮会把它和新的消息一起读入。",
        )),
    ),
    Screen(
        "history", "history",
        Page("The history slot, and what is assumed", (
            "Three layers of every four are Gated DeltaNet: they hold the past as a state of fixed size. (The fourth "
            "is full attention, and its memory grows with the text.)",
            "In a preview such a layer mixes the slots of the block with one softmax, and the past takes part as one "
            "slot more, read from the state. That much is known. How its score is computed is our reading of public "
            "notes, called A1, and unverified against the released code.",
            "clover-tiny was trained with A1, so for it the formula is exact. The picture computes it with "
            "clover-tiny's own learned numbers.",
        )),
        Page("历史槽位，以及哪些是假设", (
            "每四层中有三层是 Gated DeltaNet：它们用固定大小的状态保存过去。（第四层是全注意力，它的内存会随文本增长。）",
            "预览时，这样的层用一个 softmax 混合块内各槽位，而过去作为额外的一个槽位参与其中，从状态里读出。这些是已知的。"
            "至于它的得分怎样计算，是我们对公开资料的理解，称为 A1，尚未与发布的代码核对。",
            "clover-tiny 就是按 A1 训练的，所以对它来说公式是精确的。图中用的是 clover-tiny 自己学到的数值。",
        )),
    ),
    Screen(
        "coreset", "coreset",
        Page("The coreset: fewer experts for a block", (
            "In every layer each token picks a few experts, here {a_token} of {experts}. All experts picked by any "
            "slot must be read from memory: 32 slots choosing independently would touch about {independent:.0f} of the "
            "released model's 256.",
            "The coreset limits that. For each layer of each preview it adds up what the slots' own choices weigh, "
            "keeps the smallest set of experts that holds 90 % of it, and lets every slot choose again inside the set. "
            "Touched counts the experts before, kept those after, and re-routed how many of its choices a slot lost. "
            "Causal passes are not limited.",
        )),
        Page("核心集：一块用更少的专家", (
            "每一层里，每个 token 选几个专家，这里是 {experts} 个中的 {a_token} 个。任何槽位选中的专家都要从显存读出："
            "如果 32 个槽位各选各的，发布模型的 256 个专家里大约会触及 {independent:.0f} 个。",
            "核心集限制了这一点。每次预览的每一层，先把各槽位所选专家的概率加起来，只保留占总和 90% 的最小专家集合，"
            "再让每个槽位在集合内重新选择。“触及”是限制前的专家数，“保留”是限制后的，“改道”是每个槽位平均失去了几个自己的选择。"
            "因果前向不受此限制。",
        )),
    ),
    Screen(
        "verify", "verify",
        Page("Draft and verify", (
            "The second mode drafts a whole block in one preview, behind a token that the causal pass gave, the "
            "boundary. Then the causal pass runs over the drafts. They stand from the left up to the first refused, "
            "and the pass adds its own next token: r accepted drafts bring r + 1 tokens.",
            "The exact rule accepts a draft only if it is the causal pass's own choice, so the text is that of one "
            "token at a time. The threshold rule (another threshold than denoising has) asks for a probability of "
            "min(ratio, delta · exp(−entropy)), the entropy in nats, that is, to base e. It can keep more, and it is "
            "lossy. Recorded checks, under both rules.",
        )),
        Page("草稿与验证", (
            "第二种模式用一次预览起草整块：开头是因果前向给出的一个 token，称为边界。然后因果前向检查这些草稿，从左到右，"
            "到第一个被拒绝的为止都保留，并补上自己的下一个 token：接受 r 个草稿，就得到 r + 1 个 token。",
            "精确规则只接受与因果前向自己的选择相同的草稿，所以文本与逐个 token 生成的一致。阈值规则（与去噪的阈值不是一回事）只要求概率不低于 "
            "min(ratio, delta · exp(−熵))，熵以 nat 计，即以 e 为底：可能留下更多，但有损。下面是真实的验证记录，可以换用两种规则来看。",
        )),
    ),
    Screen(
        "budget", "budget",
        Page("What 680 tokens a second has to be", (
            "The makers report 680 tokens a second on one GB300 and 515 on an H200 (BF16, one request, their own agent "
            "data). We have not measured that, but it can be budgeted. A pass takes as long as reading its bytes: "
            "{dense:.2f} GB of dense weights, and {expert:.2f} MB for each expert touched, in 40 layers.",
            "One token at a time cannot pass about {h200:.0f} tokens a second on an H200, or {gb300:.0f} on a GB300. A "
            "round of draft and verify reads more than a token does, so it must keep several tokens. How many depends "
            "on what nobody has published: move it. Attention's memory and launch times are left out.",
        )),
        Page("每秒 680 个 token 意味着什么", (
            "开发方报告：单张 GB300 每秒 680 个 token，H200 为 515 个（BF16、单请求、自家 Agent 数据）。我们没有测过，"
            "但可以算一笔账。一次前向的时间取决于要读的字节：稠密部分 {dense:.2f} GB，加上 40 层里每触及一个专家 {expert:.2f} MB。",
            "逐个 token 生成，H200 上每秒不会超过约 {h200:.0f} 个，GB300 上约 {gb300:.0f} 个。一轮草稿加验证读得比一个 token 多，"
            "所以必须留下好几个 token 才划算。到底要几个，取决于尚未公布的数字：请自己拖动看看。这里没有计入注意力的内存和内核启动时间。",
        )),
    ),
    Screen(
        "limits", "limits",
        Page("What clover‑tiny is, and is not", (
            "All recordings here are clover-tiny's: the released architecture, {times} times smaller, trained from "
            "nothing on a CPU by the recipe in this repository. It writes JSON tool calls, short sentences about "
            "results, small structured texts and fixed small talk, in English. It knows nothing about the world, and "
            "it can be wrong and sure of it.",
            "What it shows truly is the machinery: previews, commits, replays, coresets, checks. Its speeds, its "
            "confidences and its experts say nothing about the released model, whose quality and speed this project "
            "has not measured.",
        )),
        Page("clover-tiny 是什么，不是什么", (
            "这里的录制全部来自 clover-tiny：与发布模型同样的架构，只有其 {times} 分之一大小，按本仓库的配方在 CPU 上从零训练。"
            "它能写 JSON 工具调用、关于结果的短句、小段结构化文本和固定的寒暄，只会英文。它对世界一无所知，也可能错得很自信。",
            "它真实展示的是机制：预览、提交、重放、核心集、验证。它的速度、置信度和专家数不能说明发布模型的任何情况；"
            "发布模型的质量和速度，本项目没有测量过。",
        )),
    ),
)  # fmt: skip
