"""Who may import whom: the files are read, not imported, so that a lazy import counts like any other."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
STDLIB = sys.stdlib_module_names
HF = {"transformers", "tokenizers", "huggingface_hub"}

# Layer -> (files, layers of ours it may import, packages it may import). A layer may always import itself, the
# standard library, and `errors`.
LAYERS = {
    "errors": ("clover_viz/errors.py", set(), set()),
    "events": ("clover_viz/events.py", set(), set()),
    "settings": ("clover_viz/settings.py", set(), set()),
    "examples": ("clover_viz/examples.py", set(), set()),
    "config": ("clover_viz/config.py", set(), HF),
    "tokenizer": ("clover_viz/tokenizer.py", set(), HF),
    "kernel_folder": ("clover_viz/kernel_folder.py", set(), set()),
    "kernels": ("kernels/**/*.py", set(), {"torch"}),
    "model": ("clover_viz/model/*.py", {"config", "kernels", "kernel_folder"}, {"torch", "transformers"}),
    "decoding": ("clover_viz/decoding/*.py", {"events", "settings"}, {"torch"}),
    "transcript": ("clover_viz/transcript.py", {"events"}, set()),
    "model_passes": ("clover_viz/model_passes.py", {"events"}, {"torch"}),
    "generation_config": ("clover_viz/generation_config.py", set(), set()),
    "asked": ("clover_viz/asked.py", {"settings", "decoding"}, set()),
    "cores": ("clover_viz/cores.py", set(), {"torch"}),
    "engine": (
        "clover_viz/engine.py",
        {"events", "settings", "config", "tokenizer", "kernels", "kernel_folder", "model", "decoding", "transcript",
         "model_passes", "generation_config", "asked"},
        {"torch"},
    ),
    "trace": ("clover_viz/trace/*.py", {"events", "settings"}, set()),
    # training: the held-out prompts of the evaluation come from the generator of the training data, and the model card
    # tells the recipe's own numbers. decoding: a choice is made again to see how near it was
    "lab": (
        "clover_viz/lab/**/*.py",
        {"examples", "events", "settings", "trace", "engine", "config", "model", "kernels", "kernel_folder", "cli",
         "training", "decoding"},
        {"torch"},
    ),
    # training: the held-out prompts; decoding: the checks of a verify are timed with its pass; transformers, in one
    # file: the model that ours is measured against; ui: the page whose cost is measured
    "bench": (
        "clover_viz/bench/**/*.py",
        {"events", "settings", "trace", "engine", "config", "model", "kernels", "kernel_folder", "cli", "training",
         "decoding", "ui", "cores"},
        {"torch", "triton", "playwright", "gradio_client"},
    ),
    "training": (
        "clover_viz/training/**/*.py",
        {"config", "tokenizer", "model", "decoding", "settings", "events", "kernels", "kernel_folder", "cli"},
        {"torch", "safetensors"} | HF,
    ),
    "ui": ("clover_viz/ui/**/*.py", {"events", "settings", "trace", "lab", "examples"}, {"plotly", "gradio"}),
    "cli": ("clover_viz/cli/*.py", {"events", "settings", "trace", "engine"}, set()),
    "main": ("clover_viz/__main__.py", {"cli"}, set()),
    "package": ("clover_viz/__init__.py", set(), set()),
    "app": ("app.py", {"engine", "ui", "events", "settings", "cores"}, {"gradio"}),
}
# Packages that one file of a layer may import beyond its layer.
ALSO = {
    "clover_viz/bench/peer.py": {"transformers"},
    "clover_viz/model/checkpoint.py": {"safetensors", "accelerate", "huggingface_hub"},
    **{str(p.relative_to(ROOT)): {"triton"} for p in (ROOT / "kernels").glob("*/triton_kernel.py")},
}


def layer_of_module(name: str) -> str | None:
    """`clover_viz.trace.canvas` -> trace; None for what is not ours."""
    parts = name.split(".")
    if parts[0] == "clover_kernels":
        return "kernels"
    if parts[0] == "app":
        return "app"
    if parts[0] != "clover_viz":
        return None
    if len(parts) == 1:
        return "package"
    return "main" if parts[1] == "__main__" else parts[1]


def imported(path: Path, source: str | None = None):
    """(line, module) of every import in a file, relative ones made absolute."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(source or path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) + 1 - node.level]] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            if module == "clover_viz":
                yield from ((node.lineno, f"clover_viz.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, module


def forbidden(layer: str, path: Path, source: str | None = None):
    _, ours, packages = LAYERS[layer]
    packages = packages | ALSO.get(str(path.relative_to(ROOT)), set())
    for line, module in imported(path, source):
        home = layer_of_module(module)
        if home is not None:
            if home not in ours | {layer, "errors"}:
                yield f"{path.relative_to(ROOT)}:{line} {layer} may not import {module}"
        elif module.split(".")[0] not in STDLIB | packages | {"__future__"}:
            yield f"{path.relative_to(ROOT)}:{line} {layer} may not import {module}"


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_what_it_may(layer):
    found = [line for path in sorted(ROOT.glob(LAYERS[layer][0])) for line in forbidden(layer, path)]
    assert found == []


def test_every_file_belongs_to_a_layer():
    known = {path for files, *_ in LAYERS.values() for path in ROOT.glob(files)}
    ours = {*ROOT.glob("clover_viz/**/*.py"), *ROOT.glob("kernels/**/*.py"), *ROOT.glob("*.py")}
    assert sorted(str(path.relative_to(ROOT)) for path in ours - known) == []


@pytest.mark.parametrize(
    "layer, file, source, caught",
    [
        ("trace", "clover_viz/trace/x.py", "def f():\n    import torch", True),
        ("trace", "clover_viz/trace/x.py", "from ..engine import Engine", True),
        ("trace", "clover_viz/trace/x.py", "from . import canvas", False),
        ("trace", "clover_viz/trace/x.py", "from clover_viz import Engine", True),
        ("decoding", "clover_viz/decoding/x.py", "from clover_viz.model.clover import CloverForCausalLM", True),
        ("kernels", "kernels/op/x.py", "import clover_viz.config", True),
        ("kernels", "kernels/op/x.py", "import triton", True),
        ("ui", "clover_viz/ui/x.py", "import torch", True),
        ("events", "clover_viz/events.py", "from clover_viz.settings import Limits", True),
    ],
)
def test_the_walk_sees_through_lazy_and_relative_imports(layer, file, source, caught):
    assert bool(list(forbidden(layer, ROOT / file, source))) == caught


@pytest.mark.parametrize("module", ["clover_viz", "clover_viz.events", "clover_viz.settings", "clover_viz.trace.canvas",
                                    "clover_viz.trace.store", "clover_viz.trace.stats", "clover_viz.cli.generate",
                                    "clover_viz.__main__"])  # fmt: skip
def test_light_modules_do_not_bring_torch(module):
    code = f"import sys, {module}; print([m for m in ('torch', 'transformers', 'gradio') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_package_hands_out_its_three_names_and_no_other():
    import clover_viz
    from clover_viz import Engine

    assert clover_viz.Engine is Engine and "CloverConfig" in dir(clover_viz)
    with pytest.raises(AttributeError, match="no attribute 'Motor'"):
        clover_viz.Motor
