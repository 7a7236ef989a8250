"""Time what a leaderboard of many records takes: reading and checking them, building tables, writing every format.

    python scripts/bench_leaderboards.py [--records 10000]

Records are of all nine tasks of XTREME in all languages, with three seeds where a task is fine-tuned, and as large as
those of real runs: counts, digests and settings are filled in.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import tempfile
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

from xharness.leaderboards.files import leaderboard_files
from xharness.leaderboards.loading import read_all
from xharness.leaderboards.parquet import tidy_cells
from xharness.leaderboards.suites import tables_of_suite
from xharness.records.record import Data, LanguageResult, Protocol, Record
from xharness.records.store import write_record
from xharness.runs.plan import spec_digest
from xharness.specs.recipe import Settings
from xharness.specs.registry import benchmark_of_suite
from xharness.specs.task import METRIC_FIGURES, TaskSpec

FORMATS = ("md", "csv", "latex", "json", "parquet")
SEEDS = (1, 2, 3)


def main() -> None:
    """Generate, measure and print."""
    parser = argparse.ArgumentParser(description="Time a leaderboard of many records.")
    parser.add_argument("--records", type=int, default=10_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sizes, models = [], set()
        for record in islice(made_records(random.Random(0)), arguments.records):
            models.add(record.model["name"])
            path = write_record(record, Path(folder) / str(record.model["name"]))
            sizes.append(path.stat().st_size)
        print(f"{len(sizes)} records of {len(models)} models, {sum(sizes) / 2**20:.0f} MiB")
        wall, processor = time.perf_counter(), time.process_time()
        records = read_all(sorted(Path(folder).iterdir()))
        wall, processor = told("read and check", wall, processor)
        tables = tables_of_suite("xtreme", records, [], mixed=False)
        wall, processor = told("build tables", wall, processor)
        files = leaderboard_files([tables], tidy_cells(records, []), FORMATS)
        told(f"render {len(files)} files", wall, processor)


def told(what: str, wall: float, processor: float) -> tuple[float, float]:
    """Print the time since then and return the time now."""
    now = time.perf_counter(), time.process_time()
    print(f"{what:<18}{now[0] - wall:6.1f} s wall{now[1] - processor:7.1f} s processor")
    return now


def made_records(generator: random.Random) -> Iterator[Record]:
    """Yield records of one model after another, without end."""
    benchmark = benchmark_of_suite("xtreme")
    digests = {task.name: spec_digest(task) for task in benchmark.tasks}
    for number in count(1):
        for task in benchmark.tasks:
            for seed in SEEDS if task.training else SEEDS[:1]:
                yield made_record(task, seed, f"model-{number:04}", digests[task.name], generator)


def made_record(
    task: TaskSpec, seed: int, model: str, spec_sha256: str, generator: random.Random
) -> Record:
    """Return a record with random figures in every language."""
    languages = {
        code: LanguageResult(
            status="scored",
            figures={name: generator.uniform(20, 95) for name in METRIC_FIGURES[task.metric]},
            counts={"examples": 5010, "unanswered": 0, "truncated": 3, "windows": 5013},
        )
        for code in task.languages
    }
    figures = task.score_figures("official")
    averages: dict[str, float | None] = {
        name: sum(result.figures[name] for result in languages.values()) / len(languages)
        for name in METRIC_FIGURES[task.metric]
    }
    return Record(
        suite="xtreme",
        task=task.name,
        task_title=task.title,
        spec=task.model_dump(mode="json", exclude_defaults=True),
        spec_sha256=spec_sha256,
        model={"name": model, "weights_sha256": hashlib.sha256(model.encode()).hexdigest()},
        seed=seed,
        profile="official",
        languages=languages,
        averages=averages,
        score_figures=figures,
        score=sum(averages[name] or 0.0 for name in figures) / len(figures),
        protocol=Protocol(
            recipe="xtreme",
            settings=Settings().model_dump(mode="json"),
            finetuned=task.training is not None,
            training_set=task.training,
            training={"steps": 12270, "dev_scores": [[100 * i, 80.0] for i in range(1, 40)]},
        ),
        data=Data(
            source={"source": "files"},
            test={
                code: {
                    f"{task.name}/test-{code}.tsv": hashlib.sha256(
                        f"{task.name}{code}".encode()
                    ).hexdigest()
                }
                for code in task.languages
            },
            examples=dict.fromkeys(task.languages, 5010),
        ),
        environment={f"library{i}": "1.2.3" for i in range(14)},
        command="xharness run --suite xtreme --model model --output runs/model",
    )


if __name__ == "__main__":
    main()
