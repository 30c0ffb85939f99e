"""Training documents: any of them by (split, seed, index), their ids with an answer mask, and held-out prompts.

The mix is held in answer tokens, which are what the model learns to write: 66 % agent traffic, 18 % structured text,
10 % talk, 6 % prose. Values and wordings of the held-out split never occur in training.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import NamedTuple

from clover_viz.tokenizer import ROLES
from clover_viz.training.agent_data import agent_turns
from clover_viz.training.prose import Prose
from clover_viz.training.structured import structured_turns
from clover_viz.training.talk import accepted, talk_turns
from clover_viz.training.turn import Turn

MAKERS = {"agent": agent_turns, "structured": structured_turns, "talk": talk_turns}
SHARES = {"agent": 0.66, "structured": 0.18, "talk": 0.10, "prose": 0.06}  # of answer tokens
MEAN_ANSWER_TOKENS = {"agent": 100, "structured": 33, "talk": 74, "prose": 250}  # measured, to turn shares into odds
# Most of what a book says next cannot be foreseen, and would otherwise make up nearly all of the loss.
PROSE_WORTH = 0.1  # of a token of prose, beside one of anything else
MAX_TOKENS = 512
PROSE_TOKENS = 250
PROMPT_CHARS = 120  # about 60 tokens of prose


@dataclass(frozen=True)
class Document:
    """A conversation, or raw text (prose: `messages` empty). `turns` tells more about each message. worth: how much its
    tokens count in training."""

    kind: str
    turns: tuple[Turn, ...] = ()
    text: str = ""
    worth: float = 1.0

    @property
    def messages(self) -> tuple[dict, ...]:
        return tuple({"role": turn.role, "content": turn.content} for turn in self.turns)


class Example(NamedTuple):
    """`ids` [T] and `answer` [T]: True on tokens that the model should write (contents and ends of its turns). `worth`
    is the document's."""

    ids: list[int]
    answer: list[bool]
    worth: float = 1.0


@dataclass(frozen=True)
class EvalPrompt:
    """A held-out prompt. `expected` is the right answer, `accepted` all equally right ones; `copied` are the values an
    answer must hold. Prose has no messages: `text` is its raw prompt and `expected` how the book goes on."""

    kind: str
    messages: tuple[dict, ...]
    expected: str
    unseen_phrasing: bool = False
    accepted: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()
    text: str = ""


class Corpus:
    """Documents of one seed; without prose its share goes to the other kinds."""

    def __init__(self, seed: int = 0, prose: Prose | None = None):
        self.seed = seed
        self.prose = prose
        kinds = [kind for kind in SHARES if prose or kind != "prose"]
        self._kinds = kinds
        self._odds = [SHARES[kind] / MEAN_ANSWER_TOKENS[kind] for kind in kinds]

    def document(self, split: str, index: int) -> Document:
        """The document of (split, index); split is "train" or "heldout". A third of held-out ones is unseen wording."""
        if split not in ("train", "heldout"):
            raise ValueError(f"split must be train or heldout, got {split!r}")
        rng = random.Random(f"{self.seed}/{split}/{index}")
        kind = rng.choices(self._kinds, self._odds)[0]
        unseen = split == "heldout" and rng.random() < 1 / 3
        return make_document(kind, rng, split, unseen, self.prose, split == "train")


def document(split: str, seed: int, index: int, prose: Prose | None = None) -> Document:
    return Corpus(seed, prose).document(split, index)


def make_document(
    kind: str, rng: random.Random, split: str, unseen: bool, prose: Prose | None = None, varied: bool = False
) -> Document:
    if kind == "prose":
        if prose is None:
            raise ValueError("kind prose needs a book: give prose=Prose.load(path)")
        return Document("prose", text=prose.chunk(rng, split), worth=PROSE_WORTH)
    if kind not in MAKERS:
        raise ValueError(f"kind must be one of {', '.join(SHARES)}, got {kind!r}")
    return Document(kind, tuple(MAKERS[kind](rng, split, unseen, varied)))


def encode(document: Document, tokenizer) -> Example:
    return encode_batch([document], tokenizer)[0]


def encode_batch(documents: list[Document], tokenizer) -> list[Example]:
    """Ids of many documents, equal to the chat template's; conversations over MAX_TOKENS lose their last turns."""
    texts: list[str] = []
    for doc in documents:
        texts += [doc.text] if doc.kind == "prose" else [turn.content for turn in doc.turns]
    encoded = iter(tokenizer.encode_batch(texts))
    frame = _Frame(tokenizer)
    return [
        _whole(next(encoded)[:PROSE_TOKENS], doc.worth) if doc.kind == "prose" else frame.example(doc, encoded)
        for doc in documents
    ]


def _whole(ids: list[int], worth: float) -> Example:
    return Example(ids, [True] * len(ids), worth)


class _Frame:
    """The chat template in ids, so that a document is joined from parts instead of rendered and cut again."""

    def __init__(self, tokenizer):
        self._heads = {role: tokenizer.encode_raw(f"<|im_start|>{role}\n") for role in ROLES}
        self._end = tokenizer.encode_raw("<|im_end|>")
        self._gap = tokenizer.encode_raw("\n")

    def example(self, doc: Document, encoded) -> Example:
        ids: list[int] = []
        answer: list[bool] = []
        full = False
        for turn in doc.turns:
            content = next(encoded)
            full = full or len(ids) + len(content) + 8 > MAX_TOKENS
            if full:
                continue
            own = turn.role == "assistant"
            for part, wanted in ((self._heads[turn.role], False), (content, own), (self._end, own), (self._gap, False)):
                ids += part
                answer += [wanted] * len(part)
        return Example(ids, answer, doc.worth)


def eval_prompts(kind: str, count: int, seed: int = 0, prose: Prose | None = None) -> list[EvalPrompt]:
    """Held-out prompts of one kind; every third has an unseen wording.

    agent: JSON calls, in first and later turns and after a question of the model; answer: sentences about tool results,
    whose wording follows from the tool's name; decline: no tool fits, or an argument is
    missing; structured; talk; prose.
    """
    labels = {"agent": ("call",), "answer": ("answer",), "decline": ("refuse", "ask")}.get(kind, (kind,))
    source = "agent" if kind in ("agent", "answer", "decline") else kind
    prompts: list[EvalPrompt] = []
    attempt = 0
    while len(prompts) < count:
        rng = random.Random(f"eval/{kind}/{seed}/{attempt}")
        attempt += 1
        unseen = kind in ("agent", "decline", "structured", "talk") and len(prompts) % 3 == 2
        doc = make_document(source, rng, "heldout", unseen, prose)
        if kind == "prose":
            cut = doc.text.rfind(" ", 0, PROMPT_CHARS)
            prompts.append(EvalPrompt("prose", (), doc.text[cut:], text=doc.text[:cut]))
            continue
        places = [i for i, t in enumerate(doc.turns) if t.label in labels and t.unseen == unseen]
        if not places:
            continue
        place = rng.choice(places)
        turn = doc.turns[place]
        right = accepted(turn.content) if kind == "talk" else (turn.content,)
        prompts.append(EvalPrompt(kind, doc.messages[:place], turn.content, unseen, right, turn.copied))
    return prompts
