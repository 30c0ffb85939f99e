"""The command line: what goes to which stream, and how it exits."""

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from scripted import CLOSE_THINK, END, THINK, ScriptedModel, engine, ids

from clover_viz.__main__ import main
from clover_viz.engine import Engine
from clover_viz.trace.store import play

ROOT = Path(__file__).resolve().parent.parent
TEXT = 'né {"a": 1}\n'


@pytest.fixture
def model(monkeypatch):
    """`generate` loads this model; `loaded` holds the arguments it was loaded with."""
    scripted = ScriptedModel(ids(TEXT) + [END], lambda slot, known: 0.9 - slot / 100, block_size=8)
    scripted.loaded = []

    def load(path, *rest):
        scripted.loaded.append((path, *rest))
        return engine(scripted)

    monkeypatch.setattr(Engine, "load", load)
    return scripted


def test_text_alone_goes_to_stdout(model, capsys):
    assert main(["generate", "hi"]) == 0
    out, err = capsys.readouterr()
    assert out == TEXT
    assert err.splitlines() == [
        "denoise mode, scripted on cpu, kernels reference",
        next(line for line in err.splitlines() if line.startswith("ended by the model: 13 tokens, passes: 1 prefill")),
    ]


def test_events_to_stdout_are_json_lines_and_nothing_else(model, capsys):
    assert main(["generate", "hi", "--events", "-"]) == 0
    out, _ = capsys.readouterr()
    events = [json.loads(line) for line in out.splitlines()]
    assert events[0]["event"] == "run_started" and events[-1]["event"] == "run_finished"
    assert "".join(x["delta"] for x in events if x["event"] == "text") == events[-1]["text"] == TEXT


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz"])
def test_events_to_a_file_beside_the_text(model, capsys, tmp_path, name):
    assert main(["generate", "hi", "--events", str(tmp_path / name)]) == 0
    assert capsys.readouterr().out == TEXT
    data = (tmp_path / name).read_bytes()
    lines = (gzip.decompress(data) if name.endswith(".gz") else data).decode().splitlines()
    assert json.loads(lines[-1])["text"] == TEXT


def test_play_shows_what_generate_showed(model, capsys, tmp_path):
    trace = str(tmp_path / "t.jsonl")
    main(["generate", "hi", "--events", trace])
    capsys.readouterr()
    assert main(["play", trace, "--speed", "0"]) == 0
    out, err = capsys.readouterr()
    assert out == TEXT
    assert "block 0 step 1: none over 0.95, the most confident slot committed; 7 left" in err.splitlines()


def test_thinking_is_no_part_of_the_text(model, capsys, tmp_path):
    model.answer = [THINK, *ids("hm"), CLOSE_THINK, *ids("yes"), END]
    trace = str(tmp_path / "t.jsonl")
    assert main(["generate", "hi", "--events", trace]) == 0
    assert capsys.readouterr().out == "yes"
    assert main(["play", trace, "--speed", "0"]) == 0
    assert capsys.readouterr().out == "yes"


def test_every_flag_reaches_the_run(model, capsys):
    argv = ["generate", "hi", "--model", "there", "--revision", "abc", "--device", "cpu", "--dtype", "float32",
            "--kernels", "reference", "--graphs", "off", "--threshold", "0.5", "--block-size", "4",
            "--coreset-top-p", "0.7", "--temperature", "0.5", "--presence-penalty", "-1", "--frequency-penalty", "0.25",
            "--repetition-penalty", "1.1", "--stop-bias", "2", "--think-close-bias", "3", "--max-new-tokens", "5",
            "--stop", "x", "--stop", "-y", "--seed", "7", "--events", "-", "--allow-untrained-block"]  # fmt: skip
    argv[argv.index("-y") - 1 : argv.index("-y") + 1] = ["--stop=-y"]
    assert main(argv) == 0
    started = json.loads(capsys.readouterr().out.splitlines()[0])
    assert model.loaded == [("there", "cpu", "float32", "reference", "abc", "off")]
    assert started["settings"] == {
        "threshold": 0.5, "block_size": 4, "coreset_top_p": 0.7, "temperature": 0.5, "presence_penalty": -1.0,
        "frequency_penalty": 0.25, "repetition_penalty": 1.1, "stop_bias": 2.0, "think_close_bias": 3.0,
        "max_new_tokens": 5, "stop": ["x", "-y"], "seed": 7, "allow_untrained_block": True,
    }  # fmt: skip


@pytest.mark.parametrize("given", ["-1e-1", "-1E-01", "-.1", "-0.1", "-0.1e0"])
def test_a_negative_number_in_any_spelling_is_no_flag(model, capsys, given):
    assert main(["generate", "hi", "--events", "-", "--presence-penalty", given]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["settings"]["presence_penalty"] == -0.1


@pytest.mark.parametrize(
    "event, field, value, says",
    [
        ("run_started", "settings", {"threshold": "x"}, "settings.threshold must be a number, got 'x'"),
        ("prefilled", "ms", 1e30, "prefilled.ms must be in [0, 86400000], got 1e+30"),
        ("prefilled", "ms", 10**400, "prefilled.ms must be a finite number, got 1000"),
        ("block_opened", "slots", 10**9, "slots must be in [1, 1024], got 1000000000"),
    ],
)
def test_a_trace_that_cannot_be_played_is_refused_with_its_line(model, capsys, tmp_path, event, field, value, says):
    trace = tmp_path / "t.jsonl"
    main(["generate", "hi", "--events", str(trace)])
    rows = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    number = next(n for n, row in enumerate(rows, start=1) if row["event"] == event)
    rows[number - 1][field] = value
    trace.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    capsys.readouterr()
    assert main(["play", str(trace)]) == 2
    err = capsys.readouterr().err.splitlines()[-1]
    assert err.startswith(f"error: {trace} line {number}: {says}")


@pytest.mark.parametrize("flags, top_p", [([], 0.9), (["--no-coreset"], None), (["--coreset-top-p", "1"], 1.0)])
def test_the_coreset_flags(model, capsys, flags, top_p):
    assert main(["generate", "hi", "--events", "-", *flags]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["settings"]["coreset_top_p"] == top_p


def test_modes_prompts_and_the_default_model(model, capsys):
    assert main(["generate", "hi", "--mode", "autoregressive"]) == 0
    assert capsys.readouterr().out == TEXT
    assert Path(model.loaded[0][0]) == ROOT / "assets" / "clover-tiny"
    assert model.loaded[0][1:] == ("auto", "auto", "auto", None, "auto")
    main(["generate", "hi", "--raw"]), main(["generate", "hi", "--system", "be kind"])
    prefills = [tokens for kind, tokens in model.calls if kind == "prefill"]
    assert prefills[1:] == [ids("hi"), ids("system: be kind\nuser: hi\nassistant: ")]


@pytest.mark.parametrize(
    "argv, says",
    [
        ([], "bench, got none; usage: python -m clover_viz COMMAND ..."),
        (["diffuse"], "got 'diffuse'"),
        (["generate"], "the following arguments are required: PROMPT"),
        (["generate", ""], "the prompt must not be empty"),
        (["generate", "hi", "--threshold", "3"], "threshold must be in [0, 1], got 3"),
        (["generate", "hi", "--threshold", "nan"], "threshold must be in [0, 1], got nan"),
        (["generate", "hi", "--threshold", "high"], "threshold must be in [0, 1], got 'high'"),
        (["generate", "hi", "--threshold", "-0.5"], "threshold must be in [0, 1], got -0.5"),
        (["generate", "hi", "--block-size", "5"], "block_size must be one of 2, 4, 8 for this model"),
        (["generate", "hi", "--block-size", "64"], "block_size must be one of"),
        (["generate", "hi", "--block-size", "2.5"], "block_size must be a whole number of at least 2, got 2.5"),
        (["generate", "hi", "--coreset-top-p", "0"], "coreset_top_p must be in (0, 1], or be left out for --no-"),
        (["compare", "hi", "--coreset-top-p", "none"], "or be left out for --no-coreset, got 'none'"),
        (["generate", "hi", "--coreset-top-p", "nan"], "or be left out for --no-coreset, got nan"),
        (["generate", "hi", "--presence-penalty", "-inf"], "presence_penalty must be in [-2, 2], got -inf"),
        (["generate", "hi", "--coreset-top-p", ".5", "--no-coreset"], "not allowed with argument"),
        (["generate", "hi", "--ratio", "0.5"], "ratio is not a setting of denoise mode"),
        (["generate", "hi", "--mode", "autoregressive", "--threshold", "0.5"], "threshold is not a setting of auto"),
        (["generate", "hi", "--mode", "autoregressive", "--no-coreset"], "coreset_top_p is not a setting of auto"),
        (["generate", "hi", "--mode", "both"], "mode must be denoise or speculative or autoregressive, got 'both'"),
        (["generate", "hi", "--mode", "speculative", "--ratio", "7"], "ratio must be in [0, 1], got 7"),
        (["generate", "hi", "--max-new-tokens", "0"], "max_new_tokens must be a whole number of at least 1, got 0"),
        (["generate", "hi", "--max-new-tokens", "many"], "max_new_tokens must be a whole number of at least 1"),
        (["generate", "hi", "--seed", "-1"], "seed must be a whole number in [0, 9223372036854775807], got -1"),
        (["generate", "hi", "--stop", ""], "stop must be texts of at least one character"),
        (["generate", "hi", "--system", "s", "--raw"], "--system must be left out with --raw"),
        (["generate", "hi", "--events", "nowhere/at/all.jsonl"], "--events must name a file in a folder that exists"),
        (["generate", "hi", "--thresh", "0.5"], "unrecognized arguments"),
        (["generate", "hi" * 2000], "the prompt must leave room for one block of 8 in the context of 2048 positions"),
        (["play"], "the following arguments are required: FILE"),
        (["play", "missing.jsonl"], "a trace must be a readable file, got missing.jsonl"),
        (["play", "missing.jsonl", "--speed", "fast"], "speed must be in [0, 1000], got 'fast'"),
    ],
)
def test_a_bad_value_is_one_line_and_exit_2(model, capsys, argv, says):
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: ") and says in err and err.count("\n") == 1
    assert model.calls == []


def test_a_loader_that_refuses_a_value_is_exit_2_too(monkeypatch, capsys):
    def load(*_):
        raise ValueError("kernels=triton cannot run: no GPU\nmore")

    monkeypatch.setattr(Engine, "load", load)
    assert main(["generate", "hi", "--kernels", "triton"]) == 2
    assert capsys.readouterr().err == "error: kernels=triton cannot run: no GPU\n"


@pytest.mark.parametrize(
    "given, says",
    [
        ("on", "graphs=on cannot run: CUDA graphs need a CUDA device, the model is on cpu"),
        ("maybe", "graphs must be auto, on, off, got 'maybe'"),
    ],
)
@pytest.mark.parametrize("command", [["generate", "hi"], ["compare", "hi"], ["lab", "exact"], ["lab", "eval"]])
def test_graphs_that_cannot_be_are_refused_before_a_model_is_looked_for(capsys, command, given, says):
    assert main([*command, "--model", "nowhere", "--device", "cpu", "--graphs", given]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.splitlines()[-1] == f"error: {says}"


def test_events_tell_of_the_graphs(model, capsys):
    assert main(["generate", "hi", "--events", "-"]) == 0
    started = json.loads(capsys.readouterr().out.splitlines()[0])
    assert started["graphs"] == {"name": "off", "reason": "CUDA graphs need a CUDA device, the model is on cpu"}


@pytest.mark.parametrize("where", ["load", "run"])
def test_anything_else_is_one_line_and_exit_1(model, monkeypatch, capsys, where):
    def broken(*_, **__):
        raise RuntimeError("the disk is on fire\nin two lines")

    monkeypatch.setattr(*((Engine, "load") if where == "load" else (model, "preview")), broken)
    assert main(["generate", "hi"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.splitlines()[-1] == "error: RuntimeError: the disk is on fire" and "Traceback" not in err


def test_help_is_there_for_every_command_that_is(capsys):
    assert main(["--help"]) == 0
    assert "generate" in capsys.readouterr().out
    for command in ("generate", "play"):
        with pytest.raises(SystemExit) as stop:
            main([command, "--help"])
        assert stop.value.code == 0 and f"clover_viz {command}" in capsys.readouterr().out


PROGRAM = """
import sys, time
sys.path.insert(0, {tests!r})
from scripted import ScriptedModel, engine, ids
from clover_viz.__main__ import main
from clover_viz.engine import Engine

model = ScriptedModel(ids("word " * 400), lambda slot, known: 0.9 - slot / 100, block_size=8)
preview = model.preview
def slow(*a, **k):
    time.sleep(0.02)
    return preview(*a, **k)
model.preview = slow
Engine.load = lambda *a, **k: engine(model)
sys.exit(main(sys.argv[1:]))
"""


def program(*argv):
    code = PROGRAM.format(tests=str(ROOT / "tests"))
    # an empty locale: the text is UTF-8 all the same
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}
    return subprocess.Popen([sys.executable, "-c", code, *argv], cwd=ROOT, env=env,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip


def test_ctrl_c_ends_the_run_cleanly(tmp_path):
    trace = tmp_path / "t.jsonl"
    process = program("generate", "hi", "--max-new-tokens", "1500", "--events", str(trace))
    killer = threading.Timer(60, process.kill)
    killer.start()
    shown = process.stdout.read(8)
    process.send_signal(signal.SIGINT)
    rest, err = process.communicate()
    killer.cancel()
    assert process.returncode == 1
    assert b"Traceback" not in err and err.decode().splitlines()[-1].startswith("cancelled: ")
    finished = list(play(trace))[-1]
    assert finished.reason == "cancelled" and finished.text.encode() == shown + rest


def test_a_reader_that_leaves_is_no_traceback():
    process = program("generate", "hi", "--max-new-tokens", "1500")
    killer = threading.Timer(60, process.kill)
    killer.start()
    process.stdout.read(3)
    process.stdout.close()
    err = process.stderr.read().decode()
    process.stderr.close()
    process.wait()
    killer.cancel()
    assert process.returncode == 1 and "Traceback" not in err and "BrokenPipe" not in err
