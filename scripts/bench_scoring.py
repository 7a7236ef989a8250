"""Time our scorer against a plain one that works as the official script does, on the same submission.

    python scripts/bench_scoring.py [--submission DIR] [--scale 1.0] [--repeat 2]

runs ours and the baseline in turn (A B A B), each as a whole process, start-up included, and prints CPU seconds (user
and system), wall seconds, peak memory and the ratio of the CPU medians. The two must agree on every figure. The
baseline calls the seqeval library three times a file, as ``evaluate.py`` does, and loops over answers in plain Python.

Without ``--submission`` a synthetic one is made (``make_submission.py``) in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import string
import subprocess
import sys
import tempfile
import time
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

Figures = dict[str, dict[str, dict[str, float]]]

MLQA_ARTICLES = {
    "en": "a an the",
    "es": "un una unos unas el la los las",
    "vi": "của là cái chiếc những",
    "de": "ein eine einen einem eines einer der die das den dem des",
}


def read_tags_plainly(path: Path) -> list[list[str]]:
    """Read sentences of tags."""
    sentences: list[list[str]] = []
    sentence: list[str] = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            if tag := line.strip():
                sentence.append(tag)
            else:
                sentences.append(sentence)
                sentence = []
    if sentence:
        sentences.append(sentence)
    return sentences


def read_lines_plainly(path: Path) -> list[str]:
    """Read stripped lines."""
    with path.open(encoding="utf-8") as file:
        return [line.strip() for line in file]


def tag_figures(gold: Path, answers: Path) -> dict[str, float]:
    """Score tags by seqeval, which reads all spans anew for each figure."""
    from seqeval.metrics import f1_score, precision_score, recall_score

    truth, guess = read_tags_plainly(gold), read_tags_plainly(answers)
    return {
        "f1": 100 * float(f1_score(truth, guess)),
        "precision": 100 * float(precision_score(truth, guess)),
        "recall": 100 * float(recall_score(truth, guess)),
    }


def label_figures(gold: Path, answers: Path) -> dict[str, float]:
    """Score labels by accuracy."""
    truth, guess = read_lines_plainly(gold), read_lines_plainly(answers)
    correct = sum(int(one == other) for one, other in zip(guess, truth, strict=True))
    return {"accuracy": 100 * correct / len(guess)}


def pair_figures(gold: Path, answers: Path) -> dict[str, float]:
    """Score mined pairs as sets."""
    truth = {tuple(line.split("\t")) for line in read_lines_plainly(gold)}
    guess = {tuple(line.split("\t")) for line in read_lines_plainly(answers)}
    correct = len(truth & guess)
    precision, recall = correct / len(guess), correct / len(truth)
    f1 = 2 * precision * recall / (precision + recall) if correct else 0.0
    return {"f1": 100 * f1, "precision": 100 * precision, "recall": 100 * recall}


def squad_normaliser() -> Callable[[str], str]:
    """Return SQuAD 1.1's normalisation, character by character."""
    punctuation = set(string.punctuation)

    def normalise(text: str) -> str:
        bare = "".join(letter for letter in text.lower() if letter not in punctuation)
        return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())

    return normalise


def mlqa_normaliser(language: str) -> Callable[[str], str]:
    """Return MLQA's normalisation, character by character."""
    every = map(chr, range(sys.maxunicode))
    punctuation = {c for c in every if unicodedata.category(c).startswith("P")}
    punctuation |= set(string.punctuation)
    words = MLQA_ARTICLES.get(language)
    pattern = rf"\b({words.replace(' ', '|')})\b" if words else None
    if language == "ar":
        pattern = "ال"

    def normalise(text: str) -> str:
        bare = "".join(letter for letter in text.lower() if letter not in punctuation)
        if pattern:
            bare = re.sub(pattern, " ", bare)
        if language == "zh":
            pieces: list[str] = []
            rest = ""
            for letter in bare:
                if re.search("[\u4e00-\u9fa5]", letter):
                    pieces.extend([*rest.split(), letter])
                    rest = ""
                else:
                    rest += letter
            return " ".join([*pieces, *rest.split()])
        return " ".join(bare.split())

    return normalise


def answer_figures(gold: Path, answers: Path, normalise: Callable[[str], str]) -> dict[str, float]:
    """Score answers, normalising both sides anew for each comparison."""

    def f1(one: str, other: str) -> float:
        first, second = normalise(one).split(), normalise(other).split()
        same = sum((Counter(first) & Counter(second)).values())
        if not same:
            return 0.0
        precision, recall = same / len(first), same / len(second)
        return 2 * precision * recall / (precision + recall)

    guess = json.loads(answers.read_text(encoding="utf-8"))
    total = exact = 0
    overlap = 0.0
    for article in json.loads(gold.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                total += 1
                if question["id"] not in guess:
                    continue
                answer = guess[question["id"]]
                texts = [each["text"] for each in question["answers"]]
                exact += max(normalise(answer) == normalise(text) for text in texts)
                overlap += max(f1(answer, text) for text in texts)
    return {"exact_match": 100 * exact / total, "f1": 100 * overlap / total}


def score_plainly(submission: Path) -> Figures:
    """Score a submission as the official script does."""
    from xharness.scoring.folder import file_name
    from xharness.specs.registry import benchmark_of_suite

    warnings.simplefilter("ignore")
    figures: Figures = {}
    for task in benchmark_of_suite("xtreme").tasks:
        by_figure: dict[str, dict[str, float]] = figures.setdefault(task.name, {})
        for language in task.languages:
            name = file_name(task, language)
            gold, answers = submission / "labels" / name, submission / "predictions" / name
            match task.metric:
                case "pos_f1" | "entity_f1":
                    scores = tag_figures(gold, answers)
                case "accuracy":
                    scores = label_figures(gold, answers)
                case "mined_pairs":
                    scores = pair_figures(gold, answers)
                case "squad":
                    scores = answer_figures(gold, answers, squad_normaliser())
                case "mlqa":
                    scores = answer_figures(gold, answers, mlqa_normaliser(language))
            for figure, value in scores.items():
                by_figure.setdefault(figure, {})[language] = value
    return figures


def score_ours(submission: Path) -> Figures:
    """Score a submission by this project's scorer."""
    from xharness.scoring import score_submission
    from xharness.specs.registry import benchmark_of_suite

    suite = benchmark_of_suite("xtreme")
    scores = score_submission(submission / "predictions", submission / "labels", suite)
    return {name: task["metrics"] for name, task in scores["tasks"].items()}


@dataclass(frozen=True)
class Measurement:
    """What one process took.

    Attributes:
        cpu: User and system seconds.
        wall: Seconds from start to end.
        memory: Peak resident memory in MiB.
        figures: What it computed.
    """

    cpu: float
    wall: float
    memory: float
    figures: Figures


def measure(which: str, submission: Path) -> Measurement:
    """Run one of the two scorers as a process of its own."""
    command = [sys.executable, __file__, "--only", which, "--submission", str(submission)]
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{which} failed with exit code {process.returncode}")
    wall = time.perf_counter() - begin
    kibibytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return Measurement(usage.ru_utime + usage.ru_stime, wall, kibibytes / 1024, json.loads(output))


def largest_difference(ours: Figures, plain: Figures) -> float:
    """Return the largest difference in percent over all figures that the plain scorer computes."""
    return max(
        abs(ours[task][figure][language] - value)
        for task, figures in plain.items()
        for figure, languages in figures.items()
        for language, value in languages.items()
    )


def benchmark(submission: Path, repeat: int) -> None:
    """Run both scorers in turn and print what they took."""
    runs: dict[str, list[Measurement]] = {"ours": [], "baseline": []}
    print(f"{'scorer':<10}{'CPU s':>9}{'wall s':>9}{'peak MiB':>10}")
    for _ in range(repeat):
        for which, done in runs.items():
            run = measure(which, submission)
            done.append(run)
            print(f"{which:<10}{run.cpu:>9.2f}{run.wall:>9.2f}{run.memory:>10.0f}", flush=True)
    ours, plain = (median(run.cpu for run in done) for done in runs.values())
    difference = largest_difference(runs["ours"][0].figures, runs["baseline"][0].figures)
    print(f"median CPU: ours {ours:.2f} s, baseline {plain:.2f} s, ratio {plain / ours:.1f}")
    print(f"largest difference between the two: {difference:.1e} percent")
    if difference > 1e-9:
        raise SystemExit("the two scorers disagree")


def main() -> None:
    """Parse the command line; ``--only`` is how the script calls itself."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--submission", type=Path, help="folder with labels/ and predictions/")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the one made (1.0)")
    parser.add_argument("--repeat", type=int, default=2, help="runs of each scorer (2)")
    parser.add_argument("--only", choices=("ours", "baseline"), help="run one, print its figures")
    arguments = parser.parse_args()
    if arguments.only:
        scorer: Any = score_ours if arguments.only == "ours" else score_plainly
        json.dump(scorer(arguments.submission), sys.stdout)
    elif arguments.submission:
        benchmark(arguments.submission, arguments.repeat)
    else:
        with tempfile.TemporaryDirectory() as folder:
            maker = Path(__file__).with_name("make_submission.py")
            scale = str(arguments.scale)
            subprocess.run(
                [sys.executable, str(maker), "--output", folder, "--scale", scale], check=True
            )
            benchmark(Path(folder), arguments.repeat)


if __name__ == "__main__":
    main()
