"""Small files for the tests: tag, label, pair and answer files in the submission layout."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from xharness.scoring.spans import END, SpanCounts, SpanReader, SpansSoFar
from xharness.scoring.tag_lines import IntArray


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def tag_text(sentences: Sequence[Sequence[str]]) -> str:
    return "".join("".join(f"{tag}\n" for tag in sentence) + "\n" for sentence in sentences)


def tag_ids(sentences: Sequence[Sequence[str]], vocabulary: dict[str, int]) -> IntArray:
    """Encode sentences as a tag file is encoded, a blank line after each."""
    lines = [tag for sentence in sentences for tag in (*sentence, "")]
    return np.array([vocabulary.setdefault(tag, len(vocabulary)) for tag in lines], dtype=np.int32)


def span_counts(
    reader: SpanReader, truth: IntArray, guess: IntArray, lines: int = 1 << 20
) -> SpanCounts:
    """Count the spans of two tag sequences, so many lines at a time."""
    so_far, counts = SpansSoFar(), np.zeros(3, np.int64)
    blocks = [slice(at, at + lines) for at in range(0, len(truth), lines)]
    for gold, predicted in [*((truth[b], guess[b]) for b in blocks), (END, END)]:
        counts += [len(places) for places in reader.ends(gold, predicted, so_far)]
    return SpanCounts(*counts.tolist())


def squad(answers: Mapping[str, Sequence[str]], context: str = "no matter") -> str:
    """Gold in SQuAD JSON: one paragraph a question."""
    return json.dumps(
        {
            "version": "1.1",
            "data": [
                {
                    "title": "t",
                    "paragraphs": [
                        {
                            "context": context,
                            "qas": [
                                {
                                    "id": identifier,
                                    "question": "?",
                                    "answers": [
                                        {"text": text, "answer_start": 0} for text in texts
                                    ],
                                }
                            ],
                        }
                    ],
                }
                for identifier, texts in answers.items()
            ],
        },
        ensure_ascii=False,
    )
