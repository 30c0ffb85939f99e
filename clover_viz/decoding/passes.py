"""What a decoder is given: forward passes as callables, and what the run asks for."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch

from clover_viz.decoding.rules import Adjustments, adjust, draw, uniform
from clover_viz.events import TopToken

TOP = 3  # alternatives shown for a slot


class Routing(Protocol):
    """Experts by layer, tensors [L]."""

    touched: torch.Tensor
    kept: torch.Tensor
    rerouted: torch.Tensor


class Stats(Protocol):
    """Of each row: the most probable token (ties: lowest id) and its fp32 probability. Tensors [N]."""

    token: torch.Tensor
    probability: torch.Tensor


class Rows(Protocol):
    """What a pass hands out. stats: of all its tokens, of which the logits may be the last only; or None."""

    logits: torch.Tensor  # [N, V]
    routing: Routing
    stats: Stats | None


@dataclass(frozen=True)
class Passes:
    """Every pass of a run. Each call runs one pass, is counted by its kind, and raises when the run was cancelled."""

    preview: Callable[[Sequence[int], Sequence[bool]], Rows]  # logits [B, V]; reads the cache
    replay: Callable[[Sequence[int]], None]  # writes a finished block to the cache
    decode: Callable[[int], Rows]  # writes one token to the cache; logits [1, V] of the next
    verify: Callable[[Sequence[int]], Rows]  # a causal pass: logits [B, V]; reads the cache
    keep: Callable[[int], None]  # writes the first n tokens of the last verify to the cache; no pass
    stats: Callable[[torch.Tensor, int], Stats]  # of logits [N, V], with the mask token out
    clock: Callable[[], float]  # seconds of the run; stands still while a pass is held back


@dataclass(frozen=True)
class Request:
    """One run as a decoder sees it. context: positions the model has; printable: one token's text for display."""

    prompt: tuple[int, ...]
    max_new_tokens: int
    context: int
    end_ids: frozenset[int]
    mask_token_id: int
    seed: int
    temperature: float
    adjustments: Adjustments
    printable: Callable[[int], str]
    top: bool = False


class Choices(NamedTuple):
    """The choice of each row, in plain values, with what else the event of that pass needs."""

    tokens: list[int]
    confidences: list[float]  # fp32 values: the choice's probability at temperature 1
    top: list[tuple[TopToken, ...] | None]
    routing: list[tuple[int, int, float]]  # by layer: touched, kept, rerouted
    draft_probabilities: list[float]  # of a verify: what each draft's row gives it, fp32 at temperature 1
    entropies: list[float]  # of a verify: of each draft's row, nats


@torch.inference_mode()
def choose(
    stats: Callable[[torch.Tensor, int], Stats],
    logits: torch.Tensor,
    request: Request,
    response: Sequence[int],
    positions: Sequence[int],
    step: int,
    routing: Routing | None = None,
    drafts: Sequence[int] = (),
    told: Stats | None = None,
) -> Choices:
    """The token of each row of logits [N, V], with one copy from the device for everything.

    drafts: of a verify, N - 1 tokens; row i is about draft i, after the response and the drafts before it. told: what
    `stats` says of these logits, or of more whose last rows they are, where the pass has asked it already.

    Raises FloatingPointError when the logits of a row are not finite numbers: no rule can choose among those.
    """
    given = logits.float()
    logits = adjust(given, request.adjustments, request.prompt, response, drafts)
    if request.temperature == 0 and told is not None and logits is given:  # it knows nothing of adjusted ones
        tokens, p = (part[-len(logits) :] for part in (told.token, told.probability))
    elif request.temperature == 0:
        best = stats(logits, request.mask_token_id)
        tokens, p = best.token, best.probability
    else:
        logits = _without(logits, request.mask_token_id)
        tokens = draw(logits, request.temperature, [uniform(request.seed, at, step) for at in positions])
        p = logits.softmax(-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
    wanted = [tokens, p]
    if request.top:
        # softmax in fp32: bf16 would disagree with the confidences beside it
        likeliest = _without(logits, request.mask_token_id).softmax(-1).topk(min(TOP, logits.shape[-1]))
        wanted += [likeliest.indices, likeliest.values]
    if drafts:
        p = _without(logits[:-1], request.mask_token_id).softmax(-1)
        at = torch.tensor(drafts, device=p.device).unsqueeze(-1)
        wanted += [p.gather(-1, at).squeeze(-1), torch.special.entr(p).sum(-1)]
    if routing is not None:
        wanted += [routing.touched, routing.kept, routing.rerouted]
    values = to_host(*wanted)
    ids, confidences, rest = values[0], values[1], values[2:]
    if not all(map(math.isfinite, confidences)):
        raise FloatingPointError(f"the model's logits are not finite at position {_first_bad(positions, confidences)}")
    top = [None] * len(ids)
    if request.top:
        top, rest = [_shown(i, q, request.printable) for i, q in zip(rest[0], rest[1])], rest[2:]
    draft_probabilities, entropies, rest = (rest[0], rest[1], rest[2:]) if drafts else ([], [], rest)
    return Choices(ids, confidences, top, list(zip(*rest)), draft_probabilities, entropies)


def to_host(*tensors: torch.Tensor) -> list[Any]:
    """Small tensors as nested lists of numbers by one device-to-host copy. fp32 bits travel as int32."""
    bits = [t.float().view(torch.int32) if t.is_floating_point() else t.to(torch.int32) for t in tensors]
    home = bits[0].device
    flat = torch.cat([b.reshape(-1).to(home) for b in bits]).cpu()
    return [
        (part.view(torch.float32) if t.is_floating_point() else part).reshape(t.shape).tolist()
        for part, t in zip(flat.split([t.numel() for t in tensors]), tensors)
    ]


def nine_digits(value: float) -> float:
    """An fp32 value in few digits: nine significant ones give the same fp32 number back."""
    return float(f"{value:.9g}")


def milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)


def _without(logits: torch.Tensor, mask_token_id: int) -> torch.Tensor:
    return logits.index_fill(-1, torch.tensor([mask_token_id], device=logits.device), float("-inf"))


def _shown(ids: list[int], probabilities: list[float], printable: Callable[[int], str]) -> tuple[TopToken, ...]:
    ranked = sorted(zip(ids, probabilities), key=lambda pair: (-pair[1], pair[0]))  # ties as in the choice
    return tuple(TopToken(i, printable(i), nine_digits(p)) for i, p in ranked)


def _first_bad(positions: Sequence[int], confidences: Sequence[float]) -> int:
    return next(at for at, p in zip(positions, confidences) if not math.isfinite(p))
