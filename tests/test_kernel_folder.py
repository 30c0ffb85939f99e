"""The folder `kernels/` and Hugging Face's package of that name leave each other alone."""

import subprocess
import sys
from importlib.util import find_spec

import pytest
from clover_kernels.selection import OPS, select

from clover_viz.kernel_folder import FOLDER, NAME


def run(code):
    done = subprocess.run([sys.executable, "-c", code], cwd=FOLDER.parent, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_folder_has_no_init():
    assert not (FOLDER / "__init__.py").exists(), "it would shadow Hugging Face's package from the project's root"


def test_ours_is_reached_by_its_own_name():
    assert run(f"import clover_viz.model, {NAME}.selection as s; print(s.__file__)") == str(FOLDER / "selection.py")


def test_transformers_probe_is_not_misled():
    """Its check for the package must answer as if our folder were not there."""
    code = "from transformers.utils.import_utils import _is_package_available as available\n"
    code += "print(available('kernels', return_version=True))"
    here = run(code)
    elsewhere = subprocess.run([sys.executable, "-c", code], cwd="/", capture_output=True, text=True, timeout=120)
    assert here == elsewhere.stdout.strip()


@pytest.mark.skipif(
    getattr(find_spec("kernels"), "origin", None) is None, reason="Hugging Face's kernels package is not installed"
)
def test_an_installed_package_wins_the_bare_name():
    where = run("import clover_viz.model, kernels; print(kernels.__file__)")
    assert "site-packages" in where


def test_selecting_imports_neither_triton_nor_the_package():
    code = "import clover_viz.model, sys; from clover_kernels.selection import select; select('cpu'); "
    assert run(code + "print([m for m in ('triton', 'kernels') if m in sys.modules])") == "[]"


def test_importing_the_selection_loads_no_torch():
    code = "from clover_viz.kernel_folder import register; register(); import sys, clover_kernels.selection; "
    assert run(code + "print('torch' in sys.modules)") == "False"


def test_the_choice_comes_with_its_reason():
    assert select("cpu").name == "reference" and "CUDA" in select("cpu").reason
    assert select("cpu", "reference").reason == "asked for"
    with pytest.raises(ValueError, match="CUDA"):
        select("cpu", "triton")
    with pytest.raises(ValueError, match="'fast'"):
        select("cpu", "fast")


@pytest.mark.parametrize("op", OPS)
def test_every_operation_says_what_it_computes(op):
    text = (FOLDER / op / "__init__.py").read_text()
    assert text.startswith('"""') and len(text) > 80
