"""Whether a page and its server stay as large as they were: a long visit, samples of it, the rule that judges them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from time import monotonic
from typing import Any, NamedTuple

from clover_viz.errors import UserError
from clover_viz.settings import MODES

PATIENCE = 180_000  # milliseconds
BOARD = "document.querySelector('.cv-board').parentElement.board"
# As an example fills it in: what is typed, the browser keeps for undoing it, two nodes a message.
SAY = """() => {
  const box = document.querySelector("#prompt textarea");
  box.value = "What is a block?";
  box.dispatchEvent(new Event("input", { bubbles: true }));
}"""
WAYS = ("watched", "scrubbed", "stopped")  # what a visitor does with a run
SHORTEST, LONGEST = 0.5, 120  # minutes
SAMPLES = 24  # in a visit, about
FEWEST = 8  # samples the rule needs: a visit goes on until it has them
MIB = 2**20


class Sample(NamedTuple):
    """seconds: since the first run; runs: begun so far; nodes, listeners: of the browser's page, those it holds on to
    without showing them too; heap: MiB its scripts use; server: MiB resident, None where the system does not tell."""

    seconds: float
    runs: int
    nodes: int
    listeners: int
    heap: float
    server: float | None


class Limit(NamedTuple):
    """What may be added to a figure: a share of it, or `least` where that is more."""

    words: str
    share: float
    least: float
    digits: int = 0


LIMITS = {
    "nodes": Limit("browser nodes", 0.02, 10),
    "listeners": Limit("browser listeners", 0.02, 3),
    "heap": Limit("browser heap, MiB", 0, 2, digits=1),
    "server": Limit("server memory, MiB", 0, 8, digits=1),
}
RULE = (
    "flat: the median of the last third of the samples is above that of the first third by no more than is allowed; "
    "the first quarter of the samples, at least two, is warm-up and does not count"
)


class Growth(NamedTuple):
    """A figure's median in the first and in the last third of the samples after warm-up, and what it may grow by."""

    name: str
    first: float
    last: float
    allowed: float

    @property
    def by(self) -> float:
        return self.last - self.first

    @property
    def flat(self) -> bool:
        return self.by <= self.allowed


def minutes(value: Any) -> float:
    """The length of a soak as it was asked for. Raises UserError with the range."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not SHORTEST <= value <= LONGEST:
        raise UserError(f"--soak must be minutes in [{SHORTEST}, {LONGEST}], got {value!r}")
    return float(value)


def judge(samples: Sequence[Sample]) -> list[Growth]:
    """RULE for every figure that was told. Raises ValueError for fewer than FEWEST samples."""
    return [
        growth(name, [getattr(sample, name) for sample in samples])
        for name in LIMITS
        if all(getattr(sample, name) is not None for sample in samples)
    ]


def growth(name: str, values: Sequence[float]) -> Growth:
    """RULE for one figure, by its name in LIMITS."""
    if len(values) < FEWEST:
        raise ValueError(f"a verdict needs at least {FEWEST} samples, got {len(values)}")
    settled = values[max(2, len(values) // 4) :]
    third = len(settled) // 3
    first, last = median(settled[:third]), median(settled[-third:])
    return Growth(name, first, last, max(LIMITS[name].share * first, LIMITS[name].least))


def verdict(found: Sequence[Growth]) -> str:
    """`flat`, or `grows` with what does."""
    growing = [LIMITS[each.name].words.split(",")[0] for each in found if not each.flat]
    return f"grows: {', '.join(growing)}" if growing else "flat"


def visit(
    turn: Callable[[int], int],
    sample: Callable[[float, int], Sample],
    seconds: float,
    told: Callable[[str], object] = lambda line: None,
    clock: Callable[[], float] = monotonic,
) -> list[Sample]:
    """Takes turns for so many seconds, and until there are enough samples, of which turns that come fast share one.

    turn: does the turn of this number and tells how many runs it began; it ends as it began. sample: gets the seconds
    and the runs so far.
    """
    began, runs, number = clock(), 0, 0
    samples: list[Sample] = []
    while clock() - began < seconds or len(samples) < FEWEST:
        runs += turn(number)
        number += 1
        if clock() - began >= (len(samples) + 1) * seconds / SAMPLES:
            samples.append(sample(clock() - began, runs))
            told(line(samples[-1]))
    return samples


def take_turn(page, number: int) -> list[str]:
    """One run in every mode, each watched, scrubbed or stopped in its turn, and a Clear: the page is then as it was.

    What was done, a word a run and one for the Clear.
    """
    ways = [WAYS[(number + at) % len(WAYS)] for at in range(len(MODES))]
    for mode, way in zip(MODES, ways):
        page.locator(f"#mode input[value={mode}]").check()
        page.locator(f"#speed input[value={'slow' if way == 'stopped' else 'full'}]").check()
        _run(page, way)
    page.locator("#clear").click()
    page.wait_for_selector(".cv-turn", state="detached", timeout=PATIENCE)
    page.wait_for_function(f"{BOARD}.state === 'idle'", timeout=PATIENCE)
    page.wait_for_timeout(300)  # what the page still had to draw
    return [*ways, "cleared"]


def _run(page, way: str) -> None:
    """One run from sending to its end, which a stopped one finds behind its first passes."""
    before = page.evaluate(f"{BOARD}.id")
    page.evaluate(SAY)
    page.locator("#send").click()
    page.wait_for_function(f"before => {BOARD}.id && {BOARD}.id !== before", arg=before, timeout=PATIENCE)
    if way == "stopped":
        page.wait_for_function(f"{BOARD}.live.passesAfterPrefill > 0", timeout=PATIENCE)
        page.locator("#stop").click()
    over = f"['finished', 'error', 'stopped'].includes({BOARD}.state)"
    while way == "scrubbed" and not page.evaluate(over):
        scrub(page)
    page.wait_for_function(over, timeout=PATIENCE)
    page.wait_for_selector("#send:not([disabled])", timeout=PATIENCE)
    state, wanted = page.evaluate(f"{BOARD}.state"), "stopped" if way == "stopped" else "finished"
    if state != wanted:
        raise RuntimeError(f"a run that was {way} must end as {wanted}, got {state}")


def scrub(page) -> None:
    """A visitor who goes back in the run, a few steps on, and to its end again."""
    for act in ("seek(1)", "step(1)", "step(1)", "seek(null)"):
        page.evaluate(f"{BOARD}.{act}")
        page.wait_for_timeout(40)


def browser_figures(devtools) -> dict[str, float]:
    """Nodes, listeners and heap after a forced garbage collection. devtools: a CDP session of the page."""
    for _ in range(2):  # what the first one finalizes, the second one frees
        devtools.send("HeapProfiler.collectGarbage")
    found = {each["name"]: each["value"] for each in devtools.send("Performance.getMetrics")["metrics"]}
    return {
        "nodes": int(found["Nodes"]),
        "listeners": int(found["JSEventListeners"]),
        "heap": found["JSHeapUsedSize"] / MIB,
    }


def line(sample: Sample) -> str:
    """One sample as a line of the table."""
    server = "not told" if sample.server is None else f"{sample.server:.1f}"
    return (
        f"{sample.seconds:8.0f} {sample.runs:6} {sample.nodes:8,} {sample.listeners:11,} {sample.heap:11.1f} "
        f"{server:>12}"
    )


HEAD = f"{'seconds':>8} {'runs':>6} {'nodes':>8} {'listeners':>11} {'heap, MiB':>11} {'server, MiB':>12}"


def report(samples: Sequence[Sample], where: dict[str, Any], did: dict[str, Any]) -> dict:
    """The samples, what they come to and the verdict, as text and as data. did: what the visitor did, in numbers."""
    found = judge(samples)
    rows = [("", "at first", "at last", "growth", "allowed", "")]
    for each in found:
        limit = LIMITS[each.name]
        figures = [f"{value:,.{limit.digits}f}" for value in (each.first, each.last)]
        grown, allowed = f"{each.by:+,.{limit.digits}f}", f"{each.allowed:,.{limit.digits}f}"
        rows.append((limit.words, *figures, grown, allowed, "flat" if each.flat else "grows"))
    lines = [f"{row[0]:<20} {' '.join(cell.rjust(9) for cell in row[1:-1])}  {row[-1]}".rstrip() for row in rows]
    if len(found) < len(LIMITS):
        lines.append("The server's memory is not in the verdict: this system does not tell it.")
    done = ", ".join(f"{number} {words}" for words, number in did.items())
    text = "\n".join(
        [
            f"recorded runs in a page that stays open: {done}; {where['cores']} cores, Python {where['python']}",
            "", HEAD, *map(line, samples), "", *lines, "", RULE, "", f"verdict: {verdict(found)}",
        ]
    )  # fmt: skip
    data = [
        {"name": each.name, "first": each.first, "last": each.last, "allowed": each.allowed, "flat": each.flat}
        for each in found
    ]
    return {
        "text": text, "where": where, "did": did, "rule": RULE, "samples": [each._asdict() for each in samples],
        "growth": data, "verdict": verdict(found),
    }  # fmt: skip
