"""`lab`: one command for each experiment."""

from importlib import import_module

from clover_viz.cli.console import DONE
from clover_viz.errors import UserError

EXPERIMENTS = {
    "eval": ("clover_viz.lab.eval_cli", "exact answers and tokens a pass on held-out prompts"),
    "exact": ("clover_viz.lab.exact_cli", "is self-speculation the autoregressive text, token for token?"),
    "traces": ("clover_viz.lab.traces_cli", "record the example runs that ship with the app"),
}

USAGE = "\n".join(
    [
        "usage: python -m clover_viz lab EXPERIMENT ...",
        "",
        *(f"  {name:<10}{text}" for name, (_, text) in EXPERIMENTS.items()),
        "",
        "python -m clover_viz lab EXPERIMENT --help says more about one of them.",
    ]
)


def main(argv: list[str]) -> int:
    if argv[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return DONE
    name = argv[0] if argv else None
    if name not in EXPERIMENTS:
        raise UserError(f"experiment must be one of {', '.join(EXPERIMENTS)}, got {name!r}")
    return import_module(EXPERIMENTS[name][0]).main(argv[1:])
