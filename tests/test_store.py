"""Traces on disk: what is recorded comes back, and what cannot be read is named by its line."""

import gzip
import io
import json
import random

import pytest
from scripted import END, ScriptedModel, engine, ids

from clover_viz.errors import UserError
from clover_viz.events import (
    Boundary,
    Check,
    Denoised,
    Draft,
    Drafted,
    LayerExperts,
    LayerTouched,
    RunFinished,
    Slot,
    Verified,
)
from clover_viz.settings import AutoregressiveSettings, DenoiseSettings, SpeculativeSettings
from clover_viz.trace.canvas import fold
from clover_viz.trace.pace import pace
from clover_viz.trace.store import play, record

ANSWER = "né 👩‍👧 <script>\u2028\n|"


def run(settings):
    model = ScriptedModel(ids(ANSWER) + [END], lambda slot, known: 0.5 + slot / 100, block_size=8)
    return list(engine(model).generate("hi", settings, top=True))


@pytest.fixture(scope="module")
def events():
    return run(DenoiseSettings())


@pytest.fixture(scope="module")
def rounds():
    """A speculative run: its third and fifth events are Drafted and Verified."""
    events = run(SpeculativeSettings(accept_rule="threshold"))
    assert [type(events[i]) for i in (2, 4)] == [Drafted, Verified]
    return events


SETTINGS = [DenoiseSettings(), SpeculativeSettings(), SpeculativeSettings(accept_rule="threshold"),
            SpeculativeSettings(draft_steps=2), AutoregressiveSettings()]  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", ["trace.jsonl", "trace.jsonl.gz"])
def test_a_recorded_run_plays_back_as_it_was(tmp_path, settings, name):
    events = run(settings)
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
    "too deep": (lambda t: [t[0], "[" * 100_000], 2, "not a whole JSON object"),
    "settings too deep": (
        lambda t: [t[0].replace('"settings":{', '"settings":{"x":' + "[" * 600 + "]" * 600 + ","), *t[1:]],
        1, "a value must not be nested as deep as here",
    ),
    "too large for a float": (lambda t: [t[0], edited(t[1], "ms", to=10**400)], 2, "ms must be a finite number, got 1"),
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


def edited(line, *path, to):
    """One value of a JSON line replaced; LOST takes it out."""
    data = inner = json.loads(line)
    for key in path[:-1]:
        inner = inner[key]
    if to is LOST:
        del inner[path[-1]]
    else:
        inner[path[-1]] = to
    return json.dumps(data)


LOST = object()
BAD_ROUND = [
    (2, ("drafts", 1, "confidence"), LOST, "drafted.drafts[1] lacks the field 'confidence'"),
    (2, ("drafts", 0, "slot"), "one", "drafted.drafts[0].slot must be an integer, got 'one'"),
    (2, ("drafts",), {}, "drafted.drafts must be a list, got {}"),
    (2, ("boundary",), LOST, "drafted lacks the field 'boundary'"),
    (2, ("boundary", "probability"), "sure", "drafted.boundary.probability must be a finite number, got 'sure'"),
    (2, ("experts", 0, "kept"), 1.5, "drafted.experts[0].kept must be an integer, got 1.5"),
    (2, ("round",), LOST, "drafted lacks the field 'round'"),
    (4, ("checks", 0, "accepted"), 1, "verified.checks[0].accepted must be a bool, got 1"),
    (4, ("checks", 0, "bar"), "low", "verified.checks[0].bar must be a finite number, got 'low'"),
    (4, ("checks", 0, "entropy"), LOST, "verified.checks[0] lacks the field 'entropy'"),
    (4, ("checks", 0, "top", 0, "p"), LOST, "verified.checks[0].top[0] lacks the field 'p'"),
    (4, ("checks", 0, "mood"), "good", "verified.checks[0] has no field 'mood'"),
    (4, ("accepted",), True, "verified.accepted must be an integer, got True"),
    (4, ("boundary", "token_id"), None, "verified.boundary.token_id must be an integer, got None"),
    (4, ("experts", 0, "kept"), 3, "verified.experts[0] has no field 'kept'"),
    (4, ("event",), "checked", "event must be one of run_started, "),
]


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("at, path, to, says", BAD_ROUND)
def test_a_bad_round_is_named_by_its_line_and_field(tmp_path, rounds, at, path, to, says, zipped):
    lines = lines_of(rounds)
    lines[at] = edited(lines[at], *path, to=to)
    data = "\n".join(lines).encode()
    file = tmp_path / "trace"
    file.write_bytes(gzip.compress(data) if zipped else data)
    played = play(file)
    assert [next(played) for _ in range(at)] == rounds[:at]
    with pytest.raises(UserError) as error:
        next(played)
    assert str(error.value).startswith(f"{file} line {at + 1}: {says}") and "\n" not in str(error.value)


@pytest.mark.parametrize("wrong", [ValueError("no"), OverflowError("no")])
def test_what_a_check_refuses_is_named_by_its_line(tmp_path, events, wrong):
    file = tmp_path / "trace"
    file.write_text("\n\n".join(lines_of(events)), encoding="utf-8")

    def check(event):
        if event == events[2]:
            raise wrong

    played = play(file, check)
    assert [next(played), next(played)] == events[:2]
    with pytest.raises(UserError) as error:
        next(played)
    assert str(error.value) == f"{file} line 5: no"


@pytest.mark.parametrize(
    "mode, change, line, says",
    [
        ("rounds", lambda t: t[:2] + t[4:], 3, "verified must follow drafted of its round, got round 0"),
        ("rounds", lambda t: t[:4] + [t[4], *t[4:]], 6, "verified must follow drafted of its round, got round 0"),
        ("rounds", lambda t: [*t[:2], edited(t[2], "round", to=7), *t[3:]], 5, "got round 0"),
        ("events", lambda t: t[:2] + t[3:], 3, "denoised must follow block_opened of its block and slots, got"),
        ("events", lambda t: [*t[:2], edited(t[2], "slots", to=7), *t[3:]], 4, "got block 0"),
        ("events", lambda t: [*t[:2], edited(t[2], "block", to=1), *t[3:]], 4, "got block 0"),
    ],
)
def test_an_event_out_of_order_is_named_by_its_line(tmp_path, request, mode, change, line, says):
    file = tmp_path / "trace"
    file.write_text("\n".join(change(lines_of(request.getfixturevalue(mode)))), encoding="utf-8")
    with pytest.raises(UserError) as error:
        list(play(file))
    assert f"{file} line {line}: " in str(error.value) and says in str(error.value)


@pytest.mark.parametrize("at", [2, 4])
def test_a_file_cut_within_a_round_is_named_by_its_line(tmp_path, rounds, at):
    file = tmp_path / "trace"
    whole = lines_of(rounds)
    file.write_text("\n".join([*whole[:at], whole[at][: len(whole[at]) // 2]]), encoding="utf-8")
    with pytest.raises(UserError, match=f"line {at + 1}: not a whole JSON object"):
        list(play(file))
    file.write_text("\n".join(whole[: at + 1]), encoding="utf-8")
    with pytest.raises(UserError, match=f"line {at + 2}: a trace must end with run_finished, got the end of the file"):
        list(play(file))


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.9, 0.999])
def test_a_part_of_a_gzip_names_the_line_behind_those_that_came(tmp_path, rounds, share):
    file = tmp_path / "trace.gz"
    whole = gzip.compress("".join(line + "\n" for line in lines_of(rounds)).encode())
    file.write_bytes(whole[: max(3, int(len(whole) * share))])
    came = []
    with pytest.raises(UserError) as error:
        came.extend(play(file))  # what came before the error stays in the list
    assert came == rounds[: len(came)]
    assert f"line {len(came) + 1}: the gzip data is broken or cut off" in str(error.value)


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


WORDS = ["the", " and", "ing", " of", "\n", "<0xE2>", " clover", "(", " returns", "self"]


def p(rng):
    return float(f"{rng.random():.9g}")


def experts(rng):
    return tuple(LayerExperts(layer, rng.randrange(60, 165), rng.randrange(30, 70), rng.randrange(64) / 32)
                 for layer in range(40))  # fmt: skip


def denoising(rng):
    slots = tuple(Slot(i, rng.choice(["masked", "committed"]), rng.randrange(248320), rng.choice(WORDS), p(rng))
                  for i in range(32))  # fmt: skip
    return [Denoised(0, 1, (rng.randrange(32),), False, slots, experts(rng), 100 * p(rng))]


def a_round(rng):
    drafts = tuple(Draft(i, rng.randrange(248320), rng.choice(WORDS), p(rng)) for i in range(1, 32))
    checks = tuple(Check(d.slot, d.token_id, d.token, p(rng), 3 * p(rng), 0.6 * p(rng), d.slot < 9) for d in drafts)
    touched = tuple(LayerTouched(i, rng.randrange(100, 220)) for i in range(40))
    boundary = Boundary(rng.randrange(248320), rng.choice(WORDS), p(rng))
    return [Drafted(0, 1, 9, boundary, drafts, experts(rng), 100 * p(rng)),
            Verified(0, checks, 8, boundary, touched, 100 * p(rng))]  # fmt: skip


@pytest.mark.parametrize("made", [denoising, a_round])
def test_a_step_at_40_layers_takes_at_most_1100_bytes_gzipped(tmp_path, made):
    """32 slots without alternatives, every figure drawn at random: no run is harder to pack."""
    rng = random.Random(0)
    steps = [event for _ in range(32) for event in made(rng)]
    file = tmp_path / "trace.jsonl.gz"
    list(record(steps, file))
    assert file.stat().st_size / len(steps) < 1100


def test_pace_waits_for_the_time_a_pass_took(events):
    waits = []
    assert list(pace(events, 2.0, waits.append)) == events
    assert sum(waits) == pytest.approx(sum(getattr(x, "ms", 0) for x in events) / 2000)
    waits.clear()
    assert list(pace(events, 1e-300, waits.append)) == events and max(waits) == 86_400.0  # a day
    waits.clear()
    assert list(pace(events, 0, waits.append))[-1] == events[-1] and waits == []
    assert isinstance(events[-1], RunFinished)
