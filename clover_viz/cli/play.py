"""`play`: a recorded trace in the terminal."""

from clover_viz.cli.console import DONE, Parser, notice, number, write
from clover_viz.errors import UserError
from clover_viz.events import Text
from clover_viz.trace.canvas import Canvas
from clover_viz.trace.drawable import Drawable
from clover_viz.trace.pace import pace
from clover_viz.trace.store import play


def parser() -> Parser:
    p = Parser(
        prog="python -m clover_viz play",
        description="Play a recorded trace: its text on stdout, what each pass did on stderr.",
    )
    p.add_argument("file", metavar="FILE", help="JSON Lines of `generate --events`, plain or gzipped")
    p.add_argument(
        "--speed", type=number, default=1.0, metavar="F", help="1 is as recorded, 0 does not wait (default: 1)"
    )
    return p


def main(argv: list[str]) -> int:
    args = parser().parse_args(argv)
    if isinstance(args.speed, str) or not 0 <= args.speed <= 1000:
        raise UserError(f"speed must be in [0, 1000], got {args.speed!r}")
    canvas = Canvas()
    for event in pace(play(args.file, Drawable().take), args.speed):
        canvas = canvas.apply(event)
        if not isinstance(event, Text):
            notice(canvas.line)
        elif not event.thinking:
            write(event.delta)
    return DONE
