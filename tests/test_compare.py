"""`compare`: one table of three runs that tells speed, sameness and repetition; bad values fail before any work."""

from dataclasses import replace

import pytest
from scripted import BYTE, END, FILLER, ScriptedModel, engine, ids, rows

from clover_viz.__main__ import main
from clover_viz.cli.compare import Column, column, table
from clover_viz.engine import Engine
from clover_viz.settings import AutoregressiveSettings, DenoiseSettings, SpeculativeSettings

ANSWER = [*ids("abcabcabcd"), END]


def denoised_otherwise(place, token):
    """Previews that are right but for one place, where they are as sure of another token."""

    def preview(tokens, masked, start):
        right = lambda at: ANSWER[at] if at < len(ANSWER) else FILLER  # noqa: E731
        return rows(*((token if start + i == place else right(start + i), 0.99) for i in range(len(tokens))))

    return preview


@pytest.fixture
def loads(monkeypatch):
    """`compare` gets this model, and `loads.paths` what it was asked for."""

    def given(model=None):
        model = model or ScriptedModel(ANSWER, block_size=4)
        monkeypatch.setattr(Engine, "load", lambda *args: given.paths.append(args) or engine(model))
        return model

    given.paths = []
    return given


def shown(capsys):
    """The table as {row: cells}."""
    out = capsys.readouterr().out
    lines = out.splitlines()
    starts = [lines[0].index(name) for name in ("autoregressive", "denoise", "speculative")] + [None]
    cut = lambda line: [line[a:b].strip() for a, b in zip(starts, starts[1:])]  # noqa: E731
    return {line[: starts[0]].strip(): cut(line) for line in lines}


def test_one_table_of_the_three_modes(loads, capsys):
    loads(ScriptedModel(ANSWER, block_size=4, preview_logits=denoised_otherwise(5, BYTE + ord("|"))))
    assert main(["compare", "hi"]) == 0
    found = shown(capsys)
    assert found[""] == ["autoregressive", "denoise", "speculative (exact)"]
    assert found["tokens"] == ["10", "10", "10"]
    passes = ["1 prefill, 10 decode", "1 prefill, 3 preview, 2 replay", "1 prefill, 4 preview, 4 verify"]
    assert found["passes"] == passes
    assert found["tokens/pass"] == ["1.00", "2.00", "1.25"]
    assert all(float(cell) > 0 for cell in found["tokens/s"])
    assert found["longest repeat"] == ["9", "0", "9"]
    assert found["distinct-4"] == ["0.57", "1.00", "0.57"]
    assert found["ended by"] == ["end", "end", "end"]
    assert found["first difference"] == ["-", "token 5: 'c' / '|'", "same"]


def test_a_text_that_ends_elsewhere_is_told(loads, capsys):
    loads(ScriptedModel(ANSWER, block_size=4, preview_logits=denoised_otherwise(2, END)))
    assert main(["compare", "hi", "--max-new-tokens", "2"]) == 0
    assert shown(capsys)["first difference"] == ["-", "same", "same"]
    assert main(["compare", "hi"]) == 0
    assert shown(capsys)["first difference"][1] == "token 2: 'c' / '<end>'"
    one, other = (column(AutoregressiveSettings(), run("abc", limit)) for limit in (3, 2))
    assert table([one, other])[-1] == ("first difference", "-", "token 2: 'c' / nothing")


def run(answer, limit):
    return list(engine(ScriptedModel(ids(answer))).generate("hi", AutoregressiveSettings(), max_new_tokens=limit))


def test_repetition_stands_beside_the_speed():
    names = [name for name, *_ in table([column(AutoregressiveSettings(), run("aaaa", 4))])]
    assert names.index("longest repeat") == names.index("tokens/s") + 1 == names.index("distinct-4") - 1


def test_figures_that_are_not_there_are_a_dash():
    made = column(AutoregressiveSettings(), run("a", 1))
    assert isinstance(made, Column)
    slow = replace(made, finished=replace(made.finished, tokens_per_second=12.345))
    assert dict((name, cell) for name, cell in table([slow])) == {
        "": "autoregressive", "tokens": "1", "passes": "1 prefill", "tokens/pass": "-", "tokens/s": "12.3",
        "longest repeat": "0", "distinct-4": "-", "ended by": "length", "first difference": "-",
    }  # fmt: skip


def test_each_setting_reaches_the_modes_that_have_it(loads, capsys, monkeypatch):
    loads()
    asked = []
    generate = Engine.generate

    def spied(self, prompt, settings, max_new_tokens, stop=(), seed=0, **more):
        asked.append((prompt, settings, max_new_tokens, stop, seed))
        return generate(self, prompt, settings, max_new_tokens, stop, seed, **more)

    monkeypatch.setattr(Engine, "generate", spied)
    argv = ["--model", "there", "--device", "cpu", "--threshold", "0.5", "--block-size", "2", "--no-coreset",
            "--accept-rule", "threshold", "--delta", "0.3", "--presence-penalty", "1", "--max-new-tokens", "3",
            "--stop", "x", "--seed", "4", "--system", "be kind"]  # fmt: skip
    assert main(["compare", "hi", *argv]) == 0
    assert shown(capsys)[""][2] == "speculative (threshold, lossy)"
    assert loads.paths == [("there", "cpu", "auto", "auto", None, "auto")]
    prompt = [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}]
    assert asked[:3] == [
        (prompt, AutoregressiveSettings(presence_penalty=1), 3, ("x",), 4),
        (prompt, DenoiseSettings(0.5, 2, None, presence_penalty=1), 3, ("x",), 4),
        (prompt, SpeculativeSettings(2, "threshold", delta=0.3, threshold=0.5, coreset_top_p=None, presence_penalty=1),
         3, ("x",), 4),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "argv, says",
    [
        ([], "the following arguments are required: PROMPT"),
        ([" "], "the prompt must not be empty, got only white space"),
        (["hi", "--threshold", "3"], "threshold must be in [0, 1], got 3"),
        (["hi", "--accept-rule", "maybe"], "accept_rule must be exact or threshold, got 'maybe'"),
        (["hi", "--accept-rule", "threshold", "--temperature", "1"],
         "temperature must be 0 with accept_rule threshold, got 1.0"),
        (["hi", "--draft-steps", "0"], "draft_steps must be a whole number of at least 1, got 0"),
        (["hi", "--max-new-tokens", "none"], "max_new_tokens must be a whole number of at least 1, got 'none'"),
        (["hi", "--raw", "--system", "x"], "--system must be left out with --raw, which uses the prompt as it is"),
        (["hi", "--mode", "denoise"], "unrecognized arguments: --mode denoise"),
        (["hi", "--allow-untrained-block"], "unrecognized arguments: --allow-untrained-block"),
    ],
)  # fmt: skip
def test_a_bad_value_fails_before_the_model_is_loaded(loads, capsys, argv, says):
    loads()
    assert main(["compare", *argv]) == 2
    assert capsys.readouterr() == ("", f"error: {says}\n") and loads.paths == []


def test_what_only_the_model_can_refuse_fails_before_the_first_pass(loads, capsys):
    model = loads()
    assert main(["compare", "hi", "--block-size", "3"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "block_size must be one of 2, 4 for this model" in err and model.calls == []


def test_a_cancelled_comparison_shows_no_table(loads, capsys, monkeypatch):
    loads()
    monkeypatch.setattr("clover_viz.cli.compare.threading.Event", Set)
    assert main(["compare", "hi"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("autoregressive: cancelled: 0 tokens")


class Set:
    """A flag that somebody has already set."""

    def is_set(self):
        return True


def test_help_for_newcomers(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["compare", "--help"])
    out = capsys.readouterr().out
    assert stop.value.code == 0
    for part in ("a preview drafts, a causal pass checks", "lossy", "longest repeat", "--block-size"):
        assert part in out, part
