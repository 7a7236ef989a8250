"""The study of weight tying in translation (Press and Wolf, arXiv 1608.05859) at small scale: train, translate, score.

    python scripts/reproduce_translation.py --data MULTI30K [--seeds 1,2] [--only NAME,...] [--threads 1]
    python scripts/reproduce_translation.py --report

Each model of ``task_specs/translation`` is trained with each seed and scored on the test split. A finished one is one
file, ``leaderboards/translation_study/<name>-seed-<n>.json``, and is not done again; a training that was cut off
continues after its last epoch. ``--data`` is a folder of ``<split>.<language>``, plain or ``.gz``. The report is
``leaderboards/translation_study.md``.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Final

from xharness.errors import InputError
from xharness.files import write_json, write_text
from xharness.translation.config import load_config
from xharness.translation.study import StudyResult, judge_all, render_report

ROOT: Final = Path(__file__).resolve().parents[1]
CONFIGS: Final = ROOT / "task_specs" / "translation"
RESULTS: Final = ROOT / "leaderboards" / "translation_study"

#: In the table's order.
MODELS: Final = ("no-tying", "decoder", "three-way", "define", "define-decoder")


def main() -> None:
    """Do what is missing, then write the report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of parallel files")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--only", help="names of models, separated by commas, in the order to run")
    parser.add_argument("--threads", type=int, help="of torch; all processors where absent")
    parser.add_argument(
        "--dtype", default="bfloat16", help="of the classifier: float32 or bfloat16"
    )
    parser.add_argument("--work", type=Path, default=ROOT / "runs" / "translation")
    parser.add_argument("--report", action="store_true", help="only write the report")
    arguments = parser.parse_args()
    try:
        if not arguments.report:
            if arguments.data is None:
                parser.error("--data is needed to train")
            train_all(arguments)
        report()
    except InputError as error:
        sys.exit(f"reproduce_translation: {error}")


def train_all(arguments: argparse.Namespace) -> None:
    """Train and score what has no result yet; the report is written after each."""
    import torch

    from xharness.inference.device import choose_device
    from xharness.translation.run import train_and_score

    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    device = choose_device("auto", arguments.dtype)
    for seed in map(int, arguments.seeds.split(",")):
        for name in arguments.only.split(",") if arguments.only else MODELS:
            result = RESULTS / f"{name}-seed-{seed}.json"
            if result.exists():
                continue
            config = load_config(CONFIGS / f"{name}.yaml")
            training = config.training.model_copy(update={"seed": seed})
            scored = train_and_score(
                config.model_copy(update={"training": training}),
                arguments.data,
                arguments.work / f"{name}-seed-{seed}",
                device,
                lambda line: print(line, flush=True),
                vocabulary=arguments.work / "vocabulary",
            )
            write_json(result, scored)
            report()


def report() -> None:
    """Write the page from the results that are there."""
    raw = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(RESULTS.glob("*-seed-*.json"))
    ]
    results = [StudyResult(one["name"], one["seed"], one) for one in raw]
    write_json(RESULTS / "statements.json", [one.as_json() for one in judge_all(results)])
    write_text(RESULTS.with_suffix(".md"), render_report(results, MODELS, "no-tying"))


if __name__ == "__main__":
    main()
