"""Colours of the page, as data: two themes, and a ramp that paints each slot by the step that fixed it.

The ramp is sequential in lightness (strongest against the page = earliest), so it reads without colour vision.
A test holds every pair of text and ground below to a contrast of at least 4.5.
"""

from __future__ import annotations

import math

STEPS = 32  # a block of B slots takes at most B steps

LIGHT = {
    "ground": "#f6f8f5",
    "surface": "#ffffff",
    "sunken": "#eef2ee",
    "line": "#d5ddd6",
    "edge": "#7f8f85",  # outlines that carry meaning: 3:1 on the surface
    "ink": "#14221a",
    "quiet": "#51625a",
    "accent": "#1a7347",
    "accent-ink": "#ffffff",
    "accent-wash": "#e2f1e7",
    "danger": "#a3262a",
}
DARK = {
    "ground": "#0e1411",
    "surface": "#161e1a",
    "sunken": "#101713",
    "line": "#2b3831",
    "edge": "#70857a",
    "ink": "#e7f0ea",
    "quiet": "#a3b5ab",
    "accent": "#63cc93",
    "accent-ink": "#06150d",
    "accent-wash": "#1a3226",
    "danger": "#ff9d97",
}
RAMP_LIGHT = ((0.0, "#0b3f52"), (0.3, "#0f6a58"), (0.55, "#46a052"), (0.8, "#a9c94a"), (1.0, "#f3e07a"))
RAMP_DARK = ((0.0, "#f1f4a8"), (0.25, "#b9de63"), (0.5, "#57bb6c"), (0.75, "#22806f"), (1.0, "#2b5674"))


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast ratio of two `#rrggbb` colours, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    """WCAG 2 relative luminance, 0 to 1."""
    red, green, blue = _linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def step_colours(ramp: tuple[tuple[float, str], ...]) -> list[tuple[str, str]]:
    """(fill, ink) for steps 1..32. Logarithmic, so that the first few steps, the common ones, lie far apart."""
    pairs = []
    for step in range(1, STEPS + 1):
        fill = _along(ramp, math.log2(step) / math.log2(STEPS))
        pairs.append((fill, max(("#ffffff", "#000000"), key=lambda ink: contrast(fill, ink))))
    return pairs


def variables(colours: dict[str, str], ramp: tuple[tuple[float, str], ...]) -> str:
    """The colours as CSS custom properties: `--cv-ink: ...; --cv-step-1: ...; --cv-step-ink-1: ...`."""
    lines = [f"--cv-{name}: {value};" for name, value in colours.items()]
    for step, (fill, ink) in enumerate(step_colours(ramp), start=1):
        lines.append(f"--cv-step-{step}: {fill}; --cv-step-ink-{step}: {ink};")
    return " ".join(lines)


def _along(ramp: tuple[tuple[float, str], ...], place: float) -> str:
    for (left, one), (right, other) in zip(ramp, ramp[1:]):
        if place <= right:
            share = (place - left) / (right - left)
            mixed = (a + (b - a) * share for a, b in zip(_oklab(one), _oklab(other)))
            return _hex(*mixed)
    return ramp[-1][1]


def _linear(colour: str) -> tuple[float, float, float]:
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)


def _oklab(colour: str) -> tuple[float, float, float]:
    """Björn Ottosson's OKLab, in which halfway looks halfway."""
    r, g, b = _linear(colour)
    long = math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
    medium = math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
    short = math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


def _hex(light: float, a: float, b: float) -> str:
    long = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (light - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    shades = (12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055 for c in linear)
    return "#" + "".join(f"{round(255 * min(1.0, max(0.0, shade))):02x}" for shade in shades)
