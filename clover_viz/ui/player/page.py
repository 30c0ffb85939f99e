"""A player that needs nothing: one HTML file with style, scripts and recordings in it, which asks for nothing."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from clover_viz.ui.palette import DARK, LIGHT, RAMP_DARK, RAMP_LIGHT, variables
from clover_viz.ui.records import json_text
from clover_viz.ui.theme import BOARD_SCRIPTS, asset, script

SCRIPTS = (*BOARD_SCRIPTS, "player/time.js", "player/text.js", "player/controls.js", "player/player.js")
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; {light} --cv-mono: ui-monospace, Menlo, Consolas, monospace; }}
@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}
{sheets}
body {{ margin: 0 auto; max-width: 1400px; padding: 24px clamp(14px, 2.4vw, 32px) 40px; background: var(--cv-ground);
  color: var(--cv-ink); font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }}
h1 {{ font-size: 21px; font-weight: 650; letter-spacing: -0.02em; margin: 0 0 14px; }}
.cv-player {{ background: var(--cv-surface); }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
<div id="player"></div>
</main>
<noscript>This player is a script: allow scripts for this file to see the recording.</noscript>
<script type="application/json" id="recordings">{data}</script>
<script>
{scripts}
document.documentElement.lang = tell.language = known(navigator.language);
const recordings = JSON.parse(document.getElementById("recordings").textContent);
const player = new Player(document.getElementById("player"));
player.load(...recordings);
player.seek(player.length);
</script>
</body>
</html>
"""


def player_page(recordings: Sequence[dict], title: str) -> str:
    """The file's text, to be written as UTF-8. recordings: one, or two to compare, of `recording.recording`.

    No token can end the script element that holds the data: json_text leaves no `<`.
    """
    return PAGE.format(
        title=escape(title),
        light=variables(LIGHT, RAMP_LIGHT),
        dark=variables(DARK, RAMP_DARK),
        sheets="\n".join(asset(name) for name in ("board/board.css", "player/player.css")),
        data=json_text(list(recordings)),
        scripts=script(*SCRIPTS),
    )
