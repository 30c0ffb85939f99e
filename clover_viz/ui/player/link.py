"""Links that fill the page in: a prompt and settings as the query of an address, and back again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlencode

from clover_viz.errors import UserError
from clover_viz.settings import MODES
from clover_viz.ui.controls import DENOISE, has, limits_of, settings_of

LONGEST = 6000  # characters of a query that every server between us and a visitor lets pass
OFF = "off"  # a coreset that is turned off
WHOLE = re.compile(r"-?[0-9]{1,19}", re.ASCII)


def _whole(name: str, text: str) -> int:
    if not WHOLE.fullmatch(text):
        raise UserError(f"{name} must be a whole number, got {text!r}")
    return int(text)


def _real(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UserError(f"{name} must be a number, got {text!r}") from None


def _text(name: str, text: str) -> str:
    return text


def _flag(name: str, text: str) -> bool:
    if text not in ("true", "false"):
        raise UserError(f"{name} must be true or false, got {text!r}")
    return text == "true"


SETTINGS = {
    "threshold": _real, "block_size": _whole, "accept_rule": _text, "ratio": _real, "delta": _real,
    "draft_steps": _whole, "coreset_top_p": _real, "temperature": _real, "repetition_penalty": _real,
    "presence_penalty": _real, "frequency_penalty": _real, "stop_bias": _real,
    "think_close_bias": _real,
}  # fmt: skip
LIMITS = {"max_new_tokens": _whole, "seed": _whole}
TEXTS = {"prompt": _text, "system": _text}
FLAGS = {"raw": _flag}
KNOWN = {"mode", *SETTINGS, *LIMITS, *TEXTS, *FLAGS}
QUIET = {"allow_untrained_block": False, "stop": []}  # not on the page; harmless as here


class Link(NamedTuple):
    """query: `?mode=...`; says: what the link cannot bring, in a line, or ""."""

    query: str
    says: str


def link_of(
    mode: str, settings: Mapping[str, Any], prompt: str | None = None, system: str = "", earlier: int = 0,
    raw: bool = False,
) -> Link:
    """The link of a run. settings: as in its run_started, limits among them; prompt: None where it is not known.

    A prompt too long for an address is left out, and so are settings the page has no control for; `says` tells.
    """
    pairs = {"mode": mode}
    for name in (*SETTINGS, *LIMITS):
        if name in settings and (name in LIMITS or has(mode, name)):
            pairs[name] = _written(settings[name])
    if raw:
        pairs["raw"] = "true"
    says = []
    others = [name for name, usual in QUIET.items() if name in settings and _plain(settings[name]) != usual]
    if others:
        says.append(f"The page has no control for {', '.join(others)} of this run.")
    texts = {name: text for name, text in (("system", system), ("prompt", prompt)) if text}
    if prompt is None:
        says.append("The trace does not tell its prompt, so the link brings the settings only.")
    elif len(urlencode(pairs | texts)) > LONGEST:
        texts = {}
        says.append("The prompt is too long for an address, so the link brings the settings only.")
    elif earlier:
        says.append("The link brings the last message, not the conversation before it.")
    return Link("?" + urlencode(pairs | texts), " ".join(says))


@dataclass(frozen=True)
class Filled:
    """values: what to put into the controls, by their names, and into `prompt`; line: what was wrong, or None."""

    values: dict[str, Any] = field(default_factory=dict)
    line: str | None = None


def settings_from_link(query: Mapping[str, str], ranges: Mapping[str, tuple] | None = None) -> Filled:
    """What a link fills in. One bad value leaves every setting as it is, with a line that names it; texts are kept.

    ranges: by control name (low, high) or {choices}, what the page's controls can hold. Queries that are not ours at
    all fill nothing in and say nothing; names that begin with an underscore are the server's own.
    """
    if not KNOWN & set(query):
        return Filled()
    texts = {name: query[name] for name in TEXTS if name in query}
    try:
        return Filled(_settings(query, ranges or {}) | texts)
    except ValueError as problem:
        return Filled(texts, f"The link's settings were left out: {problem}.")


def _settings(query: Mapping[str, str], ranges: Mapping[str, tuple]) -> dict[str, Any]:
    for name in query:
        if name not in KNOWN and not name.startswith("_"):
            raise UserError(f"{name} is no setting of this page")
    mode = query.get("mode", DENOISE)
    if mode in MODES:
        for name in SETTINGS:
            if name in query and not has(mode, name):
                raise UserError(f"{name} is not a setting of {mode} mode")
    coreset = query.get("coreset_top_p") != OFF
    values = {
        name: reader(name, query[name])
        for name, reader in {**SETTINGS, **LIMITS, **FLAGS}.items()
        if name in query and (coreset or name != "coreset_top_p")
    }
    settings_of(mode, coreset, **{name: value for name, value in values.items() if name in SETTINGS})
    limits_of(values.get("max_new_tokens", 1), values.get("seed", 0))
    for name, value in values.items():
        _within(name, value, ranges.get(name))
    if "mode" in query:
        values["mode"] = mode
    if "coreset_top_p" in query:
        values["coreset"] = coreset
    return values


def _within(name: str, value: Any, allowed) -> None:
    if isinstance(allowed, (set, frozenset)) and value not in allowed:
        raise UserError(f"{name} must be {' or '.join(map(str, sorted(allowed)))} on this page, got {value}")
    if isinstance(allowed, tuple) and not allowed[0] <= value <= allowed[1]:
        raise UserError(f"{name} must be in [{allowed[0]:g}, {allowed[1]:g}] on this page, got {value:g}")


def _written(value: Any) -> str:
    if value is None:
        return OFF
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
