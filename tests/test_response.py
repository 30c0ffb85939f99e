"""What a run kept, token by token, in every mode; and where two responses part."""

import pytest
from scripted import BYTE, END, FILLER, OTHER_END, ScriptedModel, engine, ids, rows

from clover_viz.events import RunFinished
from clover_viz.settings import AutoregressiveSettings, DenoiseSettings, SpeculativeSettings
from clover_viz.trace.response import ResponseToken, first_difference, response

ALL = [DenoiseSettings(), SpeculativeSettings(), AutoregressiveSettings()]
MODE = lambda settings: settings.mode  # noqa: E731


def run(settings, answer, confidence=0.99, **options):
    def preview(tokens, masked, start):
        places = range(start, start + len(tokens))
        return rows(*((answer[at] if at < len(answer) else FILLER, confidence) for at in places))

    model = ScriptedModel(answer, preview_logits=preview, block_size=4, eos_token_id=[END, OTHER_END])
    return list(engine(model).generate("hi", settings, **options))


@pytest.mark.parametrize("settings", ALL, ids=MODE)
@pytest.mark.parametrize("text", ["", "a", "abc", "abcd", "abcdefgh", "né"])
@pytest.mark.parametrize("end", [END, OTHER_END])
@pytest.mark.parametrize("confidence", [0.99, 0.5])
def test_the_end_token_is_part_of_the_response(settings, text, end, confidence):
    events = run(settings, [*ids(text), end, *ids("never kept")], confidence)
    assert [token.token_id for token in response(events)] == [*ids(text), end]
    assert response(events)[-1].token == {END: "<end>", OTHER_END: "<end2>"}[end]


@pytest.mark.parametrize("settings", ALL, ids=MODE)
@pytest.mark.parametrize("limit", [1, 2, 4, 5, 9])
def test_a_response_ends_at_the_limit(settings, limit):
    events = run(settings, ids("abcdefghijklm"), max_new_tokens=limit)
    assert response(events) == tuple(ResponseToken(BYTE + ord(c), c) for c in "abcdefghijklm"[:limit])


@pytest.mark.parametrize("settings", ALL, ids=MODE)
def test_a_response_ends_with_the_stop_text(settings):
    events = run(settings, ids("abcdefghijklm"), stop=("ef",))
    assert "".join(token.token for token in response(events)) == "abcdef"


def test_a_run_that_is_not_whole_is_refused():
    with pytest.raises(ValueError, match="end with run_finished"):
        response(event for event in run(DenoiseSettings(), ids("ab")) if not isinstance(event, RunFinished))


@pytest.mark.parametrize(
    "one, other, place",
    [("", "", None), ("abc", "abc", None), ("abc", "abd", 2), ("abc", "ab", 2), ("", "a", 0), ("xbc", "abc", 0)],
)
def test_first_difference(one, other, place):
    assert first_difference(one, other) == first_difference(other, one) == place
