"""`compare`: one prompt in all three modes, side by side."""

import threading
from argparse import RawDescriptionHelpFormatter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from clover_viz.cli import flags
from clover_viz.cli.console import DONE, FAILED, Parser, notice, write
from clover_viz.cli.interrupts import interrupts_set
from clover_viz.cli.table import Table, aligned
from clover_viz.events import Event, RunFinished
from clover_viz.settings import MODES, Settings, SpeculativeSettings, settings_for
from clover_viz.trace.response import ResponseToken, first_difference, response
from clover_viz.trace.stats import NGRAM, RunStats, run_stats
from clover_viz.trace.words import finish_line

ORDER = ("autoregressive", "denoise", "speculative")  # the first one is what the others are compared with

DESCRIPTION = f"""\
Answer one prompt three times and show in one table what each way cost and whether the text stayed the same:

  autoregressive  one token a pass; the others are compared with its text
  denoise         blocks of masks, filled in by previews and then replayed
  speculative     a preview drafts, a causal pass checks: the autoregressive text in fewer passes

tokens/pass counts every pass but prefill. tokens/s counts the reading of the prompt as well. A text that repeats itself
is easy to predict and so looks fast: the longest repeat (tokens of one stretch made of one unit over and over) and
distinct-{NGRAM} (share of different ones among all stretches of {NGRAM} tokens) stand beside the speed. The first
difference names the place in the response and the two tokens there, the autoregressive one first.
"""


@dataclass(frozen=True)
class Column:
    """One mode's run."""

    title: str
    finished: RunFinished
    stats: RunStats
    tokens: tuple[ResponseToken, ...]


def parser() -> Parser:
    p = Parser(
        prog="python -m clover_viz compare", description=DESCRIPTION, formatter_class=RawDescriptionHelpFormatter
    )
    flags.add_prompt(p)
    flags.add_model(p)
    flags.add_limits(p)
    flags.add_settings(p.add_argument_group("settings (each reaches the modes that have it)"))
    return p


def main(argv: list[str]) -> int:
    args = parser().parse_args(argv)
    values = flags.settings(args)
    modes = [settings_for(mode, _own(mode, values)) for mode in ORDER]
    limits, prompt = flags.limits(args), flags.prompt(args)

    engine = flags.load_engine(args)
    cancel = threading.Event()
    with flags.values_are_to_blame():
        runs = [engine.generate(prompt, s, **limits.as_dict(), cancel=cancel, raw=args.raw) for s in modes]
    for settings in (modes[0], modes[-1]):  # a pass of each kind: what a process does only once is no mode's time
        engine.complete(prompt, settings, max_new_tokens=2, raw=args.raw)
    columns = []
    with interrupts_set(cancel):
        for settings, run in zip(modes, runs):
            events = list(run)
            notice(f"{title(settings)}: {finish_line(events[-1])}")
            if events[-1].reason == "cancelled":
                return FAILED
            columns.append(column(settings, events))
    write(aligned(table(columns), left=len(columns) + 1) + "\n")
    return DONE


def title(settings: Settings) -> str:
    if not isinstance(settings, SpeculativeSettings):
        return settings.mode
    return f"{settings.mode} ({settings.accept_rule}{', lossy' if settings.accept_rule == 'threshold' else ''})"


def column(settings: Settings, events: Sequence[Event]) -> Column:
    return Column(title(settings), events[-1], run_stats(events), response(events))


def table(columns: Sequence[Column]) -> Table:
    """A row for every figure, a column for every run; the first run is the one that the others are compared with."""
    first = columns[0].tokens
    rows = {
        "tokens": [str(c.stats.tokens) for c in columns],
        "passes": [_passes(c) for c in columns],
        "tokens/pass": [_figure(c.stats.tokens_per_pass) for c in columns],
        "tokens/s": [_figure(c.finished.tokens_per_second, 1) for c in columns],
        "longest repeat": [str(c.stats.longest_repeat) for c in columns],
        f"distinct-{NGRAM}": [_figure(c.stats.distinct) for c in columns],
        "ended by": [c.finished.reason for c in columns],
        "first difference": ["-", *(_difference(first, c.tokens) for c in columns[1:])],
    }
    return [("", *(c.title for c in columns)), *((name, *cells) for name, cells in rows.items())]


def _own(mode: str, values: dict[str, Any]) -> dict[str, Any]:
    known = {f.name for f in fields(MODES[mode])}
    return {name: value for name, value in values.items() if name in known}


def _passes(c: Column) -> str:
    return ", ".join(f"{n} {kind}" for kind, n in vars(c.finished.passes).items() if n)


def _difference(one: Sequence[ResponseToken], other: Sequence[ResponseToken]) -> str:
    at = first_difference(one, other)
    if at is None:
        return "same"
    shown = (repr(text[at].token) if at < len(text) else "nothing" for text in (one, other))
    return f"token {at}: " + " / ".join(shown)


def _figure(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
