"""Every reader of files as one function of bytes, with real files to begin from."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tests.records.examples import make_record
from xharness.comparison.gate import load_gate
from xharness.data.checks.checking import CHECKS
from xharness.data.checks.findings import FileReport
from xharness.data.examples import SplitName
from xharness.data.readers import READERS
from xharness.errors import InputError
from xharness.pretraining.metrics import read_metrics
from xharness.records.record import Record
from xharness.records.store import read_record, write_record
from xharness.sample import DATA
from xharness.scoring.answer_rules import squad_tokens
from xharness.scoring.answers import score_answers
from xharness.scoring.choices import score_choices
from xharness.scoring.labels import score_labels, score_pairs
from xharness.scoring.ranking import score_rankings
from xharness.scoring.tagging import score_tags
from xharness.specs.paths import SPECS
from xharness.specs.recipe import Recipe
from xharness.specs.registry import load
from xharness.specs.suite import Suite
from xharness.specs.task import TaskSpec
from xharness.specs.validation import SpecModel, build
from xharness.specs.yaml_loading import load_document
from xharness.submission.archive import submission_folder
from xharness.tasks.encoding import Encoding
from xharness.tasks.pair_classification import PairEncoding
from xharness.tasks.question_answering import QuestionEncoding
from xharness.tasks.tagging import TaggingEncoding

#: Stands between the files of a reader that takes several.
SEPARATOR = b"\n%%%%\n"

Form = Literal["bytes", "json", "jsonl"]
Files = Mapping[str, Path]


@dataclass(frozen=True)
class Target:
    """A reader.

    Attributes:
        read: Reads the files, by the names in ``parts``; refuses them with an ``InputError``.
        seeds: Contents to begin from, each the parts joined by ``SEPARATOR``.
        parts: Names of the files.
        form: Whether values inside the files may be changed one by one.
    """

    read: Callable[[Files], object]
    seeds: tuple[bytes, ...]
    parts: tuple[str, ...] = ("file",)
    form: Form = "bytes"

    def run(self, content: bytes, folder: Path) -> bool:
        """Write the files and read them; return whether they were not refused.

        Raises:
            AssertionError: They were refused in more than one line.
        """
        contents = content.split(SEPARATOR, len(self.parts) - 1)
        paths = {}
        for part, piece in zip(self.parts, contents, strict=False):
            paths[part] = folder / part
            paths[part].write_bytes(piece)
        if len(paths) < len(self.parts):
            return False
        told = ""
        try:
            self.read(paths)
        except InputError as error:
            told = str(error)
        assert "\n" not in told, f"several lines: {told!r}"
        return not told


def targets() -> dict[str, Target]:
    """Return every reader by name."""
    return {**_data_targets(), **_scoring_targets(), **_spec_targets(), **_own_targets()}


def _sample(*names: str) -> bytes:
    """Return the first lines of files of the sample."""
    return SEPARATOR.join((DATA / name).read_bytes()[:1500].rpartition(b"\n")[0] for name in names)


# -- data -----------------------------------------------------------------------------------------------


def _read_split(
    format_: str, task_name: str, options: Mapping[str, Any] | None, paths: Files
) -> None:
    task = load(TaskSpec, task_name)
    files = task.sources.files
    assert files is not None
    options = files.options if options is None else options
    splits: tuple[SplitName, ...] = ("train", "test")
    for split in splits:
        if format_ in CHECKS:
            reports = {
                part: FileReport(task.name, split, "en", path) for part, path in paths.items()
            }
            CHECKS[format_](reports, task, split, options)
    refusals = []
    for split in splits:
        try:
            READERS[format_](paths, task, split, options, Counter())
        except InputError as error:
            refusals.append(error)
    if refusals:
        raise refusals[0]


def _read_xquad_r(paths: Files) -> None:
    both = {"questions": paths["en"], **paths}
    READERS["xquad_r"](both, load(TaskSpec, "lareqa"), "test", {}, Counter())


def _data_targets() -> dict[str, Target]:
    squad = _squad(2)
    paragraph = {
        "context": "A boat. A lake.",
        "sentence_breaks": [[0, 7], [8, 15]],
        "qas": [
            {"id": "q", "question": "What?", "answers": [{"text": "lake", "answer_start": 10}]}
        ],
    }
    xquad_r = json.dumps({"data": [{"paragraphs": [paragraph, paragraph | {"qas": []}]}]}).encode()
    copa = b'{"premise": "p", "choice1": "a", "choice2": "b", "question": "cause", "label": 0, "idx": 1}\n'
    spaced = {"separator": "space", "token": 1, "tag": 2, "comment": "#", "skip_tokens": True}
    wide = {"header": True, "extra_columns": True}
    deep = b"[" * 5000
    tagged = b"# text\n1 A O\n2-3 B O\n\n1 C B-PER\n"
    lines = ("sample_retrieval/de-en.de", "sample_retrieval/de-en.en")
    corpora = tuple(f"sample_bitext/de-en.test.{end}" for end in ("de", "en", "gold"))
    read = partial(partial, _read_split)
    return {
        "pair_tsv": Target(
            read("pair_tsv", "sample_nli", None), (_sample("sample_nli/dev-en.tsv"), b"a\tb\n")
        ),
        "pair_tsv-wide": Target(
            read("pair_tsv", "sample_nli", wide), (b"x\ty\tz\na\tb\tneutral\td\n",)
        ),
        "columns": Target(read("columns", "sample_ner", None), (_sample("sample_ner/dev-en.tsv"),)),
        "columns-conllu": Target(read("columns", "sample_ner", spaced), (tagged,)),
        "squad_json": Target(read("squad_json", "sample_qa", None), (squad, deep), form="json"),
        "xquad_r": Target(
            _read_xquad_r, (xquad_r + SEPARATOR + xquad_r, deep), ("en", "de"), form="json"
        ),
        "choice_jsonl": Target(
            read("choice_jsonl", "xcopa", None), (copa + copa.replace(b"1}", b"2}"),), form="jsonl"
        ),
        "choice_jsonl-english": Target(
            read("choice_jsonl", "xcopa_corrected", None),
            (copa + SEPARATOR + copa,),
            ("file", "english"),
            "jsonl",
        ),
        "parallel_lines": Target(
            read("parallel_lines", "sample_retrieval", None),
            (_sample(*lines),),
            ("source", "target"),
        ),
        "identified_lines": Target(
            read("identified_lines", "sample_bitext", None),
            (_sample(*corpora), b"a\tx\n" + SEPARATOR + b"b\ty\n" + SEPARATOR + b"a\tb\n"),
            ("source", "target", "gold"),
        ),
    }


def _squad(questions: int) -> bytes:
    """Return the sample's first paragraphs as a file of their own."""
    article = json.loads((DATA / "sample_qa/dev-en.json").read_text("utf-8"))["data"][0]
    article["paragraphs"] = article["paragraphs"][:questions]
    return json.dumps({"data": [article]}, ensure_ascii=False).encode()


# -- scoring --------------------------------------------------------------------------------------------


def _scorer(score: Callable[[Path, Path], object]) -> Callable[[Files], object]:
    return lambda paths: score(paths["predictions"], paths["gold"])


def _scoring_targets() -> dict[str, Target]:
    parts = ("predictions", "gold")
    labels = b"neutral\nentailment\n"
    tags = b"B-PER\nI-PER\nO\n\nO\nB-LOC\n"
    choices = b'{"label": 0}\n{"label": 1}\n'
    rankings = b'{"q": ["a", "b"], "r": ["c"]}'
    answers = b'{"1": "lake", "2": "boat"}'
    known = load(TaskSpec, "sample_nli").labels
    entities = load(TaskSpec, "sample_ner").labels

    def twice(content: bytes) -> tuple[bytes, ...]:
        return (content + SEPARATOR + content,)

    def tagged(paths: Files) -> None:
        for scheme in ("seqeval-1.2.2", "seqeval-0.0.12", "iob2", "runs"):
            score_tags(paths["predictions"], paths["gold"], scheme, accuracy=True, tags=entities)

    return {
        "labels": Target(_scorer(partial(score_labels, labels=known)), twice(labels), parts),
        "pairs": Target(_scorer(score_pairs), twice(b"de-1\ten-1\nde-2\ten-2\n"), parts),
        "tags": Target(tagged, twice(tags), parts),
        "choices": Target(_scorer(score_choices), twice(choices), parts, "jsonl"),
        "rankings": Target(_scorer(score_rankings), twice(rankings), parts, "json"),
        "answers": Target(
            _scorer(partial(score_answers, tokenize=squad_tokens)),
            (answers + SEPARATOR + _squad(1),),
            parts,
            "json",
        ),
    }


# -- specifications -------------------------------------------------------------------------------------


def _builder(model: type[SpecModel]) -> Callable[[Files], object]:
    return lambda paths: build(model, load_document(paths["file"]))


def _spec_targets() -> dict[str, Target]:
    gate = (
        b"overall: {max_drop: 1.5}\nlanguages:\n  xnli/*: {significant: true, alpha: 0.05}\n"
        b"allow:\n- {cell: xnli/de, max_drop: 2, reason: why, expires: 2030-01-01}\n"
    )

    def shipped(folder: str) -> tuple[bytes, ...]:
        return tuple(path.read_bytes() for path in sorted((SPECS / folder).glob("*.yaml")))

    return {
        "task": Target(_builder(TaskSpec), shipped("tasks")),
        "suite": Target(_builder(Suite), shipped("suites")),
        "recipe": Target(_builder(Recipe), shipped("recipes")),
        "gate": Target(lambda paths: load_gate(paths["file"]), (gate,)),
    }


# -- files that the harness itself writes ---------------------------------------------------------------


def _read_sealed(paths: Files) -> None:
    """Read a record; one whose digest alone is wrong is sealed again first, to come further."""
    path = paths["file"]
    try:
        read_record(path)
    except InputError as error:
        if "digest" not in str(error):
            raise
        record = Record.model_validate(json.loads(path.read_text(encoding="utf-8")))
        read_record(write_record(record.model_copy(update={"task": "x", "seed": 1}), path.parent))


def _read_archive(suffix: str, paths: Files) -> None:
    archive = paths["file"].with_suffix(suffix)
    paths["file"].rename(archive)
    with submission_folder(archive) as folder:
        assert not [path for path in folder.rglob("*") if path.is_symlink()]


def _archives() -> tuple[bytes, bytes]:
    zipped, tarred = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("xnli/test-en.tsv", "neutral\n")
    with tarfile.open(fileobj=tarred, mode="w:gz") as tar:
        member = tarfile.TarInfo("xnli/test-en.tsv")
        member.size = 8
        tar.addfile(member, io.BytesIO(b"neutral\n"))
    return zipped.getvalue(), gzip.decompress(tarred.getvalue())


def _encoding_target(encoding: Encoding) -> Target:
    with tempfile.TemporaryDirectory() as folder:
        encoding.save(Path(folder) / "seed")
        content = (Path(folder) / "seed").read_bytes()
    kind = type(encoding)
    return Target(lambda paths: kind.load(paths["file"]), (content,))


def _own_targets() -> dict[str, Target]:
    ids, starts = np.array([5, 6, 7], np.int32), np.array([0, 1, 3])
    types, one = np.zeros(3, np.uint8), np.array([1, 0])
    with tempfile.TemporaryDirectory() as folder:
        record = write_record(make_record(), Path(folder)).read_bytes()
    zipped, tarred = _archives()
    metrics = (
        b'{"kind": "train", "step": 1, "loss": 2.5}\n{"kind": "dev", "step": 2, "x": {"a": 1}}\n'
    )
    return {
        "record": Target(_read_sealed, (record,), form="json"),
        "metrics": Target(lambda paths: read_metrics(paths["file"]), (metrics,), form="jsonl"),
        "archive-zip": Target(partial(_read_archive, ".zip"), (zipped,)),
        "archive-tar": Target(partial(_read_archive, ".tar"), (tarred,)),
        "encoding-pairs": _encoding_target(PairEncoding(ids, starts, types, {"cut": 1}, one)),
        "encoding-tags": _encoding_target(
            TaggingEncoding(ids, starts, types, {}, one, np.array([0, 1, 2]), one)
        ),
        "encoding-questions": _encoding_target(
            QuestionEncoding(
                *(ids, starts, types, {}),
                *(one, one, one, one),
                characters=np.array([[0, 1], [1, 2]], np.int32),
                is_max_context=np.array([True, False]),
                answers=np.array([[0, 1], [1, 1]]),
            )
        ),
    }
