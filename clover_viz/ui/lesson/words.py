"""The words of the lesson's pictures and buttons: key -> (English, Chinese). `one | many` is chosen by the value n."""

from __future__ import annotations

from clover_viz.ui.lesson.words_numbers import NUMBERS

WORDS: dict[str, tuple[str, str]] = {
    "lesson": ("How it works", "工作原理"),
    "screens": ("Screens of the lesson", "课程目录"),
    "gap": (" ", ""),  # between two sentences
    "back": ("Back", "上一页"),
    "next": ("Next", "下一页"),
    "place": ("{n} of {total} | {n} of {total}", "第 {n} 页，共 {total} 页"),
    "go_on": ("Next: {title}", "下一页：{title}"),
    "picture": ("Picture: {title}", "图：{title}"),
    "problem": ("This picture cannot be drawn: {why}", "无法绘制此图：{why}"),
    "play": ("Play", "播放"),
    "pause": ("Pause", "暂停"),
    "request": ("Recorded request", "录制的请求"),
    "story.agent": ("JSON tool call", "JSON 工具调用"),
    "story.list": ("A list", "列表"),
    "story.prose": ("Prose", "散文"),
    "step": ("Step", "步骤"),
    "step_of": ("{n} of {total}", "第 {n} 步，共 {total} 步"),
    "threshold": ("Threshold", "阈值"),
    "block_size": ("Block size", "块大小"),
    "verify.ratio": ("Ratio", "Ratio（上限）"),
    "verify.delta": ("Delta", "Delta（系数）"),
    "first_block": (
        "Of the longest recording only the first block is shown.",
        "最长的那段录制只显示第一块。",
    ),
    "first_rounds": (
        "Of the longest recording only the first rounds are shown.",
        "最长的那段录制只显示前几轮。",
    ),
    "lanes.alone": ("One token at a time", "逐个 token"),
    "lanes.block": ("A block at a time", "逐块"),
    "lanes.once": ("Everything in one pass", "一次写完"),
    "lanes.passes": ("Passes after the prompt", "提示之后的前向次数"),
    "lanes.pass": ("{n} of {total}", "第 {n} 次，共 {total} 次"),
    "lanes.count": (
        "{k} of {total} tokens after {n} pass | {k} of {total} tokens after {n} passes",
        "{n} 次前向后：{total} 个 token 中的 {k} 个",
    ),
    "lanes.agree": (
        "{k} of {total} tokens as in the finished block",
        "{total} 个 token 中有 {k} 个与最终的块一致",
    ),
    "lanes.caveat": (
        "Each lane moves one pass at a time, whatever a pass took when it was recorded. “Everything in one pass” is "
        "the first preview of the recorded block as it stands; crossed out is what the finished block has otherwise.",
        "各行同步前进，每次一遍前向，与录制时的实际耗时无关。“一次写完”就是所录块的第一次预览，原样照收；划掉的是与最终结果不同的 token。",
    ),
    "board.place": ("Place in the recording", "录制进度"),
    "board.event": ("event {n} of {total}", "第 {n} 个事件，共 {total} 个"),
    "legend.past": ("committed by earlier steps", "之前的步骤已提交"),
    "legend.over": ("over the threshold: committed", "高于阈值：提交"),
    "legend.forced": ("forced: the surest of none over it", "强制：都没过阈值，取最高者"),
    "legend.open": ("stays open", "保持未定"),
    "legend.clears": ("over the threshold", "高于阈值"),
    "legend.forces": ("under it: forced", "低于阈值：强制提交"),
    "legend.decided": ("the step of this commit", "这次提交所在的步骤"),
    "legend.prefill": ("prompt read", "读入提示"),
    "legend.preview": ("preview: reads", "预览：只读"),
    "legend.replay": ("replay: writes", "重放：写入"),
    "legend.kept": ("kept", "保留"),
    "legend.refused": ("the first refused", "第一个被拒绝"),
    "legend.behind": ("behind it: thrown away", "在它之后：丢弃"),
    "commit.columns": ("Slots by their confidence", "各槽位的置信度"),
    "commit.line": ("threshold {bar}", "阈值 {bar}"),
    "commit.point": ("Point at a slot for its number.", "把指针移到槽位上查看数值。"),
    "commit.past": ("slot {slot}: {token} was committed before, at {sure}", "槽位 {slot}：{token} 早已提交，置信度 {sure}"),
    "commit.over": ("slot {slot}: {token} at {sure}, committed", "槽位 {slot}：{token}，置信度 {sure}，提交"),
    "commit.forced": ("slot {slot}: {token} at {sure}, forced", "槽位 {slot}：{token}，置信度 {sure}，强制提交"),
    "commit.open": ("slot {slot}: {token} at {sure}, stays open", "槽位 {slot}：{token}，置信度 {sure}，保持未定"),
    "commit.some": (
        "Over {bar}: {n} slot is committed, {left} stay open. | Over {bar}: {n} slots are committed, {left} stay open.",
        "高于 {bar}：提交 {n} 个槽位，{left} 个保持未定。",
    ),
    "commit.none": (
        "None is over {bar}, so the surest is forced: {token} at {sure}; {left} stay open.",
        "没有高于 {bar} 的，于是强制提交最有把握的：{token}，置信度 {sure}；{left} 个保持未定。",
    ),
    "commit.limit": ("From {sure} up, a threshold forces one.", "阈值到 {sure} 及以上就只能强制提交。"),
    "commit.own": (
        "The run itself, at {bar}, committed {n} here. | The run itself, at {bar}, committed {n} here.",
        "录制时阈值为 {bar}，这一步提交了 {n} 个。",
    ),
    "commit.own_forced": (
        "The run itself, at {bar}, forced {n} here. | The run itself, at {bar}, forced {n} here.",
        "录制时阈值为 {bar}，这一步强制提交了 {n} 个。",
    ),
    "commit.caveat": (
        "Every step of the recording is judged as it was; other commits would have changed the steps after it.",
        "每一步都按录制时的样子判断；若提交不同，其后的步骤也会改变。",
    ),
    "error.asked": ("Asked", "请求"),
    "error.right": ("Right", "正确答案"),
    "error.other": ("One token at a time", "逐个 token"),
    "error.got": ("Answered in blocks", "逐块生成的回答"),
    "error.alone": ("One token at a time", "逐个 token 的回答"),
    "error.wrong": ("This recorded answer is wrong.", "这段录制的回答是错的。"),
    "error.parted": (
        "No checked answer is wrong; this one leaves the text of one token at a time.",
        "能核对的回答都没有错；这一段与逐个 token 的文本不同。",
    ),
    "error.least": (
        "No recorded answer is wrong, so here is the commit the model was least sure of.",
        "录制里没有错误的回答，这里是模型把握最小的一次提交。",
    ),
    "error.forced": (
        "Step {step} forced slot {slot} to {token} at {sure}, with nothing over {bar}.",
        "第 {step} 步没有任何槽位高于 {bar}，强制把槽位 {slot} 定为 {token}，置信度 {sure}。",
    ),
    "error.over": (
        "Step {step} committed {token} in slot {slot} at {sure}, over the threshold of {bar}.",
        "第 {step} 步把槽位 {slot} 提交为 {token}，置信度 {sure}，高于阈值 {bar}。",
    ),
    "error.after": (
        "Only {n} step followed, {forced} of it forced, for the last {slots} slots. | "
        "The {n} steps that followed had to fit around it: {forced} of them were forced, for the last {slots} slots.",
        "其后的 {n} 步只能迁就它：其中 {forced} 步是强制提交，定下最后 {slots} 个槽位。",
    ),
    "error.last": ("It was the last step of the block.", "这是该块的最后一步。"),
    "error.block": ("The block as it ended, with the step of each commit", "最终的块，以及每个槽位提交的步骤"),
    "error.surest": ("The surest open slot, step by step", "每一步中最有把握的未定槽位"),
    "error.step": (
        "step {step}: the surest at {sure}; {n} slot committed | "
        "step {step}: the surest at {sure}; {n} slots committed",
        "第 {step} 步：最高置信度 {sure}，提交 {n} 个槽位",
    ),
    "error.step_forced": (
        "step {step}: the surest at {sure}, {n} forced | step {step}: the surest at {sure}, {n} forced",
        "第 {step} 步：最高置信度 {sure}，强制提交 {n} 个",
    ),
    "error.point": ("Point at a step for its numbers.", "把指针移到某一步上查看数值。"),
    "cache.title": ("Tokens in the cache after each pass", "每次前向之后缓存里的 token 数"),
    "cache.columns": ("Passes, by the tokens in the cache", "各次前向与缓存中的 token 数"),
    "cache.passes": ("Pass", "前向"),
    "cache.pass": ("{n} of {total}", "第 {n} 次，共 {total} 次"),
    "cache.prefill": ("The prompt is read: the cache holds {cached} tokens.", "读入提示：缓存里有 {cached} 个 token。"),
    "cache.preview": (
        "Block {block}, step {step}: the preview commits {n} slot; the cache still holds {cached}. | "
        "Block {block}, step {step}: the preview commits {n} slots; the cache still holds {cached}.",
        "第 {block} 块第 {step} 步：预览提交 {n} 个槽位；缓存仍是 {cached} 个。",
    ),
    "cache.replay": (
        "Block {block} is replayed: the cache now holds {cached} tokens.",
        "重放第 {block} 块：缓存现在有 {cached} 个 token。",
    ),
    "cache.sees_preview": (
        "A preview: every slot (a row) sees the cache, the bar on the left, and the whole block.",
        "预览：每个槽位（一行）都看得到缓存（左侧竖条）和整块。",
    ),
    "cache.sees_causal": (
        "A causal pass: every slot (a row) sees the cache, the bar on the left, and what is left of it.",
        "因果前向：每个槽位（一行）只看得到缓存（左侧竖条）和自己左边的部分。",
    ),
    "coreset.touched": ("touched", "触及"),
    "coreset.kept": ("kept", "保留"),
    "coreset.rerouted": ("re-routed", "改道"),
    "coreset.measure": ("Show", "显示"),
    "coreset.map": ("Layers from the top, steps from the left", "自上而下为层，从左到右为步骤"),
    "coreset.whole": (
        "Over this block a layer keeps {kept} of {touched} touched experts ({total} in all); a slot loses {lost} "
        "choices.",
        "在这一块里，每层平均触及 {touched} 个专家（共 {total} 个），保留 {kept} 个；每个槽位失去 {lost} 个选择。",
    ),
    "coreset.cell": (
        "Layer {layer}, step {step}: {kept} kept of {touched} touched ({total} in all), {lost} re-routed a slot.",
        "第 {layer} 层第 {step} 步：触及 {touched} 个（共 {total} 个），保留 {kept} 个，每个槽位改道 {lost} 个。",
    ),
    "coreset.means": ("Mean over the layers, step by step", "各层平均值随步骤的变化"),
    "coreset.lines": (
        "Touched, the thin line, goes from {t0} to {t1} over {n} step; kept from {k0} to {k1}, of {total}. | "
        "Touched, the thin line, goes from {t0} to {t1} over {n} steps; kept from {k0} to {k1}, of {total}.",
        "{n} 步中，触及（细线）从 {t0} 到 {t1}，保留从 {k0} 到 {k1}，共 {total} 个。",
    ),
    "verify.round": ("Round", "轮次"),
    "verify.round_of": ("{n} of {total}", "第 {n} 轮，共 {total} 轮"),
    "verify.rule": ("Rule", "规则"),
    "verify.exact": ("Exact, as recorded", "精确（录制所用）"),
    "verify.threshold": ("Threshold: lossy", "阈值：有损"),
    "verify.columns": ("Drafts by the causal pass's probability", "各草稿在因果前向中的概率"),
    "verify.draft": (
        "Draft {n}, {token}: causal probability {p}, entropy {entropy} nats.",
        "草稿 {n}，{token}：因果概率 {p}，熵 {entropy} nat。",
    ),
    "verify.bar": ("Its bar is {bar}.", "它的门槛是 {bar}。"),
    "verify.is_kept": ("It is kept.", "保留。"),
    "verify.is_refused": ("It is the first refused.", "它是第一个被拒绝的。"),
    "verify.is_behind": ("It lies behind a refused one.", "它排在被拒绝的草稿之后。"),
    "verify.is_late": ("It lies behind the end of the text.", "它排在文本结尾之后。"),
    "verify.over": (
        "{n} of {total} drafts is kept; the text ends with it. | {n} of {total} drafts are kept; the text ends there.",
        "{total} 个草稿保留 {n} 个；文本到此结束。",
    ),
    "verify.brought": (
        "{n} token of text in two passes. | {n} tokens of text in two passes.",
        "两次前向得到 {n} 个正文 token。",
    ),
    "verify.first": (
        "{n} of {total} drafts is kept; {token} is the first refused. | "
        "{n} of {total} drafts are kept; {token} is the first refused.",
        "{total} 个草稿保留 {n} 个；{token} 是第一个被拒绝的。",
    ),
    "verify.all": ("All of the {total} drafts are kept.", "{total} 个草稿全部保留。"),
    "verify.next": (
        "The causal pass adds {token}: {n} token in two passes. | "
        "The causal pass adds {token}: {n} tokens in two passes.",
        "因果前向补上 {token}：两次前向得到 {n} 个 token。",
    ),
    "verify.against": ("The exact rule kept {n}. | The exact rule kept {n}.", "精确规则保留了 {n} 个。"),
    "verify.point": ("Point at a draft for its check.", "把指针移到草稿上查看验证结果。"),
    "verify.caveat": (
        "The run was made with the exact rule; the other rule is applied to the same checks. Had it decided, the later "
        "rounds would be others. A refused draft may still have a high probability: another token's was higher. Our "
        "verify passes use all experts; whether the released code does is not known here.",
        "录制时用的是精确规则；另一条规则套用在同样的验证结果上。若由它决定，后面的轮次会不同。被拒绝的草稿概率也可能不低，只是另有 token 更高。"
        "我们的验证前向使用全部专家；发布的代码是否如此，这里不清楚。",
    ),
    **NUMBERS,
}


def words() -> dict[str, dict[str, str]]:
    """{language: {key: pattern}}."""
    return {
        language: {key: pair[at] for key, pair in WORDS.items()} for at, language in enumerate(("en", "zh-CN"))
    }
