"""Run folders without a model: gold and predictions drawn at random, scored and sealed as a run does it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from xharness.records.record import Data, LanguageResult, Protocol, Record
from xharness.records.store import write_record
from xharness.runs.plan import spec_digest
from xharness.scoring import score_task
from xharness.scoring.folder import file_name
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec

TASKS = ("sample_nli", "sample_pos", "sample_ner", "sample_qa", "sample_bitext", "sample_retrieval")


def write_gold(folder: Path, tasks: Sequence[str] = TASKS, size: int = 60) -> Path:
    """Write gold files; parallel in all languages, as the sample's are."""
    for name in tasks:
        task = load(TaskSpec, name)
        for code in task.languages:
            _write(folder / file_name(task, code), _gold(task, code, size))
    return folder


def write_predictions(
    folder: Path, gold: Path, tasks: Sequence[str] = TASKS, *, wrong: float = 0.3, seed: int = 1
) -> Path:
    """Write predictions that are right but for a share of ``wrong``."""
    random = np.random.default_rng(seed)
    for name in tasks:
        task = load(TaskSpec, name)
        for code in task.languages:
            path = gold / file_name(task, code)
            text = _spoiled(task, path.read_text(encoding="utf-8"), wrong, random)
            _write(folder / file_name(task, code), text)
    return folder


def write_run(
    folder: Path,
    *,
    tasks: Sequence[str] = TASKS,
    seeds: Sequence[int] = (1,),
    wrong: float = 0.3,
    size: int = 60,
    model: str = "made",
    profile: str = "official",
    limit: int | None = None,
    revision: str = "r1",
    draw: int = 0,
) -> Path:
    """Write a run folder: gold, predictions and records of tasks of the sample."""
    gold = write_gold(folder / "gold", tasks, size)
    for seed in seeds:
        # What is not fine-tuned has one seed.
        ran = [n for n in tasks if seed == seeds[0] or load(TaskSpec, n).kind != "retrieval"]
        predictions = folder / "predictions" / f"seed-{seed}"
        write_predictions(predictions, gold, ran, wrong=wrong, seed=1000 * draw + seed)
        for name in ran:
            record = record_of(load(TaskSpec, name), predictions, gold, seed, model, profile)
            data = Data(
                source={"source": "files"},
                test={code: {"file": f"{revision}-{name}-{code}"} for code in record.languages},
            )
            protocol = record.protocol.model_copy(update={"limit": limit})
            update = {"data": data, "protocol": protocol}
            write_record(record.model_copy(update=update), folder / "records")
    return folder


def record_of(
    task: TaskSpec, predictions: Path, gold: Path, seed: int, model: str, profile: str
) -> Record:
    """Score a task's files and return the record of it."""
    scores = score_task(task, predictions, gold, profile)
    return Record(
        suite="sample",
        task=task.name,
        task_title=task.title,
        spec=task.model_dump(mode="json", exclude_defaults=True),
        spec_sha256=spec_digest(task),
        model={"name": model, "weights_sha256": "1" * 64},
        seed=seed,
        profile=profile,
        languages={
            code: LanguageResult(status=score.status, figures=score.figures, counts=score.counts)
            for code, score in scores.languages.items()
        },
        averages=scores.averages,
        score_figures=task.score_figures(profile),
        score=scores.score,
        protocol=Protocol(
            recipe="sample", settings={"epochs": 1}, finetuned=task.kind != "retrieval"
        ),
        data=Data(source={"source": "files"}),
        environment={"torch": "2"},
        command="xharness run",
    )


def change_record(path: Path, **changes: object) -> None:
    """Change a record and seal it anew, as a run under other conditions would have written it."""
    record = Record.model_validate(json.loads(path.read_text(encoding="utf-8")))
    path.write_text(record.model_copy(update=changes).sealed().model_dump_json(), encoding="utf-8")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _gold(task: TaskSpec, code: str, size: int) -> str:
    random = np.random.default_rng(7)
    if task.kind == "tagging":
        labels = [label for label in task.labels if not label.startswith("I-")]
        sentences = [random.choice(labels, size=random.integers(3, 8)) for _ in range(size)]
        return "\n".join("".join(f"{tag}\n" for tag in tags) for tags in sentences)
    if task.kind == "question_answering":
        questions = [
            {
                "id": f"{code}-{n}",
                "question": "?",
                "answers": [{"text": f"blue house {n}", "answer_start": 0}],
            }
            for n in range(size)
        ]
        return json.dumps({"data": [{"paragraphs": [{"context": "", "qas": questions}]}]})
    if task.method == "mining":
        return "".join(f"{code}-{n}\ten-{n}\n" for n in range(size))
    if task.kind == "retrieval":
        return "".join(f"{n}\n" for n in range(size))
    return "".join(f"{label}\n" for label in random.choice(task.labels, size=size))


def _spoiled(task: TaskSpec, gold: str, wrong: float, random: np.random.Generator) -> str:
    if task.kind == "question_answering":
        questions = json.loads(gold)["data"][0]["paragraphs"][0]["qas"]
        spoiled = random.random(len(questions)) < wrong
        return json.dumps(
            {
                q["id"]: random.choice(["house", "nothing"]) if bad else q["answers"][0]["text"]
                for q, bad in zip(questions, spoiled, strict=True)
            }
        )
    lines = gold.splitlines()
    spoiled = random.random(len(lines)) < wrong
    if task.method == "mining":
        pairs = [f"{line}x" if bad else line for line, bad in zip(lines, spoiled, strict=True)]
        return "".join(f"{pair}\n" for pair in pairs)
    others = task.labels or tuple(str(n) for n in range(len(lines)))
    return "".join(
        f"{random.choice([o for o in others if o != line]) if bad and line else line}\n"
        for line, bad in zip(lines, spoiled, strict=True)
    )
