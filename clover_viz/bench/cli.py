"""`python -m clover_viz bench WHAT`: speed on this machine. It only tells; a missed target is no error."""

import json
import os
from argparse import SUPPRESS, RawDescriptionHelpFormatter
from collections.abc import Collection, Iterable
from importlib.util import find_spec
from pathlib import Path

from clover_viz.bench.soak import minutes
from clover_viz.cli.console import DONE, Parser, at_least, check_output, notice, number, write
from clover_viz.cli.flags import DEFAULT_MODEL
from clover_viz.errors import UserError
from clover_viz.kernel_folder import register

KINDS = {
    "cpu": "passes and answers of a small model on the CPU, against transformers and against each other",
    "app": "what the page costs the engine, and how soon it shows something, in a real Chromium",
    "compile": "registers, spills and shared memory of every Triton kernel at the 35B model's shapes; needs no card",
    "gpu": "every operation checked, then the whole 35B on random weights: needs one CUDA card of 80 GB or more",
}
# The kinds that a flag belongs to. --json belongs to all.
FLAGS = {
    "model": ("cpu", "app"), "threads": ("cpu", "app"), "prompts": ("cpu",), "soak": ("app",),
    "layers": ("gpu",), "minutes": ("gpu",), "without": ("gpu",), "rehearse": ("gpu",),
}  # fmt: skip
UNSOAKED = ("model", "threads")  # a soak plays recorded runs: nothing is computed
DEFAULTS = {"model": str(DEFAULT_MODEL), "prompts": 8, "minutes": 8, "rehearse": False}


def parser() -> Parser:
    p = Parser(
        prog="python -m clover_viz bench",
        description="Measures speed as ratios within one run and says which targets they meet.\n\n"
        + "\n".join(f"  {name:<8} {text}" for name, text in KINDS.items()),
        formatter_class=RawDescriptionHelpFormatter,
    )
    p.add_argument("what", metavar="|".join(KINDS), help="what to measure")
    p.add_argument("--model", metavar="DIR", help="cpu, app: a checkpoint folder (default: the embedded model)")
    p.add_argument("--threads", type=number, metavar="N",
                   help="cpu, app: threads to compute with (default: torch's own choice; app: one core is left free)")
    p.add_argument("--prompts", type=number, metavar="N",
                   help=f"cpu: held-out agent prompts to answer, the first N (default: {DEFAULTS['prompts']})")
    p.add_argument("--layers", type=number, metavar="N",
                   help="gpu: the model's first N layers, for a smaller card (default: all)")
    p.add_argument("--minutes", type=number, metavar="N",
                   help=f"gpu: time for everything (default: {DEFAULTS['minutes']})")
    p.add_argument("--without", metavar="PART[,PART]",
                   help="gpu: parts to leave out, by the names under which they are told, where one ends all work of a "
                   "card")
    p.add_argument("--soak", type=number, metavar="MINUTES",
                   help="app: instead, keep a page open for 0.5 to 120 minutes (10 is a good soak) while runs follow "
                   "one another, and tell whether browser and server grow")
    p.add_argument("--rehearse", action="store_true", default=None, help=SUPPRESS)  # gpu: a toy on the CPU
    p.add_argument("--json", metavar="FILE", help=f"{', '.join(KINDS)}: write every figure there as well")
    return p


def main(argv: list[str]) -> int:
    args = parser().parse_args(argv)
    if args.what not in KINDS:
        raise UserError(f"bench must be one of {', '.join(KINDS)}, got {args.what!r}")
    if fault := misplaced(args.what, [name for name in FLAGS if getattr(args, name) is not None]):
        raise UserError(fault)
    for name, value in DEFAULTS.items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    for name in ("threads", "prompts", "layers", "minutes"):
        if getattr(args, name) is not None:
            at_least(f"--{name}", getattr(args, name), 1)
    soak = None if args.soak is None else minutes(args.soak)
    check_output("--json", args.json)
    if args.what == "compile":
        return _tell(compile_kernels(), args.json)
    if args.what == "gpu":
        without = args.without.split(",") if args.without is not None else ()
        return _tell(measure_gpu(args.layers, args.minutes, args.rehearse, without, args.json), args.json)
    folder = Path(args.model)
    if not (folder / "config.json").is_file():
        raise UserError(f"--model must be a folder with a checkpoint (config.json), got {args.model!r}")
    if args.what == "app":
        return _tell(measure_app(folder, args.threads, soak), args.json)
    return _tell(measure_cpu(folder, args.threads, args.prompts), args.json)


def misplaced(what: str, given: Iterable[str]) -> str | None:
    """What is wrong with the flags given (names of FLAGS) for a kind, in one line; None when all belong to it."""
    given = set(given)
    for name, kinds in FLAGS.items():
        if name in given and what not in kinds:
            return f"--{name} must be left out with bench {what}: it belongs to bench {' and '.join(kinds)}"
        if name in given and name in UNSOAKED and "soak" in given:
            return f"--{name} must be left out with --soak, which plays recorded runs"
    return None


def _tell(found: dict, file: str | None) -> int:
    write(found.pop("text") + "\n")
    _save(found, file)
    return DONE


def _save(found: dict, file: str | None) -> None:
    """Into another file beside it first: when the process is ended in the middle, the figures of before are there."""
    if file is None:
        return
    path, text = Path(file).resolve(), json.dumps(found, indent=1) + "\n"
    if path.exists() and not path.is_file():  # a pipe or a device cannot be put in another one's place
        path.write_text(text, encoding="utf-8")
        return
    beside = path.with_name(f"{path.name}.part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def compile_kernels() -> dict:
    """Runs `bench compile`."""
    if find_spec("triton") is None:
        raise UserError("bench compile needs Triton, which is not installed")
    if os.environ.get("TRITON_INTERPRET") == "1":
        raise UserError("bench compile compiles for a card: unset TRITON_INTERPRET, got '1'")
    register()
    from clover_viz.bench import compile

    return compile.run(told=notice)


def measure_gpu(
    layers: int | None, minutes: int, rehearse: bool, without: Collection[str], file: str | None
) -> dict:  # fmt: skip
    """Runs `bench gpu`; the file holds what there is after every part."""
    register()
    from clover_viz.bench import gpu

    options = gpu.Options(layers, minutes, rehearse, without)
    return gpu.run(options, told=notice, saved=lambda found: _save(found, file))


def measure_app(folder: Path, threads: int | None, soak: float | None = None) -> dict:
    """Runs `bench app`, or its soak of so many minutes."""
    import torch

    from clover_viz.bench import app, report
    from clover_viz.cores import leave_a_core

    if threads is None:
        leave_a_core()
    else:
        torch.set_num_threads(threads)
    where = report.machine(torch.get_num_threads(), "float32")
    traces = DEFAULT_MODEL.parent / "traces"
    if soak is not None:
        return app.run_soak(soak, traces, where, told=notice)
    return app.run(folder, traces, where, told=notice)


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
