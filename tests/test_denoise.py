"""Denoise mode against a model whose logits are written down."""

import pytest
import torch
from scripted import (
    BYTE,
    CLOSE_THINK,
    END,
    FILLER,
    MASK,
    OTHER_END,
    THINK,
    VOCAB,
    Clock,
    ScriptedModel,
    engine,
    ids,
    of,
    prompt_tokens,
    rows,
)

from clover_viz.events import (
    BlockOpened,
    Denoised,
    LayerExperts,
    PassCounts,
    Prefilled,
    Replayed,
    RunFinished,
    Slot,
    Text,
)
from clover_viz.settings import DenoiseSettings

A, B, C, D = (BYTE + ord(c) for c in "abcd")
EXPERTS = (LayerExperts(0, 9, 5, 0.5), LayerExperts(1, 8, 4, 0.25))


def run(model, settings=DenoiseSettings(), prompt="hi", **options):
    return list(engine(model).generate(prompt, settings, **options))


def p9(value):
    """The probability as an event shows it."""
    return pytest.approx(value, rel=1e-4)


def sure(*lows):
    """High confidence everywhere but in the given slots, which are sure once they are alone."""
    return lambda slot, known: 0.6 if slot in lows and known < 4 - len(lows) else 0.99


def test_the_whole_sequence_of_a_run():
    model = ScriptedModel([A, B, C, D, A, END], confidence=sure(2), block_size=4)
    events = run(model)

    def slot(i, state, token, p):
        return Slot(i, state, token, {END: "<end>", FILLER: "~"}.get(token, chr(max(token - BYTE, 0))), p9(p))

    prompt = len(model.calls[0][1])
    assert events[1:] == [
        Prefilled(prompt, 0.0),
        BlockOpened(0, prompt, 4),
        Denoised(0, 1, (0, 1, 3), False,
                 (slot(0, "committed", A, 0.99), slot(1, "committed", B, 0.99), slot(2, "masked", C, 0.6),
                  slot(3, "committed", D, 0.99)), EXPERTS, 0.0),
        Text("ab"),
        Denoised(0, 2, (2,), False,
                 (slot(0, "committed", A, 0.99), slot(1, "committed", B, 0.99), slot(2, "committed", C, 0.99),
                  slot(3, "committed", D, 0.99)), EXPERTS, 0.0),
        Text("cd"),
        Replayed(0, 4, 0.0),
        BlockOpened(1, prompt + 4, 4),
        Denoised(1, 1, (0, 1, 3), False,
                 (slot(0, "committed", A, 0.99), slot(1, "committed", END, 0.99), slot(2, "masked", FILLER, 0.6),
                  slot(3, "committed", FILLER, 0.99)), EXPERTS, 0.0),
        Text("a"),
        RunFinished("end", "abcda", 5, PassCounts(prefill=1, preview=3, replay=1), 5 / 4, 5 / 3, 0.0, 0.0),
    ]  # fmt: skip
    started = events[0]
    assert (started.schema, started.mode, started.model, started.device) == (1, "denoise", "scripted", "cpu")
    assert started.prompt_tokens == prompt
    assert started.settings == {
        "threshold": 0.95, "block_size": 4, "coreset_top_p": 0.9, "temperature": 0.0, "repetition_penalty": 1.0,
        "presence_penalty": 0.0, "frequency_penalty": 0.0, "stop_bias": 0.0, "think_close_bias": 0.0,
        "allow_untrained_block": False, "max_new_tokens": 256, "stop": (), "seed": 0,
    }  # fmt: skip


def test_the_time_of_a_pass_leaves_out_what_holds_it(monkeypatch):
    model = ScriptedModel([A, B, C, D, A, END], confidence=sure(2), block_size=4)
    events = run(model, gate=Clock(model, monkeypatch).gate)
    kinds = [Prefilled, Denoised, Denoised, Replayed, Denoised]
    assert [(type(x), x.ms) for x in events if hasattr(x, "ms")] == [(kind, 250.0) for kind in kinds]


def test_masked_slots_are_fed_as_masks_and_committed_ones_as_themselves():
    model = ScriptedModel([A, B, C, D], confidence=sure(2), block_size=4)
    run(model, max_new_tokens=4)
    assert [tokens for kind, tokens in model.calls if kind == "preview"] == [[MASK] * 4, [A, B, MASK, D]]


def test_the_fallback_commits_exactly_one_slot_a_step():
    confidence = lambda slot, known: (0.2, 0.5, 0.5, 0.3)[slot]  # noqa: E731
    events = run(ScriptedModel([A, B, C, D], confidence, block_size=4), max_new_tokens=4)
    assert [(x.committed, x.forced) for x in of(Denoised, events)] == [
        ((1,), True), ((2,), True), ((3,), True), ((0,), True),
    ]  # fmt: skip
    assert [x.delta for x in of(Text, events)] == ["abcd"]


@pytest.mark.parametrize("threshold, forced", [(0.5, True), (0.4999, False)])
def test_a_probability_exactly_at_the_threshold_is_not_above_it(threshold, forced):
    half = torch.full((VOCAB,), float("-inf"))
    half[[B, D]] = 0.0
    model = ScriptedModel([], preview_logits=lambda *_: half.repeat(4, 1), block_size=4)
    first = of(Denoised, run(model, DenoiseSettings(threshold=threshold), max_new_tokens=4))[0]
    assert [slot.confidence for slot in first.slots] == [0.5] * 4
    assert first.slots[0].token_id == B  # the lowest id of two equals
    assert (first.committed, first.forced) == (((0,), True) if forced else ((0, 1, 2, 3), False))


def test_the_softmax_is_fp32_even_for_logits_in_bf16():
    logits = torch.full((4, VOCAB), float("-inf"), dtype=torch.bfloat16)
    logits[:, A], logits[:, B] = 3.25, 0.0
    bar = 0.962
    in_bf16 = logits[0].softmax(-1)[A].item()
    assert in_bf16 < bar < torch.tensor(3.25).sigmoid().item()  # bf16 would decide the other way
    model = ScriptedModel([], preview_logits=lambda *_: logits, block_size=4)
    first = of(Denoised, run(model, DenoiseSettings(threshold=bar), max_new_tokens=4))[0]
    assert first.committed == (0, 1, 2, 3) and not first.forced


@pytest.mark.parametrize("threshold, steps", [(0, 1), (0.98, 1), (0.995, 4), (1, 4)])
def test_threshold_edges(threshold, steps):
    events = run(ScriptedModel([A, B, C, D], block_size=4), DenoiseSettings(threshold=threshold), max_new_tokens=4)
    assert len(of(Denoised, events)) == steps
    assert events[-1].text == "abcd"


def test_threshold_one_takes_at_most_a_step_a_slot_even_when_all_is_certain():
    model = ScriptedModel([A, B, C, D], lambda *_: 1.0, block_size=4)
    steps = of(Denoised, run(model, DenoiseSettings(threshold=1), max_new_tokens=4))
    assert [x.committed for x in steps] == [(i,) for i in range(4)] and all(x.forced for x in steps)


def test_committed_slots_never_change():
    """The model changes its mind at every step, also about what is fixed."""

    def restless(tokens, masked, start):
        known = masked.count(False)
        return rows(*((BYTE + known * 8 + i, 0.5 + 0.01 * i) for i in range(8)))

    events = of(Denoised, run(ScriptedModel([], preview_logits=restless, block_size=8), max_new_tokens=8))
    assert len(events) == 8
    fixed = {}
    for event in events:
        for slot in event.slots:
            if slot.state == "committed":
                assert fixed.setdefault(slot.slot, slot) == slot
        assert [s.slot for s in event.slots if s.state == "committed"] == sorted(fixed)


@pytest.mark.parametrize("block_size", [2, 4, 32])
def test_never_more_steps_than_slots_and_never_a_mask_left(block_size):
    model = ScriptedModel(ids("x" * 50), lambda *_: 0.01, block_size=32)
    events = run(model, DenoiseSettings(block_size=block_size), max_new_tokens=50)
    by_block = {}
    for event in of(Denoised, events):
        by_block.setdefault(event.block, []).append(event)
    for steps in by_block.values():
        assert [x.step for x in steps] == list(range(1, block_size + 1))
        assert all(slot.state == "committed" for slot in steps[-1].slots)
    assert MASK not in [s.token_id for x in of(Denoised, events) for s in x.slots]


@pytest.mark.parametrize("temperature", [0, 1.5])
def test_a_mask_that_the_model_likes_best_is_never_chosen(temperature):
    def fond_of_masks(tokens, masked, start):
        logits = rows(*((A, 0.99) for _ in tokens))
        logits[:, MASK] = 50.0
        return logits

    model = ScriptedModel([], preview_logits=fond_of_masks, block_size=4)
    events = run(model, DenoiseSettings(temperature=temperature), max_new_tokens=4, top=True)
    for event in of(Denoised, events):
        assert MASK not in [s.token_id for s in event.slots]
        assert MASK not in [t.token_id for s in event.slots for t in s.top]
    if temperature == 0:
        assert events[-1].text == "aaaa" and of(Denoised, events)[0].slots[0].confidence == p9(0.99)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("temperature", [0, 1])
def test_logits_that_are_no_numbers_stop_the_run_with_a_clear_error(bad, temperature):
    def broken(tokens, masked, start):
        logits = rows(*((A, 0.99) for _ in tokens))
        logits[2, B] = bad
        return logits

    eng = engine(ScriptedModel([], preview_logits=broken, block_size=4))
    with pytest.raises(FloatingPointError, match="the model's logits are not finite at position"):
        list(eng.generate("hi", DenoiseSettings(temperature=temperature)))
    eng.model.preview_logits = None
    assert eng.complete("hi", max_new_tokens=4).reason == "length"  # the next run works


def test_every_logit_impossible_is_an_error_not_a_loop():
    model = ScriptedModel([], preview_logits=lambda t, *_: torch.full((len(t), VOCAB), float("-inf")), block_size=4)
    with pytest.raises(FloatingPointError):
        run(model)


# Ends


@pytest.mark.parametrize("end_id", [END, OTHER_END])
@pytest.mark.parametrize("at", [0, 1, 3, 4, 5, 7])
def test_an_end_token_anywhere_ends_the_text_before_it(at, end_id):
    answer = ids("abcdefgh"[:at]) + [end_id] + ids("never shown")
    model = ScriptedModel(answer, block_size=4, eos_token_id=[END, OTHER_END])
    events = run(model)
    finished = events[-1]
    assert (finished.reason, finished.text, finished.tokens) == ("end", "abcdefgh"[:at], at)
    assert "".join(x.delta for x in of(Text, events)) == finished.text
    written = model.caches[0].tokens[len(model.calls[0][1]) :]
    assert written == ids("abcdefgh")[: at // 4 * 4]  # whole blocks before the last, nothing after the end


def test_the_generation_configs_end_ids_win_over_the_configs():
    model = ScriptedModel(ids("ab") + [END, OTHER_END], block_size=4)
    finished = list(engine(model, {"eos_token_id": OTHER_END}).generate("hi"))[-1]
    assert (finished.reason, finished.tokens) == ("end", 3)


def test_without_end_ids_a_text_runs_to_its_limit():
    model = ScriptedModel([END] * 9, block_size=4, eos_token_id=None)
    assert run(model, max_new_tokens=9)[-1].reason == "length"


def test_an_end_token_waits_for_the_masks_on_its_left():
    """Slots 2 and 3 are sure at once; the run goes on until 0 and 1 are filled, then leaves the rest."""
    confidence = lambda slot, known: 0.99 if slot in (2, 3) else 0.9 - slot / 10  # noqa: E731
    model = ScriptedModel([A, B, C, END] + [D] * 4, confidence, block_size=8)
    events = run(model)
    assert [x.committed for x in of(Denoised, events)] == [(2, 3), (0,), (1,)]
    assert [x.delta for x in of(Text, events)] == ["a", "bc"]
    assert (events[-1].reason, events[-1].text) == ("end", "abc")
    assert events[-1].passes == PassCounts(prefill=1, preview=3)


def test_stopping_early_gives_the_text_of_a_full_block():
    confidence = lambda slot, known: 0.99 if slot < 3 else 0.5  # noqa: E731
    answer = [A, B, END] + [D] * 5
    early = run(ScriptedModel(answer, confidence, block_size=8))
    full = run(ScriptedModel(answer, lambda *_: 0.99, block_size=8))
    assert early[-1].text == full[-1].text == "ab" and len(of(Denoised, early)) == 1


def test_a_second_end_token_further_right_changes_nothing():
    confidence = lambda slot, known: 0.99 if slot == 3 else 0.9 - slot / 10  # noqa: E731
    assert run(ScriptedModel([A, END, B, END], confidence, block_size=4))[-1].text == "a"


# Lengths


@pytest.mark.parametrize("limit", [1, 2, 31, 32, 33, 63, 64, 65])
def test_whole_blocks_are_denoised_then_trimmed_to_the_limit(limit):
    text = "abcdefghijklmnopqrstuvwxyz" * 4
    model = ScriptedModel(ids(text))
    events = run(model, max_new_tokens=limit)
    finished = events[-1]
    assert (finished.reason, finished.text, finished.tokens) == ("length", text[:limit], limit)
    blocks = -(-limit // 32)
    assert [x.slots for x in of(BlockOpened, events)] == [32] * blocks
    assert finished.passes == PassCounts(prefill=1, preview=blocks, replay=blocks - 1)
    assert len(of(Replayed, events)) == blocks - 1  # not after the last block
    assert finished.tokens_per_pass == limit / (2 * blocks - 1)
    assert finished.tokens_per_preview == limit / blocks
    assert all(slot.state == "committed" for slot in of(Denoised, events)[-1].slots)


@pytest.mark.parametrize("end_at, limit, reason, tokens", [(3, 3, "length", 3), (3, 4, "end", 3), (2, 1, "length", 1)])
def test_an_end_token_past_the_limit_is_trimmed_away(end_at, limit, reason, tokens):
    model = ScriptedModel(ids("abc"[:end_at]) + [END], block_size=8)
    finished = run(model, max_new_tokens=limit)[-1]
    assert (finished.reason, finished.tokens) == (reason, tokens)


@pytest.mark.parametrize("room, blocks", [(4, 1), (5, 1), (7, 1), (8, 2), (11, 2)])
def test_fewer_positions_than_a_block_end_the_run(room, blocks):
    model = ScriptedModel(ids("x" * 50), block_size=4)
    prompt = prompt_tokens("hi")
    model.config.max_position_embeddings = prompt + room
    finished = run(model)[-1]
    assert (finished.reason, finished.tokens, finished.passes.replay) == ("length", 4 * blocks, blocks - 1)


# Text


@pytest.mark.parametrize("text", ["né 漢字 👩‍👩‍👧‍👦!", "\n\n    indent\t<script>|", " leading", "e\u0301"])
@pytest.mark.parametrize("order", ["left", "right", "ends"])
def test_characters_across_slots_and_blocks_arrive_whole_and_in_order(text, order):
    def confidence(slot, known):
        return {"left": 0.9 - slot / 10, "right": 0.2 + slot / 10, "ends": 0.99 if slot in (0, 3) else 0.5}[order]

    events = run(ScriptedModel(ids(text) + [END], confidence, block_size=4))
    deltas = [x.delta for x in of(Text, events)]
    assert "".join(deltas) == events[-1].text == text
    for delta in deltas:
        delta.encode()  # valid Unicode, and no half character before the end
        assert "\ufffd" not in delta


def test_text_is_shown_as_soon_as_it_touches_the_text_before_it():
    order = [2, 0, 3, 1]
    confidence = lambda slot, known: 0.9 if slot == order[known] else 0.1  # noqa: E731
    events = run(ScriptedModel([A, B, C, D], confidence, block_size=4), max_new_tokens=4)
    shown, texts = "", []
    for event in events:
        shown += getattr(event, "delta", "")
        if isinstance(event, Denoised):
            texts.append(shown)
    assert texts == ["", "", "a", "a"] and shown == "abcd"


def test_a_character_cut_by_the_limit_is_replaced_once():
    finished = run(ScriptedModel(ids("ab漢"), block_size=4), max_new_tokens=4)[-1]
    assert (finished.text, finished.tokens) == ("ab\ufffd", 4)


# Temperature and adjustments


def test_temperature_draws_from_the_softened_distribution_and_shows_the_plain_probability():
    pair = torch.full((VOCAB,), float("-inf"))
    pair[A], pair[B] = 2.0, 0.0
    model = ScriptedModel([], preview_logits=lambda t, *_: pair.repeat(len(t), 1))
    settings = DenoiseSettings(temperature=4, threshold=0.0)
    slots = [s for x in of(Denoised, run(model, settings, max_new_tokens=2048 - 64, seed=3)) for s in x.slots]
    share = sum(s.token_id == A for s in slots) / len(slots)
    assert share == pytest.approx(torch.tensor(0.5).sigmoid().item(), abs=0.04)
    p = torch.tensor(2.0).sigmoid().item()
    assert {round(s.confidence, 5) for s in slots} == {round(p, 5), round(1 - p, 5)}


def test_one_seed_one_text_and_no_global_generator():
    model = ScriptedModel([], preview_logits=lambda t, *_: torch.zeros(len(t), VOCAB), block_size=8)
    settings = DenoiseSettings(temperature=1)
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = run(model, settings, max_new_tokens=40, seed=5)
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(2)
    assert run(model, settings, max_new_tokens=40, seed=5) == first
    assert run(model, settings, max_new_tokens=40, seed=6) != first


def test_the_draw_of_a_slot_does_not_depend_on_what_else_was_drawn():
    """At step 1 the same position draws the same token whether its block is 4 or 8 wide."""
    model = ScriptedModel([], preview_logits=lambda t, *_: torch.zeros(len(t), VOCAB), block_size=8)
    narrow, wide = (
        of(Denoised, run(model, DenoiseSettings(temperature=1, block_size=size), max_new_tokens=4))[0]
        for size in (4, 8)
    )
    assert [s.token_id for s in narrow.slots] == [s.token_id for s in wide.slots[:4]]


def test_a_penalty_counts_committed_tokens_of_the_response_only():
    """Slots prefer 'a' over 'b'; once an 'a' is committed, presence turns the preference."""
    logits = torch.full((VOCAB,), float("-inf"))
    logits[A], logits[B] = 1.0, 0.0
    model = ScriptedModel([], preview_logits=lambda t, *_: logits.repeat(len(t), 1), block_size=2)
    settings = DenoiseSettings(presence_penalty=1.5, threshold=1)
    events = run(model, settings, prompt="aaaa", max_new_tokens=2)
    assert events[-1].text == "ab"
    first, second = of(Denoised, events)
    assert first.slots[0].confidence == p9(torch.tensor(1.0).sigmoid().item())  # the prompt's are not counted
    assert second.slots[1].confidence == p9(torch.tensor(0.5).sigmoid().item())  # after the penalty, as it decided


def test_a_growing_stop_bias_ends_a_text_that_would_not_end():
    logits = torch.full((VOCAB,), float("-inf"))
    logits[A], logits[END] = 6.0, 0.0
    model = ScriptedModel([], preview_logits=lambda t, *_: logits.repeat(len(t), 1), block_size=4)
    events = run(model, DenoiseSettings(stop_bias=100), max_new_tokens=500)
    assert events[-1].reason == "end" and 60 <= events[-1].tokens <= 100


def test_the_checkpoints_penalties_hold_where_none_is_given():
    model = ScriptedModel([A, END], block_size=4)
    started = next(engine(model, {"presence_penalty": 1.5, "stop_bias": 2}).generate("hi"))
    assert (started.settings["presence_penalty"], started.settings["stop_bias"]) == (1.5, 2.0)


def test_think_close_bias_closes_a_section():
    logits = torch.full((VOCAB,), float("-inf"))
    logits[A], logits[CLOSE_THINK] = 3.0, 0.0
    model = ScriptedModel([], preview_logits=lambda t, *_: logits.repeat(len(t), 1), block_size=4)
    settings = DenoiseSettings(think_close_bias=100)
    inside = list(engine(model).generate([THINK], settings, max_new_tokens=80, raw=True))
    assert CLOSE_THINK in [s.token_id for x in of(Denoised, inside) for s in x.slots]
    outside = list(engine(model).generate([A], settings, max_new_tokens=80, raw=True))
    assert CLOSE_THINK not in [s.token_id for x in of(Denoised, outside) for s in x.slots]


# What an event carries


def test_the_three_likeliest_tokens_on_request():
    model = ScriptedModel([A, END], block_size=2)
    plain = of(Denoised, run(model))[0]
    assert all(slot.top is None for slot in plain.slots)
    slot = of(Denoised, run(model, top=True))[0].slots[0]
    assert len(slot.top) == 3 and slot.top[0].token_id == A and slot.top[0].p == slot.confidence


@pytest.mark.parametrize("given, in_force", [({}, 0.9), ({"coreset_top_p": None}, None), ({"coreset_top_p": 0.5}, 0.5)])
def test_the_coreset_in_force_reaches_every_preview_and_the_event(given, in_force):
    model = ScriptedModel(ids("abcdef") + [END], block_size=4)
    events = run(model, DenoiseSettings(**given))
    assert set(model.coresets) == {in_force} and len(model.coresets) == 2
    assert events[0].settings["coreset_top_p"] == in_force


def test_a_checkpoint_without_coreset_runs_without():
    model = ScriptedModel([A, END], block_size=4, moe_block_coreset_enabled=False)
    assert run(model)[0].settings["coreset_top_p"] is None and model.coresets == [None]


def test_a_smaller_block_than_the_models_own():
    model = ScriptedModel(ids("abcdefgh") + [END])
    events = run(model, DenoiseSettings(block_size=4))
    assert [x.slots for x in of(BlockOpened, events)] == [4, 4, 4] and events[-1].text == "abcdefgh"


def test_a_larger_block_on_request_only():
    model = ScriptedModel(ids("abcdefgh") + [END], block_size=4)
    events = run(model, DenoiseSettings(block_size=16, allow_untrained_block=True))
    assert [x.slots for x in of(BlockOpened, events)] == [16] and events[-1].text == "abcdefgh"


def test_nothing_of_a_tensor_is_left_in_an_event():
    for event in of(Denoised, run(ScriptedModel([A, END], block_size=4), top=True)):
        event.to_json()
        assert type(event.slots[0].confidence) is float and type(event.slots[0].token_id) is int
        assert type(event.experts[0].touched) is int
