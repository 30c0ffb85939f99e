"""Passes over a static cache equal the model's own, whatever was accepted before and whichever bucket they look at."""

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from clover_kernels.selection import OPS, select
from model_helpers import TOY, ids, toy_model
from scripted import ByteTokenizer
from test_cache import assert_same, contents

from clover_viz.engine import Engine
from clover_viz.errors import UserError
from clover_viz.events import Denoised, Drafted, KernelChoice, TokenDecoded, Verified
from clover_viz.model import graphs
from clover_viz.model.clover import CloverForCausalLM
from clover_viz.model.graphs import UNPROVEN, choose
from clover_viz.model.static_passes import pack, unpack
from clover_viz.model.steps import StepOutput, Steps
from clover_viz.settings import AutoregressiveSettings, DenoiseSettings, Limits, SpeculativeSettings

ROOT = Path(__file__).resolve().parent.parent
MASK = TOY["mask_token_id"]
BLOCK, MASKED = TOY["block_size"], torch.arange(TOY["block_size"]) % 2 == 0
CLOSE = dict(atol=1e-5, rtol=0)


@pytest.fixture(scope="module")
def model():
    return toy_model()


@pytest.fixture
def steps(model):
    return Steps(model, capture=False, positions=100, smallest=16)


def both(model, steps, prefix, seed=2):
    """The model's own cache and the static one, both after the same text."""
    own, cache = model.new_cache(), steps.new_cache()
    if prefix:
        for m, c in ((model, own), (steps, cache)):
            m.prefill(ids(prefix, seed), c)
    return own, cache


def same(found, wanted, atol=1e-5):
    torch.testing.assert_close(found.logits, wanted.logits, atol=atol, rtol=0)
    for name in ("touched", "kept"):
        assert torch.equal(getattr(found.routing, name), getattr(wanted.routing, name))
    torch.testing.assert_close(found.routing.rerouted, wanted.routing.rerouted)


def close(cache, own):
    """Scratch rows aside, the two caches hold the same."""
    assert_same(cache, own, 1e-5)
    assert int(cache.position) == own.length


@pytest.mark.parametrize("prefix", [0, 1, 2, 3, 15, 16, 17, 31, 33, 64, 65])
def test_every_pass_equals_the_model_s_own(model, steps, prefix):
    own, cache = both(model, steps, prefix)
    close(cache, own)
    for top_p in (0.6, None):
        block = ids(BLOCK, 3)
        same(steps.preview(block, MASKED, cache, top_p), model.preview(block, MASKED, own, top_p))
    for size in (BLOCK, 4, 1):
        same(steps.causal(ids(size, 4), cache), model.causal(ids(size, 4), own))
    assert steps.causal(ids(4), cache, last_only=True).logits.shape == (1, TOY["vocab_size"])


@pytest.mark.parametrize("on_device", [False, True], ids=["host", "device"])
@pytest.mark.parametrize("prefix", [0, 2, 13])
def test_every_accepted_length(model, steps, prefix, on_device):
    block = ids(BLOCK, 3)
    for n in range(BLOCK + 1):
        own, cache = both(model, steps, prefix)
        own.advance(model.causal(block, own).staged, n)
        cache.advance(steps.causal(block, cache).staged, torch.tensor(n) if on_device else n)
        assert cache.length == prefix + n
        close(cache, own)
        same(steps.preview(block, MASKED, cache, 0.9), model.preview(block, MASKED, own, 0.9))


def test_the_tolerance_tells_one_token_from_none(model, steps):
    found = []
    for n in (3, 4):
        cache = both(model, steps, 13)[1]
        cache.advance(steps.causal(ids(BLOCK, 3), cache).staged, n)
        found.append(contents(cache))
    moved = [(found[0][k] - found[1][k]).abs().max() for k in found[0] if k.endswith(("state", "ring"))]
    assert min(moved) > 1e-2


@pytest.mark.parametrize("on_device", [False, True], ids=["host", "device"])
def test_rounds_across_two_buckets(model, steps, on_device):
    """Preview, verify, accept a few, with single steps between: from 9 to past 64, in buckets of 16, 32, 64 and 100."""
    own, cache = both(model, steps, 9)
    rows = set()
    for number in range(24):
        block = ids(BLOCK if number % 3 else 1, number)
        if len(block) > 1:
            same(steps.preview(block, MASKED, cache, 0.9), model.preview(block, MASKED, own, 0.9))
        wanted, found = model.causal(block, own), steps.causal(block, cache)
        torch.testing.assert_close(found.logits, wanted.logits, atol=5e-5, rtol=0)
        n = 1 if len(block) == 1 else (5 * number) % BLOCK
        rows.add(cache.rows(0))
        own.advance(wanted.staged, n)
        cache.advance(found.staged, torch.tensor([n]) if on_device else n)
        assert int(cache.position) == own.length
        if number % 5 == 0:
            assert cache.length == own.length
    assert {16, 32, 64, 100} <= rows
    assert_same(cache, own, 5e-5)


def test_a_length_only_the_device_knows_is_never_underestimated(model, steps):
    cache = both(model, steps, 14)[1]
    cache.advance(steps.causal(ids(4), cache).staged, torch.tensor(1))
    assert cache.rows(0) == 32  # 15 in truth, at most 18
    assert cache.length == 15 and cache.rows(0) == 16


def test_previews_and_passes_not_advanced_leave_the_cache_as_it_was(model, steps):
    cache = both(model, steps, 21)[1]
    before, position = contents(cache), cache.position.clone()
    wanted = steps.causal(ids(BLOCK, 5), cache).logits.clone()
    for seed in range(4):
        steps.preview(ids(BLOCK, seed), MASKED, cache, 0.9 if seed else None)
        staged = steps.causal(ids(BLOCK, 9), cache).staged
    cache.advance(staged, 0)
    cache.advance(staged, torch.tensor(0))
    assert_same(cache, before, 0)
    assert torch.equal(cache.position, position)
    assert torch.equal(steps.causal(ids(BLOCK, 5), cache).logits, wanted)


def test_rejected_drafts_leave_no_trace(model, steps):
    """Two runs that rejected different drafts on the way to one text, and scratch rows full of large numbers."""
    text, found = ids(40, 4), []
    for wrong in (5, 6):
        cache = steps.new_cache()
        steps.prefill(text[:20], cache)
        for at in range(20, 40, 4):
            drafts = torch.cat((text[at : at + 4], ids(BLOCK - 4, wrong + at)))
            steps.preview(ids(BLOCK, wrong), MASKED, cache, 0.9)
            cache.advance(steps.causal(drafts, cache).staged, 4)
        for layer in cache.layers:
            if hasattr(layer, "k"):
                layer.k[:, 40:], layer.v[:, 40:] = 1e6 * wrong, -1e6 * wrong
        found.append((contents(cache), steps.preview(ids(BLOCK, 1), MASKED, cache, 0.9).logits.clone()))
    assert_same_values(*found)


def assert_same_values(one, other):
    # Up to rounding: how rows are added up depends on the rejected ones beside them, pass after pass.
    for name, tensor in one[0].items():
        torch.testing.assert_close(other[0][name], tensor, atol=3e-5, rtol=0, msg=name)
    torch.testing.assert_close(other[1], one[1], atol=3e-5, rtol=0)


def test_one_packed_tensor_tells_a_step(model, steps):
    own, cache = both(model, steps, 11)
    for found, wanted in (
        (steps.preview(ids(BLOCK), MASKED, cache, 0.6), model.preview(ids(BLOCK), MASKED, own, 0.6)),
        (steps.causal(ids(3), cache), model.causal(ids(3), own)),
    ):
        told, tokens = unpack(found.packed, len(wanted.logits)), wanted.logits
        p = tokens.softmax(-1)
        assert told.token == tokens.argmax(-1).tolist() and MASK not in told.token
        assert told.probability == pytest.approx(p.amax(-1).tolist(), abs=1e-5)
        assert told.entropy == pytest.approx(torch.special.entr(p).sum(-1).tolist(), abs=1e-4)
        assert told.touched == wanted.routing.touched.tolist() and told.kept == wanted.routing.kept.tolist()
        assert told.rerouted == pytest.approx(wanted.routing.rerouted.tolist())
        assert len(told.touched) == TOY["num_hidden_layers"]


@pytest.fixture
def walker(model):
    """An engine over the static passes of a toy model, whose ids the tokenizer takes for bytes."""
    return Engine(Steps(model, capture=False, positions=100, smallest=16), ByteTokenizer(), model.kernels)


@pytest.fixture
def asked(walker, monkeypatch):
    """How often the token statistics were asked for outside a pass, and how often anything came from the device."""
    seen = SimpleNamespace(statistics=0, copies=0)
    stats, copy = walker._stats, torch.Tensor.cpu

    def statistics(*given):
        seen.statistics += 1
        return stats(*given)

    def copied(tensor):
        seen.copies += 1
        return copy(tensor)

    walker._stats = statistics
    monkeypatch.setattr(torch.Tensor, "cpu", copied)
    return seen


TOLD = [DenoiseSettings(), SpeculativeSettings(), SpeculativeSettings(draft_steps=2, threshold=0.5),
        SpeculativeSettings(accept_rule="threshold"), AutoregressiveSettings(), DenoiseSettings(temperature=0.7),
        DenoiseSettings(repetition_penalty=1.3), SpeculativeSettings(frequency_penalty=0.5),
        AutoregressiveSettings(presence_penalty=1.0), DenoiseSettings(stop_bias=100.0)]  # fmt: skip


@pytest.mark.parametrize("settings", TOLD, ids=lambda s: f"{s.mode} {s.temperature} {s.repetition_penalty}")
def test_a_run_takes_what_its_passes_found_already(walker, asked, monkeypatch, settings):
    """The same events, to the bit, as when the statistics are made again from the logits; and each choice one copy."""
    prompt = ids(13).tolist()
    options = dict(max_new_tokens=30, seed=3, raw=True, top=settings.mode == "denoise")
    found = list(walker.generate(prompt, settings, **options))
    choices = sum(isinstance(event, (Denoised, Drafted, Verified, TokenDecoded)) for event in found)
    first = settings.mode == "speculative"  # the first boundary is chosen before the first round
    assert choices > 3 and asked.copies == choices + first
    adjusted = walker.request((1,), settings.in_force(walker.checkpoint), Limits(1), False).adjustments
    if settings.temperature:
        assert asked.statistics == 0  # never wanted
    elif adjusted.counting or adjusted.ramping:
        # before there is a response there is nothing to adjust; the prompt's pass makes no statistics
        assert choices + first - 2 <= asked.statistics <= choices + first
    else:
        assert asked.statistics == (settings.mode != "denoise")  # of the prompt's pass

    monkeypatch.delattr(StepOutput, "told")
    asked.statistics = 0
    walker._remembered = None
    assert list(walker.generate(prompt, settings, **options)) == found
    assert asked.statistics == (0 if settings.temperature else choices + first)


def test_what_was_packed_comes_out_to_the_bit():
    stats = (torch.tensor([248_319, 0]), torch.tensor([0.1, 1.0]), torch.tensor([12.4, 0.0]))
    routing = (torch.tensor([163]), torch.tensor([127]), torch.tensor([1.1]))
    told = unpack(pack(stats, routing), 2)
    wanted = [t.tolist() for t in (*stats, *routing)]
    assert list(told) == wanted


def test_new_cache_forgets_even_nan(model, steps):
    cache = both(model, steps, 30)[1]
    for layer in cache.layers:
        if hasattr(layer, "k"):
            layer.k.fill_(float("nan"))
        else:
            layer.state.fill_(float("nan"))
    own, cache = both(model, steps, 5)
    same(steps.preview(ids(BLOCK), MASKED, cache, None), model.preview(ids(BLOCK), MASKED, own, None))


def test_what_cannot_be(model, steps):
    cache = both(model, steps, 90)[1]
    old = steps.causal(ids(4), cache).staged
    for n in (-1, 5):
        with pytest.raises(ValueError, match=f"advance by {n} tokens: the pass staged 4"):
            cache.advance(old, n)
    for between in (
        lambda: steps.causal(ids(4), cache),
        lambda: steps.preview(ids(BLOCK), MASKED, cache, None),
        lambda: cache.advance(steps.causal(ids(4), cache).staged, 4),
    ):
        staged = steps.causal(ids(4), cache).staged
        between()
        with pytest.raises(ValueError, match="not the cache's last one"):
            cache.advance(staged, 1)
    with pytest.raises(ValueError, match="1 to 8 tokens, got 9"):
        steps.causal(ids(9), cache)
    with pytest.raises(ValueError, match=r"room for 100 tokens, got 94 \+ 7"):
        steps.prefill(ids(7), cache)
    with pytest.raises(ValueError, match="one cache"):
        steps.causal(ids(1), model.new_cache())
    cache.advance(steps.causal(ids(6), cache).staged, 6)
    assert cache.length == 100
    cache.advance(steps.causal(ids(1), cache).staged, 1)
    with pytest.raises(ValueError, match="room for 100 tokens, it holds 101"):
        steps.causal(ids(1), cache)


def test_in_bf16():
    """The same sums in another order: a router may decide otherwise, the logits point the same way."""
    model = toy_model(num_hidden_layers=4).to(torch.bfloat16)
    steps = Steps(model, capture=False, positions=64, smallest=16)
    own, cache = both(model, steps, 20)
    found, wanted = (m.causal(ids(BLOCK, 3), c).logits[:, :MASK] for m, c in ((steps, cache), (model, own)))
    assert torch.nn.functional.cosine_similarity(found, wanted, dim=-1).min() > 0.99


# clover-tiny, and the engine


@pytest.fixture(scope="module")
def tiny():
    return Engine.load(ROOT / "assets" / "clover-tiny", device="cpu", dtype="float32")


@pytest.fixture
def stepping(tiny):
    """The same model through its static passes, which are not captured here."""
    return Engine(Steps(tiny.model, capture=False, positions=512), tiny.tokenizer, tiny.model.kernels)


def test_clover_tiny(tiny):
    """Its logits are larger than a toy's, and so are their roundings."""
    model, steps = tiny.model, Steps(tiny.model, capture=False, positions=512, smallest=32)
    text = torch.tensor(tiny.tokenizer.chat([{"role": "user", "content": "Rename the function in utils.py"}]))
    own, cache = model.new_cache(), steps.new_cache()
    for m, c in ((model, own), (steps, cache)):
        m.prefill(text, c)
    block, masked = text.repeat(3)[:32], torch.arange(32) > 0
    for n in (32, 1, 17):
        found, wanted = steps.preview(block, masked, cache, 0.9), model.preview(block, masked, own, 0.9)
        same(found, wanted, 3e-5)
        found, wanted = steps.causal(block, cache), model.causal(block, own)
        same(found, wanted, 3e-5)
        own.advance(wanted.staged, n)
        cache.advance(found.staged, n)


@pytest.mark.parametrize("settings", [DenoiseSettings(), SpeculativeSettings(), AutoregressiveSettings()],
                         ids=lambda s: s.mode)  # fmt: skip
def test_the_engine_writes_the_same_text(tiny, stepping, settings):
    """Also on a second turn, which reads on from the first one's cache."""
    messages = [{"role": "user", "content": "List the files that changed"}]
    for _ in range(2):
        found, wanted = (e.complete(messages, settings, max_new_tokens=48) for e in (stepping, tiny))
        assert found.text == wanted.text and found.passes == wanted.passes and found.reason == wanted.reason
        messages += [{"role": "assistant", "content": wanted.text}, {"role": "user", "content": "And why?"}]


def test_the_last_logits_of_a_pass_get_their_own_statistics(model, steps):
    cache = both(model, steps, 11)[1]
    out = steps.causal(ids(5), cache, last_only=True)
    stats, routing = out.told()
    wanted = model.kernels.token_stats(out.logits, MASK)
    assert [len(part) for part in stats] == [5, 5, 5]
    for part, of_last in zip(stats, wanted):
        assert part[-1].tolist() == of_last.item()
    for name in ("touched", "kept", "rerouted"):
        assert getattr(routing, name).tolist() == getattr(out.routing, name).tolist()
    assert stats.token.data_ptr() == out.packed.data_ptr()


def test_who_gets_graphs(model, monkeypatch):
    none_here = "CUDA graphs need a CUDA device, the model is on cpu"
    assert choose(model, "off") == (None, "asked for")
    assert choose(model) == (None, none_here)
    with pytest.raises(ValueError, match=f"^graphs=on cannot run: {none_here}$"):
        choose(model, "on")
    with pytest.raises(ValueError, match="graphs must be auto, on, off, got 'maybe'"):
        choose(model, "maybe")
    card = dict(device=torch.device("cuda"))
    slow = SimpleNamespace(**card, kernels=KernelChoice("reference", ""))
    assert choose(slow)[0] is None and "kernels=triton" in choose(slow)[1]
    with pytest.raises(ValueError, match="^graphs=on cannot run: the reference's experts ask the host"):
        choose(slow, "on")
    fast = SimpleNamespace(**card, kernels=KernelChoice("triton", "Some Card"))
    assert choose(fast) == (None, UNPROVEN) and choose(fast, "off") == (None, "asked for")
    monkeypatch.setattr("clover_viz.model.steps.Steps", lambda model, capture: (model, capture))
    assert choose(fast, "on") == ((fast, True), "asked for")


def test_the_engine_says_why_there_are_none(model):
    engine = Engine(model, ByteTokenizer(), KernelChoice("reference", "toy"))
    assert engine.graphs == KernelChoice("off", "CUDA graphs need a CUDA device, the model is on cpu")
    for wrong, says in (("perhaps", "graphs must be"), ("on", "graphs=on cannot run")):
        with pytest.raises(UserError, match=says):
            Engine(model, ByteTokenizer(), KernelChoice("reference", "toy"), graphs=wrong)


# Capturing, on a card that is not there


class Card:
    """Stands in for torch.cuda: notes what happens. A replay repeats nothing, so outputs stay those of the capture."""

    def __init__(self, monkeypatch):
        self.seen, self.pools = [], []
        side, here = (SimpleNamespace(name=name, wait_stream=lambda other: None) for name in ("side", "here"))
        graph = SimpleNamespace(replay=lambda: self.seen.append("replay"))
        for name, value in {
            "Stream": lambda device: side, "current_stream": lambda device: here, "CUDAGraph": lambda: graph,
            "graph_pool_handle": object, "stream": lambda stream: self.inside(stream.name)(),
            "device": self.inside("device"), "graph": self.inside("capture"),
        }.items():  # fmt: skip
            monkeypatch.setattr(torch.cuda, name, value)

    def inside(self, name):
        @contextmanager
        def entered(*args, **kwargs):
            self.seen.append(name)
            if name == "capture":
                assert kwargs["capture_error_mode"] == "thread_local"
                self.pools.append(kwargs["pool"])
            yield

        return entered


def test_a_pass_is_captured_once_and_replayed(monkeypatch):
    card, runs = Card(monkeypatch), []
    held = graphs.Graphs(torch.device("cuda"), capture=True)
    for _ in range(3):
        assert held.run(("a", 1), lambda: runs.append(1) or "out") == "out"
    assert len(runs) == graphs.WARMUPS + 1 and len(held) == 1
    assert card.seen == ["device", "side", "here", "capture", "replay", "replay", "replay"]
    held.run(("b", 1), lambda: None)
    assert len(held) == 2
    held.capture = False
    assert held.run(("a", 1), lambda: "as it is") == "as it is"


def test_no_other_kind_s_graph_may_write_over_what_a_pass_handed_out(model, monkeypatch):
    """A decode's logits are read after the advance that follows it. In a pool that both share, the graph of a longer
    text would be given memory that the advance, captured before it, still works in."""
    card = Card(monkeypatch)
    steps = Steps(model, capture=True, positions=100, smallest=16)
    cache = steps.new_cache()
    for length in (10, 20):  # two buckets
        cache.length = length
        cache.advance(steps.causal(ids(1), cache).staged, 1)
        steps.preview(ids(BLOCK), MASKED, cache, None)
    decode, advance, preview, longer, longer_preview = card.pools
    assert len({id(pool) for pool in (decode, advance, preview)}) == 3
    assert longer is decode and longer_preview is preview


def test_each_pass_size_and_bucket_has_its_graph_and_a_capture_commits_nothing(model, monkeypatch):
    steps = Steps(model, capture=False, positions=100, smallest=16)
    cache = both(model, steps, 10)[1]
    Card(monkeypatch)
    steps.graphs.capture = True
    before = contents(cache)
    for _ in range(2):
        steps.preview(ids(BLOCK), MASKED, cache, 0.9)
        steps.causal(ids(1), cache)
        staged = steps.causal(ids(BLOCK), cache).staged
    assert len(steps.graphs) == 3
    cache.advance(staged, 7)  # the replay does nothing here: what is left is what warming up and capturing did
    assert int(cache.position) == 10 and cache.length == 17 and len(steps.graphs) == 4
    found = contents(cache)
    for name, tensor in before.items():
        if name.endswith(("state", "ring")):
            assert torch.equal(found[name], tensor), name
    for top_p in (0.9, 1.0, 0.35):  # 17: the next bucket
        steps.preview(ids(BLOCK), MASKED, cache, top_p)
    assert len(steps.graphs) == 5
    steps.preview(ids(BLOCK), MASKED, cache, None)
    assert len(steps.graphs) == 6


def test_what_is_captured_once_works_on_what_is_told_later(model, monkeypatch):
    """Every function but the first of its key is thrown away, as a replay would: ids, mask, share and length are read
    where they lie. Without a coreset there is another graph, and no third."""
    held = {}
    monkeypatch.setattr(graphs.Graphs, "run", lambda self, key, function: held.setdefault(key, function)())
    steps = Steps(model, capture=False, positions=100, smallest=32)
    own, cache = both(model, steps, 9)
    kept = set()
    for number, top_p in enumerate((0.9, 0.3, None, 1.0, 0.9)):
        block, masked = ids(BLOCK, number), torch.arange(BLOCK) % 3 == number % 3
        wanted = model.preview(block, masked, own, top_p)
        same(steps.preview(block, masked, cache, top_p), wanted)
        kept.add(tuple(wanted.routing.kept.tolist()))
        found, wanted = steps.causal(block, cache), model.causal(block, own)
        same(found, wanted)
        own.advance(wanted.staged, 1 + number)
        cache.advance(found.staged, 1 + number)
        close(cache, own)
    assert len(kept) > 3 and sum(key[0] == "preview" for key in held) == 2


# The Triton kernels


def test_a_shallow_model_on_interpreted_kernels(monkeypatch):
    from triton_helpers import interpreted

    for op in OPS:
        interpreted(op)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    model = toy_model(num_hidden_layers=4)
    twin = CloverForCausalLM(model.config, select("cpu", "triton")).eval()
    twin.load_state_dict(model.state_dict())
    steps = Steps(twin, capture=False, positions=64, smallest=16)
    own, cache = both(model, steps, 13)
    close_to = dict(atol=1e-4, rtol=1e-4)
    found, wanted = steps.preview(ids(BLOCK), MASKED, cache, 0.6), model.preview(ids(BLOCK), MASKED, own, 0.6)
    torch.testing.assert_close(found.logits, wanted.logits, **close_to)
    assert torch.equal(found.routing.kept, wanted.routing.kept)
    found, wanted = steps.causal(ids(BLOCK), cache), model.causal(ids(BLOCK), own)
    torch.testing.assert_close(found.logits, wanted.logits, **close_to)
    own.advance(wanted.staged, 5)
    cache.advance(found.staged, torch.tensor(5))
    assert_same(cache, own, 1e-4)
    assert unpack(found.packed, BLOCK).token == wanted.logits.argmax(-1).tolist()


ON_META = '''
import torch
from clover_viz.kernel_folder import register
register()
from clover_kernels.selection import KernelSet, _operations
from clover_viz.bench.compile_source import launches
from clover_viz.config import CloverConfig
from clover_viz.model.clover import CloverForCausalLM
from clover_viz.model.steps import Steps
from torch.utils._python_dispatch import TorchDispatchMode

class Counted(TorchDispatchMode):
    """torch's own operations: what is no view and makes more than room is a launch."""
    def __init__(self):
        super().__init__()
        self.number = 0
    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        self.number += not op.is_view and "empty" not in op.name()
        return op(*args, **(kwargs or {}))

with torch.device("meta"):
    kernels = KernelSet("triton", "", **_operations("triton_kernel"))
    model = CloverForCausalLM(CloverConfig(), kernels).to(torch.bfloat16).eval()
    steps = Steps(model, capture=False, positions=4096)
    for passes in (lambda: steps.preview(ids, ids > 0, cache, 0.9), lambda: steps.causal(ids, cache),
                   lambda: cache.advance(cache._open, 5), lambda: steps.causal(ids[:1], cache)):
        cache, ids = steps.cache, torch.zeros(32, dtype=torch.int64)
        with launches() as made, Counted() as counted:
            out = passes()
        print(len(made), counted.number, *(() if out is None else out.packed.shape))
'''


def test_nothing_of_a_step_asks_the_device():
    """The 35B's passes on tensors without memory, where every question to the device is an error; launches noted."""
    pytest.importorskip("triton", reason="Triton is not installed")
    env = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run([sys.executable, "-c", ON_META], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [[int(n) for n in line.split()] for line in done.stdout.splitlines()]
    assert [line[2:] for line in lines] == [[3 * 32 + 120], [3 * 32 + 120], [], [3 + 120]]
    assert lines[2][0] == 1  # the advance of all layers is one launch
    assert all(500 <= line[0] <= 550 for line in (lines[0], lines[1], lines[3]))  # about thirteen a layer
    # and seven products a layer, with what attention and the cache need: a launch costs as much as a megabyte
    assert all(line[1] < 520 for line in (lines[0], lines[1], lines[3])) and lines[2][1] < 20
