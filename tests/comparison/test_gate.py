"""The gate: what it demands, what it allows, and how a wrong file is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from xharness.comparison.checks import Check, default_checks, gate_checks
from xharness.comparison.effects import Comparison, Described, Effect, Kind
from xharness.comparison.gate import bind_gate, load_gate
from xharness.errors import InputError

TODAY = date(2026, 5, 1)
SIDE = Described("m", "runs/m", (1,))


def effect(key: str, baseline: float, candidate: float, p_value: float | None = 0.5) -> Effect:
    kind: Kind = "task"
    name, _, language = key.partition("/")
    if key == "overall":
        kind = "overall"
    elif key.startswith("category:"):
        kind, name = "category", key.partition(":")[2]
    elif language:
        kind = "language"
    made = Effect(kind, name, language or None, baseline, candidate)
    if p_value is None:
        return made
    difference = candidate - baseline
    return replace(
        made,
        low=difference - 1,
        high=difference + 1,
        p_value=p_value,
        p_holm=p_value,
        chance="examples",
    )


def comparison(effects: Sequence[Effect], resamples: int = 10_000) -> Comparison:
    return Comparison(SIDE, SIDE, "XTREME", "official", 0.95, resamples, 0, tuple(effects), ())


MADE = comparison(
    [
        effect("overall", 70, 69.4, 0.04),
        effect("category:qa", 60, 58, 0.001),
        effect("xnli", 80, 79, 0.002),
        effect("xquad", 60, 58, 0.001),
        effect("xnli/en", 90, 90.5),
        effect("xnli/sw", 70, 67.5, 0.01),
        effect("xquad/en", 80, 77, 0.03),
        effect("xquad/ar", 40, 39, 0.6),
    ]
)


def check(folder: Path, text: str, on: Comparison = MADE) -> tuple[Check, ...]:
    path = folder / "gate.yaml"
    path.write_text(text, encoding="utf-8")
    return gate_checks(on, bind_gate(*load_gate(path), on, TODAY))


def breaches(folder: Path, text: str, on: Comparison = MADE) -> list[str]:
    return [each.effect.key for each in check(folder, text, on) if each.status == "breach"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("overall: {max_drop: 0.5}", ["overall"]),
        ("overall: {max_drop: 0.6}", []),  # 70 - 69.4 is a little more than 0.6 in binary
        ("categories: {qa: {max_drop: 1}}", ["category:qa"]),
        ("tasks: {'*': {max_drop: 1}}", ["xquad"]),
        ("tasks: {'x*': {min: 60}}", ["xquad"]),
        ("languages: {'*': {max_drop: 2}}", ["xnli/sw", "xquad/en"]),
        ("languages: {en: {max_drop: 2}}", ["xquad/en"]),
        ("languages: {xnli/*: {max_drop: 2}}", ["xnli/sw"]),
        ("languages: {'*/??': {min: 45}, xnli/sw: {min: 68}}", ["xquad/ar", "xnli/sw"]),
        # Holm over four: 0.04, 0.09 and so on.
        ("languages: {'*': {significant: true}}", ["xnli/sw"]),
        # Over two alone: 0.03 <= 0.05.
        ("languages: {xquad/*: {significant: true, alpha: 0.1}}", ["xquad/en"]),
        ("languages: {'*': {significant: true, alpha: 0.039}}", []),
        ("{alpha: 0.1, languages: {'*': {significant: true}}}", ["xnli/sw", "xquad/en"]),
        ("languages: {'*': {significant: true, ignore_below: 2.6}}", []),
        # Together with the overall: 0.01 x 5.
        ("{overall: {significant: true}, languages: {'*': {significant: true}}}", ["xnli/sw"]),
        ("tasks: {'*': {max_drop: 1.5, significant: true}}", ["xnli", "xquad", "xquad"]),
    ],
)
def test_what_breaches(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert breaches(tmp_path, text) == expected


def test_every_condition_is_a_check_with_its_figures_and_line(tmp_path: Path) -> None:
    text = "tasks:\n  xnli: {min: 85}\n  '*':\n    max_drop: 1.5\n"
    found = check(tmp_path, text)
    assert [(c.effect.key, c.rule, c.status) for c in found] == [
        ("xnli", "min 85", "breach"),
        ("xnli", "max_drop 1.5", "passed"),
        ("xquad", "max_drop 1.5", "breach"),
    ]
    assert found[0].source == f"tasks xnli, {tmp_path}/gate.yaml:2"
    assert found[2].source == f"tasks *, {tmp_path}/gate.yaml:3"
    assert found[2].detail == "60.00 -> 58.00, -2.00 [-3.00, -1.00], p = 0.001"


ALLOWED = "tasks: {'*': {max_drop: 0.5, significant: true, min: 10}}\nallow:\n"


def test_an_allowance_lets_a_cell_drop_more(tmp_path: Path) -> None:
    text = ALLOWED + "  - {cell: xquad, max_drop: 2, reason: new tokenizer, expires: 2026-05-01}\n"
    found = {(c.effect.key, c.rule): c for c in check(tmp_path, text)}
    assert found["xnli", "max_drop 0.5"].status == "breach"
    assert found["xquad", "max_drop 0.5"].status == "allowed"
    assert found["xquad", "no significant drop at 0.05"].status == "allowed"
    assert found["xquad", "max_drop 0.5"].detail.endswith(
        "2 points allowed until 2026-05-01: new tokenizer"
    )


def test_an_allowance_ends_somewhere(tmp_path: Path) -> None:
    less = ALLOWED + "  - {cell: xquad, max_drop: 1.9, reason: new tokenizer}\n"
    found = [c for c in check(tmp_path, less) if c.effect.key == "xquad" and c.status == "breach"]
    assert len(found) == 2
    assert "more than the 1.9 points allowed: new tokenizer" in found[0].detail
    past = ALLOWED + "  - {cell: xquad, max_drop: 2, reason: it was, expires: 2026-04-30}\n"
    assert breaches(tmp_path, past).count("xquad") == 2
    path = tmp_path / "gate.yaml"
    assert [e.cell for e in bind_gate(*load_gate(path), MADE, TODAY).expired] == ["xquad"]
    floor = "tasks: {xquad: {min: 59}}\nallow:\n  - {cell: xquad, max_drop: 9, reason: no}\n"
    assert breaches(tmp_path, floor) == ["xquad"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "tasks:\n  xnly: {max_drop: 1}",
            "gate.yaml:2: no task 'xnly' in this comparison (did you mean 'xnli'?)",
        ),
        ("tasks:\n  '*': {max_drop: 1}\n  pawsx: {max_drop: 1}", "gate.yaml:3: no task 'pawsx'"),
        ("languages: {'xnli/zz': {max_drop: 1}}", "gate.yaml:1: no language 'xnli/zz'"),
        (
            "categories: {retrieval: {max_drop: 1}}",
            "no category 'retrieval' in this comparison (there are qa)",
        ),
        (
            "overall: {max_drop: 1}\nallow:\n  - {cell: xnli/zz, max_drop: 1, reason: r}",
            "gate.yaml:3: no cell 'xnli/zz'",
        ),
        (
            "overall: {max_drop: 1}\nallow:\n  - {cell: xnli, max_drop: 1}",
            "gate.yaml:3: allow.0.reason: this key is required",
        ),
        (
            "overall: {max_drop: 1}\nallow:\n"
            "  - {cell: xnli, max_drop: 1, reason: r}\n  - {cell: xnli, max_drop: 2, reason: r}",
            "gate.yaml:4: xnli is allowed twice",
        ),
        (
            "tasks:\n  xnli: {max_dorp: 1}",
            "gate.yaml:2: tasks.xnli.max_dorp: unknown key, did you mean 'max_drop'?",
        ),
        ("tasks:\n  xnli:\n    max_drop: -1", "gate.yaml:3: tasks.xnli.max_drop: "),
        ("tasks:\n  xnli: {}", "gate.yaml:2: tasks.xnli: demands nothing"),
        (
            "tasks: {xnli: {max_drop: 1, alpha: 0.1}}",
            "alpha and ignore_below belong to significant: true",
        ),
        ("alpha: 0.05", "a gate needs a rule"),
        ("- overall", "a mapping is expected"),
        ("tasks: {xnli: {max_drop: 1}, xnli: {max_drop: 2}}", "key 'xnli' occurs twice"),
    ],
)
def test_wrong_files_are_refused_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        check(tmp_path, text)
    assert message in str(caught.value)


def test_no_overall_average_to_gate(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no overall average 'overall' in this comparison"):
        check(tmp_path, "overall: {max_drop: 1}", comparison([effect("xnli", 1, 1)]))


def test_records_alone_are_gated_by_points_only(tmp_path: Path) -> None:
    alone = comparison([effect("xnli", 80, 78, None)])
    assert breaches(tmp_path, "tasks: {xnli: {max_drop: 1}}", alone) == ["xnli"]
    with pytest.raises(InputError, match=r"gate\.yaml:1: significance cannot be told from records"):
        check(tmp_path, "tasks: {xnli: {significant: true}}", alone)


def test_a_rule_cannot_hold_on_a_hole(tmp_path: Path) -> None:
    holed = comparison([Effect("task", "xnli", None, None, None)])
    with pytest.raises(InputError, match="xnli is a hole on both sides"):
        check(tmp_path, "tasks: {'*': {max_drop: 1}}", holed)


def test_too_few_resamples_to_fail(tmp_path: Path) -> None:
    """The smallest p of 100 resamples is 0.5 / 101; among eleven that is 0.054 at best."""
    many = comparison([effect(f"t{n}", 80, 70, 0.005) for n in range(11)], resamples=100)
    with pytest.raises(InputError, match=r"--resamples: .* \(give 111 or more\)"):
        check(tmp_path, "tasks: {'*': {significant: true}}", many)
    with pytest.raises(InputError, match="--resamples"):
        default_checks(many)


def test_without_a_gate_significant_drops_breach() -> None:
    found = {c.effect.key: c.status for c in default_checks(MADE)}
    dropped = {key for key, status in found.items() if status == "breach"}
    # By the corrected p-values of the comparison, here made equal to the plain ones.
    assert dropped == {"overall", "category:qa", "xnli", "xquad", "xnli/sw", "xquad/en"}
    assert default_checks(comparison([effect("xnli", 80, 78, None)])) == ()
    gained = comparison([effect("xnli", 78, 80, 0.001)])
    assert [c.status for c in default_checks(gained)] == ["passed"]
