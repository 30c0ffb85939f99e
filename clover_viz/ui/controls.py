"""What the controls say, as settings and limits. Ranges and messages are those classes' own."""

from __future__ import annotations

from clover_viz.settings import MODES, Limits, Settings, settings_for

DENOISE = "denoise"
SPECULATIVE = "speculative"
AUTOREGRESSIVE = "autoregressive"
OFFERED = (("Denoise a block", DENOISE), ("Draft and verify", SPECULATIVE), ("One token at a time", AUTOREGRESSIVE))
BLOCK_SIZES = (4, 8, 16, 32)
ACCEPT_RULES = (("Exact: the text of one token at a time", "exact"), ("Threshold: lossy, keeps more", "threshold"))


def settings_of(mode: str, coreset: bool, **values) -> Settings:
    """The settings object of a mode from what the controls hold, by setting name; without `coreset` its top-p is None.

    What the mode lacks is left out: a page shows controls of every mode. Raises ValueError in one line.
    """
    if not coreset:
        values["coreset_top_p"] = None
    if mode in MODES:
        values = {name: value for name, value in values.items() if has(mode, name)}
    return settings_for(mode, values)


def has(mode: str, setting: str) -> bool:
    """Whether a mode has a setting of this name."""
    return setting in MODES[mode].__dataclass_fields__


def limits_of(max_new_tokens: int, seed: int) -> Limits:
    """The run's limits. Raises ValueError in one line."""
    return Limits(max_new_tokens=max_new_tokens, seed=seed)
