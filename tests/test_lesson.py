"""The lesson: whole in both languages, its arithmetic the same in Python and JavaScript, its pictures of real runs."""

import json
import math
import re
import shutil
import subprocess

import pytest

pytest.importorskip("gradio")

from clover_viz.decoding.rules import accept_by_bar, acceptance_bar
from clover_viz.errors import UserError
from clover_viz.events import Denoised, Replayed, RunFinished, TokenDecoded, Verified
from clover_viz.examples import LIST, TOOL_CALL
from clover_viz.trace.canvas import Cell
from clover_viz.trace.store import play
from clover_viz.ui.lesson.data import MODEL, TRACES, picture_data
from clover_viz.ui.lesson.errors import ITEMS, RIGHT, decisive, find_error
from clover_viz.ui.lesson.model import history_heads, model_facts, scores
from clover_viz.ui.lesson.rules import budget, touched_if_independent
from clover_viz.ui.lesson.tab import SCRIPTS, lesson_json
from clover_viz.ui.lesson.text import SCREENS
from clover_viz.ui.lesson.words import WORDS
from clover_viz.ui.records import record
from clover_viz.ui.theme import asset

PLACEHOLDER = re.compile(r"\{(\w+)")
DENOISE = sorted(TRACES.glob("*-denoise.jsonl.gz"))
SPECULATIVE = sorted(TRACES.glob("*-speculative.jsonl.gz"))
OWN_SCRIPTS = [name for name in SCRIPTS if name.startswith("lesson")]


def node(expression, *scripts, data=None):
    """What an expression over the page's own scripts gives in node; `data` is there as `data`."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    program = "\n".join(asset(name) for name in scripts)
    program += f"\nconst data = {json.dumps(data)};\nprocess.stdout.write(JSON.stringify({expression}));"
    run = subprocess.run(["node", "-"], input=program, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def lesson():
    return json.loads(lesson_json())


def same_places(english, chinese):
    """Whether both say the same values; the number of a plural may be left out where it is always one."""
    one, many = set(PLACEHOLDER.findall(english)), set(PLACEHOLDER.findall(chinese))
    return one == many


# ---- texts


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.key)
def test_a_screen_is_whole_in_both_languages(screen):
    for page in (screen.en, screen.zh):
        assert page.title.strip() and page.text and all(paragraph.strip() for paragraph in page.text)
    assert 60 <= len(" ".join(screen.en.text).split()) <= 120
    assert 90 <= len(re.findall(r"[\u4e00-\u9fff]", "".join(screen.zh.text))) <= 220
    assert not re.search(r"[\u4e00-\u9fff]", " ".join([screen.en.title, *screen.en.text]))
    assert same_places(" ".join(screen.en.text), "".join(screen.zh.text))


def test_the_screens_are_the_ten_that_were_asked_for():
    pictures = [screen.picture for screen in SCREENS]
    assert len(SCREENS) == 10 and len(set(pictures)) == 10
    drawn = re.search(r"const PICTURES = \{(.*?)\};", asset("lesson/lesson.js"), re.S)[1]
    assert set(pictures) == set(re.findall(r"(\w+):", drawn))


def test_what_is_filled_into_the_text_is_computed():
    languages = ("en", "zh-CN")
    text = " ".join(p for screen in lesson()["screens"] for language in languages for p in screen[language]["text"])
    assert not PLACEHOLDER.search(text)
    for figure in ("about 814 tokens", "1357 on a GB300", "3.88 GB", "6.29 MB", "163 of the"):
        assert figure in text


def test_the_texts_repeat_no_slip_of_their_sources():
    """Of the analysis: 8.5 GB a step, 4,000 tok/s, and a memory that is constant at 128K."""
    said = json.dumps([lesson()["screens"], WORDS], ensure_ascii=False)
    for slip in ("8.5 GB", "4000", "4,000", "555", "constant memory", "≥ 0.95", ">= 0.95"):
        assert slip not in said


@pytest.mark.parametrize("key", WORDS)
def test_words_say_the_same_in_both_languages(key):
    english, chinese = WORDS[key]
    assert english and (chinese or key == "gap")
    assert same_places(english, chinese)
    halves = english.split(" | ")
    assert len(halves) in (1, 2) and len({frozenset(PLACEHOLDER.findall(half)) for half in halves}) == 1
    assert " | " not in chinese  # Chinese has one form


def test_every_word_that_the_scripts_use_is_there_and_no_other():
    source = "\n".join(asset(name) for name in OWN_SCRIPTS)
    used = set(re.findall(r'tell\((?:[^"()]* \? )?"([^"]+)"', source))
    used |= set(re.findall(r'tell\([^"()]* \? "[^"]+" : "([^"]+)"', source))
    families = set(re.findall(r'tell\([^`()]*`([\w.]+?)\$\{', source))
    assert used - set(WORDS) == set()
    assert [family for family in families if not any(key.startswith(family) for key in WORDS)] == []
    assert [key for key in WORDS if key not in used and not key.startswith(tuple(families))] == []


# ---- arithmetic

WORKED = [  # bandwidth TB/s, share, preview, verify, target -> GB, ms, tokens a round
    ((4.8, 0.6, 64, 163, 515), (65, 22.5, 11.6)),
    ((4.8, 0.6, 64, 64, 515), (40, None, 7.1)),
    ((4.8, 0.8, 32, 64, 515), (None, None, 4.3)),
]


@pytest.mark.parametrize("given, worked", WORKED)
def test_the_budget_gives_the_worked_values(given, worked):
    found = budget(*given)
    gigabytes, ms, needed = worked
    assert gigabytes is None or round(found.total / 1e9) == gigabytes
    assert ms is None or round(found.ms, 1) == ms
    assert math.isclose(found.needed, needed, abs_tol=0.06)


def test_the_ceilings_of_one_token_at_a_time():
    assert round(budget(4.8, 1, 8, 8, 1).ceiling) == 814
    assert round(budget(8.0, 1, 8, 8, 1).ceiling) == 1357
    assert math.isclose(touched_if_independent(), 163.3, abs_tol=0.05)


def test_the_budget_is_the_same_in_javascript():
    cases = [given for given, _ in WORKED]
    cases += [(8.0, 1.0, 256, 256, 680), (0.2, 0.1, 1, 8, 50), (3.35, 0.55, 17, 101, 300.5)]
    for given, found in zip(cases, node("data.map((row) => budget(...row))", "lesson/rules.js", data=cases)):
        ours = budget(*given)
        for name in ("dense", "preview", "verify", "total", "ms", "needed", "ceiling"):
            assert math.isclose(found[name], getattr(ours, name), rel_tol=1e-12), name


@pytest.mark.parametrize(
    "name, given",
    [
        ("bandwidth", (0, 0.6, 64, 64, 515)),
        ("efficiency", (4.8, 1.01, 64, 64, 515)),
        ("preview", (4.8, 0.6, 257, 64, 515)),
        ("verify", (4.8, 0.6, 64, 0.5, 515)),
        ("target", (4.8, 0.6, 64, 64, float("nan"))),
    ],
)
def test_a_budget_out_of_range_is_refused_by_name(name, given):
    with pytest.raises(ValueError, match=rf"^{name} must be above 0 and in \["):
        budget(*given)


@pytest.mark.parametrize("trace", DENOISE, ids=lambda trace: trace.name.partition(".")[0])
def test_the_commit_rule_repeats_every_step_of_the_recordings(trace):
    run = list(play(trace))
    steps = [event for event in run if isinstance(event, Denoised)]
    data = [
        [[slot.confidence for slot in step.slots],
         [slot.state == "masked" or slot.slot in step.committed for slot in step.slots],
         run[0].settings["threshold"]]
        for step in steps
    ]  # fmt: skip
    found = node("data.map((row) => commitRule(...row))", "lesson/rules.js", data=data)
    assert len(found) == len(steps) > 0
    for step, made in zip(steps, found):
        assert (made["slots"], made["forced"]) == (list(step.committed), step.forced)


def test_the_commit_rule_at_its_edges():
    calls = [
        [[0.95, 0.5], [True, True], 0.95],  # strictly above: the bar itself forces
        [[0.7, 0.7, 0.7], [False, True, True], 0.9],  # ties go to the lowest open slot
        [[0.9, 0.8], [False, False], 0.1],
        [[0.9, 0.8], [True, True], 0],
    ]
    found = node("data.map((row) => commitRule(...row))", "lesson/rules.js", data=calls)
    assert [(row["slots"], row["forced"]) for row in found] == [
        ([0], True), ([1], True), ([], False), ([0, 1], False),
    ]  # fmt: skip


@pytest.mark.parametrize("delta", [0.0, 0.3, 0.6, 2.0])
def test_the_threshold_rule_keeps_what_the_engine_would(delta):
    rounds = [e for trace in SPECULATIVE for e in play(trace) if isinstance(e, Verified)]
    checks = [[[check.probability, check.entropy] for check in e.checks] for e in rounds]
    found = node(f"data.map((row) => keptByThreshold(row, 0.9, {delta}))", "lesson/rules.js", data=checks)
    ours = [
        accept_by_bar([p for p, _ in row], [acceptance_bar(entropy, 0.9, delta) for _, entropy in row])
        for row in checks
    ]
    assert found == ours and len(found) > 0


@pytest.mark.parametrize("likeness, readout, slots", [(0.0, 1.0, 32), (0.5, 0.2, 4), (-0.7, 3.0, 16)])
def test_the_history_share_is_the_models_own(likeness, readout, slots):
    torch = pytest.importorskip("torch")
    from clover_kernels.block_mix.reference import block_mix

    bias, c, scale = 1.2, 0.4, 2.5
    q = torch.tensor([1.0, 0.0]).expand(slots, 1, 2)
    k = torch.tensor([likeness, math.sqrt(1 - likeness**2)]).expand(slots, 1, 2)
    state = torch.tensor([[readout, readout, readout], [0.0, 0.0, 0.0]]).expand(1, 2, 3)
    controls = (torch.tensor([value]) for value in (scale, bias, c))
    out = block_mix(q, k, torch.zeros(slots, 1, 3), state, *controls)  # the values are 0: what is left is the history
    share = node(f"historyShare({bias}, {c}, {scale}, {readout}, {likeness}, {slots})", "lesson/rules.js")
    assert math.isclose(out[0, 0, 0].item() / readout, share, rel_tol=1e-4)


# ---- pictures


def test_the_pictures_draw_the_recorded_runs():
    data = lesson()["data"]
    for name, run in data["runs"].items():
        events = list(play(TRACES / f"{name}.jsonl.gz"))
        records = [json.loads(text) for text in map(record, events) if text]
        assert run["records"] == records[: len(run["records"])] and len(run["records"]) > 3
        assert run["whole"] == (run["records"] == records)
    for trace in DENOISE:
        steps = [event for event in play(trace) if isinstance(event, Denoised) and event.block == 0]
        sure = data["sure"][trace.name.partition(".")[0]]
        assert len(sure) == len(steps)
        for row, step in zip(sure, steps):
            assert [c for c in row if c is not None] == [
                slot.confidence for slot in step.slots if slot.state == "masked" or slot.slot in step.committed
            ]


def test_the_cache_grows_with_the_prompt_and_the_replays_alone():
    data = picture_data()["passes"]
    run = list(play(TRACES / f"{data['run']}.jsonl.gz"))
    kinds = [kind for kind, *_ in data["passes"]]
    counts = vars(run[-1].passes)
    assert {kind: kinds.count(kind) for kind in ("prefill", "preview", "replay")} == {
        kind: counts[kind] for kind in ("prefill", "preview", "replay")
    }
    cached = [row[-1] for row in data["passes"]]
    grown = {kind for kind, before, after in zip(kinds[1:], cached, cached[1:]) if after != before}
    assert grown <= {"replay"}
    assert cached[-1] == run[0].prompt_tokens + sum(e.tokens for e in run if isinstance(e, Replayed))


def test_the_error_picture_tells_the_truth_of_its_run():
    found = picture_data()["error"]
    story = found["run"].removesuffix("-denoise")
    run = list(play(TRACES / f"{found['run']}.jsonl.gz"))
    alone = list(play(TRACES / f"{story}-autoregressive.jsonl.gz"))[-1].text
    assert found["got"] == run[-1].text and found["alone"] == alone
    if found["kind"] == "wrong":
        assert (found["asked"], found["right"]) == RIGHT[story] and found["got"] != found["right"]
    elif found["kind"] == "parted":
        assert found["got"] != alone == found["right"]
        for other, (_, right) in RIGHT.items():
            assert list(play(TRACES / f"{other}-denoise.jsonl.gz"))[-1].text == right
    token, confidence, step, forced = found["cells"][found["slot"]]
    event = next(e for e in run if isinstance(e, Denoised) and (e.block, e.step) == (0, step))
    assert found["slot"] in event.committed and event.forced == forced
    assert (event.slots[found["slot"]].token, event.slots[found["slot"]].confidence) == (token, confidence)
    if found["right"] == alone:  # so the tokens of the right answer are known, and the one pointed at is none of them
        right = [e.token for e in play(TRACES / f"{story}-autoregressive.jsonl.gz") if isinstance(e, TokenDecoded)]
        assert [token] != right[found["slot"] : found["slot"] + 1]


def test_the_right_answers_hold_what_the_requests_name():
    assert all(item in LIST.prompt for item in ITEMS)
    call = json.loads(RIGHT["agent"][1])
    assert call["name"] in TOOL_CALL.system and all(value in TOOL_CALL.prompt for value in call["arguments"].values())


def cells(*rows):
    return [Cell(slot, "committed", 7, token, sure, step) for slot, (token, sure, step) in enumerate(rows)]


@pytest.mark.parametrize(
    "right, path, slot",
    [
        ("abc", ["a", "b", "c", "<end>"], 2),  # one wrong token: not the right one behind it, though fixed before
        ("abbx", ["a", "b", "b", "x", "<end>"], 3),  # one too few: the end was fixed where it is before the others
        ("ac", ["a", "c", "<end>"], 3),  # one too many: fixed before the others where no right answer has a token
        ("abx", ["a", "b", "x", "<end>"], None),
        ("abc", (), 2),  # its tokens are not known: where the text parts
        ("abx<end>", (), None),
        (None, (), 1),  # the least sure
    ],
)
def test_the_decisive_commit_is_the_first_that_the_right_answer_lacks(right, path, slot):
    block = cells(("a", 0.9, 1), ("b", 0.2, 3), ("x", 0.8, 4), ("<end>", 0.6, 2))
    assert decisive(block, right, path) == slot


def test_without_an_error_the_lesson_says_so():
    runs = {file.name.partition(".")[0]: list(play(file)) for file in TRACES.glob("*.gz")}

    def with_text(run, text):
        end = run[-1]
        assert isinstance(end, RunFinished)
        return [*run[:-1], type(end)(**{**vars(end), "text": text})]

    for story, (_, right) in RIGHT.items():
        for mode in ("denoise", "autoregressive"):
            runs[f"{story}-{mode}"] = with_text(runs[f"{story}-{mode}"], right)
    assert find_error(runs)["kind"] in ("parted", "least")
    for story in ("agent", "list", "prose"):
        text = runs[f"{story}-denoise"][-1].text
        runs[f"{story}-autoregressive"] = with_text(runs[f"{story}-autoregressive"], text)
    found = find_error(runs)
    assert found["kind"] == "least" and found["right"] is None
    least = min(cell[1] for cell in found["cells"])
    assert found["cells"][found["slot"]][1] == least
    with pytest.raises(UserError, match="none of the recorded denoise runs"):
        find_error({})


def test_the_models_own_numbers_are_read_from_its_files():
    safetensors = pytest.importorskip("safetensors")
    facts = model_facts(MODEL)
    heads = history_heads(MODEL)
    with safetensors.safe_open(MODEL / "model.safetensors", "pt") as file:
        assert facts["tiny"]["parameters"] == sum(math.prod(file.get_slice(key).get_shape()) for key in file.keys())
        for head in heads:
            base = f"model.layers.{head['layer']}.linear_attn.bd_softmax_"
            for name, key in (("history_bias", "bias"), ("history_c", "c"), ("logit_scale", "scale")):
                assert file.get_tensor(base + name)[head["head"]].item() == head[key]
        assert len(heads) == sum(file.get_slice(k).get_shape()[0] for k in file.keys() if k.endswith("history_bias"))
    card = (MODEL / "MODEL_CARD.md").read_text(encoding="utf-8")
    rows = scores(MODEL)
    assert rows and all(f"| {row['kind']} | {row['mode']} | {row['n']} | {row['exact']} % |" in card for row in rows)


def test_a_file_that_cannot_be_read_costs_its_picture_and_no_other(tmp_path):
    for trace in TRACES.glob("*.gz"):
        (tmp_path / trace.name).write_bytes(trace.read_bytes())
    broken = tmp_path / "list-denoise.jsonl.gz"
    broken.write_bytes(broken.read_bytes()[:300])
    (tmp_path / "agent-speculative.jsonl.gz").unlink()
    model = tmp_path / "clover-tiny"
    model.mkdir()
    shutil.copy(MODEL / "config.json", model)
    (model / "model.safetensors").write_bytes((MODEL / "model.safetensors").read_bytes()[:5000])
    data = json.loads(lesson_json(tmp_path, model))["data"]
    assert "list-denoise.jsonl.gz" in data["runs"]["list-denoise"]["problem"]
    assert "agent-speculative.jsonl.gz" in data["runs"]["agent-speculative"]["problem"]
    for part in ("facts", "heads", "scores"):
        assert "\n" not in data[part]["problem"] and "clover-tiny" in data[part]["problem"]
    whole = lesson()["data"]
    assert data["runs"]["agent-denoise"] == whole["runs"]["agent-denoise"]
    assert "list" not in data["error"]["run"]


def test_the_browser_gets_text_that_cannot_look_like_markup():
    assert "<" not in lesson_json()
