"""Today's common way: transformers' Trainer, fast tokenizers in batches, each batch padded to its own longest.

Batches hold a number of examples in the order of the data, in training of a random order. Windows of a context
advance as ours do, so that both do the same work; spans are found in numpy, a window at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from transformers import (
    DataCollatorForTokenClassification,
    DataCollatorWithPadding,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from speed.materials import Material
from speed.measuring import seconds
from xharness.data.examples import Split
from xharness.tasks.pieces import Template

IGNORED = -100


class CommonWay:
    """Features, prediction and training.

    Args:
        model: A model with the task's head.
        tokenizer: Its fast tokenizer.
        template: Its special tokens.
        found: Task and settings.
        batch: Examples in a batch.
        folder: Where the Trainer may write.
        masked: Whether padding is left out of the softmax over an answer's positions, as in ours.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        template: Template,
        found: Material,
        batch: int,
        folder: str,
        masked: bool = False,
    ):
        self.model = model
        self.tokenizer = tokenizer
        self._template = template
        self._task = found.task
        self._settings = found.settings
        self._batch = batch
        self._folder = folder
        self._trainer_class = _PaddingMasked if masked else Trainer
        tagging = self._task.kind == "tagging"
        collator = DataCollatorForTokenClassification if tagging else DataCollatorWithPadding
        self._collator = collator(tokenizer)

    def predict(self, split: Split) -> Any:
        """Return labels, tags by sentence (of words within the longest window), or answers by id."""
        features = self.features(split)
        found = self._trainer(None, 0, []).predict(_Rows(features))
        if self._task.kind == "question_answering":
            return self._answers(split, features, *found.predictions[:2])
        numbers = found.predictions.argmax(-1)
        if self._task.kind == "pair_classification":
            return [self._task.labels[number] for number in numbers]
        return [
            [self._task.labels[n] for n, label in zip(row, labels, strict=True) if label != IGNORED]
            for row, labels in zip(numbers, found.label_ids, strict=True)
        ]

    def train(self, split: Split, seed: int) -> list[float]:
        """Train; return when it began and when each step ended."""
        ends: list[float] = []
        self._trainer(_Rows(self.features(split)), seed, ends).train()
        return ends

    def _trainer(self, train: Any, seed: int, ends: list[float]) -> Any:
        settings = self._settings
        arguments = TrainingArguments(
            output_dir=self._folder,
            per_device_train_batch_size=self._batch,
            per_device_eval_batch_size=self._batch,
            gradient_accumulation_steps=max(1, settings.batch_size // self._batch),
            learning_rate=settings.learning_rate,
            num_train_epochs=settings.epochs,
            warmup_steps=settings.warmup_ratio,
            weight_decay=settings.weight_decay,
            adam_epsilon=settings.adam_epsilon,
            max_grad_norm=settings.max_grad_norm,
            lr_scheduler_type="linear",
            seed=seed,
            use_cpu=True,
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
        )
        return self._trainer_class(
            model=self.model,
            args=arguments,
            data_collator=self._collator,
            train_dataset=train,
            callbacks=[_noting_ends(ends)],
        )

    # -- features ---------------------------------------------------------------------------------------

    def features(self, split: Split) -> list[dict[str, Any]]:
        """Return the windows of a split in the order of its examples."""
        examples: Sequence[Any] = split.examples
        length = self._settings.max_length
        if self._task.kind == "pair_classification":
            found = self.tokenizer(
                [example.premise for example in examples],
                [example.hypothesis for example in examples],
                truncation=True,
                max_length=length,
            )
            found["labels"] = [self._task.labels.index(example.label) for example in examples]
            return _rows(found)
        if self._task.kind == "tagging":
            found = self.tokenizer(
                [list(example.words) for example in examples],
                is_split_into_words=True,
                truncation=True,
                max_length=length,
            )
            numbers = {label: i for i, label in enumerate(self._task.labels)}
            found["labels"] = []
            for i, example in enumerate(examples):
                labels, previous = [], None
                for word in found.word_ids(i):
                    first = word is not None and word != previous
                    labels.append(numbers[example.tags[word]] if first else IGNORED)
                    previous = word
                found["labels"].append(labels)
            return _rows(found)
        made: list[dict[str, Any]] = []
        for index, example in enumerate(examples):
            made += self._question(index, example)
        return made

    def _question(self, index: int, example: Any) -> list[dict[str, Any]]:
        settings = self._settings
        query = self.tokenizer(
            example.question,
            add_special_tokens=False,
            truncation=True,
            max_length=settings.max_query_length,
        )["input_ids"]
        room = settings.max_length - self._template.pair_specials - len(query)
        found = self.tokenizer(
            example.question,
            example.context,
            truncation="only_second",
            max_length=settings.max_length,
            stride=max(room - settings.doc_stride, 0),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        # Token types are only there for models that have them.
        masks = [name for name in ("attention_mask", "token_type_ids") if name in found]
        rows = []
        answer = example.answers[0] if example.answers else None
        for number, ids in enumerate(found["input_ids"]):
            offsets: list[Any] = [
                pair if part == 1 else None
                for pair, part in zip(
                    found["offset_mapping"][number], found.sequence_ids(number), strict=True
                )
            ]
            first = last = 0
            if answer is not None:
                end = answer.start + len(answer.text)
                inside = [i for i, pair in enumerate(offsets) if pair is not None]
                starts = [i for i in inside if offsets[i][0] <= answer.start < offsets[i][1]]
                ends = [i for i in inside if offsets[i][0] < end <= offsets[i][1]]
                if starts and ends:
                    first, last = starts[0], ends[-1]
            rows.append(
                {
                    "input_ids": ids,
                    **{name: found[name][number] for name in masks},
                    "start_positions": first,
                    "end_positions": last,
                    "example": index,
                    "offsets": offsets,
                }
            )
        return rows

    # -- decisions --------------------------------------------------------------------------------------

    def _answers(
        self, split: Split, features: list[dict[str, Any]], starts: Any, ends: Any
    ) -> dict[str, str]:
        examples: Sequence[Any] = split.examples
        best: dict[int, tuple[float, str]] = {}
        count, longest = self._settings.n_best, self._settings.max_answer_length
        for feature, start_row, end_row in zip(features, starts, ends, strict=True):
            offsets = feature["offsets"]
            context = examples[feature["example"]].context
            outside = [at for at, pair in enumerate(offsets) if pair is None]
            for row in (start_row, end_row):
                row[outside] = row[len(offsets) :] = -np.inf
            for start in np.argsort(start_row)[: -count - 1 : -1].tolist():
                for end in np.argsort(end_row)[: -count - 1 : -1].tolist():
                    if not start <= end < start + longest:
                        continue
                    if not np.isfinite(start_row[start] + end_row[end]):
                        continue
                    score = float(start_row[start] + end_row[end])
                    if score > best.get(feature["example"], (float("-inf"), ""))[0]:
                        text = context[offsets[start][0] : offsets[end][1]]
                        best[feature["example"]] = score, text
        return {e.id: best.get(i, (0.0, ""))[1] for i, e in enumerate(examples)}


def _masked_loss(
    self: Any,
    model: Any,
    inputs: Any,
    return_outputs: bool = False,
    num_items_in_batch: Any = None,
) -> Any:
    """Return the mean of the cross-entropies of starts and ends, with the outputs where asked."""
    answers = inputs.pop("start_positions"), inputs.pop("end_positions")
    outputs = model(**inputs)
    padding = inputs["attention_mask"] == 0
    loss = sum(
        cross_entropy(logits.masked_fill(padding, -torch.inf), at) / 2
        for logits, at in zip((outputs.start_logits, outputs.end_logits), answers, strict=True)
    )
    return (loss, outputs) if return_outputs else loss


#: A Trainer of questions whose softmax is over a window's own pieces.
_PaddingMasked = type("PaddingMasked", (Trainer,), {"compute_loss": _masked_loss})


class _Rows:
    """Features as the data set that a Trainer takes."""

    def __init__(self, features: list[dict[str, Any]]):
        self._features = features

    def __len__(self) -> int:
        return len(self._features)

    def __getitem__(self, row: int) -> dict[str, Any]:
        return self._features[row]


def _noting_ends(ends: list[float]) -> Any:
    """Return a callback that notes when training begins and when each step ends."""

    def note(self: Any, *arguments: Any, **named: Any) -> None:
        ends.append(seconds())

    events = {"on_train_begin": note, "on_step_end": note}
    return type("NotingEnds", (TrainerCallback,), events)()


def _rows(found: Any) -> list[dict[str, Any]]:
    names = list(found.keys())
    return [
        dict(zip(names, values, strict=True))
        for values in zip(*(found[name] for name in names), strict=True)
    ]
