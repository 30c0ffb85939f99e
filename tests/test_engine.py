"""One engine: prompts in, stop texts, cancelling, one run at a time, and the figures of a run."""

import gc
import threading
import time
from dataclasses import replace

import pytest
import torch
from scripted import BYTE, CLOSE_THINK, END, FILLER, MASK, THINK, ByteTokenizer, Clock, ScriptedModel, engine, ids, of

from clover_viz.engine import Engine
from clover_viz.errors import UserError
from clover_viz.events import Denoised, PassCounts, Prefilled, RunFinished, RunStarted, Text, TokenDecoded, Verified
from clover_viz.settings import AutoregressiveSettings, DenoiseSettings, SpeculativeSettings
from clover_viz.trace.canvas import fold
from clover_viz.transcript import StopFilter

ALL = [DenoiseSettings(), SpeculativeSettings(), AutoregressiveSettings()]
MODE = [settings.mode for settings in ALL]


def collect(model, settings, prompt="hi", **options):
    return list(engine(model).generate(prompt, settings, **options))


# Prompts


def test_a_string_is_one_user_turn():
    as_text, as_messages = ScriptedModel([END]), ScriptedModel([END])
    engine(as_text).complete("hi", AutoregressiveSettings())
    engine(as_messages).complete([{"role": "user", "content": "hi"}], AutoregressiveSettings())
    assert as_text.calls == as_messages.calls == [("prefill", ids("user: hi\nassistant: "))]


@pytest.mark.parametrize("prompt", ["hi", ids("hi"), tuple(ids("hi"))])
def test_raw_prompts_are_used_as_they_are(prompt):
    model = ScriptedModel([END])
    engine(model).complete(prompt, AutoregressiveSettings(), raw=True)
    assert model.calls == [("prefill", ids("hi"))]


@pytest.mark.parametrize(
    "prompt, raw, says",
    [
        ("", False, "prompt must hold at least one token"),
        (" \n", False, "prompt must hold at least one token"),
        ("", True, "prompt must hold at least one token"),
        ([], True, "prompt must hold at least one token"),
        ([5, 400], True, r"raw prompt ids must be whole numbers in \[0, 261\), got 400"),
        ([True], True, "got True"),
        (3, False, "the prompt must be text or a list, got int"),
    ],
)
def test_bad_prompts_are_refused_before_the_first_pass(prompt, raw, says):
    model = ScriptedModel([END])
    with pytest.raises(UserError, match=says):
        engine(model).generate(prompt, raw=raw)
    assert model.calls == []


@pytest.mark.parametrize(
    "options, says",
    [
        ({"settings": DenoiseSettings(block_size=5)}, "block_size must be one of 2, 4, 8, 16, 32"),
        ({"settings": DenoiseSettings(block_size=64)}, "block_size must be one of"),
        ({"settings": {"threshold": 0.5}}, "settings must be DenoiseSettings, "),
        ({"max_new_tokens": 0}, "max_new_tokens must be a whole number of at least 1, got 0"),
        ({"stop": ("",)}, "stop must be"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_bad_values_are_refused_before_the_first_pass(options, says):
    model = ScriptedModel([END])
    with pytest.raises(UserError, match=says):
        engine(model).generate("hi", **options)
    assert model.calls == []


def test_a_think_close_bias_needs_the_token():
    eng = engine(ScriptedModel([END]))
    eng.tokenizer.token_id = lambda literal: None
    with pytest.raises(UserError, match="think_close_bias must be 0 for a tokenizer without </think>, got 1"):
        eng.generate("hi", DenoiseSettings(think_close_bias=1))
    assert eng.complete("hi").reason == "end"


@pytest.mark.parametrize("settings, room", zip(ALL, (31, 0, 0)), ids=MODE)
def test_a_prompt_that_leaves_no_room_is_refused_before_the_first_pass(settings, room):
    model = ScriptedModel([END])
    model.config.max_position_embeddings = 100
    eng = engine(model)
    with pytest.raises(UserError, match=f"context of 100 positions, got a prompt of {100 - room} tokens"):
        eng.generate([BYTE] * (100 - room), settings, raw=True)
    assert model.calls == []
    assert eng.complete([BYTE] * (99 - room), settings, raw=True).tokens in (0, 32)


# Stop texts


@pytest.mark.parametrize("settings", ALL, ids=MODE)
@pytest.mark.parametrize("block_size", [2, 4, 32])
@pytest.mark.parametrize(
    "answer, stop, text, taken",
    [
        ("one two STOP three", ["STOP"], "one two ", 12),
        ("one two STOP three", ["STOP", "two"], "one ", 7),
        ("STOP", ["STOP"], "", 4),
        ("aaab", ["aab"], "a", 4),  # the held back text must slide
        ("ab漢字cd", ["漢字"], "ab", 8),
        ("line\n\nrest", ["\n\n"], "line", 6),
        ("xSTxSTOx", ["STOP"], "xSTxSTOx", None),  # what only looked like one is shown in the end
        ("half a STO", ["STOP"], "half a STO", None),
        ("abcd", ["abcd", "bc"], "a", 3),  # the first to be completed
        ("xab", ["ab", "xab"], "", 3),  # completed together: the longest
    ],
)
def test_stop_texts(settings, block_size, answer, stop, text, taken):
    model = ScriptedModel(ids(answer) + [END], lambda slot, known: 0.5 + slot / 100, block_size=block_size)
    events = collect(model, settings, stop=stop)
    finished = events[-1]
    assert (finished.reason, finished.text) == ("end" if taken is None else "stop", text)
    assert finished.tokens == (len(answer.encode()) if taken is None else taken)
    shown = ""
    for event in of(Text, events):
        shown += event.delta
        assert text.startswith(shown)  # never a part of a stop text
    assert shown == text


@pytest.mark.parametrize("settings", ALL, ids=MODE)
@pytest.mark.parametrize(
    "prompt, answer, thinking, text",
    [
        ("hi", [THINK, *ids("né?"), CLOSE_THINK, *ids("yes"), END], "né?", "yes"),
        ("hi", [*ids("a"), THINK, *ids("b"), CLOSE_THINK, *ids("c"), THINK, *ids("d"), END], "bd", "ac"),
        ([*ids("hi"), THINK], [*ids("hm"), CLOSE_THINK, *ids("\n\nyes"), END], "hm", "\n\nyes"),
        ([*ids("hi"), THINK, CLOSE_THINK], [*ids("yes"), END], None, "yes"),
        ("hi", [THINK, *ids("STOP"), CLOSE_THINK, *ids("no STOP"), END], "STOP", "no "),
        ("hi", [THINK, ids("é")[0], CLOSE_THINK, *ids("x"), END], "\ufffd", "x"),  # a cut character stays there
    ],
)
def test_thinking_is_kept_apart_from_the_answer(settings, prompt, answer, thinking, text):
    events = collect(ScriptedModel(answer, block_size=4), settings, prompt, raw=True, stop=["STOP"])
    finished = events[-1]
    assert (finished.thinking, finished.text) == (thinking, text)
    assert "".join(x.delta for x in of(Text, events) if not x.thinking) == text
    assert "".join(x.delta for x in of(Text, events) if x.thinking) == (thinking or "")
    canvas = fold(events)
    assert (canvas.thinking, canvas.text) == (thinking or "", text)
    if not thinking:
        assert "thinking" not in finished.to_json()


def test_a_stop_text_ends_the_block_at_once():
    confidence = lambda slot, known: 0.99 if slot < 3 else 0.5  # noqa: E731
    model = ScriptedModel(ids("a.bcdefg") * 2, confidence, block_size=8)
    events = collect(model, DenoiseSettings(), stop=["."])
    assert len(of(Denoised, events)) == 1 and events[-1].passes == PassCounts(prefill=1, preview=1)
    assert (events[-1].text, events[-1].tokens) == ("a", 2)


@pytest.mark.parametrize("cut", [1, 2, 3, 5, 100])
def test_the_stop_filter_does_not_depend_on_how_the_text_is_cut(cut):
    text = "abacabadabacabaeabacab"
    for stop in (["abad"], ["bad", "cab"], ["zzz"], ["aea", "e"], []):
        whole, part = StopFilter(stop), StopFilter(stop)
        expected, stopped = whole.push(text)
        shown = ""
        for i in range(0, len(text), cut):
            passed, now = part.push(text[i : i + cut])
            shown += passed
            if now:
                break
        assert (shown, now) == (expected, stopped)
        if not stopped:
            assert shown + part.rest() == text
        assert not any(s in shown for s in stop)


# Cancelling, and one run at a time


@pytest.mark.parametrize("settings", ALL, ids=MODE)
def test_cancel_stops_the_passes_at_once_and_still_finishes(settings):
    cancel = threading.Event()
    model = ScriptedModel(ids("x" * 500), lambda slot, known: 0.9 - slot / 100)
    eng = engine(model)
    events, passes = [], None
    for event in eng.generate("hi", settings, cancel=cancel):
        events.append(event)
        if isinstance(event, (Denoised, TokenDecoded, Verified)) and len(events) > 8 and not cancel.is_set():
            cancel.set()
            passes = len(model.calls)
    assert len(model.calls) == passes
    finished = events[-1]
    assert isinstance(finished, RunFinished) and finished.reason == "cancelled"
    assert finished.text == "".join(x.delta for x in of(Text, events)) == "x" * finished.tokens and finished.tokens
    assert eng.complete("hi", settings, max_new_tokens=3).tokens == 3


@pytest.mark.parametrize("settings", ALL, ids=MODE)
def test_a_gate_stands_before_every_pass_but_the_first_and_its_time_is_not_counted(settings, monkeypatch):
    model, seen = ScriptedModel(ids("x" * 60)), []
    clock = Clock(model, monkeypatch)

    def gate():
        seen.append(len(model.calls))
        clock.gate()

    events = list(engine(model).generate("hi", settings, max_new_tokens=40, gate=gate))
    counts = events[-1].passes
    assert len(seen) == counts.after_prefill and seen[0] == 1 and seen == sorted(set(seen))
    without = collect(ScriptedModel(ids("x" * 60)), settings, max_new_tokens=40)
    assert events[-1].text == without[-1].text
    assert events[-1].seconds == 0.25 * (1 + counts.after_prefill)
    assert sum(getattr(x, "ms", 0.0) for x in events) == 1000 * events[-1].seconds


def test_cancelled_from_the_start_runs_no_pass():
    cancel = threading.Event()
    cancel.set()
    model = ScriptedModel([END])
    events = collect(model, DenoiseSettings(), cancel=cancel)
    assert [type(x) for x in events] == [RunStarted, RunFinished] and model.calls == []
    assert (events[-1].reason, events[-1].passes, events[-1].tokens_per_pass) == ("cancelled", PassCounts(), None)


def test_text_that_was_held_back_is_shown_when_a_run_is_cancelled():
    cancel = threading.Event()
    events, eng = [], engine(ScriptedModel(ids("abST")))
    for event in eng.generate("hi", AutoregressiveSettings(), stop=["STOP"], cancel=cancel):
        events.append(event)
        if isinstance(event, TokenDecoded) and event.token == "T":
            cancel.set()
    assert [x.delta for x in of(Text, events)] == ["a", "b", "ST"] and events[-1].text == "abST"


def test_closing_the_iterator_frees_the_engine():
    eng = engine(ScriptedModel(ids("x" * 50)))
    run = eng.generate("hi")
    next(run), next(run)
    assert eng._lock.locked()
    run.close()
    assert not eng._lock.locked()
    abandoned = eng.generate("hi")
    next(abandoned)
    del abandoned
    gc.collect()
    assert not eng._lock.locked()


def test_an_iterator_that_was_never_started_holds_nothing():
    eng = engine(ScriptedModel([END]))
    waiting = eng.generate("hi")
    assert eng.complete("hi").reason == "end"
    assert list(waiting)[-1].reason == "end"


def test_a_failing_pass_shows_its_error_once_and_frees_the_engine():
    model = ScriptedModel(ids("x" * 50))
    eng = engine(model)
    healthy = model.preview
    model.preview = lambda *a, **k: (_ for _ in ()).throw(RuntimeError("out of memory"))
    with pytest.raises(RuntimeError, match="out of memory"):
        list(eng.generate("hi"))
    model.preview = healthy
    assert eng.complete("hi", max_new_tokens=3).tokens == 3


def test_a_second_run_waits_for_the_first():
    eng = engine(ScriptedModel(ids("x" * 50)))
    first = eng.generate("first")
    next(first)
    seen = []
    second = threading.Thread(target=lambda: seen.extend(eng.generate("second", max_new_tokens=3)))
    second.start()
    time.sleep(0.15)
    assert seen == []
    first.close()
    second.join(10)
    assert seen[-1].tokens == 3


def test_a_waiting_run_can_be_cancelled_and_never_touches_the_model():
    model = ScriptedModel(ids("x" * 50))
    eng = engine(model)
    first = eng.generate("first")
    next(first)
    calls = list(model.calls)
    cancel = threading.Event()
    second = eng.generate("second", cancel=cancel)
    threading.Timer(0.1, cancel.set).start()
    assert isinstance(next(second), RunStarted)
    cancel.clear()  # a flag put back for the next run must not bring this one to life
    assert [x.reason for x in second] == ["cancelled"]
    assert model.calls == calls and eng._lock.locked()
    first.close()


def test_a_run_cancelled_while_it_waits_leaves_what_is_remembered_alone(monkeypatch):
    """It belongs to the run that has the model."""
    eng, touched, cancel = engine(ScriptedModel(ids("x" * 50))), [], threading.Event()
    watched = property(lambda self: touched.append("read"), lambda self, value: touched.append("written"))
    monkeypatch.setattr(Engine, "_remembered", watched, raising=False)
    cancel.set()
    with eng._lock:
        events = list(eng.generate("hi", cancel=cancel))
    assert [type(x) for x in events] == [RunStarted, RunFinished] and touched == []
    assert (events[1].reason, events[1].text, events[1].tokens, events[1].passes) == ("cancelled", "", 0, PassCounts())
    eng.complete("hi", max_new_tokens=3)
    assert touched == ["read", "written", "written"]


def test_a_run_may_change_threads_at_every_event():
    """What a web server does; a torch context held across a yield would break here, or leak."""
    eng = engine(ScriptedModel(ids("abcdef") + [END], block_size=4))
    events, run, missing = [], eng.generate("hi"), object()
    while True:
        box = []
        thread = threading.Thread(target=lambda: box.append(next(run, missing)))
        thread.start()
        thread.join()
        assert not torch.is_inference_mode_enabled()
        if box[0] is missing:
            break
        events.append(box[0])
    assert events == list(eng.generate("hi"))
    assert not eng._lock.locked()


# Figures and determinism


@pytest.mark.parametrize("settings", ALL, ids=MODE)
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_same_seed_same_events_whatever_else_draws(settings, temperature):
    settings = replace(settings, temperature=temperature)
    even = torch.zeros(261)
    made = dict(preview_logits=lambda t, *_: even.repeat(len(t), 1), causal_logits=lambda at: even)
    model = ScriptedModel([], **made) if temperature else ScriptedModel(ids("abcdefgh"), lambda slot, known: 0.9)

    def events(seed):
        torch.rand(3)  # a generator of everybody's, which no run may ask or move
        before = torch.get_rng_state()
        found = collect(model, settings, max_new_tokens=8, seed=seed)
        assert torch.equal(torch.get_rng_state(), before)
        return found

    assert events(5) == events(5)
    if temperature:
        assert events(5)[-1].text != events(6)[-1].text


@pytest.mark.parametrize("settings", ALL, ids=MODE)
def test_every_run_starts_from_an_empty_cache_of_its_own(settings):
    model = ScriptedModel(ids("abcdefgh"), block_size=4)
    eng = engine(model)
    eng.complete("hi", settings, max_new_tokens=8), eng.complete("hi", settings, max_new_tokens=8)
    assert len(model.caches) == 2 and model.caches[0].tokens == model.caches[1].tokens


def second_turn(eng, settings, **options):
    """Two turns of a raw conversation; the events of the second, and the ids that the first run left in the cache."""
    first = eng.complete("hi, ", settings, raw=True, **options)
    held = eng._remembered.ids
    return "hi, " + first.text + " and more", held


@pytest.mark.parametrize("settings", ALL, ids=MODE)
def test_a_second_turn_reads_on_from_the_first(settings):
    model = ScriptedModel(ids("abcdefghij") + [END], block_size=4)
    eng = engine(model)
    prompt, held = second_turn(eng, settings, max_new_tokens=9)
    assert 0 < len(held) and list(held) == ids(prompt)[: len(held)]
    before = len(model.calls)
    again = list(eng.generate(prompt, settings, raw=True))
    assert model.calls[before] == ("prefill", ids(prompt)[len(held) :])
    assert len(model.caches) == 1
    fresh = engine(ScriptedModel(ids("abcdefghij") + [END], block_size=4))
    assert again == list(fresh.generate(prompt, settings, raw=True))


@pytest.mark.parametrize("prompt", ["hi, ", "hi", "hi; abc and more", "ho"])
def test_a_prompt_that_does_not_go_on_from_the_last_run_is_read_whole(prompt):
    model = ScriptedModel(ids("abcdefghij") + [END], block_size=4)
    eng = engine(model)
    second_turn(eng, AutoregressiveSettings(), max_new_tokens=9)
    eng.complete(prompt, raw=True)
    assert ("prefill", ids(prompt)) in model.calls[1:] and len(model.caches) == 2


def test_what_a_failed_pass_leaves_is_not_built_on():
    model = ScriptedModel(ids("abcdefghij") + [END], block_size=4)
    eng = engine(model)
    prompt, _ = second_turn(eng, AutoregressiveSettings(), max_new_tokens=9)
    model.causal_logits = lambda at: torch.full((261,), float("nan"))
    with pytest.raises(FloatingPointError):
        eng.complete(prompt, AutoregressiveSettings(), raw=True)
    model.causal_logits = None
    eng.complete(prompt, raw=True)
    assert model.calls[-1][0] != "prefill" and len(model.caches) == 2


@pytest.mark.parametrize("where", ["prefill", "advance"])
def test_what_ctrl_c_leaves_in_the_middle_of_a_write_is_not_built_on(monkeypatch, where):
    model = ScriptedModel(ids("abcdefghij") + [END], block_size=4)
    eng = engine(model)
    prompt, _ = second_turn(eng, AutoregressiveSettings(), max_new_tokens=9)

    def half(*_):
        model.caches[0].tokens.append(FILLER)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(*((model, "prefill") if where == "prefill" else (model.caches[0], "advance")), half)
        with pytest.raises(KeyboardInterrupt):
            eng.complete(prompt, AutoregressiveSettings(), raw=True)
    assert eng._remembered is None and not eng._lock.locked()
    again = list(eng.generate(prompt, AutoregressiveSettings(), raw=True))
    fresh = engine(ScriptedModel(ids("abcdefghij") + [END], block_size=4))
    assert again == list(fresh.generate(prompt, AutoregressiveSettings(), raw=True)) and len(model.caches) == 2


def test_a_cancelled_run_leaves_what_it_had_read():
    model = ScriptedModel(ids("abcdefghij") + [END], block_size=4)
    eng = engine(model)
    cancel = threading.Event()
    for event in eng.generate("hi, ", AutoregressiveSettings(), raw=True, cancel=cancel):
        if isinstance(event, TokenDecoded) and event.token == "c":
            cancel.set()
    assert list(eng._remembered.ids) == ids("hi, ab")
    eng.generate("hi, abc", raw=True).close()
    eng.complete("hi, abc", raw=True)
    assert len(model.caches) == 1


def test_a_one_step_answer_still_has_a_speed():
    finished = collect(ScriptedModel(ids("ok") + [END]), DenoiseSettings())[-1]
    assert (finished.tokens, finished.tokens_per_pass, finished.tokens_per_preview) == (2, 2.0, 2.0)
    assert finished.seconds > 0 and finished.tokens_per_second == pytest.approx(2 / finished.seconds)


def test_the_time_of_a_run_is_the_engines_own_not_its_consumers():
    model = ScriptedModel(ids("ok") + [END])
    prefill = model.prefill
    model.prefill = lambda *a: (time.sleep(0.1), prefill(*a))[1]
    for event in engine(model).generate("hi"):
        time.sleep(0.1)
    assert 0.1 <= event.seconds < 0.3  # six events: 0.6 s in the consumer's hands


def test_what_a_run_starts_and_prefills_with():
    eng = engine(ScriptedModel([END], block_size=4))
    started, prefilled, *_ = eng.generate("hi", DenoiseSettings(), max_new_tokens=7, stop=("x", "y"), seed=3)
    assert isinstance(prefilled, Prefilled) and prefilled.tokens == started.prompt_tokens
    assert (started.kernels.name, started.kernels.reason) == ("reference", "scripted")
    assert started.graphs == eng.graphs and eng.graphs.name == "off" and "CUDA" in eng.graphs.reason
    assert {k: started.settings[k] for k in ("max_new_tokens", "stop", "seed")} == {
        "max_new_tokens": 7, "stop": ("x", "y"), "seed": 3,
    }  # fmt: skip


# Loading


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "cpu:1", "mps"])
def test_an_unknown_device_is_named(device):
    with pytest.raises(UserError, match=f"device must be auto, cpu, cuda or cuda:N, got '{device}'"):
        Engine.load("nowhere", device=device)


def test_a_device_that_is_not_here_is_named():
    with pytest.raises(UserError, match="got 'cuda:99'"):
        Engine.load("nowhere", device="cuda:99")


def test_an_unknown_dtype_is_named():
    with pytest.raises(UserError, match="dtype must be one of auto, float32, bfloat16, float16, got 'int3'"):
        Engine.load("nowhere", dtype="int3")


def test_graphs_that_cannot_be_are_refused_before_a_long_load():
    with pytest.raises(UserError, match="graphs=on cannot run: CUDA graphs need a CUDA device, the model is on cpu"):
        Engine.load("nowhere", device="cpu", graphs="on")
    with pytest.raises(UserError, match="graphs must be auto, on, off, got 'of'"):
        Engine.load("nowhere", device="cpu", graphs="of")


def test_the_literal_mask_in_a_prompt_is_only_text():
    """What is masked is told beside the ids, so a mask id in the prompt neither ends nor changes anything."""
    model = ScriptedModel(ids("ok") + [END], block_size=4)
    finished = engine(model).complete([MASK, *ids("x"), MASK], raw=True)
    assert finished.text == "ok" and model.calls[0][1] == [MASK, *ids("x"), MASK]
    assert ByteTokenizer().chat([{"role": "user", "content": "<mask>"}]).count(MASK) == 0


# The real model, at toy size


@pytest.fixture(scope="module")
def real():
    from model_helpers import toy_model

    model = toy_model(seed=1, vocab_size=261, mask_token_id=MASK, eos_token_id=None, block_size=8)
    return Engine(model, ByteTokenizer(), model.kernels, "toy")


def test_autoregression_is_the_greedy_text_of_the_whole_model(real):
    events = of(TokenDecoded, real.generate("hi", AutoregressiveSettings(), max_new_tokens=12))
    text = ids("user: hi\nassistant: ")
    with torch.no_grad():
        for event in events:
            logits = real.model(torch.tensor([text])).logits[0, -1]
            assert event.token_id == logits.argmax().item()
            assert event.probability == pytest.approx(logits.softmax(-1).max().item(), rel=1e-4)
            text.append(event.token_id)


@pytest.mark.parametrize("block_size", [4, 8])
def test_denoising_the_real_model(real, block_size):
    events = list(real.generate("hi", DenoiseSettings(block_size=block_size, threshold=0.3), max_new_tokens=20))
    finished = events[-1]
    blocks = -(-20 // block_size)
    assert (finished.tokens, finished.reason, finished.passes.replay) == (20, "length", blocks - 1)
    for event in of(Denoised, events):
        assert len(event.experts) == 8 and all(1 <= x.kept <= x.touched <= 16 for x in event.experts)
        assert (len(event.committed) == 1) if event.forced else event.committed
    assert list(real.generate("hi", DenoiseSettings(block_size=block_size, threshold=0.3), max_new_tokens=20)) == events


def test_the_number_of_threads_changes_no_decision(real):
    def decisions(threads):
        torch.set_num_threads(threads)
        events = list(real.generate("hi", DenoiseSettings(temperature=0.8), max_new_tokens=16, seed=2))
        return [(x.committed, [s.token_id for s in x.slots]) for x in of(Denoised, events)], events[-1].text

    before = torch.get_num_threads()
    try:
        assert decisions(1) == decisions(2)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("settings", ALL, ids=MODE)
def test_a_second_turn_of_the_real_model_equals_a_fresh_run(real, settings):
    first = real.complete("hi, ", settings, 20, raw=True)
    prompt = [*ids("hi, "), *real._remembered.ids[4:], *ids("? ")]
    assert first.tokens == 20 and len(real._remembered.ids) > 4
    on = list(real.generate(prompt, settings, 20, raw=True))
    real._remembered = None
    fresh = list(real.generate(prompt, settings, 20, raw=True))
    assert on[-1].text == fresh[-1].text and on[-1].passes == fresh[-1].passes
    for one, other in zip(of(TokenDecoded, on), of(TokenDecoded, fresh)):
        assert one.probability == pytest.approx(other.probability, abs=1e-4)


@pytest.mark.parametrize("known", [False, True], ids=["a new text", "a text that goes on"])
@pytest.mark.parametrize("cache", ["own", "static"])
def test_stop_ends_the_reading_of_a_long_prompt(real, request, monkeypatch, cache, known):
    if cache == "static":
        request.getfixturevalue("graphs_on")
    settings, cancel = AutoregressiveSettings(), threading.Event()
    eng, fresh = (Engine(real.model, ByteTokenizer(), real.model.kernels) for _ in range(2))
    monkeypatch.setattr("clover_viz.model_passes.SEGMENT", 8)
    begun = []
    if known:
        eng.complete("hi, ", settings, 6, raw=True)
        begun = list(eng._remembered.ids)
    prompt = begun + ids("a prompt of more than three segments")
    prefill, read = real.model.prefill, []

    def reading(tokens, *given, **named):
        read.extend(tokens.tolist())
        if len(read) == 16:
            cancel.set()
        return prefill(tokens, *given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(real.model, "prefill", reading)
        events = list(eng.generate(prompt, settings, 6, raw=True, cancel=cancel))
    assert read == prompt[len(begun) :][:16]
    assert (events[-1].reason, events[-1].passes) == ("cancelled", PassCounts(prefill=1)) and not of(Prefilled, events)
    assert list(eng._remembered.ids) == begun + read  # and the next run reads on from there
    again = eng.complete(prompt, settings, 6, raw=True)
    assert again.text == fresh.complete(prompt, settings, 6, raw=True).text and again.tokens == 6


@pytest.fixture
def graphs_on(monkeypatch):
    """An engine made now has static passes, which are not captured here."""
    from clover_viz.model.steps import Steps

    chosen = lambda model, graphs: (Steps(model, capture=False), "asked for")  # noqa: E731
    monkeypatch.setattr("clover_viz.engine.choose_steps", chosen)


@pytest.mark.parametrize("where", ["prefill", "advance"])
@pytest.mark.parametrize("cache", ["own", "static"])
def test_a_turn_after_ctrl_c_equals_a_fresh_run(real, request, monkeypatch, cache, where):
    if cache == "static":
        request.getfixturevalue("graphs_on")
    settings = AutoregressiveSettings()
    eng, fresh = (Engine(real.model, ByteTokenizer(), real.model.kernels) for _ in range(2))
    eng.complete("hi, ", settings, 6, raw=True)
    prompt = [*eng._remembered.ids, *ids("? and more")]
    held = eng._remembered.cache
    advance = held.advance

    def stop(*given):
        if where == "advance":
            advance(*given)  # the cache holds it, what is known of the cache does not
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(*((real.model.model.layers[5], "prefill") if where == "prefill" else (held, "advance")), stop)
        with pytest.raises(KeyboardInterrupt):
            eng.complete(prompt, settings, 6, raw=True)
    again = eng.complete(prompt, settings, 6, raw=True)
    assert again.text == fresh.complete(prompt, settings, 6, raw=True).text and again.tokens == 6


def test_a_block_beyond_the_buffers_of_graphs_is_refused_before_the_first_pass(real, graphs_on):
    larger = DenoiseSettings(block_size=16, allow_untrained_block=True)
    eng = Engine(real.model, ByteTokenizer(), real.model.kernels)
    with pytest.raises(UserError, match="^block_size must be at most 8 with graphs=on, got 16$"):
        eng.generate("hi", larger)
    assert eng.complete("hi", max_new_tokens=3).tokens == 3
    assert real.complete("hi", larger, max_new_tokens=3).tokens == 3
