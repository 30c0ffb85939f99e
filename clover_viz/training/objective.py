"""What clover-tiny is trained on: the clean text causally, and blocks of it denoised from the clean prefix."""

from typing import NamedTuple

import torch
import torch.nn.functional as F

from clover_viz.model.batch import causal_batch, prefixes, preview_batch
from clover_viz.training.batches import MicroBatch
from clover_viz.training.maskings import SURE, draw_blocks, second_masking

CAUSAL = 2.0  # weight of the causal loss beside the masked one, which is larger by nature and would drown it
BALANCE = 0.01  # weight of the router load balance
PROMPT_SHARE = 0.25  # of a prompt's tokens, drawn anew each time, that are predicted; each counts for all of them


class Losses(NamedTuple):
    total: torch.Tensor
    causal: torch.Tensor  # cross-entropy of answer tokens, nats
    masked: torch.Tensor  # cross-entropy of masked slots, nats
    right: torch.Tensor  # share of answer tokens whose causal argmax is right
    sure: torch.Tensor  # share of slots over 0.95 in all-masked blocks


def losses(model, batch: MicroBatch, end_id: int, joint: bool, seed: int, follow: bool = True) -> Losses:
    """The causal loss, and with `joint` the masked loss on blocks drawn with `seed`. Scalars, fp32.

    Every block is denoised under two maskings; with `follow` the second is often what the first pass leaves masked.
    """
    chunk = model.config.block_size
    out = causal_batch(model, batch.ids, chunk, batch.lead, batch.end)
    generator = torch.Generator().manual_seed(seed)
    chosen = predicted(batch, generator)
    logits = model.head(out.hidden[chosen])  # [P, V]
    text, place = chosen[0], chosen[1] + 1
    target, answer = batch.ids[text, place], batch.answer[text, place]
    weight = asked_weight(batch, text, place)
    each = F.cross_entropy(logits, target, reduction="none")
    # Not over the sum of what the texts are worth: a batch of cheap ones would count like any other.
    causal = (each * weight * batch.worth[text]).sum() / weight.sum()
    present = torch.arange(batch.ids.shape[1]) < batch.end[:, None]
    present &= torch.arange(batch.ids.shape[1]) >= batch.lead[:, None]
    total = causal + BALANCE * _balance(model, out.router_logits, present)
    with torch.no_grad():
        answer_loss = each[answer].mean()
        right = (logits.argmax(-1) == target)[answer].float().mean()
    masked = sure = torch.zeros(())
    if joint:
        masked, balance, sure = _masked_loss(model, batch, out.context, end_id, generator, follow)
        total = total + (CAUSAL - 1) * causal + masked + BALANCE * balance
    return Losses(total, answer_loss, masked.detach(), right, sure)


def predicted(batch: MicroBatch, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows (text, place) whose next token is asked for: before every answer token, before some of a prompt's."""
    drawn = torch.rand(batch.ids.shape, generator=generator) < PROMPT_SHARE
    asked = (batch.answer | drawn) & (batch.weight > 0)
    return asked[:, 1:].nonzero(as_tuple=True)


def asked_weight(batch: MicroBatch, text: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
    """How much predicting the tokens (text, place) counts: a prompt's for those that were not drawn, too. [P] fp32"""
    weight = batch.weight[text, place]
    return torch.where(batch.answer[text, place], weight, weight / PROMPT_SHARE)


def _masked_loss(model, batch: MicroBatch, context, end_id: int, generator: torch.Generator, follow: bool):
    """Cross-entropy of masked slots, load balance, and the share of sure slots among blocks that begin all masked."""
    chunk, top_p = model.config.block_size, model.config.moe_block_coreset_top_p
    blocks, target, weight = draw_blocks(batch, end_id, chunk, generator)
    before = prefixes(model, context, blocks.text, blocks.start, chunk)
    total, balance, confidence = 0.0, 0.0, None
    for second in (False, True):
        if second:
            masking = second_masking(blocks, confidence if follow else None, generator)
            blocks = blocks._replace(masked=masking)
        hidden, router_logits = preview_batch(model, blocks, before, top_p)
        balance = balance + _balance(model, router_logits, blocks.valid) / 2
        chosen = blocks.masked.nonzero(as_tuple=True)
        logits = model.head(hidden[chosen])
        counts = weight[chosen] * batch.worth[blocks.text[chosen[0]]]
        total = total + (F.cross_entropy(logits, target[chosen], reduction="none") * counts).sum()
        if not second:
            confidence = torch.zeros(blocks.masked.shape)
            with torch.no_grad():
                confidence[chosen] = logits.softmax(-1).amax(-1)
                empty = (blocks.masked | ~blocks.valid).all(-1)[chosen[0]]
                sure = (confidence[chosen] > SURE)[empty].float().mean()
            counted = (weight * blocks.masked).sum()
    return total / (counted + (weight * blocks.masked).sum()), balance, sure


def _balance(model, router_logits: list[torch.Tensor], counted: torch.Tensor) -> torch.Tensor:
    """E * sum_e (share of choices) (mean probability), mean over layers (Switch Transformer, eq. 4-6); K at best."""
    top_k, total = model.config.num_experts_per_tok, 0.0
    for logits in router_logits:
        p = logits[counted].float().softmax(-1)  # [tokens, E]
        chosen = torch.zeros_like(p).scatter(-1, p.topk(top_k, dim=-1).indices, 1.0).mean(0)
        total = total + p.shape[-1] * (chosen * p.mean(0)).sum()
    return total / len(router_logits)
