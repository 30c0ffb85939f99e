"""Flags that commands share: the model they load, the prompt, the limits and the settings of a run."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clover_viz.cli.console import Parser, number
from clover_viz.errors import UserError
from clover_viz.settings import CPU_SPECULATIVE_BLOCK, Limits

DEFAULT_MODEL = Path(__file__).resolve().parents[2] / "assets" / "clover-tiny"

SETTINGS_HELP = {
    "threshold": "commit a slot whose probability is above F, in [0, 1] (default: the checkpoint's)",
    "block_size": "slots denoised together, a divisor of the model's own of at least 2 (default: the model's; in "
    f"speculative mode on a CPU {CPU_SPECULATIVE_BLOCK})",
    "coreset_top_p": "share of the routing a block's experts must hold, in (0, 1] (default: the checkpoint's)",
    "accept_rule": "exact keeps the autoregressive text; threshold is lossy",
    "ratio": "threshold rule: most a draft's probability is asked for, in [0, 1]",
    "delta": "threshold rule: asked probability is delta * exp(-entropy) at most, in [0, 10]",
    "draft_steps": "previews a round",
    "temperature": "0 takes the likeliest token; up to 10",
    "presence_penalty": "taken once from tokens the response holds, in [-2, 2]",
    "frequency_penalty": "taken for each time the response holds a token, in [-2, 2]",
    "repetition_penalty": "divides the logits of the response's tokens, multiplies negative ones, in (0, 10]; 1 is off",
    "stop_bias": "added to the end tokens for every 1,000 response tokens, in [0, 1000]",
    "think_close_bias": "added to </think> for every 1,000 tokens of an open thinking section, in [0, 1000]",
}  # fmt: skip


def add_model(p: Parser) -> None:
    """Each is None when left out, so that a command can tell."""
    p.add_argument("--model", metavar="DIR|HUB_ID", help="default: the embedded model")
    p.add_argument("--revision", metavar="SHA", help="revision of a hub model")
    p.add_argument("--device", help="auto, cpu, cuda or cuda:N (default: auto)")
    p.add_argument("--dtype", help="auto, float32, bfloat16 or float16 (default: auto)")
    p.add_argument("--kernels", metavar="auto|reference|triton", help="default: auto")
    p.add_argument(
        "--graphs", metavar="auto|on|off",
        help="passes as captured CUDA graphs; on needs a CUDA device and --kernels triton (default: auto, which is off "
        "until graphs have run on a card)",
    )  # fmt: skip


def model_path(args: argparse.Namespace) -> str:
    return str(DEFAULT_MODEL) if args.model is None else args.model


def load_engine(args: argparse.Namespace):
    """The engine that the flags of `add_model` ask for. Raises UserError for a value that loading refuses."""
    from clover_viz.engine import Engine  # brings torch, which a bad value need not wait for

    choices = args.device, args.dtype, args.kernels, args.graphs
    device, dtype, kernels, graphs = ("auto" if value is None else value for value in choices)
    with values_are_to_blame():
        return Engine.load(model_path(args), device, dtype, kernels, args.revision, graphs)


def add_prompt(p: Parser) -> None:
    p.add_argument("prompt", metavar="PROMPT", help="one user turn; with --raw the text to go on from")
    p.add_argument("--system", metavar="S", help="a system message before the prompt")
    p.add_argument("--raw", action="store_true", help="use the prompt as it is, without the chat template")


def prompt(args: argparse.Namespace) -> str | list[dict[str, str]]:
    """What the engine is given. Raises UserError for an empty prompt, or a system message beside a raw one."""
    if args.raw:
        if args.system is not None:
            raise UserError("--system must be left out with --raw, which uses the prompt as it is")
        return args.prompt
    if not args.prompt.strip():
        raise UserError("the prompt must not be empty, got only white space")
    system = [] if args.system is None else [{"role": "system", "content": args.system}]
    return [*system, {"role": "user", "content": args.prompt}]


def add_limits(p: Parser) -> None:
    p.add_argument("--max-new-tokens", type=number, default=256, metavar="N", help="at least 1 (default: 256)")
    p.add_argument("--stop", action="append", default=[], metavar="S", help="end before this text; may be repeated")
    p.add_argument("--seed", type=number, default=0, metavar="N", help="of every draw (default: 0)")


def limits(args: argparse.Namespace) -> Limits:
    return Limits(args.max_new_tokens, tuple(args.stop), args.seed)


def add_settings(group) -> None:
    """To a parser or an argument group. What is left out is no attribute of the parsed arguments."""
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


def settings(args: argparse.Namespace) -> dict[str, Any]:
    """The settings that were given, by name. Raises UserError for a coreset's share that is none."""
    given = {name: value for name, value in vars(args).items() if name in SETTINGS_HELP}
    share = given.get("coreset_top_p")
    # the setting itself would answer that None is allowed, which cannot be written here
    if share is not None and (isinstance(share, str) or not 0 < share <= 1):
        raise UserError(f"coreset_top_p must be in (0, 1], or be left out for --no-coreset, got {share!r}")
    return given


@contextmanager
def values_are_to_blame() -> Iterator[None]:
    """Before a run begins, whatever is refused with a ValueError was a bad value from outside."""
    try:
        yield
    except UserError:
        raise
    except ValueError as error:
        raise UserError((str(error).splitlines() or [type(error).__name__])[0]) from error
