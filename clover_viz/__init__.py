"""Clover, a block-diffusion language model, and everything that shows how it writes.

Names are loaded on first use: `clover_viz.events` must not cost an import of torch.
"""

from importlib import import_module

_HOMES = {
    "CloverConfig": "clover_viz.config",
    "CloverForCausalLM": "clover_viz.model.clover",
    "Engine": "clover_viz.engine",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__():
    return [*globals(), *__all__]
