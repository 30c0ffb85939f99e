"""Denoise mode: blocks of masks, each denoised by previews until every slot is committed, then replayed."""

from collections.abc import Iterator, Sequence
from itertools import count

from clover_viz.decoding.passes import Passes, Request, choose, milliseconds, nine_digits
from clover_viz.decoding.rules import commit
from clover_viz.events import BlockOpened, Denoised, Event, LayerExperts, Replayed, Slot
from clover_viz.settings import DenoiseSettings


def denoise(passes: Passes, settings: DenoiseSettings, request: Request) -> Iterator[Event]:
    """Yields BlockOpened, Denoised and Replayed until an end token, the token limit, or the context's last whole block.

    The last block is not replayed: nothing reads the cache after it.
    """
    size = settings.block_size
    response: list[int] = []
    for block in count():
        start = len(request.prompt) + len(response)
        yield BlockOpened(block, start, size)
        tokens = yield from _denoise_block(passes, settings, request, response, block, start)
        response += tokens
        ended = len(tokens) < size or tokens[-1] in request.end_ids
        if ended or len(response) >= request.max_new_tokens or start + 2 * size > request.context:
            return
        began = passes.clock()
        passes.replay(tokens)
        yield Replayed(block, size, milliseconds(passes.clock() - began))


def _denoise_block(
    passes: Passes, settings: DenoiseSettings, request: Request, response: Sequence[int], block: int, start: int
) -> Iterator[Event]:
    """Denoises one block; returns its tokens in order, up to and with the first end token."""
    size = settings.block_size
    positions = range(start, start + size)
    fixed: list[Slot | None] = [None] * size
    for step in count(1):
        began = passes.clock()
        masked = [slot is None for slot in fixed]
        ids = [request.mask_token_id if slot is None else slot.token_id for slot in fixed]
        rows = passes.preview(ids, masked)
        known = [*response, *(slot.token_id for slot in fixed if slot is not None)]
        choices = choose(passes.stats, rows.logits, request, known, positions, step, rows.routing, told=rows.stats)

        committed, forced = commit(choices.confidences, masked, settings.threshold)
        slots = [slot or _slot(i, "masked", choices, request) for i, slot in enumerate(fixed)]
        for i in committed:
            slots[i] = fixed[i] = _slot(i, "committed", choices, request)
        experts = tuple(LayerExperts(layer, t, k, nine_digits(r)) for layer, (t, k, r) in enumerate(choices.routing))
        ms = milliseconds(passes.clock() - began)
        yield Denoised(block, step, committed, forced, tuple(slots), experts, ms)
        tokens = _finished(fixed, request.end_ids)
        if tokens is not None:
            return tokens


def _slot(i: int, state: str, choices, request: Request) -> Slot:
    token = choices.tokens[i]
    return Slot(i, state, token, request.printable(token), nine_digits(choices.confidences[i]), choices.top[i])


def _finished(fixed: Sequence[Slot | None], end_ids: frozenset[int]) -> list[int] | None:
    """The block's tokens up to and with its first end token, once no slot among them is masked; else None."""
    tokens = []
    for slot in fixed:
        if slot is None:
            return None
        tokens.append(slot.token_id)
        if slot.token_id in end_ids:
            break
    return tokens
