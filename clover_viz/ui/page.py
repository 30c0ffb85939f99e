"""The page: its tabs, the model's news, and the endpoint for programs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import gradio as gr

from clover_viz.ui.about import footer, news
from clover_viz.ui.api import endpoint
from clover_viz.ui.chat.outset import set_out
from clover_viz.ui.chat.tab import QUICK, RUNS, chat_tab
from clover_viz.ui.languages import I18N, both
from clover_viz.ui.lesson.tab import OPEN_LINKED, lesson_tab
from clover_viz.ui.player.tab import fill_from_link, player_tab
from clover_viz.ui.runs.desk import Desk
from clover_viz.ui.theme import asset, style, theme

BANNER = """<div class="cv-banner">{mark}<h1>Clover Viz</h1>
<p>{says}</p>
</div>"""
SAYS = (
    "A language model that writes a block at a time: every step previews all open slots and commits the sure ones.",
    "一个逐块写作的语言模型：每一步预览所有空着的槽位，并提交有把握的那些。",
)


def build(desk: Desk) -> gr.Blocks:
    """The page over one desk. Launch it with `launch_options()`."""
    with gr.Blocks(title="Clover Viz", analytics_enabled=False, fill_width=True, delete_cache=(3600, 3600)) as page:
        gr.HTML(BANNER.format(mark=asset("mark.svg"), says=both(*SAYS)), apply_default_css=False)
        with gr.Tabs(elem_id="tabs"):
            with gr.Tab(I18N("Chat"), id="chat"):
                chat = chat_tab(page, desk)
            with gr.Tab(I18N("Player"), id="player") as player:
                player_tab(chat.session, player)
            with gr.Tab(I18N("How it works"), id="lesson", elem_id="lesson"):
                lesson_tab()
        foot = gr.HTML(footer(desk), apply_default_css=False)
        page.load(_arrive(desk), None, [chat.board, foot], **RUNS)
        page.load(None, js=OPEN_LINKED, **QUICK)
        fill_from_link(page, chat.prompt, chat.controls)
        set_out(page, desk, chat.controls)
        gr.api(endpoint(desk), api_name="generate", concurrency_limit=None)
    page.queue(max_size=200)
    return page


def launch_options() -> dict:
    """What `launch` must be told so that the page looks as meant and asks nothing of other hosts."""
    return {
        "theme": theme(),
        "css": style(),
        "footer_links": [],
        "i18n": I18N,
        "max_file_size": "20mb",
        "run_history": False,
        "ssr_mode": False,
        "state_session_capacity": 256,
    }


def _arrive(desk: Desk):
    async def arrive() -> AsyncIterator[tuple[str, str]]:
        """News of the model until it is there."""
        while desk.state == "loading":
            yield news(desk), footer(desk)
            await asyncio.sleep(1)
        yield news(desk), footer(desk)

    return arrive
