"""What the page costs the engine, and how soon it shows something: in a real Chromium on this machine."""

from __future__ import annotations

import gc
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from clover_viz.bench import memory, soak
from clover_viz.bench.paced import PacedEngine, PlayedEngine
from clover_viz.bench.report import Row, headline, table
from clover_viz.bench.soak import BOARD, PATIENCE, WAYS, Sample, take_turn
from clover_viz.bench.timing import Spread
from clover_viz.errors import UserError
from clover_viz.settings import MODES
from clover_viz.trace.store import play

PACE, PASSES, ROUNDS = 100, 1000, 3  # passes a second, passes a run, runs of each kind
TRACE = "prose-denoise.jsonl.gz"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
QUESTION = "What is a block?"


def run(folder: Path, traces: Path, where: dict[str, Any], told: Callable[[str], object] = lambda line: None) -> dict:
    """All rows, as text and as data. Raises UserError without a browser."""
    paced = PacedEngine(list(play(traces / TRACE)), PASSES, PACE)
    rows = []
    with _chromium() as browser:
        told("an engine at 100 passes a second, alone and with the page open")
        alone = [_alone(paced) for _ in range(ROUNDS)]
        with _served(lambda: paced, "paced") as address:
            open_ = [_watched(browser, address, paced) for _ in range(ROUNDS)]
            told("the same while the visitor goes back and forth in the run")
            scrubbed = [_watched(browser, address, paced, scrub=True) for _ in range(ROUNDS)]
        rows += [
            _rate("passes / s with the page open / alone", open_, alone),
            _rate("passes / s while scrubbing / alone", scrubbed, alone),
        ]
        told("the page with the embedded model")
        from clover_viz.engine import Engine

        engine = Engine.load(folder, device="cpu")
        with _served(lambda: engine, engine.name) as address:
            paints, steps, rates = zip(*(_first(browser, address) for _ in range(ROUNDS)))
        own = [_own_rate(engine) for _ in range(ROUNDS)]
        rows += [
            Row("seconds to the first paint", _spread(paints), 2.0),
            Row("seconds from sending to the first step", _spread(steps), 0.5),
            Row("tokens / s with the page open / without", Spread(median(rates) / median(own), min(rates) / max(own),
                max(rates) / min(own)), note="browser and model share the cores here"),
        ]
    text = f"{headline(engine.name, where)}\n\n{table(rows)}"
    return {"text": text, "where": where, "rows": [row.as_dict() for row in rows]}


def run_soak(
    minutes: float, traces: Path, where: dict[str, Any], told: Callable[[str], object] = lambda line: None
) -> dict:
    """A visit of so many minutes: samples, growth and verdict, as text and data. Raises UserError without a browser."""
    told(soak.HEAD)
    with _chromium() as browser:
        samples, did = soaked(browser, 60 * minutes, traces, told)
    return soak.report(samples, where, did)


def soaked(
    browser, seconds: float, traces: Path, told: Callable[[str], object] = lambda line: None
) -> tuple[list[Sample], dict[str, int]]:
    """Samples of a page that stays open while recorded runs follow one another, and what its visitor did, in numbers.

    A turn is one run in every mode, each watched, scrubbed or stopped in its turn, and a Clear: then the page is as it
    was before, and a sample may be taken. The server has a process of its own, so that its memory is nobody else's.
    """
    did: Counter[str] = Counter()
    load = partial(PlayedEngine.of, traces, PACE)
    with _served_apart(load, "recorded runs") as server, _page(browser, server.address) as page:
        devtools = page.context.new_cdp_session(page)
        devtools.send("Performance.enable")

        def turn(number: int) -> int:
            did.update(take_turn(page, number))
            return len(MODES)

        def sample(seconds: float, runs: int) -> Sample:
            return Sample(seconds, runs, **soak.browser_figures(devtools), server=server.memory())

        samples = soak.visit(turn, sample, seconds, told)
    return samples, {"runs": sum(did[way] for way in WAYS), **did}


def _rate(name: str, above: list[float], below: list[float]) -> Row:
    rounds = [a / b for a, b in zip(above, below)]
    note = f"{median(above):.1f} of {median(below):.1f} passes a second"
    return Row(name, Spread(median(above) / median(below), min(rounds), max(rounds)), 0.95, at_most=False, note=note)


def _spread(values) -> Spread:
    return Spread(median(values), min(values), max(values))


def _alone(engine: PacedEngine) -> float:
    for _ in engine.generate([], None):
        pass
    return engine.reached[-1]


def _own_rate(engine) -> float:
    return engine.complete(QUESTION).tokens_per_second


def _watched(browser, address: str, engine: PacedEngine, scrub: bool = False) -> float:
    """Passes a second of one run while a page draws it, to the end."""
    with _page(browser, address) as page:
        page.locator("#prompt textarea").fill("go")
        page.keyboard.press("Enter")
        over = f"['finished', 'error'].includes({BOARD}.state)"
        page.wait_for_function(f"{BOARD}.live.records.length > 2", timeout=PATIENCE)
        while scrub and not page.evaluate(over):
            soak.scrub(page)
        page.wait_for_function(over, timeout=PATIENCE)
        page.evaluate(f"{BOARD}.seek(null)")
        drawn = page.evaluate(f"{BOARD}.live.passes.preview")
        if drawn != PASSES:
            raise RuntimeError(f"the page folded {drawn} passes of {PASSES}")
    return engine.reached[-1]


def _first(browser, address: str) -> tuple[float, float, float]:
    """Seconds from asking for the page to its first paint, from sending to the first step; tokens a second."""
    with _page(browser, address) as page:
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1000
        page.locator("#prompt textarea").fill(QUESTION)
        began = perf_counter()
        page.keyboard.press("Enter")
        page.wait_for_function(f"{BOARD}.live.passes.preview > 0", timeout=PATIENCE)
        step = perf_counter() - began
        page.wait_for_function(f"{BOARD}.live.end !== null", timeout=PATIENCE)
        return paint, step, page.evaluate(f"{BOARD}.live.end.rate")


@contextmanager
def _page(browser, address: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    try:
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector(".cv-tile", timeout=PATIENCE)
        page.wait_for_selector("#send:not([disabled])", timeout=PATIENCE)
        yield page
    finally:
        context.close()


@contextmanager
def _served(load: Callable[[], Any], name: str) -> Iterator[str]:
    from clover_viz.ui.runs.desk import Desk
    from clover_viz.ui.page import build, launch_options

    blocks = build(Desk(load, name))
    _, address, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **launch_options())
    try:
        yield address
    finally:
        blocks.close(verbose=False)


class _Server(NamedTuple):
    """A page's server in another process. memory: asks it for its resident MiB, None where the system does not tell."""

    address: str
    memory: Callable[[], float | None]


@contextmanager
def _served_apart(load: Callable[[], Any], name: str) -> Iterator[_Server]:
    """`_served` in a process of its own, which ends with this one. `load` has to be picklable."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, load, name), daemon=True)
    process.start()
    theirs.close()

    def told(ask: str | None = None) -> Any:
        try:
            if ask:
                ours.send(ask)
            if ours.poll(PATIENCE / 1000):
                return ours.recv()
        except (EOFError, OSError):
            raise RuntimeError("the page's server ended before its time") from None
        raise RuntimeError(f"the page's server said nothing for {PATIENCE // 1000} seconds")

    try:
        yield _Server(told(), lambda: told("memory"))
    finally:
        ours.close()
        process.join(10)
        if process.is_alive():
            process.terminate()


def _serve(line, load: Callable[[], Any], name: str) -> None:
    """Tells the address, then the memory whenever it is asked, after a garbage collection; ends when nobody listens."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks ends both
    with _served(load, name) as address:
        line.send(address)
        try:
            while line.recv():
                gc.collect()
                found = memory.resident()
                line.send(None if found is None else found / soak.MIB)
        except EOFError:
            return


def chromium_path() -> str | None:
    """The installed Chromium, by any of its names."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@contextmanager
def _chromium() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise UserError("bench app needs a browser to drive: the package playwright is not installed") from None
    path = chromium_path()
    if path is None:
        raise UserError("bench app needs Chromium (chromium, chromium-browser or google-chrome), and found none")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()
