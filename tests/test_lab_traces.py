"""The recorded examples: every prompt in every mode, whole or not at all, and the same again apart from timings."""

import gzip
from pathlib import Path

import pytest
from model_helpers import toy_model
from scripted import END, MASK, VOCAB, ByteTokenizer, ScriptedModel, engine, ids

from clover_viz.__main__ import main
from clover_viz.engine import Engine
from clover_viz.errors import UserError
from clover_viz.events import KernelChoice
from clover_viz.lab.traces import EXAMPLES, record_all
from clover_viz.settings import MODES
from clover_viz.trace.canvas import fold
from clover_viz.trace.store import play

NAMES = sorted(f"{example}-{mode}.jsonl.gz" for example in ("agent", "list", "prose") for mode in MODES)


@pytest.fixture(scope="module")
def toy():
    model = toy_model(vocab_size=VOCAB, mask_token_id=MASK, eos_token_id=END, max_position_embeddings=512)
    return Engine(model, ByteTokenizer(), KernelChoice("reference", "toy"), "toy")


def scripted(**config):
    return ScriptedModel([*ids("a short answer"), END], block_size=4, **config)


def test_every_example_in_every_mode(tmp_path):
    model, told = scripted(), []
    done = record_all(engine(model), tmp_path, 32, told=told.append)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(one.file.name for one in done) == NAMES
    assert told == done
    for one in done:
        events = list(play(one.file))
        canvas = fold(events)
        assert one.file.name.endswith(f"-{canvas.mode}.jsonl.gz") and canvas.text == "a short answer"
        assert events[-1] == one.finished and one.size == one.file.stat().st_size
        assert one.file.read_bytes()[:2] == b"\x1f\x8b"
        assert one.bytes_a_step == one.size / one.finished.passes.after_prefill


def test_the_block_is_the_models_own_whatever_a_cpu_speculates_with(tmp_path):
    done = record_all(engine(ScriptedModel([*ids("a short answer"), END], block_size=32)), tmp_path, 8)
    blocks = {next(play(one.file)).settings.get("block_size") for one in done}
    assert blocks == {32, None}


def test_prose_goes_on_from_its_raw_text():
    model = scripted()
    prompts = {}
    for example in EXAMPLES:
        engine(model).complete(example.prompt, raw=example.raw, max_new_tokens=1)
        prompts[example.name] = model.calls[-2][1]
    assert prompts["prose"] == ids(EXAMPLES[2].prompt)
    assert prompts["list"] == ids(f"user: {EXAMPLES[1].prompt[0]['content']}\nassistant: ")
    assert '{"name": "get_weather"' in EXAMPLES[0].prompt[0]["content"]


def test_the_same_model_gives_the_same_traces(toy, tmp_path):
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
        record_all(toy, folder, 10, examples=EXAMPLES[1:])
    names = [file.name for file in folders[0].iterdir()]
    assert len(names) == 6
    for name in names:
        one, other = (list(play(folder / name)) for folder in folders)
        assert one == other  # timings take no part in it


def test_a_run_that_fails_leaves_the_trace_that_was_there(tmp_path):
    file = tmp_path / "agent-denoise.jsonl.gz"
    file.write_bytes(b"what was there")
    model = scripted()

    def broken(*_, **__):
        raise RuntimeError("out of memory")

    model.preview = broken
    with pytest.raises(RuntimeError):
        record_all(engine(model), tmp_path, 32)
    assert file.read_bytes() == b"what was there"


def test_a_prompt_without_room_fails_before_the_first_pass(tmp_path):
    model = scripted(max_position_embeddings=64)
    with pytest.raises(UserError, match="the prompt must leave room"):
        record_all(engine(model), tmp_path, 32)
    assert model.calls == [] and list(tmp_path.iterdir()) == []


# The command


@pytest.fixture
def loads(monkeypatch):
    model = scripted()
    monkeypatch.setattr(Engine, "load", lambda *_: engine(model))
    return model


def test_the_command_makes_its_folder_and_tells_what_it_wrote(loads, tmp_path, capsys):
    assert main(["lab", "traces", "--out", str(tmp_path / "traces"), "--max-new-tokens", "9"]) == 0
    out, err = capsys.readouterr()
    head, *lines = out.splitlines()
    assert head.split() == "trace tokens tokens/pass bytes bytes a step".split()
    assert sorted(line.split()[0] for line in lines) == sorted(err.splitlines()) == NAMES
    assert {line.split()[1] for line in lines} == {"9"}
    assert sorted(file.name for file in (tmp_path / "traces").iterdir()) == NAMES


@pytest.mark.parametrize(
    "argv, says",
    [
        (["--max-new-tokens", "0"], "max_new_tokens must be a whole number of at least 1, got 0"),
        (["--seed", "x"], "seed must be a whole number in [0, 9223372036854775807], got 'x'"),
        (["--out", "no/such/one"], "--out must name a folder, or a new one in a folder that exists, got 'no/such/one'"),
        (["--out", __file__], f"--out must name a folder, or a new one in a folder that exists, got {__file__!r}"),
    ],
)
def test_a_bad_value_is_one_line_and_exit_2(loads, capsys, argv, says):
    assert main(["lab", "traces", *argv]) == 2
    assert capsys.readouterr() == ("", f"error: {says}\n") and loads.calls == []


def test_help_for_newcomers(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["lab", "traces", "--help"])
    assert stop.value.code == 0 and "assets/traces" in capsys.readouterr().out


def test_traces_that_ship_are_whole_and_small():
    """Whatever model wrote them."""
    files = sorted((Path(__file__).parent.parent / "assets" / "traces").glob("*"))
    if not files:
        pytest.skip("no traces are shipped")
    assert [file.name for file in files] == NAMES
    for file in files:
        finished = list(play(file))[-1]
        assert finished.reason in ("end", "length")
        assert file.stat().st_size < 1100 * finished.passes.after_prefill + 2000  # a head and a text are no step's
        assert gzip.decompress(file.read_bytes()).endswith(b"}\n")
