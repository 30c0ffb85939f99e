"""An engine without a model: real events of a scripted text, at a steady pace, under the engine's own contract."""

import random
import threading
import time
from types import SimpleNamespace

from clover_viz.errors import UserError
from clover_viz.events import (
    SCHEMA,
    BlockOpened,
    Boundary,
    Check,
    Denoised,
    Draft,
    Drafted,
    KernelChoice,
    LayerExperts,
    LayerTouched,
    PassCounts,
    Prefilled,
    Replayed,
    RunFinished,
    RunStarted,
    Slot,
    Text,
    TokenDecoded,
    TopToken,
    Verified,
)
from clover_viz.settings import FALLBACKS

LAYERS = 16
PROMPT_TOKENS = 21
CONTEXT = 20_000  # characters of the last message


class ScriptedEngine:
    """`text` is cut into tokens of at most five characters; `pace` is steps a second.

    A message of the form `say: TEXT` is answered with TEXT, `fail: TEXT` raises in the middle of the run.
    passes: how many there were in all; runs: of each, its messages and its settings.
    """

    def __init__(self, text: str, pace: float = 200.0, steps: int = 8):
        self.text, self.pace, self.steps = text, pace, steps
        self.name = "scripted"
        self.kernels = KernelChoice("reference", "no GPU is here")
        self.model = SimpleNamespace(device="cpu")
        self.passes = 0
        self.calls, self.runs = [], []
        self.started = 0
        self._lock = threading.Lock()
        self.checkpoint = {}  # what a page finds to be usual here; runs take what they are given

    def usual(self, mode):
        return FALLBACKS | self.checkpoint

    def generate(
        self, messages, settings, max_new_tokens=256, stop=(), seed=0, cancel=None, raw=False, top=False, gate=None
    ):
        prompt = messages if raw else messages[-1]["content"]
        if len(prompt) > CONTEXT:
            raise UserError(f"the prompt must leave room in the context of {CONTEXT}, got a prompt of {len(prompt)}")
        settings = settings.in_force({})
        self.calls.append(messages)
        self.runs.append((messages, settings, seed))
        return self._run(prompt, settings, max_new_tokens, seed, cancel, gate, top)

    def _run(self, prompt, settings, limit, seed, cancel, gate, top):
        with self._lock:
            self.started += 1
            text = prompt.removeprefix("say: ") if prompt.startswith("say: ") else self.text
            tokens = cut(text)
            failing = prompt.startswith("fail: ")
            run = _Scripted(self, tokens[:limit], settings, seed, cancel, gate, top, failing=failing)
            yield RunStarted(SCHEMA, settings.mode, self.name, "cpu", self.kernels, PROMPT_TOKENS, settings.as_dict())
            reason = "end" if len(tokens) < limit else "length"
            try:
                yield Prefilled(PROMPT_TOKENS, run.step("prefill"))
                yield from getattr(run, settings.mode)()
            except _Cancelled:
                reason = "cancelled"
            yield run.finished(reason)


class _Cancelled(Exception):
    pass


class _Scripted:
    def __init__(self, engine, tokens, settings, seed, cancel, gate, top, failing):
        self.engine, self.tokens, self.settings, self.cancel = engine, tokens, settings, cancel
        self.gate, self.top = gate, top
        self.rng = random.Random(seed)
        self.failing = failing
        self.counts = {}
        self.text = ""
        self.kept = 0
        self.began = self.due = time.perf_counter()

    def step(self, kind):
        """One pass at the engine's pace: waits for its time, not for a span, so that pace is steps a second."""
        if self.gate is not None and self.counts:
            self.gate()
        if self.cancel is not None and self.cancel.is_set():
            raise _Cancelled
        if self.failing and sum(self.counts.values()) == 4:
            raise RuntimeError(f"the scripted engine failed on <b>purpose</b> & {self.settings.mode}")
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.due = max(self.due + 1 / self.engine.pace, time.perf_counter() - 0.1)
        time.sleep(max(0.0, self.due - time.perf_counter()))
        self.engine.passes += 1
        return 1000 / self.engine.pace

    def denoise(self):
        size = self.settings.block_size
        for block, start in enumerate(range(0, len(self.tokens), size)):
            tokens = self.tokens[start : start + size]
            yield BlockOpened(block, PROMPT_TOKENS + start, size)
            yield from self.settle(block, tokens + [""] * (size - len(tokens)), len(tokens))
            for token in tokens:
                yield self.told(token)
            if start + size < len(self.tokens):
                yield Replayed(block, size, self.step("replay"))

    def settle(self, block, tokens, real):
        """Slots commit in a seeded order, about `engine.steps` steps a block, now and then by force."""
        order = sorted(range(real), key=lambda slot: (self.rng.random() + slot / len(tokens)))
        fixed = {}
        step = 0
        while len(fixed) < real:
            step += 1
            forced = step > 1 and self.rng.random() < 0.2
            share = 1 if forced else max(1, round(real / self.engine.steps * (0.4 + 1.2 * self.rng.random())))
            fresh = tuple(sorted(order[len(fixed) : len(fixed) + share]))
            for slot in fresh:
                fixed[slot] = 0.62 if forced else 0.951 + 0.049 * self.rng.random()
            slots = tuple(self.slot(slot, token, fixed, step) for slot, token in enumerate(tokens))
            yield Denoised(block, step, fresh, forced, slots, self.experts(step), self.step("preview"))

    def slot(self, slot, token, fixed, step):
        if slot in fixed:
            return Slot(slot, "committed", 100 + slot, token, fixed[slot], self.likeliest(slot, token, fixed[slot]))
        sure = min(0.94, 0.08 + 0.1 * step + 0.3 * self.rng.random())
        guess = token if self.rng.random() < sure else self.rng.choice([" the", " of", "\n", "ing", ","])
        return Slot(slot, "masked", 100 + slot, guess, sure, self.likeliest(slot, guess, sure))

    def likeliest(self, slot, token, sure):
        rest = TopToken(7, " also", (1 - sure) / 2), TopToken(8, "ran", (1 - sure) / 4)
        return (TopToken(100 + slot, token, sure), *rest) if self.top else None

    def experts(self, step):
        rows = []
        for layer in range(LAYERS):
            touched = 14 + self.rng.randrange(16)
            kept = max(4, touched - 3 - self.rng.randrange(9)) if self.settings.coreset_top_p else touched
            rows.append(LayerExperts(layer, touched, kept, 0.1 * (touched - kept)))
        return tuple(rows)

    def speculative(self):
        """Rounds that keep a seeded number of drafts; the refused one is shown as another word."""
        at, number = 0, 0
        while at < len(self.tokens) - 1 or number == 0:
            boundary = Boundary(100, self.tokens[at])
            size = min(self.settings.block_size, max(2, len(self.tokens) - at - 1))
            accepted = min(self.rng.randrange(size), max(0, len(self.tokens) - at - 2))
            words = [*self.tokens[at + 1 : at + 1 + accepted], *["\nno"] * size][: size - 1]
            sure = [0.5 + 0.5 * self.rng.random() for _ in words]
            drafts = tuple(Draft(i, 100 + i, word, p) for i, (word, p) in enumerate(zip(words, sure), start=1))
            ms = self.step("preview")
            yield Drafted(number, 1, PROMPT_TOKENS + at, boundary, drafts, self.experts(number), ms)
            if number == 0:
                yield self.told(self.tokens[0])
            bar = None if self.settings.accept_rule == "exact" else 0.45
            checks = tuple(
                Check(d.slot, d.token_id, d.token, 0.9 if i < accepted else 0.1, 0.3, bar, i < accepted)
                for i, d in enumerate(drafts)
            )
            following = self.tokens[at + 1 + accepted] if at + 1 + accepted < len(self.tokens) else ""
            touched = tuple(LayerTouched(layer, 20 + layer % 5) for layer in range(LAYERS))
            ms = self.step("verify")
            yield Verified(number, checks, accepted, Boundary(100, following, 0.8), touched, ms)
            for token in self.tokens[at + 1 : at + 2 + accepted]:
                yield self.told(token)
            at += accepted + 1
            number += 1

    def autoregressive(self):
        for position, token in enumerate(self.tokens):
            ms = self.step("decode") if position else 0.0
            yield TokenDecoded(PROMPT_TOKENS + position, 100, token, 0.4 + 0.6 * self.rng.random(), ms)
            yield self.told(token)

    def told(self, token):
        self.text += token
        self.kept += 1
        return Text(token)

    def finished(self, reason):
        passes = PassCounts(**self.counts)
        seconds = time.perf_counter() - self.began
        n = passes.after_prefill
        return RunFinished(
            reason, self.text, self.kept, passes, self.kept / n if n else None,
            self.kept / passes.preview if passes.preview else None, seconds, self.kept / seconds,
        )  # fmt: skip


def cut(text):
    """Words with the blank before them, long ones in pieces: the look of a byte-pair tokenizer."""
    tokens, word = [], ""
    for sign in text:
        if word and (sign in " \n" or len(word) == 5):
            tokens.append(word)
            word = ""
        word += sign
    return [*tokens, word] if word else tokens
