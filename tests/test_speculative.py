"""Self-speculative mode against a model whose logits are written down, and against autoregression on a real one."""

import threading
from contextlib import contextmanager, nullcontext

import pytest
import torch
from model_helpers import toy_model
from scripted import (
    BYTE,
    END,
    FILLER,
    MASK,
    OTHER_END,
    VOCAB,
    ByteTokenizer,
    Clock,
    ScriptedModel,
    engine,
    ids,
    of,
    prompt_tokens,
    row,
    rows,
)

from clover_viz.engine import Engine
from clover_viz.errors import UserError
from clover_viz.events import (
    Boundary,
    Check,
    Draft,
    Drafted,
    KernelChoice,
    LayerExperts,
    LayerTouched,
    PassCounts,
    Prefilled,
    RunFinished,
    Text,
    TokenDecoded,
    Verified,
)
from clover_viz.settings import AutoregressiveSettings, SpeculativeSettings

A, B, C, D = (BYTE + ord(c) for c in "abcd")
P = pytest.approx(0.99, rel=1e-4)
LONG = "abcdefghijklmnopqrstuvwxyz" * 4
WAYS = [{}, {"accept_rule": "threshold"}, {"draft_steps": 3}]
every_way = pytest.mark.parametrize("way", WAYS, ids=["exact", "threshold", "draft_steps"])


def run(model, settings=SpeculativeSettings(), prompt="hi", **options):
    return list(engine(model).generate(prompt, settings, **options))


@pytest.mark.parametrize("given, block", [({}, 16), ({"block_size": 32}, 32), ({"block_size": 4}, 4)])
def test_left_out_the_block_is_the_one_a_cpu_speculates_with(given, block):
    events = run(ScriptedModel([A] * 40, block_size=32), SpeculativeSettings(**given), max_new_tokens=40)
    assert events[0].settings["block_size"] == block
    assert {len(event.checks) for event in of(Verified, events)} == {block - 1}


def drafting(tokens_at):
    """Preview logits from a function of the response position: the draft there, and its probability."""
    return lambda tokens, masked, start: rows(*(tokens_at(start + i) for i in range(len(tokens))))


def written(model):
    return model.caches[-1].tokens[len(model.calls[0][1]) :]


def entropy(p):
    """Of a scripted row, in nats: one token with p, the others but the mask alike."""
    return pytest.approx(torch.special.entr(row(A, p).softmax(-1)).sum().item(), rel=1e-4)


def test_the_whole_sequence_of_a_run():
    """Draft 2 of round 0 is wrong; round 1 meets the end."""
    answer = [A, B, C, D, END]
    wrong_once = drafting(lambda at: (D if at == 2 else answer[at] if at < 5 else FILLER, 0.5))
    model = ScriptedModel(answer, preview_logits=wrong_once, block_size=4)
    events = run(model)
    n = len(model.calls[0][1])
    experts = (LayerExperts(0, 9, 5, 0.5), LayerExperts(1, 8, 4, 0.25))
    touched = (LayerTouched(0, 9), LayerTouched(1, 8))
    half = pytest.approx(0.5, rel=1e-4)
    rest = pytest.approx(0.01 / (VOCAB - 2), rel=1e-3)
    h = entropy(0.99)
    assert events[1:] == [
        Prefilled(n, 0.0),
        Drafted(0, 1, n, Boundary(A, "a"), (Draft(1, B, "b", half), Draft(2, D, "d", half), Draft(3, D, "d", half)),
                experts, 0.0),
        Text("a"),
        Verified(0, (Check(1, B, "b", P, h, None, True), Check(2, D, "d", rest, h, None, False),
                     Check(3, D, "d", P, h, None, False)), 1, Boundary(C, "c", P), touched, 0.0),
        Text("bc"),
        Drafted(1, 1, n + 2, Boundary(C, "c"),
                (Draft(1, D, "d", half), Draft(2, END, "<end>", half), Draft(3, FILLER, "~", half)), experts, 0.0),
        Verified(1, (Check(1, D, "d", P, h, None, True), Check(2, END, "<end>", P, h, None, True),
                     Check(3, FILLER, "~", P, h, None, False)), 2, Boundary(FILLER, "~", P), touched, 0.0),
        Text("d"),
        RunFinished("end", "abcd", 4, PassCounts(prefill=1, preview=2, verify=2), 1.0, 2.0, 0.0, 0.0),
    ]  # fmt: skip
    assert model.calls[1:3] == [("preview", [A, MASK, MASK, MASK]), ("causal", [A, B, D, D])]
    assert model.coresets == [0.9, 0.9]
    assert written(model) == [A, B, C, D, END]
    assert events[0].mode == "speculative" and events[0].settings["accept_rule"] == "exact"


def test_the_time_of_a_pass_leaves_out_what_holds_it(monkeypatch):
    """Also where the context has no room for another round."""
    model = ScriptedModel(ids(LONG), lambda slot, known: 0.5, block_size=4)
    model.config.max_position_embeddings = prompt_tokens("hi") + 7
    events = run(model, SpeculativeSettings(draft_steps=2), gate=Clock(model, monkeypatch).gate)
    kinds = [Prefilled, Drafted, Drafted, Verified, TokenDecoded, TokenDecoded]
    assert [(type(x), x.ms) for x in events if hasattr(x, "ms")] == [(kind, 250.0) for kind in kinds]


@pytest.mark.parametrize("size", [2, 4, 8, 16, 32])
@pytest.mark.parametrize("pattern", ["never", "always", "sometimes"])
def test_every_round_keeps_its_accepted_drafts_and_one_more(size, pattern):
    right = {"never": lambda at: False, "always": lambda at: True, "sometimes": lambda at: at * 7919 % 10 < 7}[pattern]
    text = LONG[:70]
    answer = ids(text) + [END]
    model = ScriptedModel(
        answer,
        preview_logits=drafting(lambda at: (answer[at] if at < len(answer) and right(at) else FILLER, 0.5)),
        block_size=32,
    )
    events = run(model, SpeculativeSettings(block_size=size))
    rounds = of(Verified, events)
    assert events[-1].text == text and events[-1].reason == "end"
    expected, at = [], 1  # at: the first draft's place in the response
    while at < len(answer):
        r = 0
        while r < size - 1 and at + r < len(answer) and right(at + r):
            r += 1
        expected.append(r)
        at += r + 1
    assert [x.accepted for x in rounds] == expected
    assert all([c.accepted for c in x.checks] == [i < x.accepted for i in range(size - 1)] for x in rounds)
    assert [x.start for x in of(Drafted, events)] == [
        len(model.calls[0][1]) + sum(r + 1 for r in expected[:i]) for i in range(len(expected))
    ]
    assert events[-1].passes == PassCounts(prefill=1, preview=len(rounds), verify=len(rounds))
    ended_by_draft = at > len(answer)  # else the end token is the last boundary, which no pass has read
    assert written(model) == (answer if ended_by_draft else answer[:-1])


@pytest.mark.parametrize("end_id", [END, OTHER_END])
@pytest.mark.parametrize("at", range(10))
@pytest.mark.parametrize("drafts", ["right", "wrong"])
@every_way
def test_an_end_token_anywhere_ends_the_text_before_it(at, end_id, drafts, way):
    answer = ids("abcdefghi"[:at]) + [end_id] + ids("never shown, never kept")
    draft = None if drafts == "right" else drafting(lambda place: (FILLER, 0.5))
    model = ScriptedModel(answer, preview_logits=draft, block_size=4, eos_token_id=[END, OTHER_END])
    events = run(model, SpeculativeSettings(**way))
    finished = events[-1]
    assert (finished.reason, finished.text, finished.tokens) == ("end", "abcdefghi"[:at], at)
    assert "".join(x.delta for x in of(Text, events)) == finished.text
    assert written(model) in (answer[:at], answer[: at + 1])
    assert sum(x.accepted for x in of(Verified, events)) <= at + 1


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 8, 9, 31, 32, 33, 64])
@pytest.mark.parametrize("size", [4, 32])
@pytest.mark.parametrize("behind", [FILLER, END])
@every_way
def test_a_round_that_overshoots_the_limit_is_trimmed(limit, size, behind, way):
    """Also where the text would have ended just there: the limit comes first."""
    answer = ids(LONG)[:limit] + [behind] + ids(LONG)[limit + 1 :] if behind == END else ids(LONG)
    model = ScriptedModel(answer)
    events = run(model, SpeculativeSettings(block_size=size, **way), max_new_tokens=limit)
    finished = events[-1]
    assert (finished.reason, finished.text, finished.tokens) == ("length", LONG[:limit], limit)
    assert finished.passes.verify == finished.passes.preview == -(-(limit - 1) // size)
    assert len(written(model)) <= limit and written(model) == ids(LONG)[: len(written(model))]


def test_one_token_takes_no_pass_after_prefill():
    events = run(ScriptedModel([A, B]), max_new_tokens=1)
    assert [x.token for x in of(TokenDecoded, events)] == ["a"]
    assert events[-1].passes == PassCounts(prefill=1) and events[-1].tokens_per_pass is None


@pytest.mark.parametrize("room", [1, 2, 4, 5, 6, 9, 10, 14])
def test_where_no_round_fits_the_causal_pass_goes_on_alone_to_the_contexts_end(room):
    def model():
        m = ScriptedModel(ids(LONG), block_size=4)
        m.config.max_position_embeddings = prompt_tokens("hi") + room
        return m

    finished = run(model())[-1]
    alone = run(model(), AutoregressiveSettings())[-1]
    assert (finished.reason, finished.tokens, finished.text) == ("length", room, alone.text)
    assert finished.passes.verify == (room - 1) // 4
    assert finished.passes.decode == (room - 1) % 4


@pytest.mark.parametrize("stop", ["ef", "defghi", "a", "z"])
@pytest.mark.parametrize("size", [2, 4, 8])
@every_way
def test_stop_strings_form_across_slots_and_rounds(stop, size, way):
    settings = SpeculativeSettings(block_size=size, **way)
    events = run(ScriptedModel(ids(LONG[:26]) + [END], block_size=8), settings, stop=stop)
    assert (events[-1].reason, events[-1].text) == ("stop", LONG[: LONG.index(stop)])
    assert "".join(x.delta for x in of(Text, events)) == events[-1].text


@pytest.mark.parametrize("text", ["né 漢字 👩‍👩‍👧‍👦!", "\n\n    indent\t<script>|", "e\u0301"])
@pytest.mark.parametrize("right", [True, False])
def test_characters_across_rounds_arrive_whole(text, right):
    answer = ids(text) + [END]
    draft = None if right else drafting(lambda at: (answer[at] if at % 3 and at < len(answer) else FILLER, 0.5))
    events = run(ScriptedModel(answer, preview_logits=draft, block_size=4))
    deltas = [x.delta for x in of(Text, events)]
    assert "".join(deltas) == events[-1].text == text
    assert not any("\ufffd" in delta for delta in deltas)


@pytest.mark.parametrize("more", [*WAYS, {"temperature": 0.8}, {"presence_penalty": -1.5}])
def test_the_mask_is_never_drafted_nor_chosen(more):
    def fond(*_):
        logits = row(A, 1.0)
        logits[MASK] = 50.0
        return logits

    model = ScriptedModel([], preview_logits=lambda t, *_: torch.stack([fond()] * len(t)), causal_logits=fond)
    events = run(model, SpeculativeSettings(**more), max_new_tokens=40)
    assert events[-1].text == "a" * 40
    checks = [check for x in of(Verified, events) for check in x.checks]
    assert checks and all(check.probability == pytest.approx(1) for check in checks)  # the mask has no share


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("where", ["preview", "before the refused draft", "behind it"])
def test_logits_that_are_no_numbers_end_the_run_and_not_the_next(bad, where):
    answer = ids("abcdefgh") + [END]
    refused = drafting(lambda at: (FILLER if at == 2 else answer[min(at, 8)], 0.5))
    sick = {"preview": None, "before the refused draft": 1, "behind it": 3}[where]

    def preview(*given):
        found = refused(*given)
        if where == "preview":
            found[1, A] = bad
        return found

    def causal(at):
        found = row(answer[min(at, 8)])
        if at == sick:
            found[A] = bad
        return found

    model = ScriptedModel(answer, preview_logits=preview, causal_logits=causal, block_size=4)
    eng = engine(model)
    with pytest.raises(FloatingPointError, match="the model's logits are not finite at position"):
        eng.complete("hi", SpeculativeSettings())
    model.preview_logits = model.causal_logits = None
    assert eng.complete("hi", SpeculativeSettings()).text == "abcdefgh"


@pytest.mark.parametrize("after", range(1, 6))
def test_cancelling_in_the_middle_of_a_round_keeps_what_was_certain(after):
    """Set after the n-th event of a round: the pass that is due does not run."""
    cancel = threading.Event()
    model = ScriptedModel(ids(LONG), block_size=4)
    seen = []
    for event in engine(model).generate("hi", SpeculativeSettings(), cancel=cancel):
        seen.append(event)
        if len(of((Drafted, Verified), seen)) == after:
            cancel.set()
    rounds = of(Verified, seen)
    assert seen[-1].reason == "cancelled"
    assert seen[-1].tokens == 1 + sum(x.accepted + 1 for x in rounds) == len(seen[-1].text)
    assert len(of((Drafted, Verified), seen)) == after
    assert written(model) == ids(seen[-1].text)[:-1]


# More draft steps


def test_extra_draft_steps_commit_by_the_denoise_rule():
    """Slot 2 is sure at once and stays; slot 1 changes its mind when it sees slot 2."""

    def preview(tokens, masked, start):
        if masked[2]:
            return rows((A, 0.9), (D, 0.6), (C, 0.99), (D, 0.7))
        return rows((A, 0.9), (B, 0.6), (D, 0.99), (D, 0.7))

    model = ScriptedModel([A, B, C, D, END], preview_logits=preview, block_size=4)
    events = run(model, SpeculativeSettings(draft_steps=2), max_new_tokens=4)
    first, second = of(Drafted, events)
    assert [(x.round, x.step) for x in (first, second)] == [(0, 1), (0, 2)]
    assert [d.token for d in first.drafts] == ["d", "c", "d"]
    assert [d.token for d in second.drafts] == ["b", "c", "d"]
    assert second.drafts[1].confidence == P  # as it was committed with
    assert model.calls[2] == ("preview", [A, MASK, C, MASK])
    assert of(Verified, events)[0].accepted == 3
    assert events[-1].passes == PassCounts(prefill=1, preview=2, verify=1)


def test_no_preview_runs_once_every_draft_is_committed():
    model = ScriptedModel(ids("abcdefgh") + [END], block_size=4)  # every slot is over 0.95 at once
    assert run(model, SpeculativeSettings(draft_steps=5))[-1].passes == PassCounts(prefill=1, preview=2, verify=2)


def test_where_no_draft_clears_the_bar_the_most_confident_one_is_committed():
    preview = drafting(lambda at: (ids(LONG)[at], 0.5 + at / 100))
    model = ScriptedModel(ids(LONG), preview_logits=preview, block_size=4)
    run(model, SpeculativeSettings(draft_steps=3), max_new_tokens=4)
    a, d, c = (ids(LONG)[at] for at in (0, 3, 2))
    assert [call for kind, call in model.calls if kind == "preview"] == [
        [a, MASK, MASK, MASK], [a, MASK, MASK, d], [a, MASK, c, d],
    ]  # fmt: skip


# The threshold rule


@pytest.mark.parametrize(
    "p, ratio, delta, accepted",
    [(0.9, 0.9, 10.0, 3), (0.89, 0.9, 10.0, 0), (0.5, 1.0, 1.0, 3), (0.5, 0.9, 10.0, 0), (0.01, 0.9, 0.0, 3)],
)
def test_the_threshold_rule_compares_the_drafts_probability_with_its_bar(p, ratio, delta, accepted):
    """The causal pass prefers what it is scripted to, with p for the draft: at 0.5 its entropy lowers the bar."""
    pair = torch.full((VOCAB,), float("-inf"))
    pair[B], pair[A] = torch.tensor(p).log(), torch.tensor(1 - p).log()
    settings = SpeculativeSettings(accept_rule="threshold", ratio=ratio, delta=delta)
    model = ScriptedModel([], preview_logits=lambda t, *_: rows(*[(B, 0.9)] * len(t)),
                          causal_logits=lambda at: pair, block_size=4)  # fmt: skip
    verified = of(Verified, run(model, settings, max_new_tokens=4))[0]
    h = torch.special.entr(torch.tensor([p, 1 - p])).sum()
    assert verified.accepted == accepted
    bar = min(ratio, delta * torch.exp(-h).item())
    checks = [(c.probability, c.entropy, c.bar) for c in verified.checks]
    assert checks == [pytest.approx((p, h.item(), bar), rel=1e-5)] * 3


def test_a_draft_accepted_against_the_causal_choice_stays_in_the_text():
    pair = torch.full((VOCAB,), float("-inf"))
    pair[A], pair[B] = 0.2, 0.0
    model = ScriptedModel([], preview_logits=lambda t, *_: rows(*[(B, 0.9)] * len(t)),
                          causal_logits=lambda at: pair, block_size=4)  # fmt: skip
    lossy = SpeculativeSettings(accept_rule="threshold")
    assert run(model, lossy, max_new_tokens=9)[-1].text == "abbbabbba"
    assert run(model, max_new_tokens=9)[-1].text == "a" * 9


def test_the_threshold_rule_is_greedy_only():
    with pytest.raises(UserError, match="temperature must be 0 with accept_rule threshold, got 0.5"):
        SpeculativeSettings(accept_rule="threshold", temperature=0.5)


# Temperature and adjustments


@pytest.mark.parametrize("temperature", [0.5, 0.8, 1.5])
def test_draft_and_verify_draw_alike(temperature):
    """Where preview and causal pass agree, so do their samples: nothing is rejected, at any temperature. Were one side
    drawn at another temperature, its draws would be others: the logits are far from flat."""
    slope = torch.linspace(-3.0, 3.0, VOCAB)[torch.randperm(VOCAB, generator=torch.Generator().manual_seed(1))]
    slope[[END, OTHER_END]] = -9.0
    model = ScriptedModel([], preview_logits=lambda t, *_: slope.repeat(len(t), 1), causal_logits=lambda at: slope)
    events = run(model, SpeculativeSettings(temperature=temperature, block_size=8), max_new_tokens=33, seed=4)
    assert [x.accepted for x in of(Verified, events)] == [7] * 4
    alone = run(model, AutoregressiveSettings(temperature=temperature), max_new_tokens=33, seed=4)
    assert events[-1].text == alone[-1].text and len(set(alone[-1].text)) > 5
    other = run(model, AutoregressiveSettings(temperature=temperature + 0.2), max_new_tokens=33, seed=4)
    assert other[-1].text != alone[-1].text


def test_penalties_act_on_draft_and_verify_row_by_row():
    """Both sides count the response; a verify row also counts the drafts before it, which a preview cannot know."""
    wants = torch.full((VOCAB,), float("-inf"))
    wants[A], wants[B], wants[C] = 2.0, 1.0, 0.0
    model = ScriptedModel([], preview_logits=lambda t, *_: wants.repeat(len(t), 1), causal_logits=lambda at: wants,
                          block_size=4)  # fmt: skip
    settings = dict(presence_penalty=1.5)
    events = run(model, SpeculativeSettings(**settings), max_new_tokens=6)
    alone = run(model, AutoregressiveSettings(**settings), max_new_tokens=6)
    assert events[-1].text == alone[-1].text == "abaaaa"
    first = of(Drafted, events)[0]
    assert [d.token for d in first.drafts] == ["b", "b", "b"]  # 'a' is the boundary: counted in every row
    checks = of(Verified, events)[0].checks
    assert [c.accepted for c in checks] == [True, False, False]  # after one 'b' the causal row turns back to 'a'


# A real model: exactly the autoregressive text


@pytest.fixture(scope="module")
def toy():
    model = toy_model(seed=3, vocab_size=VOCAB, mask_token_id=MASK, eos_token_id=END, max_position_embeddings=160)
    return Engine(model, ByteTokenizer(), KernelChoice("reference", "toy"), "toy")


@contextmanager
def foretold(toy, answer, wrong=lambda at: at % 5 == 3):
    """Previews of the real model with other logits: they draft `answer` (the ids of a response), but for the places
    that are `wrong`. Random weights alone hardly ever draft what they then verify."""
    preview, base = toy.model.preview, {}

    def drafts(tokens, masked, cache, coreset_top_p):
        out = preview(tokens, masked, cache, coreset_top_p)
        start = cache.length - base.setdefault(id(cache), cache.length)
        wanted = (FILLER if wrong(at) or at >= len(answer) else answer[at] for at in range(start, start + len(tokens)))
        return out._replace(logits=rows(*((token, 0.999) for token in wanted)))

    toy.model.preview = drafts
    try:
        yield
    finally:
        del toy.model.preview


def response(toy, *given, **named):
    """The ids of a response, without the end token, and its last event."""
    events = list(toy.generate(*given, **named))
    return [x.token_id for x in of(TokenDecoded, events)], events[-1]


@pytest.mark.parametrize("temperature", [0.0, 0.8])
@pytest.mark.parametrize("size", [2, 4, 8])
@pytest.mark.parametrize("more", [{}, {"draft_steps": 2}, {"presence_penalty": 0.7, "repetition_penalty": 1.2}])
@pytest.mark.parametrize("drafts", ["own", "mostly right"])
def test_exact_is_autoregression(toy, temperature, size, more, drafts):
    penalties = {name: value for name, value in more.items() if "penalty" in name}
    for seed, prompt in enumerate(("x", "a longer prompt than the other", "né 漢")):
        given = AutoregressiveSettings(temperature=temperature, **penalties), 40
        answer, slow = response(toy, prompt, *given, seed=seed)
        settings = SpeculativeSettings(size, temperature=temperature, **more)
        with foretold(toy, answer) if drafts == "mostly right" else nullcontext():
            events = list(toy.generate(prompt, settings, 40, seed=seed))
        fast = events[-1]
        assert (fast.text, fast.tokens, fast.reason) == (slow.text, slow.tokens, slow.reason)
        if drafts == "mostly right" and not penalties:  # which weigh on drafts, too
            accepted = [x.accepted for x in of(Verified, events)]
            assert sum(accepted) > len(accepted) / 2 and min(accepted) < size - 1


def test_exact_is_autoregression_up_to_the_contexts_end(toy):
    prompt = "p" * 120
    fast, slow = (toy.complete(prompt, s, 256) for s in (SpeculativeSettings(8), AutoregressiveSettings()))
    assert (fast.text, fast.reason) == (slow.text, slow.reason) and fast.passes.decode < 8


def test_two_rejection_histories_of_one_text_leave_one_state(toy):
    """Drafts go wrong at different places of the same text; what is remembered of it is the same."""
    answer, _ = response(toy, "state", AutoregressiveSettings(), 26)
    states, histories = [], []
    for wrong in (lambda at: at % 5 == 3, lambda at: at % 7 == 2):
        spied = []
        new_cache = toy.model.new_cache
        toy.model.new_cache = lambda spied=spied: spied.append(new_cache()) or spied[-1]
        try:
            with foretold(toy, answer, wrong):
                events = list(toy.generate("state", SpeculativeSettings(8), 26))
        finally:
            toy.model.new_cache = new_cache
        states.append(spied[0])
        histories.append([x.accepted for x in of(Verified, events)])
    narrow, wide = states
    one, other = histories
    assert one != other and 0 < min(map(max, histories)) and one[0] == 2 and other[0] == 1
    assert narrow.length == wide.length
    for one, other in zip(narrow.layers, wide.layers):
        for name in ("state", "ring", "k", "v"):
            if hasattr(one, name):
                x, y = getattr(one, name), getattr(other, name)
                if name in "kv":
                    x, y = x[:, : narrow.length], y[:, : wide.length]
                torch.testing.assert_close(x, y, atol=5e-4, rtol=1e-4)
