"""The evaluation: what counts as right, shards that add up, figures by hand, the card, and bad values."""

import json
import math
from dataclasses import asdict
from types import SimpleNamespace

import pytest
import torch
from model_helpers import toy_model
from scripted import END, VOCAB, ScriptedModel, engine, ids

from clover_viz.__main__ import main
from clover_viz.config import CloverConfig
from clover_viz.engine import Engine
from clover_viz.lab import card, results, summary
from clover_viz.lab.eval import Case, about, active_parameters, cases, evaluate, likelihood
from clover_viz.lab.scoring import foreign_words, score
from clover_viz.model.clover import CloverForCausalLM
from clover_viz.settings import AutoregressiveSettings, DenoiseSettings
from clover_viz.training.data import EvalPrompt, eval_prompts

CALL = '{"name": "add", "arguments": {"a": "Łódź", "b": "👩‍🍳 x"}}'
COUNTS = {"agent": 4, "talk": 3, "answer": 2}
MODES = [AutoregressiveSettings(), DenoiseSettings(), DenoiseSettings(threshold=0.5)]
HEAD = {"schema": 1, "model": "toy", "weights": None, "parameters": 10, "active_parameters": 5, "dtype": "float32",
        "device": "cpu", "kernels": "reference", "prompts": {"seed": 0, "counts": COUNTS}}  # fmt: skip


def prompt(kind="agent", expected=CALL, accepted=(CALL,), copied=(), asked="add them"):
    return EvalPrompt(kind, ({"role": "user", "content": asked},), expected, accepted=accepted, copied=copied)


@pytest.mark.parametrize(
    "given, text, right, copied, foreign, intact",
    [
        (prompt(), CALL, True, None, True, True),
        (prompt(), CALL + " ", False, None, True, True),
        (prompt(), "\n" + CALL, False, None, True, True),
        (prompt(), CALL.replace('": "', '":"'), False, None, True, True),
        (prompt(), json.dumps(json.loads(CALL)), False, None, False, True),
        (prompt(), CALL.replace("Ł", "L"), False, None, False, True),
        (prompt(), CALL.replace("👩‍🍳", "👩"), False, None, False, True),
        (prompt(), CALL.replace("Ł", "\ufffd"), False, None, False, False),
        (prompt(asked="what is \ufffd?"), "\ufffd", False, None, False, True),
        (prompt(), "", False, None, False, True),
        (prompt("talk", "a", ("a", "b")), "b", True, None, None, True),
        (prompt("talk", "a", ("a", "b")), "B", False, None, None, True),
        (prompt("talk", "é", ("é", "b")), "b", True, None, None, True),
        (prompt("answer", "It is 5 in Rom.", ("It is 5 in Rom.",), ("5", "Rom")), "5 in Rom", False, True, None, True),
        (prompt("answer", "It is 5 in Rom.", ("It is 5 in Rom.",), ("5", "Rom")), "It is 5.", False, False, None, True),
        (prompt("prose", " the sea", ()), " the sea", None, None, None, True),
    ],
)
def test_scoring(given, text, right, copied, foreign, intact):
    found = score(given, text)
    assert (found.right, found.copied, found.foreign, found.intact) == (right, copied, foreign, intact)


@pytest.mark.parametrize(
    "text, words",
    [("plain text", ()), ("in Łódź, now", ("Łódź",)), ('"👩‍🍳": "naïve"', ("👩‍🍳", "naïve")), ("明天 at 5", ("明天",))],
)
def test_foreign_words(text, words):
    assert foreign_words(text) == words


class Oracle(ScriptedModel):
    """Knows the right answer to every prompt, and forgets the last character where the prompt's length is even."""

    def __init__(self, tokenizer, counts, **config):
        super().__init__([], **config)
        self.known = {}
        for kind, count in counts.items():
            for p in eval_prompts(kind, count):
                given = tokenizer.chat(list(p.messages))
                text = p.expected if len(given) % 2 else p.expected[:-1]
                self.known[tuple(given)] = [*ids(text), END]
        self.config.num_experts, self.config.num_experts_per_tok, self.dtype = 16, 4, torch.float32

    def prefill(self, tokens, cache):
        self.answer = self.known.get((*cache.tokens, *tokens.tolist()), [])  # none before the last part of a long one
        return super().prefill(tokens, cache)

    def named_parameters(self):
        return [("model.layers.0.mlp.experts.down_proj", SimpleNamespace(numel=lambda: 80)),
                ("lm_head.weight", SimpleNamespace(numel=lambda: 20))]  # fmt: skip


def oracle(counts=COUNTS, **config):
    made = engine(ScriptedModel([]))
    return engine(Oracle(made.tokenizer, counts, max_position_embeddings=4096, **config))


def run(shard=(1, 1)):
    return HEAD | {"shard": list(shard)} | evaluate(oracle(), cases(COUNTS, shard=shard), MODES)


@pytest.fixture(scope="module")
def whole():
    return run()


@pytest.fixture(scope="module")
def shards():
    return [run((1, 2)), run((2, 2))]


def without_times(result):
    return {**result, "runs": [{k: v for k, v in record.items() if k != "seconds"} for record in result["runs"]]}


def test_every_prompt_runs_in_every_mode_and_the_figures_add_up(whole):
    names = ["autoregressive", "denoise 0.95", "denoise 0.5"]
    assert [r["mode"] for r in whole["runs"]] == names * 9
    assert list(whole["settings"]) == names and whole["settings"]["denoise 0.5"]["block_size"] == 32
    for f in summary.figures(whole):
        records = [r for r in whole["runs"] if (r["kind"], r["mode"]) == (f.kind, f.mode)]
        assert f.n == COUNTS[f.kind] == f.right.n == f.seen.n + f.unseen.n
        assert f.right.held == sum(r["right"] for r in records) == f.seen.held + f.unseen.held
        assert f.tokens == sum(len(r["text"].encode()) for r in records)  # one token a byte
        after_prefill = f.passes["preview"] + f.passes["replay"] + f.passes["decode"]
        assert f.tokens_per_pass == f.tokens / after_prefill and f.passes["prefill"] == f.n
        assert (f.tokens_per_preview is None) == (f.mode == "autoregressive")
        assert f.intact.held == f.n == f.ended.held and f.speed > 0
        # at 0.99 every slot passes the bar: one preview a block, and a replay before each block but the first
        if f.mode != "autoregressive":
            assert f.passes["replay"] == f.passes["preview"] - f.n and f.forced.held == 0
            assert (f.touched, f.kept) == (8.5, 4.5)
        else:
            assert f.tokens_per_pass == 1 and f.speed == 1
    assert 0 < sum(r["right"] for r in whole["runs"]) < len(whole["runs"])
    assert summary.figures(whole)[0].unseen.n == 1  # every third agent prompt
    assert [(f.mode, f.layer, f.touched, f.kept) for f in summary.layer_figures(whole)] == [
        ("denoise 0.95", 0, 9, 5), ("denoise 0.95", 1, 8, 4), ("denoise 0.5", 0, 9, 5), ("denoise 0.5", 1, 8, 4)]


def record(index, tokens, seconds, mode="denoise 0.95", preview=1, replay=0, decode=0, **more):
    passes = {"prefill": 1, "preview": preview, "replay": replay, "verify": 0, "decode": decode}
    experts = {name: [float(10 * index)] if preview else [] for name in ("touched", "kept", "rerouted")}
    return {"kind": "agent", "index": index, "mode": mode, "right": True, "copied": None, "foreign": None,
            "intact": True, "text": "x", "reason": "end", "tokens": tokens, "passes": passes, "seconds": seconds,
            "committed": 32, "forced": 0, "experts": experts, "longest_repeat": 0, "distinct": None} | more  # fmt: skip


def test_aggregates_by_hand():
    plain = {"preview": 0, "mode": "autoregressive", "committed": 0}
    result = {
        "prompts": {"counts": {"agent": 2}}, "settings": {"autoregressive": {}, "denoise 0.95": {}},
        "cases": [{"kind": "agent", "index": i, "unseen": i == 1} for i in (1, 2)], "likelihood": [],
        "runs": [record(1, 10, 2.0, decode=10, **plain), record(2, 30, 6.0, decode=30, **plain),
                 record(1, 10, 1.0, preview=1, longest_repeat=4, distinct=1.0),
                 record(2, 30, 1.0, preview=5, replay=2, forced=2, right=False, distinct=0.5)],
    }  # fmt: skip
    f = summary.figures(result)[1]
    assert f.tokens_per_pass == 40 / 8 and f.mean_tokens_per_pass == (10 / 1 + 30 / 7) / 2
    assert f.tokens_per_preview == 40 / 6
    assert f.speed == (40 / 2) / (40 / 8)
    assert f.touched == pytest.approx((10 * 1 + 20 * 5) / 6)
    assert (str(f.right), str(f.unseen), str(f.seen), str(f.copied)) == ("50.0 %", "100.0 %", "0.0 %", "-")
    assert str(f.forced) == "3.1 %" and f.distinct == 0.75 and f.longest_repeat == 4
    assert summary.likelihood_figures(result) is None


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_merged_shards_equal_the_whole_run(whole, shards, tmp_path, order):
    for i in order:
        results.save(shards[i], tmp_path / f"{i}.json")
    merged = results.merge([results.load(tmp_path / f"{i}.json") for i in order])
    assert without_times(merged) == without_times(json.loads(json.dumps(whole)))
    assert results.merge([merged]) == merged
    untimed = [{k: v for k, v in asdict(f).items() if k != "speed"} for f in summary.figures(merged)]
    assert untimed == [{k: v for k, v in asdict(f).items() if k != "speed"} for f in summary.figures(whole)]


@pytest.mark.parametrize(
    "change, says",
    [
        ({"shard": [1, 2]}, "must be all shards of one run, each once, got 1/2, 1/2"),
        ({"shard": [2, 3]}, "got 1/2, 2/3"),
        ({"shard": [2, 2], "dtype": "bfloat16"}, "must have one dtype, got 'float32' and 'bfloat16'"),
        ({"shard": [2, 2], "weights": "ab"}, "must have one weights, got None and 'ab'"),
    ],
)
def test_results_that_do_not_belong_together(whole, change, says):
    with pytest.raises(ValueError, match=says):
        results.merge([whole | {"shard": [1, 2]}, whole | change])


def test_failures_are_the_first_of_each_kind_and_mode(whole):
    shown = summary.failures(whole, 1)
    assert len({(f["kind"], f["mode"]) for f in shown}) == len(shown) > 0
    wrong = next(r for r in whole["runs"] if not r["right"])
    assert shown[0]["text"] == wrong["text"] != shown[0]["expected"] and shown[0]["text"] == shown[0]["expected"][:-1]
    assert summary.failures(whole, 0) == []


def test_the_card_is_refreshed_between_its_markers_only(whole, tmp_path):
    file = tmp_path / "CARD.md"
    card.refresh(file, None)
    assert file.read_text() == card.card_text() and f"{card.BEGIN}\n{card.NOT_YET}\n{card.END}" in file.read_text()
    file.write_text("mine\n" + file.read_text() + "also mine\n")
    card.refresh(file, whole)
    once = file.read_text()
    card.refresh(file, whole)
    assert file.read_text() == once and once.startswith("mine\n---") and once.endswith("also mine\n")
    assert card.NOT_YET not in once and "| agent | denoise 0.95 | 4 | " in once
    for f in summary.figures(whole):
        assert f"| {f.kind} | {f.mode} | {f.tokens} | {f.passes['preview']} |" in once
    card.refresh(file, None)
    assert file.read_text() == "mine\n" + card.card_text() + "also mine\n"


def test_the_committed_card_tells_the_recipe_as_it_is():
    file = card.Path(__file__).resolve().parents[1] / "assets" / "clover-tiny" / "MODEL_CARD.md"
    text = file.read_text(encoding="utf-8")
    fixed = text[: text.index(card.BEGIN)], text[text.index(card.END) :]
    wanted = card.card_text()
    assert fixed == (wanted[: wanted.index(card.BEGIN)], wanted[wanted.index(card.END) :])


@pytest.fixture(scope="module")
def toy():
    return engine(toy_model(vocab_size=VOCAB, mask_token_id=0, eos_token_id=END, max_position_embeddings=4096))


def test_prose_is_likelihood_of_its_own_continuation(toy):
    text, continuation = "the sea", " was c—lm"
    found = likelihood(toy, text, continuation)
    nats = 0.0
    for end in range(len(ids(continuation))):
        given, target = ids(text) + ids(continuation)[:end], ids(continuation)[end]
        logits = toy.model.prefill(torch.tensor(given), toy.model.new_cache()).logits[0]
        nats -= logits.log_softmax(-1)[target].item()
    assert found["nats"] == pytest.approx(nats, abs=2e-3) and found["tokens"] == 11 and found["characters"] == 9


def test_prose_runs_raw_and_unscored(toy, monkeypatch):
    monkeypatch.setattr("clover_viz.lab.eval.PROSE_TOKENS", 4)
    book = EvalPrompt("prose", (), " was calm", text="the sea")
    result = evaluate(toy, [Case(0, book)], MODES[:2])
    assert [r["right"] for r in result["runs"]] == [None, None]
    assert [r["tokens"] for r in result["runs"]] == [4, 4] and result["runs"][1]["passes"]["prefill"] == 1
    assert len(result["runs"][1]["experts"]["kept"]) == toy.model.config.num_hidden_layers
    found = summary.likelihood_figures(result | {"prompts": {"counts": {"prose": 1}}})
    assert found.nats_per_token == pytest.approx(math.log(VOCAB), rel=0.2)
    assert "the sea" == result["cases"][0]["asked"]


def test_about_counts_only_the_experts_a_token_uses(toy):
    told, config = about(toy), toy.model.config
    experts = sum(p.numel() for n, p in toy.model.named_parameters() if ".experts." in n)
    assert told["parameters"] == sum(p.numel() for p in toy.model.parameters())
    unused = 1 - config.num_experts_per_tok / config.num_experts
    embedding = config.vocab_size * config.hidden_size
    assert told["active_parameters"] == told["parameters"] - experts * unused - embedding
    assert about(oracle())["active_parameters"] == 20 + 80 // 4
    with torch.device("meta"):
        assert active_parameters(CloverForCausalLM(CloverConfig())) == 2_947_169_728  # as published


@pytest.fixture
def loads_the_oracle(monkeypatch):
    monkeypatch.setattr(Engine, "load", lambda *_: oracle({"agent": 3, "talk": 3}))


def test_the_command_end_to_end(loads_the_oracle, capsys, tmp_path):
    one = ["lab", "eval", "--kinds", "agent,talk", "--count", "3", "--threshold", "0.95", "--threshold", "0.8"]
    assert main([*one, "--json", str(tmp_path / "all.json"), "--card", str(tmp_path / "C.md"), "--failures", "2"]) == 0
    out, err = capsys.readouterr()
    assert "agent  denoise 0.8" in out and "  expected " in out and "18/18 runs" in err
    for i in (1, 2):
        assert main([*one, "--shard", f"{i}/2", "--json", str(tmp_path / f"{i}.json")]) == 0
    capsys.readouterr()
    both = [str(tmp_path / "2.json"), str(tmp_path / "1.json")]
    assert main(["lab", "eval", "--merge", *both, "--json", str(tmp_path / "m.json"), "--failures", "2"]) == 0
    merged, stored = results.load(tmp_path / "m.json"), results.load(tmp_path / "all.json")
    assert without_times(merged)["runs"] == without_times(stored)["runs"] and merged["cases"] == stored["cases"]
    untimed = lambda text: [line.split()[:-1] for line in text.splitlines()]  # the last column is a speed
    assert untimed(capsys.readouterr().out) == untimed(out)
    before = (tmp_path / "C.md").read_text()
    assert main(["lab", "eval", "--merge", str(tmp_path / "all.json"), "--card", str(tmp_path / "C.md")]) == 0
    assert (tmp_path / "C.md").read_text() == before


def test_help_for_newcomers(capsys):
    assert main(["lab", "--help"]) == 0
    assert "eval" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stop:
        main(["lab", "eval", "--help"])
    assert stop.value.code == 0 and "--shard" in capsys.readouterr().out


@pytest.mark.parametrize(
    "argv, says",
    [
        ([], "experiment must be one of eval, exact, traces, got None"),
        (["evil"], "experiment must be one of eval, exact, traces, got 'evil'"),
        (["eval", "--count", "0"], "count must be a whole number of at least 1, got 0"),
        (["eval", "--count", "few"], "count must be a whole number of at least 1, got 'few'"),
        (["eval", "--count", "1.5"], "count must be a whole number of at least 1, got 1.5"),
        (["eval", "--kinds", "agent,chat"], "some of agent,answer,decline,structured,talk,prose, got 'chat'"),
        (["eval", "--kinds", ""], "got ''"),
        (["eval", "--kinds", "prose"], "kinds must not hold prose without --prose PATH"),
        (["eval", "--prose", "nowhere"], "no prose at nowhere"),
        (["eval", "--threshold", "2"], "threshold must be in [0, 1], got 2"),
        (["eval", "--threshold", "nan"], "threshold must be in [0, 1], got nan"),
        (["eval", "--mode", "autoregressive", "--threshold", "0.5"], "threshold must be left out without denoise mode"),
        (["eval", "--mode", "autoregressive", "--block-size", "8"], "block_size is not a setting of autoregressive"),
        (["eval", "--block-size", "5", "--count", "3"], "block_size must be one of 2, 4, 8, 16, 32 for this model"),
        (["eval", "--mode", "guess"], "mode must be denoise or speculative or autoregressive, got 'guess'"),
        (["eval", "--seed", "-1"], "seed must be a whole number of at least 0, got -1"),
        (["eval", "--shard", "3/2"], "shard must be I/N with I in [1, N], got '3/2'"),
        (["eval", "--shard", "0/2"], "shard must be I/N with I in [1, N], got '0/2'"),
        (["eval", "--shard", "half"], "shard must be I/N with I in [1, N], got 'half'"),
        (["eval", "--shard", "1/9", "--count", "3"], "shard must have N in [1, 3]"),
        (["eval", "--shard", "1/2", "--card", "CARD.md"], "--card must have all prompts: --merge the shards first"),
        (["eval", "--json", "nowhere/at.json"], "--json must name a file in a folder that exists"),
        (["eval", "--card", "nowhere/CARD.md"], "--card must name a file in a folder that exists"),
        (["eval", "--card", __file__], "--card must name a file that holds <!-- measured:begin -->"),
        (["eval", "--failures", "-1"], "failures must be a whole number of at least 0, got -1"),
        (["eval", "--merge", "nowhere.json"], "a result must be a JSON file of `lab eval --json`, got nowhere.json"),
        (["eval", "--merge", "a.json", "--count", "3"], "--count must be left out with --merge"),
        (["eval", "--merge", "a.json", "--seed", "0"], "--seed must be left out with --merge"),
        (["eval", "--model", "/nowhere/at/all", "--device", "moon"], "device must be auto, cpu, cuda"),
    ],
)
def test_a_bad_value_is_one_line_and_exit_2(request, capsys, argv, says):
    if "--device" not in argv:
        request.getfixturevalue("loads_the_oracle")
    assert main(["lab", *argv]) == 2
    out, err = capsys.readouterr()
    errors = [line for line in err.splitlines() if not line.startswith("prose is left out")]
    assert out == "" and len(errors) == 1 and errors[0].startswith("error: ") and says in errors[0]


@pytest.mark.parametrize("content, says", [("[]", "schema 1, got None"), ('{"schema": 2}', "schema 1, got 2"),
                                           ('{"schema": 1}', "must hold model, "), ("{", "got ")])  # fmt: skip
def test_a_file_that_is_no_result(tmp_path, content, says):
    file = tmp_path / "r.json"
    file.write_text(content)
    with pytest.raises(ValueError, match=says):
        results.load(file)
