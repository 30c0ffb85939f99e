"""`generate`: a prompt in, text out as it becomes certain."""

import argparse
import signal
import sys
import threading
from collections.abc import Iterable
from contextlib import contextmanager
from pathlib import Path

from clover_viz.cli.console import DONE, FAILED, Parser, notice, number, write
from clover_viz.errors import UserError
from clover_viz.events import Event, RunFinished, RunStarted, Text
from clover_viz.settings import MODES, Limits, settings_for
from clover_viz.trace.store import record
from clover_viz.trace.words import describe, finish_line

DEFAULT_MODEL = Path(__file__).resolve().parents[2] / "assets" / "clover-tiny"

SETTINGS_HELP = {
    "threshold": "commit a slot whose probability is above F, in [0, 1] (default: the checkpoint's)",
    "block_size": "slots denoised together, a divisor of the model's own of at least 2 (default: the model's)",
    "coreset_top_p": "share of the routing a block's experts must hold, in (0, 1] (default: the checkpoint's)",
    "accept_rule": "exact keeps the autoregressive text; threshold is lossy",
    "ratio": "threshold rule: most a draft's probability is asked for, in [0, 1]",
    "delta": "threshold rule: asked probability is delta * exp(-entropy) at most, in [0, 10]",
    "draft_steps": "previews a round",
    "temperature": "0 takes the likeliest token; up to 10",
    "presence_penalty": "taken once from tokens the response holds, in [-2, 2]",
    "frequency_penalty": "taken for each time the response holds a token, in [-2, 2]",
    "repetition_penalty": "divides the logits of tokens the response holds, in (0, 10]; 1 is off",
    "stop_bias": "added to the end tokens for every 1,000 response tokens, in [0, 1000]",
    "think_close_bias": "added to </think> for every 1,000 tokens of an open thinking section, in [0, 1000]",
}  # fmt: skip


def parser() -> Parser:
    p = Parser(prog="python -m clover_viz generate", description="Write an answer to a prompt, streaming it.")
    p.add_argument("prompt", metavar="PROMPT", help="one user turn; with --raw the text to go on from")
    p.add_argument("--model", default=str(DEFAULT_MODEL), metavar="DIR|HUB_ID", help="default: the embedded model")
    p.add_argument("--revision", metavar="SHA", help="revision of a hub model")
    p.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    p.add_argument("--dtype", default="auto", help="auto, float32, bfloat16 or float16")
    p.add_argument("--kernels", default="auto", metavar="auto|reference|triton")
    p.add_argument("--mode", default="denoise", metavar="|".join(MODES))
    p.add_argument("--max-new-tokens", type=number, default=256, metavar="N", help="at least 1 (default: 256)")
    p.add_argument("--stop", action="append", default=[], metavar="S", help="end before this text; may be repeated")
    p.add_argument("--seed", type=number, default=0, metavar="N", help="of every draw (default: 0)")
    p.add_argument("--system", metavar="S", help="a system message before the prompt")
    p.add_argument("--raw", action="store_true", help="use the prompt as it is, without the chat template")
    p.add_argument(
        "--events", metavar="FILE|-", help="record the events as JSON Lines, gzipped for .gz; - is stdout, without text"
    )
    group = p.add_argument_group("settings (each belongs to some modes only)")
    coreset = group.add_mutually_exclusive_group()
    for name, text in SETTINGS_HELP.items():
        where = coreset if name == "coreset_top_p" else group
        kind = str if name == "accept_rule" else number
        metavar = "exact|threshold" if name == "accept_rule" else "N" if name in ("block_size", "draft_steps") else "F"
        where.add_argument(
            "--" + name.replace("_", "-"), type=kind, default=argparse.SUPPRESS, metavar=metavar, help=text
        )
    coreset.add_argument(
        "--no-coreset", dest="coreset_top_p", action="store_const", const=None, default=argparse.SUPPRESS,
        help="let a block use every expert",
    )  # fmt: skip
    group.add_argument(
        "--allow-untrained-block", action="store_true", default=argparse.SUPPRESS,
        help="denoise mode: take a block larger than the model was trained with",
    )  # fmt: skip
    return p


def main(argv: list[str]) -> int:
    args = parser().parse_args(argv)
    settings = settings_for(
        args.mode, {k: v for k, v in vars(args).items() if k in SETTINGS_HELP or k == "allow_untrained_block"}
    )
    limits = Limits(args.max_new_tokens, tuple(args.stop), args.seed)
    if args.raw and args.system is not None:
        raise UserError("--system must be left out with --raw, which uses the prompt as it is")
    if args.events not in (None, "-") and (Path(args.events).is_dir() or not Path(args.events).parent.is_dir()):
        raise UserError(f"--events must name a file in a folder that exists, got {args.events!r}")

    prompt = args.prompt if args.raw else [{"role": "user", "content": args.prompt}]
    if args.system is not None:
        prompt.insert(0, {"role": "system", "content": args.system})
    if not args.prompt.strip() and not args.raw:
        raise UserError("the prompt must not be empty, got only white space")

    with _values_are_to_blame():
        from clover_viz.engine import Engine

        engine = Engine.load(args.model, args.device, args.dtype, args.kernels, args.revision)
        cancel = threading.Event()
        events = engine.generate(
            prompt, settings, limits.max_new_tokens, limits.stop, limits.seed, cancel=cancel, raw=args.raw
        )
    if args.events is not None:
        events = record(events, sys.stdout if args.events == "-" else args.events)
    with _interrupts_set(cancel):
        return show(events, text=args.events != "-")


def show(events: Iterable[Event], text: bool) -> int:
    """Streams the text to stdout and says on stderr how the run began and ended. The exit code of the run."""
    reason = written = None
    for event in events:
        match event:
            case RunStarted():
                notice(describe(None, event))
            case Text(delta=delta) if text:
                write(delta)
                written = delta
            case RunFinished():
                reason = event.reason
                if written and not written.endswith("\n") and sys.stdout.isatty():
                    notice("")
                notice(finish_line(event))
    return FAILED if reason in (None, "cancelled") else DONE


@contextmanager
def _values_are_to_blame():
    """Before a run begins, whatever is refused with a ValueError was a bad value from outside."""
    try:
        yield
    except UserError:
        raise
    except ValueError as error:
        raise UserError((str(error).splitlines() or [type(error).__name__])[0]) from error


@contextmanager
def _interrupts_set(cancel: threading.Event):
    """The first Ctrl-C ends the run cleanly before its next pass, the second one ends the program."""

    def handler(signum, frame):
        if cancel.is_set():
            raise KeyboardInterrupt
        cancel.set()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
