"""One visitor's conversation: what was said, what the model is told of it, and the run that is going.

Lives in a `gr.State`, so it is made per page and never shared.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from clover_viz.ui.player.shelf import Shelf
from clover_viz.ui.records import json_text
from clover_viz.ui.runs.runner import Run

TURNS = 40
CHARACTERS = 200_000
PROMPT_CHARACTERS = 100_000
NO_ANSWER, CUT_SHORT = "No answer: the run ended with an error.", "Cut short: the run ended with an error."


@dataclass
class Turn:
    """A message and its answer. thinking: told with the answer, not to the model again; note: the quiet line below;
    raw: no message but a text that the answer goes on from, which is no part of the conversation."""

    prompt: str
    answer: str = ""
    thinking: str = ""
    note: str = ""
    state: str = "running"
    raw: bool = False


class Session:
    """What one page holds. Bounded: see `refuse`."""

    def __init__(self):
        self.turns: list[Turn] = []
        self.run: Run | None = None
        self.shelf = Shelf()  # the last runs, whole

    def refuse(self, prompt: str) -> str | None:
        """Why this prompt cannot be taken, in one line; None when it can."""
        if not prompt.strip():
            return "The message is empty: write something to send."
        if len(prompt) > PROMPT_CHARACTERS:
            return f"The message must have at most {PROMPT_CHARACTERS:,} characters, got {len(prompt):,}."
        if self.busy():
            return "A run is going in this conversation: stop it first."
        if len(self.turns) >= TURNS:
            return f"This conversation has {TURNS} turns, the most a page holds: clear it to go on."
        if len(prompt) + sum(len(turn.prompt) + len(turn.answer) for turn in self.turns) > CHARACTERS:
            return f"This conversation would pass {CHARACTERS:,} characters, the most a page holds: clear it to go on."
        return None

    def busy(self) -> bool:
        """Whether a run has been started and has not ended."""
        return self.run is not None and self.run.started and not self.run.done.is_set()

    def pending(self) -> bool:
        """Whether a run is going or about to."""
        return self.run is not None and not self.run.done.is_set()

    def messages(self, prompt: str, system: str, raw: bool = False) -> list[dict[str, str]]:
        """The conversation for the model with `prompt` as its last turn; turns that got none are left out. With `raw`
        the prompt alone."""
        if raw:
            return [{"role": "user", "content": prompt}]
        said = [{"role": "system", "content": system.strip()}] if system.strip() else []
        for turn in self.turns:
            if turn.answer and turn.state != "error" and not turn.raw:
                said.append({"role": "user", "content": turn.prompt})
                said.append({"role": "assistant", "content": turn.answer})
        return [*said, {"role": "user", "content": prompt}]

    def begin(self, run: Run, prompt: str) -> None:
        """Takes a prompt and the run that will answer it."""
        self.run = run
        self.turns.append(Turn(prompt, raw=run.raw))

    def restore(self, saved: str) -> None:
        """Takes up the conversation that a browser tab kept over a reload, if it is one of ours and nothing is going.

        saved: the text of `view`. It comes from outside: anything that does not fit is left.
        """
        if self.turns or self.run or not 0 < len(saved) <= 2 * CHARACTERS:
            return
        try:
            turns = [_kept(row) for row in json.loads(saved)["turns"]]
        except (ValueError, TypeError, KeyError, RecursionError):
            return
        if len(turns) <= TURNS:
            self.turns = turns

    def clear(self) -> None:
        """Forgets everything and stops what is going."""
        if self.run:
            self.run.cancel()
        self.run, self.turns = None, []

    def follow(self, run: Run) -> None:
        """Brings the last turn up to date with its run."""
        if self.run is not run or not self.turns:  # cleared meanwhile
            return
        state = run.state  # before the text: a finished run's text is then whole
        turn = self.turns[-1]
        turn.answer, turn.thinking = run.canvas.text, run.canvas.thinking
        turn.state = state
        if state == "error":
            turn.note = CUT_SHORT if turn.answer else NO_ANSWER
        elif state in ("finished", "stopped"):
            turn.note = _note(run)

    def view(self) -> str:
        """The conversation as the JSON text that the page draws."""
        rows = [
            {"u": turn.prompt, "t": turn.thinking, "a": turn.answer, "n": turn.note, "s": turn.state}
            | ({"r": 1} if turn.raw else {})
            for turn in self.turns
        ]
        return json_text({"turns": rows})


def _kept(row: dict) -> Turn:
    texts = [row[key] for key in "utans"]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a kept turn holds texts only")
    prompt, thinking, answer, note, state = texts
    if state in ("waiting", "running"):
        note, state = "Interrupted by a reload.", "stopped"
    return Turn(prompt, answer, thinking, note, state, raw=bool(row.get("r")))


def _note(run: Run) -> str:
    end = run.canvas.finished
    if end is None:
        return "Stopped before the first pass."
    per = "" if end.tokens_per_pass is None else f", {end.tokens_per_pass:.2f} a pass"
    ended = {"cancelled": "Stopped: ", "length": "Cut at the limit: ", "stop": "Stop text met: "}.get(end.reason, "")
    return f"{ended}{_count(end.tokens, 'token')} in {_count(end.passes.after_prefill, 'pass', 'passes')}{per}"


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
