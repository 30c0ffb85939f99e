"""A real Chromium for the page's tests, and a page served over any engine."""

import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from clover_viz.bench.app import chromium_path

ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync "
    "--no-first-run --disable-quic"
).split()
SCREENSHOTS = Path(__file__).parent.parent / "screenshots"
WAIT = 120_000  # milliseconds


@contextmanager
def chromium():
    """A browser; without one the test is skipped, or fails where CLOVER_REQUIRE_BROWSER=1."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _absent("playwright is not installed")
    path = chromium_path()
    if path is None:
        _absent("no Chromium is installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def _absent(reason):
    if os.environ.get("CLOVER_REQUIRE_BROWSER") == "1":
        pytest.fail(f"CLOVER_REQUIRE_BROWSER=1, but {reason}")
    pytest.skip(reason)


@contextmanager
def served(load, name="scripted"):
    """The app over `load()`: (address, Blocks)."""
    from clover_viz.ui.runs.desk import Desk
    from clover_viz.ui.page import build, launch_options

    blocks = build(Desk(load, name))
    _, address, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **launch_options())
    try:
        yield address, blocks
    finally:
        blocks.close(verbose=False)


class Visitor:
    """One page in a browser context of its own, spoken to in a visitor's terms."""

    def __init__(self, browser, address, width=1360, height=900, **context):
        self.context = browser.new_context(viewport={"width": width, "height": height}, **context)
        self.page = self.context.new_page()
        self.requests, self.faults = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda fault: self.faults.append(str(fault)))
        self.page.goto(address)
        self.page.wait_for_selector(".cv-tile", timeout=WAIT)
        self.page.wait_for_selector("#prompt textarea")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def send(self, text):
        self.page.locator("#prompt textarea").fill(text)
        self.page.keyboard.press("Enter")

    def until(self, *states):
        """Waits for the board to be in one of these states."""
        self.page.wait_for_function(
            "states => states.includes(document.querySelector('.cv-board').dataset.state)", arg=states, timeout=WAIT
        )

    def ready(self):
        """Waits until a new message can be sent."""
        self.page.wait_for_selector("#send:not([disabled])", timeout=WAIT)

    def more_settings(self):
        """Opens the settings that are folded away at first."""
        self.unfold("More settings", "#ratio", "#seed input", "#system textarea", "#raw input")

    def unfold(self, words, *held):
        """Opens what is folded under these words; `held` is in there, of each kind of control one.

        Gradio makes controls when they are first shown, and gives them their values a frame after all are there: what
        is filled in before that is lost.
        """
        self.page.get_by_text(words).click()
        for control in held:
            self.page.locator(control).wait_for(state="attached")
        self.drawn(frames=6)

    def drawn(self, frames=2):
        """Waits until the page has been drawn so many times: what it was told before shows by then."""
        self.page.evaluate(
            """async (frames) => {
              for (; frames > 0; frames--) await new Promise((next) => requestAnimationFrame(next));
            }""",
            frames,
        )

    def begins(self, act):
        """Does what starts a run, and waits for its first frame: its states may be too short to be caught."""
        run = "document.querySelector('.cv-board').parentElement.board.id"
        before = self.page.evaluate(run)
        act()
        self.page.wait_for_function(f"before => {run} && {run} !== before", arg=before, timeout=WAIT)

    def ask(self, text):
        """Sends a message and waits for the whole answer."""
        self.begins(lambda: self.send(text))
        self.until("finished")
        self.ready()

    def answer(self):
        return self.page.locator(".cv-answer .cv-text").last.text_content()

    def words(self):
        return self.page.locator(".cv-words").text_content()

    def hears(self, words):
        """Waits for the board's line to hold these words."""
        self.page.wait_for_function(
            "words => document.querySelector('.cv-words').textContent.includes(words)", arg=words, timeout=WAIT
        )

    def tiles(self, state="committed"):
        return self.page.locator(f".cv-tile.cv-{state}").count()

    def shoot(self, name, full_page=True):
        SCREENSHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=full_page)
