"""Figures of self-speculative runs: what each round kept, and how far down the drafts are accepted."""

import pytest
from scripted import END, FILLER, ScriptedModel, engine, ids, rows

from clover_viz.settings import DenoiseSettings, SpeculativeSettings
from clover_viz.trace.stats import run_stats

TEXT = "abcdefghijklmnopqrstuvwxyz"


def run(right, answer=TEXT, size=4, **options):
    """A run whose drafts are right at the places of the response that `right` tells."""
    answer = [*ids(answer), END]

    def preview(tokens, masked, start):
        places = range(start, start + len(tokens))
        return rows(*((answer[at] if at < len(answer) and right(at) else FILLER, 0.5) for at in places))

    model = ScriptedModel(answer, preview_logits=preview, block_size=size)
    return list(engine(model).generate("hi", SpeculativeSettings(), **options))


def test_rounds_by_hand():
    """Drafts are wrong at every fifth place: rounds of 'bcd' + 'e'; 'f' is refused; 'ghi' + 'j'; 'k' is refused ..."""
    stats = run_stats(run(lambda at: at % 5, max_new_tokens=15))
    assert stats.accepted == (3, 0, 3, 0, 3) and stats.kept == (4, 1, 4, 1, 4)
    assert stats.acceptance == (3 / 5, 3 / 5, 3 / 5)
    assert stats.tokens_per_round == 14 / 5 and stats.tokens == 15


@pytest.mark.parametrize("limit, kept", [(2, (1,)), (4, (3,)), (5, (4,)), (6, (4, 1)), (9, (4, 4))])
def test_what_the_limit_cuts_off_was_not_kept(limit, kept):
    stats = run_stats(run(lambda at: True, max_new_tokens=limit))
    assert stats.kept == kept and sum(kept) == stats.tokens - 1
    assert stats.accepted == (3,) * len(kept)


@pytest.mark.parametrize("answer, kept", [("ab", (1,)), ("abcd", (3,)), ("abcde", (4, 0)), ("abcdefg", (4, 2))])
def test_nothing_behind_the_end_was_kept(answer, kept):
    stats = run_stats(run(lambda at: True, answer))
    assert stats.kept == kept and sum(kept) == stats.tokens - 1


def test_acceptance_falls_with_the_place_of_the_draft():
    stats = run_stats(run(lambda at: at * 7919 % 10 < 7, size=8))
    rounds = len(stats.accepted)
    assert stats.acceptance == tuple(sum(r >= place for r in stats.accepted) / rounds for place in range(1, 8))
    assert list(stats.acceptance) == sorted(stats.acceptance, reverse=True) and 0 < stats.acceptance[1] < 1


def test_more_draft_steps_are_still_one_round():
    answer = [*ids(TEXT), END]
    model = ScriptedModel(answer, confidence=lambda slot, known: 0.5, block_size=4)
    stats = run_stats(engine(model).generate("hi", SpeculativeSettings(draft_steps=3), max_new_tokens=9))
    assert stats.kept == (4, 4) and stats.passes.preview == 6 and stats.acceptance == (1.0, 1.0, 1.0)


def test_other_modes_have_no_rounds():
    events = engine(ScriptedModel([*ids("abc"), END], block_size=4)).generate("hi", DenoiseSettings())
    stats = run_stats(events)
    assert (stats.accepted, stats.kept, stats.acceptance, stats.tokens_per_round) == ((), (), (), None)


def test_an_unfinished_run_counts_what_is_there():
    events = run(lambda at: True)
    assert run_stats(events[:5]).kept == (4,)
