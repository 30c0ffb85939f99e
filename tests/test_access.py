"""What axe finds on the page: nothing serious, in light and dark, on every tab."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import WAIT, Visitor, served
from scripted_engine import ScriptedEngine

STORY = "The keeper of the lighthouse counts.\n\n  - one\n  - two\n\nThen the lamp goes out. " * 2


@pytest.fixture(scope="module")
def address():
    with served(lambda: ScriptedEngine(STORY, pace=400)) as (address, _):
        yield address


def serious(page):
    """Rule, and the elements that break it, of serious and critical violations."""
    found = Axe().run(page).response["violations"]
    return [
        (rule["id"], [node["html"][:160] + " | " + node["failureSummary"][-200:] for node in rule["nodes"]])
        for rule in found
        if rule["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_chat_breaks_no_serious_rule(browser, address, scheme):
    with Visitor(browser, address, color_scheme=scheme) as visitor:
        assert serious(visitor.page) == []
        visitor.page.get_by_label("Draft and verify").check()
        visitor.page.get_by_label("Step by step").check()
        visitor.begins(lambda: visitor.send("go"))
        visitor.hears("Held")
        visitor.page.get_by_label("Full speed").check()
        visitor.until("finished")
        visitor.ready()
        visitor.more_settings()
        visitor.page.locator(".cv-tile").first.hover()
        visitor.page.wait_for_timeout(500)
        assert serious(visitor.page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_charts_of_a_run_break_no_serious_rule(browser, address, scheme):
    with Visitor(browser, address, color_scheme=scheme) as visitor:
        visitor.ask("go")
        visitor.page.get_by_role("button", name="Charts of this run").click()
        visitor.page.locator("#charts-plot .main-svg").first.wait_for(timeout=WAIT)
        visitor.page.wait_for_selector("#charts-plot[aria-label]", timeout=WAIT)
        visitor.page.locator("#charts .cv-chart-details summary").click()
        visitor.page.locator("#charts .cv-chart-box tbody tr").first.wait_for()
        visitor.page.wait_for_timeout(500)
        visitor.shoot(f"{scheme}-charts")
        assert serious(visitor.page) == []
