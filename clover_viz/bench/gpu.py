"""`bench gpu`: the operations, then the whole model on random weights, on one card, within a few minutes."""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from statistics import median
from typing import Any

import torch
from clover_kernels.selection import select

from clover_viz.bench import gpu_checks, gpu_model, gpu_passes, gpu_report, gpu_rounds
from clover_viz.bench.gpu_fault import fault
from clover_viz.bench.gpu_peer import SharingPeer
from clover_viz.bench.gpu_times import Budget, copy_bandwidth, milliseconds
from clover_viz.bench.timing import Side
from clover_viz.config import CloverConfig
from clover_viz.errors import UserError

# The most telling first: what a run has no time for is at the end.
LOADS = (64, 163, 8, 32, 128)
# In this order: nothing is captured before all that needs no graph is measured, as a card that was made to read where
# nothing is does no more work for this process. With the share of the whole time up to which a part may begin, or go on
# with another item.
UNTIL = {
    "operations": 0.30, "copy": 0.33, "model": 0.45, "eager": 0.60, "launches": 0.64, "transformers": 0.74,
    "graph": 0.92, "statistics": 0.94, "rounds": 1.0,
}  # fmt: skip
COPY = 4 * 2**30
GENERATED = 16  # tokens, of transformers' generate
TOY = dict(
    vocab_size=199, hidden_size=64, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
    linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=16, linear_value_head_dim=16,
    num_experts=32, num_experts_per_tok=4, moe_intermediate_size=16, shared_expert_intermediate_size=16,
    mask_token_id=198, max_position_embeddings=256, block_size=8,
)  # fmt: skip


@dataclass(frozen=True)
class Options:
    """layers: of the model, its first ones (default: all). minutes: for everything. rehearse: a toy on the CPU with the
    reference kernels, to try every line of a run without a card. without: parts (of UNTIL) to leave out."""

    layers: int | None = None
    minutes: float = 8.0
    rehearse: bool = False
    without: Collection[str] = ()


def run(
    options: Options, told: Callable[[str], None] = lambda line: None,
    saved: Callable[[dict], None] = lambda found: None,
) -> dict[str, Any]:  # fmt: skip
    """Everything measured, as plain values; "text" is Markdown. `saved` gets what there is after every part.

    A part that fails or has no time left is told in "notes" and the next one goes on. Raises UserError without a card,
    where the kernels cannot run on it, and for a part that there is not.
    """
    for part in options.without:
        if part not in UNTIL:
            raise UserError(f"--without must name parts of {', '.join(UNTIL)}, got {part!r}")
    if not options.rehearse and not torch.cuda.is_available():
        raise UserError("bench gpu needs a CUDA card, and torch sees none here")
    device = torch.device("cpu" if options.rehearse else "cuda")
    try:
        kernels = select(str(device), "reference" if options.rehearse else "triton")
    except ValueError as error:
        raise UserError(str(error)) from None
    return _Run(options, device, kernels, told, saved).all()


class _Run:
    def __init__(self, options: Options, device: torch.device, kernels, told, saved):
        self.options, self.device, self.kernels, self.told, self.saved = options, device, kernels, told, saved
        whole = CloverConfig(**TOY) if options.rehearse else CloverConfig()
        self.config = _cut(whole, options.layers)
        self.top_p = self.config.moe_block_coreset_top_p
        self.budget = Budget(60 * options.minutes)
        self.bench: gpu_passes.Bench | None = None
        self.knob: gpu_model.Knob | None = None
        self.found: dict[str, Any] = {
            "date": date.today().isoformat(),
            "machine": _machine(device),
            "model": {
                "layers": self.config.num_hidden_layers, "of_layers": whole.num_hidden_layers, "dtype": "bfloat16",
                "kernels": kernels.name, "block": self.config.block_size, "context": self._context(),
            },
            "notes": [],
            "loads": [],
        }  # fmt: skip

    def all(self) -> dict[str, Any]:
        for name in UNTIL:
            self._part(name, getattr(self, f"_{name}"))
        self.found["seconds"] = round(self.budget.spent(), 1)
        try:
            text = gpu_report.text(self.found)
        except Exception as error:  # whatever it is: minutes on a card are in these figures
            text = f"report: failed, {fault(error)}\n\n{json.dumps(self.found, default=str)}"
        self.found["text"] = text
        return self.found

    def _part(self, name: str, part: Callable[[], None]) -> None:
        if name in self.options.without:
            self.found["notes"].append(f"{name}: left out")
        elif self.budget.over(UNTIL[name]):
            self.found["notes"].append(f"{name}: skipped, the time for it is used up")
        elif name not in ("operations", "copy", "model") and self.bench is None:
            self.found["notes"].append(f"{name}: skipped, there is no model")
        else:
            self.told(f"{name}, {self.budget.spent():.0f} s of {self.budget.seconds:.0f}")
            self._try(name, part)
        self._save()

    def _try(self, name: str, part: Callable[[], None]) -> None:
        try:
            part()
        except Exception as error:  # of a compiler, a driver, too little memory: what follows may still tell
            self.found["notes"].append(f"{name}: failed, {fault(error)}")

    def _save(self) -> None:
        try:
            self.saved(self.found)
        except Exception as error:  # a full disk: the figures are still printed at the end
            self.told(f"what there is could not be kept: {fault(error)}")

    def _context(self) -> int:
        return min(gpu_passes.CONTEXT, self.config.max_position_embeddings // 4)

    def _operations(self) -> None:
        seed = int(torch.seed() % 2**31)  # other inputs in every run

        def kept(operations: dict) -> None:
            self.found["operations"] = operations
            self._save()

        self.found["operations"] = gpu_checks.run(
            self.config, self.kernels, self.device, seed, lambda: self.budget.over(UNTIL["operations"]), kept
        )

    def _copy(self) -> None:
        size = 2**20 if self.options.rehearse else min(COPY, torch.cuda.mem_get_info()[0] // 4)
        self.found["copy_bandwidth"] = copy_bandwidth(self.device, size, rounds=10)

    def _model(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
            short = gpu_model.shortfall(self.config, torch.cuda.mem_get_info()[0])
            if short:
                self.found["notes"].append(f"model: skipped, {short}")
                return
            torch.cuda.reset_peak_memory_stats()
        model, self.knob = gpu_model.build(self.config, self.kernels, self.device)
        self.bench = gpu_passes.Bench(model, capture=self.device.type == "cuda", context=self._context())
        self.found["model"]["parameters"] = sum(p.numel() for p in model.parameters())

    def _eager(self) -> None:
        self._passes("eager")

    def _graph(self) -> None:
        self._passes("graph")

    def _passes(self, way: str) -> None:
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()  # transformers' passes, in between, are not counted
        for target in LOADS:
            if self.budget.over(UNTIL[way]):
                self.found["notes"].append(f"{way}: no time was left for {target} touched experts")
                continue
            self.told(f"{way}, about {target} touched experts")
            self._try(f"{way}, {target} touched experts", lambda: self._load(target, way))
            self._save()

    def _load(self, target: int, way: str) -> None:
        load = next((one for one in self.found["loads"] if one["target"] == target), None)
        if load is None:
            load = {"target": target, "correlation": gpu_model.CORRELATION[target]} | gpu_passes.nothing(self.bench)
            self.found["loads"].append(load)  # now: a process that is ended keeps what it has
        self.knob.turn(gpu_model.CORRELATION[target])
        gpu_passes.measure(self.bench, self.top_p, way, load, lambda: self.budget.over(UNTIL[way]))
        if way in load["milliseconds"].get("decode", {}):
            self._decode()["milliseconds"].setdefault(way, load["milliseconds"]["decode"][way])
        if self.device.type == "cuda":
            self.found["peak_bytes"] = max(self.found.get("peak_bytes", 0), torch.cuda.max_memory_allocated())

    def _decode(self) -> dict[str, Any]:
        return self.found.setdefault("decode", {"milliseconds": {}})

    def _statistics(self) -> None:
        previews = [load["milliseconds"].get("preview", {}) for load in self.found["loads"]]
        if not previews or "graph" not in previews[0]:
            self.found["notes"].append("statistics: skipped, no preview was timed as a graph")
            return
        self.bench.take("graph")
        self.found["statistics_of_preview"] = gpu_passes.statistics(self.bench) / previews[0]["graph"]

    def _launches(self) -> None:
        self.found["launches"] = {}
        gpu_passes.count_launches(self.bench, self.top_p, self.found["launches"])

    def _transformers(self) -> None:
        """transformers one token at a time, after the same text, on the same tensors."""
        bench, peer, taken = self.bench, SharingPeer(self.bench.model), self._decode()["milliseconds"]
        self.found["peer"] = {"fla": find_spec("fla") is not None}

        def one_pass():
            cache = peer.prefilled(bench.text)
            side = Side(lambda _: peer.causal(bench.ids[:1], cache))
            taken["transformers, eager pass"] = median(milliseconds(side, 5, self.device))

        def generate():
            many, one = (
                median(milliseconds(Side(lambda _, n=n: peer.generate(bench.text, n)), 3, self.device, warmup=1))
                for n in (1 + GENERATED, 1)
            )
            taken["transformers, eager generate"] = (many - one) / GENERATED

        def cosine():
            with gpu_model.loud(bench.model):  # and the peer, whose tensors they are
                self._decode()["cosine_with_transformers"] = self._cosine(peer)

        for name, part in (("a pass", one_pass), ("generate", generate), ("cosine", cosine)):
            self._try(f"transformers, {name}", part)

    def _cosine(self, peer: SharingPeer) -> float:
        """Cosine of the angle between the two models' logits of one token, the smallest of a block's; -1 if it is no
        number."""
        bench = self.bench
        bench.take("eager")
        bench.refill()
        ours, theirs = bench.verify().logits, peer.causal(bench.ids, peer.prefilled(bench.text)).float()
        keep = torch.arange(self.config.vocab_size, device=self.device) != self.config.mask_token_id
        cosine = torch.nn.functional.cosine_similarity(ours[:, keep], theirs[:, keep], dim=-1)
        return cosine.nan_to_num(-1.0).min().item()

    def _rounds(self) -> None:
        self.knob.turn(gpu_model.CORRELATION[LOADS[0]])
        with gpu_model.loud(self.bench.model):
            self.found["rounds"] = gpu_rounds.compare(self.bench, self.top_p)


def _cut(config: CloverConfig, layers: int | None) -> CloverConfig:
    """The first layers of a model. Raises UserError for fewer than one of each kind, or more than there are."""
    if layers is None:
        return config
    if not 4 <= layers <= config.num_hidden_layers:
        raise UserError(f"--layers must be in [4, {config.num_hidden_layers}], got {layers}")
    kept = {"num_hidden_layers": layers, "layer_types": config.layer_types[:layers]}
    return CloverConfig(**config.to_dict() | kept)


def _machine(device: torch.device) -> dict[str, Any]:
    try:
        triton = version("triton")
    except PackageNotFoundError:
        triton = "not installed"
    card = torch.cuda.get_device_name(device) if device.type == "cuda" else "no card, a rehearsal on the CPU"
    return {"card": card, "torch": torch.__version__, "triton": triton, "cuda": torch.version.cuda,
            "transformers": version("transformers")}  # fmt: skip
