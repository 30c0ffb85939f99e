"""What clover-tiny is trained on: the clean text causally, and blocks of it denoised from the clean prefix."""

from typing import NamedTuple

import torch
import torch.nn.functional as F

from clover_viz.model.batch import Blocks, causal_batch, preview_batch
from clover_viz.training.batches import MicroBatch

BALANCE = 0.01  # weight of the router load balance
AFTER_END = 0.25  # weight of the end tokens that fill a block past the answer's own
COPIES = 2  # differently masked copies of every block
SIZES, SIZE_ODDS = (32, 16, 8, 4), (0.6, 0.16, 0.14, 0.1)


class Losses(NamedTuple):
    total: torch.Tensor
    causal: torch.Tensor  # cross-entropy of answer tokens, nats
    masked: torch.Tensor  # cross-entropy of masked slots, nats
    right: torch.Tensor  # share of answer tokens whose causal argmax is right
    sure: torch.Tensor  # share of slots over 0.95 in all-masked blocks


def losses(model, batch: MicroBatch, end_id: int, joint: bool, seed: int) -> Losses:
    """The causal loss, and with `joint` the masked loss on blocks drawn with `seed`. Scalars, fp32."""
    chunk = model.config.block_size
    out = causal_batch(model, batch.ids, chunk, batch.lead)
    logits = model.head(out.hidden[:, :-1])  # [N, T - 1, V]
    target, weight, answer = batch.ids[:, 1:], batch.weight[:, 1:], batch.answer[:, 1:]
    each = F.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none").view_as(weight)
    # Pads are the mask token's logit away from being predictable; their weight is 0, and 0 * inf must not arise.
    each = each.masked_fill(weight == 0, 0.0)
    causal = (each * weight).sum() / weight.sum()
    present = torch.arange(batch.ids.shape[1]) < batch.end[:, None]
    present &= torch.arange(batch.ids.shape[1]) >= batch.lead[:, None]
    total = causal + BALANCE * _balance(model, out.router_logits, present)
    with torch.no_grad():
        answer_loss = each[answer].mean()
        right = (logits.argmax(-1) == target)[answer].float().mean()
    masked = sure = torch.zeros(())
    if joint:
        generator = torch.Generator().manual_seed(seed)
        blocks, target, weight = draw_blocks(batch, end_id, chunk, generator)
        top_p = model.config.moe_block_coreset_top_p
        hidden, router_logits = preview_batch(model, blocks, out.context, top_p, chunk)
        chosen = (weight > 0).nonzero(as_tuple=True)
        logits = model.head(hidden[chosen])
        each = F.cross_entropy(logits, target[chosen], reduction="none")
        masked = (each * weight[chosen]).sum() / weight.sum()
        total = total + masked + BALANCE * _balance(model, router_logits, blocks.valid)
        with torch.no_grad():
            empty = (blocks.masked | ~blocks.valid).all(-1)[chosen[0]]
            sure = (logits.softmax(-1).amax(-1) > 0.95)[empty].float().mean()
    return Losses(total, answer_loss, masked.detach(), right, sure)


def draw_blocks(batch: MicroBatch, end_id: int, chunk: int, generator: torch.Generator):
    """Blocks over the answers of a batch, each in several maskings. Returns Blocks, targets [M, S] and weights [M, S].

    A block begins at any chunk boundary inside an answer. Past the end token the target is the end token again.
    """
    starts = torch.arange(0, batch.ids.shape[1], chunk)
    text, at = batch.answer[:, starts].nonzero(as_tuple=True)
    start = starts[at]
    text, start = text.repeat(COPIES), start.repeat(COPIES)
    blocks, slots = len(text), torch.arange(chunk)
    place = start[:, None] + slots  # [M, S]
    inside = place < batch.end[text, None]
    target = batch.ids[text[:, None], place.clamp(max=batch.ids.shape[1] - 1)]
    # Once an end token stands in the block, everything right of it is the end token.
    over = ((target == end_id) & inside).int().cumsum(-1) - ((target == end_id) & inside).int() > 0
    target = target.masked_fill(over, end_id)
    size = torch.tensor(SIZES)[torch.multinomial(torch.tensor(SIZE_ODDS), blocks, True, generator=generator)]
    valid = (slots < size[:, None].clamp(max=chunk)) & (inside | over)
    masked = _masking(blocks, chunk, generator) & valid
    masked[:, 0] |= ~masked.any(-1)  # a block without a mask teaches nothing
    weight = torch.where(over, AFTER_END, 1.0) * masked
    return Blocks(text, start, target, masked, valid, batch.lead[text]), target, weight


def _masking(blocks: int, slots: int, generator: torch.Generator) -> torch.Tensor:
    """Which slots are masked, bool [M, S]: 35 % all, 15 % all but slot 0, 15 % a suffix, 35 % each slot by a random rate."""
    kind = torch.rand(blocks, 1, generator=generator)
    rate = torch.rand(blocks, 1, generator=generator)
    independent = torch.rand(blocks, slots, generator=generator) < rate
    place = torch.arange(slots).expand(blocks, -1)
    suffix = place >= (rate * slots).floor()
    masked = torch.where(kind < 0.65, suffix, independent)
    masked = torch.where(kind < 0.5, place > 0, masked)
    return torch.where(kind < 0.35, torch.ones_like(masked), masked)


def _balance(model, router_logits: list[torch.Tensor], counted: torch.Tensor) -> torch.Tensor:
    """E * sum_e (share of choices) (mean probability), averaged over layers (Switch Transformer, eq. 4-6); K at best."""
    top_k, total = model.config.num_experts_per_tok, 0.0
    for logits in router_logits:
        p = logits[counted].float().softmax(-1)  # [tokens, E]
        chosen = torch.zeros_like(p).scatter(-1, p.topk(top_k, dim=-1).indices, 1.0).mean(0)
        total = total + p.shape[-1] * (chosen * p.mean(0)).sum()
    return total / len(router_logits)
