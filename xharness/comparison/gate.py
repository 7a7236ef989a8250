"""The gate: a YAML file that says what may drop, by how much, and which cells are allowed more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from xharness.comparison.effects import Comparison, Effect, Kind
from xharness.errors import InputError
from xharness.specs.validation import SpecModel, build
from xharness.specs.yaml_loading import Document, KeyPath, load_document


class Rule(SpecModel):
    """What is demanded of a figure; each key is a condition of its own, and all must hold.

    Attributes:
        max_drop: Points that it may drop at most.
        significant: Whether a significant drop, of whatever size, is a breach.
        alpha: Significance level; the gate's where absent.
        ignore_below: A significant drop of fewer points is none.
        min: Percent that the candidate must reach.
    """

    max_drop: float | None = Field(default=None, ge=0, le=100)
    significant: bool = False
    alpha: float | None = Field(default=None, gt=0, lt=1)
    ignore_below: float = Field(default=0.0, ge=0, le=100)
    min: float | None = Field(default=None, ge=0, le=100)

    @model_validator(mode="after")
    def _demands_something(self) -> Self:
        if self.max_drop is None and not self.significant and self.min is None:
            raise ValueError("demands nothing; give max_drop, significant: true or min")
        if not self.significant and (self.alpha is not None or self.ignore_below):
            raise ValueError("alpha and ignore_below belong to significant: true")
        return self


class Allowance(SpecModel):
    """A named cell that may drop more than the rules say; what ``min`` demands of it still holds.

    Attributes:
        cell: ``overall``, ``category:NAME``, a task, or ``task/language``.
        max_drop: Points that it may drop at most, significant or not.
        reason: Why, for whoever reads the report.
        expires: Last day on which it holds.
    """

    cell: str
    max_drop: float = Field(gt=0, le=100)
    reason: str = Field(min_length=1)
    expires: date | None = None


class Gate(SpecModel):
    """A gate file. All rules whose pattern matches a cell apply to it; patterns may hold ``*`` and ``?``.

    Attributes:
        alpha: Significance level of rules that name none; 1 minus the level of the intervals where absent.
        overall: Rule for the overall average.
        categories: Rules by pattern of category names.
        tasks: Rules for task averages by pattern of task names.
        languages: Rules by pattern of ``task/language``; a pattern without a slash is a language in every task.
        allow: Exceptions.
    """

    alpha: float | None = Field(default=None, gt=0, lt=1)
    overall: Rule | None = None
    categories: dict[str, Rule] = {}
    tasks: dict[str, Rule] = {}
    languages: dict[str, Rule] = {}
    allow: tuple[Allowance, ...] = ()

    @model_validator(mode="after")
    def _has_rules(self) -> Self:
        if not (self.overall or self.categories or self.tasks or self.languages):
            raise ValueError("a gate needs a rule: give overall, categories, tasks or languages")
        return self


@dataclass(frozen=True)
class BoundRule:
    """A rule and the effects that it is about.

    Attributes:
        rule: The rule.
        name: Section and pattern, such as ``languages xnli/*``.
        place: ``file:line``.
        effects: What its pattern matches.
    """

    rule: Rule
    name: str
    place: str
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class BoundGate:
    """A gate bound to a comparison: every pattern found something.

    Attributes:
        alpha: Significance level of rules that name none.
        rules: The rules.
        allowances: Allowances in force, by the key of their effect.
        expired: Those no longer in force.
    """

    alpha: float
    rules: tuple[BoundRule, ...]
    allowances: dict[str, Allowance]
    expired: tuple[Allowance, ...]


def load_gate(path: Path) -> tuple[Gate, Document]:
    """Read a gate file.

    Raises:
        InputError: It is no YAML, or a key is unknown, missing or out of range; the message names file, line and key.
    """
    document = load_document(path)
    return build(Gate, document), document


def bind_gate(gate: Gate, document: Document, comparison: Comparison, today: date) -> BoundGate:
    """Find what each rule and allowance of a gate is about.

    Args:
        gate: The gate.
        document: What it was read from, for the lines.
        comparison: The comparison.
        today: The day on which allowances are looked at.

    Raises:
        InputError: A pattern or cell matches nothing, a figure under a rule is a hole, or a rule wants significance
            where records alone are compared.
    """
    rules = tuple(
        BoundRule(
            rule,
            name,
            document.place(keys),
            _matching(kind, pattern, comparison, document.place(keys)),
        )
        for kind, name, pattern, keys, rule in _rules(gate)
    )
    for bound in rules:
        _check_known(bound, comparison)
    allowances: dict[str, Allowance] = {}
    expired = []
    for number, allowance in enumerate(gate.allow):
        place = document.place(("allow", number, "cell"))
        _check_cell(allowance, comparison, place)
        if allowance.cell in allowances:
            raise InputError(f"{allowance.cell} is allowed twice", where=place, mend="keep one")
        if allowance.expires is not None and allowance.expires < today:
            expired.append(allowance)
        else:
            allowances[allowance.cell] = allowance
    alpha = comparison.alpha if gate.alpha is None else gate.alpha
    return BoundGate(alpha, rules, allowances, tuple(expired))


def _rules(gate: Gate) -> Iterator[tuple[Kind, str, str, KeyPath, Rule]]:
    """Yield kind, name, pattern, place in the document and rule."""
    if gate.overall is not None:
        yield "overall", "overall", "overall", ("overall",), gate.overall
    sections: tuple[tuple[Kind, str, dict[str, Rule]], ...] = (
        ("category", "categories", gate.categories),
        ("task", "tasks", gate.tasks),
        ("language", "languages", gate.languages),
    )
    for kind, section, rules in sections:
        for pattern, rule in rules.items():
            yield kind, f"{section} {pattern}", pattern, (section, pattern), rule


def _matching(kind: Kind, pattern: str, comparison: Comparison, place: str) -> tuple[Effect, ...]:
    effects = comparison.of(kind)
    full = pattern if kind != "language" or "/" in pattern else f"*/{pattern}"
    names = [_name(effect) for effect in effects]
    found = tuple(e for e, name in zip(effects, names, strict=True) if fnmatchcase(name, full))
    if not found:
        near = get_close_matches(pattern, names, n=1)
        there = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        mend = f"did you mean {near[0]!r}?" if near else f"there are {there or 'none'}"
        noun = {"overall": "overall average"}.get(kind, kind)
        raise InputError(f"no {noun} {pattern!r} in this comparison", where=place, mend=mend)
    return found


def _name(effect: Effect) -> str:
    return effect.name if effect.kind != "language" else effect.key


def _check_known(bound: BoundRule, comparison: Comparison) -> None:
    for effect in bound.effects:
        if effect.difference is None:
            raise InputError(
                f"{effect.key} is a hole on both sides, so no rule can hold",
                where=bound.place,
                mend="name only what was tested, or test what is missing",
            )
        if bound.rule.significant and effect.p_value is None:
            raise InputError(
                "significance cannot be told from records alone",
                where=bound.place,
                mend="give run folders with their predictions, or gate by max_drop",
            )


def _check_cell(allowance: Allowance, comparison: Comparison, place: str) -> None:
    keys = [effect.key for effect in comparison.effects]
    if allowance.cell not in keys:
        near = get_close_matches(allowance.cell, keys, n=1)
        raise InputError(
            f"no cell {allowance.cell!r} in this comparison",
            where=place,
            mend=f"did you mean {near[0]!r}?"
            if near
            else "overall, category:NAME, a task, or task/language",
        )
