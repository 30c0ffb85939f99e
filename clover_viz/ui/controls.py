"""What the controls say, as settings and limits. Ranges and messages are those classes' own."""

from __future__ import annotations

from clover_viz.settings import MODES, Limits, Settings, settings_for

DENOISE = "denoise"
AUTOREGRESSIVE = "autoregressive"
OFFERED = (("Denoise a block", DENOISE), ("One token at a time", AUTOREGRESSIVE))
BLOCK_SIZES = (4, 8, 16, 32)


def settings_of(
    mode: str, threshold: float, block_size: int, coreset: bool, coreset_top_p: float, temperature: float
) -> Settings:
    """The settings object of a mode; what the mode lacks is left out. Raises ValueError in one line."""
    values = {
        "threshold": threshold,
        "block_size": block_size,
        "coreset_top_p": coreset_top_p if coreset else None,
        "temperature": temperature,
    }
    if mode in MODES:
        values = {name: value for name, value in values.items() if name in MODES[mode].__dataclass_fields__}
    return settings_for(mode, values)


def limits_of(max_new_tokens: int, seed: int) -> Limits:
    """The run's limits. Raises ValueError in one line."""
    return Limits(max_new_tokens=max_new_tokens, seed=seed)
