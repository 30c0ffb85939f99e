"""The app's command line and its variables, without a page: what reaches the engine, and what is refused."""

import re
from pathlib import Path

import pytest

import app
from clover_viz.cores import threads_beside_a_page
from clover_viz.engine import Engine

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    for name in app.VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def loaded(monkeypatch):
    """What the engine was asked for, instead of a load."""
    asked = []
    monkeypatch.setattr("clover_viz.cores.leave_a_core", lambda: None)  # threads are the whole process's
    monkeypatch.setattr(Engine, "load", lambda model, **options: asked.append({"model": model} | options))
    return asked


AUTO = {"revision": None, "device": "auto", "dtype": "auto", "kernels": "auto", "graphs": "auto"}


@pytest.mark.parametrize(
    "variable, value, asked",
    [
        ("CLOVER_REVISION", "abc123", {"revision": "abc123"}),
        ("CLOVER_DEVICE", "cuda:1", {"device": "cuda:1"}),
        ("CLOVER_DTYPE", "bfloat16", {"dtype": "bfloat16"}),
        ("CLOVER_KERNELS", "triton", {"kernels": "triton"}),
        ("CLOVER_GRAPHS", "on", {"graphs": "on"}),
        ("CLOVER_GRAPHS", "", {}),
        ("CLOVER_REVISION", "", {}),
    ],
)
def test_a_variable_reaches_the_engine(monkeypatch, loaded, variable, value, asked):
    monkeypatch.setenv(variable, value)
    app._load("org/model")
    assert loaded == [{"model": "org/model"} | AUTO | asked]


@pytest.mark.parametrize(
    "variable, arguments, model",
    [
        (None, [], str(app.DEFAULT_MODEL)),
        ("", [], str(app.DEFAULT_MODEL)),
        ("org/model", [], "org/model"),
        ("org/model", ["--model", "there"], "there"),
    ],
)
def test_which_model(monkeypatch, variable, arguments, model):
    if variable is not None:
        monkeypatch.setenv("CLOVER_MODEL", variable)
    assert app._options(arguments).model == model


@pytest.mark.parametrize("value", ["0", "65536", "http", ""])
@pytest.mark.parametrize("from_the_environment", [False, True])
def test_a_port_that_is_none_is_refused(monkeypatch, capsys, value, from_the_environment):
    if from_the_environment:
        monkeypatch.setenv("GRADIO_SERVER_PORT", value)
    with pytest.raises(SystemExit) as left:
        app._options([] if from_the_environment else ["--port", value])
    line = capsys.readouterr().err.splitlines()[-1]
    assert left.value.code == 2 and line.endswith(f"port must be in [1, 65535], got {value!r}")
    assert ("GRADIO_SERVER_PORT" in line) == from_the_environment


@pytest.mark.parametrize("says, tells", [("Cannot find empty port in range: 7860-7860.", True), ("disk full", False)])
def test_a_port_that_is_taken_is_one_line(monkeypatch, says, tells):
    pytest.importorskip("gradio")
    from clover_viz.ui import page
    from clover_viz.ui.runs import desk

    class Page:
        def launch(self, **options):
            raise OSError(says)

    monkeypatch.setattr(desk, "Desk", lambda load, name: name)
    monkeypatch.setattr(page, "build", lambda held: Page())
    with pytest.raises(SystemExit if tells else OSError, match=says):
        app.main(["--port", "7860"])


@pytest.mark.parametrize("arguments, port", [([], None), (["--port", "7777"], 7777)])
def test_name_and_port_are_left_to_gradio_and_its_variables(monkeypatch, arguments, port):
    pytest.importorskip("gradio")
    from clover_viz.ui import page
    from clover_viz.ui.runs import desk

    launched = []

    class Page:
        def launch(self, **options):
            launched.append(options)

    monkeypatch.setenv("GRADIO_SERVER_PORT", "7001")
    monkeypatch.setattr(desk, "Desk", lambda load, name: name)
    monkeypatch.setattr(page, "build", lambda held: Page())
    app.main(arguments)
    assert launched[0]["server_port"] == port and not {"server_name", "inbrowser"} & set(launched[0])


def test_help_and_readme_tell_every_variable(capsys):
    with pytest.raises(SystemExit):
        app._options(["--help"])
    told = capsys.readouterr().out
    source = (ROOT / "app.py").read_text(encoding="utf-8")
    read = {*re.findall(r"CLOVER_[A-Z]+", source), *(f"CLOVER_{name.upper()}" for name in app.CHOICES)}
    assert read == {name for name in app.VARIABLES if name.startswith("CLOVER")}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, text in app.VARIABLES.items():
        assert name in told and text in told and f"`{name}`" in readme, name


@pytest.mark.parametrize(
    "threads, cores, environment, left",
    [
        (2, 2, {}, 1),
        (1, 2, {}, 1),
        (1, 1, {}, 1),
        (8, 16, {}, 8),  # torch's own choice on 16 logical cores leaves enough
        (8, 8, {}, 7),
        (2, 2, {"OMP_NUM_THREADS": "2"}, 2),
        (2, 2, {"OMP_NUM_THREADS": ""}, 1),
    ],
)
def test_a_core_is_left_to_the_page(threads, cores, environment, left):
    assert threads_beside_a_page(threads, cores, environment) == left


def test_the_app_leaves_a_core_before_it_loads(monkeypatch):
    order = []
    monkeypatch.setattr("clover_viz.cores.leave_a_core", lambda: order.append("core"))
    monkeypatch.setattr(Engine, "load", lambda *_, **__: order.append("load"))
    app._load("org/model")
    assert order == ["core", "load"]
