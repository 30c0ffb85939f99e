"""From documents to micro-batches: rows of similar length, each text shifted against the chunks of the scan."""

import random
from typing import Callable, NamedTuple

import torch

from clover_viz.training.data import Example


class MicroBatch(NamedTuple):
    ids: torch.Tensor  # [N, T] int64; the pad id before and after each text
    weight: torch.Tensor  # [N, T] fp32: how much predicting this token counts (0 outside the text)
    answer: torch.Tensor  # [N, T] bool
    lead: torch.Tensor  # [N] int64
    end: torch.Tensor  # [N] int64, one past the last token of the text
    worth: torch.Tensor  # [N] fp32: how much its tokens count beside those of other texts


PROMPT_WEIGHT = 0.05  # prompts are other people's words: worth little, not nothing
POOL = 192  # documents sorted by length together
PER_POOL = 16  # micro-batches a pool is cut into
MEAN_LEAD = 16  # rows before a text, on average: many short texts cost more than their tokens


class Batches:
    """Numbered micro-batches: number `index` is the same whenever it is asked for.

    A pool of documents is sorted by length and cut into groups of about equal cost; the groups of a pool come
    in a seeded order. `examples(indices)` tokenizes documents by their numbers.
    """

    def __init__(self, examples: Callable[[range], list[Example]], chunk: int, pad: int, seed: int):
        self.examples, self.chunk, self.pad, self.seed = examples, chunk, pad, seed
        self._pool, self._groups = None, []

    def __getitem__(self, index: int) -> MicroBatch:
        pool, place = divmod(index, PER_POOL)
        if pool != self._pool:
            examples = sorted(self.examples(range(pool * POOL, (pool + 1) * POOL)), key=lambda e: len(e.ids))
            self._groups = _cut(examples, PER_POOL)
            random.Random(f"{self.seed}:{pool}").shuffle(self._groups)
            self._pool = pool
        rng = random.Random(f"{self.seed}:{index}:shift")
        return _rows(self._groups[place], rng, self.chunk, self.pad)


def _cut(examples: list[Example], parts: int) -> list[list[Example]]:
    """Neighbours in length, in `parts` groups of about equal row counts."""
    total = sum(len(e.ids) + MEAN_LEAD for e in examples)
    groups, current, seen = [], [], 0
    for example in examples:
        current.append(example)
        seen += len(example.ids) + MEAN_LEAD
        if seen >= total * (len(groups) + 1) / parts and len(groups) < parts - 1:
            groups.append(current)
            current = []
    groups.append(current)
    return groups


def _rows(examples: list[Example], rng: random.Random, chunk: int, pad: int) -> MicroBatch:
    leads = [_lead(e, rng, chunk) for e in examples]
    length = max(lead + len(e.ids) for lead, e in zip(leads, examples))
    shape = (len(examples), length)
    ids = torch.full(shape, pad)
    weight, answer = torch.zeros(shape), torch.zeros(shape, dtype=torch.bool)
    for row, (lead, e) in enumerate(zip(leads, examples)):
        span = slice(lead, lead + len(e.ids))
        ids[row, span] = torch.tensor(e.ids)
        answer[row, span] = torch.tensor(e.answer)
        weight[row, span] = torch.where(answer[row, span], 1.0, PROMPT_WEIGHT)
        weight[row, lead] = 0.0  # nothing precedes the first token
    lead = torch.tensor(leads)
    end, worth = lead + torch.tensor([len(e.ids) for e in examples]), torch.tensor([e.worth for e in examples])
    return MicroBatch(ids, weight, answer, lead, end, worth)


def _lead(example: Example, rng: random.Random, chunk: int) -> int:
    """Rows before the text: mostly so many that a chunk boundary falls on the start of one of its answers, where most
    blocks begin and need no state but the boundary's; at times any number."""
    starts = [i for i in range(1, len(example.ids)) if example.answer[i] and not example.answer[i - 1]]
    if starts and rng.random() < 0.75:
        return -rng.choice(starts) % chunk
    return rng.randrange(chunk)
