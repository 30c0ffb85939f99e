import math
import subprocess
import sys

import pytest
import torch

from clover_viz.decoding.rules import (
    Adjustments,
    accept,
    accept_by_bar,
    acceptance_bar,
    adjust,
    commit,
    draw,
    fp32,
    mix,
    open_thinking,
    uniform,
)

T, F = True, False
BAR = fp32(0.95)
ABOVE = torch.nextafter(torch.tensor(BAR), torch.tensor(2.0)).item()


@pytest.mark.parametrize(
    "confidences, masked, threshold, slots, forced",
    [
        ([0.99, 0.5, 0.97], [T, T, T], 0.95, (0, 2), F),
        ([0.99, 0.5, 0.97], [F, T, T], 0.95, (2,), F),  # a committed slot is never committed again
        ([0.99, 0.5, 0.4], [F, T, T], 0.95, (1,), T),  # ... nor does it hide that nothing else clears the bar
        ([BAR, ABOVE], [T, T], 0.95, (1,), F),  # strictly above
        ([BAR, BAR], [T, T], 0.95, (0,), T),  # exactly at the bar is not above it
        ([0.5, 0.5], [T, T], 0.5, (0,), T),
        ([0.1, 0.3, 0.2], [T, T, T], 0.95, (1,), T),  # the most confident, not the left-most
        ([0.1, 0.3, 0.3], [T, T, T], 0.95, (1,), T),  # ties: the lowest slot
        ([0.3, 0.3, 0.1], [F, T, T], 0.95, (1,), T),
        ([1e-9, 0.2], [T, T], 0.0, (0, 1), F),  # threshold 0: everything possible
        ([1.0, 1.0], [T, T], 1.0, (0,), T),  # threshold 1: nothing is above it, one slot a step
        ([0.9], [T], 0.95, (0,), T),
        ([0.99], [F], 0.95, (), F),
    ],
)
def test_commit(confidences, masked, threshold, slots, forced):
    assert commit(confidences, masked, threshold) == (slots, forced)


@pytest.mark.parametrize("threshold", [0.1, 0.7, 0.95, 0.99])
def test_the_bar_is_compared_in_fp32(threshold):
    """fp32(0.1) is above 0.1: compared in double precision, a slot exactly at the bar would be committed."""
    assert commit([fp32(threshold)], [T], threshold) == ((0,), T)


@pytest.mark.parametrize(
    "drafts, choices, accepted",
    [
        ([1, 2, 3], [1, 2, 3], 3),
        ([1, 2, 3], [1, 2, 4], 2),
        ([9, 2, 3], [1, 2, 3], 0),
        ([1, 9, 3], [1, 2, 3], 1),  # what follows a rejection is lost, right or not
        ([], [], 0),
    ],
)
def test_accept_exact(drafts, choices, accepted):
    assert accept(drafts, choices) == accepted


@pytest.mark.parametrize(
    "entropy, ratio, delta, bar",
    [
        (0.0, 0.9, 0.6, 0.6),
        (1.0, 0.9, 0.6, 0.6 / math.e),
        (0.0, 0.5, 0.6, 0.5),  # the ratio binds
        (0.2, 0.9, 2.0, 0.9),
        (50.0, 0.9, 0.6, 0.6 * math.exp(-50)),
    ],
)
def test_acceptance_bar(entropy, ratio, delta, bar):
    assert acceptance_bar(entropy, ratio, delta) == fp32(bar)


@pytest.mark.parametrize(
    "probabilities, bars, accepted",
    [
        ([0.7, 0.7], [0.6, 0.6], 2),
        ([0.7, 0.5], [0.6, 0.6], 1),
        ([0.5, 0.7], [0.6, 0.6], 0),
        ([fp32(0.6)], [acceptance_bar(0, 0.9, 0.6)], 1),  # at the bar is enough
    ],
)
def test_accept_by_bar(probabilities, bars, accepted):
    assert accept_by_bar(probabilities, bars) == accepted


def test_uniform_is_splitmix64_and_pinned():
    assert mix(0x9E3779B97F4A7C15) == 0xE220A8397B1DCDAF  # the published first output for seed 0
    values = [uniform(0, 0, 0), uniform(0, 0, 1), uniform(0, 1, 0), uniform(1, 0, 0), uniform(2**63 - 1, 131071, 32)]
    assert len(set(values)) == 5 and all(0 <= u < 1 for u in values)
    assert uniform(7, 40, 3) == uniform(7, 40, 3)


def test_uniform_is_uniform():
    values = sorted(uniform(5, position, step) for position in range(200) for step in range(50))
    gap = max(abs(v - (i + 0.5) / len(values)) for i, v in enumerate(values))
    assert gap < 1.63 / math.sqrt(len(values))  # Kolmogorov-Smirnov at 1 %


def slow_draw(logits, temperature, u):
    """The definition: walk the ids upwards until their probabilities pass u."""
    top = max(logits)
    weights = [math.exp((x - top) / temperature) for x in logits]
    target, total = u * sum(weights), 0.0
    for token, weight in enumerate(weights):
        total += weight
        if total > target:
            return token


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_draw_is_the_inverse_cdf(temperature):
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(64, 50, generator=generator) * 3
    logits[:, 7] = float("-inf")
    uniforms = [uniform(3, position, 1) for position in range(64)]
    drawn = draw(logits, temperature, uniforms).tolist()
    assert drawn == [slow_draw(r, temperature, u) for r, u in zip(logits.tolist(), uniforms)]
    assert 7 not in drawn


@pytest.mark.parametrize("u, token", [(0.0, 1), (0.49, 1), (0.5, 3), (1 - 2**-40, 3)])
def test_draw_never_takes_an_impossible_token(u, token):
    inf = float("inf")
    assert draw(torch.tensor([[-inf, 0.0, -inf, 0.0, -inf]]), 1.0, [u]).item() == token


def test_draw_at_a_tiny_temperature_is_argmax():
    logits = torch.tensor([[1.0, 3.0, 2.9]])
    assert all(draw(logits, 1e-300, [u]).item() == 1 for u in (0.0, 0.5, 0.999))


def test_draw_follows_the_distribution():
    logits = torch.tensor([[0.5, 0.3, 0.2]]).log().repeat(20000, 1)
    counts = draw(logits, 1.0, [uniform(0, i, 0) for i in range(20000)]).bincount(minlength=3) / 20000
    assert torch.allclose(counts, torch.tensor([0.5, 0.3, 0.2]), atol=0.015)


def test_draws_ignore_and_leave_the_global_generator():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    first = draw(torch.zeros(1, 9), 1.0, [uniform(4, 2, 1)])
    torch.manual_seed(99)
    assert torch.equal(first, draw(torch.zeros(1, 9), 1.0, [uniform(4, 2, 1)]))
    torch.manual_seed(0)
    assert torch.equal(before, torch.get_rng_state())


def test_penalties_count_the_response_only():
    logits = torch.tensor([[2.0, -2.0, 4.0, 1.0]])
    by = Adjustments(repetition=2.0, presence=0.5, frequency=0.25)
    out = adjust(logits, by, prompt=[3, 3, 3], response=[0, 1, 1])
    assert out.tolist() == [[2 / 2 - 0.5 - 0.25, -2 * 2 - 0.5 - 2 * 0.25, 4.0, 1.0]]


def test_neutral_adjustments_change_nothing():
    logits = torch.randn(3, 5)
    assert adjust(logits, Adjustments(), [1], [2, 2]) is logits


def test_a_preview_counts_alike_in_every_row_and_a_verify_row_by_row():
    by = Adjustments(frequency=1.0)
    preview = adjust(torch.zeros(3, 4), by, [], [1])
    assert preview.tolist() == [[0, -1, 0, 0]] * 3
    verify = adjust(torch.zeros(3, 4), by, [], [1], following=[2, 1])
    assert verify.tolist() == [[0, -1, 0, 0], [0, -1, -1, 0], [0, -2, -1, 0]]


@pytest.mark.parametrize("response, drafts", [([3, 1], [1, 2, 1]), ([], [0, 0]), ([2], [2])])
def test_a_verify_row_equals_the_decode_of_that_text(response, drafts):
    """What acts on one side acts the same on the other: row i is the step after i accepted drafts."""
    by = Adjustments(1.3, 0.4, 0.2, stop_bias=50, think_close_bias=70, end_ids=(4,), think_open=3, think_close=2)
    logits = torch.randn(len(drafts) + 1, 5, generator=torch.Generator().manual_seed(0))
    together = adjust(logits, by, [3], response, following=drafts)
    for i in range(len(drafts) + 1):
        alone = adjust(logits[i : i + 1], by, [3], response + drafts[:i])
        assert torch.allclose(together[i], alone[0], atol=1e-6)


def test_stop_bias_grows_with_the_response_and_reaches_every_end_token():
    by = Adjustments(stop_bias=10, end_ids=(1, 3))
    assert adjust(torch.zeros(1, 4), by, [0] * 500, [0] * 100).tolist() == [[0, 1, 0, 1]]
    assert adjust(torch.zeros(2, 4), by, [], [0] * 200)[:, 1].tolist() == [2, 2]
    assert adjust(torch.zeros(1, 4), by, [], []).tolist() == [[0, 0, 0, 0]]


@pytest.mark.parametrize(
    "prompt, response, inside",
    [
        ([8], [0, 0], 2),  # opened by the prompt's template
        ([], [8, 0, 0], 2),
        ([8], [0, 9, 0], 0),  # closed
        ([8, 9], [0], 0),
        ([8], [0, 9, 8], 0),  # reopened just now
        ([8], [0, 9, 8, 0], 1),
        ([0], [0], 0),
        ([8], [], 0),
    ],
)
def test_open_thinking(prompt, response, inside):
    assert open_thinking(Adjustments(think_open=8, think_close=9), prompt, response) == inside


def test_think_close_bias_acts_inside_a_section_only():
    by = Adjustments(think_close_bias=100, think_open=2, think_close=3)
    assert adjust(torch.zeros(1, 4), by, [2], [0] * 20).tolist() == [[0, 0, 0, 2]]
    assert adjust(torch.zeros(1, 4), by, [2], [0, 3] * 10).tolist() == [[0, 0, 0, 0]]


def test_the_mask_stays_impossible_under_every_adjustment():
    logits = torch.tensor([[float("-inf"), 1.0]])
    assert adjust(logits, Adjustments(2.0, -2.0, -2.0), [], [1, 1])[0, 0] == float("-inf")


def test_draws_are_equal_in_another_process_with_other_threads():
    code = (
        "import torch; torch.set_num_threads(2);"
        "from clover_viz.decoding.rules import draw, uniform;"
        "x = torch.randn(32, 5000, generator=torch.Generator().manual_seed(0));"
        "print(draw(x, 0.8, [uniform(1, p, 2) for p in range(32)]).tolist())"
    )
    x = torch.randn(32, 5000, generator=torch.Generator().manual_seed(0))
    here = draw(x, 0.8, [uniform(1, p, 2) for p in range(32)]).tolist()
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert str(here) == there.strip()
