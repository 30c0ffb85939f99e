"""The Gradio theme and the page's style sheet, both from one palette. System fonts only: nothing is fetched."""

from __future__ import annotations

from importlib import resources

import gradio as gr
from gradio.themes.utils.colors import Color

from clover_viz.ui.languages import phrases
from clover_viz.ui.palette import DARK, LIGHT, RAMP_DARK, RAMP_LIGHT, variables

# Whoever draws a run needs these scripts; a section comes before what extends it.
BOARD_PARTS = (
    "fold", "tiles", "facts", "picker", "section",
    "past", "chips", "inspector", "ruler", "checks", "experts", "meters", "board",
)
BOARD_SCRIPTS = ("elements.js", *(f"board/{name}.js" for name in BOARD_PARTS))
SHEETS = ("page.css", "board/board.css", "player/player.css", "charts/charts.css", "lesson/lesson.css")

FONT = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "Arial", "sans-serif")
MONO = ("ui-monospace", "SF Mono", "Cascadia Mono", "Menlo", "Consolas", "DejaVu Sans Mono", "monospace")

CLOVER = Color(
    name="clover",
    c50="#effaf3",
    c100="#d9f2e2",
    c200="#b3e4c6",
    c300="#84d1a3",
    c400="#4fb67b",
    c500="#2b9a5d",
    c600="#1a7347",
    c700="#155e3a",
    c800="#114a2f",
    c900="#0d3a25",
    c950="#072014",
)


def theme() -> gr.themes.Base:
    """Quiet surfaces, one accent, and the palette's colours for every text Gradio draws."""
    made = gr.themes.Base(
        primary_hue=CLOVER,
        secondary_hue=CLOVER,
        neutral_hue="gray",
        spacing_size="md",
        radius_size="md",
        text_size="md",
        font=FONT,
        font_mono=MONO,
    )
    pairs = {}
    for name, colour in {
        "body_background_fill": "ground",
        "body_text_color": "ink",
        "body_text_color_subdued": "quiet",
        "background_fill_primary": "surface",
        "background_fill_secondary": "sunken",
        "block_background_fill": "surface",
        "block_border_color": "line",
        "block_info_text_color": "quiet",
        "block_label_background_fill": "surface",
        "block_label_text_color": "ink",
        "block_title_text_color": "ink",
        "border_color_primary": "line",
        "border_color_accent": "accent",
        "color_accent_soft": "accent-wash",
        "link_text_color": "accent",
        "input_background_fill": "surface",
        "input_border_color": "edge",
        "input_border_color_focus": "accent",
        "input_placeholder_color": "quiet",
        "checkbox_background_color": "surface",
        "checkbox_border_color": "edge",
        "checkbox_background_color_selected": "accent",
        "checkbox_border_color_selected": "accent",
        "checkbox_border_color_focus": "accent",
        "checkbox_label_background_fill": "surface",
        "checkbox_label_background_fill_hover": "sunken",
        "checkbox_label_background_fill_selected": "accent-wash",
        "checkbox_label_border_color": "line",
        "checkbox_label_border_color_selected": "accent",
        "checkbox_label_text_color": "ink",
        "checkbox_label_text_color_selected": "ink",
        "button_primary_background_fill": "accent",
        "button_primary_background_fill_hover": "accent",
        "button_primary_border_color": "accent",
        "button_primary_text_color": "accent-ink",
        "button_primary_text_color_hover": "accent-ink",
        "button_secondary_background_fill": "surface",
        "button_secondary_background_fill_hover": "sunken",
        "button_secondary_border_color": "edge",
        "button_secondary_text_color": "ink",
        "button_secondary_text_color_hover": "ink",
        "error_background_fill": "surface",
        "error_border_color": "danger",
        "error_text_color": "danger",
        "error_icon_color": "danger",
        "slider_color": "accent",
    }.items():
        pairs[name] = LIGHT[colour]
        pairs[f"{name}_dark"] = DARK[colour]
    return made.set(
        **pairs,
        block_shadow="none",
        block_border_width="0px",
        block_title_text_weight="500",
        block_label_text_weight="500",
        button_primary_shadow="none",
        button_secondary_shadow="none",
        input_border_width="1px",
        input_shadow="none",
        input_shadow_focus="none",
        checkbox_label_shadow="none",
    )


def style() -> str:
    """All of the page's CSS: the palette as custom properties for light and dark, then the sheets."""
    sheets = "\n".join(map(asset, SHEETS))
    return (
        f":root {{ {variables(LIGHT, RAMP_LIGHT)} --cv-mono: {_stack(MONO)}; }}\n"
        f":root.dark, :root .dark {{ {variables(DARK, RAMP_DARK)} }}\n{sheets}"
    )


def script(*names: str) -> str:
    """Scripts of this package, one after the other, and before them `tell`, which gives their words in the page's
    language: the text Gradio runs when a component appears."""
    folders = dict.fromkeys(name.partition("/")[0] for name in names)
    return "\n".join((asset("languages.js"), phrases(*folders), *map(asset, names)))


def drawn(*names: str, mount: str) -> gr.HTML:
    """A component whose elements a script makes; its value is only ever a JSON text. `mount` runs when it appears."""
    return gr.HTML(
        value="", html_template="<div></div>", js_on_load=f"{script(*names)}\n{mount}", apply_default_css=False
    )


def asset(name: str) -> str:
    """A style sheet or script of this package."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _stack(names: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}"' if " " in name else name for name in names)
