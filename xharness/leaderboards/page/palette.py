"""Colours of the heat map: a sequential scale for a light and for a dark page.

Lightness rises or falls evenly along the scale, so its order can be read without telling hues apart; the hue runs from
yellow over green to blue, which all common kinds of colour blindness keep apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin

#: Steps of the scale.
LEVELS = 25

_Colour = tuple[float, float, float]

# Lightness, chroma and hue (OKLCH) of the low end, the middle and the high end of each scale.
_LIGHT = ((0.975, 0.03, 105.0), (0.72, 0.10, 190.0), (0.40, 0.13, 262.0))
_DARK = ((0.25, 0.05, 268.0), (0.52, 0.10, 215.0), (0.90, 0.11, 108.0))


@dataclass(frozen=True)
class Swatch:
    """A step of the scale: colours as ``#rrggbb``.

    Attributes:
        background: The step's colour.
        ink: Black or white, whichever is read more easily on it.
    """

    background: str
    ink: str


def scale(*, dark: bool) -> tuple[Swatch, ...]:
    """Return the steps from the lowest figure to the highest; high figures stand out from the page."""
    swatches = []
    for level in range(LEVELS):
        background = _hexadecimal(_srgb(*_between(_DARK if dark else _LIGHT, level / (LEVELS - 1))))
        ink = max(("#000000", "#ffffff"), key=lambda colour: contrast(colour, background))
        swatches.append(Swatch(background, ink))
    return tuple(swatches)


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two ``#rrggbb`` colours, 1 to 21 (WCAG 2.2, "contrast ratio")."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    """Return the relative luminance of a ``#rrggbb`` colour, 0 to 1 (WCAG 2.2, "relative luminance")."""
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _between(stops: tuple[_Colour, _Colour, _Colour], position: float) -> _Colour:
    """Interpolate three evenly spaced stops; ``position`` runs from 0 to 1."""
    low, high = stops[:2] if position <= 0.5 else stops[1:]
    share = position * 2 if position <= 0.5 else position * 2 - 1
    lightness, chroma, hue = (a + (b - a) * share for a, b in zip(low, high, strict=True))
    return lightness, chroma, hue


def _srgb(lightness: float, chroma: float, hue: float) -> _Colour:
    """Convert OKLCH (hue in degrees) to sRGB, with less chroma where a screen cannot show it.

    The matrices are those of Ottosson 2020, "A perceptual color space for image processing".
    """
    a, b = chroma * cos(radians(hue)), chroma * sin(radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    if chroma > 0.001 and not all(0 <= channel <= 1 for channel in linear):
        return _srgb(lightness, chroma * 0.96, hue)
    red, green, blue = (
        12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055
        for c in (min(1.0, max(0.0, channel)) for channel in linear)
    )
    return red, green, blue


def _hexadecimal(colour: _Colour) -> str:
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in colour)
