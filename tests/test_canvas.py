"""The one state every view draws, folded from runs of a scripted model."""

import json
from dataclasses import replace

import pytest
from scripted import BYTE, END, ScriptedModel, engine, ids, of

from clover_viz import events as e
from clover_viz.settings import AutoregressiveSettings, DenoiseSettings
from clover_viz.trace.canvas import Canvas, fold
from clover_viz.trace.stats import distinct, longest_repeat, run_stats
from clover_viz.trace.words import describe


def denoised(answer="abcdef", confidence=lambda slot, known: 0.99, block_size=4, **options):
    model = ScriptedModel(ids(answer) + [END], confidence, block_size=block_size)
    return list(engine(model).generate("hi", DenoiseSettings(), **options))


def states(canvas):
    return "".join(cell.state[0] for cell in canvas.block.cells)


def test_a_canvas_before_any_event_is_empty():
    canvas = Canvas()
    assert (canvas.text, canvas.count, canvas.block, canvas.reason) == ("", 0, None, None)
    json.dumps(canvas.frame())


def test_a_run_step_by_step():
    confidence = lambda slot, known: 0.99 if slot in (1, 3) or known == 2 and slot == 0 else 0.5  # noqa: E731
    seen, canvas = [], Canvas()
    for event in denoised("abcd" * 2, confidence):
        canvas = canvas.apply(event)
        if canvas.block:
            seen.append((type(event).__name__, states(canvas), canvas.block.ruler, canvas.text, canvas.count))
    assert seen[:7] == [
        ("BlockOpened", "mmmm", (), "", 0),
        ("Denoised", "mcmc", (2,), "", 2),
        ("Denoised", "ccmc", (2, 1), "", 3),
        ("Text", "ccmc", (2, 1), "ab", 3),
        ("Denoised", "cccc", (2, 1, 1), "ab", 4),
        ("Text", "cccc", (2, 1, 1), "abcd", 4),
        ("Replayed", "cccc", (2, 1, 1), "abcd", 4),
    ]


def test_cells_remember_the_step_and_whether_they_were_forced():
    confidence = lambda slot, known: 0.99 if slot == 1 else 0.5  # noqa: E731
    events = denoised("abcd", confidence, max_new_tokens=4)
    canvas = fold(x for x in events if not isinstance(x, e.RunFinished))
    assert [(c.token, c.step, c.forced) for c in canvas.block.cells] == [
        ("a", 2, True), ("b", 1, False), ("c", 3, True), ("d", 4, True),
    ]  # fmt: skip
    assert canvas.block.fresh == (3,) and canvas.block.left == 0
    first = fold(events[: events.index(of(e.Denoised, events)[0]) + 1])
    assert first.block.fresh == (1,)
    masked = first.block.cells[0]
    assert (masked.state, masked.token, masked.step) == ("masked", "a", 0)  # the ghost of its preview
    assert masked.confidence == pytest.approx(0.5)


def test_finished_blocks_remain_as_committed_tokens_and_only_the_active_block_has_masks():
    canvas = Canvas()
    for event in denoised("abcdefghij", lambda slot, known: 0.5):
        canvas = canvas.apply(event)
        if canvas.block:
            assert len(canvas.block.cells) <= 4
    assert [t.token for t in canvas.tokens] == list("abcdefghij")
    assert [t.block for t in canvas.tokens] == [0] * 4 + [1] * 4 + [2] * 2


@pytest.mark.parametrize("options", [{}, {"max_new_tokens": 5}, {"stop": ("e",)}, {"max_new_tokens": 1}])
def test_the_end_agrees_with_run_finished(options):
    for settings in (DenoiseSettings(), AutoregressiveSettings()):
        model = ScriptedModel(ids("abcdef") + [END], lambda slot, known: 0.9 - slot / 10, block_size=4)
        events = list(engine(model).generate("hi", settings, **options))
        canvas, finished = fold(events), events[-1]
        assert (canvas.text, canvas.count, canvas.reason) == (finished.text, finished.tokens, finished.reason)
        assert len(canvas.tokens) == finished.tokens and canvas.tokens_per_pass == finished.tokens_per_pass
        assert canvas.tokens_per_preview == finished.tokens_per_preview
        assert canvas.block is None or "m" not in states(canvas) and not canvas.block.active
        before = fold(events[:-1])
        assert before.passes == finished.passes and before.text == finished.text


def test_a_cancelled_run_leaves_no_mask_on_the_board():
    events = denoised("abcdefgh", lambda slot, known: 0.5)[:5]  # up to the second step of the first block
    tokens = fold(events).block.cells[0].state == "committed"
    finished = e.RunFinished("cancelled", "a", 1, e.PassCounts(1, 2, 0, 0, 0), 0.5, 0.5, 0.1, 10.0)
    canvas = fold([*events, finished])
    assert tokens and "m" not in states(canvas) and [t.token for t in canvas.tokens] == ["a"]


def test_going_back_is_a_fold_over_fewer_events():
    events = denoised("abcdefgh", lambda slot, known: 0.5)
    kept, canvas = [], Canvas()
    for event in events:
        canvas = canvas.apply(event)
        kept.append(canvas)
    for n, then in enumerate(kept, start=1):
        assert fold(events[:n]) == then  # later events changed none of the earlier canvases


def test_experts_passes_and_time():
    events = [replace(x, ms=2.0) if hasattr(x, "ms") else x for x in denoised("abcdef")]
    canvas = fold(events[:-1])
    assert canvas.passes == e.PassCounts(prefill=1, preview=2, replay=1)
    assert [(x.touched, x.kept, x.rerouted) for x in canvas.experts] == [(9, 5, 0.5), (8, 4, 0.25)]
    assert canvas.ms == 2.0 * 4


def test_a_frame_is_compact_json():
    frame = fold(denoised("abcdef", lambda slot, known: 0.5)[:5]).frame()
    assert json.loads(json.dumps(frame)) == frame
    assert frame["block"]["cells"][0] == [0, "committed", "a", 0.5, 1, True]
    assert frame["experts"] == [[9, 5, 0.5], [8, 4, 0.25]]
    assert (frame["mode"], frame["tokens"], frame["passes"]["preview"]) == ("denoise", 1, 1)


def test_speculative_rounds():
    experts = (e.LayerExperts(0, 9, 5, 0.5),)
    boundary = e.Boundary(BYTE, "a")
    drafts = tuple(e.Draft(i, BYTE + i, "abcd"[i], 0.5) for i in (1, 2, 3))
    checks = tuple(e.Check(i, BYTE + i, "abcd"[i], 0.5, 0.1, None, i < 3) for i in (1, 2, 3))
    started = e.RunStarted(1, "speculative", "m", "cpu", e.KernelChoice("reference", "-"), 5, {})
    drafted = e.Drafted(0, 1, 5, boundary, drafts, experts, 1.0)
    verified = e.Verified(0, checks, 2, e.Boundary(BYTE + 9, "j", 0.75), (e.LayerTouched(0, 31),), 1.0)
    before = fold([started, e.Prefilled(5, 1.0), drafted])
    assert states(before) == "gddd" and [t.token for t in before.tokens] == ["a"]
    after = before.apply(verified)
    assert states(after) == "gccr" and [t.token for t in after.tokens] == list("abcj")
    assert (after.round.accepted, after.round.boundary, after.count) == (2, "j", 4)
    assert after.passes == e.PassCounts(prefill=1, preview=1, verify=1)
    json.dumps(after.frame())
    end = after.apply(e.RunFinished("length", "abc", 3, after.passes, 1.5, 3.0, 0.1, 30.0))
    assert [t.token for t in end.tokens] == list("abc")


@pytest.mark.parametrize("event", [
    e.Denoised(3, 1, (), False, (), (), 1.0),
    e.Verified(0, (), 0, e.Boundary(1, "a"), (), 1.0),
])  # fmt: skip
def test_an_event_out_of_order_is_refused(event):
    with pytest.raises(ValueError, match="came without its"):
        Canvas().apply(event)


def test_the_line_says_what_just_happened():
    confidence = lambda slot, known: 0.99 if slot == 1 else 0.5  # noqa: E731
    lines, canvas = [], Canvas()
    for event in denoised("abcd", confidence, max_new_tokens=4):
        canvas = canvas.apply(event)
        lines.append(canvas.line)
    assert "prompt in the cache: 20 tokens" in lines
    assert "block 0: 4 masks from position 20" in lines
    assert "block 0 step 1: 1 slot over 0.95; 3 left" in lines
    assert "block 0 step 2: none over 0.95, the most confident slot committed; 2 left" in lines
    assert lines[-1].startswith("ended by the length limit: 4 tokens, passes: 1 prefill, 4 preview; 1.00 tokens a pass")
    assert describe(canvas, e.Text("x")) is None


def test_run_stats():
    confidence = lambda slot, known: 0.99 if slot % 2 else 0.5  # noqa: E731
    stats = run_stats(denoised("abababab", confidence, max_new_tokens=8))
    assert (stats.tokens, stats.passes.preview, stats.forced) == (8, 6, 4)
    assert stats.commits_by_step == (2.0, 1.0, 1.0)
    assert [(x.layer, x.touched, x.kept, x.rerouted) for x in stats.experts] == [(0, 9, 5, 0.5), (1, 8, 4, 0.25)]
    assert (stats.tokens_per_pass, stats.tokens_per_preview) == (8 / 7, 8 / 6)
    assert stats.longest_repeat == 8 and stats.distinct == 2 / 5 and stats.accepted == ()


@pytest.mark.parametrize("text, longest", [
    ("", 0), ("a", 0), ("abc", 0), ("aab", 2), ("baaac", 3), ("ababa", 5), ("xabcabcab", 8), ("abcdabce", 0),
])  # fmt: skip
def test_longest_repeat(text, longest):
    assert longest_repeat(ids(text)) == longest


@pytest.mark.parametrize("text, n, share", [("abcd", 1, 1.0), ("aaaa", 2, 1 / 3), ("abab", 2, 2 / 3), ("a", 2, None)])
def test_distinct(text, n, share):
    assert distinct(ids(text), n) == share
