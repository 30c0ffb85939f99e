"""The typed events of a run: frozen records of plain values, and their JSON form (one object a line).

An engine yields them, a trace stores them, every view is a fold over them. Two runs with one seed give equal events:
timings (`ms`, `seconds`, `tokens_per_second`) take no part in equality. Probabilities are fp32 values rounded to nine
significant digits, which give the same fp32 number back.
"""

import json
import math
import re
import types
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

SCHEMA = 1

Mode = Literal["denoise", "speculative", "autoregressive"]
Reason = Literal["end", "length", "stop", "cancelled"]
SlotState = Literal["given", "masked", "committed"]


def timing(**options):
    """A field that two equal events may differ in."""
    return field(compare=False, **options)


def optional(**options):
    """A field that is left out of the JSON form when it is None."""
    return field(default=None, metadata={"optional": True}, **options)


@dataclass(frozen=True)
class KernelChoice:
    """What runs and why: of the kernels "reference" or "triton", of the graphs "on" or "off"."""

    name: str
    reason: str


@dataclass(frozen=True)
class TopToken:
    token_id: int
    token: str
    p: float


@dataclass(frozen=True)
class Slot:
    """A masked slot shows its current preview; a committed one what it was committed with."""

    slot: int
    state: SlotState
    token_id: int
    token: str
    confidence: float
    top: tuple[TopToken, ...] | None = optional()


@dataclass(frozen=True)
class LayerExperts:
    """Experts of one layer: distinct before the coreset, kept by it, and the mean of a slot's own that were lost."""

    layer: int
    touched: int
    kept: int
    rerouted: float


@dataclass(frozen=True)
class LayerTouched:
    layer: int
    touched: int


@dataclass(frozen=True)
class Boundary:
    """The causal pass's own next token; `probability` is told where that pass has just run."""

    token_id: int
    token: str
    probability: float | None = optional()


@dataclass(frozen=True)
class Draft:
    slot: int
    token_id: int
    token: str
    confidence: float
    top: tuple[TopToken, ...] | None = optional()


@dataclass(frozen=True)
class Check:
    """One draft against the causal pass. `entropy` in nats; `bar` is None under the exact rule."""

    slot: int
    token_id: int
    token: str
    probability: float
    entropy: float
    bar: float | None
    accepted: bool
    top: tuple[TopToken, ...] | None = optional()


@dataclass(frozen=True)
class PassCounts:
    prefill: int = 0
    preview: int = 0
    replay: int = 0
    verify: int = 0
    decode: int = 0

    @property
    def after_prefill(self) -> int:
        return self.preview + self.replay + self.verify + self.decode


class Event:
    """Base of every event. `to_json_dict` and `from_json_dict` are exact inverses."""

    def to_json_dict(self) -> dict[str, Any]:
        return {"event": event_name(type(self)), **_plain(self)}

    def to_json(self) -> str:
        # The encoder walks tuples and numbers itself and asks only for each object's fields: a step has some forty.
        return _ENCODER.encode({"event": event_name(type(self)), **_fields(self)})

    @staticmethod
    def from_json_dict(data: Any) -> "Event":
        """Raises ValueError, in one line, naming the field that is unknown, missing or of a wrong kind."""
        if not isinstance(data, dict):
            raise ValueError(f"an event must be a JSON object, got {type(data).__name__}")
        name = data.get("event")
        kind = _kinds().get(name) if isinstance(name, str) else None
        if kind is None:
            raise ValueError(f"event must be one of {', '.join(_kinds())}, got {name!r}")
        if kind is RunStarted and data.get("schema") != SCHEMA:
            raise ValueError(f"schema must be {SCHEMA}, got {data.get('schema')!r}")
        return _read_record(kind, {key: value for key, value in data.items() if key != "event"}, name)


@dataclass(frozen=True)
class RunStarted(Event):
    """`graphs` tells whether the passes are captured graphs. How they are launched decides nothing, and older traces do
    not tell it: it takes no part in equality."""

    schema: int
    mode: Mode
    model: str
    device: str
    kernels: KernelChoice
    prompt_tokens: int
    settings: dict[str, Any] = field(hash=False)
    graphs: KernelChoice | None = optional(compare=False)


@dataclass(frozen=True)
class Prefilled(Event):
    tokens: int
    ms: float = timing()


@dataclass(frozen=True)
class BlockOpened(Event):
    block: int
    start: int
    slots: int


@dataclass(frozen=True)
class Denoised(Event):
    block: int
    step: int
    committed: tuple[int, ...]
    forced: bool
    slots: tuple[Slot, ...]
    experts: tuple[LayerExperts, ...]
    ms: float = timing()


@dataclass(frozen=True)
class Replayed(Event):
    block: int
    tokens: int
    ms: float = timing()


@dataclass(frozen=True)
class Drafted(Event):
    round: int
    step: int
    start: int
    boundary: Boundary
    drafts: tuple[Draft, ...]
    experts: tuple[LayerExperts, ...]
    ms: float = timing()


@dataclass(frozen=True)
class Verified(Event):
    round: int
    checks: tuple[Check, ...]
    accepted: int
    boundary: Boundary
    experts: tuple[LayerTouched, ...]
    ms: float = timing()


@dataclass(frozen=True)
class TokenDecoded(Event):
    position: int
    token_id: int
    token: str
    probability: float
    ms: float = timing()


@dataclass(frozen=True)
class Text(Event):
    """`thinking` is True in a thinking section, and left out otherwise: those deltas are no part of the final text."""

    delta: str
    thinking: bool | None = optional()


@dataclass(frozen=True)
class RunFinished(Event):
    """`tokens_per_pass` counts every pass but prefill; both rates are None when no such pass ran. `thinking` is the
    text of the thinking sections, left out when there was none; `tokens` counts theirs as well."""

    reason: Reason
    text: str
    tokens: int
    passes: PassCounts
    tokens_per_pass: float | None
    tokens_per_preview: float | None
    seconds: float = timing()
    tokens_per_second: float = timing()
    thinking: str | None = optional()


def from_json_dict(data: Any) -> Event:
    return Event.from_json_dict(data)


@cache
def event_name(kind: type[Event]) -> str:
    """`RunStarted` -> `run_started`, the value of the JSON key `event`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


@cache
def _kinds() -> dict[str, type[Event]]:
    return {event_name(kind): kind for kind in Event.__subclasses__()}


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (str, int, float)) or value is None:
        return value
    return {name: _plain(item) for name, item in _fields(value).items()}


def _fields(value: Any) -> dict[str, Any]:
    """What an event, or a row of one, tells: its fields as they are, without the optional ones that are None."""
    return {
        name: item
        for name, optional_ in _shape(type(value))
        if (item := getattr(value, name)) is not None or not optional_
    }


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_fields)


@cache
def _shape(kind: type) -> tuple[tuple[str, bool], ...]:
    return tuple((f.name, "optional" in f.metadata) for f in fields(kind))


@cache
def _readers(kind: type) -> dict[str, tuple[Any, bool]]:
    """Field name -> (reader of its JSON value, whether it may be missing)."""
    hints = get_type_hints(kind)
    return {f.name: (_reader(hints[f.name]), f.default is not MISSING) for f in fields(kind)}


def _read_record(kind: type, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise ValueError(f"{where} must be an object, got {_shown(data)}")
    readers = _readers(kind)
    for key in data:
        if key not in readers:
            raise ValueError(f"{where} has no field {key!r}")
    values = {}
    for name, (read, may_miss) in readers.items():
        if name in data:
            values[name] = read(data[name], f"{where}.{name}")
        elif not may_miss:
            raise ValueError(f"{where} lacks the field {name!r}")
    return kind(**values)


def _reader(hint: Any):
    origin, args = get_origin(hint), get_args(hint)
    if origin is tuple:
        return _tuple_of(_reader(args[0]))
    if origin is Literal:
        return lambda value, where: _require(value in args, value, where, "one of " + ", ".join(args))
    if origin in (Union, types.UnionType):
        inner = _reader(next(arg for arg in args if arg is not type(None)))
        return lambda value, where: None if value is None else inner(value, where)
    if origin is dict:
        return lambda value, where: _frozen(_require(isinstance(value, dict), value, where, "an object"))
    if hint is float:
        return _float
    if hint is int:
        return lambda value, where: _require(type(value) is int, value, where, "an integer")
    if hint in (str, bool):
        return lambda value, where: _require(type(value) is hint, value, where, f"a {hint.__name__}")
    return lambda value, where: _read_record(hint, value, where)


def _tuple_of(read):
    def reader(value, where):
        _require(isinstance(value, list), value, where, "a list")
        return tuple(read(item, f"{where}[{i}]") for i, item in enumerate(value))

    return reader


def _float(value: Any, where: str) -> float:
    try:
        finite = type(value) in (int, float) and math.isfinite(value)
    except OverflowError:  # an integer beyond the largest float
        finite = False
    _require(finite, value, where, "a finite number")
    return float(value)


def _require(held: bool, value: Any, where: str, wanted: str) -> Any:
    if not held:
        raise ValueError(f"{where} must be {wanted}, got {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _frozen(value: Any) -> Any:
    """Lists inside a settings object come back as the tuples they were."""
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return value
