"""Files that ``xharness validate`` knows beside tasks, suites and recipes."""

from __future__ import annotations

from collections.abc import Callable, Set

from xharness.comparison.gate import Gate, load_gate
from xharness.language_modelling.config import load_language_model_config
from xharness.leaderboards.published import read_published_file
from xharness.pretraining.config import load_config as load_pretraining
from xharness.specs.linting import FileKind
from xharness.translation.config import load_config as load_translation


def file_kinds() -> tuple[FileKind, ...]:
    """Return the kinds; a file is told from others by keys that those have not."""
    return (
        FileKind(_with("encoder", "steps"), load_pretraining, "pretraining"),
        FileKind(_with("source", "target", "training"), load_translation, "translation"),
        FileKind(_with("model", "training"), load_language_model_config, "language_modelling"),
        FileKind(_with("rows", "citation"), read_published_file),
        # Suites have tasks and categories too, and a name; a gate has none.
        FileKind(
            lambda keys: "name" not in keys and bool(keys & Gate.model_fields.keys()), load_gate
        ),
    )


def _with(*wanted: str) -> Callable[[Set[str]], bool]:
    return lambda keys: keys >= set(wanted)
