"""A checkpoint's generation_config.json: the tokens that end a text, and its penalties in any obvious spelling."""

import json
import logging
import re
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from clover_viz.errors import UserError

log = logging.getLogger("clover_viz")

# The release's exact keys are not known: every obvious spelling is read, flat or inside a section. The response's own
# penalty comes first, because transformers' key of the shorter name counts the prompt's tokens as well. A bias has one
# name only: what another one is measured in would be a guess.
_SPELLINGS = {
    "repetition_penalty": ("response_repetition_penalty", "response_only_repetition_penalty", "repetition_penalty"),
    "presence_penalty": ("response_presence_penalty", "response_only_presence_penalty", "presence_penalty"),
    "frequency_penalty": ("response_frequency_penalty", "response_only_frequency_penalty", "frequency_penalty"),
    "stop_bias": ("stop_bias",),
    "think_close_bias": ("think_close_bias",),
}
_SECTIONS = ("penalties", "response_penalties", "response_only_penalties", "penalty_config", "long_generation")
_SHORT = {"repetition_penalty": "repetition", "presence_penalty": "presence", "frequency_penalty": "frequency"}
_LIKE_ONE = re.compile("penalt|bias")
# of transformers, about beams, contrastive search and encoders, none of which is a mode here
_OTHERS = {"length_penalty", "diversity_penalty", "penalty_alpha", "encoder_repetition_penalty"}


def read(folder: str | PathLike) -> dict[str, Any]:
    """A folder's generation_config.json; empty when there is none. Raises UserError when it is no JSON."""
    file = Path(folder) / "generation_config.json"
    if not file.is_file():
        return {}
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"generation_config.json must be JSON, got a file that is not: {error}") from error
    return values if isinstance(values, dict) else {}


def end_ids(generation: Mapping[str, Any], config) -> frozenset[int]:
    """The generation config's end tokens, else the config's: one id, a list of ids, or none."""
    ids = generation.get("eos_token_id")
    if ids is None:
        ids = getattr(config, "eos_token_id", None)
    if ids is None:
        return frozenset()
    return frozenset([ids] if isinstance(ids, int) else ids)


def checkpoint_settings(generation: Mapping[str, Any], config) -> dict[str, Any]:
    """The checkpoint's value of each setting, by its name. Logs the keys that look like penalties and were not read."""
    values = {
        "threshold": config.denoising_config["threshold"],
        "block_size": config.block_size,
        "coreset_top_p": config.moe_block_coreset_top_p if config.moe_block_coreset_enabled else None,
    }
    found, unread = penalties(generation)
    if unread:
        log.warning("generation_config.json: penalties and biases that are not read: %s", ", ".join(unread))
    return values | found


def penalties(generation: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Penalties and biases by the names of our settings, and the keys (`section.key`) that look like one but are not
    read. A flat key goes before one in a section; null is no value."""
    given = {path: value for path, value in _leaves(generation) if value is not None}
    found, known = {}, set()
    for name, spellings in _SPELLINGS.items():
        nested = (*spellings, _SHORT.get(name, name))
        paths = [(key,) for key in spellings] + [(section, key) for section in _SECTIONS for key in nested]
        path = next((path for path in paths if path in given), None)
        if path is not None:
            found[name] = given[path]
            known.add(path)
    unread = [".".join(path) for path in given if path not in known]
    return found, [path for path in unread if _LIKE_ONE.search(path) and path not in _OTHERS]


def _leaves(values: Mapping[str, Any], before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value that is no section, with the keys that lead to it."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*before, key))
        else:
            yield (*before, key), value
