"""The passes of one run over a model and one cache: counted by kind, stopped when the run was cancelled."""

from collections.abc import Callable, Sequence
from threading import Event as Flag
from typing import Any, NamedTuple

import torch

from clover_viz.events import PassCounts


SEGMENT = 512  # tokens of a prompt between two looks at `cancel`; a multiple of the model's own segments rounds alike


class Cancelled(Exception):
    """The run was cancelled; the pass that was due has not run, or a prefill has read only its first segments."""


class Remembered(NamedTuple):
    """What a run left behind: a cache, and the ids it holds."""

    cache: Any
    ids: tuple[int, ...]

    def begins(self, prompt: Sequence[int]) -> bool:
        """Whether the prompt goes on from here. A recurrent state cannot go back: all of it must match, and at least
        one token must be left to read, whose logits come next."""
        return len(self.ids) < len(prompt) and self.ids == tuple(prompt[: len(self.ids)])


class Rows(NamedTuple):
    """What a pass hands out. stats: the token statistics of all of its tokens, of which the logits may be the last
    only; None of a pass that did not make them itself."""

    logits: torch.Tensor  # [N, V]
    routing: Any
    stats: Any = None


class ModelPasses:
    """Each pass but the first waits at `gate`, then all look at `cancel` and are counted. coreset_top_p: of every
    preview."""

    def __init__(
        self, model, coreset_top_p: float | None, cancel: Flag | None, gate: Callable[[], object] | None = None
    ):
        self._model, self._coreset_top_p, self._cancel, self._gate = model, coreset_top_p, cancel, gate
        self._cache = self._verified = None
        self._held: list[int] = []  # the ids that the cache holds
        self._counts: dict[str, int] = {}

    def counts(self) -> PassCounts:
        return PassCounts(**self._counts)

    def remembered(self) -> Remembered | None:
        """The cache as it is between two passes; None before the prefill."""
        return Remembered(self._cache, tuple(self._held)) if self._held else None

    def prefill(self, ids: Sequence[int], known: Remembered | None = None) -> Rows:
        """Reads a prompt; `known` is written on when the prompt begins with it. Logits of its last token, [1, V]."""
        self._begin("prefill")
        if known is None or not known.begins(ids):
            known = Remembered(self._model.new_cache(), ())
        self._cache = known.cache
        for start in range(len(known.ids), len(ids), SEGMENT):
            if start > len(known.ids):
                self._stop_if_cancelled()
            out = self._model.prefill(self._ids(ids[start : start + SEGMENT]), self._cache)
            self._wait()
            self._held = list(ids[: start + SEGMENT])
        return Rows(out.logits, None)

    def preview(self, ids: Sequence[int], masked: Sequence[bool]) -> Rows:
        self._begin("preview")
        masked = torch.tensor(masked, device=self._model.device)
        return _rows(self._model.preview(self._ids(ids), masked, self._cache, coreset_top_p=self._coreset_top_p))

    def replay(self, ids: Sequence[int]) -> None:
        self._begin("replay")
        self._causal(ids)
        self._wait()

    def decode(self, token_id: int) -> Rows:
        self._begin("decode")
        return self._causal([token_id])

    def verify(self, ids: Sequence[int]) -> Rows:
        self._begin("verify")
        out = self._model.causal(self._ids(ids), self._cache)
        self._verified = out.staged, ids
        return _rows(out)

    def keep(self, n: int) -> None:
        staged, ids = self._verified
        self._write(staged, ids[:n])

    def _causal(self, ids: Sequence[int]) -> Rows:
        out = self._model.causal(self._ids(ids), self._cache, last_only=True)
        self._write(out.staged, ids)
        return _rows(out)

    def _write(self, staged, ids: Sequence[int]) -> None:
        self._cache.advance(staged, len(ids))
        self._held += ids

    def _begin(self, kind: str) -> None:
        if self._gate is not None and self._counts:
            self._gate()
        self._stop_if_cancelled()
        # Decays soon fall below fp32's normal range, where a CPU multiplies many times slower. A setting of the thread,
        # and a run may be resumed from another one: so before every pass.
        torch.set_flush_denormal(True)
        self._counts[kind] = self._counts.get(kind, 0) + 1

    def _stop_if_cancelled(self) -> None:
        if self._cancel is not None and self._cancel.is_set():
            raise Cancelled

    def _ids(self, ids: Sequence[int]) -> torch.Tensor:
        return torch.tensor(ids, dtype=torch.long, device=self._model.device)

    def _wait(self) -> None:
        # a pass whose result nobody copies would be timed before it has run
        if self._model.device.type == "cuda":
            torch.cuda.synchronize(self._model.device)


def _rows(out) -> Rows:
    told = getattr(out, "told", None)  # of a captured step, which makes its statistics anyway
    if told is None:
        return Rows(out.logits, out.routing)
    stats, routing = told()
    return Rows(out.logits, routing, stats)
