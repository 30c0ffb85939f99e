"""The lesson in a real browser, alone on a page of two tabs; and the interface in the browser's language."""

import json
import re
from contextlib import contextmanager

import pytest

gr = pytest.importorskip("gradio")

from browser import SCREENSHOTS, WAIT

from clover_viz.events import Denoised
from clover_viz.trace.store import play
from clover_viz.ui.languages import I18N, INTERFACE, both
from clover_viz.ui.lesson.data import TRACES
from clover_viz.ui.lesson.rules import budget
from clover_viz.ui.lesson.tab import OPEN_LINKED, lesson_json, lesson_tab
from clover_viz.ui.lesson.text import SCREENS
from clover_viz.ui.lesson.words import WORDS
from clover_viz.ui.theme import style, theme

OPTIONS = {"footer_links": [], "run_history": False, "ssr_mode": False, "i18n": I18N}


@pytest.fixture(scope="module")
def address():
    with gr.Blocks(analytics_enabled=False, fill_width=True) as page:
        with gr.Tabs():
            with gr.Tab(I18N("Chat")):
                gr.HTML(f"<p id='said'>{both('hello', '你好')}</p>")
                gr.Textbox(label=I18N("Message"), placeholder=I18N("Write a message"), elem_id="prompt")
                gr.Slider(0, 1, label=I18N("Threshold"), info=I18N("The answer is cut there."), elem_id="slider")
                gr.Radio([(I18N("Full speed"), "full"), ("Slow", "slow")], label=I18N("Speed"), elem_id="speed")
                gr.Button(I18N("Send"), elem_id="send")
                with gr.Accordion(I18N("More settings"), elem_id="fold"):
                    gr.Checkbox(label=I18N("Limit experts to the block's coreset"), elem_id="check")
            with gr.Tab(I18N("How it works"), elem_id="lesson"):
                lesson_tab()
        page.load(None, None, None, js=OPEN_LINKED)
    _, found, _ = page.launch(
        prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", theme=theme(), css=style(), **OPTIONS
    )
    yield found
    page.close(verbose=False)


@contextmanager
def reader(browser, address, screen=None, width=1360, **context):
    """A page whose lesson is open, on a screen of the address when one is named."""
    made = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce", **context)
    page = made.new_page()
    faults, requests = [], []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address + (f"#lesson-{screen}" if screen else ""))
    if screen is None:
        page.get_by_role("tab").last.click()
    page.wait_for_selector(".cv-lesson .cvl-figure > *", timeout=WAIT)
    try:
        yield page
        assert faults == []
        assert [url for url in requests if not url.startswith((address, "data:", "blob:"))] == []
    finally:
        made.close()


def shoot(page, name):
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"lesson-{name}.png", full_page=True)


def serious(page):
    """Rules that axe finds broken inside the lesson, of the serious and critical ones."""
    pytest.importorskip("axe_playwright_python")
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, context=".cv-lesson").response["violations"]
    return [
        (rule["id"], [node["html"][:160] for node in rule["nodes"]])
        for rule in found
        if rule["impact"] in ("serious", "critical")
    ]


def title(page):
    return page.locator(".cv-lesson-page h2").text_content()


def test_every_screen_is_reached_by_keyboard_and_draws_its_picture(browser, address):
    with reader(browser, address) as page:
        page.locator(".cvl-turn-on").focus()
        for at, screen in enumerate(SCREENS):
            assert title(page) == screen.en.title
            assert page.locator(".cv-lesson-list [aria-current]").text_content() == f"{at + 1}{screen.en.title}"
            assert page.locator(".cvl-problem").count() == 0
            figure = page.locator(".cvl-figure")
            assert len(figure.inner_text()) > 100
            shown = figure.inner_text()
            assert [key for key in WORDS if "." in key and key in shown] == []  # no key stands for its words
            assert "undefined" not in shown and "NaN" not in shown
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert serious(page) == []
            shoot(page, f"{at + 1}-{screen.key}")
            page.keyboard.press("ArrowRight")
        assert title(page) == SCREENS[-1].en.title, "the last screen stays"
        assert page.url.endswith("#lesson-10")
        page.keyboard.press("ArrowLeft")
        assert title(page) == SCREENS[-2].en.title
        page.locator(".cv-lesson-list button").nth(2).click()
        page.locator(".cvl-figure input[type=range]").first.focus()
        before = title(page)
        page.keyboard.press("ArrowRight")  # moves the slider, not the lesson
        assert title(page) == before == SCREENS[2].en.title
        nameless = page.evaluate("""() => {
          const named = (node) => node.innerText.trim() || node.getAttribute("aria-label") || node.labels?.length;
          const controls = document.querySelectorAll(".cv-lesson :is(button, input, [role=listbox])");
          return [...controls].filter((node) => !named(node)).map((node) => node.outerHTML);
        }""")
        assert nameless == []


def test_a_link_opens_its_screen_and_the_rule_is_that_of_the_recording(browser, address):
    run = list(play(TRACES / "list-denoise.jsonl.gz"))
    steps = [event for event in run if isinstance(event, Denoised) and event.block == 0]
    kinds = "nodes => nodes.map((node) => node.className.match(/cvl-is-(past|over|forced|open)/)[1])"
    with reader(browser, address, screen=3) as page:
        assert title(page) == SCREENS[2].en.title
        page.get_by_role("button", name="A list").click()
        for step, event in enumerate(steps, start=1):
            page.locator(".cv-lesson").get_by_label("Step").fill(str(step))
            marked = page.locator(".cvl-col").evaluate_all(kinds)
            fixed = [slot for slot, kind in enumerate(marked) if kind in ("over", "forced")]
            assert (fixed, "forced" in marked) == (list(event.committed), event.forced)
        page.locator(".cv-lesson").get_by_label("Step").fill("1")
        waiting = sorted(slot.confidence for slot in steps[0].slots)
        page.locator(".cv-lesson").get_by_label("Threshold").fill("1")
        assert page.locator(".cvl-col.cvl-is-forced").count() == 1
        assert "None is over 1.00" in page.locator(".cvl-told").text_content()
        line = page.locator(".cvl-across-bar").bounding_box()
        plot = page.locator(".cvl-plot").bounding_box()
        page.mouse.move(line["x"] + 40, line["y"])
        page.mouse.down()
        page.mouse.move(line["x"] + 40, plot["y"] + plot["height"] * 0.5, steps=4)
        page.mouse.up()
        bar = float(page.locator(".cv-lesson").get_by_label("Threshold").input_value())
        assert 0.45 <= bar <= 0.55
        assert page.locator(".cvl-col.cvl-is-over").count() == sum(sure > bar for sure in waiting)
        shoot(page, "dragged")


def test_a_chinese_reader_gets_chinese_and_may_choose(browser, address):
    with reader(browser, address, screen=9, width=390, locale="zh-CN", color_scheme="dark") as page:
        assert title(page) == SCREENS[8].zh.title
        assert page.locator(".cv-lesson").get_attribute("lang") == "zh-CN"
        assert page.evaluate("document.documentElement.lang") == "zh-CN"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.get_by_label(WORDS["budget.preview"][1]).fill("32")
        found = budget(4.8, 0.6, 32, 163, 515)
        values = page.locator(".cv-lesson .cv-value").all_text_contents()
        expected = [f"{found.total / 1e9:.1f} GB", f"{found.ms:.1f} ms", f"{found.needed:.1f}", f"{found.ceiling:.0f}"]
        assert values == expected
        assert serious(page) == []
        shoot(page, "zh-dark-phone")
        page.get_by_role("button", name="English").click()
        assert title(page) == SCREENS[8].en.title
        assert page.locator(".cv-lesson .cv-value").all_text_contents() == expected, "the picture stands as it stood"
        page.reload()
        page.wait_for_selector(".cv-lesson .cvl-figure > *", timeout=WAIT)
        assert title(page) == SCREENS[8].en.title, "the choice is kept"
        page.get_by_role("tab").first.click()
        assert page.get_by_role("tab").all_text_contents() == [INTERFACE["Chat"], INTERFACE["How it works"]]
        said = {name: page.locator(f"#{name}").inner_text() for name in ("slider", "speed", "send", "fold", "said")}
        assert INTERFACE["Threshold"] in said["slider"] and INTERFACE["The answer is cut there."] in said["slider"]
        assert INTERFACE["Speed"] in said["speed"] and INTERFACE["Full speed"] in said["speed"]
        assert said["send"] == INTERFACE["Send"] and said["said"] == "你好"
        assert INTERFACE["More settings"] in said["fold"]
        assert INTERFACE["Limit experts to the block's coreset"] in said["fold"]
        assert page.locator("#prompt textarea").get_attribute("placeholder") == INTERFACE["Write a message"]


def test_a_recording_that_cannot_be_read_is_said_in_one_line(browser, address):
    broken = json.loads(lesson_json())
    broken["data"]["error"] = {"problem": "list-denoise.jsonl.gz line 3: the gzip data is broken"}
    with reader(browser, address) as page:
        page.evaluate(
            """(text) => {
              const lesson = document.querySelector("#lesson-screens .cv-lesson").parentElement.lesson;
              Object.assign(lesson, { data: JSON.parse(text).data });
              lesson.go(3);
            }""",
            json.dumps(broken),
        )
        said = page.locator(".cvl-figure").inner_text()
        assert "list-denoise.jsonl.gz line 3" in said and "\n" not in said.strip()
        page.locator(".cvl-turn-on").click()
        assert page.locator(".cvl-problem").count() == 0
        assert re.search(r"\d", page.locator(".cvl-figure").inner_text())
