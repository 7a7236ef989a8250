"""What a model is trained on under a task's protocol: English, another language, a pool of them, or a few examples."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xharness.data.examples import Bitext, Example, Split, SplitName
from xharness.data.sources import DataSource
from xharness.errors import InputError
from xharness.specs.task import TaskSpec

#: Language of a pooled split, as ISO 639-2 has it for multiple languages.
POOLED = "mul"

#: What an origin holds beside the digests of files.
_NO_FILES = frozenset({"note", "drawn"})


@dataclass(frozen=True)
class Limits:
    """Examples that are read at most.

    Attributes:
        train: Of a training split in a language.
        dev: Of a dev split in a language.
    """

    train: int | None = None
    dev: int | None = None


@dataclass(frozen=True)
class TrainingSet:
    """What one model is trained on.

    Attributes:
        train: The training split.
        dev: The dev split that the checkpoint is chosen on; ``None`` where the last one is kept.
        facts: What a record says beyond a zero-shot one's: ``languages`` with the training examples of each;
            ``dev_language``, ``mul`` for a pool, ``None`` where the last checkpoint is kept; ``examples``, the ids of
            the few.
    """

    train: Split
    dev: Split | None
    facts: dict[str, Any]

    @property
    def fingerprint(self) -> str:
        """One fingerprint of both splits."""
        return "-".join((self.train.fingerprint, "" if self.dev is None else self.dev.fingerprint))


def training_languages(task: TaskSpec, language: str | None, source: DataSource) -> tuple[str, ...]:
    """Return the languages that a model is trained on.

    Args:
        task: The task.
        language: The language whose model it is, under a protocol where each has its own.
        source: Where the data come from; of a pool over all languages those stay that it has training data in.
    """
    protocol = task.protocol
    if not protocol.trains:
        return ("en",)
    if protocol.apart:
        assert language is not None
        return (language,)
    if not isinstance(protocol.training_languages, str):
        return protocol.training_languages
    return tuple(code for code in task.languages if can_train(task, code, source))


def can_train(task: TaskSpec, language: str, source: DataSource) -> bool:
    """Return whether there are training data in a language under the task's protocol."""
    return source.has(_reader(task, "train", language), "train", language)


def read_training_set(
    task: TaskSpec, language: str | None, source: DataSource, limits: Limits, *, choose: bool
) -> TrainingSet:
    """Read what a model is trained on.

    Args:
        task: The task under its protocol.
        language: See ``training_languages``.
        source: Where the data come from.
        limits: Examples that are read at most.
        choose: Whether a checkpoint is chosen on dev data, where there are any.

    Raises:
        InputError: A file is absent or does not read, holds fewer examples than the protocol asks for, or is to train
            and to choose the checkpoint too.
    """
    languages = training_languages(task, language, source)
    if not languages:
        # Reading says which file is missing and what lies there instead.
        languages = task.languages[:1]
    trains = [_train_split(task, code, source, limits) for code in languages]
    devs = _dev_splits(task, languages, source, limits) if choose else []
    if devs and any(_is_dev(train, dev) for train in trains for dev in devs):
        mend = "use --set selection=last"
        if task.protocol.trains and task.protocol.dev == "training":
            mend += ", or dev: english in the protocol"
        raise InputError(
            f"{task.name} is trained on its dev split, which then cannot choose the checkpoint",
            mend=mend,
        )
    train, dev = _pooled(trains), _pooled(devs) if devs else None
    if dev is not None and dev.language == POOLED and task.metric == "mlqa":
        raise InputError(
            "MLQA's script scores one language at a time, so the dev data cannot be pooled",
            where=f"task {task.name}, protocol.dev",
            mend="use dev: english",
        )
    facts: dict[str, Any] = {}
    if task.protocol.trains:
        facts["languages"] = {split.language: len(split) for split in trains}
        facts["dev_language"] = None if dev is None else dev.language
        if task.protocol.examples is not None:
            facts["examples"] = [example_id(example) for example in train.examples]
    return TrainingSet(train, dev, facts)


def _reader(task: TaskSpec, split: SplitName, language: str) -> TaskSpec:
    """Return the task with the sources that hold a language's training or dev data."""
    original = task.protocol.kind == "translate_train" and language == "en"
    return task if original or not task.protocol.trains else task.from_protocol(split)


def _train_split(task: TaskSpec, language: str, source: DataSource, limits: Limits) -> Split:
    count = task.protocol.examples
    if count is None:
        return source.read(_reader(task, "train", language), "train", language, limits.train)
    if limits.train is not None and limits.train < count:
        raise InputError(
            f"{limits.train} is less than the {count} examples of the few_shot protocol",
            where="--limit-train",
            mend="raise it, or leave it out",
        )
    return drawn(
        source.read(_reader(task, "train", language), "train", language, None),
        count,
        task.protocol.seed,
    )


def drawn(split: Split, count: int, seed: int) -> Split:
    """Draw examples: those whose ids have the lowest SHA-256 after the seed, in the split's order.

    So more examples contain the fewer ones, files of translations give the same rows, and no library's random numbers
    come in.

    Raises:
        InputError: The split has fewer.
    """
    if count > len(split):
        raise InputError(
            f"{count} examples of {split.language} are asked for, there are {len(split)}",
            where=next(iter(split.origin), f"{split.task} {split.name}"),
            mend="lower examples in the protocol",
        )
    keys = [
        hashlib.sha256(f"{seed}\0{example_id(example)}".encode()).digest()
        for example in split.examples
    ]
    chosen = sorted(sorted(range(len(keys)), key=lambda at: (keys[at], at))[:count])
    origin = {**split.origin, "drawn": f"{count} of {len(split)}, seed {seed}"}
    return replace(split, examples=[split.examples[at] for at in chosen], origin=origin)


def _dev_splits(
    task: TaskSpec, languages: Sequence[str], source: DataSource, limits: Limits
) -> list[Split]:
    """Read the dev data of the training languages, or English where the protocol says so or one of them has none."""
    own = task.protocol.trains and task.protocol.dev == "training"
    if own and all(source.has(_reader(task, "dev", code), "dev", code) for code in languages):
        return [
            source.read(_reader(task, "dev", code), "dev", code, limits.dev) for code in languages
        ]
    return [source.read(task, "dev", "en", limits.dev)] if source.has(task, "dev", "en") else []


def _is_dev(train: Split, dev: Split) -> bool:
    """Return whether the training examples are those of a dev split."""
    if train.stand_in == "dev" or "repository" not in dev.origin:
        files = train.origin.keys() & dev.origin.keys() - _NO_FILES
        return train.stand_in == "dev" or any(train.origin[f] == dev.origin[f] for f in files)
    return all(train.origin.get(key) == value for key, value in dev.origin.items())


def _pooled(splits: Sequence[Split]) -> Split:
    """Return one split of all examples, the language before each id; a single split stays as it is."""
    if len(splits) == 1:
        return splits[0]
    counts: Counter[str] = Counter()
    for split in splits:
        counts.update(split.counts)
    stand_ins = {split.stand_in for split in splits} - {None}
    return Split(
        splits[0].task,
        splits[0].name,
        POOLED,
        [
            replace(example, id=f"{split.language}/{example.id}")
            for split in splits
            for example in split.examples
            if not isinstance(example, Bitext)
        ],
        counts,
        merged_origins({split.language: split.origin for split in splits}),
        min(stand_ins, key=str) if stand_ins else None,
        sum(split.available for split in splits),
    )


def merged_origins(origins: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return what the splits of several languages were read from; what is no file has its language before it."""
    merged: dict[str, str] = {}
    for language, origin in origins.items():
        for name, value in origin.items():
            of_file = "repository" not in origin and name not in _NO_FILES
            merged[name if of_file else f"{language}: {name}"] = value
    return merged


def example_id(example: Example) -> str:
    """Return an example's id."""
    assert not isinstance(example, Bitext)
    return example.id
