"""`python -m clover_viz bench WHAT`: speed on this machine. It only tells; a missed target is no error."""

import json
from argparse import RawDescriptionHelpFormatter
from pathlib import Path

from clover_viz.cli.console import DONE, Parser, at_least, check_output, notice, number, write
from clover_viz.cli.flags import DEFAULT_MODEL
from clover_viz.errors import UserError

KINDS = {"cpu": "passes and answers of a small model on the CPU, against transformers and against each other"}


def parser() -> Parser:
    p = Parser(
        prog="python -m clover_viz bench",
        description="Measures speed as ratios within one run and says which targets they meet.\n\n"
        + "\n".join(f"  {name}  {text}" for name, text in KINDS.items()),
        formatter_class=RawDescriptionHelpFormatter,
    )
    p.add_argument("what", metavar="|".join(KINDS), help="what to measure")
    p.add_argument("--model", default=str(DEFAULT_MODEL), metavar="DIR", help="default: the embedded model")
    p.add_argument("--threads", type=number, metavar="N", help="threads to compute with (default: torch's own choice)")
    p.add_argument("--prompts", type=number, default=8, metavar="N",
                   help="held-out agent prompts to answer, the first N (default: %(default)s)")
    p.add_argument("--json", metavar="FILE", help="write every figure there as well")
    return p


def main(argv: list[str]) -> int:
    args = parser().parse_args(argv)
    if args.what not in KINDS:
        raise UserError(f"bench must be one of {', '.join(KINDS)}, got {args.what!r}")
    for name in ("threads", "prompts"):
        if getattr(args, name) is not None:
            at_least(f"--{name}", getattr(args, name), 1)
    folder = Path(args.model)
    if not (folder / "config.json").is_file():
        raise UserError(f"--model must be a folder with a checkpoint (config.json), got {args.model!r}")
    check_output("--json", args.json)
    found = measure_cpu(folder, args.threads, args.prompts)
    write(found.pop("text") + "\n")
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return DONE


def measure_cpu(folder: Path, threads: int | None, prompts: int) -> dict:
    """Loads the model on the CPU and runs `bench cpu`."""
    import torch

    from clover_viz.bench import cpu, report
    from clover_viz.engine import Engine

    if threads is not None:
        torch.set_num_threads(threads)
    engine = Engine.load(folder, device="cpu")
    dtype = str(engine.model.dtype).removeprefix("torch.")
    where = report.machine(torch.get_num_threads(), dtype)
    return cpu.run(engine, cpu.held_out(prompts), where, told=notice)
