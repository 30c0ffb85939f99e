"""What `bench gpu` found, as Markdown: printed by the command, and the README's section about a card."""

from collections.abc import Sequence
from typing import Any

from clover_viz.bench.gpu_bytes import H200, tokens_needed

RATES = (515, 680)  # tokens a second that the model's makers report
NOT_MEASURED = "not measured yet"
WAYS = ("eager", "graph")
PREVIEWS = ("preview", "preview, coreset")
ALONE = (
    "Each pass alone on an idle card: what the host takes to launch it is in its time, which tells in the shortest. An "
    "advance writes the states and copies them to their place, where the floor counts them once read and once written."
)
PLAIN = "transformers computes its DeltaNet layers in plain PyTorch here: flash-linear-attention is not installed."
# What one H200 should reach. Of the byte floor at 64 touched experts; of the card's memory; autoregressive.
FLOOR, GOAL, PEAK_GB, RATE, STATISTICS = 0.60, 0.85, 76, 300, 0.02
# What must agree, on any card and with any number of layers. A graph replays the kernels that an eager pass launches,
# and none of them adds in an order of its own choosing: both should come to the same bits. Allowed of a logit is less
# than most roundings of a bf16 one, of states and rings a thousandth of the largest value.
COSINE, LOGIT, PART = 0.99, 0.001, 0.001
ROUNDS = {
    "logits": ("largest difference of a logit", LOGIT), "states": ("largest difference of a state, as a part", PART),
    "rings": ("largest difference of a ring, as a part", PART), "off": ("position off by", 0),
}  # fmt: skip


def section(found: dict[str, Any] | None) -> str:
    """The README's section. None, or a run that reached no pass: not measured yet, and nothing else."""
    if not any(load["milliseconds"] for load in (found or {}).get("loads", [])):
        return f"GPU: {NOT_MEASURED}."
    return "\n\n".join([_where(found), *_tables(found), _targets(found)])


def text(found: dict[str, Any]) -> str:
    """Everything, checks and skipped parts included."""
    parts = [_where(found), checks(found.get("operations")), *_tables(found), _targets(found)]
    return "\n\n".join([*filter(None, parts), *_load_notes(found["loads"]), *found["notes"]])


def checks(operations: dict[str, Any] | None) -> str:
    """The operations against their references, the failed ones by name."""
    if operations is None:
        return ""
    results = operations["results"]
    lines = [f"{sum(r['passed'] for r in results)} of {len(results)} checks of single operations passed "
             f"(random inputs of seed {operations['seed']}; error as a part of what is allowed)."]  # fmt: skip
    if operations["left"]:
        lines.append(f"{operations['left']} checks were not reached in time.")
    rows = []
    for r in results:
        figures = ["", ""] if "fault" in r else [f"{r['error']:.2g}", f"{r['of_allowed']:.2f}"]
        verdict = "" if r["passed"] else " ".join(["FAILED", r.get("fault", "").replace("|", "/")]).strip()
        rows.append([r["case"], r["dtype"], *figures, verdict])
    return "\n".join(lines) + "\n\n" + table(["operation", "dtype", "largest error", "of allowed", ""], rows)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _where(found: dict[str, Any]) -> str:
    where, model = found["machine"], found["model"]
    return (
        f"{found['date']}, {where['card']}: {model['layers']} layers of random {model['dtype']} weights, kernels "
        f"{model['kernels']}, torch {where['torch']}, Triton {where['triton']}, transformers {where['transformers']}. "
        f"Blocks of {model['block']} after {model['context']} tokens."
    )


def _tables(found: dict[str, Any]) -> list[str]:
    copy, parts = found.get("copy_bandwidth"), []
    if copy:
        parts.append(f"A copy moves {copy / 1e12:.2f} TB/s here, bytes read and written.")
    head = ["pass", "experts touched", "read", "GB", "ms eager", "ms graph", "of the floor at 4.8 TB/s", "of a copy's",
            "graph against eager"]  # fmt: skip
    loads = found.get("loads", [])
    measured = [_pass(name, load, ms, copy) for load in loads for name, ms in load["milliseconds"].items()]
    if measured:
        parts += [table(head, measured), ALONE]
    rounds = [row for load in loads for preview in PREVIEWS if (row := _round(load, preview))]
    if rounds:
        needed = [f"tokens a round for {rate} tok/s" for rate in RATES]
        parts.append(table(["a round with", "experts touched", "ms (graph)", *needed], rounds))
    if found.get("decode", {}).get("milliseconds"):
        parts.append(_decode(found["decode"]))
        if not found.get("peer", {"fla": True})["fla"]:
            parts.append(PLAIN)
    if found.get("launches"):
        rows = [[name, str(n["kernels"]), str(n["copies"])] for name, n in found["launches"].items()]
        parts.append(table(["pass", "kernels launched", "copies and fills"], rows))
    if found.get("rounds"):
        rows = [[str(r["position"]), str(r["off"]), *(f"{r[name]:.3g}" for name in ("logits", "states", "rings"))]
                for r in found["rounds"]]  # fmt: skip
        head = ["tokens after a round, graph against eager", "off by", "logits", "states", "rings"]
        parts.append(table(head, rows))
    return parts


def _pass(name: str, load: dict[str, Any], ms: dict[str, float], copy: float | None) -> list[str]:
    size, best = load["bytes"][name], min(ms.values())
    experts, apart = load["experts"].get(name), load["largest_difference"].get(name)
    return [
        name,
        f"{experts['touched']:.1f}" if experts else "",
        f"{experts['read']:.1f}" if experts else "",
        f"{size / 1e9:.2f}",
        *(f"{ms[way]:.3f}" if way in ms else "" for way in WAYS),
        f"{fraction(size, best, H200):.0%}",
        f"{fraction(size, best, copy):.0%}" if copy else "",
        "" if apart is None else f"{apart:.3g}",
    ]


def fraction(size: int, ms: float, bandwidth: float) -> float:
    """Of the byte floor: the time that so many bytes take at a bandwidth, by the time that was taken."""
    return size / bandwidth / (ms / 1000)


def _round(load: dict[str, Any], preview: str) -> list[str] | None:
    """A preview, verify and advance: what a round of self-speculation costs, and must bring."""
    ms, passes = load["milliseconds"], (preview, "verify", "advance")
    if any("graph" not in ms.get(name, {}) for name in passes):
        return None
    total = sum(ms[name]["graph"] for name in passes)
    needed = [f"{tokens_needed(rate, total / 1000):.1f}" for rate in RATES]
    return [preview, f"{load['experts']['verify']['touched']:.1f}", f"{total:.2f}", *needed]


def _decode(decode: dict[str, Any]) -> str:
    rows = [[name, f"{ms:.3f}", f"{1000 / ms:.0f}"] for name, ms in decode["milliseconds"].items()]
    return table(["one token at a time", "ms", "tok/s"], rows)


def _load_notes(loads: Sequence[dict[str, Any]]) -> list[str]:
    """What failed in a pass, each failure once with the loads it was met at."""
    met: dict[str, list[str]] = {}
    for load in loads:
        for note in load.get("notes", ()):
            met.setdefault(note, []).append(str(load["target"]))
    return [f"at {', '.join(targets)} touched experts: {note}" for note, targets in met.items()]


def _targets(found: dict[str, Any]) -> str:
    """What was wanted of one card, and what it did: that it is right, and, of a whole model, how fast."""
    lines = _agreement(found)
    if found["model"]["layers"] == found["model"]["of_layers"]:
        lines += _speed(found)
    else:
        lines.append(
            f"{found['model']['layers']} of {found['model']['of_layers']} layers: no target applies to the speed"
        )
    return "\n".join(f"- {line}" for line in lines)


def _agreement(found: dict[str, Any]) -> list[str]:
    """One line for each thing that must agree, also when it was not compared."""
    apart = [value for load in found.get("loads", []) for value in load["largest_difference"].values()]
    rounds = found.get("rounds") or []
    cosine = (found.get("decode") or {}).get("cosine_with_transformers")
    cases = [
        ("logits of a block with transformers, smallest cosine", cosine, COSINE, True, "{:.4f}"),
        ("graph against eager, largest difference of a logit", max(apart, default=None), LOGIT, False, "{:.3g}"),
    ]
    for key, (name, bound) in ROUNDS.items():
        value = max((one[key] for one in rounds), default=None)
        cases.append((f"graph against eager after rounds, {name}", value, bound, False, "{:.3g}"))
    return [_target(*case) if case[1] is not None else f"{case[0]}: not compared" for case in cases]


def _speed(found: dict[str, Any]) -> list[str]:
    lines = []
    for load in found.get("loads", []):
        if load["target"] == 64:
            for name in ("preview", "verify"):
                if "graph" in load["milliseconds"].get(name, {}):
                    reached = fraction(load["bytes"][name], load["milliseconds"][name]["graph"], H200)
                    lines.append(_target(f"{name} at 64 experts, of the byte floor", reached, FLOOR, True, "{:.0%}"))
                    lines[-1] += f" (goal {GOAL:.0%})"
    if found.get("statistics_of_preview") is not None:
        lines.append(_target("statistics, of a preview", found["statistics_of_preview"], STATISTICS, False, "{:.1%}"))
    if found.get("peak_bytes"):
        lines.append(_target("peak memory, GB", found["peak_bytes"] / 1e9, PEAK_GB, False, "{:.1f}"))
    if "graph" in (found.get("decode") or {}).get("milliseconds", {}):
        rate = 1000 / found["decode"]["milliseconds"]["graph"]
        lines.append(_target("one token at a time, tok/s", rate, RATE, True, "{:.0f}"))
    return lines


def _target(name: str, reached: float, wanted: float, at_least: bool, form: str) -> str:
    met = reached >= wanted if at_least else reached <= wanted
    sign = ">=" if at_least else "<="
    return f"{name}: {form.format(reached)}, wanted {sign} {form.format(wanted)}: {'met' if met else 'missed'}"
