"""A tokenizer that depends on the language: words in are decisions out, for every sentence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt
import pytest

from tests.pitfalls.tiny_tokenizers import bert_pieces
from xharness.data.examples import TaggingExample
from xharness.specs.recipe import Settings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.pieces import Ragged
from xharness.tasks.tagging import encode, tags_of


class LanguagePieces:
    """Cuts words by a rule of the language: nothing of punctuation, halves, characters, or whole words."""

    def __init__(self, language: str):
        whole = bert_pieces()
        self.template, self.unknown_id = whole.template, whole.unknown_id
        self.uses_token_types, self.max_length, self.fingerprint = False, 64, language
        self._language = language

    def words(self, words: Sequence[str]) -> Ragged:
        return Ragged.of([list(range(4, 4 + self._number(word))) for word in words])

    def _number(self, word: str) -> int:
        counts = {"th": word.isalnum(), "de": 2, "zh": len(word), "en": 1}
        return int(counts[self._language])

    texts = words

    def texts_with_offsets(self, texts: Sequence[str]) -> tuple[Ragged, npt.NDArray[np.int32]]:
        raise NotImplementedError


@pytest.mark.parametrize("language", ["en", "de", "zh", "th"])
def test_as_many_tags_as_words_in_every_sentence(language: str) -> None:
    sentences = [("Anna", "schläft", ".")] * 3 + [("x",)] + [("!", "?")] + [("Wort",) * 90]
    examples = [TaggingExample(str(i), words, None) for i, words in enumerate(sentences)]
    task = load(TaskSpec, "udpos")
    encoding = encode(examples, task, LanguagePieces(language), Settings(max_length=32))
    numbers = np.arange(len(encoding.labels)) % len(task.labels)
    tags = tags_of(numbers, examples, task)
    assert [len(sentence) for sentence in tags] == [len(words) for words in sentences]
    assert list(chain(*tags)) == [task.labels[n] for n in numbers]
    assert int(encoding.lengths.max()) <= 32
