"""The page in two languages: English, which is written where it is shown, and Simplified Chinese.

The English text is the key. Gradio's own components take theirs from `I18N`, by the browser's language: write
`label=I18N("Threshold")`, and give `launch` the object. What scripts draw is looked up by `tell` of languages.js, which
`phrases` hands the tables of their folders; there `one | many` is chosen by the value n, and {names} are filled in.
What Python composed reaches the browser in English, and `tell.text` tells it by its pattern; what must be told here,
because Gradio draws it, goes through `spoken`.
"""

from __future__ import annotations

import re

import gradio as gr

from clover_viz.ui.board.words import BOARD
from clover_viz.ui.charts.chinese import CHARTS, SAID
from clover_viz.ui.interface import INTERFACE
from clover_viz.ui.player.words import LINES, PLAYER
from clover_viz.ui.problems import PROBLEMS
from clover_viz.ui.records import json_text
from clover_viz.ui.retelling import retold
from clover_viz.ui.runs.words import NOTES

CHINESE = "zh-CN"
OFFERED = (CHINESE, "zh-TW")  # in a browser of another Chinese (zh, zh-HK) Gradio shows its components in English
# By the folder of the scripts: what they look up, and what reaches them in English.
WORDS = {"board": BOARD, "chat": BOARD, "player": PLAYER, "charts": CHARTS}
SENTENCES = {"board": {**NOTES, **PROBLEMS}, "chat": NOTES, "player": {**LINES, **PROBLEMS}, "charts": SAID}
SPOKEN = {**NOTES, **LINES, **PROBLEMS}

I18N = gr.I18n(en={text: text for text in INTERFACE}, **{tag: INTERFACE for tag in OFFERED})


def translated(choices) -> list[tuple]:
    """(text, value) pairs with their texts as keys that the browser translates."""
    return [(I18N(text), value) for text, value in choices]


def phrases(*folders: str) -> str:
    """JavaScript that makes `tell` out of what languages.js defines, for the scripts of these folders."""
    words, sentences = ({k: v for f in folders for k, v in of.get(f, {}).items()} for of in (WORDS, SENTENCES))
    return f"const tell = teller({json_text({CHINESE: words})}, {json_text({CHINESE: sentences})});"


def both(english: str, chinese: str) -> str:
    """HTML with a text in both languages, of which the page's style shows the one of the page."""
    return f'<span class="cv-in" lang="en">{english}</span><span class="cv-in" lang="{CHINESE}">{chinese}</span>'


def language_of(request: gr.Request | None) -> str:
    """The language that the page has in this browser, by the one it asks for first."""
    first = re.match(r"[\s\w-]*", request.headers.get("accept-language", "") if request else "")[0].strip()
    return CHINESE if first.lower() in map(str.lower, OFFERED) else "en"


def known(tag: str) -> str:
    """The language of ours that fits a BCP 47 tag: any Chinese is served in Simplified Chinese."""
    return CHINESE if re.match(r"zh\b", tag, re.IGNORECASE) else "en"


def spoken(text: str, language: str) -> str:
    """A note, a line or an error of the page in a language. One without translation, a library's, stays as it is."""
    return retold(text, SPOKEN) if language == CHINESE else text
