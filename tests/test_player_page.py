"""The player in a real browser: the file that plays by itself, stepping through a live run, and the tab."""

import gzip
import math
import re
from urllib.parse import urlencode

import pytest

gr = pytest.importorskip("gradio")

from browser import SCREENSHOTS, WAIT
from test_player import GOOD, HOSTILE, events_of, text_of

from clover_viz.trace.canvas import fold
from clover_viz.ui.chat.knobs import fit, make_controls
from clover_viz.ui.page import launch_options
from clover_viz.ui.player.page import player_page
from clover_viz.ui.player.recording import keep, recording
from clover_viz.ui.player.shelf import Shelf, recorded
from clover_viz.ui.player.tab import fill_from_link, player_tab
from clover_viz.ui.player.upload import opened
from clover_viz.ui.player.words import LINES, PLAYER
from clover_viz.ui.records import record
from clover_viz.ui.runs.session import Session
from clover_viz.ui.theme import BOARD_SCRIPTS, script, style

LIST = "list-denoise.jsonl.gz"


@pytest.fixture
def sheet(browser):
    """A page without a server; whatever it throws fails the test, whatever it asks for is listed."""
    page = browser.new_page(viewport={"width": 1360, "height": 900})
    faults, page.asked = [], []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    page.on("request", lambda request: page.asked.append(request.url))
    yield page
    page.close()
    assert faults == []


def shot(page, name):
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


def until(page, expression):
    """Waits for an expression to hold. The file's own policy forbids the waiting that playwright puts into the page."""
    for _ in range(WAIT // 50):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never held: {expression}")


# ---- the file


def show(page, tmp_path, *recordings, title="A run"):
    file = tmp_path / "run.html"
    file.write_text(player_page(recordings, title), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector(".cv-tile")
    return file.as_uri()


def drawn_tiles(page):
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.evaluate("""[...document.querySelectorAll(".cv-tile")].map((tile) => [
      tile.className.match(/cv-(masked|committed|unused|dropped)/)[1], tile.querySelector(".cv-word").textContent,
    ])""")


def test_the_file_shows_the_fold_of_the_events_at_every_position(sheet, tmp_path):
    events = events_of()
    address = show(sheet, tmp_path, recording(events, "A run"))
    assert sheet.asked == [address]
    drawn = [event for event in events if record(event) is not None]
    for position in (len(drawn) - 1, 4, 9, 5):  # forth and back
        sheet.evaluate("position => player.seek(position)", position)
        canvas = fold(events[: events.index(drawn[position])])
        expected = [
            [cell.state if canvas.block.active or cell.state == "committed" else "unused",
             cell.token.replace(" ", "\u00b7").replace("\n", "\u21b5")]
            for cell in canvas.block.cells
        ]  # fmt: skip
        assert drawn_tiles(sheet) == [[state, "" if state == "unused" else token] for state, token in expected]
        assert sheet.evaluate("player.lanes[0].text.old.parentNode.textContent") == canvas.text
        assert sheet.evaluate("[player.position, player.length]") == [position, len(drawn)]


def test_the_keyboard_moves_and_plays(sheet, tmp_path):
    show(sheet, tmp_path, recorded()[LIST].recording, title="A list")
    passes = recorded()[LIST].events[-1].passes.after_prefill
    sheet.evaluate("player.root.addEventListener('moved', (event) => (window.at = event.detail.position))")
    length = sheet.evaluate("player.length")
    sheet.locator(".cv-controls .cv-scrub").focus()
    for key, position in [("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", length)]:
        sheet.keyboard.press(key)
        assert sheet.evaluate("[player.position, window.at]") == [position, position]
    sheet.locator(".cv-speed select").select_option("0.25")
    sheet.locator(".cv-play").focus()
    sheet.keyboard.press("Space")  # at the end it begins again
    until(sheet, "player.playing && player.position > 3 && player.position < player.length")
    sheet.keyboard.press("Space")
    stood = sheet.evaluate("[player.playing, player.position]")
    assert stood[0] is False and "Play" in sheet.locator(".cv-play").text_content()
    sheet.locator(".cv-speed select").select_option("8")
    sheet.locator(".cv-controls .cv-scrub").focus()
    sheet.keyboard.press("Space")
    until(sheet, "!player.playing && player.position === player.length")
    assert sheet.locator(".cv-controls [role=status]").text_content().startswith(f"Pass {passes} of {passes}")
    sheet.locator(".cv-tiles").focus()  # there the arrows are the slots' own
    sheet.keyboard.press("ArrowLeft")
    assert sheet.evaluate("player.position") == length


def test_two_runs_move_together(sheet, tmp_path):
    pair = [recorded()[f"list-{mode}.jsonl.gz"].recording for mode in ("denoise", "autoregressive")]
    show(sheet, tmp_path, *pair, title="Compared")
    sheet.evaluate("player.scrub(4)")
    passes = "player.lanes.map((lane) => lane.board.fold.passesAfterPrefill)"
    assert sheet.evaluate(passes) == [4, 4]
    longest = recorded()["list-autoregressive.jsonl.gz"].events[-1].passes.after_prefill
    assert f"Pass 4 of {longest}" in sheet.locator(".cv-reading").text_content()
    sheet.get_by_role("button", name="Milliseconds").click()
    ms = sheet.evaluate("player.lanes.map((lane) => lane.board.fold.ms)")
    to_come = filter(None, pair[1]["ms"][sheet.evaluate("player.lanes[1].board.fold.records.length") :])
    assert sheet.evaluate(passes)[0] == 4 and ms[1] <= ms[0] < ms[1] + next(to_come, math.inf)
    sheet.keyboard.press("End")
    assert sheet.evaluate("player.lanes.map((lane) => lane.board.fold.end.reason)") == ["end", "end"]
    titles = sheet.locator(".cv-lane-title").all_text_contents()
    assert titles == [made["title"] for made in pair]
    shot(sheet, "player-file-compared")
    sheet.set_viewport_size({"width": 390, "height": 844})
    assert sheet.evaluate("document.documentElement.scrollWidth") <= 390
    lanes = sheet.evaluate("[...document.querySelectorAll('.cv-lane')].map((lane) => lane.getBoundingClientRect().top)")
    assert lanes[1] > lanes[0]
    shot(sheet, "player-file-phone")


def test_hostile_tokens_are_only_text(sheet, tmp_path):
    show(sheet, tmp_path, recording(events_of("autoregressive", HOSTILE), HOSTILE), title=HOSTILE)
    assert sheet.evaluate("window.hit") is None
    assert sheet.locator(".cv-sofar-text").text_content() == HOSTILE
    assert sheet.locator("h1").text_content() == HOSTILE
    assert sheet.locator("script").count() == 2


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_it_starts_by_itself_only_where_motion_is_welcome(sheet, tmp_path, motion):
    sheet.emulate_media(reduced_motion=motion)
    made = recorded()[LIST].recording
    show(sheet, tmp_path, made)
    sheet.evaluate("""made => {
      document.getElementById("player").replaceChildren();
      window.own = new Player(document.getElementById("player"), { parts: ["tiles", "text"], autoplay: true });
      own.load(made);
    }""", made)
    assert sheet.evaluate("own.playing") is (motion == "no-preference")
    assert sheet.locator(".cv-tiles").is_visible() and not sheet.locator(".cv-meters").is_visible()
    with pytest.raises(Exception, match="parts must be of text, head, tiles"):
        sheet.evaluate("new Player(document.createElement('div'), { parts: ['nose'] })")


def serious(page):
    """What axe calls serious or worse: rule and elements."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page).response["violations"]
    return [
        (rule["id"], [f"{node['html'][:120]} | {node['failureSummary'][-160:]}" for node in rule["nodes"]])
        for rule in found
        if rule["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_file_breaks_no_serious_rule_of_access(sheet, tmp_path, scheme):
    sheet.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    pair = [recorded()[f"prose-{mode}.jsonl.gz"].recording for mode in ("speculative", "denoise")]
    show(sheet, tmp_path, *pair, title="Compared")
    sheet.evaluate("player.seek(Math.round(player.length / 2))")
    until(sheet, "document.querySelector('.cv-board .cv-words').textContent.startsWith('Round')")
    assert serious(sheet) == []
    sheet.evaluate("player.load(recordings[0]); player.seek(5)")
    until(sheet, "document.querySelectorAll('.cv-lane').length === 1")
    assert serious(sheet) == []


def test_the_file_speaks_its_readers_language(browser, tmp_path):
    context = browser.new_context(viewport={"width": 390, "height": 844}, locale="zh-CN")
    page = context.new_page()
    show(page, tmp_path, recorded()[LIST].recording, title="A run")
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    assert page.locator(".cv-lane-title").text_content() == "列表 \u00b7 逐块去噪"
    assert page.locator(".cv-play").inner_text() == PLAYER["Again"]
    said = page.locator(".cv-controls").inner_text() + page.locator(".cv-words").inner_text()
    assert re.findall("[A-Za-z]{2,}", said.replace("token", "")) == []
    assert page.get_by_role("slider", name=PLAYER["Position in the recording"]).count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    shot(page, "player-file-zh")
    context.close()


# ---- a live run on the chat's board


def test_a_visitor_steps_through_a_run_while_it_goes_on(sheet):
    sheet.set_content(f"<style>{style()}</style><div id=board></div>")
    sheet.add_script_tag(content=script(*BOARD_SCRIPTS))
    records = recording(events_of(text="word " * 60), "")["records"]
    sheet.evaluate("""records => {
      window.records = records;
      window.board = new Board(document.getElementById("board"), () => {});
      window.arrive = (from, to, state = "running") => board.frame(
        JSON.stringify({ run: "r", state, note: "", from, records: records.slice(from, to) }));
      window.same = (n) => {
        const fold = new Fold();
        records.slice(0, n).forEach((record) => fold.add(record));
        return JSON.stringify(fold) === JSON.stringify(board.fold);
      };
      arrive(0, 8);
    }""", records)
    back, forward = sheet.get_by_role("button", name="Step back"), sheet.get_by_role("button", name="Step forward")
    back.click()
    back.click()
    assert sheet.evaluate("[board.at, same(6)]") == [6, True]
    sheet.evaluate("arrive(8, 12)")  # the run goes on, the view stays
    sheet.wait_for_function("document.querySelector('.cv-past .cv-says').textContent === 'event 6 of 12'")
    assert sheet.evaluate("same(6)")
    forward.click()
    assert sheet.evaluate("[board.at, same(7)]") == [7, True]
    sheet.get_by_role("slider", name="Events of this run").focus()
    sheet.keyboard.press("Home")
    assert sheet.evaluate("[board.at, same(0)]") == [0, True]
    sheet.wait_for_function("document.querySelector('.cv-words').textContent === 'Before the first event.'")
    sheet.get_by_role("button", name="Follow").click()
    sheet.evaluate("arrive(12, 14)")
    assert sheet.evaluate("[board.at, same(14)]") == [None, True]
    back.click()
    forward.click()  # the newest is followed again
    sheet.evaluate("arrive(14, records.length, 'finished')")
    assert sheet.evaluate("[board.at, same(records.length)]") == [None, True]
    sheet.wait_for_function("document.querySelector('.cv-words').textContent.startsWith('Finished')")
    sheet.evaluate("board.seek(5)")
    sheet.evaluate("board.frame(JSON.stringify({ run: 'next', state: 'running', from: 0, records: [] }))")
    assert sheet.evaluate("[board.at, same(0)]") == [None, True], "another run is followed from its beginning"


# ---- the tab


class Visit(Session):
    """A session with a shelf, whatever the session itself has."""

    def __init__(self):
        super().__init__()
        self.shelf = Shelf()


@pytest.fixture(scope="module")
def address():
    def finish(session):
        session.shelf.put_run(keep(events_of("speculative"), "Mine", prompt="Tell & show"))
        return "The run is finished"

    with gr.Blocks(title="Player", analytics_enabled=False, fill_width=True) as page:
        session = gr.State(Visit())
        with gr.Tabs():
            with gr.Tab("Chat"):
                prompt = gr.Textbox(label="Message", elem_id="prompt")
                controls = make_controls()
                fit(controls)
                ended = gr.Button("Finish a run", elem_id="finish")
                ended.click(finish, [session], ended)
            with gr.Tab("Player") as tab:
                player_tab(session, tab)
        fill_from_link(page, prompt, controls)
    _, address, _ = page.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **launch_options())
    yield address
    page.close(verbose=False)


@pytest.fixture
def visit(browser, address):
    """Opens the page, by query and in a context, and holds it to no faults and no request elsewhere."""
    contexts, faults, asked = [], [], []

    def open_page(query="", width=1360, height=900, **context):
        contexts.append(browser.new_context(viewport={"width": width, "height": height}, **context))
        page = contexts[-1].new_page()
        page.set_default_timeout(WAIT)
        page.on("pageerror", lambda fault: faults.append(str(fault)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address + query)
        page.wait_for_selector("#prompt textarea")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []
    assert [url for url in asked if not url.startswith((address, "data:", "blob:", "file:"))] == []


def to_player(page):
    page.get_by_role("tab", name="Player").click()
    page.wait_for_selector(".cv-player .cv-tile")


def chosen(page, which, title):
    page.locator(f"#player_{which} input").click()
    page.get_by_role("option", name=title, exact=True).click()
    page.wait_for_function("!document.querySelector('li.item[role=option]')")  # the list fades away


def titled(page, *titles):
    """Waits for the lanes to hold these recordings."""
    page.wait_for_function(
        "titles => [...document.querySelectorAll('.cv-lane-title')].map((t) => t.textContent).join('|') === titles",
        arg="|".join(titles), timeout=WAIT,
    )  # fmt: skip


def test_examples_are_chosen_compared_and_played(visit):
    page = visit()
    to_player(page)
    titled(page, "JSON tool call \u00b7 denoise a block")
    shot(page, "player-alone")
    chosen(page, "run", "A list \u00b7 draft and verify")
    titled(page, "A list \u00b7 draft and verify")
    chosen(page, "other", "A list \u00b7 one token at a time")
    titled(page, "A list \u00b7 draft and verify", "A list \u00b7 one token at a time")
    page.locator(".cv-speed select").select_option("8")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.locator(".cv-play").click()
    ends = [recorded()[f"list-{mode}.jsonl.gz"].events[-1] for mode in ("speculative", "autoregressive")]
    runs = [end.passes.after_prefill for end in ends]
    reading = f"Pass {max(runs)} of {max(runs)}"
    page.wait_for_function("said => document.querySelector('.cv-reading').textContent === said", arg=reading)
    assert [url for url in asked if "queue" in url or "component" in url] == [], "playing asks the server for nothing"
    shot(page, "player-compared")


def test_the_page_s_own_run_is_played_saved_and_linked(visit, tmp_path):
    page = visit()
    page.locator("#finish").click()
    page.get_by_text("The run is finished").wait_for()
    to_player(page)
    titled(page, "1. Mine")
    link = page.locator(".cv-link").get_attribute("href")
    assert "mode=speculative" in link and "prompt=Tell+%26+show" in link
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the trace").click()
    assert download.value.suggested_filename == "1-mine.jsonl.gz"
    saved = tmp_path / "saved.jsonl.gz"
    download.value.save_as(saved)
    assert opened(saved).events == events_of("speculative")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as a web page").click()
    file = tmp_path / "saved.html"
    download.value.save_as(file)
    page.goto(file.as_uri())
    until(page, "document.querySelector('.cv-lane-title').textContent === '1. Mine'")
    assert page.locator(".cv-sofar-text").text_content() == events_of("speculative")[-1].text


def test_a_file_is_opened_or_refused_in_words(visit, tmp_path):
    page = visit()
    to_player(page)
    good, bad = tmp_path / "other run.jsonl.gz", tmp_path / "bad ${window.hit=1} {{value}}.jsonl"
    good.write_bytes(gzip.compress(text_of(GOOD)))
    bad.write_bytes(text_of(GOOD)[:-9])
    page.locator("#player_open input, input[type=file]").first.set_input_files(bad)
    page.wait_for_function("document.querySelector('.cv-player-note').textContent !== ''")
    said = page.locator(".cv-player-note").text_content()
    assert f"line {len(GOOD)}: not a whole JSON object" in said and page.evaluate("window.hit") is None
    titled(page, "JSON tool call \u00b7 denoise a block")
    shot(page, "player-refused")
    page.locator("#player_open input, input[type=file]").first.set_input_files(good)
    page.wait_for_function("document.querySelector('.cv-player-note').textContent === ''")
    page.wait_for_function("document.querySelector('.cv-lane-title').textContent.includes('other')")
    assert page.locator(".cv-sofar-text").text_content() == GOOD[-1]["text"]
    assert "does not tell its prompt" in page.locator(".cv-sharing .cv-says").text_content()


def test_a_link_fills_the_page_in_and_sends_nothing(visit):
    page = visit("?" + urlencode({"mode": "speculative", "accept_rule": "threshold", "seed": 12, "prompt": "Hi & <b>"}))
    page.wait_for_function("document.querySelector('#prompt textarea').value === 'Hi & <b>'")
    assert page.locator("#mode input:checked").get_attribute("value") == "speculative"
    page.wait_for_selector("#accept_rule", state="visible")
    assert page.locator("#accept_rule input:checked").get_attribute("value") == "threshold"
    page.get_by_text("More settings").click()
    page.wait_for_function("document.querySelector('#seed input')?.value === '12'")
    page = visit("?" + urlencode({"threshold": 3, "prompt": "kept"}))
    page.wait_for_selector(".toast-body")
    assert "threshold must be in [0, 1], got 3.0" in page.locator(".toast-body").inner_text()
    page.wait_for_function("document.querySelector('#prompt textarea').value === 'kept'")


def test_a_chinese_visitor_is_told_in_chinese_what_is_wrong(visit, tmp_path):
    page = visit("?" + urlencode({"threshold": 3}), locale="zh-CN")
    page.wait_for_selector(".toast-body")
    toast = page.locator(".toast-body").inner_text()
    assert "没有采用链接里的设置：threshold 必须是 [0, 1] 内的数，收到 3.0。" in toast and LINES["Link"] in toast
    page.get_by_role("tab").nth(1).click()
    page.wait_for_selector(".cv-player .cv-tile")
    page.locator("#player_open input, input[type=file]").first.set_input_files(
        {"name": "cut.jsonl", "mimeType": "text/plain", "buffer": text_of(GOOD[:-1])}
    )
    page.wait_for_function("document.querySelector('.cv-player-note').textContent !== ''")
    said = f"cut.jsonl 第 {len(GOOD)} 行：轨迹必须以 run_finished 结尾，文件却先结束了"
    assert page.locator(".cv-player-note").text_content() == said


def test_a_phone_in_the_dark_needs_no_scrolling_sideways(visit):
    page = visit(width=390, height=844, color_scheme="dark", has_touch=True, is_mobile=True)
    to_player(page)
    chosen(page, "other", "JSON tool call \u00b7 one token at a time")
    titled(page, "JSON tool call \u00b7 denoise a block", "JSON tool call \u00b7 one token at a time")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert serious(page) == []
    shot(page, "player-phone-dark")


def test_a_long_title_ends_before_the_arrow_of_its_list(visit):
    page = visit(width=390, height=844)
    to_player(page)
    found = page.evaluate("""[...document.querySelectorAll('[role=combobox]')].filter(box => box.offsetWidth).map(box => {
        const style = getComputedStyle(box), arrow = box.parentElement.querySelector('svg').getBoundingClientRect();
        return [box.getBoundingClientRect().right - parseFloat(style.paddingRight), arrow.left, style.textOverflow];
    })""")
    assert len(found) == 2
    for text_ends, arrow_begins, overflow in found:
        assert text_ends <= arrow_begins and overflow == "ellipsis"
