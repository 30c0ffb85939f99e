"""The decisions of a run as pure functions: commit, accept, draw, and the adjustments of long texts.

Bars are compared in fp32: a probability is an fp32 number, so the bar is rounded to fp32 first. 0.95 is no fp32
number; compared in double precision, a slot exactly at the bar would fall on a side chosen by rounding.
"""

import math
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch

MASK_64 = (1 << 64) - 1
GOLDEN_GAMMA = 0x9E3779B97F4A7C15  # of SplitMix64 (Steele, Lea, Flood 2014), as are the constants of `mix`


def fp32(value: float) -> float:
    """The nearest fp32 number, as a Python float."""
    return struct.unpack("f", struct.pack("f", value))[0]


def commit(
    confidences: Sequence[float], masked: Sequence[bool], threshold: float
) -> tuple[tuple[int, ...], bool]:
    """Slots to fix now and whether that was the fallback: every masked slot strictly above the threshold, else the
    most confident masked one (ties: lowest slot). confidences: fp32 values. No masked slot gives ((), False).
    """
    bar = fp32(threshold)
    waiting = [slot for slot, is_masked in enumerate(masked) if is_masked]
    over = tuple(slot for slot in waiting if confidences[slot] > bar)
    if over or not waiting:
        return over, False
    return (max(waiting, key=confidences.__getitem__),), True  # max keeps the first of equals


def accept(drafts: Sequence[int], choices: Sequence[int]) -> int:
    """Exact rule: how many leading drafts are the causal pass's own choices."""
    return _prefix(draft == choice for draft, choice in zip(drafts, choices))


def acceptance_bar(entropy: float, ratio: float, delta: float) -> float:
    """Threshold rule: min(ratio, delta * exp(-entropy)) rounded to fp32; entropy in nats."""
    return fp32(min(ratio, delta * math.exp(-entropy)))


def accept_by_bar(probabilities: Sequence[float], bars: Sequence[float]) -> int:
    """Threshold rule: how many leading drafts have at least the probability their bar asks for (fp32 values)."""
    return _prefix(p >= bar for p, bar in zip(probabilities, bars))


def _prefix(held) -> int:
    count = 0
    for one in held:
        if not one:
            break
        count += 1
    return count


def mix(x: int) -> int:
    """SplitMix64's finaliser: 64 bits in, 64 well mixed bits out."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK_64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK_64
    return x ^ (x >> 31)


def uniform(seed: int, position: int, step: int) -> float:
    """A number in [0, 1) that depends on its arguments alone, so that repeated or dropped work shifts no other draw.

    step: 1.. for previews, 0 for the causal pass's own choice at a position.
    """
    state = 0
    for part in (seed, position, step):
        state = mix(((state ^ part) + GOLDEN_GAMMA) & MASK_64)
    return (state >> 24) / 2**40  # 40 bits: u * total below never rounds up to the total


def draw(logits: torch.Tensor, temperature: float, uniforms: Sequence[float]) -> torch.Tensor:
    """Tokens from softmax(logits / temperature) by inverse CDF over ascending ids. logits [N, V] -> [N] int64

    fp64, because fp32 sums over a vocabulary depend on their order, and with it the token would.
    """
    top = logits.amax(-1, keepdim=True)
    weights = ((logits - top).double() / temperature).exp()
    cdf = weights.cumsum(-1)  # [N, V]
    u = torch.tensor(uniforms, dtype=torch.float64, device=logits.device).unsqueeze(-1)
    tokens = torch.searchsorted(cdf, u * cdf[:, -1:], right=True).squeeze(-1)
    return tokens.clamp_(max=logits.shape[-1] - 1)  # only NaN lands outside; its probability is refused later


@dataclass(frozen=True)
class Adjustments:
    """What acts on the logits before any choice, in every pass of a run.

    repetition divides the positive and multiplies the negative logits of tokens the response holds; presence is
    subtracted once and frequency once per occurrence. stop_bias is added to the end tokens, think_close_bias to the
    closing token of an open thinking section, each times the tokens so far / 1,000: of the response, and of the
    section. The release's own values and ramp are not public; this ramp is ours.
    """

    repetition: float = 1.0
    presence: float = 0.0
    frequency: float = 0.0
    stop_bias: float = 0.0
    think_close_bias: float = 0.0
    end_ids: tuple[int, ...] = ()
    think_open: int | None = None
    think_close: int | None = None

    @property
    def counting(self) -> bool:
        return self.repetition != 1 or self.presence != 0 or self.frequency != 0

    @property
    def ramping(self) -> bool:
        return self.stop_bias != 0 or self.think_close_bias != 0


def adjust(
    logits: torch.Tensor,
    by: Adjustments,
    prompt: Sequence[int],
    response: Sequence[int],
    following: Sequence[int] = (),
) -> torch.Tensor:
    """logits [N, V] fp32, adjusted. Only response tokens are counted, never the prompt's.

    A preview gives its committed tokens as the response and every row counts them all. A verify also gives `following`
    (N - 1 tokens): row i counts the response and the first i of them.
    """
    if by.counting:
        logits = _penalised(logits, by, response, following)
    if by.ramping:
        logits = _biased(logits, by, prompt, response, following)
    return logits


def _penalised(logits, by: Adjustments, response, following) -> torch.Tensor:
    ids = sorted({*response, *following})
    if not ids:
        return logits
    column = {token: i for i, token in enumerate(ids)}
    base = Counter(response)
    counts = torch.tensor([[base[token] for token in ids]], dtype=torch.float32).repeat(len(logits), 1)  # [N, U]
    for row, token in enumerate(following, start=1):
        counts[row:, column[token]] += 1
    counts = counts.to(logits.device)
    at = torch.tensor(ids, device=logits.device)
    values = logits[:, at]
    present = counts > 0
    scaled = torch.where(values > 0, values / by.repetition, values * by.repetition)
    values = torch.where(present, scaled, values) - by.presence * present - by.frequency * counts
    return logits.index_copy(1, at, values)


def _biased(logits, by: Adjustments, prompt, response, following) -> torch.Tensor:
    logits = logits.clone()
    texts = [[*response, *following[:row]] for row in range(len(following) + 1)]
    for ids, strength, length in (
        (by.end_ids, by.stop_bias, [len(text) for text in texts]),
        ((by.think_close,), by.think_close_bias, [open_thinking(by, prompt, text) for text in texts]),
    ):
        if strength:
            bias = torch.tensor(length, dtype=torch.float32, device=logits.device) * (strength / 1000)
            logits[:, list(ids)] += bias.unsqueeze(-1)  # [N, 1], or [1, 1] for every row of a preview
    return logits


def open_thinking(by: Adjustments, prompt: Sequence[int], response: Sequence[int]) -> int:
    """Response tokens inside the thinking section that is open at the end of the text; 0 when none is."""
    for back, token in enumerate(reversed(response)):
        if token in (by.think_open, by.think_close):
            return back if token == by.think_open else 0
    return len(response) if left_open(by, prompt) else 0


def left_open(by: Adjustments, ids: Sequence[int]) -> bool:
    """Whether a thinking section is open behind these ids."""
    return next((i == by.think_open for i in reversed(ids) if i in (by.think_open, by.think_close)), False)
