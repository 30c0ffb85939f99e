"""Self-speculative mode: one preview drafts behind the boundary token, one causal pass of the same weights verifies."""

from collections.abc import Iterator, Sequence
from itertools import count

from clover_viz.decoding.autoregressive import autoregress
from clover_viz.decoding.passes import Passes, Request, Rows, choose, milliseconds, nine_digits
from clover_viz.decoding.rules import accept, accept_by_bar, acceptance_bar, commit
from clover_viz.events import Boundary, Check, Draft, Drafted, Event, LayerExperts, LayerTouched, Verified
from clover_viz.settings import SpeculativeSettings


def speculate(
    passes: Passes, settings: SpeculativeSettings, request: Request, rows: Rows
) -> Iterator[Event]:
    """Yields Drafted (one a preview) and Verified (one a round) until an end token, the token limit or the context.

    rows: one, of the prompt's last position, from prefill; it chooses the first boundary. Where the context has
    no room for another round, and for a response of that one token, the causal pass goes on alone: TokenDecoded.
    The cache holds the response without its last boundary, cut at the token limit and after an end token.
    """
    size, limit = settings.block_size, request.max_new_tokens
    token = choose(
        passes.stats, rows.logits, request, (), [len(request.prompt)], step=0, told=rows.stats
    ).tokens[0]  # fmt: skip
    if token in request.end_ids or limit == 1 or len(request.prompt) + size >= request.context:
        yield from autoregress(passes, request, rows)
        return
    boundary = Boundary(token, request.printable(token))
    response = [token]
    for number in count():
        start = len(request.prompt) + len(response) - 1  # the boundary's position
        if start + 1 == request.context:
            return
        if start + size >= request.context:  # the next boundary would have no position
            began = passes.clock()
            yield from autoregress(passes, request, passes.decode(response[-1]), response, began)
            return
        drafts = yield from _draft(passes, settings, request, response, number, start, boundary)
        verified = _verify(passes, settings, request, response, number, start, drafts)
        yield verified
        response += (draft.token_id for draft in drafts[: verified.accepted])
        if response[-1] in request.end_ids or len(response) >= limit:
            return
        boundary = Boundary(verified.boundary.token_id, verified.boundary.token)
        response.append(boundary.token_id)
        if boundary.token_id in request.end_ids or len(response) >= limit:
            return


def _draft(
    passes: Passes, settings: SpeculativeSettings, request: Request, response: Sequence[int], number: int, start: int,
    boundary: Boundary,
) -> Iterator[Event]:  # fmt: skip
    """Previews of [boundary, masks]; returns the drafts, one for each slot but the boundary's.

    Every preview but the last commits slots by the denoise rule. Draws are the ones the causal pass will make at
    these positions (step 0): where both distributions agree, so do their samples.
    """
    slots = range(1, settings.block_size)
    positions = [start + slot for slot in slots]
    fixed: list[Draft | None] = [None] * len(slots)
    for step in range(1, settings.draft_steps + 1):
        began = passes.clock()
        masked = [draft is None for draft in fixed]
        ids = [request.mask_token_id if draft is None else draft.token_id for draft in fixed]
        rows = passes.preview([boundary.token_id, *ids], [False, *masked])
        known = [*response, *(draft.token_id for draft in fixed if draft is not None)]
        choices = choose(
            passes.stats, rows.logits[1:], request, known, positions, step=0, routing=rows.routing, told=rows.stats
        )  # fmt: skip
        drafts = [
            draft or Draft(slot, token, request.printable(token), nine_digits(p), top)
            for draft, slot, token, p, top in zip(fixed, slots, choices.tokens, choices.confidences, choices.top)
        ]
        experts = tuple(LayerExperts(layer, t, k, nine_digits(r)) for layer, (t, k, r) in enumerate(choices.routing))
        yield Drafted(
            number, step, start, boundary, tuple(drafts), experts, milliseconds(passes.clock() - began)
        )  # fmt: skip
        if step == settings.draft_steps:
            break
        for i in commit(choices.confidences, masked, settings.threshold)[0]:
            fixed[i] = drafts[i]
        if all(fixed):
            break
    return drafts


def _verify(
    passes: Passes, settings: SpeculativeSettings, request: Request, response: Sequence[int], number: int, start: int,
    drafts: Sequence[Draft],
) -> Verified:  # fmt: skip
    """The causal pass over [boundary, drafts] and what it lets stand, written to the cache."""
    began = passes.clock()
    tokens = [draft.token_id for draft in drafts]
    rows = passes.verify([response[-1], *tokens])  # row i is about slot i + 1
    positions = range(start + 1, start + settings.block_size + 1)
    choices = choose(
        passes.stats, rows.logits, request, response, positions, step=0, routing=rows.routing, drafts=tokens,
        told=rows.stats,
    )  # fmt: skip
    if settings.accept_rule == "exact":
        bars = [None] * len(tokens)
        accepted = accept(tokens, choices.tokens)
    else:
        bars = [acceptance_bar(entropy, settings.ratio, settings.delta) for entropy in choices.entropies]
        accepted = accept_by_bar(choices.draft_probabilities, bars)
    accepted = _to_end(tokens[:accepted], request.end_ids)
    passes.keep(1 + min(accepted, request.max_new_tokens - len(response)))
    checks = tuple(
        Check(
            draft.slot, draft.token_id, draft.token, nine_digits(p), nine_digits(entropy), bar and nine_digits(bar),
            accepted=i < accepted, top=top,
        )  # fmt: skip
        for i, (draft, p, entropy, bar, top) in enumerate(
            zip(drafts, choices.draft_probabilities, choices.entropies, bars, choices.top)
        )
    )
    token = choices.tokens[accepted]
    boundary = Boundary(token, request.printable(token), nine_digits(choices.confidences[accepted]))
    experts = tuple(LayerTouched(layer, touched) for layer, (touched, *_) in enumerate(choices.routing))
    ms = milliseconds(passes.clock() - began)
    return Verified(number, checks, accepted, boundary, experts, ms)


def _to_end(tokens: Sequence[int], end_ids: frozenset[int]) -> int:
    """How many tokens there are up to and with the first end token: behind one, nothing can be accepted."""
    return next((i for i, token in enumerate(tokens, start=1) if token in end_ids), len(tokens))
