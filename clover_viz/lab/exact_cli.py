"""`lab exact`: does self-speculation write the autoregressive text, token for token?"""

import json
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from clover_viz.cli import flags
from clover_viz.cli.console import DONE, FAILED, Parser, at_least, check_output, notice, number, write
from clover_viz.cli.table import Table, aligned
from clover_viz.lab.progress import Progress
from clover_viz.settings import Limits, SpeculativeSettings

SCHEMA = 1


def parser() -> Parser:
    p = Parser(
        prog="python -m clover_viz lab exact",
        description="Write answers to held-out prompts one token at a time, and again by self-speculation under the "
        "exact rule at several block sizes, and compare them token by token. Passes of different width round "
        "differently: where two choices are a near tie the texts may part, and such places are listed. Any other "
        "difference is listed as well, and the command then exits with 1.",
    )
    flags.add_model(p)
    p.add_argument("--prompts", type=number, default=300, metavar="N",
                   help="held-out prompts: agent, answer, structured, talk and decline in turn (default: 300)")
    p.add_argument("--block-sizes", metavar="N,N...", help="divisors of the model's own (default: all of them)")
    p.add_argument("--temperatures", default="0,0.8", metavar="F,F...", help="each in [0, 10] (default: 0,0.8)")
    p.add_argument("--max-new-tokens", type=number, default=64, metavar="N", help="at least 1 (default: 64)")
    p.add_argument("--seed", type=number, default=0, metavar="N", help="of prompts and draws (default: 0)")
    p.add_argument("--json", metavar="FILE", help="write the figures, and every difference")
    return p


def main(argv: list[str]) -> int:
    args = parser().parse_args(argv)
    sizes = None if args.block_sizes is None else _numbers(args.block_sizes)
    temperatures = _numbers(args.temperatures)
    for size in sizes or ():
        SpeculativeSettings(block_size=size)
    for temperature in temperatures:
        SpeculativeSettings(temperature=temperature)
    Limits(args.max_new_tokens, (), args.seed)
    at_least("prompts", args.prompts, 1)
    check_output("--json", args.json)

    engine = flags.load_engine(args)
    from clover_viz.lab import exact

    sizes = sizes or exact.block_sizes(engine.model.config.block_size)
    prompts = exact.mixed_prompts(args.prompts, args.seed)
    pairs = exact.compare(engine, prompts, sizes, temperatures, args.max_new_tokens, args.seed, Progress("run"))
    rows = exact.rows(pairs)
    if args.json:
        text = json.dumps(_result(args, engine, pairs, rows), ensure_ascii=False, indent=1)
        Path(args.json).write_text(text + "\n", encoding="utf-8")
    lines = [_line(pair) for pair in pairs if pair.difference]
    write("\n\n".join(filter(None, [aligned(_table(rows)), "\n".join(lines)])) + "\n")
    different = sum(row.different for row in rows)
    if different:
        notice(f"not exact: {different} of {len(pairs)} runs differ by more than a near tie ({exact.NEAR_TIE:g})")
        return FAILED
    return DONE


def _numbers(text: str) -> list[Any]:
    """Each number once; what is none stays text, for the setting to refuse."""
    return list(dict.fromkeys(map(number, text.split(","))))


def _table(rows: Iterable) -> Table:
    head = ("block", "temperature", "prompts", "tokens", "same", "near ties", "different", "tokens a round")
    return [head] + [
        (str(row.block_size), f"{row.temperature:g}", str(row.prompts), str(row.tokens), str(row.same),
         str(row.near_ties), str(row.different),
         "-" if row.tokens_per_round is None else f"{row.tokens_per_round:.2f}")
        for row in rows
    ]  # fmt: skip


def _line(pair) -> str:
    d = pair.difference
    one, other = (repr(token.token) if token else "nothing" for token in (d.one_by_one, d.speculative))
    margin = "" if d.margin is None else f", margin {d.margin:.2g}"
    return (
        f"{'near tie' if d.near_tie else 'different'}: prompt {pair.prompt} ({pair.kind}), block {pair.block_size}, "
        f"temperature {pair.temperature:g}, token {d.at}: {one} one at a time, {other} by self-speculation{margin}"
    )


def _result(args: Namespace, engine, pairs: Iterable, rows: Iterable) -> dict[str, Any]:
    from clover_viz.lab import eval as evaluation
    from clover_viz.lab import exact, results

    return {
        "schema": SCHEMA,
        **evaluation.about(engine),
        "weights": results.weights_digest(flags.model_path(args)),
        "seed": args.seed,
        "max_new_tokens": args.max_new_tokens,
        "near_tie": exact.NEAR_TIE,
        "rows": [asdict(row) for row in rows],
        "differences": [_record(pair) for pair in pairs if pair.difference],
    }


def _record(pair) -> dict[str, Any]:
    d = pair.difference
    return {
        "prompt": pair.prompt,
        "kind": pair.kind,
        "temperature": pair.temperature,
        "block_size": pair.block_size,
        "at": d.at,
        "one_by_one": d.one_by_one and d.one_by_one._asdict(),
        "speculative": d.speculative and d.speculative._asdict(),
        "margin": d.margin,
        "near_tie": d.near_tie,
    }
