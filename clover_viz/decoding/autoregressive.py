"""Autoregressive mode: the causal pass's own next token, one pass a token."""

from collections.abc import Iterator, Sequence
from itertools import count

from clover_viz.decoding.passes import Passes, Request, Rows, choose, milliseconds, nine_digits
from clover_viz.events import Event, TokenDecoded


def autoregress(
    passes: Passes, request: Request, rows: Rows, response: Sequence[int] = (), began: float | None = None
) -> Iterator[Event]:
    """Yields TokenDecoded until an end token (which has its event too), the token limit or the context's last position.

    rows: one, of the last position so far; from prefill, n tokens take n - 1 decode passes. `response`: tokens that
    are there already. began: when the pass behind that row was started (passes.clock), for its event's `ms`.
    """
    response = list(response)
    began = passes.clock() if began is None else began
    for position in count(len(request.prompt) + len(response)):
        # step 0: the draw of a position is the same here and in a verify
        choices = choose(passes.stats, rows.logits, request, response, [position], step=0, told=rows.stats)
        token = choices.tokens[0]
        response.append(token)
        ms = milliseconds(passes.clock() - began)
        yield TokenDecoded(position, token, request.printable(token), nine_digits(choices.confidences[0]), ms)
        if token in request.end_ids or len(response) >= request.max_new_tokens or position + 1 >= request.context:
            return
        began = passes.clock()
        rows = passes.decode(token)
