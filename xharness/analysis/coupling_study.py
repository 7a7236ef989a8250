"""The report on the study of embedding coupling: tables, curves, and which of the paper's findings show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from tabulate import tabulate

from xharness.analysis.statements import (
    MEANING,
    Statement,
    higher_over_seeds,
    over_seeds,
    statement_table,
)
from xharness.files import write_json, write_text

#: The tasks that are scored, with their titles.
TASKS: dict[str, str] = {"udpos": "POS", "panx": "NER", "tatoeba": "Tatoeba", "xnli": "XNLI"}

#: The findings as JSON, in the folder of the results.
STATEMENTS = "statements.json"


@dataclass(frozen=True)
class Result:
    """One encoder pre-trained and scored with one seed.

    Attributes:
        name: The configuration's.
        seed: The seed of both.
        raw: All of the result file.
    """

    name: str
    seed: int
    raw: Mapping[str, Any]

    def score(self, task: str) -> float:
        """Return a task's score in percent, the mean over languages."""
        languages = self.raw["tasks"][task]["languages"]
        return mean(_main_figure(figures) for figures in languages.values())

    @property
    def average(self) -> float:
        """Mean over the tasks, in percent."""
        return mean(self.score(task) for task in TASKS)

    @property
    def held_out_loss(self) -> float:
        """Mean masked-LM loss over languages, in nats."""
        return float(self.raw["pretraining"]["held_out"]["mean_loss"])

    @property
    def held_out_accuracy(self) -> float:
        """Mean masked-LM accuracy over languages, in percent."""
        return float(self.raw["pretraining"]["held_out"]["mean_accuracy"])

    @property
    def minutes(self) -> float:
        """Wall time of the pre-training."""
        return float(self.raw["pretraining"]["seconds"]) / 60

    def parameters(self, part: str) -> int:
        """Return ``pretraining`` or ``fine_tuning`` parameters."""
        return int(self.raw["pretraining"]["parameters"][part])


@dataclass(frozen=True)
class Finding:
    """A statement of the paper: one encoder is better than another by some figure.

    Attributes:
        statement: In our words, with the paper's numbers.
        better: The encoder that the paper finds better.
        worse: The other one.
        figure: What is compared; higher is better.
    """

    statement: str
    better: str
    worse: str
    figure: Callable[[Result], float] = lambda result: result.average


FINDINGS: tuple[Finding, ...] = (
    Finding(
        "Decoupling at the same size helps a little (Table 2: 62.7 against 62.3)",
        "decoupled",
        "coupled",
    ),
    Finding(
        "Small input, large output reaches large input, small output with fewer parameters "
        "(Table 3: 60.2 against 60.1)",
        "in32-out128",
        "in128-out32",
    ),
    Finding(
        "At equal fine-tuning size small input, large output is better (Tables 3 and 6: 66.2 against 60.1)",
        "reinvest-layers",
        "in128-out32",
    ),
    Finding(
        "A larger output embedding helps at constant fine-tuning size (Table 4: 60.2 against 56.6)",
        "in32-out128",
        "in32-out32",
    ),
    Finding(
        "An output embedding larger than the encoder helps further (Table 4: 61.8 against 60.2)",
        "in32-out512",
        "in32-out128",
    ),
    Finding(
        "Masked-LM accuracy rises with the output embedding (Table 8: 60.7 against 59.0)",
        "in32-out128",
        "in32-out32",
        lambda result: result.held_out_accuracy,
    ),
    Finding(
        "And further beyond the encoder's width (Table 8: 62.3 against 60.7)",
        "in32-out512",
        "in32-out128",
        lambda result: result.held_out_accuracy,
    ),
    Finding(
        "What a small input saves, spent on layers, beats the coupled encoder (Table 6: 66.2 against 62.3)",
        "reinvest-layers",
        "coupled",
    ),
    Finding(
        "Spent on width it beats it too (Table 6: 64.5 against 62.3)",
        "reinvest-width",
        "coupled",
    ),
    Finding(
        "Layers are the better investment (Table 6: 66.2 against 64.5)",
        "reinvest-layers",
        "reinvest-width",
    ),
    Finding(
        "A larger output embedding beats extra layers that are dropped (Tables 4 and 5: 60.2 against 58.0)",
        "in32-out128",
        "extra-layers",
    ),
)


def judge(finding: Finding, results: Sequence[Result]) -> Statement:
    """Say whether a finding shows, and with which figures: means and standard deviations over seeds."""
    better, worse = (
        (name, [finding.figure(result) for result in results if result.name == name])
        for name in (finding.better, finding.worse)
    )
    return higher_over_seeds(finding.statement, better, worse)


def write_report(
    results: Sequence[Result],
    order: Sequence[str],
    into: Path,
    curves: Path,
    frequencies: Mapping[str, float],
) -> None:
    """Write the markdown report, the figure of the training curves, and the findings as JSON beside it.

    Args:
        results: All that were run.
        order: Names of all configurations, in the table's order.
        into: The report.
        curves: The figure, in a folder beside or below the report's.
        frequencies: Held-out loss by language of guessing by frequency; may be empty.
    """
    from xharness.pretraining.curves import draw_curves

    found = {name: [r for r in results if r.name == name] for name in order}
    seeds = sorted({result.seed for result in results})
    judged = [judge(finding, results) for finding in FINDINGS]
    write_json(curves.with_name(STATEMENTS), [one.as_json() for one in judged])
    parts = [
        "# Embedding coupling at small scale",
        "The comparisons of RemBERT (Chung et al., arXiv 2010.12821) with encoders of a few million parameters. "
        "Each is pre-trained from scratch on the same text in four languages, for the same steps, then fine-tuned "
        "on English and scored in all of them. Scores are percent, means over languages; mean ± standard deviation "
        f"over seeds ({', '.join(map(str, seeds)) or 'none yet'}), n seeds.",
        "## Encoders",
        _encoder_table(found),
        "## Findings of the paper",
        f"{MEANING} The figure is the average over the four tasks, or masked-LM accuracy where the statement is about "
        "that.",
        statement_table(judged),
        _summary(judged),
        "## Scores by language",
        *(_language_table(found, task) for task in TASKS),
    ]
    if results:
        draw_curves(
            {name: _curve(found[name][0].raw["curve"]) for name in order if found[name]},
            curves,
        )
        parts += [
            "## Training curves",
            f"Training loss thin, held-out loss thick; seed {seeds[0]}.{_without_context(frequencies)}",
            f"![Masked-LM loss over steps]({curves.relative_to(into.parent)})",
        ]
    parts += [
        "## Again",
        "```text\npython scripts/reproduce_coupling.py --text TEXTS --data XTREME --dtype bfloat16\n```",
        "Configurations: `task_specs/pretraining/coupling/`; one file a result: `leaderboards/coupling_study/`.",
    ]
    write_text(into, "\n\n".join(parts) + "\n")


def _encoder_table(found: Mapping[str, Sequence[Result]]) -> str:
    rows = []
    for name, results in found.items():
        if not results:
            rows.append([name, *["-"] * (len(TASKS) + 6)])
            continue
        first = results[0]
        rows.append(
            [
                name,
                f"{first.parameters('pretraining') / 1e6:.2f}M",
                f"{first.parameters('fine_tuning') / 1e6:.2f}M",
                over_seeds([result.held_out_loss for result in results], 3),
                over_seeds([result.held_out_accuracy for result in results]),
                *(over_seeds([result.score(task) for result in results]) for task in TASKS),
                over_seeds([result.average for result in results]),
                str(len(results)),
            ]
        )
    header = ["encoder", "pre-training", "fine-tuning", "held-out loss", "held-out accuracy"]
    header += [*TASKS.values(), "average", "n"]
    return tabulate(rows, header, "pipe", disable_numparse=True)


def _without_context(frequencies: Mapping[str, float]) -> str:
    if not frequencies:
        return ""
    return (
        f" The frequencies of each language's pieces alone give a loss of {mean(frequencies.values()):.3f}: what is "
        "not far below it has hardly begun to learn from context, and scores accordingly."
    )


def _summary(judged: Sequence[Statement]) -> str:
    """Say in a sentence how many of the findings show."""
    verdicts = [one.verdict for one in judged]
    return (
        f"Of {len(judged)} findings {verdicts.count('seen')} are seen at this scale, of "
        f"{verdicts.count('the reverse is seen')} the reverse, {verdicts.count('not told apart')} are not told apart, "
        f"and {verdicts.count('cannot be tried')} were not run."
    )


def _language_table(found: Mapping[str, Sequence[Result]], task: str) -> str:
    rows, languages = [], []
    for name, results in found.items():
        if not results:
            continue
        tasks = [result.raw["tasks"][task]["languages"] for result in results]
        languages = list(tasks[0])
        rows.append(
            [
                name,
                *(
                    f"{mean(_main_figure(one[code]) for one in tasks):.1f}"
                    if all(one[code] for one in tasks)
                    else "-"
                    for code in languages
                ),
            ]
        )
    table = tabulate(rows, ["encoder", *languages], "pipe", disable_numparse=True)
    return f"### {TASKS[task]}\n\n{table}"


def _main_figure(figures: Mapping[str, float]) -> float:
    return figures["accuracy"] if "accuracy" in figures else figures["f1"]


def _curve(curve: Mapping[str, Sequence[Mapping[str, float]]]) -> list[dict[str, Any]]:
    return [{"kind": kind, **line} for kind in ("train", "dev") for line in curve[kind]]
