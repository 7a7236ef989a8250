"""Effects of known size, averages and families."""

from __future__ import annotations

import numpy as np
import pytest

from xharness.comparison.comparing import Resampling, TaskPair, compare_tasks
from xharness.comparison.effects import Effect, significant_drops
from xharness.comparison.pairing import PairedExamples
from xharness.scoring.examples import FloatArray

FAST = Resampling(resamples=2000)


def side(values: FloatArray) -> FloatArray:
    """Make ratios of values, (examples, languages, seeds)."""
    return np.stack([values, np.ones_like(values)], axis=-1)[..., None, :]


def pair(name: str, baseline: FloatArray, candidate: FloatArray) -> TaskPair:
    codes = tuple(["en", "de", "sw"][: baseline.shape[1]])
    return TaskPair.of_examples(
        name, codes, [PairedExamples(codes, side(baseline), side(candidate))]
    )


def by_key(effects: tuple[Effect, ...]) -> dict[str, Effect]:
    return {effect.key: effect for effect in effects}


def test_a_case_with_a_known_answer() -> None:
    """400 examples, 80 right become wrong and 40 wrong become right: -10 points, McNemar z = 40 / sqrt(120).

    Wald's interval of a paired difference: 0.1 +- 1.96 sqrt(0.3 - 0.1^2) / 20, so -15.28 to -4.72.
    """
    first = np.repeat([1.0, 0.0, 1.0, 0.0], [80, 40, 150, 130])[:, None, None]
    second = np.repeat([0.0, 1.0, 1.0, 0.0], [80, 40, 150, 130])[:, None, None]
    (task, language) = compare_tasks([pair("t", first, second)], {}, (), Resampling())
    for effect in (task, language):
        assert (effect.baseline, effect.candidate) == pytest.approx((57.5, 47.5))
        assert effect.difference == pytest.approx(-10)
        assert (effect.low, effect.high) == pytest.approx((-15.28, -4.72), abs=0.3)
        # Twice the binomial tail of 40 in 120, less half the probability of 40: 2.0e-4.
        assert effect.p_value == pytest.approx(2.0e-4, abs=2.5e-4)
        assert effect.chance == "examples"
    assert significant_drops([language], 0.05) == [language]


def test_averages_are_means_of_means() -> None:
    random = np.random.default_rng(0)
    tasks = [
        pair("a", random.random((50, 3, 1)), random.random((50, 3, 1))),
        pair("b", random.random((30, 2, 1)), random.random((30, 2, 1))),
        pair("c", random.random((40, 1, 1)), random.random((40, 1, 1))),
    ]
    found = by_key(compare_tasks(tasks, {"x": ("a", "b"), "y": ("c",)}, ("a", "b", "c"), FAST))
    assert list(found)[:3] == ["overall", "category:x", "category:y"]

    def difference(key: str) -> float:
        return found[key].difference or 0.0

    assert difference("a") == pytest.approx(
        np.mean([difference(f"a/{c}") for c in ("en", "de", "sw")])
    )
    assert difference("category:x") == pytest.approx((difference("a") + difference("b")) / 2)
    # Over tasks, not over categories.
    assert difference("overall") == pytest.approx(np.mean([difference(t) for t in "abc"]))
    overall = found["overall"]
    assert overall.low is not None
    assert overall.high is not None
    assert overall.low < difference("overall") < overall.high
    assert (overall.examples, found["a/de"].examples) == (30, 50)


def test_average_of_independent_tasks_has_the_width_of_independent_errors() -> None:
    random = np.random.default_rng(0)
    tasks = [pair(n, random.random((400, 1, 1)), random.random((400, 1, 1))) for n in "abcd"]
    found = by_key(compare_tasks(tasks, {}, tuple("abcd"), Resampling()))

    def width(key: str) -> float:
        return (found[key].high or 0.0) - (found[key].low or 0.0)

    expected = np.sqrt(sum(width(name) ** 2 for name in "abcd")) / 4
    assert width("overall") == pytest.approx(expected, rel=0.05)


def test_parallel_languages_do_not_make_an_average_more_certain() -> None:
    """Three languages with the very same outcomes: the average is as uncertain as each of them."""
    random = np.random.default_rng(0)
    first, second = (random.random((200, 1, 1)).repeat(3, axis=1) for _ in range(2))
    found = by_key(compare_tasks([pair("t", first, second)], {}, (), FAST))
    assert found["t"].low == pytest.approx(found["t/de"].low)
    assert found["t"].p_value == pytest.approx(found["t/de"].p_value)


def test_unrelated_languages_of_one_length_average_out() -> None:
    """The same draws for all, yet independent outcomes: the average of three is less uncertain by sqrt(3)."""
    random = np.random.default_rng(0)
    first, second = random.random((2000, 3, 1)), random.random((2000, 3, 1))
    found = by_key(compare_tasks([pair("t", first, second)], {}, (), Resampling()))

    def width(key: str) -> float:
        return (found[key].high or 0.0) - (found[key].low or 0.0)

    assert width("t") == pytest.approx(width("t/en") / np.sqrt(3), rel=0.06)


def test_a_hole_makes_every_average_above_it_one() -> None:
    random = np.random.default_rng(0)
    whole = pair("a", random.random((20, 1, 1)), random.random((20, 1, 1)))
    group = PairedExamples(
        ("en",), side(random.random((20, 1, 1))), side(random.random((20, 1, 1)))
    )
    holed = TaskPair.of_examples("b", ("en", "de"), [group])
    found = by_key(
        compare_tasks([whole, holed], {"x": ("a", "b"), "y": ("a",), "z": ("c",)}, ("a", "b"), FAST)
    )
    holes = {key for key, effect in found.items() if effect.difference is None}
    assert holes == {"b/de", "b", "category:x", "category:z", "overall"}
    assert all(found[key].p_value is None for key in holes)


def test_correction_is_by_family() -> None:
    random = np.random.default_rng(0)
    first = (random.random((300, 3, 1)) < 0.7).astype(float)
    second = first * (random.random((300, 3, 1)) > np.array([0.01, 0.03, 0.3])[:, None])
    found = by_key(compare_tasks([pair("t", first, second)], {}, (), FAST))
    languages = sorted(found[f"t/{c}"].p_value or 0.0 for c in ("en", "de", "sw"))
    assert min(found[f"t/{c}"].p_holm or 0.0 for c in ("en", "de", "sw")) == 3 * languages[0]
    # The only average.
    assert found["t"].p_holm == found["t"].p_value


def test_several_seeds_on_both_sides_are_a_level_of_their_own() -> None:
    random = np.random.default_rng(0)
    ability = np.array([0.6, 0.7, 0.8])
    first = (random.random((400, 1, 3)) < ability).astype(float)
    second = (random.random((400, 1, 3)) < ability - 0.05).astype(float)
    several = compare_tasks([pair("t", first, second)], {}, (), FAST)[1]
    alone = compare_tasks([pair("t", first[..., :1], second[..., :1])], {}, (), FAST)[1]
    assert (several.chance, alone.chance) == ("seeds and examples", "examples")
    assert several.baseline == pytest.approx(100 * first.mean())
    assert several.low is not None
    assert several.high is not None
    # Seeds 10 points apart: standard error 10 sqrt(2/3) = 8.2, and 2.78 of them on either side (4 degrees of freedom).
    assert several.high - several.low == pytest.approx(2 * 2.78 * 8.2, rel=0.15)


def test_a_task_without_seeds_stands_for_all_seeds_of_an_average() -> None:
    random = np.random.default_rng(0)
    tuned = pair("a", random.random((50, 1, 3)), random.random((50, 1, 3)))
    fixed = pair("b", random.random((50, 1, 1)), random.random((50, 1, 1)))
    found = by_key(compare_tasks([tuned, fixed], {"x": ("b",)}, ("a", "b"), FAST))
    assert found["overall"].chance == "seeds and examples"
    assert found["category:x"].chance == found["b"].chance == "examples"
    halves = ((found["a"].difference or 0) + (found["b"].difference or 0)) / 2
    assert found["overall"].difference == pytest.approx(halves)


def test_several_seeds_on_one_side_are_averaged() -> None:
    random = np.random.default_rng(0)
    effects = compare_tasks(
        [pair("t", random.random((50, 1, 3)), random.random((50, 1, 1)))], {}, (), FAST
    )
    assert {effect.chance for effect in effects} == {"examples"}


def test_same_seed_same_bytes_whatever_else_is_compared() -> None:
    random = np.random.default_rng(0)
    tasks = [pair(n, random.random((50, 2, 1)), random.random((50, 2, 1))) for n in "ab"]
    both = by_key(compare_tasks(tasks, {}, (), FAST))
    alone = by_key(compare_tasks(tasks[1:], {}, (), FAST))
    other = by_key(compare_tasks(tasks, {}, (), Resampling(2000, seed=1)))
    assert (both["b/en"].low, both["b/en"].p_value) == (alone["b/en"].low, alone["b/en"].p_value)
    assert both["b/en"].low != other["b/en"].low


def test_figures_alone_give_no_intervals() -> None:
    figures = {"en": np.array([70.0, 72.0])}
    task = TaskPair("t", ("en",), figures, {"en": np.array([69.0])})
    (average, language) = compare_tasks([task], {}, (), FAST)
    assert (language.baseline, language.candidate, language.difference) == (71.0, 69.0, -2.0)
    assert (average.low, average.p_value, average.chance, language.p_holm) == (
        None,
        None,
        None,
        None,
    )
