"""The blocks that previews are trained on, and which of their slots are masked."""

import torch

from clover_viz.model.batch import Blocks
from clover_viz.training.batches import MicroBatch

AFTER_END = 0.25  # weight of the end tokens that fill a block past the answer's own
OPENED, ELSEWHERE = 0.8, 0.014  # shares of the places where denoising opens blocks, and of all others in answers
SIZES, SIZE_ODDS = (32, 16, 8, 4), (0.6, 0.16, 0.14, 0.1)
SURE = 0.95  # a slot over this is committed when a second masking follows the model's own first pass
FOLLOW = 0.6  # share of blocks whose second masking does
DEEPER, UNSURE = 0.5, 0.2  # share of those from a pass further on: what is over a bar drawn between UNSURE and SURE


def draw_starts(batch: MicroBatch, chunk: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Where blocks begin, (text, place): at OPENED of the places where denoising opens them, the first token of every
    answer and every `chunk` tokens on, and at ELSEWHERE of the others, as smaller blocks and rounds of self-speculation
    do."""
    answer, shape = batch.answer, batch.answer.shape
    place = torch.arange(shape[1]).expand(shape)
    first = answer.clone()
    first[:, 1:] &= ~answer[:, :-1]
    begun = place.masked_fill(~first, 0).cummax(-1).values  # where the answer of a token began
    odds = torch.where((place - begun) % chunk == 0, OPENED, ELSEWHERE)
    chosen = answer & (torch.rand(shape, generator=generator) < odds)
    if not chosen.any():  # of a batch without blocks nothing would be learnt, and it is rare
        chosen = first
    return chosen.nonzero(as_tuple=True)


def draw_blocks(batch: MicroBatch, end_id: int, chunk: int, generator: torch.Generator):
    """Blocks over the answers of a batch, each masked once. Returns Blocks, targets [M, S] and weights [M, S] fp32.

    Past the end token the target is the end token again. Weights tell how much a slot counts once it is masked; they
    are 0 outside the block.
    """
    text, start = draw_starts(batch, chunk, generator)
    blocks, slots = len(text), torch.arange(chunk)
    place = start[:, None] + slots  # [M, S]
    inside = place < batch.end[text, None]
    target = batch.ids[text[:, None], place.clamp(max=batch.ids.shape[1] - 1)]
    # Once an end token stands in the block, everything right of it is the end token.
    over = ((target == end_id) & inside).int().cumsum(-1) - ((target == end_id) & inside).int() > 0
    target = target.masked_fill(over, end_id)
    size = torch.tensor(SIZES)[torch.multinomial(torch.tensor(SIZE_ODDS), blocks, True, generator=generator)]
    valid = (slots < size[:, None].clamp(max=chunk)) & (inside | over)
    weight = torch.where(over, AFTER_END, 1.0) * valid
    masked = draw_masking(valid, generator)
    return Blocks(text, start, target, masked, valid, batch.lead[text]), target, weight


def draw_masking(valid: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Which slots are masked, bool [M, S]: 32 % all, 26 % all but slot 0, 14 % a suffix, 28 % by a random rate."""
    blocks, slots = valid.shape
    kind = torch.rand(blocks, 1, generator=generator)
    rate = torch.rand(blocks, 1, generator=generator)
    independent = torch.rand(blocks, slots, generator=generator) < rate
    place = torch.arange(slots).expand(blocks, -1)
    suffix = place >= (rate * slots).floor()
    masked = torch.where(kind < 0.72, suffix, independent)
    masked = torch.where(kind < 0.58, place > 0, masked)
    masked = torch.where(kind < 0.32, torch.ones_like(masked), masked) & valid
    masked[:, 0] |= ~masked.any(-1)  # a block without a mask teaches nothing
    return masked


def second_masking(
    blocks: Blocks, confidence: torch.Tensor | None, generator: torch.Generator
) -> torch.Tensor:
    """Another masking of the same blocks, bool [M, S]: for FOLLOW of them what the first pass leaves, else drawn anew.

    What a pass leaves are the masked slots it is not sure of by `confidence` [M, S], its top probabilities: denoising
    meets these, and the more a model knows the less they look like masks drawn at random. For DEEPER of them the bar is
    lower, as it is some passes later, when only the hardest slots are left. Without confidence all are drawn.
    """
    masked = draw_masking(blocks.valid, generator)
    follow = torch.rand(len(masked), 1, generator=generator) < FOLLOW
    if confidence is None:
        return masked
    drawn = torch.rand(len(masked), 2, 1, generator=generator)
    bar = torch.where(drawn[:, 0] < DEEPER, UNSURE + (SURE - UNSURE) * drawn[:, 1], SURE)
    left = blocks.masked & (confidence <= bar)
    return torch.where(follow & left.any(-1, keepdim=True), left, masked)
