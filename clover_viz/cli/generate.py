"""`generate`: a prompt in, text out as it becomes certain."""

import argparse
import sys
import threading
from collections.abc import Iterable

from clover_viz.cli import flags
from clover_viz.cli.console import DONE, FAILED, Parser, check_output, notice, write
from clover_viz.cli.interrupts import interrupts_set
from clover_viz.events import Event, RunFinished, RunStarted, Text
from clover_viz.settings import MODES, settings_for
from clover_viz.trace.store import record
from clover_viz.trace.words import describe, finish_line


def parser() -> Parser:
    p = Parser(prog="python -m clover_viz generate", description="Write an answer to a prompt, streaming it.")
    flags.add_prompt(p)
    flags.add_model(p)
    p.add_argument("--mode", default="denoise", metavar="|".join(MODES))
    flags.add_limits(p)
    p.add_argument(
        "--events", metavar="FILE|-", help="record the events as JSON Lines, gzipped for .gz; - is stdout, without text"
    )
    group = p.add_argument_group("settings (each belongs to some modes only)")
    flags.add_settings(group)
    group.add_argument(
        "--allow-untrained-block", action="store_true", default=argparse.SUPPRESS,
        help="denoise mode: take a block larger than the model was trained with",
    )  # fmt: skip
    return p


def main(argv: list[str]) -> int:
    args = parser().parse_args(argv)
    untrained = {k: v for k, v in vars(args).items() if k == "allow_untrained_block"}
    settings = settings_for(args.mode, flags.settings(args) | untrained)
    limits = flags.limits(args)
    if args.events != "-":
        check_output("--events", args.events)
    prompt = flags.prompt(args)

    engine = flags.load_engine(args)
    cancel = threading.Event()
    with flags.values_are_to_blame():
        events = engine.generate(prompt, settings, **limits.as_dict(), cancel=cancel, raw=args.raw)
    if args.events is not None:
        events = record(events, sys.stdout if args.events == "-" else args.events)
    with interrupts_set(cancel):
        return show(events, text=args.events != "-")


def show(events: Iterable[Event], text: bool) -> int:
    """Streams the text to stdout and says on stderr how the run began and ended. The exit code of the run."""
    reason = written = None
    for event in events:
        match event:
            case RunStarted():
                notice(describe(None, event))
            case Text(delta=delta, thinking=None) if text:
                write(delta)
                written = delta
            case RunFinished():
                reason = event.reason
                if written and not written.endswith("\n") and sys.stdout.isatty():
                    notice("")
                notice(finish_line(event))
    return FAILED if reason in (None, "cancelled") else DONE
