"""Writing a submission folder and checking it against the run's gold."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xharness.data.lines import decode, read_bytes
from xharness.data.readers.json_text import parse_json
from xharness.errors import InputError
from xharness.files import unwritable
from xharness.records.record import Record
from xharness.records.store import read_records
from xharness.scoring import score_submission
from xharness.specs.registry import Benchmark
from xharness.specs.task import TaskSpec


@dataclass(frozen=True)
class SubmissionReport:
    """What was written.

    Attributes:
        files: Number of prediction files by task.
        missing: Task and language of what the suite has and the run has not.
    """

    files: dict[str, int]
    missing: tuple[tuple[str, str], ...]

    def lines(self) -> Iterator[str]:
        """Yield what a user reads."""
        for task, count in self.files.items():
            yield f"{task}: {count} files, checked"
        for task, language in self.missing:
            yield f"missing: {task} {language}"


def write_submission(
    run: Path, output: Path, benchmark: Benchmark, seed: int | None, partial: bool
) -> SubmissionReport:
    """Copy one seed's predictions into a new folder and check every file.

    Checked are labels against the specification, and number of lines, sentence boundaries and question ids
    against the gold files of the run. Files are checked before anything is written.

    Args:
        run: Folder of a run.
        output: Folder to make.
        benchmark: The suite.
        seed: Whose predictions; the run's only seed where absent.
        partial: Whether languages may be missing and the run may have been limited.

    Raises:
        InputError: The run is incomplete or limited, a file does not fit, or ``output`` exists.
    """
    if output.exists():
        raise InputError("exists already", where=output, mend="give a new folder")
    records = [r for r in read_records([run]) if any(t.name == r.task for t in benchmark.tasks)]
    seed = _seed(records, seed, run)
    files: dict[str, list[Path]] = {}
    missing: list[tuple[str, str]] = []
    for task in benchmark.tasks:
        record = _record(records, task, seed)
        if record is not None and record.protocol.limit is not None and not partial:
            raise InputError(
                f"{task.name} was tested on at most {record.protocol.limit} examples a language",
                where=run,
                mend="run without --limit, or give --partial",
            )
        for language in task.languages:
            path = None
            if record is not None:
                folder = run / "predictions" / f"seed-{record.seed}" / task.name
                path = folder / task.file_name(language)
            if path is None or not path.is_file():
                missing.append((task.name, language))
                continue
            _check_labels(task, path)
            files.setdefault(task.name, []).append(path)
    if missing and not partial:
        task_name, language = missing[0]
        raise InputError(
            f"{len(missing)} prediction files are missing, the first is {task_name} {language}",
            where=run,
            mend="finish the run, or give --partial",
        )
    aside = output.with_name(f".{output.name}.partial")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        aside.mkdir(parents=True)
        for task_name, paths in files.items():
            (aside / task_name).mkdir()
            for path in paths:
                shutil.copyfile(path, aside / task_name / path.name)
        # Scoring reads every file and refuses those that do not fit their gold.
        score_submission(aside, run / "gold", benchmark)
        aside.rename(output)
    except OSError as error:
        raise unwritable(output, error) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return SubmissionReport({name: len(paths) for name, paths in files.items()}, tuple(missing))


def _seed(records: list[Record], seed: int | None, run: Path) -> int:
    seeds = sorted({record.seed for record in records if record.protocol.finetuned})
    seeds = seeds or sorted({record.seed for record in records})
    if not seeds:
        raise InputError("no record of a task of this suite", where=run)
    if seed is None and len(seeds) > 1:
        raise InputError(
            f"seeds {', '.join(map(str, seeds))} are there", where="--seed", mend="give one"
        )
    if seed is not None and seed not in seeds:
        raise InputError(
            f"no seed {seed}", where="--seed", mend=f"there are {', '.join(map(str, seeds))}"
        )
    return seeds[0] if seed is None else seed


def _record(records: list[Record], task: TaskSpec, seed: int) -> Record | None:
    """Return a task's record: the seed's, or the only one of a task without fine-tuning."""
    mine = [record for record in records if record.task == task.name]
    for record in mine:
        if record.seed == seed:
            return record
    return next((record for record in mine if not record.protocol.finetuned), None)


def _check_labels(task: TaskSpec, path: Path) -> None:
    text = decode(read_bytes(path), path, Counter())
    if not task.labels:
        if path.suffix == ".json" and not isinstance(parse_json(text, path), dict):
            raise InputError("answers by question id are expected", where=path)
        return
    known = set(task.labels) | ({""} if task.kind == "tagging" else set())
    for number, line in enumerate(text.split("\n")[:-1], start=1):
        if line not in known:
            raise InputError(f"{line!r} is no label of {task.name}", where=f"{path}:{number}")
