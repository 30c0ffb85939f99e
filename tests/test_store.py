"""Traces on disk: what is recorded comes back, and what cannot be read is named by its line."""

import gzip
import io
import json

import pytest
from scripted import END, ScriptedModel, engine, ids

from clover_viz.errors import UserError
from clover_viz.events import RunFinished
from clover_viz.trace.canvas import fold
from clover_viz.trace.pace import pace
from clover_viz.trace.store import play, record

ANSWER = "né 👩‍👧 <script>\u2028\n|"


@pytest.fixture(scope="module")
def events():
    model = ScriptedModel(ids(ANSWER) + [END], lambda slot, known: 0.5 + slot / 100, block_size=8)
    return list(engine(model).generate("hi", top=True))


@pytest.mark.parametrize("name", ["trace.jsonl", "trace.jsonl.gz"])
def test_a_recorded_run_plays_back_as_it_was(tmp_path, events, name):
    path = tmp_path / name
    assert list(record(events, path)) == events
    played = list(play(path))
    assert played == events and [x.to_json() for x in played] == [x.to_json() for x in events]
    assert fold(played) == fold(events) and fold(played).text == ANSWER
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    if not name.endswith(".gz"):
        assert [json.loads(line)["event"] for line in path.read_bytes().splitlines()][0] == "run_started"


def test_gzip_is_told_by_content_not_by_name(tmp_path, events):
    path = tmp_path / "download"
    path.write_bytes(gzip.compress("".join(x.to_json() + "\n" for x in events).encode()))
    assert list(play(path)) == events
    assert list(play(io.BytesIO(path.read_bytes()))) == events


def test_recording_passes_events_through_one_by_one(events):
    file = io.StringIO()
    run = record(iter(events), file)
    for n in range(1, 4):
        next(run)
        assert len(file.getvalue().splitlines()) == n
    run.close()
    assert not file.closed


def test_a_run_that_dies_leaves_its_events(tmp_path, events):
    path = tmp_path / "trace.jsonl"

    def dying():
        yield from events[:4]
        raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError):
        list(record(dying(), path))
    played = play(path)
    assert [next(played) for _ in range(4)] == events[:4]
    with pytest.raises(UserError, match="line 5: a trace must end with run_finished, got the end of the file"):
        next(played)


def lines_of(events):
    return [x.to_json() for x in events]


BAD = {
    "unknown schema": (lambda t: [t[0].replace('"schema":1', '"schema":2'), *t[1:]], 1, "schema must be 1, got 2"),
    "no run_started": (lambda t: t[1:], 1, "must hold one run that begins with run_started"),
    "two runs": (lambda t: [*t[:-1], t[0], t[-1]], -1, "must hold one run that begins with run_started"),
    "more after the end": (lambda t: [*t, t[1]], -1, "must end with run_finished, got more after it"),
    "cut in a line": (lambda t: [*t[:4], t[4][:20]], 5, "not a whole JSON object"),
    "cut between lines": (lambda t: t[:4], 5, "must end with run_finished"),
    "foreign record": (lambda t: [*t[:2], '{"a": 1}', *t[2:]], 3, "event must be one of"),
    "foreign file": (lambda t: ["# Hello", "world"], 1, "not a whole JSON object"),
    "wrong field": (lambda t: [t[0], t[1].replace('"tokens"', '"tokeens"')], 2, "prefilled has no field 'tokeens'"),
    "empty": (lambda t: [], 1, "must end with run_finished"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("zipped", [False, True])
def test_what_cannot_be_read_is_named_by_its_line(tmp_path, events, name, zipped):
    change, number, says = BAD[name]
    lines = change(lines_of(events))
    number = len(lines) + (0 if name == "more after the end" else -1) if number == -1 else number
    data = "".join(line + "\n" for line in lines).encode()
    path = tmp_path / "trace"
    path.write_bytes(gzip.compress(data) if zipped else data)
    with pytest.raises(UserError) as error:
        list(play(path))
    line = str(error.value)
    assert says in line and f"line {number}:" in line and str(path) in line and "\n" not in line


def test_broken_gzip_and_bytes_that_are_no_text_name_their_line(tmp_path, events):
    path = tmp_path / "trace.gz"
    whole = gzip.compress("".join(x.to_json() + "\n" for x in events).encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match=r"line \d+: the gzip data is broken or cut off"):
        list(play(path))
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="line 1: not a whole JSON object"):
        list(play(path))
    with pytest.raises(UserError, match="a trace must be a readable file, got .*missing"):
        list(play(tmp_path / "missing"))


def test_a_line_without_end_is_not_read_into_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("clover_viz.trace.store.LONGEST_LINE", 1000)
    path = tmp_path / "trace"
    path.write_bytes(b"[" * 5000)
    with pytest.raises(UserError, match="line 1: a line must be at most 1000 bytes"):
        list(play(path))


def test_a_step_at_40_layers_takes_about_a_kilobyte_gzipped(tmp_path, events):
    """The figure of the interface, for 32 slots without alternatives."""
    import random
    from dataclasses import replace

    from clover_viz.events import Denoised, LayerExperts, Slot

    rng = random.Random(0)
    words = ["the", " and", "ing", " of", "\n", "<0xE2>", " clover", "(", " returns", "self"]
    steps = []
    for step in range(1, 33):
        slots = tuple(
            Slot(i, rng.choice(["masked", "committed"]), rng.randrange(248320), rng.choice(words),
                 float(f"{rng.random():.9g}")) for i in range(32)
        )  # fmt: skip
        experts = tuple(LayerExperts(i, rng.randrange(60, 165), rng.randrange(30, 70), rng.randrange(64) / 32)
                        for i in range(40))  # fmt: skip
        steps.append(replace(next(x for x in events if isinstance(x, Denoised)), step=step, slots=slots,
                             experts=experts))  # fmt: skip
    size = len(gzip.compress("".join(x.to_json() + "\n" for x in steps).encode())) / len(steps)
    assert size < 1300


def test_pace_waits_for_the_time_a_pass_took(events):
    waits = []
    assert list(pace(events, 2.0, waits.append)) == events
    assert sum(waits) == pytest.approx(sum(getattr(x, "ms", 0) for x in events) / 2000)
    waits.clear()
    assert list(pace(events, 0, waits.append))[-1] == events[-1] and waits == []
    assert isinstance(events[-1], RunFinished)
