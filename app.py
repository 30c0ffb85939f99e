"""The app: `python app.py [--model DIR|HUB] [--share] [--port N]`, and the variables below."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

DEFAULT_MODEL = Path(__file__).parent / "assets" / "clover-tiny"
CHOICES = ("device", "dtype", "kernels", "graphs")  # of Engine.load, each "auto" where its variable says nothing
VARIABLES = {
    "CLOVER_MODEL": "the model, where --model is left out",
    "CLOVER_REVISION": "revision of a hub id: a commit, a tag or a branch",
    "CLOVER_DEVICE": "auto, cpu, cuda or cuda:N (auto: the card, where there is one)",
    "CLOVER_DTYPE": "auto, float32, bfloat16 or float16 (auto: float32 on a CPU, bfloat16 on a card)",
    "CLOVER_KERNELS": "auto, reference or triton",
    "CLOVER_GRAPHS": "auto, on or off; on needs a card and the Triton kernels",
    "GRADIO_SERVER_NAME": "address to listen on; 0.0.0.0 lets other machines in (127.0.0.1)",
    "GRADIO_SERVER_PORT": "port to listen on, or the first free one after it, where --port is left out (7860)",
}


def main(arguments: list[str] | None = None) -> None:
    """Serves the page until interrupted. The model loads meanwhile, and the page says so."""
    options = _options(arguments)

    from clover_viz.ui.page import build, launch_options
    from clover_viz.ui.runs.desk import Desk

    local = Path(options.model)
    desk = Desk(lambda: _load(options.model), local.name if local.is_dir() else options.model)
    try:
        build(desk).launch(share=options.share, server_port=options.port, **launch_options())
    except OSError as error:
        if "port" not in str(error):
            raise
        raise SystemExit(f"app.py: error: {error}") from None  # taken, or not for everybody


def _load(model: str):
    from clover_viz.cores import leave_a_core
    from clover_viz.engine import Engine  # torch loads here, on the desk's thread

    leave_a_core()
    choices = {name: os.environ.get(f"CLOVER_{name.upper()}") or "auto" for name in CHOICES}
    return Engine.load(model, revision=os.environ.get("CLOVER_REVISION") or None, **choices)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Watch a block-diffusion language model write.",
        epilog="environment variables:\n" + "\n".join(f"  {name:<20}{text}" for name, text in VARIABLES.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--model",
        metavar="DIR|HUB_ID",
        default=os.environ.get("CLOVER_MODEL") or str(DEFAULT_MODEL),
        help="a checkpoint folder or a hub id (default: CLOVER_MODEL, else the embedded clover-tiny)",
    )
    parser.add_argument("--share", action="store_true", help="open a public link through Gradio's tunnel")
    parser.add_argument("--port", metavar="N", type=_port, help="port to listen on (default: GRADIO_SERVER_PORT)")
    options = parser.parse_args(arguments)
    if "GRADIO_SERVER_PORT" in os.environ:
        try:
            _port(os.environ["GRADIO_SERVER_PORT"])  # Gradio reads it when it is imported, and would not say which
        except argparse.ArgumentTypeError as error:
            parser.error(f"GRADIO_SERVER_PORT: {error}")
    return options


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"port must be in [1, 65535], got {text!r}")
    return int(text)


if __name__ == "__main__":
    main()
