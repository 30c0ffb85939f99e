"""The Triton kernels under Triton's interpreter, in the tests' own process."""

import importlib
import sys

import pytest
import torch

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
# The interpreter cuts fp32 to bf16 where a card rounds: one unit in the last place.
CLOSE = {torch.float32: dict(atol=2e-5, rtol=2e-5), torch.bfloat16: dict(atol=1e-2, rtol=1.6e-2)}


def interpreted(op: str):
    """The module `kernels/<op>/triton_kernel.py`, interpreted; skips the calling module when Triton is not installed.

    Whether a function is interpreted is decided where it is defined. Others may have imported Triton before us, without
    the setting: then Triton's own functions (sum, max, cumsum ...) are defined once more.
    """
    early = "triton" in sys.modules
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_INTERPRET", "1")
        triton = pytest.importorskip("triton", reason="Triton is not installed: its kernels are not tested")
        if early and isinstance(triton.language.sum, triton.JITFunction):
            for module in ("triton.language.standard", "triton.language"):
                importlib.reload(sys.modules[module])
        return importlib.import_module(f"clover_kernels.{op}.triton_kernel")


@pytest.fixture(autouse=True)
def poisoned(monkeypatch):
    """Every test of a kernel: the interpreter, and fresh memory full of NaN (or a number that no kernel writes).

    An output or a scratch left unwritten shows.
    """
    monkeypatch.setenv("TRITON_INTERPRET", "1")  # parts of Triton are only imported by a launch
    new_empty = torch.Tensor.new_empty

    def filled(self, *shape, **options):
        fresh = new_empty(self, *shape, **options)
        return fresh.fill_(float("nan") if fresh.is_floating_point() else 77_777)

    monkeypatch.setattr(torch.Tensor, "new_empty", filled)


def random(*shape, seed: int = 0, dtype: torch.dtype = torch.float32, scale: float = 1.0) -> torch.Tensor:
    return (torch.randn(*shape, generator=torch.Generator().manual_seed(seed)) * scale).to(dtype)


def strided(x: torch.Tensor) -> torch.Tensor:
    """The same values as a slice of wider rows, as heads and channels stand in the output of one projection."""
    wide = torch.full((*x.shape[:-1], x.shape[-1] + 5), float("nan"), dtype=x.dtype)
    wide[..., 3 : 3 + x.shape[-1]] = x
    return wide[..., 3 : 3 + x.shape[-1]]
