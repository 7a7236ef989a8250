"""The study of embedding coupling (RemBERT, arXiv 2010.12821) at small scale: pre-train, fine-tune, score, compare.

    python scripts/reproduce_coupling.py --text FOLDER --data FOLDER [--seeds 1,2] [--only NAME,...] [--dtype bfloat16]
    python scripts/reproduce_coupling.py --report

Each encoder of ``task_specs/pretraining/coupling`` is pre-trained with each seed, then fine-tuned on English and
scored by ``xharness run``. A finished piece is one file, ``leaderboards/coupling_study/<name>-seed-<n>.json``, and
is not done again; a pre-training or run that was cut off continues. ``--text`` is a folder of ``<language>.txt``,
``--data`` one in XTREME's layout. The report is ``leaderboards/coupling_study.md``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from xharness.analysis.coupling_study import TASKS, Result, write_report
from xharness.files import write_json
from xharness.pretraining.evaluation import frequency_loss
from xharness.pretraining.metrics import read_metrics
from xharness.pretraining.shards import open_shards
from xharness.pretraining.vocabulary import load_vocabulary
from xharness.records.store import read_records

ROOT: Final = Path(__file__).resolve().parents[1]
CONFIGS: Final = ROOT / "task_specs" / "pretraining" / "coupling"
RESULTS: Final = ROOT / "leaderboards" / "coupling_study"

FREQUENCIES: Final = RESULTS / "frequencies.json"

#: In this order, so that what is compared first is there first.
ENCODERS: Final = (
    "coupled",
    "decoupled",
    "in32-out128",
    "in128-out32",
    "in32-out32",
    "in32-out512",
    "reinvest-layers",
    "define",
    "reinvest-width",
    "extra-layers",
)
LANGUAGES: Final = "de,en,es,fr"
LIMIT: Final = 1000
LIMIT_TRAIN: Final = 10_000


def main() -> None:
    """Do what is missing, then write the report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--text", type=Path, help="folder of pre-training text")
    parser.add_argument("--data", type=Path, help="data folder in XTREME's layout")
    parser.add_argument("--seeds", default="1,2")
    parser.add_argument("--only", help="names of encoders, separated by commas")
    parser.add_argument("--dtype", default="auto", help="float32, bfloat16 or auto")
    parser.add_argument("--work", type=Path, default=ROOT / "runs" / "coupling")
    parser.add_argument("--report", action="store_true", help="only write the report")
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else ENCODERS
    if not arguments.report:
        if arguments.text is None or arguments.data is None:
            parser.error("--text and --data are needed to train")
        for seed in map(int, arguments.seeds.split(",")):
            for name in names:
                if not (RESULTS / f"{name}-seed-{seed}.json").exists():
                    train_and_score(name, seed, arguments)
        measure_frequencies(arguments.work / "prepared")
    raw = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(RESULTS.glob("*-seed-*.json"))
    ]
    results = [Result(one["name"], one["seed"], one) for one in raw]
    frequencies = json.loads(FREQUENCIES.read_text("utf-8")) if FREQUENCIES.exists() else {}
    page, curves = RESULTS.with_suffix(".md"), RESULTS / "curves.svg"
    write_report(results, ENCODERS, page, curves, frequencies)


def measure_frequencies(prepared: Path) -> None:
    """Write what guessing by frequency reaches in each language."""
    pieces = load_vocabulary(prepared / "vocabulary").size
    shards = open_shards(prepared / "shards")
    found = {code: round(frequency_loss(shards, code, pieces), 4) for code in shards.languages}
    write_json(FREQUENCIES, found)


def train_and_score(name: str, seed: int, arguments: argparse.Namespace) -> None:
    """Pre-train and score one encoder with one seed, and keep the small results."""
    folder = arguments.work / f"{name}-seed-{seed}"
    xharness(
        "pretrain",
        str(CONFIGS / f"{name}.yaml"),
        *("--text", str(arguments.text)),
        *("--prepared", str(arguments.work / "prepared")),
        *("--set", f"seed={seed}", "--dtype", arguments.dtype),
        *("--output", str(folder)),
    )
    xharness(
        "run",
        *("--model", str(folder / "model"), "--name", name),
        *(part for task in TASKS for part in ("--task", task)),
        *("--languages", LANGUAGES, "--data", str(arguments.data)),
        *("--recipe", "coupling", "--seeds", str(seed)),
        *("--limit", str(LIMIT), "--limit-train", str(LIMIT_TRAIN)),
        *("--output", str(folder / "run")),
    )
    write_json(RESULTS / f"{name}-seed-{seed}.json", summary(name, seed, folder))


def xharness(*arguments: str) -> None:
    """Run a verb, its messages passing through."""
    done = subprocess.run([sys.executable, "-m", "xharness", *arguments], cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"xharness {arguments[0]} ended with exit code {done.returncode}")


def summary(name: str, seed: int, folder: Path) -> dict[str, Any]:
    """Return what the report needs of one pre-training and its scores."""
    pretraining = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    metrics = read_metrics(folder / "metrics.jsonl")
    return {
        "name": name,
        "seed": seed,
        "pretraining": {key: pretraining[key] for key in sorted(pretraining)},
        "curve": {
            "train": _thinned([line for line in metrics if line["kind"] == "train"]),
            "dev": [
                {key: line[key] for key in ("step", "mean_loss", "mean_accuracy")}
                for line in metrics
                if line["kind"] == "dev"
            ],
        },
        "tasks": {
            record.task: {
                "languages": {
                    code: result.figures
                    for code, result in sorted(record.languages.items())
                    if result.status == "scored"
                },
                "marks": list(record.marks),
                "training": record.protocol.training,
                "environment": record.environment,
            }
            for record in read_records([folder / "run"])
        },
    }


def _thinned(lines: list[dict[str, Any]], every: int = 50) -> list[dict[str, float]]:
    """Return the mean loss of each stretch of steps."""
    return [
        {
            "step": lines[min(first + every, len(lines)) - 1]["step"],
            "loss": sum(line["loss"] for line in lines[first : first + every])
            / len(lines[first : first + every]),
        }
        for first in range(0, len(lines), every)
    ]


if __name__ == "__main__":
    main()
