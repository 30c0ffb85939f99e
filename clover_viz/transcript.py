"""The text of a run as it becomes certain: events in, append-only text out, and why the text ended."""

from collections.abc import Collection, Sequence

from clover_viz.events import BlockOpened, Denoised, Drafted, Event, Text, TokenDecoded, Verified


class Transcript:
    """Takes tokens in reading order up to an end token, the limit, or a stop string.

    tokens: how many were taken, end token not counted. reason: "end", "length" or "stop" once the text is complete.
    thinking: the text between an opening and a closing thinking token (`think`, ids or None), which are in neither
    text; `inside`: the prompt left a section open. Stop strings end an answer, not a thought.
    """

    def __init__(
        self, detokenizer, start: int, limit: int, end_ids: Collection[int], stop: Sequence[str] = (),
        think: tuple[int | None, int | None] = (None, None), inside: bool = False,
    ):  # fmt: skip
        self.text, self.thinking, self.tokens, self.reason = "", "", 0, None
        self._detokenizer, self._limit, self._end_ids = detokenizer, limit, end_ids
        self._filter = StopFilter(stop)
        self._start = self._block_start = start
        self._think, self._inside = think, inside
        self._said: list[Text] = []

    def read(self, event: Event) -> list[Text]:
        """The text that this event makes certain. Of a block, the committed slots that touch the text before them."""
        match event:
            case BlockOpened(start=start):
                self._block_start = start
            case Denoised(slots=slots):
                for slot in slots[self._start + self.tokens - self._block_start :]:
                    if slot.state == "masked":
                        break
                    self._take(slot.token_id)
            case Drafted(boundary=boundary) if self.tokens == 0:
                self._take(boundary.token_id)
            case Verified(checks=checks, accepted=accepted, boundary=boundary):
                for check in checks[:accepted]:
                    self._take(check.token_id)
                self._take(boundary.token_id)
            case TokenDecoded(token_id=token_id):
                self._take(token_id)
        return self._handed_over()

    def finish(self) -> list[Text]:
        """What was held back, at the end of the run."""
        if self.reason != "stop":
            self._append(self._detokenizer.flush())
        if self.reason != "stop":
            self._say(self._filter.rest())
        return self._handed_over()

    def _take(self, token_id: int) -> None:
        if self.reason is not None:
            return
        if token_id in self._end_ids:
            self.reason = "end"
            return
        self.tokens += 1
        if token_id in self._think:
            self._append(self._detokenizer.flush())
            self._inside = token_id == self._think[0]
        else:
            self._append(self._detokenizer.push(token_id))
        if self.tokens == self._limit and self.reason is None:
            self.reason = "length"

    def _append(self, text: str) -> None:
        if self._inside:
            self._think_aloud(text)
            return
        passed, stopped = self._filter.push(text)
        self._say(passed)
        if stopped:
            self.reason = "stop"

    def _say(self, text: str) -> None:
        self.text += text
        self._hand(text, None)

    def _think_aloud(self, text: str) -> None:
        self.thinking += text
        self._hand(text, True)

    def _hand(self, text: str, thinking: bool | None) -> None:
        """One delta for neighbours of one kind."""
        if self._said and self._said[-1].thinking == thinking:
            text = self._said.pop().delta + text
        if text:
            self._said.append(Text(text, thinking))

    def _handed_over(self) -> list[Text]:
        said, self._said = self._said, []
        return said


class StopFilter:
    """Lets text through up to the first stop string to be completed; holds back what could still become one.

    Works character by character, so that the result does not depend on how the text was cut into pieces.
    """

    def __init__(self, stop: Sequence[str] = ()):
        self._stop = tuple(stop)
        self._held = ""

    def push(self, text: str) -> tuple[str, bool]:
        """Text that may be shown now, and whether a stop string was completed (after which nothing more passes)."""
        if not self._stop:
            return text, False
        passed = ""
        for character in text:
            self._held += character
            found = max((len(stop) for stop in self._stop if self._held.endswith(stop)), default=0)
            if found:
                return passed + self._held[:-found], True
            keep = self._could_become_stop()
            passed += self._held[: len(self._held) - keep]
            self._held = self._held[len(self._held) - keep :]
        return passed, False

    def rest(self) -> str:
        held, self._held = self._held, ""
        return held

    def _could_become_stop(self) -> int:
        """Length of the longest suffix of the held text that begins a stop string."""
        for length in range(len(self._held), 0, -1):
            if any(stop.startswith(self._held[-length:]) for stop in self._stop):
                return length
        return 0
