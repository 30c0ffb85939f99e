"""The evaluation on held-out prompts: every prompt in every mode, through the engine that the app uses.

A result is plain JSON: a head that says what was run, `cases` (the prompts), `runs` (a record for every prompt and
mode) and `likelihood` (of the book's own continuations). Figures are made from it in `clover_viz.lab.summary`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import torch

from clover_viz.engine import Engine
from clover_viz.events import Denoised
from clover_viz.lab.scoring import score
from clover_viz.settings import Settings
from clover_viz.trace.stats import run_stats
from clover_viz.training.data import EvalPrompt, eval_prompts
from clover_viz.training.prose import Prose

SCHEMA = 1
PROSE_TOKENS = 64
ANSWER_TOKENS = 128  # the longest right answer has 114


class Case(NamedTuple):
    """A prompt and its place among all prompts of its kind."""

    index: int
    prompt: EvalPrompt


def cases(
    counts: Mapping[str, int], seed: int = 0, prose: Prose | None = None, shard: tuple[int, int] = (1, 1)
) -> list[Case]:
    """The prompts of `shard` (i, n), which takes every n-th prompt from the i-th on; (1, 1) takes all."""
    part, parts = shard
    return [
        Case(index, prompt)
        for kind, count in counts.items()
        for index, prompt in enumerate(eval_prompts(kind, count, seed, prose))
        if index % parts == part - 1
    ]


def mode_name(settings: Settings) -> str:
    threshold = getattr(settings, "threshold", None)
    return f"{settings.mode} {threshold}" if settings.mode == "denoise" else settings.mode


def evaluate(
    engine: Engine,
    chosen: Sequence[Case],
    modes: Sequence[Settings],
    progress: Callable[[int, int, dict[str, Any]], None] = lambda done, total, record: None,
) -> dict[str, Any]:
    """Cases, runs, likelihood, and the settings in force in each mode. Raises UserError before the first pass.

    Modes take turns on every prompt, so that a machine that slows down meanwhile slows all of them alike.
    """
    modes = [settings.in_force(engine.usual(settings.mode)) for settings in modes]
    records: list[dict[str, Any]] = []
    total = len(chosen) * len(modes)
    for case in chosen:
        for settings in modes:
            records.append(_run(engine, case, settings))
            progress(len(records), total, records[-1])
    return {
        "settings": {mode_name(settings): settings.as_dict() for settings in modes},
        "cases": [_case_record(case) for case in chosen],
        "runs": records,
        "likelihood": list(_likelihoods(engine, chosen)),
    }


def about(engine: Engine) -> dict[str, Any]:
    """The model of a result: its name, numbers of parameters, dtype, device and kernels."""
    model = engine.model
    return {
        "model": engine.name,
        "parameters": sum(p.numel() for _, p in model.named_parameters()),
        "active_parameters": active_parameters(model),
        "dtype": str(model.dtype).removeprefix("torch."),
        "device": model.device.type,
        "kernels": engine.kernels.name,
    }


def active_parameters(model) -> int:
    """Those that one token is multiplied with: its share of the routed experts, and not the embedding it is looked up
    in."""
    used, config = 0, model.config
    for name, p in model.named_parameters():
        if ".experts." in name:
            used += p.numel() * config.num_experts_per_tok // config.num_experts
        elif not name.endswith("embed_tokens.weight"):
            used += p.numel()
    return used


def token_limit(kind: str) -> int:
    return PROSE_TOKENS if kind == "prose" else ANSWER_TOKENS


def _run(engine: Engine, case: Case, settings: Settings) -> dict[str, Any]:
    prompt = case.prompt
    raw = prompt.kind == "prose"
    asked = prompt.text if raw else list(prompt.messages)
    events = list(engine.generate(asked, settings, token_limit(prompt.kind), raw=raw))
    finished, stats = events[-1], run_stats(events)
    scored = score(prompt, finished.text)
    return {
        "kind": prompt.kind,
        "index": case.index,
        "mode": mode_name(settings),
        "right": scored.right,
        "copied": scored.copied,
        "foreign": scored.foreign,
        "intact": scored.intact,
        "text": finished.text,
        "reason": finished.reason,
        "tokens": finished.tokens,
        "passes": asdict(finished.passes),
        "seconds": round(finished.seconds, 6),
        "committed": sum(len(event.committed) for event in events if isinstance(event, Denoised)),
        "forced": stats.forced,
        "experts": {
            name: [round(getattr(layer, name), 3) for layer in stats.experts]
            for name in ("touched", "kept", "rerouted")
        },
        "longest_repeat": stats.longest_repeat,
        "distinct": stats.distinct,
    }


def _case_record(case: Case) -> dict[str, Any]:
    prompt = case.prompt
    return {
        "kind": prompt.kind,
        "index": case.index,
        "unseen": prompt.unseen_phrasing,
        "asked": prompt.messages[-1]["content"] if prompt.messages else prompt.text,
        "expected": prompt.expected,
    }


def _likelihoods(engine: Engine, chosen: Sequence[Case]) -> Iterator[dict[str, Any]]:
    for case in chosen:
        if case.prompt.kind == "prose":
            yield {"index": case.index} | likelihood(engine, case.prompt.text, case.prompt.expected)


@torch.inference_mode()
def likelihood(engine: Engine, text: str, continuation: str) -> dict[str, Any]:
    """Nats that the causal pass needs for a continuation of a text, with its tokens and characters."""
    model = engine.model
    given, following = engine.tokenizer.encode_raw(text), engine.tokenizer.encode_raw(continuation)
    ids = torch.tensor(given + following, device=model.device)
    logits = model.prefill(ids[:-1], model.new_cache(), last_only=False).logits[len(given) - 1 :]  # [T, V]
    # summed in fp64: the order of an fp32 sum depends on the threads
    nats = torch.nn.functional.cross_entropy(logits.double(), ids[len(given) :], reduction="sum")
    return {"tokens": len(following), "characters": len(continuation), "nats": round(nats.item(), 3)}
