"""Command line: `python -m clover_viz COMMAND ...`."""

import sys
from importlib import import_module
from importlib.util import find_spec

from clover_viz.cli.console import BAD_VALUE, DONE, FAILED, guarded, notice

COMMANDS = {
    "generate": ("clover_viz.cli.generate", "write an answer to a prompt"),
    "compare": ("clover_viz.cli.compare", "answer one prompt in all three modes, side by side"),
    "play": ("clover_viz.cli.play", "play a recorded trace in the terminal"),
    "lab": ("clover_viz.lab.cli", "experiments: scores on held-out prompts, exactness, example traces"),
    "train": ("clover_viz.training.cli", "train the embedded model from nothing"),
    "bench": ("clover_viz.bench.cli", "measure speed, as ratios in one run"),
}

SHAPE = "usage: python -m clover_viz COMMAND ..."
USAGE = "\n".join(
    [
        SHAPE,
        "",
        *(f"  {name:<10}{text}" for name, (_, text) in COMMANDS.items()),
        "",
        "python -m clover_viz COMMAND --help says more about one of them.",
    ]
)


def main(argv: list[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return DONE
    name = argv[0] if argv else ""
    if name not in COMMANDS:
        got = repr(argv[0]) if argv else f"none; {SHAPE}"
        notice(f"error: command must be one of {', '.join(COMMANDS)}, got {got}")
        return BAD_VALUE
    module = COMMANDS[name][0]
    if not _exists(module):
        notice(f"error: {name} is not part of this version")
        return FAILED
    return guarded(lambda rest: import_module(module).main(rest), argv[1:])


def _exists(module: str) -> bool:
    return find_spec(module.rpartition(".")[0]) is not None and find_spec(module) is not None


if __name__ == "__main__":
    sys.exit(main())
