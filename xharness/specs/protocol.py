"""The protocol of a task: zero-shot transfer from English, or one with training or test data of other languages.

The terms are those of XTREME's baselines (Hu et al. 2020, arXiv 2003.11080, section 4.2).
"""

from __future__ import annotations

from collections.abc import Iterable
from string import Formatter
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from xharness.specs.languages import LanguageCode
from xharness.specs.sources import HubTable, PathPattern, Sources
from xharness.specs.validation import SpecModel

SplitName = Literal["train", "dev", "test"]
ProtocolKind = Literal["zero_shot", "translate_train", "translate_test", "in_language", "few_shot"]

_TRAINING_KEYS = frozenset({"training_languages", "files", "hub", "dev", "recipe"})

#: The keys that each kind has, beside ``kind``.
_KEYS: dict[ProtocolKind, frozenset[str]] = {
    "zero_shot": frozenset(),
    "translate_train": _TRAINING_KEYS,
    "translate_test": frozenset({"files", "hub"}),
    "in_language": _TRAINING_KEYS,
    "few_shot": _TRAINING_KEYS | {"examples", "seed", "start"},
}

_PLACEHOLDERS = frozenset({"language", "iso3", "english", "name"})


class ProtocolFiles(SpecModel):
    """Files of the protocol's own.

    Attributes:
        train: Pattern of the training data in a language.
        dev: Pattern of the dev data in a language; they have the task's own format.
        test: Pattern of a language's test data in English translation.
        format: Name of the reader of ``train`` or ``test``; the task's where absent.
        options: Passed to that reader; the task's where absent.
        names: What ``{name}`` stands for in each language; the task's where absent.
    """

    train: PathPattern | None = None
    dev: PathPattern | None = None
    test: PathPattern | None = None
    format: str | None = None
    options: dict[str, Any] | None = None
    names: dict[LanguageCode, str] | None = None


class ProtocolHub(SpecModel):
    """Tables of the protocol's own on the hub; ``columns`` and ``names`` are the task's where absent.

    Attributes:
        train: Table of the training data in a language.
        dev: Table of the dev data in a language.
        test: Table of a language's test data in English translation.
        columns: Column of each field of an example.
        names: What ``{name}`` stands for in each language.
    """

    train: HubTable | None = None
    dev: HubTable | None = None
    test: HubTable | None = None
    columns: dict[str, str] | None = None
    names: dict[LanguageCode, str] | None = None


class TransferProtocol(SpecModel):
    """What a model is trained on before it is tested in a language, and in which language the tests are.

    Attributes:
        kind: ``zero_shot``: trained on English. ``translate_train``: on English data translated into the test
            languages; for English on the originals. ``translate_test``: on English, and tested on the test data
            translated into English. ``in_language``: on labelled data of the test languages. ``few_shot``: on a few
            examples of them.
        training_languages: ``each``: every test language has a model of its own. ``all``: one model is trained on the
            data of all test languages together (XTREME's multi-task rows). A list: on those of the listed ones.
        files: Files of the protocol's own.
        hub: Tables of the protocol's own.
        examples: few_shot: how many examples of each language.
        seed: few_shot: decides which; the seeds of a run do not, so that all train on the same ones.
        start: few_shot: whether training goes on from the model that was fine-tuned on English (which itself is what
            is tested in English), or begins with the pre-trained one.
        dev: What the checkpoint is chosen on: the dev data of the training language, as XTREME's scripts do (dev of
            ``--train_language`` in ``run_classify.py`` and ``run_tag.py``), pooled as the training data are; or
            English dev. English also stands in for a language without dev data; the record says so.
        recipe: Settings of the training in other languages, laid over the recipe's.
    """

    kind: ProtocolKind = "zero_shot"
    training_languages: (
        Literal["each", "all"] | Annotated[tuple[LanguageCode, ...], Field(min_length=1)]
    ) = "each"
    files: ProtocolFiles | None = None
    hub: ProtocolHub | None = None
    examples: int | None = Field(default=None, ge=1)
    seed: int = Field(default=42, ge=0)
    start: Literal["english", "pretrained"] = "english"
    dev: Literal["training", "english"] = "training"
    recipe: dict[str, Any] = {}

    @field_validator("*")
    @classmethod
    def _key_of_the_kind(cls, value: object, info: ValidationInfo) -> object:
        """Refuse keys that mean nothing for the kind; here, so that the message has the key's line."""
        kind: ProtocolKind | None = info.data.get("kind")
        name = str(info.field_name)
        given = value != cls.model_fields[name].default
        if given and kind is not None and name not in _KEYS[kind]:
            raise ValueError(f"kind {kind} has no such key")
        return value

    @field_validator("training_languages")
    @classmethod
    def _each_once(cls, value: object) -> object:
        if isinstance(value, tuple) and len(set(value)) != len(value):
            raise ValueError("a language occurs twice")
        return value

    @field_validator("files", "hub")
    @classmethod
    def _splits_of_the_kind(
        cls, value: ProtocolFiles | ProtocolHub | None, info: ValidationInfo
    ) -> ProtocolFiles | ProtocolHub | None:
        kind = info.data.get("kind")
        if value is None or kind is None:
            return value
        needed, useless = (
            ("test", ("train", "dev")) if kind == "translate_test" else ("train", ("test",))
        )
        if getattr(value, needed) is None:
            raise ValueError(f"{needed}: kind {kind} needs it")
        for split in useless:
            if getattr(value, split) is not None:
                raise ValueError(f"{split}: kind {kind} takes the task's own")
        for split in ("train", "dev", "test"):
            _check_placeholders(split, getattr(value, split))
        return value

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.kind != "zero_shot" and self.files is None and self.hub is None:
            raise ValueError(f"files: kind {self.kind} needs files, hub or both")
        if self.kind == "few_shot" and self.examples is None:
            raise ValueError("examples: kind few_shot needs their number")
        return self

    @property
    def trains(self) -> bool:
        """Whether models are trained on other data than the task's English ones."""
        return self.kind in ("translate_train", "in_language", "few_shot")

    @property
    def apart(self) -> bool:
        """Whether each test language has a model of its own."""
        return self.trains and self.training_languages == "each"

    @property
    def from_english(self) -> bool:
        """Whether training goes on from the model that was fine-tuned on English."""
        return self.kind == "few_shot" and self.start == "english"

    @property
    def english_as_zero_shot(self) -> bool:
        """Whether English, where it has a model of its own, has that of the zero-shot protocol."""
        return self.kind == "translate_train" or self.from_english

    @property
    def setting(self) -> str:
        """What tables call it, such as ``few-shot, 10 examples``."""
        words = {
            "zero_shot": "zero-shot",
            "translate_train": "translate-train",
            "translate_test": "translate-test",
            "in_language": "in-language",
            # XTREME's "in-language, 1,000 examples" has no English stage.
            "few_shot": "few-shot" if self.start == "english" else "in-language",
        }
        parts = [words[self.kind]]
        if self.examples is not None:
            parts.append(f"{self.examples} {'example' if self.examples == 1 else 'examples'}")
        if self.training_languages == "all":
            parts.append("multi-task")
        elif self.training_languages != "each":
            parts.append(f"multi-task on {' '.join(self.training_languages)}")
        return ", ".join(parts)

    def laid_over(self, sources: Sources, split: SplitName) -> Sources:
        """Return the sources to read a split from: the protocol's, and what it does not say from the task's.

        Where the protocol has no such split, neither have they: no English file serves as another language's.
        """
        files, hub = sources.files, sources.hub
        if files is not None and self.files is not None:
            own = {"names"} if split == "dev" else {"names", "format", "options"}
            files = files.model_copy(
                update={
                    **_given(self.files, own),
                    split: getattr(self.files, split),
                    "alternatives": (),
                    "train_stand_in": None,
                    "test_stand_in": None,
                }
            )
        if hub is not None and self.hub is not None:
            given = _given(self.hub, {"names", "columns"})
            hub = hub.model_copy(update={**given, split: getattr(self.hub, split)})
        return Sources(
            files=None if self.files is None else files, hub=None if self.hub is None else hub
        )


def _given(own: ProtocolFiles | ProtocolHub, names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in own if name in names and value is not None}


def _check_placeholders(split: str, pattern: PathPattern | HubTable | None) -> None:
    """Refuse a pattern that is the same in every language, or names a placeholder that there is none of."""
    if pattern is None:
        return
    found = {name for text in _texts(pattern) for _, name, _, _ in Formatter().parse(text) if name}
    unknown = found - _PLACEHOLDERS
    if unknown:
        raise ValueError(
            f"{split}: unknown placeholder {{{min(unknown)}}}, there are "
            + ", ".join(f"{{{name}}}" for name in sorted(_PLACEHOLDERS))
        )
    if not found:
        raise ValueError(f"{split}: needs {{language}} or another placeholder, one file a language")


def _texts(pattern: PathPattern | HubTable) -> Iterable[str]:
    if isinstance(pattern, str):
        return (pattern,)
    if isinstance(pattern, HubTable):
        texts = (pattern.config, pattern.id_prefix, *pattern.where.values())
        return tuple(text for text in texts if text is not None)
    return pattern.values()
