"""The command `bench`: which flags belong to which kind, and what is refused before any work. Nothing is measured."""

import json
from pathlib import Path

import pytest

from clover_viz.__main__ import main
from clover_viz.bench import cli


@pytest.mark.parametrize(
    "argv, says",
    [
        (["tpu"], "bench must be one of cpu, app, compile, gpu, got 'tpu'"),
        (["cpu", "--threads", "0"], "--threads must be a whole number of at least 1, got 0"),
        (["cpu", "--prompts", "few"], "--prompts must be a whole number of at least 1, got 'few'"),
        (["app", "--soak", "0.4"], "--soak must be minutes in [0.5, 120], got 0.4"),
        (["app", "--soak", "long"], "--soak must be minutes in [0.5, 120], got 'long'"),
        (["cpu", "--model", "no/such"], "--model must be a folder with a checkpoint (config.json), got 'no/such'"),
        (["cpu", "--soak", "10"], "--soak must be left out with bench cpu: it belongs to bench app"),
        (["compile", "--layers", "4"], "--layers must be left out with bench compile: it belongs to bench gpu"),
        (["gpu", "--prompts", "8"], "--prompts must be left out with bench gpu: it belongs to bench cpu"),
        (["gpu", "--model", "x"], "--model must be left out with bench gpu: it belongs to bench cpu and app"),
        (["app", "--minutes", "few"], "--minutes must be left out with bench app: it belongs to bench gpu"),
        (["cpu", "--rehearse"], "--rehearse must be left out with bench cpu: it belongs to bench gpu"),
        (["app", "--soak", "1", "--model", "x"], "--model must be left out with --soak, which plays recorded runs"),
    ],
)
def test_bad_values_are_one_line_and_exit_2(capsys, argv, says):
    assert main(["bench", *argv]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err == f"error: {says}\n"


@pytest.mark.parametrize("what", cli.KINDS)
def test_a_flag_is_taken_by_its_own_kinds_alone(what):
    for name, kinds in cli.FLAGS.items():
        assert (cli.misplaced(what, [name]) is None) == (what in kinds)
    assert cli.misplaced(what, []) is None


def test_the_help_of_every_flag_names_its_kinds():
    told = {action.dest: action.help for action in cli.parser()._actions}
    for name, kinds in cli.FLAGS.items():
        assert name == "rehearse" or told[name].startswith(f"{', '.join(kinds)}: "), name


@pytest.mark.parametrize("flags, asked", [([], 8), (["--prompts", "3"], 3)])
def test_what_is_left_out_is_the_default(monkeypatch, flags, asked):
    monkeypatch.setattr(cli, "measure_cpu", lambda *given: {"text": "", "given": found.append(given)})
    found = []
    assert main(["bench", "cpu", *flags]) == 0
    assert found == [(Path(cli.DEFAULTS["model"]), None, asked)]


def test_a_json_file_holds_the_figures(tmp_path, monkeypatch, capsys):
    (tmp_path / "config.json").write_text("{}")
    file = tmp_path / "bench.json"
    monkeypatch.setattr(cli, "measure_cpu", lambda _, *given: {"text": "as text", "rows": list(given)})
    given = ["--model", str(tmp_path), "--threads", "2", "--prompts", "3", "--json", str(file)]
    assert main(["bench", "cpu", *given]) == 0
    assert capsys.readouterr().out == "as text\n"
    assert json.loads(file.read_text()) == {"rows": [2, 3]}
