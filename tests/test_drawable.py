"""What a view relies on beyond what the store says of traces; the page's own cases are in test_player.py."""

from dataclasses import replace

import pytest
from scripted import END, ScriptedModel, engine, ids, of

from clover_viz.events import BlockOpened, Denoised, Prefilled, Replayed, RunStarted
from clover_viz.settings import AutoregressiveSettings, DenoiseSettings, SpeculativeSettings
from clover_viz.trace.drawable import Drawable


def run(settings):
    model = ScriptedModel(ids("abcdefghij") + [END], lambda slot, known: 0.5 + slot / 100, block_size=4)
    return list(engine(model).generate("hi", settings))


def take(events):
    drawable = Drawable()
    for event in events:
        drawable.take(event)


@pytest.mark.parametrize("settings", [DenoiseSettings(), SpeculativeSettings(draft_steps=2), AutoregressiveSettings()])
def test_a_run_can_be_drawn(settings):
    take(run(settings))


@pytest.mark.parametrize(
    "kind, fields, says",
    [
        (Prefilled, {"ms": 1e30}, "prefilled.ms must be in [0, 86400000], got 1e+30"),
        (Prefilled, {"ms": -1.0}, "prefilled.ms must be in [0, 86400000], got -1.0"),
        (Denoised, {"ms": 1e9}, "denoised.ms must be in [0, 86400000], got 1000000000.0"),
        (Replayed, {"ms": 1e9}, "replayed.ms must be in [0, 86400000], got 1000000000.0"),
        (RunStarted, {"settings": {"threshold": "x"}}, "settings.threshold must be a number, got 'x'"),
        (RunStarted, {"settings": {"threshold": None}}, "settings.threshold must be a number, got None"),
        (RunStarted, {"settings": {"threshold": 10**400}}, "settings.threshold must be in [0, 1], got 1000"),
        (RunStarted, {"settings": {"threshold": float("nan")}}, "settings.threshold must be in [0, 1], got nan"),
        (BlockOpened, {"slots": 10**9}, "slots must be in [1, 1024], got 1000000000"),
        (BlockOpened, {"slots": -5}, "slots must be in [1, 1024], got -5"),
    ],
)
def test_what_cannot_be_drawn_is_named(kind, fields, says):
    events = run(DenoiseSettings())
    at = events.index(of(kind, events)[0])
    with pytest.raises(ValueError) as error:
        take([*events[:at], replace(events[at], **fields)])
    assert str(error.value).startswith(says) and "\n" not in str(error.value)
