"""The coreset's kernel that reads its share from the card, as captured previews call it, compiles without a spill."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
COMPILE = """
import torch
from clover_viz.kernel_folder import register
register()
from clover_kernels.router_coreset.triton_kernel import route_coreset
from clover_viz.bench.compile_source import compile_for, launches
logits, share = torch.empty(32, 256, dtype=torch.bfloat16, device="meta"), torch.empty((), device="meta")
with launches() as made:
    route_coreset(logits, 8, share)
assert made[-1].arguments["top_p"] is share
print(made[-1].name, compile_for(made[-1], 90).stack)
"""


def test_it_compiles(tmp_path):
    """A process of its own: in this one the kernels may be interpreted."""
    pytest.importorskip("triton", reason="Triton is not installed")
    env = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"} | {"TRITON_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", COMPILE], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["inside", "0"]
