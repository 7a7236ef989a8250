"""Prediction our way, as the official scripts do it, and by transformers' Trainer: the same models, data, numbers.

    python scripts/bench_inference.py --model DIR --data DIR [--examples N] [--rounds N] [--json FILE]

The ways run in turn, each in a process of its own, on POS, XNLI and XQuAD in English and Chinese; ``--examples`` counts
test examples of a language, questions a quarter of that. The official way is timed on a quarter: its batches are all of
one size. A whole task is everything from examples in memory to decisions, so tokenising too, but no loading of weights;
prediction is what is left of it from the first batch on. The share of the peak is the arithmetic that encoding needs,
without padding, over the seconds in the encoder, against torch's product of large matrices, measured in the same
process; beside it stands the share of the faster of the two libraries that torch may use.
``--dtype bfloat16`` adds a row of ours in that format, and ``--growth`` shows instead how time and memory grow with the
number of sentences.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from speed.growth import growth_rows, show_growth
from speed.materials import QUESTION_SHARE, TASKS
from speed.measuring import Row, in_own_process, seconds
from speed.reporting import merged, told
from tabulate import tabulate

from xharness.errors import InputError

WAYS = ("ours", "official", "common-8", "common-32")

#: What is to be reached on two cores, as a multiple of the way's examples a second; the share as a fraction.
TARGETS = {"official": 3.5, "common": 1.8}
SHARE = 0.85


def main() -> None:
    """Run the ways in turn and print their figures and ratios."""
    arguments = _arguments()
    if arguments.growth_of:
        print(json.dumps(growth_rows(arguments)))
    elif arguments.way:
        print(json.dumps(_rows_of(arguments)))
    elif arguments.growth:
        show_growth(__file__, arguments)
    else:
        _compare(arguments)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True, help="checkpoint folder")
    parser.add_argument("--data", type=Path, help="data folder in the official layout")
    parser.add_argument("--examples", type=int, default=320, help="of each language (320)")
    parser.add_argument("--rounds", type=int, default=2, help="how often each way runs (2)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--json", type=Path, help="file for all figures")
    parser.add_argument("--growth", action="store_true", help="growth with the number of sentences")
    parser.add_argument("--sentences", type=int, default=1_000_000, help="most of them (1000000)")
    parser.add_argument("--way", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--growth-of", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.data is None and not (arguments.growth or arguments.growth_of):
        parser.error("give --data")
    return arguments


def _compare(arguments: argparse.Namespace) -> None:
    ways = [*WAYS, "ours-bfloat16"] if arguments.dtype == "bfloat16" else list(WAYS)
    found: dict[str, list[Row]] = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        common = ["--model", str(arguments.model), "--data", str(arguments.data)]
        common += ["--examples", str(arguments.examples), "--folder", name]

        def run(way: str) -> list[Row]:
            return in_own_process(__file__, [*common, "--way", way], arguments.threads)

        about = run("prepare")[0]
        for _ in range(arguments.rounds):
            for way in ways:
                found[way] += run(way)
        equality = run("equality")
        agreement = {task: _agreement(folder, task) for task in TASKS}
    print(f"{about['processor']}, {about['threads']} threads, torch {about['torch']}")
    rows = merged(found, TASKS)
    _print_rows(rows)
    summary = _summary(rows, agreement, equality)
    if arguments.json:
        result = {"machine": about, "rows": rows, "runs": found, **summary}
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _print_rows(rows: list[Row]) -> None:
    table = [
        [
            row["task"],
            row["way"],
            f"{row['examples'] / row['predict_seconds']:.1f}",
            f"{row['examples'] / row['whole_seconds']:.1f}",
            f"{row['whole_seconds']:.1f}",
            f"{row['whole_seconds'] - row['predict_seconds']:.2f}",
            f"{row['peak_mib']:.0f}",
            f"{row['flops'] / row['encoder_seconds'] / 1e9:.0f}",
            *(
                f"{100 * row['flops'] / row['encoder_seconds'] / row[peak]:.0f} %"
                for peak in ("product", "fastest")
            ),
        ]
        for task in TASKS
        for row in rows
        if row["task"] == task
    ]
    header = ["task", "way", "examples/s", "whole task", "seconds", "features s"]
    header += ["peak MiB", "GFLOP/s", "of peak", "of fastest"]
    print(tabulate(table, header, disable_numparse=True))


def _summary(rows: list[Row], agreement: dict[str, Any], equality: list[Row]) -> Row:
    """Print and return ratios, shares and what was equal."""
    at = {(row["way"], row["task"]): row for row in rows}
    ratios: dict[str, dict[str, float]] = {}
    for key, label in (("predict_seconds", "prediction"), ("whole_seconds", "whole task")):
        for against in TARGETS:
            ways = [way for way in WAYS if way.startswith(against)]
            by_task = {}
            for task in TASKS:
                each = {
                    way: at[way, task][key] / at[way, task]["examples"] for way in ("ours", *ways)
                }
                by_task[task] = min(each[way] for way in ways) / each["ours"]
            title = f"{label}: times the {against} way"
            ratios[f"{label}, {against}"] = told(title, by_task, TARGETS[against])
    ours = [at["ours", task] for task in TASKS]
    inside = sum(row["encoder_seconds"] for row in ours)
    share, of_fastest = (
        sum(row["flops"] / row[peak] for row in ours) / inside for peak in ("product", "fastest")
    )
    print(
        f"share of the peak in our encoder: {100 * share:.1f} % (wanted {100 * SHARE:.0f} %); of the faster "
        f"library's {100 * of_fastest:.1f} %"
    )
    for task, value in agreement.items():
        print(f"{task}: {value['same']} of {value['decisions']} decisions as the common way's")
    for row in equality:
        print(
            f"{row['task']}: one window and 64 at a time: {row['same']} of {row['decisions']} decisions the same, "
            f"logits within {row['difference']:.1e} of each other"
        )
    shares = {"share": share, "share_of_fastest": of_fastest}
    return {"ratios": ratios, **shares, "agreement": agreement, "equality": equality}


def _agreement(folder: Path, task: str) -> dict[str, int]:
    """Compare our decisions with the common way's, of words within its longest window."""
    ours, common = (
        json.loads((folder / f"decisions-{way}-{task}.json").read_text(encoding="utf-8"))
        for way in ("ours", "common-8")
    )
    pairs = [
        pair
        for one, other in zip(ours, common, strict=True)
        for pair in (zip(one, other, strict=False) if isinstance(one, list) else [(one, other)])
    ]
    return {"same": sum(one == other for one, other in pairs), "decisions": len(pairs)}


# -- in a process of its own --------------------------------------------------------------------------------


def _rows_of(arguments: argparse.Namespace) -> list[Row]:
    import torch
    from speed.materials import save_with_heads
    from speed.measuring import machine

    torch.set_num_threads(arguments.threads)
    if arguments.way == "prepare":
        save_with_heads(str(arguments.model), arguments.data, arguments.folder)
        return [machine(arguments.threads)]
    if arguments.way == "equality":
        from speed.equality import equality_rows

        return equality_rows(arguments.folder, arguments.data)
    return [_measured(arguments, task) for task in TASKS]


def _measured(arguments: argparse.Namespace, task: str) -> Row:
    from dataclasses import replace

    from speed.materials import material, needed_flops
    from speed.measuring import EncoderClock, Peak, highest, products
    from speed.opening import open_way

    # The official way's rate shows on fewer; its batches are all of one size.
    count = arguments.examples // (4 if arguments.way == "official" else 1)
    found = material(task, arguments.data, max(count, QUESTION_SHARE), QUESTION_SHARE)
    checkpoint = str(arguments.folder / task)
    with tempfile.TemporaryDirectory() as folder:
        peak = Peak()
        way = open_way(arguments.way, checkpoint, found, Path(folder))
        way.predict(replace(found.splits[0], examples=found.splits[0].examples[:8]))
        dtype = "bfloat16" if arguments.way == "ours-bfloat16" else "float32"
        rates = [products(dtype)]
        clock = EncoderClock(way.model)
        whole = predict = encoder = 0.0
        decisions: list[Any] = []
        for split in found.splits:
            clock.reset()
            began = seconds()
            values = way.predict(split)
            ended = seconds()
            whole += ended - began
            predict += ended - clock.began
            encoder += clock.seconds
            decisions += values.values() if isinstance(values, dict) else values
        most = peak.mib()
        rates.append(products(dtype))
    (arguments.folder / f"decisions-{arguments.way}-{task}.json").write_text(
        json.dumps(decisions), encoding="utf-8"
    )
    return {
        "task": task,
        "examples": found.examples,
        "whole_seconds": whole,
        "predict_seconds": predict,
        "encoder_seconds": encoder,
        "peak_mib": most,
        **highest(rates),
        "flops": needed_flops(checkpoint, found, found.splits),
    }


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(f"bench_inference: {error}")
