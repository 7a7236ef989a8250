"""Small data files, and the specifications they are read by."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xharness.data.examples import Example, SplitName
from xharness.data.readers import READERS
from xharness.specs.registry import Benchmark, benchmark_of_tasks, load
from xharness.specs.task import FileSource, Sources, TaskSpec

#: A task of the kind that each format serves.
TASK_OF_FORMAT = {
    "pair_tsv": "xnli",
    "columns": "panx",
    "squad_json": "xquad",
    "parallel_lines": "tatoeba",
    "identified_lines": "bucc2018",
    "choice_jsonl": "xcopa",
}


def write(path: Path, content: str | bytes) -> Path:
    """Write a file exactly as given, its folders made on the way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def task_of(name: str, **changes: Any) -> TaskSpec:
    """Return a shipped specification, its file source changed."""
    task = load(TaskSpec, name)
    files = task.sources.files
    assert files is not None
    languages = changes.pop("languages", task.languages)
    source = FileSource.model_validate({**files.model_dump(exclude_unset=True), **changes})
    changed: TaskSpec = task.model_copy(
        update={"sources": Sources(files=source), "languages": tuple(languages)}
    )
    return changed


def benchmark_of(*tasks: TaskSpec) -> Benchmark:
    """Return a benchmark of specifications that are in no file."""
    first = benchmark_of_tasks([tasks[0].name])
    return Benchmark(
        name=first.name,
        title=first.title,
        tasks=tasks,
        categories={"all": tuple(task.name for task in tasks)},
        overall=(),
        recipe=first.recipe,
    )


def read(
    format_: str,
    paths: Path | Mapping[str, Path],
    *,
    split: SplitName = "test",
    task: TaskSpec | None = None,
    **options: Any,
) -> tuple[Sequence[Any], Counter[str]]:
    """Read files with a reader; return the examples and what was counted, zeros left out."""
    counts: Counter[str] = Counter()
    parts = {"file": paths} if isinstance(paths, Path) else paths
    task = task or load(TaskSpec, TASK_OF_FORMAT[format_])
    examples: Sequence[Example] = READERS[format_](parts, task, split, options, counts)
    return examples, +counts


def question(name: str, answers: Sequence[tuple[str, int]], text: str = "?") -> dict[str, Any]:
    """Return a question with its answers (text, start)."""
    listed = [{"text": answer, "answer_start": start} for answer, start in answers]
    return {"id": name, "question": text, "answers": listed}


def squad(*paragraphs: tuple[str, Sequence[dict[str, Any]]], **keys: Any) -> str:
    """Return a SQuAD file: one article, whose paragraphs are contexts with their questions."""
    listed = [{"context": context, "qas": list(qas)} for context, qas in paragraphs]
    document = {"version": "1.1", "data": [{"title": "t", "paragraphs": listed}], **keys}
    return json.dumps(document, ensure_ascii=False)
