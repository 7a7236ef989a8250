"""TyDiQA-GoldP: training and dev questions to one SQuAD-format file a language.

The public dev set is XTREME's test. As in XTREME's ``tydiqa_preprocess`` the questions are split
by the language name at the front of their ids. That script keeps only what follows the last minus
sign of an id, so that ids collide; here ids stay whole, and so do articles and their titles.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from xharness.errors import InputError
from xharness.preparation.answers import repair_answer
from xharness.preparation.archives import archive_stem, read_members
from xharness.preparation.outputs import OutputFiles
from xharness.preparation.sources import decode, find_files, read_bytes, unique_names

LANGUAGES = {
    "arabic": "ar",
    "bengali": "bn",
    "english": "en",
    "finnish": "fi",
    "indonesian": "id",
    "korean": "ko",
    "russian": "ru",
    "swahili": "sw",
    "telugu": "te",
}
"""The language names at the front of question ids, with their codes."""

_STEM = "tydiqa-goldp-v1.1"
_TRAIN, _DEV = f"{_STEM}-train.json", f"{_STEM}-dev.json"
_DEV_PARTS = {f"tydiqa-goldp-dev-{language}.json" for language in LANGUAGES}


def prepare_tydiqa(raw: Path, files: OutputFiles) -> None:
    """Write ``tydiqa-goldp-v1.1-{split}/tydiqa.goldp.{language}.{split}.json``.

    Every answer offset is checked; see ``repair_answer`` for what is repaired and counted. Also
    counted: ``repeated_ids``, and ``questions_without_answer``.

    Args:
        raw: Holds ``tydiqa-goldp-v1.1-train.json``, and for dev ``tydiqa-goldp-v1.1-dev.json``,
            the files ``tydiqa-goldp-dev-{language name}.json``, or the archive
            ``tydiqa-goldp-v1.1-dev.tgz`` of them; the first that is there is taken. A split that
            is absent is named as missing.
        files: Where the files go.

    Raises:
        InputError: Nothing is found, a file is not SQuAD-format JSON, an id tells no language,
            or an answer is not in its context.
    """
    sources = _sources(raw, files)
    if not sources:
        raise InputError("no TyDiQA-GoldP file", where=raw, mend=f"expected {_TRAIN}")
    files.missing += [f"{_STEM}-{split}" for split in ("train", "dev") if split not in sources]
    for split, parts in sources.items():
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        articles: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        ids: Counter[str] = Counter()
        version = None
        of_file: Counter[str] = Counter()
        for where, data in parts:
            document = _parse(decode(data, where, of_file), where)
            version = version or document.get("version")
            _split_document(document, where, articles, counts, ids)
        for language in sorted(articles):
            content: dict[str, Any] = {"data": articles[language]}
            if version is not None:
                content["version"] = version
            questions = counts[language].pop("questions")
            files.add(
                f"{_STEM}-{split}/tydiqa.goldp.{language}.{split}.json",
                [json.dumps(content, ensure_ascii=False) + "\n"],
                counts[language] + of_file,
                examples=questions,
            )
            of_file = Counter()


def _sources(raw: Path, files: OutputFiles) -> dict[str, list[tuple[str, bytes]]]:
    """The files of each split, with their names for errors."""
    archive = f"{_STEM}-dev"
    paths = {
        path.name: path
        for path in unique_names(
            find_files(
                raw,
                lambda path: (
                    path.name in {_TRAIN, _DEV, *_DEV_PARTS} or archive_stem(path) == archive
                ),
            )
        )
    }
    sources: dict[str, list[tuple[str, bytes]]] = {}
    if _TRAIN in paths:
        sources["train"] = [(str(paths[_TRAIN]), read_bytes(paths[_TRAIN]))]
    single = [path for name, path in paths.items() if name == _DEV]
    several = [path for name, path in paths.items() if name in _DEV_PARTS]
    packed = [path for path in paths.values() if archive_stem(path) == archive]
    choices = [choice for choice in (single, several, packed[:1]) if choice]
    if not choices:
        return sources
    for path in [*(path for choice in choices[1:] for path in choice), *packed[1:]]:
        files.ignored.append(f"{path}: dev is taken from {choices[0][0]}")
    if choices[0] == packed[:1]:

        def wanted(name: PurePosixPath) -> bool:
            return name.name in _DEV_PARTS

        members = read_members(packed[0], wanted)
        sources["dev"] = [(f"{packed[0]}/{name}", data) for name, data in members.items()]
    else:
        sources["dev"] = [(str(path), read_bytes(path)) for path in choices[0]]
    return sources


def _parse(text: str, where: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as problem:
        raise InputError(f"not JSON: {problem.msg}", where=f"{where}:{problem.lineno}") from problem
    except (RecursionError, ValueError) as problem:
        raise InputError(
            "not usable JSON: nested too deep or a number too long", where=where
        ) from (problem)
    if not isinstance(document, dict):
        raise InputError("not a JSON object", where=where, mend="SQuAD format: {'data': [...]}")
    return document


def _split_document(
    document: dict[str, Any],
    where: str,
    articles: defaultdict[str, list[dict[str, Any]]],
    counts: defaultdict[str, Counter[str]],
    ids: Counter[str],
) -> None:
    """Add the document's articles to each language that has questions in them."""
    for article_index, article in enumerate(_list(document, "data", where)):
        here = f"{where} data[{article_index}]"
        of_language: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for index, paragraph in enumerate(_list(article, "paragraphs", here)):
            there = f"{here}.paragraphs[{index}]"
            context = _text(paragraph, "context", there)
            questions: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
            for place, question in enumerate(_list(paragraph, "qas", there)):
                language, checked = _question(
                    question, context, f"{there}.qas[{place}]", where, counts
                )
                questions[language].append(checked)
                counts[language]["questions"] += 1
                counts[language]["repeated_ids"] += checked["id"] in ids
                ids[checked["id"]] += 1
            for language, kept in questions.items():
                of_language[language].append({**paragraph, "qas": kept})
        for language, paragraphs in of_language.items():
            articles[language].append({**article, "paragraphs": paragraphs})


def _question(
    question: Any, context: str, place: str, where: str, counts: defaultdict[str, Counter[str]]
) -> tuple[str, dict[str, Any]]:
    """The question's language, and the question with its answers checked."""
    identifier = _text(question, "id", place)
    here = f"{where} id {identifier}"
    name, dash, _ = identifier.partition("-")
    if not dash or name not in LANGUAGES:
        raise InputError(
            f"id {identifier!r} tells no language", where=place, mend="ids begin 'english-'"
        )
    language = LANGUAGES[name]
    answers = []
    for answer in _list(question, "answers", here):
        text = _text(answer, "text", here)
        start = answer.get("answer_start")
        if not isinstance(start, int) or isinstance(start, bool):
            raise InputError(f"answer_start {start!r} is no integer", where=here)
        text, start = repair_answer(context, text, start, here, counts[language])
        answers.append({**answer, "text": text, "answer_start": start})
    counts[language]["questions_without_answer"] += not answers
    return language, {**question, "answers": answers}


def _list(owner: Any, key: str, where: str) -> Iterable[Any]:
    value = owner.get(key) if isinstance(owner, dict) else None
    if not isinstance(value, list):
        raise InputError(f"no list {key!r}", where=where, mend="SQuAD format is needed")
    return value


def _text(owner: Any, key: str, where: str) -> str:
    value = owner.get(key) if isinstance(owner, dict) else None
    if not isinstance(value, str):
        raise InputError(f"no text {key!r}", where=where, mend="SQuAD format is needed")
    return value
