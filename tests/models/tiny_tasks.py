"""Specifications and splits of a size that a tiny checkpoint learns by heart in a second."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from xharness.data.examples import (
    Answer,
    Bitext,
    Example,
    PairExample,
    QuestionExample,
    Sentences,
    Split,
    SplitName,
    TaggingExample,
)
from xharness.inference.device import Device
from xharness.specs.recipe import Settings
from xharness.specs.task import FileSource, Sources, TaskSpec

from .tiny_checkpoints import SENTENCES

#: Many windows in a micro-batch, and few.
WIDE, NARROW = Device("cpu", "float32", 4096), Device("cpu", "float32", 64)


def spec(**values: Any) -> TaskSpec:
    """Return a specification; what does not matter here is filled in."""
    common = {
        "title": "Tiny",
        "category": "tiny",
        "languages": ("en",),
        "sources": Sources(files=FileSource(format="none", test="none")),
        "citation": "none",
        "licence": "none",
    }
    return TaskSpec.model_validate({**common, **values})


PAIRS = spec(
    name="tiny_pairs",
    kind="pair_classification",
    labels=("entailment", "neutral", "contradiction"),
    label_aliases={"contradictory": "contradiction"},
    metric="accuracy",
    score={"default": ("accuracy",)},
    training="tiny_pairs",
)
TAGS = spec(
    name="tiny_tags",
    kind="tagging",
    labels=("NOUN", "VERB", "DET", "X"),
    metric="pos_f1",
    score={"default": ("f1",)},
    training="tiny_tags",
)
QUESTIONS = spec(
    name="tiny_questions",
    kind="question_answering",
    metric="squad",
    score={"default": ("f1",)},
    training="tiny_questions",
)
NEIGHBOURS = spec(
    name="tiny_neighbours",
    kind="retrieval",
    metric="accuracy",
    score={"default": ("accuracy",)},
    method="nearest_neighbour",
)
#: The kinds with a head, by name.
HEADED = {"pairs": PAIRS, "tags": TAGS, "questions": QUESTIONS}


def split_of(task: TaskSpec, examples: Sequence[Example], name: SplitName = "train") -> Split:
    """Return examples as a split whose fingerprint is that of their content."""
    origin = {"made": hashlib.sha256(repr(examples).encode("utf-8", "replace")).hexdigest()}
    return Split(task.name, name, "en", examples, origin=origin, available=len(examples))


def pairs() -> Split:
    """Pairs of sentences; the label is that of the second sentence's number."""
    examples = [
        PairExample(f"p{i}", SENTENCES[i], SENTENCES[-1 - i % 5], PAIRS.labels[i % 5 % 3])
        for i in range(10)
    ]
    return split_of(PAIRS, examples)


#: Tag of each word of ``tags()``.
TAG_OF = {
    "boat": "NOUN", "bread": "NOUN", "Brot": "NOUN", "船": "NOUN", "лодка": "NOUN",
    "waits": "VERB", "buy": "VERB", "kaufen": "VERB", "ждёт": "VERB",
    "The": "DET", "the": "DET", "Das": "DET",
    "1987": "X", "!": "X",
}  # fmt: skip


def tags() -> Split:
    """Sentences of known words."""
    sentences = [
        "The boat waits !",
        "the bread 1987",
        "Das Brot kaufen",
        "лодка ждёт the boat",
        "船 waits ! ! 1987",
        "buy the bread , The boat".replace(" ,", ""),
    ]
    examples = []
    for i, sentence in enumerate(sentences):
        words = tuple(sentence.split())
        examples.append(TaggingExample(f"t{i}", words, tuple(TAG_OF[word] for word in words)))
    return split_of(TAGS, examples)


def questions() -> Split:
    """Questions on two contexts; every answer is in its context once."""
    first = "In 1987 Maria left the old harbour and Tomas stayed in Lisbon until 2004 ."
    second = "旧船 停在 石桥 下 near the market ."
    asked = [
        ("Who left ?", first, "Maria"),
        ("Who stayed ?", first, "Tomas"),
        ("When until ?", first, "2004"),
        ("Where ?", first, "Lisbon"),
        ("船 ?", second, "石桥"),
        ("near ?", second, "the market"),
    ]
    examples = [
        QuestionExample(f"q{i}", question, context, (Answer(answer, context.index(answer)),))
        for i, (question, context, answer) in enumerate(asked)
    ]
    return split_of(QUESTIONS, examples)


def bitext() -> Split:
    """The same sentences on both sides, the second side in another order."""
    texts = SENTENCES[:9]
    order = [4, 0, 8, 2, 6, 1, 7, 3, 5]
    source = Sentences(tuple(f"s{i}" for i in range(9)), texts)
    target = Sentences(tuple(f"t{i}" for i in range(9)), tuple(texts[i] for i in order))
    gold = tuple((f"s{i}", f"t{order.index(i)}") for i in range(9))
    return split_of(NEIGHBOURS, [Bitext(source, target, gold)], "test")


#: The training split of each kind, by name.
TRAIN = {"pairs": pairs, "tags": tags, "questions": questions}
#: Epochs, each one step, after which every family knows them by heart with room to spare.
EPOCHS = {"pairs": 40, "tags": 40, "questions": 90}


def settings(**values: Any) -> Settings:
    """Return settings under which a tiny model learns its training set by heart."""
    common = {
        "learning_rate": 5e-3,
        "warmup_ratio": 0.1,
        "epochs": 40,
        "batch_size": 16,
        "max_length": 64,
        "max_query_length": 16,
        "doc_stride": 32,
        "selection": "last",
    }
    return Settings.model_validate({**common, **values})


def gold(split: Split) -> Any:
    """Return a split's gold in the form of predictions."""
    examples: Sequence[Any] = split.examples
    first = examples[0]
    if isinstance(first, PairExample):
        return [e.label for e in examples]
    if isinstance(first, TaggingExample):
        return [list(e.tags) for e in examples]
    return {e.id: e.answers[0].text for e in examples}
