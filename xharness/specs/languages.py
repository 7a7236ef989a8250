"""The language table: codes, names, families and scripts of every language that a spec may name."""

from __future__ import annotations

from functools import cache
from typing import Annotated

from pydantic import AfterValidator, Field

from xharness.specs.paths import SPECS
from xharness.specs.validation import SpecModel, build
from xharness.specs.yaml_loading import load_document


class Language(SpecModel):
    """One language.

    Attributes:
        name: English name.
        iso3: ISO 639-3 code.
        family: Top-level family, or ``isolate``.
        script: ISO 15924 code of the usual script.
    """

    name: str
    iso3: str = Field(pattern=r"^[a-z]{3}$")
    family: str
    script: str = Field(pattern=r"^[A-Z][a-z]{3}$")


class LanguageTable(SpecModel):
    """The content of ``task_specs/languages.yaml``, keyed by the code that tasks and files use."""

    languages: dict[str, Language]


@cache
def language_table() -> dict[str, Language]:
    """Return the languages by code (ISO 639-1 where there is one)."""
    return build(LanguageTable, load_document(SPECS / "languages.yaml")).languages


def _check(code: str) -> str:
    if code not in language_table():
        raise ValueError(
            f"{code!r} is not a language of task_specs/languages.yaml; add it there first"
        )
    return code


LanguageCode = Annotated[str, AfterValidator(_check)]
