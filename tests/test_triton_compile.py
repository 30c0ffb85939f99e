"""Every kernel compiles for every card at the 35B model's shapes, spilling no registers, within its shared memory."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton", reason="Triton is not installed: its kernels are not compiled")

from clover_viz.__main__ import main  # noqa: E402
from clover_viz.bench import cli, compile  # noqa: E402
from clover_viz.bench.compile import Compiled  # noqa: E402
from clover_viz.bench.compile_source import Resources  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What the command says, and its figures. A process of its own: in this one the kernels may be interpreted."""
    folder = tmp_path_factory.mktemp("compile")
    env = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"} | {"TRITON_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-m", "clover_viz", "bench", "compile", "--json", str(folder / "found.json")]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads((folder / "found.json").read_text())


def launched_kernels():
    """`<op>._name` of every kernel a host function launches: `_name[grid](...)`."""
    for file in ROOT.glob("kernels/*/triton_kernel.py"):
        tree = ast.parse(file.read_text())
        jitted = {f.name for f in tree.body if isinstance(f, ast.FunctionDef) and f.decorator_list}
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in jitted:
                yield node.value.id.lstrip("_")


def test_nothing_is_wrong(told):
    text, found = told
    assert [row for row in found["kernels"] if row["fault"]] == []
    assert text.rstrip().endswith("none spills, all fit")


def test_no_kernel_and_no_card_is_left_out(told):
    kernels = told[1]["kernels"]
    for card in (80, 90, 100, 120):
        assert {row["kernel"] for row in kernels if row["architecture"] == card} == {*launched_kernels()}


def test_every_figure_was_read(told):
    for row in told[1]["kernels"]:
        assert 0 < row["taken"]["registers"] <= 255 and row["taken"]["shared"] >= 0


@pytest.mark.parametrize(
    "architecture, taken, fault, cell",
    [
        (120, Resources(40, 0, 99 * 1024), "", " 40     0   99.0"),
        (120, Resources(40, 0, 99 * 1024 + 1), "too large", " 40     0   99.0  too large"),
        (80, Resources(255, 16, 0), "spills", "255    16    0.0  spills"),
        (90, Resources(None, None, 512), "", "  ?     ?    0.5"),
        (90, None, "not compiled", "not compiled"),
    ],
)
def test_faults(architecture, taken, fault, cell):
    row = Compiled("op", "kernel", architecture, taken, "" if taken else "no such instruction")
    assert (row.fault(), row.cell()) == (fault, cell)
    table = compile.table([row])
    assert ("no such instruction" in table) == (taken is None)
    assert ("did not answer" in table) == (taken is not None and taken.registers is None)


def test_what_is_in_the_way_is_said_in_one_line(monkeypatch, capsys):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert main(["bench", "compile"]) == 2
    assert capsys.readouterr().err == "error: bench compile compiles for a card: unset TRITON_INTERPRET, got '1'\n"
    monkeypatch.setattr(cli, "find_spec", lambda name: None)
    assert main(["bench", "compile"]) == 2
    assert capsys.readouterr().err == "error: bench compile needs Triton, which is not installed\n"
