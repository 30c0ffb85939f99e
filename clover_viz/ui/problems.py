"""What cannot be done, and why: English pattern -> Chinese pattern; see `retelling`."""

from __future__ import annotations

PROBLEMS = {
    "Error": "错误",
    # a message that is not taken
    "The message is empty: write something to send.": "消息是空的：写点什么再发送。",
    "The message must have at most {own_most} characters, got {own_given}.": "消息最多 {own_most} 个字符，收到 {own_given} 个。",
    "A run is going in this conversation: stop it first.": "这段对话里有一次运行正在进行：请先停止它。",
    "This conversation has {n} turns, the most a page holds: clear it to go on.":
        "这段对话已有 {n} 轮，是一页的上限：清空后才能继续。",
    "This conversation would pass {n} characters, the most a page holds: clear it to go on.":
        "这段对话将超过 {n} 个字符，即一页的上限：清空后才能继续。",
    "There is no message to try again yet.": "还没有可以重试的消息。",
    "Too many visitors are waiting for the model just now: try again in a minute.":
        "现在等待模型的人太多：请过一分钟再试。",
    "the model could not be loaded: {own_why}": "模型无法加载：{own_why}",
    "the prompt must hold at least one token, got none": "提示至少要有一个 token，收到的是空的",
    "the prompt must leave room for {unit} in the context of {n} positions, got a prompt of {p} tokens":
        "提示之后，{n} 个位置的上下文里必须还放得下{unit}，收到的提示有 {p} 个 token",
    "the prompt must leave room for {unit} in the context of {n} positions, got a prompt of {p} tokens; "
    "the whole conversation counts, and Clear begins a new one":
        "提示之后，{n} 个位置的上下文里必须还放得下{unit}，收到的提示有 {p} 个 token；整段对话都算在内，按“清空”可重新开始",
    "one token": "一个 token",
    "one block of {n}": "一个 {n} 槽位的块",
    "{word} must be 0 for a tokenizer without </think>, got {own_given}":
        "分词器没有 </think> 时 {word} 必须为 0，收到 {own_given}",
    # a setting that is not taken
    "{word} is not a setting of {word_mode} mode": "{word_mode} 模式没有设置项 {word}",
    "{word} is not a setting of {word_mode} mode, which has {own_names}": "{word_mode} 模式没有设置项 {word}，它有 {own_names}",
    "{word} is no setting of this page": "本页没有设置项 {word}",
    "{word} must be {n}, got {own_given}": "{word} 必须是 {n}，收到 {own_given}",
    "{word} must be {wanted}, got {own_given}": "{word} 必须是{wanted}，收到 {own_given}",
    "in {own_range}": " {own_range} 内的数",
    "None or in {own_range}": " None 或 {own_range} 内的数",
    "a number": "数",
    "a whole number": "整数",
    "a whole number of at least {own_low}": "不小于 {own_low} 的整数",
    "a whole number in {own_range}": " {own_range} 内的整数",
    "{wanted} on this page": "{wanted}（在本页）",
    "one of {own_names}": " {own_names} 之一",
    "one of {own_names} for this model": " {own_names} 之一（对这个模型）",
    "one of {own_names} for this model (larger ones with allow_untrained_block)":
        " {own_names} 之一（对这个模型；设 allow_untrained_block 可以更大）",
    "0 with accept_rule threshold": " 0（accept_rule 为 threshold 时）",
    "true or false": " true 或 false",
    "exact or threshold": " exact 或 threshold",
    "denoise or speculative or autoregressive": " denoise、speculative 或 autoregressive",
    "4 or 8 or 16 or 32": " 4、8、16 或 32",
    # a trace that is not taken
    "{own_name} line {n}: {problem}": "{own_name} 第 {n} 行：{problem}",
    "a trace must be a readable file, got {own_name}: {own_why}": "轨迹必须是可读的文件，收到 {own_name}：{own_why}",
    "a trace must hold one run that begins with run_started": "轨迹必须只含一次运行，并以 run_started 开头",
    "a trace must end with run_finished, got more after it": "轨迹必须以 run_finished 结尾，之后却还有内容",
    "a trace must end with run_finished, got the end of the file": "轨迹必须以 run_finished 结尾，文件却先结束了",
    "a trace must be packed once at most, got gzip inside gzip": "轨迹最多只能压缩一次，收到的是 gzip 套 gzip",
    "a trace must have at most {n} MB unpacked, got more": "轨迹解压后最多 {n} MB，收到的更大",
    "a line must be at most {n} bytes, got more": "一行最多 {n} 字节，收到的更长",
    "the gzip data is broken or cut off ({own_why})": "gzip 数据损坏或被截断（{own_why}）",
    "not a whole JSON object ({own_why})": "不是完整的 JSON 对象（{own_why}）",
    "text must be valid Unicode, got half of a surrogate pair": "文本必须是有效的 Unicode，收到半个代理对",
    "{word_event} has no field {word}": "{word_event} 没有字段 {word}",
    "{word_event} lacks the field {word}": "{word_event} 缺少字段 {word}",
    "an object": "对象",
    "a list": "列表",
    "an integer": "整数",
    "a finite number": "有限的数",
    "a str": "文本",
    "a bool": " true 或 false",
    "of {word_mode} mode": " {word_mode} 模式的",
    "slots of the block": "块内的槽位",
    "of slots of the round": "这一轮的槽位",
    "fewer than {n}": "少于 {n} 个",
    "told": "给出的",
    "{n}, one a draft": " {n} 个，每个草稿一个",
    "slots must be in order, got others": "槽位必须按顺序排列",
    "a round must begin with step 1, got {n}": "一轮必须从第 1 步开始，收到第 {n} 步",
    "replayed must follow the block it replays, got {own_given}": "replayed 必须跟在它重放的块之后，收到 {own_given}",
    "position must not go back, got {own_given}": "position 不能后退，收到 {own_given}",
    "denoised must follow block_opened of its block and slots, got block {n}":
        "denoised 必须跟在同一块、同样槽位的 block_opened 之后，收到第 {n} 块",
    "verified must follow drafted of its round, got round {n}": "verified 必须跟在同一轮的 drafted 之后，收到第 {n} 轮",
}  # fmt: skip
