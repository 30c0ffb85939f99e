import json
from dataclasses import FrozenInstanceError, replace

import pytest

from clover_viz import events as e

TOP = (e.TopToken(1, "a", 0.5), e.TopToken(2, "b", 0.25), e.TopToken(3, "c", 0.125))
EXAMPLES = [
    e.RunStarted(1, "denoise", "tiny", "cpu", e.KernelChoice("reference", "no GPU"), 12,
                 {"threshold": 0.95, "coreset_top_p": None, "stop": ("a", "b"), "seed": 0}),
    e.Prefilled(12, ms=3.5),
    e.BlockOpened(0, 12, 2),
    e.Denoised(0, 1, (1,), False, (e.Slot(0, "masked", 7, "<0xE2>", 0.25), e.Slot(1, "committed", 8, " x", 0.99, TOP)),
               (e.LayerExperts(0, 9, 5, 0.5),), ms=1.25),
    e.Replayed(0, 32, ms=2.0),
    e.Drafted(0, 1, 12, e.Boundary(5, "five"), (e.Draft(1, 6, "six", 0.75),), (e.LayerExperts(0, 9, 5, 0.5),), ms=1.0),
    e.Verified(0, (e.Check(1, 6, "six", 0.5, 0.6931, None, True), e.Check(2, 7, "7", 0.1, 2.0, 0.3, False, TOP)), 1,
               e.Boundary(9, "nine", 0.5), (e.LayerTouched(0, 31),), ms=1.0),
    e.TokenDecoded(14, 3, "\u2028\"</script>|", 0.5, ms=0.5),
    e.Text("née 👩‍👩‍👧 \n\t"),
    e.RunFinished("end", "text", 4, e.PassCounts(1, 2, 0, 0, 0), 2.0, None, seconds=0.5, tokens_per_second=8.0),
]  # fmt: skip

FIELDS = {
    "run_started": "schema mode model device kernels prompt_tokens settings",
    "prefilled": "tokens ms",
    "block_opened": "block start slots",
    "denoised": "block step committed forced slots experts ms",
    "replayed": "block tokens ms",
    "drafted": "round step start boundary drafts experts ms",
    "verified": "round checks accepted boundary experts ms",
    "token_decoded": "position token_id token probability ms",
    "text": "delta",
    "run_finished": "reason text tokens passes tokens_per_pass tokens_per_preview seconds tokens_per_second",
}


@pytest.mark.parametrize("event", EXAMPLES, ids=lambda event: type(event).__name__)
def test_json_and_back(event):
    line = event.to_json()
    assert "\n" not in line
    data = json.loads(line)
    assert list(data) == ["event", *FIELDS[data["event"]].split()]
    back = e.from_json_dict(data)
    assert back == event and type(back) is type(event)
    assert back.to_json() == line  # timings too
    assert hash(back) == hash(event)


def test_every_event_has_an_example():
    assert {e.event_name(type(x)) for x in EXAMPLES} == set(FIELDS)


def test_rows_have_the_fields_of_the_interface():
    by = {e.event_name(type(x)): x.to_json_dict() for x in EXAMPLES}
    assert list(by["denoised"]["slots"][0]) == ["slot", "state", "token_id", "token", "confidence"]
    assert by["denoised"]["slots"][1]["top"] == [{"token_id": i, "token": t, "p": p}
                                                for i, t, p in ((1, "a", 0.5), (2, "b", 0.25), (3, "c", 0.125))]
    assert list(by["denoised"]["experts"][0]) == ["layer", "touched", "kept", "rerouted"]
    assert by["drafted"]["boundary"] == {"token_id": 5, "token": "five"}
    assert by["verified"]["boundary"] == {"token_id": 9, "token": "nine", "probability": 0.5}
    assert by["verified"]["checks"][0] == {"slot": 1, "token_id": 6, "token": "six", "probability": 0.5,
                                           "entropy": 0.6931, "bar": None, "accepted": True}
    assert by["verified"]["experts"] == [{"layer": 0, "touched": 31}]
    assert by["run_finished"]["passes"] == {"prefill": 1, "preview": 2, "replay": 0, "verify": 0, "decode": 0}
    assert by["run_finished"]["tokens_per_preview"] is None
    assert by["run_started"]["kernels"] == {"name": "reference", "reason": "no GPU"}
    assert by["run_started"]["settings"]["coreset_top_p"] is None


def test_a_run_may_tell_of_its_graphs():
    """A field that traces recorded before lack: they load, and equal a run that tells it."""
    older = EXAMPLES[0]
    newer = replace(older, graphs=e.KernelChoice("off", "no card"))
    data = json.loads(newer.to_json())
    assert list(data) == ["event", *FIELDS["run_started"].split(), "graphs"]
    assert data["graphs"] == {"name": "off", "reason": "no card"} and "graphs" not in older.to_json_dict()
    back = e.from_json_dict(data)
    assert back.graphs == newer.graphs and e.from_json_dict(older.to_json_dict()).graphs is None
    assert back == newer == older and hash(newer) == hash(older)
    assert replace(newer, kernels=e.KernelChoice("triton", "")) != newer
    with pytest.raises(ValueError, match="run_started.graphs lacks the field 'reason'"):
        e.from_json_dict(data | {"graphs": {"name": "on"}})


@pytest.mark.parametrize("event", [x for x in EXAMPLES if hasattr(x, "ms") or hasattr(x, "seconds")],
                         ids=lambda event: type(event).__name__)
def test_timings_take_no_part_in_equality(event):
    changes = {"ms": 99.0} if hasattr(event, "ms") else {"seconds": 9.0, "tokens_per_second": 99.0}
    assert replace(event, **changes) == event
    other = {"tokens": 99} if hasattr(event, "tokens") else {"step": 9} if hasattr(event, "step") else {}
    if other:
        assert replace(event, **other) != event


def test_events_are_frozen():
    with pytest.raises(FrozenInstanceError):
        EXAMPLES[1].tokens = 3


DENOISED = next(x for x in EXAMPLES if isinstance(x, e.Denoised)).to_json_dict()


@pytest.mark.parametrize(
    "data, says",
    [
        ([1], "must be a JSON object, got list"),
        ({}, "event must be one of run_started"),
        ({"event": "exploded"}, "got 'exploded'"),
        ({"event": ["text"]}, "event must be one of"),
        ({"event": "text"}, "text lacks the field 'delta'"),
        ({"event": "text", "delta": 3}, "text.delta must be a str, got 3"),
        ({"event": "text", "delta": "a", "colour": "#66CC66"}, "text has no field 'colour'"),
        ({"event": "prefilled", "tokens": True, "ms": 1}, "prefilled.tokens must be an integer, got True"),
        ({"event": "prefilled", "tokens": 1, "ms": float("nan")}, "prefilled.ms must be a finite number"),
        ({"event": "prefilled", "tokens": 1, "ms": 10**309}, "prefilled.ms must be a finite number, got 1000"),
        ({**DENOISED, "slots": [{"slot": 0}]}, "denoised.slots[0] lacks the field 'state'"),
        ({**DENOISED, "slots": {}}, "denoised.slots must be a list"),
        ({**DENOISED, "slots": [{**DENOISED["slots"][0], "state": "lost"}]}, "must be one of given, masked, committed"),
        ({**DENOISED, "experts": [3]}, "denoised.experts[0] must be an object, got 3"),
        ({**EXAMPLES[0].to_json_dict(), "schema": 7}, "schema must be 1, got 7"),
    ],
)
def test_a_foreign_record_is_refused_by_name(data, says):
    with pytest.raises(ValueError) as error:
        e.from_json_dict(data)
    assert says in str(error.value) and "\n" not in str(error.value)


def test_no_number_outside_json():
    with pytest.raises(ValueError):
        e.Prefilled(1, ms=float("inf")).to_json()
