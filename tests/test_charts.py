"""The charts of a run: figures, words and tables hold exactly the numbers of its series, and the panel shows them."""

import csv
import io
import re
from contextlib import contextmanager
from pathlib import Path

import pytest

gr = pytest.importorskip("gradio")

from browser import SCREENSHOTS, WAIT
from test_series import DENOISE, SPECULATIVE, finished, started

from clover_viz.events import BlockOpened, Denoised, LayerExperts, Prefilled, Slot, TokenDecoded
from clover_viz.trace.series import run_series
from clover_viz.trace.store import play
from clover_viz.ui import palette
from clover_viz.ui.charts.chinese import SAID
from clover_viz.ui.charts.drawing import ALL, CHARTS, draw, parts
from clover_viz.ui.charts.heat import shown
from clover_viz.ui.charts.look import look
from clover_viz.ui.charts.panel import NO_RUN, charts_panel
from clover_viz.ui.charts.words import run_words
from clover_viz.ui.languages import CHINESE
from clover_viz.ui.page import launch_options
from clover_viz.ui.retelling import retold

TRACES = Path(__file__).parent.parent / "assets" / "traces"
AUTOREGRESSIVE = [
    started("autoregressive"), Prefilled(3, 1.0), *(TokenDecoded(3 + i, i, "t", 0.9, 1.0) for i in range(3)),
    finished(3, decode=2),
]  # fmt: skip
SMALL = {"denoise": DENOISE, "speculative": SPECULATIVE, "autoregressive": AUTOREGRESSIVE}


def trace(name):
    return run_series(play(TRACES / f"{name}.jsonl.gz"))


def traced(figure, name):
    return next(data for data in figure.data if data.name == name)


def every_chart(series):
    return [(name, part) for name in CHARTS for _, part in parts(series, name) or [("", None)]]


# What a mode has no chart of. Everything else it has.
LACKS = {
    "denoise": {"acceptance": "checks no drafts"},
    "speculative": {"commits": "no commits by step"},
    "autoregressive": {
        "confidence": "no slots and no steps", "commits": "no steps of a block", "acceptance": "drafts nothing",
        "experts": "no previews",
    },
}  # fmt: skip


@pytest.mark.parametrize("mode", SMALL)
@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_drawn_or_says_why_not(mode, name):
    made = draw(run_series(SMALL[mode]), name, None, dark=False)
    if name in LACKS[mode]:
        assert LACKS[mode][name] in made.missing and made.figure is made.table is None
    else:
        assert made.missing is None and made.figure.data and made.table.rows and made.words.endswith(".")


@pytest.mark.parametrize("name", CHARTS)
def test_a_run_that_ended_at_once_says_so(name):
    made = draw(run_series([started("denoise"), finished(0, "cancelled")]), name, None, dark=False)
    assert made.missing.endswith(".") and made.figure is None


def test_the_map_of_a_block_by_hand():
    figure = draw(run_series(DENOISE), "confidence", 1, dark=False).figure
    cells = traced(figure, "confidence")
    assert [list(row) for row in cells.z] == [[0.5, 0.97, 0.1], [0.92, None, 0.2]]
    assert (cells.x0, cells.y0) == (1, 1) and cells.text[0][1] == "“b”"
    assert list(zip(traced(figure, "committed").x, traced(figure, "committed").y)) == [(1, 2), (2, 1)]
    assert not traced(figure, "forced").x and "the text ends" in str(figure.layout.annotations)
    first = draw(run_series(DENOISE), "confidence", 0, dark=False).figure
    assert list(zip(traced(first, "forced").x, traced(first, "forced").y)) == [(2, 2)]
    assert "the text ends" not in str(first.layout.annotations)


def test_the_maps_of_rounds_by_hand():
    figure = draw(run_series(SPECULATIVE), "confidence", 0, dark=False).figure
    assert [list(row) for row in traced(figure, "draft confidence").z][2] == [0.7, 0.8, 0.9]
    assert [list(row) for row in traced(figure, "verifier probability").z][0] == [0.99, 0.7, 0.2]
    places = set(zip(traced(figure, "accepted").x, traced(figure, "accepted").y))
    assert places == {(1, 1), (2, 1), (1, 3), (2, 3), (3, 3)}
    refused = traced(figure, "first refused")
    assert list(zip(refused.x, refused.y)) == [(3, 1), (1, 2)]


def test_commits_by_hand():
    figure = draw(run_series(DENOISE), "commits", ALL, dark=False).figure
    assert list(traced(figure, "over the threshold").y) == [3, 1] and list(traced(figure, "forced").y) == [0, 1]
    made = draw(run_series(DENOISE), "commits", 0, dark=False)
    assert list(traced(made.figure, "over the threshold").y) == [2, 0]
    assert made.table.rows == ((1, 1, 2, 0, 2.0), (2, 1, 1, 1, 1.0))


def test_acceptance_by_hand():
    figure = draw(run_series(SPECULATIVE), "acceptance", None, dark=False).figure
    assert list(traced(figure, "drafted").y) == [3, 3, 3] and list(traced(figure, "accepted").y) == [2, 2, 1]


def test_experts_by_hand():
    figure = draw(run_series(SPECULATIVE), "experts", 0, dark=False).figure
    assert [list(row) for row in traced(figure, "touched").z] == [[5, 4]] * 4
    assert [list(row) for row in traced(figure, "kept").z] == [[3, 4]] * 4
    assert [list(row) for row in traced(figure, "rerouted").z] == [[0.5, 0.0]] * 4
    assert [list(row) for row in traced(figure, "verifier").z] == [[6, 2], [6, 2], [None, None], [6, 2]]
    assert [row[0] for row in traced(figure, "kept").text] == ["round 1", "round 2", "round 3.1", "round 3.2"]


def test_tokens_by_hand():
    made = draw(run_series(SPECULATIVE), "tokens", None, dark=False)
    so_far = traced(made.figure, "so far")
    assert list(so_far.x) == [4, 5, 7] and list(so_far.y) == [2.0, 1.25, 1.0] and list(so_far.customdata) == [2, 4, 7]
    rounds = traced(made.figure, "in the round")
    assert list(rounds.x) == [1, 4, 4, 5, 5, 7]
    assert list(rounds.y) == [1.5, 1.5, 0.5, 0.5, 2 / 3, 2 / 3]
    assert made.table.rows[0] == (2, 4, 2.0, 1, 3, 2, 1.5)


@pytest.mark.parametrize("name", sorted(path.name.split(".")[0] for path in TRACES.iterdir()))
def test_figures_of_recorded_runs_hold_the_numbers_of_their_tables(name):
    """Counted back from the figure: every cell, bar and point is a row of the table, and the other way round."""
    series = trace(name)
    for chart, part in every_chart(series):
        made = draw(series, chart, part, dark=True)
        if made.missing:
            continue
        rows, data = made.table.rows, {each.name: each for each in made.figure.data}
        assert all(len(row) == len(made.table.columns) for row in rows)
        if chart == "confidence" and series.blocks:
            cells = {(s + 1, slot + 1): z for s, row in enumerate(data["confidence"].z) for slot, z in enumerate(row)}
            assert {k: z for k, z in cells.items() if z is not None} == {(row[0], row[1]): row[3] for row in rows}
            marks = {(y, x): how for how, key in (("over the threshold", "committed"), ("forced", "forced"))
                     for x, y in zip(data[key].x, data[key].y)}  # fmt: skip
            assert marks == {(row[0], row[1]): row[4] for row in rows if row[4]}
        elif chart == "confidence":
            for column, key in ((3, "draft confidence"), (4, "verifier probability")):
                first = data[key].y0
                cells = {(r + first, d + 1): z for r, row in enumerate(data[key].z) for d, z in enumerate(row)}
                assert cells == {(row[0], row[1]): row[column] for row in rows}
        elif chart == "commits":
            sure, forced = data["over the threshold"].y, data["forced"].y
            assert [(a + b, b) for a, b in zip(sure, forced)] == [(row[2], row[3]) for row in rows]
        elif chart == "acceptance":
            assert list(zip(data["drafted"].y, data["accepted"].y)) == [(row[1], row[3]) for row in rows]
        elif chart == "experts":
            for column, key in ((2, "touched"), (3, "kept"), (4, "rerouted"), (5, "verifier")):
                if key in data:
                    at = column + (1 if series.rounds else 0)
                    assert [z for row in data[key].z for z in row] == [row[at] for row in rows]
        else:
            assert list(zip(data["so far"].customdata, data["so far"].x, data["so far"].y)) == [row[:3] for row in rows]


@pytest.mark.parametrize("name", ["prose-speculative", "prose-denoise", "agent-denoise"])
def test_a_table_comes_back_from_its_csv(name):
    series = trace(name)
    for chart, part in every_chart(series):
        table = draw(series, chart, part, dark=False).table
        if table is None:
            continue
        columns, *rows = csv.reader(io.StringIO(table.csv(), newline=""))
        assert tuple(columns) == table.columns
        values = [[row[at] for row in table.rows if row[at] is not None] for at in range(len(columns))]
        kinds = [type(column[0]) if column else float for column in values]
        back = [tuple(None if v == "" and kind is not str else kind(v) for v, kind in zip(row, kinds)) for row in rows]
        assert tuple(back) == table.rows


def spoken(token):
    """A run of one slot whose token this is."""
    slot = Slot(0, "committed", 1, token, 0.99)
    denoised = Denoised(0, 1, (0,), False, (slot,), (LayerExperts(0, 1, 1, 0.0),), 1.0)
    return run_series([started("denoise"), Prefilled(3, 1.0), BlockOpened(0, 3, 1), denoised, finished(1, preview=1)])


@pytest.mark.parametrize("token", ['a,"b"', "\n", "\r\n", "<b>x</b>", "é;\t", "=1+1", ""])
def test_any_token_survives_the_csv_and_is_no_markup_in_the_figure(token):
    made = draw(spoken(token), "confidence", 0, dark=False)
    assert list(csv.reader(io.StringIO(made.table.csv(), newline="")))[1][2] == token
    told = traced(made.figure, "confidence").text[0][0]
    assert "<" not in told and "\n" not in told
    assert shown("<b>a b</b>") == "“&lt;b&gt;a·b&lt;/b&gt;”"


def test_words_are_the_numbers_of_the_run():
    series = trace("prose-speculative")
    first, third = series.acceptance[0], series.acceptance[2]
    words = draw(series, "acceptance", None, dark=False).words
    assert f"in {first.accepted} of {first.tried} rounds ({100 * first.share:.0f}%)" in words
    assert f"draft 3 in {third.accepted} ({100 * third.share:.0f}%); none behind draft 3 ever was" in words
    assert f"{series.stats.tokens_per_round:.2f} tokens on average" in words
    assert f"{series.finished.tokens_per_pass:.2f} a pass" in draw(series, "tokens", None, dark=False).words
    assert draw(run_series(DENOISE), "confidence", 0, dark=False).words == (
        "Block 1 took 2 steps; the first committed 2 of its 3 slots. The mean confidence of its 3 commits was 0.78; "
        "1 was forced."
    )
    assert draw(run_series(DENOISE), "commits", ALL, dark=False).words == (
        "2 blocks: 5 slots committed in up to 2 steps, most by step 1, 3 (60%); 1 (20%) was forced."
    )


def test_rounds_come_in_stretches_and_blocks_one_by_one():
    rounds, blocks = trace("prose-speculative"), trace("prose-denoise")
    last = len(rounds.rounds)
    stretches = [f"Rounds {first} to {min(first + 23, last)}" for first in range(1, last + 1, 24)]
    assert len(stretches) > 1 and last % 24 != 1  # else the last is one round
    assert [label for label, _ in parts(rounds, "confidence")] == stretches
    assert [label for label, _ in parts(blocks, "commits")] == ["All blocks", "Block 1", "Block 2", "Block 3"]
    assert parts(blocks, "tokens") == [] and parts(blocks, "acceptance") == []


@pytest.mark.parametrize("dark", [False, True])
def test_every_ink_of_a_figure_has_its_contrast(dark):
    by = look(dark)
    for text in (by.ink, by.quiet):
        assert palette.contrast(text, by.surface) >= 4.5
    for shape in (by.edge, by.accent, by.ink):
        assert palette.contrast(shape, by.surface) >= 3
    for symbol in ("circle", "x"):  # on a cell of any colour, inside or outline can be told from it
        mark = by.mark(symbol)
        for cell in (by.line, by.accent, by.surface):
            assert max(palette.contrast(mark["color"], cell), palette.contrast(mark["line"]["color"], cell)) >= 3
    told = str(draw(run_series(DENOISE), "confidence", 0, dark).figure.to_dict())
    other = look(not dark)
    assert by.surface in told and not any(colour in told for colour in (other.surface, other.ink, other.accent))


@contextmanager
def mounted(**traces):
    """A page with the panel alone, over traces that a visitor chooses among by name."""

    def get_events(name):
        if name == "broken":
            return DENOISE[:3] + DENOISE[4:]
        return list(play(TRACES / f"{traces[name]}.jsonl.gz")) if traces[name] else None

    with gr.Blocks(analytics_enabled=False) as page:
        pick = gr.Radio([*traces, "broken"], value=next(iter(traces)), label="Trace", elem_id="pick")
        charts_panel(get_events, [pick])
    _, address, _ = page.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **launch_options())
    try:
        yield address
    finally:
        page.close(verbose=False)


class Reader:
    """A visitor of the mounted panel."""

    def __init__(self, browser, address, width=1100, **context):
        self.context = browser.new_context(viewport={"width": width, "height": 900}, **context)
        self.page = self.context.new_page()
        self.requests, self.faults = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda fault: self.faults.append(str(fault)))
        self.page.goto(address)
        self.page.get_by_role("button", name="Charts of this run").click(timeout=WAIT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def says(self, words):
        self.page.wait_for_function(
            "words => document.querySelector('.cv-chart-says')?.textContent.includes(words)", arg=words, timeout=WAIT
        )

    def choose(self, group, name):
        self.page.locator(f"#{group}").get_by_text(name, exact=True).click()

    def drawn(self, made):
        """Waits for a chart to be on the page, whole and under its name."""
        self.says(made.words)
        self.page.wait_for_function(
            """([names, title, colour]) => {
              const graph = document.querySelector("#charts-plot .js-plotly-plot");
              return graph?.querySelector(".main-svg") && graph.layout.paper_bgcolor === colour
                && JSON.stringify(graph.data.map((trace) => trace.name)) === names
                && document.querySelector("#charts-plot").getAttribute("aria-label") === title;
            }""",
            arg=[
                "[" + ",".join(f'"{each.name}"' for each in made.figure.data) + "]", made.words,
                made.figure.layout.paper_bgcolor,
            ],
            timeout=WAIT,
        )  # fmt: skip

    def data(self, name, field):
        return self.page.evaluate(
            "([name, field]) => { const { data } = document.querySelector('#charts-plot .js-plotly-plot');"
            "return data.find((trace) => trace.name === name)[field]; }",
            [name, field],
        )

    def shoot(self, name):
        SCREENSHOTS.mkdir(exist_ok=True)
        self.page.wait_for_timeout(300)
        self.page.locator("#charts").screenshot(path=SCREENSHOTS / f"{name}.png")


def test_the_panel_draws_tells_and_hands_out_the_numbers(browser):
    series = trace("prose-denoise")
    with mounted(prose="prose-denoise", none=None) as address, Reader(browser, address) as reader:
        made = draw(series, "confidence", 0, dark=False)
        reader.drawn(made)
        assert reader.data("confidence", "z") == [list(row) for row in traced(made.figure, "confidence").z]
        assert reader.page.get_by_role("img", name=made.words).count() == 1
        reader.shoot("charts-light-confidence")

        reader.page.get_by_label("Block", exact=True).select_option("Block 2")
        second = draw(series, "confidence", 1, dark=False)
        reader.drawn(second)
        assert reader.data("confidence", "z") == [list(row) for row in traced(second.figure, "confidence").z]
        assert reader.page.locator(".cv-chart-box").count() == 0
        reader.page.locator(".cv-chart-details summary").click()
        reader.page.locator(".cv-chart-box tbody tr").first.wait_for()
        assert reader.page.locator(".cv-chart-box tbody tr").count() == min(300, len(second.table.rows))
        cells = reader.page.locator(".cv-chart-box tbody tr").first.locator("td").all_text_contents()
        assert cells == [*map(str, second.table.rows[0][:3]), f"{second.table.rows[0][3]:.4f}", second.table.rows[0][4]]
        with reader.page.expect_download() as waiting:
            reader.page.get_by_role("button", name="Download CSV").click()
        assert waiting.value.suggested_filename == "clover-confidence-block-2.csv"
        assert Path(waiting.value.path()).read_bytes().decode("utf-8") == second.table.csv()

        reader.choose("charts-chart", "Commits by step")
        reader.drawn(draw(series, "commits", ALL, dark=False))
        reader.choose("charts-chart", "Accepted drafts")
        reader.says("Denoising checks no drafts")
        assert not reader.page.locator("#charts-plot").is_visible()
        assert not reader.page.get_by_role("button", name="Download CSV").is_visible()

        for name, says in (("none", "There is no finished run yet"), ("broken", "steps of block 0 must count")):
            reader.choose("pick", name)
            reader.page.locator("#charts-draw").click()
            reader.says(says)
        assert not reader.faults
        assert [url for url in reader.requests if not url.startswith((address, "data:", "blob:"))] == []


def test_the_panel_follows_the_theme_and_fits_a_phone(browser):
    series = trace("prose-speculative")
    phone = {"has_touch": True, "is_mobile": True, "color_scheme": "dark"}
    with mounted(prose="prose-speculative") as address, Reader(browser, address, 390, **phone) as reader:
        reader.drawn(draw(series, "confidence", 0, dark=True))
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= 390
        reader.shoot("charts-phone-dark")
        reader.page.emulate_media(color_scheme="light")
        reader.drawn(draw(series, "confidence", 0, dark=False))
        reader.choose("charts-chart", "Experts")
        reader.drawn(draw(series, "experts", 0, dark=False))
        reader.choose("charts-chart", "Tokens a pass")
        reader.drawn(draw(series, "tokens", None, dark=False))
        assert reader.page.evaluate("document.documentElement.scrollWidth") <= 390
        reader.shoot("charts-phone-light")
        assert not reader.faults


# ---- in Chinese


def texts_of(figure):
    """Every text that a figure shows, without the tokens of the model, which stand in their quotation marks."""
    for data in figure.data:
        yield data.name
        yield re.sub(r"%\{[^}]*\}", "", data.hovertemplate or "").replace("<extra></extra>", "").replace("<br>", "\n")
        rows = data.text if data.text is not None else ()
        yield from (re.sub("“.*”", "", text) for row in rows for text in ([row] if isinstance(row, str) else row))
    yield from (note.text for note in figure.layout.annotations)
    yield from (axis.title.text or "" for axis in (*figure.select_xaxes(), *figure.select_yaxes()))


@pytest.mark.parametrize("name", sorted(path.name.split(".")[0] for path in TRACES.iterdir()))
def test_every_text_of_a_chart_has_its_chinese(name):
    series = trace(name)
    shown = [retold(word, SAID) for word in run_words(series) if word != series.run.model]
    for chart, part in every_chart(series):
        made = draw(series, chart, part, dark=False, language=CHINESE)
        shown += [retold(label, SAID) for label, _ in parts(series, chart)]
        shown.append(retold(made.missing or made.words, SAID))
        if made.missing:
            continue
        shown += texts_of(made.figure)
        shown += [retold(column, SAID) for column in made.table.columns]
        cells = zip(*made.table.rows) if made.table.rows else ()
        words = [value for column, of in zip(made.table.columns, cells) if column != "token" for value in set(of)]
        shown += [retold(word, SAID) for word in words if isinstance(word, str)]
    assert len(shown) > 10
    assert [text for text in shown if re.search("[A-Za-z]{2}", text.replace("token", ""))] == []


@pytest.mark.parametrize("mode", SMALL)
def test_the_words_of_small_runs_have_their_chinese_and_its_numbers(mode):
    series = run_series(SMALL[mode])
    for chart, part in every_chart(series):
        made = draw(series, chart, part, dark=False)
        told = retold(made.missing or made.words, SAID)
        assert re.search("[A-Za-z]{2}", told.replace("token", "")) is None, told
        if not made.missing:
            numbers = sorted(re.findall(r"[0-9][0-9.,]*[0-9]|[0-9]", made.words))
            assert set(numbers) - {"1"} <= set(re.findall(r"[0-9][0-9.,]*[0-9]|[0-9]", told))


@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize("events", [[], [finished(0, "cancelled")]], ids=["cut", "stopped"])
def test_why_there_is_no_chart_has_its_chinese(chart, events):
    for mode in SMALL:
        series = run_series([started(mode), *events])
        told = [retold(text, SAID) for text in (draw(series, chart, None, dark=False).missing, *run_words(series)[:2])]
        assert [text for text in told if re.search("[A-Za-z]{2}", text.replace("token", ""))] == []
    assert re.search("[A-Za-z]", retold(NO_RUN, SAID)) is None


@pytest.mark.parametrize("mode", SMALL)
def test_a_figure_holds_the_same_numbers_and_tokens_in_both_languages(mode):
    series = run_series(SMALL[mode])
    for chart, part in every_chart(series):
        one, other = (draw(series, chart, part, dark=False, language=tag).figure for tag in ("en", CHINESE))
        if one is None:
            continue
        for mine, theirs in zip(one.data, other.data, strict=True):
            for field in ("x", "y", "z", "customdata"):
                assert str(getattr(mine, field, None)) == str(getattr(theirs, field, None))
            tokens = [re.findall("“.*?”", str(each.text)) for each in (mine, theirs)]
            values = [sorted(re.findall(r"%\{[^}]*\}", each.hovertemplate or "")) for each in (mine, theirs)]
            assert tokens[0] == tokens[1] and values[0] == values[1] and mine.name != theirs.name
