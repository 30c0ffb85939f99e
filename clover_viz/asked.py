"""What is asked of a run: its prompt as ids, and what the decoders are told."""

from collections.abc import Sequence
from typing import Any

from clover_viz.decoding.passes import Request
from clover_viz.decoding.rules import Adjustments
from clover_viz.errors import ContextFull, UserError
from clover_viz.settings import Limits, Settings


def prompt_ids(tokenizer, prompt: str | Sequence[Any], raw: bool, vocab_size: int) -> tuple[int, ...]:
    """Ids of text (one user turn), of messages, or with `raw` of text or ids used as they are. Raises UserError for
    another type, an id outside the vocabulary, and an empty prompt."""
    if not isinstance(prompt, (str, list, tuple)):
        raise UserError(f"the prompt must be text or a list, got {type(prompt).__name__}")
    if isinstance(prompt, str):
        if raw:
            ids = tokenizer.encode_raw(prompt)
        else:
            ids = tokenizer.chat([{"role": "user", "content": prompt}]) if prompt.strip() else []
    elif raw:
        ids = [_vocabulary_id(i, vocab_size) for i in prompt]
    else:
        ids = tokenizer.chat(list(prompt))
    if not ids:
        raise UserError("the prompt must hold at least one token, got none")
    return tuple(ids)


def build(
    tokenizer, config, end_ids: frozenset[int], prompt: tuple[int, ...], settings: Settings, limits: Limits, top: bool
) -> Request:
    """A run as the decoders see it, with the settings in force. Raises UserError for a bias that the tokenizer has no
    token for."""
    think_open, think_close = (tokenizer.token_id(literal) for literal in ("<think>", "</think>"))
    if settings.think_close_bias and think_close is None:
        given = settings.think_close_bias
        raise UserError(f"think_close_bias must be 0 for a tokenizer without </think>, got {given}")
    return Request(
        prompt=prompt,
        max_new_tokens=limits.max_new_tokens,
        context=config.max_position_embeddings,
        end_ids=end_ids,
        mask_token_id=config.mask_token_id,
        seed=limits.seed,
        temperature=settings.temperature,
        adjustments=Adjustments(
            repetition=settings.repetition_penalty,
            presence=settings.presence_penalty,
            frequency=settings.frequency_penalty,
            stop_bias=settings.stop_bias,
            think_close_bias=settings.think_close_bias,
            end_ids=tuple(sorted(end_ids)),
            think_open=think_open,
            think_close=think_close,
        ),
        printable=tokenizer.printable,
        top=top,
    )


def check_room(request: Request, needed: int) -> None:
    """Raises ContextFull when not even one block (or one token) fits behind the prompt."""
    if len(request.prompt) + needed > request.context:
        unit = "one token" if needed == 1 else f"one block of {needed}"
        raise ContextFull(
            f"the prompt must leave room for {unit} in the context of {request.context} positions, "
            f"got a prompt of {len(request.prompt)} tokens"
        )


def _vocabulary_id(value: Any, vocab_size: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < vocab_size:
        raise UserError(f"raw prompt ids must be whole numbers in [0, {vocab_size}), got {value!r}")
    return value
