"""The lesson's arithmetic, and the released model's counts it rests on. rules.js holds it in JavaScript too."""

from __future__ import annotations

from dataclasses import dataclass

# Clover-35B-A3B, as released: experts hold three matrices of 2,048 x 512 in each of 40 layers.
LAYERS = 40
EXPERTS = 256
EXPERTS_A_TOKEN = 8
CONTEXT = 131_072
PARAMETERS = 34_661_350_848
EXPERT = 3 * 2048 * 512
DENSE = 1_940_536_768  # read by every pass: all that is no routed expert; of the two vocabulary matrices the head alone
BYTES = 2  # a BF16 number
TERA, GIGA = 1e12, 1e9
CARDS = {"H200": 4.8, "GB300": 8.0}  # TB/s, as published
REPORTED = {"H200": 515.0, "GB300": 680.0}  # tokens/s, the makers' own figures


@dataclass(frozen=True)
class Budget:
    """Of one round of draft and verify. dense, preview, verify: bytes (the experts' alone in the latter two);
    needed: tokens that a round must keep to reach the target; ceiling: tokens/s of one token at a time at best, with
    the whole bandwidth."""

    dense: float
    preview: float
    verify: float
    ms: float
    needed: float
    ceiling: float

    @property
    def total(self) -> float:
        return self.dense + self.preview + self.verify


def budget(bandwidth: float, efficiency: float, preview: float, verify: float, target: float) -> Budget:
    """What a round reads and takes at batch size 1 in BF16; attention's memory and launch times are left out.

    bandwidth: TB/s; efficiency: the share of it that is reached; preview, verify: experts touched in each layer;
    target: tokens/s. Raises ValueError for a value out of range.
    """
    for name, value, low, high in (
        ("bandwidth", bandwidth, 0, 1000),
        ("efficiency", efficiency, 0, 1),
        ("preview", preview, 1, EXPERTS),
        ("verify", verify, 1, EXPERTS),
        ("target", target, 0, 1e6),
    ):
        if not (low <= value <= high and value > 0):
            raise ValueError(f"{name} must be above 0 and in [{low}, {high}], got {value!r}")
    dense = 2 * DENSE * BYTES
    drafted, verified = (LAYERS * experts * EXPERT * BYTES for experts in (preview, verify))
    seconds = (dense + drafted + verified) / (bandwidth * TERA * efficiency)
    token = (DENSE + LAYERS * EXPERTS_A_TOKEN * EXPERT) * BYTES
    return Budget(dense, drafted, verified, 1000 * seconds, target * seconds, bandwidth * TERA / token)


def touched_if_independent(experts: int = EXPERTS, a_token: int = EXPERTS_A_TOKEN, slots: int = 32) -> float:
    """Distinct experts that slots touch on average when each chooses `a_token` of them by itself."""
    return experts * (1 - (1 - a_token / experts) ** slots)


def figures() -> dict[str, float]:
    """Numbers that the lesson's text names."""
    token = budget(1, 1, 1, 1, 1).ceiling  # tokens/s for each TB/s
    return {
        "h200": CARDS["H200"] * token,
        "gb300": CARDS["GB300"] * token,
        "dense": DENSE * BYTES / GIGA,
        "expert": EXPERT * BYTES / 1e6,
        "independent": touched_if_independent(),
    }
