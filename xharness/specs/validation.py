"""From a YAML document to a validated model, with errors that name file, line and key."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from xharness.errors import InputError
from xharness.printable import on_one_line
from xharness.specs.yaml_loading import Document


class SpecModel(BaseModel):
    """Base of all specifications: immutable, unknown keys refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


M = TypeVar("M", bound=SpecModel)


class SpecError(InputError):
    """A specification that does not validate; holds every problem found.

    Attributes:
        problems: One line each, ``file:line: key: what``.
    """

    def __init__(self, problems: list[str]):
        self.problems = [on_one_line(problem) for problem in problems]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(problems[0] + more)


def build(model: type[M], document: Document) -> M:
    """Validate a document as ``model``.

    Raises:
        SpecError: With one line for each wrong, missing or unknown key.
    """
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        known = sorted(_key_names(model))
        raise SpecError([_problem(document, dict(e), known) for e in error.errors()]) from error


def _problem(document: Document, error: dict[str, Any], known: list[str]) -> str:
    keys = tuple(key for key in error["loc"] if not (isinstance(key, str) and "[" in key))
    dotted = ".".join(str(key) for key in keys) or "document"
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        nearest = get_close_matches(str(error["loc"][-1]), known, n=1)
        message = "unknown key" + (f", did you mean {nearest[0]!r}?" if nearest else "")
    elif error["type"] == "missing":
        message = "this key is required"
    return f"{document.place(keys)}: {dotted}: {message}"


def _key_names(model: type[BaseModel], seen: frozenset[type] = frozenset()) -> set[str]:
    names = set(model.model_fields)
    for info in model.model_fields.values():
        for inner in _models_in(info.annotation):
            if inner not in seen:
                names |= _key_names(inner, seen | {model})
    return names


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [m for part in getattr(annotation, "__args__", ()) for m in _models_in(part)]
