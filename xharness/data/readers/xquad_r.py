"""LAReQA's XQuAD-R: questions in one language, answer sentences in all, in SQuAD JSON with sentence breaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xharness.data.examples import Bitext, Sentences, SplitName
from xharness.data.lines import decode, read_bytes
from xharness.data.readers.json_text import parse_json
from xharness.errors import InputError
from xharness.specs.task import TaskSpec


@dataclass(frozen=True)
class _Corpus:
    """One language's file.

    Attributes:
        questions: Text of each question by id.
        sentences: Text of each sentence by id, ``<language>_<paragraph>_<position>``.
        right: Ids of the sentences that answer a question, by the question's id.
    """

    questions: dict[str, str]
    sentences: dict[str, str]
    right: dict[str, list[str]]


def read_xquad_r(
    paths: Mapping[str, Path],
    task: TaskSpec,
    split: SplitName,
    options: Mapping[str, Any],
    counts: Counter[str],
) -> list[Bitext]:
    """Read the questions of part ``questions`` and, as candidates, every sentence of the other parts.

    The other parts are named by their languages; the same question has the same id in all. As in the official
    ``utils_lareqa.py`` the right sentence is the one in which the answer begins, and any other of its paragraph that
    is equal to it; a question whose answer begins outside all sentences is left out of its language, and counted.

    Raises:
        InputError: A file is not of the format, or a question id occurs twice.
    """
    corpora = {
        language: _read(path, language, counts)
        for language, path in sorted(paths.items())
        if language != "questions"
    }
    asked = next(
        (x for x, path in paths.items() if path == paths["questions"] and x in corpora), None
    )
    if asked is None:
        raise InputError("the questions' own language is no candidate", where=paths["questions"])
    counts["candidate_languages"] = len(corpora)
    sentences = {name: text for c in corpora.values() for name, text in c.sentences.items()}
    counts["candidates"] = len(sentences)
    source = {f"{name}_{asked}": text for name, text in corpora[asked].questions.items()}
    gold = tuple(
        (f"{name}_{asked}", sentence)
        for name in corpora[asked].questions
        for corpus in corpora.values()
        for sentence in corpus.right.get(name, ())
    )
    if not source:
        raise InputError("no question in the file", where=paths["questions"])
    return [
        Bitext(
            Sentences(tuple(source), tuple(source.values())),
            Sentences(tuple(sentences), tuple(sentences.values())),
            gold,
        )
    ]


def _read(path: Path, language: str, counts: Counter[str]) -> _Corpus:
    document = parse_json(decode(read_bytes(path), path, counts), path)
    corpus = _Corpus({}, {}, {})
    try:
        for number, paragraph in enumerate(_paragraphs(document), start=1):
            _add(corpus, paragraph, f"{language}_{number}", path, counts)
    except (KeyError, TypeError, IndexError, ValueError, OverflowError) as error:
        raise InputError(
            f"not in the XQuAD-R format: {error} is absent or of the wrong type",
            where=path,
            mend="expected data > paragraphs > context, sentence_breaks, qas > id, question, answers",
        ) from error
    return corpus


def _paragraphs(document: Any) -> Iterator[dict[str, Any]]:
    for article in document["data"]:
        yield from article["paragraphs"]


def _add(
    corpus: _Corpus, paragraph: Mapping[str, Any], name: str, path: Path, counts: Counter[str]
) -> None:
    breaks = [(int(start), int(end)) for start, end in paragraph["sentence_breaks"]]
    texts = [str(paragraph["context"][start:end]) for start, end in breaks]
    corpus.sentences.update({f"{name}_{at}": text for at, text in enumerate(texts)})
    for qa in paragraph["qas"]:
        identifier, begin = str(qa["id"]), int(qa["answers"][0]["answer_start"])
        if identifier in corpus.questions:
            raise InputError("question id occurs twice", where=f"{path}: {identifier}")
        at = next((i for i, (start, end) in enumerate(breaks) if start <= begin < end), None)
        if at is None:
            counts["questions_without_sentence"] += 1
            continue
        corpus.questions[identifier] = str(qa["question"])
        corpus.right[identifier] = [
            f"{name}_{i}" for i, text in enumerate(texts) if text == texts[at]
        ]
