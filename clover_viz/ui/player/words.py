"""What the player says, English pattern -> Chinese pattern; see `languages`."""

from __future__ import annotations

PLAYER = {
    # controls.js
    "Player": "回放",
    "Step": "前进一步",
    "Play": "播放",
    "Pause": "暂停",
    "Again": "重播",
    "Speed": "速度",
    "Time axis": "时间轴",
    "Passes": "前向次数",
    "Milliseconds": "毫秒",
    "Position in the recording": "录制中的位置",
    "prompt": "提示",
    "{tokens}, {ms} ms": "{tokens}，{ms} 毫秒",
    "{time} of {end} ms": "第 {time} 毫秒，共 {end} 毫秒",
    "Pass {time} of {end}": "第 {time} 次前向，共 {end} 次",
    "{where}, event {at} of {total}": "{where}，第 {at} 个事件，共 {total} 个",
    ". ": "。",
    # player.js, text.js
    "Block board: {title}": "块看板：{title}",
    "No text yet.": "还没有文本。",
    "Text so far": "目前的文本",
    # tab.js
    "Chat with this prompt and these settings": "用这个提示和这些设置对话",
    "Copy link": "复制链接",
    "Copied.": "已复制。",
    "The browser forbids copying. The link is {link}": "浏览器不允许复制。链接是 {link}",
}  # fmt: skip

# The titles of runs: a message of the visitor or the name of an example, and how it was answered.
TITLES = {"{own_title}": "{own_title}", "JSON tool call": "JSON 工具调用", "A list": "列表", "Prose": "散文"}
MODES = {"denoise a block": "逐块去噪", "draft and verify": "草稿与验证", "one token at a time": "逐个 token"}

# What the tab and its links say, and those titles.
LINES = {
    "One run alone": "只看一次运行",
    "This run is no longer kept: the page holds the last six.": "这次运行已不再保留：页面只留最近六次。",
    "Choose another.": "请另选一次。",
    "No recorded traces are here: open one, or run the model.": "这里没有录制的轨迹：打开一个，或运行模型。",
    "The page has no control for {own_names} of this run.": "本页没有这次运行的设置项 {own_names}。",
    "The trace does not tell its prompt, so the link brings the settings only.": "轨迹里没有提示，所以链接只带设置。",
    "The prompt is too long for an address, so the link brings the settings only.": "提示太长，放不进网址，所以链接只带设置。",
    "The link brings the last message, not the conversation before it.": "链接只带最后一条消息，不带之前的对话。",
    "The link's settings were left out: {problem}.": "没有采用链接里的设置：{problem}。",
    "Link": "链接",
    **{f"{title} · {mode}": f"{told} · {how}" for title, told in TITLES.items() for mode, how in MODES.items()},
}  # fmt: skip
