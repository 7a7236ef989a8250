"""The official scripts' way, written afresh: Python loops, windows padded to the full length, order of the data.

Words are cut into pieces one by one, contexts anew for every question. Eight windows at a time (four of questions
in training), gradients added up to a step of the recipe's size. Attention holds its scores in full, as transformers
did then. A question's answer is put together from words between blanks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import torch
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

from speed.materials import Material
from speed.measuring import seconds
from xharness.data.examples import Split
from xharness.tasks.pieces import Template

IGNORED = -100


@dataclass
class Feature:
    """One window, padded.

    Attributes:
        ids: Piece ids.
        mask: 1 for pieces, 0 for padding.
        labels: What is learnt: a class, a tag for each position, or a first and a last position.
        example: Index of the example.
        word_of: Questions: word of the context at each position.
        best_here: Questions: positions that no other window of the question sees with more context.
    """

    ids: list[int]
    mask: list[int]
    labels: list[int]
    example: int
    word_of: dict[int, int] = field(default_factory=dict)
    best_here: dict[int, bool] = field(default_factory=dict)


class OfficialWay:
    """Features, prediction and training.

    Args:
        model: A model with the task's head.
        tokenizer: Its tokenizer.
        template: Its special tokens.
        found: Task and settings.
    """

    def __init__(self, model: Any, tokenizer: Any, template: Template, found: Material):
        self.model = model
        self.tokenizer = tokenizer
        self._template = template
        self._task = found.task
        self._settings = found.settings

    def predict(self, split: Split) -> Any:
        """Return labels, tags by sentence, or answers by id."""
        features = self.features(split)
        loader = DataLoader(self._tensors(features), batch_size=8)
        self.model.eval()
        outputs: list[Any] = []
        for ids, mask, _ in loader:
            with torch.no_grad():
                output = self.model(input_ids=ids, attention_mask=mask)
            if self._task.kind == "question_answering":
                outputs += zip(
                    output.start_logits.tolist(), output.end_logits.tolist(), strict=True
                )
            else:
                outputs += output.logits.argmax(-1).tolist()
        if self._task.kind == "pair_classification":
            return [self._task.labels[number] for number in outputs]
        if self._task.kind == "tagging":
            return self._tags(features, outputs, len(split))
        return self._answers(split, features, outputs)

    def train(self, split: Split, seed: int) -> list[float]:
        """Train; return when it began and when each step ended."""
        size = 4 if self._task.kind == "question_answering" else 8
        tensors = self._tensors(self.features(split))
        torch.manual_seed(seed)
        loader = DataLoader(tensors, sampler=RandomSampler(tensors), batch_size=size)
        parts = self._settings.batch_size // size
        total = -(-len(loader) // parts) * int(self._settings.epochs)
        rate = self._settings.learning_rate
        optimizer = torch.optim.AdamW(
            self.model.parameters(), rate, weight_decay=0.0, foreach=False
        )
        warmup = round(self._settings.warmup_ratio * total)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer,
            lambda step: min((step + 1) / (warmup + 1), (total - step) / max(total - warmup, 1)),
        )
        self.model.train()
        ends = [seconds()]
        batches = chain.from_iterable(
            enumerate(loader, 1) for _ in range(int(self._settings.epochs))
        )
        for number, (ids, mask, labels) in batches:
            if self._task.kind == "question_answering":
                named = {"start_positions": labels[:, 0], "end_positions": labels[:, 1]}
            else:
                named = {"labels": labels.squeeze(-1) if labels.shape[1] == 1 else labels}
            loss = self.model(input_ids=ids, attention_mask=mask, **named).loss / parts
            loss.backward()
            if number % parts and number != len(loader):
                continue
            torch.nn.utils.clip_grad_norm_(
                self.model.parameters(), self._settings.max_grad_norm, foreach=False
            )
            optimizer.step()
            schedule.step()
            self.model.zero_grad()
            ends.append(seconds())
        return ends

    # -- features ---------------------------------------------------------------------------------------

    def features(self, split: Split) -> list[Feature]:
        """Return the windows of a split in the order of its examples."""
        examples: Sequence[Any] = split.examples
        made: list[Feature] = []
        for index, example in enumerate(examples):
            if self._task.kind == "pair_classification":
                made.append(self._pair(index, example))
            elif self._task.kind == "tagging":
                made += self._sentence(index, example)
            else:
                made += self._question(index, example)
        return made

    def _padded(self, index: int, ids: list[int], labels: list[int]) -> Feature:
        padding = self._settings.max_length - len(ids)
        mask = [1] * len(ids) + [0] * padding
        return Feature(ids + [self.tokenizer.pad_token_id] * padding, mask, labels, index)

    def _pair(self, index: int, example: Any) -> Feature:
        length = self._settings.max_length
        ids = self.tokenizer(
            example.premise, example.hypothesis, truncation="longest_first", max_length=length
        )["input_ids"]
        return self._padded(index, ids, [self._task.labels.index(example.label)])

    def _sentence(self, index: int, example: Any) -> list[Feature]:
        before, after = self._template.single
        room = self._settings.max_length - self._template.cut_specials
        windows: list[tuple[list[int], list[int]]] = [([], [])]
        for word, tag in zip(example.words, example.tags, strict=True):
            pieces = self.tokenizer.tokenize(word)
            if not 0 < len(pieces) <= room:
                pieces = [self.tokenizer.unk_token]
            if len(windows[-1][0]) + len(pieces) > room:
                windows.append(([], []))
            ids, labels = windows[-1]
            ids += self.tokenizer.convert_tokens_to_ids(pieces)
            labels += [self._task.labels.index(tag)] + [IGNORED] * (len(pieces) - 1)
        made = []
        for ids, labels in windows:
            aligned = [IGNORED] * len(before) + labels
            aligned += [IGNORED] * (self._settings.max_length - len(aligned))
            made.append(self._padded(index, [*before, *ids, *after], aligned))
        return made

    def _question(self, index: int, example: Any) -> list[Feature]:
        words: list[str] = []
        word_at: list[int] = []
        inside = False
        for character in example.context:
            if character.isspace():
                inside = False
            elif inside:
                words[-1] += character
            else:
                words.append(character)
                inside = True
            word_at.append(len(words) - 1)
        pieces: list[int] = []
        word_of: list[int] = []
        first_of: list[int] = []
        for number, word in enumerate(words):
            first_of.append(len(pieces))
            for piece in self.tokenizer.tokenize(word):
                pieces.append(self.tokenizer.convert_tokens_to_ids(piece))
                word_of.append(number)
        query = self.tokenizer.encode(example.question, add_special_tokens=False)
        query = query[: self._settings.max_query_length]
        before, between, after = self._template.pair
        head = [*before, *query, *between]
        room = self._settings.max_length - len(head) - len(after)
        spans: list[tuple[int, int]] = []
        at = 0
        while True:
            size = min(room, len(pieces) - at)
            spans.append((at, size))
            if at + size >= len(pieces):
                break
            at += min(self._settings.doc_stride, size)
        first, last = -1, -1
        if example.answers:
            answer = example.answers[0]
            first = first_of[word_at[answer.start]]
            end_word = word_at[answer.start + len(answer.text) - 1]
            last = (first_of[end_word + 1] if end_word + 1 < len(words) else len(pieces)) - 1
        made = []
        for number, (at, size) in enumerate(spans):
            held = at <= first and last < at + size
            labels = [first - at + len(head), last - at + len(head)] if held else [0, 0]
            feature = self._padded(index, [*head, *pieces[at : at + size], *after], labels)
            for shift in range(size):
                feature.word_of[len(head) + shift] = word_of[at + shift]
                feature.best_here[len(head) + shift] = _best_span(spans, at + shift) == number
            made.append(feature)
        return made

    def _tensors(self, features: list[Feature]) -> TensorDataset:
        return TensorDataset(
            torch.tensor([feature.ids for feature in features]),
            torch.tensor([feature.mask for feature in features]),
            torch.tensor([feature.labels for feature in features]),
        )

    # -- decisions --------------------------------------------------------------------------------------

    def _tags(
        self, features: list[Feature], outputs: list[list[int]], count: int
    ) -> list[list[str]]:
        tags: list[list[str]] = [[] for _ in range(count)]
        for feature, numbers in zip(features, outputs, strict=True):
            for label, number in zip(feature.labels, numbers, strict=True):
                if label != IGNORED:
                    tags[feature.example].append(self._task.labels[number])
        return tags

    def _answers(self, split: Split, features: list[Feature], outputs: list[Any]) -> dict[str, str]:
        best: dict[int, tuple[float, str]] = {}
        examples: Sequence[Any] = split.examples
        for feature, (starts, ends) in zip(features, outputs, strict=True):
            words = examples[feature.example].context.split()
            for start in _highest(starts, self._settings.n_best):
                for end in _highest(ends, self._settings.n_best):
                    if start not in feature.word_of or end not in feature.word_of:
                        continue
                    if not feature.best_here.get(start) or end < start:
                        continue
                    if end - start + 1 > self._settings.max_answer_length:
                        continue
                    score = starts[start] + ends[end]
                    if score > best.get(feature.example, (float("-inf"), ""))[0]:
                        span = words[feature.word_of[start] : feature.word_of[end] + 1]
                        best[feature.example] = score, " ".join(span)
        return {e.id: best.get(i, (0.0, ""))[1] for i, e in enumerate(examples)}


def _best_span(spans: list[tuple[int, int]], position: int) -> int:
    """Return the window that sees a piece with most context, by the reference reader's score."""
    best, chosen = float("-inf"), -1
    for number, (at, size) in enumerate(spans):
        if not at <= position < at + size:
            continue
        score = min(position - at, at + size - 1 - position) + 0.01 * size
        if score > best:
            best, chosen = score, number
    return chosen


def _highest(logits: list[float], count: int) -> list[int]:
    order = sorted(range(len(logits)), key=lambda i: logits[i], reverse=True)
    return order[:count]
