from dataclasses import FrozenInstanceError

import pytest

from clover_viz.errors import UserError
from clover_viz.settings import (
    CHECKPOINT,
    CPU_SPECULATIVE_BLOCK,
    FALLBACKS,
    MODES,
    AutoregressiveSettings,
    DenoiseSettings,
    Limits,
    SpeculativeSettings,
    check_block_size,
    settings_for,
    usual,
)

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    "kind, name, value, wanted",
    [
        *((DenoiseSettings, "threshold", v, "[0, 1]") for v in (3, -0.1, NAN, INF, "0.5", None, True, [0.5])),
        *((DenoiseSettings, "block_size", v, "at least 2") for v in (1, 0, -8, 8.0, "8", None, True)),
        *((DenoiseSettings, "coreset_top_p", v, "None or in (0, 1]") for v in (0, 1.1, NAN, "all")),
        *((AutoregressiveSettings, "temperature", v, "[0, 10]") for v in (-1, 11, NAN, None, "hot")),
        (DenoiseSettings, "repetition_penalty", 0, "(0, 10]"),
        (DenoiseSettings, "presence_penalty", 2.5, "[-2, 2]"),
        (DenoiseSettings, "frequency_penalty", -2.5, "[-2, 2]"),
        (DenoiseSettings, "stop_bias", -1, "[0, 1000]"),
        (DenoiseSettings, "think_close_bias", 1001, "[0, 1000]"),
        (DenoiseSettings, "allow_untrained_block", 1, "true or false"),
        (SpeculativeSettings, "accept_rule", "maybe", "exact or threshold"),
        (SpeculativeSettings, "ratio", 1.5, "[0, 1]"),
        (SpeculativeSettings, "delta", -1, "[0, 10]"),
        (SpeculativeSettings, "draft_steps", 0, "at least 1"),
        (Limits, "max_new_tokens", 0, "at least 1"),
        (Limits, "max_new_tokens", 1.5, "at least 1"),
        (Limits, "seed", -1, "[0, 9223372036854775807]"),
        (Limits, "seed", 2**63, "[0, 9223372036854775807]"),
        (Limits, "stop", ("ok", ""), "at least one character"),
        (Limits, "stop", (3,), "at least one character"),
    ],
)
def test_a_bad_value_is_named_with_its_range(kind, name, value, wanted):
    with pytest.raises(UserError) as error:
        kind(**{name: value})
    line = str(error.value)
    assert line.startswith(name) and wanted in line and repr(value) in line and "\n" not in line


def test_the_message_of_the_style_guide():
    with pytest.raises(ValueError, match=r"^threshold must be in \[0, 1\], got 3$"):
        DenoiseSettings(threshold=3)


@pytest.mark.parametrize("threshold", [0, 0.0, 0.95, 1])
def test_edges_of_the_threshold_are_allowed(threshold):
    assert DenoiseSettings(threshold=threshold).threshold == threshold


@pytest.mark.parametrize("top_p", [None, 1e-9, 1])
def test_edges_of_the_coreset_are_allowed(top_p):
    assert DenoiseSettings(coreset_top_p=top_p).coreset_top_p == top_p


def test_omitted_is_the_checkpoints_value_and_none_is_off():
    checkpoint = {"coreset_top_p": 0.8, "threshold": 0.9, "block_size": 16, "presence_penalty": 1.5}
    assert DenoiseSettings().coreset_top_p is CHECKPOINT
    omitted = DenoiseSettings().in_force(checkpoint)
    assert (omitted.coreset_top_p, omitted.threshold, omitted.block_size, omitted.presence_penalty) == (
        0.8, 0.9, 16, 1.5,
    )  # fmt: skip
    given = DenoiseSettings(coreset_top_p=None, threshold=0.5, presence_penalty=0).in_force(checkpoint)
    assert (given.coreset_top_p, given.threshold, given.presence_penalty) == (None, 0.5, 0)


def test_a_silent_checkpoint_leaves_the_release_values_and_no_penalties():
    settings = DenoiseSettings().in_force({})
    assert {name: getattr(settings, name) for name in FALLBACKS} == FALLBACKS
    assert CHECKPOINT not in settings.as_dict().values()


@pytest.mark.parametrize(
    "mode, device, own, expected",
    [
        ("denoise", "cpu", 32, 32),
        ("speculative", "cpu", 32, CPU_SPECULATIVE_BLOCK),
        ("speculative", "cpu", 16, CPU_SPECULATIVE_BLOCK),
        ("speculative", "cpu", 8, 8),  # nothing larger than the checkpoint's
        ("speculative", "cpu", 24, 24),  # nor what does not divide it
        ("speculative", "cuda", 32, 32),
        ("autoregressive", "cpu", 32, 32),
    ],
)
def test_a_cpu_speculates_with_a_smaller_block(mode, device, own, expected):
    values = usual(mode, {"block_size": own, "threshold": 0.8}, device)
    assert values == FALLBACKS | {"block_size": expected, "threshold": 0.8}


def test_a_bad_value_in_a_checkpoint_is_named_too():
    with pytest.raises(UserError, match="stop_bias must be in"):
        DenoiseSettings().in_force({"stop_bias": -3})


@pytest.mark.parametrize("mode, name", [("denoise", "ratio"), ("autoregressive", "threshold"), ("denoise", "typo"),
                                        ("speculative", "allow_untrained_block")])
def test_a_setting_that_the_mode_lacks_is_an_error(mode, name):
    with pytest.raises(UserError, match=f"{name} is not a setting of {mode} mode"):
        settings_for(mode, {name: 0.5})
    with pytest.raises(TypeError):
        MODES[mode](**{name: 0.5})


def test_settings_for_makes_the_mode_asked_for():
    assert settings_for("denoise", {"threshold": 0.5}) == DenoiseSettings(threshold=0.5)
    assert settings_for("speculative", {"ratio": 0.5}) == SpeculativeSettings(ratio=0.5)
    with pytest.raises(UserError, match="mode must be denoise or speculative or autoregressive, got 'diffuse'"):
        settings_for("diffuse", {})


@pytest.mark.parametrize("size", [2, 4, 8, 16, 32])
@pytest.mark.parametrize("kind", [DenoiseSettings, SpeculativeSettings])
def test_divisors_of_the_trained_block_are_allowed(kind, size):
    check_block_size(kind(block_size=size), 32)


@pytest.mark.parametrize(
    "settings, trained",
    [
        (DenoiseSettings(block_size=5), 32),
        (DenoiseSettings(block_size=64), 32),
        (DenoiseSettings(block_size=5, allow_untrained_block=True), 32),
        (SpeculativeSettings(block_size=64), 32),
        (DenoiseSettings(block_size=16), 8),
    ],
)
def test_other_block_sizes_are_refused(settings, trained):
    with pytest.raises(UserError, match=rf"block_size must be one of 2, 4, .*got {settings.block_size}"):
        check_block_size(settings, trained)


def test_a_larger_block_is_allowed_on_request():
    check_block_size(DenoiseSettings(block_size=64, allow_untrained_block=True), 32)


def test_settings_are_frozen_and_one_stop_text_may_come_bare():
    with pytest.raises(FrozenInstanceError):
        DenoiseSettings().threshold = 0.5
    assert Limits(stop="END").stop == ("END",)
