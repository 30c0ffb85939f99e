"""The player without a page: its time and text (the browser's own code), recordings, traces, links, the HTML file."""

import gzip
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from threading import Event as Flag
from types import SimpleNamespace

import pytest

pytest.importorskip("gradio")

from browser import chromium
from scripted_engine import ScriptedEngine

from clover_viz.errors import UserError
from clover_viz.events import Text
from clover_viz.settings import MODES, AutoregressiveSettings, DenoiseSettings, SpeculativeSettings
from clover_viz.trace.canvas import Canvas, fold
from clover_viz.ui.languages import CHINESE, spoken
from clover_viz.ui.player import upload as player_upload
from clover_viz.ui.player.link import LONGEST, link_of, settings_from_link
from clover_viz.ui.player.page import player_page
from clover_viz.ui.player.recording import keep, recording
from clover_viz.ui.player.shelf import FILES, RUNS, Shelf, recorded, shelve, short
from clover_viz.ui.player.upload import opened
from clover_viz.ui.records import record
from clover_viz.ui.theme import script



def english(text):
    """Words of a sentence of ours that stayed English; names of settings, events and choices may."""
    return re.findall(r"\b(?:must|be|got|the|an?|of|in|is|no|not|none|or|at|line|this|that|one|link|it)\b", text)


STORY = "The lamp counts.\n  - one\n  - two\n" * 3
NAMES = ("board/fold.js", "player/time.js", "player/text.js")


def events_of(mode="denoise", text=STORY, **settings):
    return list(ScriptedEngine(text, pace=1e6).generate([{"role": "user", "content": "go"}], MODES[mode](**settings)))


@pytest.fixture(scope="module")
def js(tmp_path_factory):
    """Runs an expression on `data` beside the player's page-free scripts: in node, or in a browser without it."""
    node = shutil.which("node")

    def in_node(expression, data):
        file = tmp_path_factory.mktemp("js") / "run.js"
        body = f"const data = {json.dumps(data)};\nconsole.log(JSON.stringify({expression}));"
        file.write_text(f"{script(*NAMES)}\n{body}", encoding="utf-8")
        done = subprocess.run([node, file], capture_output=True, text=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    if node:
        yield in_node
        return
    with chromium() as browser:
        page = browser.new_page()
        yield lambda expression, data: page.evaluate(f"data => {{ {script(*NAMES)}\nreturn {expression}; }}", data)


@pytest.fixture(scope="module")
def runs():
    """(events, recording) of a run in every mode, and of what ships with the app."""
    made = {mode: events_of(mode) for mode in MODES}
    made |= {key: kept.events for key, kept in recorded().items()}
    return {name: (events, recording(events, name)) for name, events in made.items()}


# ---- time


def test_time_is_the_passes_after_prefill_or_the_milliseconds_of_all(js, runs):
    ask = """data.map((recording) => {
      const line = new Timeline(recording);
      const kinds = {};
      for (const kind of line.kinds) if (kind) kinds[kind] = (kinds[kind] || 0) + 1;
      return [line.time("passes", line.length), line.time("ms", line.length), kinds, line.tokens];
    })"""
    found = js(ask, [recording for _, recording in runs.values()])
    for (events, _), (passes, ms, kinds, tokens) in zip(runs.values(), found, strict=True):
        end = events[-1]
        assert passes == end.passes.after_prefill and tokens == end.tokens
        assert ms == pytest.approx(fold(events).ms)
        assert kinds == {kind: n for kind, n in vars(end.passes).items() if n}


def test_any_walk_through_a_recording_shows_the_fold_of_the_records_so_far(js, runs):
    ask = """data.map((records) => {
      const whole = new Fold();
      const shown = (fold) => JSON.stringify({ ...fold, coming: null }); // a part knows how the whole ends
      const fresh = [shown(whole)];
      for (const record of records) fresh.push((whole.add(record), shown(whole)));
      let [fold, at] = [whole, 7];
      return Array.from({ length: 60 }, () => {
        at = (at * 5 + 3) % (records.length + 1);
        fold = prefix(whole, at, fold);
        return shown(fold) === fresh[at] && whole.records.length === records.length;
      }).every(Boolean);
    })"""
    assert all(js(ask, [recording["records"] for _, recording in runs.values()]))


@pytest.mark.parametrize(
    ("reason", "tokens", "ends", "last"),
    [
        ("end", 2, True, "discarded"),  # the boundary, a token of text, and the end token, which the verifier kept
        ("end", 3, False, "rejected"),  # both drafts are text, and the end token is the causal pass's own
        ("length", 3, True, "discarded"),  # cut behind the second draft
        ("length", 4, False, "rejected"),
        ("cancelled", 2, False, "rejected"),
    ],
)
def test_a_round_in_which_the_text_ends_refused_nothing(js, reason, tokens, ends, last):
    token, check = [5, "x", 0.9], [0.8, 0.1, None]
    passes = {"prefill": 1, "preview": 1, "replay": 0, "verify": 1, "decode": 0}
    records = [
        {"k": "run", "mode": "speculative", "prompt": 10, "set": {}}, {"k": "prefill", "n": 10, "ms": 1},
        {"k": "draft", "b": 0, "s": 1, "at": 10, "g": [4, "g"], "w": [[i, *token] for i in (1, 2, 3)],
         "x": [[], [], []], "ms": 1},
        {"k": "verify", "b": 0, "n": 2, "v": [check] * 3, "w": token, "t": [], "ms": 1},
        {"k": "end", "reason": reason, "tokens": tokens, "passes": passes, "per": 1, "rate": 1, "sec": 1},
    ]  # fmt: skip
    ask = """(() => {
      const whole = new Fold();
      for (const record of data) whole.add(record);
      const part = prefix(whole, data.length - 1, new Fold());
      return [whole.endsIn(whole.block), whole.block.slots[3].state, part.words, part.endsIn(part.block)];
    })()"""
    words = "the text ends there." if ends else "then the causal pass writes \u201cx\u201d, not \u201cx\u201d."
    assert js(ask, records) == [ends, last, f"Round 1: 2 drafts of 3 kept; {words}", ends]


def test_two_recordings_share_one_axis(js, runs):
    pair = [runs["denoise"][1], runs["autoregressive"][1]]
    ask = """["passes", "ms"].map((axis) => {
      const lines = data.map((recording) => new Timeline(recording));
      const track = new Track(lines, axis);
      return Array.from({ length: track.length + 1 }, (_, at) => [
        track.time(at), track.prefixes(at), track.find(track.time(at)), lines.map((line) => line.times[axis]),
      ]);
    })"""
    for stops in js(ask, pair):
        assert stops[0][:3] == [0, [0, 0], 0]
        for at, (time, prefixes, found, times) in enumerate(stops[1:], start=1):
            assert prefixes == [sum(t <= time for t in line) for line in times]
            assert found == (at if time else 0)
        assert stops[-1][1] == [len(line["records"]) for line in pair]


def test_another_axis_keeps_the_place(js, runs):
    ask = """(() => {
      const lines = data.map((recording) => new Timeline(recording));
      const [one, two] = [new Track(lines.slice(0, 1), "passes"), new Track(lines, "passes")];
      const places = Array.from({ length: two.length + 1 }, (_, at) => {
        const [track, position] = two.moved(at, "ms");
        return [two.prefixes(at), track.prefixes(position)];
      });
      return [one.moved(5, "ms")[1], places];
    })()"""
    denoise, one_by_one = runs["denoise"][1], runs["autoregressive"][1]
    single, places = js(ask, [denoise, one_by_one])
    assert single == 5
    whole = [len(denoise["records"]), len(one_by_one["records"])]
    for before, after in places:
        assert after[0] == before[0] if before[0] < whole[0] else after[1] == before[1]
    assert places[-1][1] == whole


@pytest.mark.parametrize(
    ("time", "elapsed", "axis", "speed", "after"),
    [
        (0, 100, "ms", 1, 100),
        (40, 100, "ms", 0.25, 65),
        (0, 100, "passes", 1, 0.4),
        (3, 100, "passes", 8, 6.2),
        (5, 60_000, "ms", 2, 505),  # a page that slept
        (5, -3, "ms", 1, 5),
    ],
)
def test_playing_moves_the_time(js, time, elapsed, axis, speed, after):
    assert js("advance(...data)", [time, elapsed, axis, speed]) == pytest.approx(after)


# ---- text


def test_the_text_at_a_position_is_what_the_events_had_said(js, runs):
    ask = "data.map(({ text }) => Array.from({ length: text.length + 1 }, (_, n) => new Deltas(text).upTo(n).join('')))"
    for (events, _), texts in zip(runs.values(), js(ask, [r for _, r in runs.values()]), strict=True):
        canvas, expected = Canvas(), [""]
        for event in events:
            canvas = canvas.apply(event)
            if isinstance(event, Text):
                expected[-1] = canvas.text
            elif record(event) is not None:
                expected.append(canvas.text)
        assert texts == expected


def test_without_deltas_the_tokens_are_the_text(js, runs):
    ask = """data.map(({ records }) => {
      const fold = new Fold();
      return [...records.map((record) => (fold.add(record), readable(tokensOf(fold)))).slice(-1)][0];
    })"""
    texts = js(ask, [r for _, r in runs.values()])
    assert texts == [events[-1].text for events, _ in runs.values()]


def test_named_bytes_become_the_characters_they_make(js):
    tokens = ["a", "<0xE2>", "<0x82>", "<0xAC>", "b", "<0xF0>", "<0xe2>"]
    assert js("readable(data)", tokens) == "a\u20acb\ufffd<0xe2>"


# ---- recordings and traces


@pytest.mark.parametrize("mode", MODES)
def test_a_recording_holds_the_records_of_the_events(mode):
    events = events_of(mode)
    made = recording(events, "A run")
    drawn = [event for event in events if not isinstance(event, Text)]
    assert made["records"] == [json.loads(record(event)) for event in drawn]
    assert made["ms"] == [getattr(event, "ms", None) for event in drawn]
    assert (made["title"], made["mode"], "".join(made["text"])) == ("A run", mode, events[-1].text)


def test_thinking_is_kept_apart():
    events = events_of("autoregressive", "ab cd")
    events[3] = Text(events[3].delta, thinking=True)
    made = recording(events, "")
    assert "".join(made["thinking"]) == "ab" and "".join(made["text"]) == " cd"


@pytest.mark.parametrize("mode", MODES)
def test_a_trace_gives_the_same_events_and_bytes_again(mode, tmp_path):
    events = events_of(mode)
    kept = keep(events, "run")
    assert [e.to_json() for e in kept.events] == [e.to_json() for e in events]
    assert keep(kept.events, "again").trace == kept.trace
    file = tmp_path / "saved.jsonl.gz"
    file.write_bytes(kept.trace)
    assert opened(file).trace == kept.trace and opened(file).title == "saved"
    assert fold(opened(file).events).frame() == fold(events).frame()
    with pytest.raises(ValueError, match="ends with run_finished"):
        keep(events[:-1], "cut")


def test_recorded_examples_are_there_before_any_model():
    titles = [kept.title for kept in recorded().values()]
    modes = ("denoise a block", "draft and verify", "one token at a time")
    assert titles[:3] == [f"JSON tool call \u00b7 {mode}" for mode in modes]
    assert len(titles) == 9
    assert recorded(Path("nowhere")) == {}


# ---- the shelf


def test_the_shelf_drops_the_oldest_and_never_reuses_a_key():
    shelf, kept = Shelf(), keep(events_of(), "run")
    runs = [shelf.put_run(kept) for _ in range(RUNS + 2)]
    files = [shelf.put_file(kept) for _ in range(FILES + 1)]
    assert len(set(runs + files)) == RUNS + FILES + 3
    keys = [key for _, key in shelf.choices()]
    assert keys == [*reversed(files[1:]), *reversed(runs[2:]), *recorded()]
    assert shelf.get(runs[0]) is None and shelf.get(runs[2]).trace == kept.trace
    assert shelf.news == runs[-1]


def session_after(events, *earlier):
    done = Flag()
    done.set()
    said = [{"role": "system", "content": "Be brief."}]
    for text in (*earlier, "Go  on\nplease"):
        said.append({"role": "user", "content": text})
    run = SimpleNamespace(done=done, events=events, canvas=fold(events), messages=said, raw=False)
    return SimpleNamespace(run=run, turns=[SimpleNamespace(prompt="Go  on\nplease")], shelf=Shelf())


def test_a_run_that_ended_is_shelved_once_with_its_prompt():
    session = session_after(events_of("speculative"), "before")
    kept = session.shelf.get(shelve(session))
    assert kept.title == "1. Go on please \u00b7 draft and verify"
    assert (kept.prompt, kept.system, kept.earlier, kept.raw) == ("Go  on\nplease", "Be brief.", 1, False)
    assert shelve(session) is None and session.run.events is None
    broken = session_after(events_of()[:-1])
    assert shelve(broken) is None and broken.shelf.news is None and broken.run.events is None
    broken.run = None
    assert shelve(broken) is None


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("JSON tool call \u00b7 denoise a block", "JSON 工具调用 \u00b7 逐块去噪"),
        ("2. You must be it, got it? Go. \u00b7 draft and verify", "2. You must be it, got it? Go. \u00b7 草稿与验证"),
        ("3. Stopped. Go on \u00b7 one token at a time", "3. Stopped. Go on \u00b7 逐个 token"),
    ],
)
def test_a_title_in_chinese_keeps_what_the_visitor_wrote(title, told):
    assert spoken(title, CHINESE) == told and spoken(title, "en") == title


def test_every_recorded_title_has_its_chinese():
    titles = [spoken(kept.title, CHINESE) for kept in recorded().values()]
    assert len(set(titles)) == 9 and [t for t in titles if re.search("[a-z]{2}", t.replace("token", ""))] == []


def test_a_long_prompt_is_cut_in_a_title():
    assert short("word " * 40) == "word " * 9 + "wo\u2026" and len(short("x" * 99)) == 48


# ---- files from outside

GOOD = [event.to_json_dict() for event in events_of()]
SPECULATIVE = [event.to_json_dict() for event in events_of("speculative")]
ONE_BY_ONE = [event.to_json_dict() for event in events_of("autoregressive")]


def changed(rows, kind, **fields):
    """The rows with fields of the first event of a kind replaced, and its line number."""
    at = next(at for at, row in enumerate(rows) if row["event"] == kind)
    return [*rows[:at], rows[at] | fields, *rows[at + 1 :]], at + 1


def text_of(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "line 1: a trace must end with run_finished"),
        (b"\x89PNG\r\n\x1a\n", "line 1: not a whole JSON object"),
        (b'{"a": 1}\n', "line 1: event must be one of"),
        (text_of(GOOD[:-1]), f"line {len(GOOD)}: a trace must end with run_finished"),
        (text_of(GOOD)[:-30], f"line {len(GOOD)}: not a whole JSON object"),
        (text_of(GOOD + GOOD), f"line {len(GOOD) + 1}: a trace must hold one run"),
        (text_of(changed(GOOD, "run_started", schema=7)[0]), "line 1: schema must be 1, got 7"),
        (gzip.compress(text_of(GOOD))[:-20], f"line {len(GOOD)}: the gzip data is broken or cut off"),
        (gzip.compress(gzip.compress(text_of(GOOD))), "line 1: a trace must be packed once at most"),
        (text_of(GOOD).replace(b'"delta": "T', rb'"delta": "\ud83dT'), "text must be valid Unicode"),
    ],
    ids="empty foreign other-json unfinished truncated two-runs schema cut-gzip twice-packed surrogate".split(),
)
def test_a_file_that_is_no_trace_is_refused_in_one_line(tmp_path, data, says):
    file = tmp_path / "what.jsonl.gz"
    file.write_bytes(data)
    with pytest.raises(UserError) as refused:
        opened(file)
    line = str(refused.value)
    assert line.startswith("what.jsonl.gz line ") and says in line and "\n" not in line
    assert english(re.sub(r"（.*）", "", spoken(line, CHINESE))) == []  # what a library says of it stands in brackets


CASES = [
    (GOOD, "run_started", {"settings": {"threshold": "high"}}, "settings.threshold must be a number"),
    (GOOD, "run_started", {"mode": "speculative"}, "block_opened must be of denoise mode, got speculative"),
    (GOOD, "block_opened", {"slots": 10**9}, "slots must be in [1, 1024], got 1000000000"),
    (GOOD, "run_started", {"settings": {"threshold": 7}}, "settings.threshold must be in [0, 1], got 7"),
    (GOOD, "prefilled", {"ms": 1e30}, "prefilled.ms must be in [0, 86400000], got 1e+30"),
    (GOOD, "denoised", {"committed": [99]}, "committed must be slots of the block, got (99,)"),
    (GOOD, "denoised", {"slots": GOOD[3]["slots"][::-1]}, "slots must be in order"),
    (SPECULATIVE, "drafted", {"step": 2}, "a round must begin with step 1, got 2"),
    (SPECULATIVE, "drafted", {"drafts": [SPECULATIVE[2]["drafts"][0] | {"slot": 40}]}, "drafts must be of slots"),
    (SPECULATIVE, "verified", {"accepted": 400}, "accepted must be in [0, "),
    (SPECULATIVE, "verified", {"checks": []}, "one a draft, got 0"),
    (SPECULATIVE, "verified", {"boundary": {"token_id": 1, "token": "x"}}, "boundary.probability must be told"),
]


@pytest.mark.parametrize(("rows", "kind", "fields", "says"), CASES, ids=[case[3][:30] for case in CASES])
def test_a_trace_that_no_board_can_draw_is_refused_with_its_line(tmp_path, rows, kind, fields, says):
    rows, number = changed(rows, kind, **fields)
    if "mode" in fields:
        number = 3
    file = tmp_path / "odd.jsonl"
    file.write_bytes(text_of(rows))
    with pytest.raises(UserError) as refused:
        opened(file)
    assert str(refused.value).startswith(f"odd.jsonl line {number}: ") and says in str(refused.value)
    assert english(spoken(str(refused.value), CHINESE)) == []


def test_a_position_that_goes_back_is_refused(tmp_path):
    file = tmp_path / "back.jsonl"
    file.write_bytes(text_of([*ONE_BY_ONE[:4], ONE_BY_ONE[2], *ONE_BY_ONE[4:]]))
    with pytest.raises(UserError, match="line 5: position must not go back"):
        opened(file)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_file_larger_than_the_limit_is_refused_at_the_line_that_passes_it(tmp_path, monkeypatch, pack):
    file = tmp_path / "big.jsonl"
    good = text_of(GOOD)
    file.write_bytes(pack(good + b"\n" * (1 << 20)))
    assert opened(file).events[-1].text == STORY
    monkeypatch.setattr(player_upload, "MEGABYTES", 1)
    with pytest.raises(UserError, match=r"big.jsonl line \d+: a trace must have at most 1 MB unpacked, got more"):
        opened(file)


# ---- links

RANGES = {"block_size": {4, 8, 16, 32}, "temperature": (0, 2), "max_new_tokens": (1, 1024)}


@pytest.mark.parametrize(
    ("query", "values"),
    [
        ({}, {}),
        ({"__theme": "dark", "utm_source": "x"}, {}),
        ({"prompt": "Hi & bye <b>"}, {"prompt": "Hi & bye <b>"}),
        ({"mode": "autoregressive", "seed": "7", "__theme": "dark"}, {"mode": "autoregressive", "seed": 7}),
        ({"coreset_top_p": "off"}, {"coreset": False}),
        ({"coreset_top_p": "0.5"}, {"coreset": True, "coreset_top_p": 0.5}),
        (
            {"mode": "speculative", "accept_rule": "threshold", "delta": "0.3", "block_size": "16"},
            {"mode": "speculative", "accept_rule": "threshold", "delta": 0.3, "block_size": 16},
        ),
    ],
)
def test_a_link_fills_in_what_it_names(query, values):
    filled = settings_from_link(query, RANGES)
    assert (filled.values, filled.line) == (values, None)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"mode": "magic"}, "mode must be denoise or speculative or autoregressive, got 'magic'"),
        ({"threshold": "3"}, "threshold must be in [0, 1], got 3.0"),
        ({"threshold": "nan"}, "threshold must be in [0, 1], got nan"),
        ({"threshold": "high"}, "threshold must be a number, got 'high'"),
        ({"block_size": "8.5"}, "block_size must be a whole number, got '8.5'"),
        ({"block_size": "5"}, "block_size must be 4 or 8 or 16 or 32 on this page, got 5"),
        ({"temperature": "9"}, "temperature must be in [0, 2] on this page, got 9"),
        ({"max_new_tokens": "0"}, "max_new_tokens must be a whole number of at least 1, got 0"),
        ({"seed": "-1"}, "seed must be a whole number in [0, "),
        ({"treshold": "0.5", "seed": "1"}, "treshold is no setting of this page"),
        ({"mode": "autoregressive", "threshold": "0.5"}, "threshold is not a setting of autoregressive mode"),
        ({"mode": "speculative", "accept_rule": "threshold", "temperature": "1"}, "temperature must be 0 with"),
        ({"mode": "speculative", "accept_rule": "off"}, "accept_rule must be exact or threshold, got 'off'"),
        ({"threshold": "off"}, "threshold must be a number, got 'off'"),
    ],
)
def test_a_bad_value_leaves_the_settings_alone_and_says_so_in_one_line(query, says):
    filled = settings_from_link({**query, "prompt": "kept"}, RANGES)
    assert filled.values == {"prompt": "kept"}
    assert filled.line.startswith("The link's settings were left out: ") and says in filled.line
    assert "\n" not in filled.line
    assert english(spoken(filled.line, CHINESE)) == []


@pytest.mark.parametrize(
    "settings",
    [
        DenoiseSettings(threshold=0.8, block_size=8, coreset_top_p=None, temperature=0.35),
        SpeculativeSettings(accept_rule="threshold", ratio=0.75, delta=0.1, draft_steps=3),
        AutoregressiveSettings(repetition_penalty=1.2, stop_bias=3.0, think_close_bias=2.5),
    ],
    ids=MODES,
)
def test_a_link_brings_a_runs_settings_back(settings):
    from urllib.parse import parse_qsl

    kept = settings.in_force({}).as_dict() | {"max_new_tokens": 40, "stop": (), "seed": 2**62 + 1}
    link = link_of(settings.mode, kept, "Hi \u00e9 & 1+1?", "Be\nbrief.")
    assert link.says == ""
    values = settings_from_link(dict(parse_qsl(link.query.removeprefix("?"), keep_blank_values=True))).values
    assert values.pop("mode") == settings.mode
    assert (values.pop("prompt"), values.pop("system")) == ("Hi \u00e9 & 1+1?", "Be\nbrief.")
    if values.pop("coreset", True) is False:
        values["coreset_top_p"] = None
    hidden = {"allow_untrained_block", "stop"}
    assert values == {name: value for name, value in kept.items() if name not in hidden}


def test_a_link_brings_back_that_a_text_was_gone_on_from():
    settings = DenoiseSettings().in_force({}).as_dict()
    assert "raw=true" in link_of("denoise", settings, "The night", raw=True).query
    assert settings_from_link({"prompt": "The night", "raw": "true"}).values == {"prompt": "The night", "raw": True}
    assert "raw" not in link_of("denoise", settings, "The night").query
    told = settings_from_link({"raw": "yes"})
    assert told.values == {} and "raw must be true or false, got 'yes'" in told.line
    assert english(spoken(told.line, CHINESE).replace("raw", "").replace("yes", "")) == []
    prose = next(kept for kept in recorded().values() if kept.title.startswith("Prose"))
    assert prose.raw and prose.prompt


def test_a_link_says_what_it_cannot_bring():
    settings = DenoiseSettings().in_force({}).as_dict() | {"max_new_tokens": 9, "stop": ("x",), "seed": 0}
    assert "no control for stop of this run" in link_of("denoise", settings, "a").says
    unknown = link_of("denoise", settings | {"stop": ()})
    assert "does not tell its prompt" in unknown.says and "prompt=" not in unknown.query
    long = link_of("denoise", settings | {"stop": ()}, "\u00e9" * LONGEST)
    assert "too long" in long.says and len(long.query) < 500
    before = link_of("denoise", settings | {"stop": ()}, "a", earlier=2)
    assert "not the conversation before it" in before.says
    for link in (link_of("denoise", settings, "a", earlier=2), unknown, long, before):
        assert link.says and english(spoken(link.says, CHINESE)) == []


# ---- the file that plays by itself

HOSTILE = 'x</script><script>hit=1</script><!-- <script> \u2028\u2029 ]]> & "q" \\u003c'


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.scripts, self.addresses, self._in = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.addresses += [value for name, value in attributes if name in ("src", "href", "action")]
        if tag == "script":
            self._in = True
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._in = self._in and tag != "script"

    def handle_data(self, data):
        if self._in:
            self.scripts[-1] += data


def test_the_file_holds_everything_and_no_token_breaks_out_of_it():
    events = events_of("autoregressive", HOSTILE)
    made = recording(events, HOSTILE)
    page = Page(player_page([made, made], HOSTILE))
    assert len(page.scripts) == 2 and page.addresses == []
    assert json.loads(page.scripts[0]) == [made, made]
    assert "<!--" not in page.scripts[1] and "http" not in page.scripts[1].replace("http://www.w3.org/2000/svg", "")
