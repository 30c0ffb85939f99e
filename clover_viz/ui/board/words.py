"""What the board and the conversation say, English pattern -> Chinese pattern; see `languages`."""

from __future__ import annotations

BOARD = {
    # fold.js: what just happened
    "Reading the prompt: {n} token. | Reading the prompt: {n} tokens.": "正在读入提示：{n} 个 token。",
    "The prompt is read: {n} token in the cache. | The prompt is read: {n} tokens in the cache.":
        "提示已读入：缓存里有 {n} 个 token。",
    "Block {block}: {n} slots, all masked.": "第 {block} 块：{n} 个槽位，全部为掩码。",
    "Block {block} is done after {n} step; one causal pass replayed it into the cache. | "
    "Block {block} is done after {n} steps; one causal pass replayed it into the cache.":
        "第 {block} 块用 {n} 步完成；一次因果前向把它重放进缓存。",
    "Token {count}: {token} at {sure}. One pass, one token.": "第 {count} 个 token：{token}，概率 {sure}。一次前向，一个 token。",
    "Token {count}: {token} at {sure}. The prompt's own pass gives it.":
        "第 {count} 个 token：{token}，概率 {sure}。读入提示的那次前向给出了它。",
    "{left} left": "剩 {left} 个",
    "none left": "没有剩余",
    "Step {step}: nothing over {bar}; the surest, {token} at {sure}, was forced; {rest}.":
        "第 {step} 步：没有高于 {bar} 的；强制提交最有把握的 {token}，置信度 {sure}；{rest}。",
    "Step {step}: {n} slot over {bar}; {rest}. | Step {step}: {n} slots over {bar}; {rest}.":
        "第 {step} 步：{n} 个槽位高于 {bar}；{rest}。",
    "Round {round}: one preview drafts {n} token behind {token}. | "
    "Round {round}: one preview drafts {n} tokens behind {token}.":
        "第 {round} 轮：一次预览在 {token} 之后起草 {n} 个 token。",
    "Round {round}, preview {preview}: one preview drafts {n} token behind {token}. | "
    "Round {round}, preview {preview}: one preview drafts {n} tokens behind {token}.":
        "第 {round} 轮第 {preview} 次预览：在 {token} 之后起草 {n} 个 token。",
    "Round {round}: {n} draft of {total} kept; the text ends there. | "
    "Round {round}: {n} drafts of {total} kept; the text ends there.":
        "第 {round} 轮：{total} 个草稿保留 {n} 个；文本到此结束。",
    "Round {round}: all {n} draft kept, and {next} comes free. | "
    "Round {round}: all {n} drafts kept, and {next} comes free.":
        "第 {round} 轮：{n} 个草稿全部保留，还白得一个 {next}。",
    "Round {round}: {n} draft of {total} kept; then the causal pass writes {next}, not {token}. | "
    "Round {round}: {n} drafts of {total} kept; then the causal pass writes {next}, not {token}.":
        "第 {round} 轮：{total} 个草稿保留 {n} 个；接着因果前向写下 {next}，而不是 {token}。",
    "Round {round}: {n} draft of {total} kept; then {token} at {p} is under its bar of {bar}, and the causal pass "
    "writes {next}. | "
    "Round {round}: {n} drafts of {total} kept; then {token} at {p} is under its bar of {bar}, and the causal pass "
    "writes {next}.":
        "第 {round} 轮：{total} 个草稿保留 {n} 个；{token} 的概率 {p} 低于门槛 {bar}，因果前向写下 {next}。",
    "Stopped": "已停止",
    "Cut at the limit": "到达上限",
    "Stop text met": "遇到停止文本",
    "Finished": "完成",
    "{how}: {tokens} in {passes}.": "{how}：{passes}，{tokens}。",
    "{how}: {tokens} in {passes}, {per} a pass.": "{how}：{passes}，{tokens}，平均每次 {per} 个。",
    "{n} token | {n} tokens": "{n} 个 token",
    "{n} pass | {n} passes": "{n} 次前向",
    # board.js and its parts: names
    "Block board": "块看板",
    "Block {n}": "第 {n} 块",
    "Round {n}": "第 {n} 轮",
    "Blocks of this answer": "这个回答的各块",
    "Slots of the block, in reading order": "块内槽位，按阅读顺序",
    "Steps of this block": "这一块的步骤",
    "Rounds of this answer": "这个回答的各轮",
    "Steps of the block, by the slots they committed": "块的各步骤，按提交的槽位数",
    "Verifier: the causal pass on each draft": "验证：因果前向对每个草稿的判断",
    "Drafts, by the causal pass's probability": "各草稿，按因果前向的概率",
    "Experts by layer": "各层的专家",
    "Layers, by the experts touched and kept": "各层，按触及和保留的专家数",
    "Step through this run": "逐步查看这次运行",
    "Step back": "后退一步",
    "Step forward": "前进一步",
    "Events of this run": "这次运行的事件",
    "Follow": "跟随",
    "To the end": "到末尾",
    "event {at} of {total}": "第 {at} 个事件，共 {total} 个",
    "Before the first event.": "第一个事件之前。",
    # board.js: the key
    "not written yet": "尚未写出",
    "written, in this order": "已写出，按此顺序",
    "masked: its current preview": "掩码：当前预览",
    "committed, with its step": "已提交，数字是步骤",
    "forced: none over the bar": "强制：都没过阈值",
    "given: the causal pass's own": "给定：因果前向自己的 token",
    "draft of the preview": "预览的草稿",
    "kept by the verifier": "验证后保留",
    "the first it refused": "第一个被拒绝",
    "behind it, or behind the end: not kept": "在它或结尾之后：不保留",
    # meters.js
    "tokens / pass": "token / 前向",
    "tokens / round": "token / 轮",
    "tokens / s": "token / 秒",
    "passes after prefill": "预填充后的前向",
    "experts kept": "保留专家",
    "re-routed": "改道",
    "{n} round | {n} rounds": "{n} 轮",
    "{sec} s in all": "共 {sec} 秒",
    "{n} preview": "{n} 次预览",
    "{n} replay": "{n} 次重放",
    "{n} verify": "{n} 次验证",
    "{n} decode": "{n} 次解码",
    "of {touched} touched, a layer": "每层触及 {touched} 个",
    "experts lost, a slot": "每个槽位失去的专家",
    # board.js: the state
    "Send a message, and its answer settles here, block by block.": "发送一条消息，回答会在这里逐块落定。",
    "Starting.": "正在开始。",
    "Loading the model.": "正在加载模型。",
    "The run ended with an error: {why}": "运行出错结束：{why}",
    "The run ended with an error. Retry sends the message again.": "运行出错结束。按“重试”可再次发送这条消息。",
    "Stopped.": "已停止。",
    "Held: “Next pass” lets the model go on.": "已暂停：按“下一次前向”让模型继续。",
    # facts.js: a slot, a step, a round, a draft, a layer
    "none yet": "还没有",
    "not verified yet": "尚未验证",
    "{n} step | {n} steps": "{n} 步",
    "{n} kept": "保留 {n} 个",
    "{name}: {n} of {total} slots committed": "{name}：{total} 个槽位已提交 {n} 个",
    "Point at a slot, or move through them with the arrow keys, to see how sure the model was.":
        "把指针移到槽位上，或用方向键移动，可以看到模型有多大把握。",
    "slot {slot}, empty": "槽位 {slot}，空",
    "slot {slot}, {facts}": "槽位 {slot}，{facts}",
    "slot {slot}, {token}, {facts}": "槽位 {slot}，{token}，{facts}",
    "position {at}": "位置 {at}",
    "never needed": "没有用到",
    "masked, no preview yet": "掩码，尚无预览",
    "confidence {sure}": "置信度 {sure}",
    "draft confidence {sure}": "草稿置信度 {sure}",
    "given before the block began": "块开始之前就已给定",
    "masked, current preview": "掩码，当前预览",
    "draft, not verified yet": "草稿，尚未验证",
    "kept": "保留",
    "kept by the verifier, past the end": "验证时保留，但在结尾之后",
    "rejected": "被拒绝",
    "discarded": "已丢弃",
    "forced at step {step}": "第 {step} 步强制提交",
    "committed at step {step}": "第 {step} 步提交",
    "forced at step {step}, not kept": "第 {step} 步强制提交，未保留",
    "committed at step {step}, not kept": "第 {step} 步提交，未保留",
    "step {step}: 1 slot forced, {left} left, {ms} ms": "第 {step} 步：强制提交 1 个槽位，剩 {left} 个，{ms} 毫秒",
    "step {step}: {n} slot committed, {left} left, {ms} ms | step {step}: {n} slots committed, {left} left, {ms} ms":
        "第 {step} 步：提交 {n} 个槽位，剩 {left} 个，{ms} 毫秒",
    "{n} slot | {n} slots": "{n} 个槽位",
    "{slots} in {steps}": "{steps}，{slots}",
    "{n} draft | {n} drafts": "{n} 个草稿",
    "{drafts} kept in {rounds}": "{rounds}，保留 {drafts}",
    "round {round}: {kept} of {n} draft kept, then {next} | round {round}: {kept} of {n} drafts kept, then {next}":
        "第 {round} 轮：{n} 个草稿保留 {kept} 个，接着是 {next}",
    "round {round}: {kept} of {n} draft kept; the text ends there | "
    "round {round}: {kept} of {n} drafts kept; the text ends there":
        "第 {round} 轮：{n} 个草稿保留 {kept} 个，文本到此结束",
    "{kept} of {total} kept": "{total} 个中保留 {kept} 个",
    "preview: {tokens}": "预览：{tokens}",
    "causal: {tokens}": "因果：{tokens}",
    "causal probability {p}, entropy {entropy} nats": "因果概率 {p}，熵 {entropy} nat",
    "causal probability {p} against a bar of {bar}, entropy {entropy} nats": "因果概率 {p}，门槛 {bar}，熵 {entropy} nat",
    "draft {at} {token}: {facts}": "草稿 {at} {token}：{facts}",
    "{check}, {fate}": "{check}，{fate}",
    "the first refused": "第一个被拒绝",
    "not kept": "未保留",
    "layer {layer}: {kept} kept of {touched} touched, {lost} re-routed a slot":
        "第 {layer} 层：触及 {touched} 个，保留 {kept} 个，每个槽位改道 {lost} 个",
    "kept {kept} of {touched} touched": "触及 {touched} 个，保留 {kept} 个",
    "kept {kept} of {touched} touched; the causal pass touched {causal}":
        "触及 {touched} 个，保留 {kept} 个；因果前向触及 {causal} 个",
    # conversation.js
    "Conversation": "对话",
    "Ask something, or take one of the examples below.": "问点什么，或者试试下面的例子。",
    "You": "你",
    "Thinking": "思考",
    "Copy": "复制",
    "Copy this answer": "复制这个回答",
    "Copied": "已复制",
    "The browser forbids copying": "浏览器不允许复制",
}  # fmt: skip
