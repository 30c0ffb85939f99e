"""Figures of a result, and the tables that show them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from clover_viz.cli.table import Table

AUTOREGRESSIVE = "autoregressive"


@dataclass(frozen=True)
class Share:
    """`held` of `n`."""

    held: int
    n: int

    def __str__(self) -> str:
        return f"{100 * self.held / self.n:.1f} %" if self.n else "-"


@dataclass(frozen=True)
class Figures:
    """One kind of prompt in one mode; shares over the runs that the question arises for.

    tokens_per_pass: all tokens over all passes but prefill; mean_tokens_per_pass: mean of the runs' own ratios.
    tokens_per_preview: all tokens over all previews. speed: tokens per second, prompt included, over those of the
    autoregressive runs on the same prompts in the same process. forced: commits that were the fallback, of all commits.
    distinct: mean share of different 4-grams; longest_repeat: the longest of any run, in tokens. None where nothing
    was counted.
    """

    kind: str
    mode: str
    n: int
    right: Share
    seen: Share
    unseen: Share
    copied: Share
    foreign: Share
    intact: Share
    ended: Share
    tokens: int
    passes: dict[str, int]
    tokens_per_pass: float | None
    mean_tokens_per_pass: float | None
    tokens_per_preview: float | None
    speed: float | None
    forced: Share
    touched: float | None
    kept: float | None
    distinct: float | None
    longest_repeat: int


@dataclass(frozen=True)
class LayerFigures:
    """Experts of one layer in one mode: means over every preview of every kind."""

    mode: str
    layer: int
    touched: float
    kept: float
    rerouted: float


@dataclass(frozen=True)
class Likelihood:
    """The causal pass on the book's own continuations."""

    n: int
    tokens: int
    characters: int
    nats_per_token: float
    nats_per_character: float


def figures(result: dict[str, Any]) -> list[Figures]:
    """One entry for every kind and mode, in the order of the run."""
    unseen = {(case["kind"], case["index"]) for case in result["cases"] if case["unseen"]}
    found = []
    for kind in result["prompts"]["counts"]:
        by_mode = {
            mode: [run for run in result["runs"] if (run["kind"], run["mode"]) == (kind, mode)]
            for mode in result["settings"]
        }
        rate = _rate(by_mode.get(AUTOREGRESSIVE, []))
        found += [_figures(kind, mode, runs, unseen, rate) for mode, runs in by_mode.items() if runs]
    return found


def _figures(kind: str, mode: str, runs: list[dict], unseen: set, rate: float | None) -> Figures:
    passes = {name: sum(run["passes"][name] for run in runs) for name in runs[0]["passes"]}
    tokens = sum(run["tokens"] for run in runs)
    own_rate = _rate(runs)
    touched, kept = (_mean(_layer_means(runs, name)) for name in ("touched", "kept"))
    return Figures(
        kind=kind,
        mode=mode,
        n=len(runs),
        right=_share(runs, "right"),
        seen=_share((run for run in runs if (kind, run["index"]) not in unseen), "right"),
        unseen=_share((run for run in runs if (kind, run["index"]) in unseen), "right"),
        copied=_share(runs, "copied"),
        foreign=_share(runs, "foreign"),
        intact=_share(runs, "intact"),
        ended=Share(sum(run["reason"] == "end" for run in runs), len(runs)),
        tokens=tokens,
        passes=passes,
        tokens_per_pass=_ratio(tokens, _after_prefill(passes)),
        mean_tokens_per_pass=_mean(
            [run["tokens"] / _after_prefill(run["passes"]) for run in runs if _after_prefill(run["passes"])]
        ),
        tokens_per_preview=_ratio(tokens, passes["preview"]),
        speed=own_rate / rate if rate and own_rate is not None else None,
        forced=Share(sum(run["forced"] for run in runs), sum(run["committed"] for run in runs)),
        touched=touched,
        kept=kept,
        distinct=_mean([run["distinct"] for run in runs if run["distinct"] is not None]),
        longest_repeat=max(run["longest_repeat"] for run in runs),
    )


def layer_figures(result: dict[str, Any]) -> list[LayerFigures]:
    found = []
    for mode in result["settings"]:
        runs = [run for run in result["runs"] if run["mode"] == mode]
        columns = [_layer_means(runs, name) for name in ("touched", "kept", "rerouted")]
        found += [LayerFigures(mode, layer, *values) for layer, values in enumerate(zip(*columns))]
    return found


def likelihood_figures(result: dict[str, Any]) -> Likelihood | None:
    rows = result["likelihood"]
    if not rows:
        return None
    tokens, characters, nats = (sum(row[name] for row in rows) for name in ("tokens", "characters", "nats"))
    return Likelihood(len(rows), tokens, characters, nats / tokens, nats / characters)


def failures(result: dict[str, Any], most: int) -> list[dict[str, Any]]:
    """The first `most` wrong answers of each kind and mode: kind, index, mode, unseen, asked, expected, text."""
    cases = {(case["kind"], case["index"]): case for case in result["cases"]}
    found, seen = [], {}
    for run in result["runs"]:
        key = run["kind"], run["mode"]
        if run["right"] is False and seen.get(key, 0) < most:
            seen[key] = seen.get(key, 0) + 1
            found.append(cases[run["kind"], run["index"]] | {"mode": run["mode"], "text": run["text"]})
    return found


def answer_table(rows: Iterable[Figures]) -> Table:
    head = ("kind", "mode", "n", "exact", "seen wording", "unseen wording", "values copied", "beyond ASCII",
            "no U+FFFD", "ended itself", "distinct-4", "longest repeat")  # fmt: skip
    return [head] + [
        (f.kind, f.mode, str(f.n), str(f.right), str(f.seen), str(f.unseen), str(f.copied), str(f.foreign),
         str(f.intact), str(f.ended), _number(f.distinct, 3), str(f.longest_repeat))
        for f in rows
    ]  # fmt: skip


def pass_table(rows: Iterable[Figures]) -> Table:
    head = ("kind", "mode", "tokens", "preview", "replay", "verify", "decode", "tokens/pass", "mean of runs",
            "tokens/preview", "forced commits", "experts touched", "kept", "tokens/s, AR = 1")  # fmt: skip
    return [head] + [
        (f.kind, f.mode, str(f.tokens), *(str(f.passes[name]) for name in ("preview", "replay", "verify", "decode")),
         _number(f.tokens_per_pass), _number(f.mean_tokens_per_pass), _number(f.tokens_per_preview), str(f.forced),
         _number(f.touched, 1), _number(f.kept, 1), _number(f.speed))
        for f in rows
    ]  # fmt: skip


def layer_table(rows: Iterable[LayerFigures]) -> Table:
    return [("mode", "layer", "touched", "kept", "rerouted")] + [
        (f.mode, str(f.layer), _number(f.touched), _number(f.kept), _number(f.rerouted)) for f in rows
    ]


def likelihood_line(found: Likelihood | None) -> str:
    if found is None:
        return ""
    return (
        f"The book's own continuations ({found.n}, {found.tokens} tokens, {found.characters} characters), causal pass: "
        f"{found.nats_per_token:.3f} nats per token, {found.nats_per_character:.3f} nats per character."
    )


def _share(runs: Iterable[dict], name: str) -> Share:
    values = [run[name] for run in runs if run[name] is not None]
    return Share(sum(values), len(values))


def _after_prefill(passes: dict[str, int]) -> int:
    return sum(n for name, n in passes.items() if name != "prefill")


def _rate(runs: Sequence[dict]) -> float | None:
    return _ratio(sum(run["tokens"] for run in runs), sum(run["seconds"] for run in runs))


def _layer_means(runs: Sequence[dict], name: str) -> list[float]:
    """By layer, over all previews: a run's own mean counts as often as it had previews."""
    counted = [(run["experts"][name], run["passes"]["preview"]) for run in runs if run["experts"][name]]
    previews = sum(n for _, n in counted)
    return [sum(mean * n for mean, (_, n) in zip(layer, counted)) / previews
            for layer in zip(*(means for means, _ in counted))]  # fmt: skip


def _ratio(over: float, under: float) -> float | None:
    return over / under if under else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
