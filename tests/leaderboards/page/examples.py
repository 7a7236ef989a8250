"""Tables for the page: records of our own beside rows as papers print them, with every case that a page must bear."""

from __future__ import annotations

from dataclasses import replace
from statistics import mean

from tests.records.examples import make_record
from xharness.leaderboards.cells import Cell, transfer_gap
from xharness.leaderboards.table import Row, Table, Tables, build_tables
from xharness.records.record import Record
from xharness.specs.registry import benchmark_of_suite

XTREME = benchmark_of_suite("xtreme")

#: Names that a careless page would run, break or turn around.
HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "a \"quoted\" & 'single' \\ name_1 100%",
    "نموذج متعدد اللغات \u202e",
    "line\u2028separator",
)

SOURCE = "RemBERT paper, Table 16, https://arxiv.org/abs/2010.12821"


def figure(model: int, task: int, language: int) -> float:
    """Return a made-up percentage with full precision, the same on every machine."""
    spread = (model * 7919 + task * 104729 + language * 1299709) % 4001 / 100
    english = 9.0 if language == 0 else 0.0
    return 42.0 + spread + english + model % 7 + 1 / 3


def own_records(
    model: int, name: str, seeds: tuple[int, ...], *, hole: bool = False
) -> list[Record]:
    """Return records of all tasks of XTREME; with ``hole``, Thai is missing in NER and MLQA was not run."""
    records = []
    for place, task in enumerate(XTREME.tasks):
        if hole and task.name == "mlqa":
            continue
        for seed in seeds if task.kind != "retrieval" else seeds[:1]:
            figures: dict[str, float | None] = {
                language: figure(model, place, i) + (seed % 3) / 4
                for i, language in enumerate(task.languages)
            }
            if hole and task.name == "panx":
                figures["th"] = None
            record = make_record(task.name, seed, name, figures)
            environment = {
                "xharness": "0.1.0",
                "torch": "2.13.0",
                "device": "cpu",
                "dtype": "float32",
            }
            command = f"xharness run --suite xtreme --model 'm{model}' --seeds {seed} --output runs"
            digests = {
                code: {f"{task.name}/test-{code}.tsv": f"{i:064x}"}
                for i, code in enumerate(task.languages)
            }
            data = record.data.model_copy(update={"test": digests})
            changes = {"environment": environment, "command": command, "data": data}
            records.append(record.model_copy(update=changes).sealed())
    return records


def printed_row(
    model: str,
    columns: dict[str, str],
    values: dict[str, float | None],
    *,
    setting: str = "zero-shot",
    source: str = SOURCE,
    parts: dict[str, dict[str, float]] | None = None,
    remarks: tuple[str, ...] = (),
) -> Row:
    """Return a row as a paper prints it; a column without a value is a hole, which leaves no average."""
    known = [values.get(key) for key in columns]
    figures = [value for value in known if value is not None]
    average = mean(figures) if figures and len(figures) == len(known) else None
    return Row(
        model,
        {key: Cell(values.get(key), parts=(parts or {}).get(key, {})) for key in columns},
        Cell(average),
        setting,
        source,
        remarks=remarks,
        gap=Cell(transfer_gap({key: values.get(key) for key in columns}))
        if "en" in columns
        else None,
        holes=dict.fromkeys([key for key in columns if values.get(key) is None], "not published"),
    )


def with_rows(table: Table, *rows: Row) -> Table:
    return replace(table, rows=(*table.rows, *rows))


def small_tables() -> Tables:
    """Return few rows with every case: seeds, holes, parts, remarks, sources, settings, hostile names."""
    records = [
        *own_records(1, "own-three-seeds", (1, 2, 3)),
        *own_records(2, HOSTILE[0], (1,)),
        *own_records(3, "own-with-holes", (1,), hole=True),
    ]
    tables = build_tables(records, XTREME)
    tasks = tables.tasks.columns
    qa = {"f1": 80.25, "exact_match": 64.75}
    remark = "average over tasks: printed 77.0, its cells give 74.42"
    tasks_table = with_rows(
        tables.tasks,
        printed_row(
            "RemBERT",
            tasks,
            {key: 70.0 + i / 4 for i, key in enumerate(tasks)},
            parts={"xquad": qa},
        ),
        printed_row(
            "FILTER",
            tasks,
            {key: 71.0 + i / 8 for i, key in enumerate(tasks)},
            setting="translate-train",
            remarks=(remark,),
        ),
        printed_row("partial <b>", tasks, {"xnli": 81.4}, source="javascript:alert(3) in a note"),
        *(
            printed_row(name, tasks, {key: 50.0 + i for i, key in enumerate(tasks)})
            for name in HOSTILE[1:]
        ),
    )
    by_task = dict(tables.by_task)
    for place, (task, table) in enumerate(tables.by_task.items()):
        values: dict[str, float | None] = {
            code: figure(9, place, i) for i, code in enumerate(table.columns)
        }
        by_task[task] = with_rows(table, printed_row("RemBERT", table.columns, values))
    return replace(tables, tasks=tasks_table, by_task=by_task)


def large_tables(models: int = 30) -> Tables:
    """Return ``models`` models, each with all tasks and languages, a few with three seeds."""
    records = []
    for model in range(models // 3):
        seeds = (1, 2, 3) if model % 3 == 0 else (1,)
        records += own_records(model, f"encoder-{model}-base", seeds, hole=model == 4)
    tables = build_tables(records, XTREME)
    by_task = dict(tables.by_task)
    settings = ("zero-shot", "translate-train", "extra task data")
    scores: dict[int, dict[str, float | None]] = {}
    for place, (task, table) in enumerate(tables.by_task.items()):
        rows = []
        for model in range(models // 3, models):
            values: dict[str, float | None] = {
                code: figure(model, place, i)
                for i, code in enumerate(table.columns)
                if (model + i) % 17
            }
            row = printed_row(
                f"Published model {model}",
                table.columns,
                values,
                setting=settings[model % 3],
                source=f"Authors {2018 + model % 5}, Table {model}, https://arxiv.org/abs/2003.{model:05d}",
            )
            known = [value for value in values.values() if value is not None]
            scores.setdefault(model, {})[task] = mean(known)
            rows.append(row)
        by_task[task] = with_rows(table, *rows)
    printed = [
        printed_row(
            f"Published model {model}",
            tables.tasks.columns,
            values,
            setting=settings[model % 3],
            source=f"Authors {2018 + model % 5}, Table {model}, https://arxiv.org/abs/2003.{model:05d}",
        )
        for model, values in scores.items()
    ]
    return replace(tables, tasks=with_rows(tables.tasks, *printed), by_task=by_task)
