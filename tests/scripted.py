"""A model whose logits are written down, and a tokenizer of bytes: the fakes that decoder and engine tests share."""

import codecs
import math
from types import SimpleNamespace

import torch

from clover_viz.engine import Engine
from clover_viz.events import KernelChoice

MASK, END, OTHER_END, THINK, CLOSE_THINK, BYTE = 0, 1, 2, 3, 4, 5  # a byte b has the id BYTE + b
VOCAB = BYTE + 256
SPECIALS = {MASK: "<mask>", END: "<end>", OTHER_END: "<end2>", THINK: "<think>", CLOSE_THINK: "</think>"}
FILLER = BYTE + ord("~")


def ids(text: str) -> list[int]:
    return [BYTE + byte for byte in text.encode()]


class ByteTokenizer:
    """One token a byte, so that any character beyond ASCII spans several tokens."""

    mask_token_id = MASK

    def encode_raw(self, text):
        return ids(text)

    def chat(self, messages, add_generation_prompt=True):
        return ids("".join(f"{m['role']}: {m['content']}\n" for m in messages) + "assistant: ")

    def token_id(self, literal):
        return next((i for i, name in SPECIALS.items() if name == literal), None)

    def printable(self, token_id):
        byte = token_id - BYTE
        return SPECIALS.get(token_id) or (chr(byte) if byte < 128 else f"<0x{byte:02X}>")

    def detokenizer(self):
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        return SimpleNamespace(
            push=lambda i: "" if i in SPECIALS else decoder.decode(bytes([i - BYTE])),
            flush=lambda: decoder.decode(b"", final=True),
        )


def row(token: int, p: float = 0.99) -> torch.Tensor:
    """Logits [V] under which `token` has probability p and every other token but the mask an equal share."""
    logits = torch.full((VOCAB,), math.log((1 - p) / (VOCAB - 2)) if p < 1 else float("-inf"))
    logits[MASK] = float("-inf")
    logits[token] = math.log(p)
    return logits


def rows(*pairs) -> torch.Tensor:
    return torch.stack([row(*pair) for pair in pairs])


def token_stats(logits, mask_token_id):
    """Argmax and its softmax probability, written out."""
    probabilities = logits.index_fill(-1, torch.tensor([mask_token_id]), float("-inf")).softmax(-1)
    best = probabilities.max(-1)
    return SimpleNamespace(token=best.indices, probability=best.values)


class ScriptedModel:
    """Knows the answer beforehand. `confidence(slot, known)` is what a preview gives slot `slot` of its block when
    `known` of the block's slots are committed; `preview_logits(ids, masked, start)` replaces the rows altogether.

    calls: every pass in order, as (kind, ids). caches: every cache handed out, each with the tokens written to it.
    """

    def __init__(self, answer, confidence=lambda slot, known: 0.99, preview_logits=None, causal_logits=None, **config):
        self.answer, self.confidence = list(answer), confidence
        self.preview_logits, self.causal_logits = preview_logits, causal_logits
        self.device = torch.device("cpu")
        self.kernels = SimpleNamespace(token_stats=token_stats)
        self.calls, self.caches, self.coresets = [], [], []
        self.config = SimpleNamespace(**{
            "vocab_size": VOCAB, "block_size": 32, "mask_token_id": MASK, "max_position_embeddings": 2048,
            "denoising_config": {"threshold": 0.95}, "moe_block_coreset_enabled": True,
            "moe_block_coreset_top_p": 0.9, "eos_token_id": END,
        } | config)  # fmt: skip

    def new_cache(self):
        cache = SimpleNamespace(tokens=[], advance=lambda staged, n: cache.tokens.extend(staged[:n]))
        self.caches.append(cache)
        return cache

    def _expected(self, position):
        at = position - self.prompt
        return self.answer[at] if at < len(self.answer) else FILLER

    def _causal_logits(self, position):
        if self.causal_logits is not None:
            return self.causal_logits(position - self.prompt)
        return row(self._expected(position))

    def prefill(self, tokens, cache):
        self.calls.append(("prefill", tokens.tolist()))
        cache.tokens.extend(tokens.tolist())
        self.prompt = len(cache.tokens)
        return SimpleNamespace(logits=self._causal_logits(len(cache.tokens)).unsqueeze(0))

    def preview(self, tokens, masked, cache, coreset_top_p):
        self.calls.append(("preview", tokens.tolist()))
        self.coresets.append(coreset_top_p)
        start, known = len(cache.tokens), int((~masked).sum())
        if self.preview_logits is not None:
            logits = self.preview_logits(tokens.tolist(), masked.tolist(), start - self.prompt)
        else:
            logits = rows(*((self._expected(start + i), self.confidence(i, known)) for i in range(len(tokens))))
        routing = SimpleNamespace(
            touched=torch.tensor([9, 8]), kept=torch.tensor([5, 4]), rerouted=torch.tensor([0.5, 0.25])
        )
        return SimpleNamespace(logits=logits, routing=routing)

    def causal(self, tokens, cache, last_only=False):
        self.calls.append(("causal", tokens.tolist()))
        ends = [len(cache.tokens) + n for n in range(1, len(tokens) + 1)]
        logits = torch.stack([self._causal_logits(at) for at in (ends[-1:] if last_only else ends)])
        routing = SimpleNamespace(
            touched=torch.tensor([9, 8]), kept=torch.tensor([9, 8]), rerouted=torch.tensor([0.0, 0.0])
        )
        return SimpleNamespace(logits=logits, routing=routing, staged=tokens.tolist())

    def kinds(self):
        return [kind for kind, _ in self.calls]


class Clock:
    """Stands in for the time of a run on a scripted model: every pass takes 250 ms, a `gate` holds it for 1,000 s."""

    def __init__(self, model, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr("clover_viz.decoding.stopwatch.perf_counter", lambda: self.now)
        for kind in ("prefill", "preview", "causal"):
            monkeypatch.setattr(model, kind, self._timed(getattr(model, kind)))

    def _timed(self, function):
        def timed(*given, **named):
            self.now += 0.25
            return function(*given, **named)

        return timed

    def gate(self):
        self.now += 1000.0


def engine(model, generation=None) -> Engine:
    return Engine(model, ByteTokenizer(), KernelChoice("reference", "scripted"), "scripted", generation)


def prompt_tokens(text):
    """How many tokens a user's turn makes."""
    return len(ByteTokenizer().chat([{"role": "user", "content": text}]))


def of(kind, events):
    return [event for event in events if isinstance(event, kind)]
