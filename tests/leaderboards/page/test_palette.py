"""The heat map's colours: every figure can be read, and the order of the steps can be seen without telling hues."""

from __future__ import annotations

from itertools import pairwise

import pytest

from xharness.leaderboards.page.palette import LEVELS, contrast, luminance, scale


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("#000000", "#ffffff", 21.0),  # the largest there is, by definition
        ("#777777", "#ffffff", 4.48),  # WCAG's own example of a grey just too light
        ("#ff0000", "#ff0000", 1.0),
    ],
)
def test_contrast_is_that_of_wcag(one: str, other: str, ratio: float) -> None:
    assert contrast(one, other) == pytest.approx(ratio, abs=0.005)
    assert contrast(other, one) == contrast(one, other)


@pytest.mark.parametrize("dark", [False, True])
def test_every_step_can_be_read(dark: bool) -> None:
    swatches = scale(dark=dark)
    assert len(swatches) == LEVELS
    assert min(contrast(swatch.background, swatch.ink) for swatch in swatches) >= 4.5  # WCAG AA


@pytest.mark.parametrize("dark", [False, True])
def test_luminance_alone_orders_the_steps(dark: bool) -> None:
    steps = [luminance(swatch.background) for swatch in scale(dark=dark)]
    assert steps == sorted(steps, reverse=not dark)
    assert min(abs(one - other) for one, other in pairwise(steps)) > 0.002


@pytest.mark.parametrize(("dark", "page"), [(False, "#fdfcf9"), (True, "#14161a")])
def test_high_figures_stand_out_from_the_page(dark: bool, page: str) -> None:
    swatches = scale(dark=dark)
    assert contrast(swatches[0].background, page) < 1.5
    assert contrast(swatches[-1].background, page) > 7
