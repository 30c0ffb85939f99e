"""The passes of a model on a card, eager and as graphs, at a given agreement of the slots on their experts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import torch

from clover_viz.bench import gpu_bytes
from clover_viz.bench.gpu_difference import difference
from clover_viz.bench.gpu_fault import fault
from clover_viz.bench.gpu_times import launches, milliseconds
from clover_viz.bench.timing import Side
from clover_viz.model.static_cache import SMALLEST_BUCKET
from clover_viz.model.static_passes import pack, unpack
from clover_viz.model.steps import Steps

CONTEXT = 512  # committed tokens before every pass: a bucket's end
ROUNDS = {"eager": 5, "graph": 25}


class Bench:
    """The passes of `model` after `context` random tokens, each a Side that leaves the cache as it found it.

    A block is random ids, none masked: slots that are all the mask token would all choose the same experts.
    """

    def __init__(self, model, capture: bool, context: int = CONTEXT, seed: int = 0):
        self.model, self.config, self.device, self.context = model, model.config, model.device, context
        self.steps = Steps(model, capture, positions=2 * context, smallest=min(SMALLEST_BUCKET, context))
        self.captures, self.block = capture, model.config.block_size
        generator = torch.Generator().manual_seed(seed)
        low = model.config.vocab_size
        text = torch.randint(low, (context + self.block,), generator=generator).to(self.device)
        self.text, self.ids = text[:context], text[context:]
        self._none = torch.zeros(self.block, dtype=torch.bool, device=self.device)
        self._zero = torch.zeros((), dtype=torch.int64, device=self.device)
        self.cache = self.steps.new_cache()

    def refill(self) -> None:
        """The same text once more, read by the model as it is now."""
        self.steps.prefill(self.text, self.steps.new_cache())

    def preview(self, top_p: float):
        return self.steps.preview(self.ids, self._none, self.cache, top_p)

    def verify(self):
        return self.steps.causal(self.ids, self.cache)

    def sides(self, top_p: float) -> dict[str, Side]:
        """`preview` reads every expert its slots choose, `preview, coreset` those that the coreset of `top_p` keeps."""

        def back():
            self.cache.length = self.context

        def staged():
            back()
            return self.verify().staged

        def decode(_):
            # by 0 tokens, told on the device: the same work as by any number
            self.cache.advance(self.steps.causal(self.ids[:1], self.cache).staged, self._zero)

        return {
            "preview": Side(lambda _: self.preview(1.0), back),
            "preview, coreset": Side(lambda _: self.preview(top_p), back),
            "verify": Side(lambda _: self.verify(), back),
            "advance": Side(lambda given: self.cache.advance(given, self._zero), staged),
            "decode": Side(decode, back),
        }

    def take(self, way: str) -> None:
        """From here on: "graph" or "eager"."""
        self.steps.graphs.capture = self.captures and way == "graph"

    def one(self, side: Side, way: str) -> Any:
        """One run of a side, graphs used or not."""
        self.take(way)
        return side.run(side.prepare())

    def numbers(self, out) -> torch.Tensor:
        """A copy of the logits of a pass, the mask token's at 0: -inf from -inf would be no number."""
        logits = out.logits.clone()
        logits[:, self.config.mask_token_id] = 0.0
        return logits


def nothing(bench: Bench) -> dict[str, Any]:
    """A load of which nothing is measured yet: what `measure` fills, and the bytes that do not depend on experts."""
    found: dict[str, Any] = {"milliseconds": {}, "experts": {}, "bytes": {}, "largest_difference": {}, "notes": []}
    _add_decode(found, bench)
    return found


def measure(
    bench: Bench, top_p: float, way: str, found: dict[str, Any], over: Callable[[], bool], rounds: int | None = None
) -> None:
    """Milliseconds of every pass one way, "eager" or "graph", and the experts and bytes it read, into `found`; for
    graphs also how far their logits are from those of the same pass run as it is.

    Ends early, between two passes, when `over` says so; what was not measured is missing. What fails is told in
    "notes", and the other passes go on: the times are right without the text too.
    """
    notes = found["notes"]
    with _told(notes, "prefill"):
        bench.refill()
    for name, side in bench.sides(top_p).items():
        if over():
            return
        with _told(notes, f"{name}, {way}"):
            out = bench.one(side, way)
            if out is not None:
                _add_experts(found, bench, name, unpack(out.packed, bench.block))
            if out is not None and way == "graph":
                with _told(notes, f"{name}, graph against eager"):
                    logits = bench.numbers(out)
                    found["largest_difference"][name] = difference(bench.numbers(bench.one(side, "eager")), logits)
            bench.take(way)
            taken = milliseconds(side, rounds or ROUNDS[way], bench.device)
            found["milliseconds"].setdefault(name, {})[way] = median(taken)


@contextmanager
def _told(notes: list[str], what: str) -> Iterator[None]:
    """What fails in here, of a capture, a compiler or a driver, is a note, once."""
    try:
        yield
    except Exception as error:
        note = f"{what}: failed, {fault(error)}"
        if note not in notes:
            notes.append(note)


def statistics(bench: Bench) -> float:
    """Milliseconds of the token statistics and their packing alone, which are part of every pass."""
    bench.cache.length = bench.context
    out, steps = bench.preview(1.0), bench.steps
    logits, routing, mask = out.logits.clone(), out.routing, bench.config.mask_token_id

    def told():
        return pack(steps.kernels.token_stats(logits, mask), routing)

    side = Side(lambda _: steps.graphs.run(("statistics",), told))
    with torch.inference_mode():
        return median(milliseconds(side, ROUNDS["graph"], bench.device))


def count_launches(bench: Bench, top_p: float, found: dict[str, dict[str, int]]) -> None:
    """Of each pass, run as it is, into `found`: a graph replays just these."""
    for name, side in bench.sides(top_p).items():
        given = side.prepare()
        bench.take("eager")
        found[name] = launches(lambda: side.run(given), bench.device)


def _add_experts(found: dict, bench: Bench, name: str, told) -> None:
    layers, kind = bench.config.num_hidden_layers, "causal" if name == "verify" else "preview"
    read = sum(told.kept)
    found["experts"][name] = {"touched": sum(told.touched) / layers, "read": read / layers}
    itemsize = bench.model.dtype.itemsize
    found["bytes"][name] = gpu_bytes.pass_bytes(bench.config, kind, bench.block, read, bench.context, itemsize).total


def _add_decode(found: dict, bench: Bench) -> None:
    config, itemsize = bench.config, bench.model.dtype.itemsize
    read = config.num_hidden_layers * config.num_experts_per_tok
    found["bytes"]["advance"] = gpu_bytes.advance_bytes(config, bench.block, itemsize)
    one = gpu_bytes.pass_bytes(config, "causal", 1, read, bench.context, itemsize).total
    found["bytes"]["decode"] = one + gpu_bytes.advance_bytes(config, 1, itemsize)
