"""How a transformers model is encoded for and what its outputs become, for each kind that has a head."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from xharness.data.examples import Split
from xharness.errors import InputError
from xharness.inference.device import Device
from xharness.inference.prediction import (
    Indices,
    predict_choices,
    predict_classes,
    predict_spans,
    predict_tags,
)
from xharness.inference.progress import Progress
from xharness.specs.recipe import Settings
from xharness.specs.task import Kind, TaskSpec
from xharness.tasks import multiple_choice, pair_classification, question_answering, tagging
from xharness.tasks.encoding import Encoding
from xharness.tasks.pieces import PieceTokenizer
from xharness.tasks.predictions import Predictions


@dataclass(frozen=True)
class Head:
    """A model with a head, ready to decide on the examples of a split.

    Attributes:
        model: The model.
        task: The task.
        settings: Its settings.
        device: Where the model runs.
        progress: Told of windows done.
        reference: What messages call the checkpoint.
    """

    model: Any
    task: TaskSpec
    settings: Settings
    device: Device
    progress: Progress
    reference: str

    @property
    def label_order(self) -> Indices:
        """The task's label index for each output of the head."""
        return label_order(self.model.config.id2label, self.task, self.reference)


#: Decides on a split from its encoding.
Decide = Callable[[Head, Split, Any], Predictions]


@dataclass(frozen=True)
class HeadedKind:
    """One kind of task.

    Attributes:
        encoding: Class of its encodings, as the cache holds them.
        encode: Encodes examples of the kind.
        decide: From the encoding to predictions; fallbacks are counted, the encoding's own counts left out.
    """

    encoding: type[Encoding]
    encode: Callable[[Any, TaskSpec, PieceTokenizer, Settings], Encoding]
    decide: Decide


def _classes(head: Head, split: Split, encoding: Any) -> Predictions:
    order = head.label_order
    classes = order[predict_classes(head.model, encoding, head.device, head.progress)]
    return Predictions(pair_classification.labels_of(classes, head.task))


def _choices(head: Head, split: Split, encoding: Any) -> Predictions:
    chosen = predict_choices(head.model, encoding, head.device, head.progress)
    return Predictions(chosen.tolist())


def _tags(head: Head, split: Split, encoding: Any) -> Predictions:
    order = head.label_order
    numbers = order[predict_tags(head.model, encoding, head.device, head.progress)]
    examples: Any = split.examples
    return Predictions(tagging.tags_of(numbers, examples, head.task))


def _answers(head: Head, split: Split, encoding: Any) -> Predictions:
    spans = predict_spans(
        head.model,
        encoding,
        head.device,
        head.progress,
        n_best=head.settings.n_best,
        max_answer_length=head.settings.max_answer_length,
    )
    questions: Any = split.examples
    answers, empty = question_answering.answers_of(encoding, questions, *spans)
    return Predictions(answers, Counter(empty))


#: The kinds that are fine-tuned; retrieval has no head.
HEADED_KINDS: dict[Kind, HeadedKind] = {
    "pair_classification": HeadedKind(
        pair_classification.PairEncoding, pair_classification.encode, _classes
    ),
    "multiple_choice": HeadedKind(multiple_choice.ChoiceEncoding, multiple_choice.encode, _choices),
    "tagging": HeadedKind(tagging.TaggingEncoding, tagging.encode, _tags),
    "question_answering": HeadedKind(
        question_answering.QuestionEncoding, question_answering.encode, _answers
    ),
}


def label_order(id2label: dict[int, str], task: TaskSpec, reference: str) -> Indices:
    """Return the task's label index for each output of a head, matched by name.

    Names are compared without regard to case; the task's aliases count.

    Raises:
        InputError: The head's labels are not the task's.
    """
    known = {label.casefold(): i for i, label in enumerate(task.labels)}
    for alias, label in task.label_aliases.items():
        known.setdefault(alias.casefold(), task.labels.index(label))
    names = [str(id2label.get(i, "unnamed")) for i in range(len(id2label))]
    numbers = [known.get(name.casefold(), -1) for name in names]
    if sorted(numbers) != list(range(len(task.labels))):
        raise InputError(
            f"the head's labels ({', '.join(names)}) are not those of task {task.name} "
            f"({', '.join(task.labels)})",
            where=reference,
            mend="name them in id2label of config.json",
        )
    return np.array(numbers, np.int64)
