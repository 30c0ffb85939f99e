"""How a run is made: one frozen settings class per mode, and the limits that every mode shares.

Values are checked when the object is made; a bad one raises UserError, one line with the name, the range and what was
given. A setting left at CHECKPOINT takes the checkpoint's own value (`in_force`), so leaving a setting out differs
from giving None: `coreset_top_p=None` turns the coreset off.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import Enum
from numbers import Integral, Real
from typing import Any, ClassVar

from clover_viz.errors import UserError


class Checkpoint(Enum):
    """Stands for "the checkpoint's value"."""

    CHECKPOINT = "checkpoint"

    def __repr__(self) -> str:
        return self.value


CHECKPOINT = Checkpoint.CHECKPOINT

# What CHECKPOINT means where a checkpoint is silent: the release's denoising values, and no long-text adjustments.
FALLBACKS: Mapping[str, Any] = {
    "threshold": 0.95,
    "block_size": 32,
    "coreset_top_p": 0.9,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "stop_bias": 0.0,
    "think_close_bias": 0.0,
}
# A CPU's pass costs by the slot and few drafts far from the boundary are kept: `bench cpu` finds more tokens a second
# at half the release's block.
CPU_SPECULATIVE_BLOCK = 16


def _bad(name: str, wanted: str, value: Any) -> UserError:
    return UserError(f"{name} must be {wanted}, got {value!r}")


def _real(low: float, high: float, above: bool = False, also: str = "") -> Callable[[str, Any], float]:
    wanted = f"{also}in {'(' if above else '['}{low:g}, {high:g}]"

    def check(name: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise _bad(name, wanted, value)
        if not (low <= value <= high) or (above and value == low):  # NaN fails the first
            raise _bad(name, wanted, value)
        return float(value)

    return check


def _whole(low: int, high: int | None = None) -> Callable[[str, Any], int]:
    wanted = f"a whole number of at least {low}" if high is None else f"a whole number in [{low}, {high}]"

    def check(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, Integral) or value < low:
            raise _bad(name, wanted, value)
        if high is not None and value > high:
            raise _bad(name, wanted, value)
        return int(value)

    return check


def _or_none(check: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    return lambda name, value: None if value is None else check(name, value)


def _one_of(*names: str) -> Callable[[str, Any], str]:
    def check(name: str, value: Any) -> str:
        if value not in names:
            raise _bad(name, " or ".join(names), value)
        return value

    return check


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _bad(name, "true or false", value)
    return value


_CHECKS: Mapping[str, Callable[[str, Any], Any]] = {
    "threshold": _real(0, 1),
    "block_size": _whole(2),
    "allow_untrained_block": _flag,
    "coreset_top_p": _or_none(_real(0, 1, above=True, also="None or ")),
    "accept_rule": _one_of("exact", "threshold"),
    "ratio": _real(0, 1),
    "delta": _real(0, 10),
    "draft_steps": _whole(1),
    "temperature": _real(0, 10),
    "repetition_penalty": _real(0, 10, above=True),
    "presence_penalty": _real(-2, 2),
    "frequency_penalty": _real(-2, 2),
    "stop_bias": _real(0, 1000),
    "think_close_bias": _real(0, 1000),
}


class _Settings:
    mode: ClassVar[str]

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if value is CHECKPOINT and f.default is CHECKPOINT:
                continue
            object.__setattr__(self, f.name, _CHECKS[f.name](f.name, value))

    def in_force(self, checkpoint: Mapping[str, Any]):
        """A copy without CHECKPOINT: `checkpoint` maps setting names to the checkpoint's values."""
        left_out = [f.name for f in fields(self) if getattr(self, f.name) is CHECKPOINT]
        return replace(self, **{name: checkpoint.get(name, FALLBACKS[name]) for name in left_out})

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class DenoiseSettings(_Settings):
    """threshold: commit a slot whose probability is strictly above it, both in fp32; temperature 0 is argmax.

    stop_bias and think_close_bias are nats for every 1,000 response tokens (clover_viz.decoding.rules.adjust).
    """

    mode: ClassVar[str] = "denoise"

    threshold: float | Checkpoint = CHECKPOINT
    block_size: int | Checkpoint = CHECKPOINT
    coreset_top_p: float | None | Checkpoint = CHECKPOINT
    temperature: float = 0.0
    repetition_penalty: float | Checkpoint = CHECKPOINT
    presence_penalty: float | Checkpoint = CHECKPOINT
    frequency_penalty: float | Checkpoint = CHECKPOINT
    stop_bias: float | Checkpoint = CHECKPOINT
    think_close_bias: float | Checkpoint = CHECKPOINT
    allow_untrained_block: bool = False


@dataclass(frozen=True)
class SpeculativeSettings(_Settings):
    """accept_rule "exact" gives the autoregressive text; "threshold" (ratio, delta) is lossy, and greedy only.

    draft_steps: previews a round; all but the last commit slots over `threshold`.
    """

    mode: ClassVar[str] = "speculative"

    block_size: int | Checkpoint = CHECKPOINT
    accept_rule: str = "exact"
    ratio: float = 0.9
    delta: float = 0.6
    draft_steps: int = 1
    threshold: float | Checkpoint = CHECKPOINT
    coreset_top_p: float | None | Checkpoint = CHECKPOINT
    temperature: float = 0.0
    repetition_penalty: float | Checkpoint = CHECKPOINT
    presence_penalty: float | Checkpoint = CHECKPOINT
    frequency_penalty: float | Checkpoint = CHECKPOINT
    stop_bias: float | Checkpoint = CHECKPOINT
    think_close_bias: float | Checkpoint = CHECKPOINT

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.accept_rule == "threshold" and self.temperature > 0:
            raise _bad("temperature", "0 with accept_rule threshold", self.temperature)


@dataclass(frozen=True)
class AutoregressiveSettings(_Settings):
    mode: ClassVar[str] = "autoregressive"

    temperature: float = 0.0
    repetition_penalty: float | Checkpoint = CHECKPOINT
    presence_penalty: float | Checkpoint = CHECKPOINT
    frequency_penalty: float | Checkpoint = CHECKPOINT
    stop_bias: float | Checkpoint = CHECKPOINT
    think_close_bias: float | Checkpoint = CHECKPOINT


Settings = DenoiseSettings | SpeculativeSettings | AutoregressiveSettings
MODES: Mapping[str, type] = {kind.mode: kind for kind in (DenoiseSettings, SpeculativeSettings, AutoregressiveSettings)}


def settings_for(mode: str, values: Mapping[str, Any]) -> Settings:
    """The settings object of a mode from names and values; a setting that the mode lacks raises UserError."""
    if mode not in MODES:
        raise _bad("mode", " or ".join(MODES), mode)
    known = [f.name for f in fields(MODES[mode])]
    for name in values:
        if name not in known:
            raise UserError(f"{name} is not a setting of {mode} mode, which has {', '.join(known)}")
    return MODES[mode](**values)


def usual(mode: str, checkpoint: Mapping[str, Any], device: str) -> dict[str, Any]:
    """What settings left out are in a mode on a kind of device: the checkpoint's values, FALLBACKS where it is silent.

    The block that a CPU speculates with is CPU_SPECULATIVE_BLOCK where that divides the checkpoint's: the text of the
    exact rule is the same at every size, and it comes sooner.
    """
    values = {**FALLBACKS, **checkpoint}
    if mode == SpeculativeSettings.mode and device == "cpu" and values["block_size"] % CPU_SPECULATIVE_BLOCK == 0:
        values["block_size"] = CPU_SPECULATIVE_BLOCK
    return values


def check_block_size(settings: Settings, trained: int) -> None:
    """Holds a block size in force against the model's own (`trained`). Raises UserError."""
    size = settings.block_size
    allowed = [n for n in range(2, trained + 1) if trained % n == 0]
    if size in allowed or (size > trained and getattr(settings, "allow_untrained_block", False)):
        return
    wanted = f"one of {', '.join(map(str, allowed))} for this model"
    if settings.mode == DenoiseSettings.mode:
        wanted += " (larger ones with allow_untrained_block)"
    raise _bad("block_size", wanted, size)


@dataclass(frozen=True)
class Limits:
    """Where a run ends, and the seed of its draws. stop: texts that end it and never show; seed in [0, 2^63)."""

    max_new_tokens: int = 256
    stop: tuple[str, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        stop = (self.stop,) if isinstance(self.stop, str) else self.stop
        if not isinstance(stop, (list, tuple)) or not all(isinstance(s, str) and s for s in stop):
            raise _bad("stop", "texts of at least one character", self.stop)
        object.__setattr__(self, "stop", tuple(stop))
        object.__setattr__(self, "max_new_tokens", _whole(1)("max_new_tokens", self.max_new_tokens))
        object.__setattr__(self, "seed", _whole(0, 2**63 - 1)("seed", self.seed))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
