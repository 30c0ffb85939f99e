"""The app: `python app.py [--model DIR|HUB] [--share] [--port N]`.

Also from the environment: CLOVER_MODEL, CLOVER_REVISION, CLOVER_KERNELS, CLOVER_GRAPHS, GRADIO_SERVER_NAME,
GRADIO_SERVER_PORT.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

DEFAULT_MODEL = Path(__file__).parent / "assets" / "clover-tiny"


def main(arguments: list[str] | None = None) -> None:
    """Serves the page until interrupted. The model loads meanwhile, and the page says so."""
    options = _options(arguments)

    from clover_viz.ui.runs.desk import Desk
    from clover_viz.ui.page import build, launch_options

    local = Path(options.model)
    desk = Desk(lambda: _load(options.model), local.name if local.is_dir() else options.model)
    build(desk).launch(share=options.share, server_port=options.port, **launch_options())


def _load(model: str):
    from clover_viz.engine import Engine  # torch loads here, on the desk's thread

    revision = os.environ.get("CLOVER_REVISION") or None
    kernels, graphs = (os.environ.get(name) or "auto" for name in ("CLOVER_KERNELS", "CLOVER_GRAPHS"))
    return Engine.load(model, kernels=kernels, graphs=graphs, revision=revision)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Watch a block-diffusion language model write.")
    parser.add_argument(
        "--model",
        default=os.environ.get("CLOVER_MODEL") or str(DEFAULT_MODEL),
        help="a checkpoint folder or a hub id (CLOVER_MODEL; the embedded clover-tiny when neither is given)",
    )
    parser.add_argument("--share", action="store_true", help="open a public link through Gradio's tunnel")
    parser.add_argument("--port", type=_port, help="port to listen on (GRADIO_SERVER_PORT)")
    return parser.parse_args(arguments)


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"port must be in [1, 65535], got {text!r}")
    return int(text)


if __name__ == "__main__":
    main()
