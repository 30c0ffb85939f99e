"""`lab traces`: record the example runs that ship with the app."""

from collections.abc import Iterable
from pathlib import Path

from clover_viz.cli import flags
from clover_viz.cli.console import DONE, Parser, notice, number, write
from clover_viz.cli.table import Table, aligned
from clover_viz.errors import UserError
from clover_viz.settings import MODES, Limits

FOLDER = flags.DEFAULT_MODEL.parent / "traces"


def parser() -> Parser:
    p = Parser(
        prog="python -m clover_viz lab traces",
        description="Run a tool call, a list and raw prose in every mode and record each run as a gzipped trace, "
        f"EXAMPLE-MODE.jsonl.gz with a mode of {', '.join(MODES)}. `python -m clover_viz play FILE` shows one. Apart "
        "from timings the same model gives the same traces.",
    )
    flags.add_model(p)
    p.add_argument("--out", default=str(FOLDER), metavar="DIR",
                   help="folder to write into, made when it is not there (default: assets/traces)")
    p.add_argument("--max-new-tokens", type=number, default=96, metavar="N", help="at least 1 (default: 96)")
    p.add_argument("--seed", type=number, default=0, metavar="N", help="of every draw (default: 0)")
    return p


def main(argv: list[str]) -> int:
    args = parser().parse_args(argv)
    limits = Limits(args.max_new_tokens, (), args.seed)
    folder = Path(args.out)
    if folder.exists() and not folder.is_dir() or not folder.parent.is_dir():
        raise UserError(f"--out must name a folder, or a new one in a folder that exists, got {args.out!r}")

    engine = flags.load_engine(args)
    from clover_viz.lab.traces import record_all

    folder.mkdir(exist_ok=True)
    done = record_all(engine, folder, limits.max_new_tokens, limits.seed, told=lambda one: notice(f"{one.file.name}"))
    write(aligned(_table(done), left=1) + "\n")
    return DONE


def _table(done: Iterable) -> Table:
    head = ("trace", "tokens", "tokens/pass", "bytes", "bytes a step")
    return [head] + [
        (one.file.name, str(one.finished.tokens), _figure(one.finished.tokens_per_pass, 2), str(one.size),
         _figure(one.bytes_a_step, 0))
        for one in done
    ]  # fmt: skip


def _figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
