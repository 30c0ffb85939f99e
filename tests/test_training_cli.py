"""The command `train`: what it refuses before any work, and when it writes a checkpoint. Nothing is trained here."""

from pathlib import Path

import pytest
import torch

from clover_viz.__main__ import main
from clover_viz.training import cli, prose, run, tokenizer_training
from clover_viz.training.cli import STEPS


@pytest.fixture
def done(monkeypatch):
    """What was done, in order; training comes to the step that was asked for, in no time."""
    found = []

    def train(work, book, workers, until):
        found.append("train")
        torch.save({"step": until or STEPS}, work / "state.pt")

    monkeypatch.setattr(run, "train", train)
    monkeypatch.setattr(run, "export", lambda work, out: found.append(f"export to {out}"))
    monkeypatch.setattr(prose, "obtain", lambda work: work / "book.tgz")
    monkeypatch.setattr(prose.Prose, "load", lambda path: path)
    monkeypatch.setattr(tokenizer_training, "make_tokenizer", lambda folder, prose: found.append("tokenizer"))
    return found


@pytest.mark.parametrize(
    "flags, exported",
    [([], True), (["--until", str(STEPS)], True), (["--until", str(STEPS - 1)], False), (["--until", "1"], False)],
)
def test_only_the_last_step_writes_a_checkpoint(done, tmp_path, capsys, flags, exported):
    work, out = tmp_path / "work", tmp_path / "out"
    assert main(["train", "--work", str(work), "--out", str(out), *flags]) == 0
    assert done == ["tokenizer", "train"] + [f"export to {out}"] * exported
    said = capsys.readouterr().err.splitlines()[-1]
    if exported:
        assert said == f"wrote {out}"
    else:
        assert said.startswith(f"stopped after step {flags[1]} of {STEPS}: the state lies in {work / 'state.pt'}")
        assert "--export-only" in said and str(out) in said


def test_a_run_that_was_stopped_goes_on_to_its_checkpoint(done, tmp_path):
    flags = ["train", "--work", str(tmp_path), "--out", str(tmp_path / "out")]
    assert main([*flags, "--until", "7"]) == main(flags) == 0
    assert done[-1].startswith("export") and sum(what.startswith("export") for what in done) == 1


def test_export_only_trains_nothing_and_asks_for_no_book(done, tmp_path, monkeypatch):
    monkeypatch.setattr(prose, "obtain", lambda work: pytest.fail("asked for the book"))
    torch.save({"step": 7}, tmp_path / "state.pt")
    assert main(["train", "--work", str(tmp_path), "--out", str(tmp_path / "out"), "--export-only"]) == 0
    assert done == [f"export to {tmp_path / 'out'}"]


@pytest.mark.parametrize(
    "flags, says",
    [
        (["--until", "0"], f"--until must be a whole number in [1, {STEPS}], got 0"),
        (["--until", "-1"], f"--until must be a whole number in [1, {STEPS}], got -1"),
        (["--until", str(STEPS + 1)], f"--until must be a whole number in [1, {STEPS}], got {STEPS + 1}"),
        (["--until", "2.5"], f"--until must be a whole number in [1, {STEPS}], got 2.5"),
        (["--until", "soon"], f"--until must be a whole number in [1, {STEPS}], got 'soon'"),
        (["--until", "5", "--export-only"],
         "--until must be left out with --export-only, which trains nothing, got 5"),
        (["--workers", "3"], "--workers must be 1 or 2, got 3"),
        (["--export-only"], f"--export-only needs a saved state in --work, found no {Path('work/state.pt')}"),
        (["--out", "file"], "--out must be a folder, or be made one, got 'file'"),
        (["--work", "file"], "--work must be a folder, or be made one, got 'file'"),
    ],
)  # fmt: skip
def test_bad_values_are_one_line_and_exit_2_before_any_work(done, tmp_path, monkeypatch, capsys, flags, says):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    work = [] if "--work" in flags else ["--work", "work"]
    assert main(["train", *work, *flags]) == 2
    assert capsys.readouterr() == ("", f"error: {says}\n")
    assert done == [] and not Path("work").exists()


def test_help_shows_every_default(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")  # no folder is broken at its hyphen
    with pytest.raises(SystemExit):
        cli.parser().parse_args(["--help"])
    told = " ".join(capsys.readouterr().out.split())
    for default in ("assets/clover-tiny", "runs/clover-tiny", str(STEPS), "the one in the work folder"):
        assert f"(default: {default}" in told
