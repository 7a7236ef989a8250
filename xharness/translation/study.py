"""The report of the translation study: what tying and DeFINE save, and what they cost in quality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tabulate import tabulate

from xharness.analysis.statements import (
    NOT_RUN,
    Statement,
    Verdict,
    over_seeds,
    statement_table,
    verdict_over_seeds,
)

#: BLEU points within which two models count as alike; set before any was run.
ALIKE = 1.0


@dataclass(frozen=True)
class StudyResult:
    """One model trained and scored with one seed.

    Attributes:
        name: The configuration's.
        seed: Its seed.
        raw: All of the result file.
    """

    name: str
    seed: int
    raw: Mapping[str, Any]

    @property
    def bleu(self) -> float:
        """Corpus BLEU of the test split in percent."""
        return float(self.raw["test"]["bleu"])

    @property
    def chrf(self) -> float:
        """Corpus chrF of the test split in percent."""
        return float(self.raw["test"]["chrf"])

    @property
    def parameters(self) -> int:
        """All parameters."""
        return int(self.raw["parameters"]["total"])

    @property
    def table(self) -> int:
        """V x d: what one full-width matrix of the vocabulary has."""
        return int(self.raw["vocabulary"]["pieces"]) * int(self.raw["config"]["model"]["width"])


@dataclass(frozen=True)
class Claim:
    """A model needs fewer parameters than another at a like or better BLEU.

    Attributes:
        statement: In our words, with the source.
        smaller: The model with fewer parameters.
        larger: The other one.
        tables: Full-width matrices that must be saved exactly; ``None`` where any saving will do.
    """

    statement: str
    smaller: str
    larger: str
    tables: int | None


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "Decoder tying saves V x d at a like BLEU (Press and Wolf, section 4)",
        "decoder",
        "no-tying",
        1,
    ),
    Claim(
        "Three-way tying saves 2 V x d at a like BLEU (Press and Wolf, section 4)",
        "three-way",
        "no-tying",
        2,
    ),
    Claim(
        "DeFINE inputs save parameters at a like or better BLEU (Mehta et al., translation)",
        "define",
        "no-tying",
        None,
    ),
    Claim(
        "So they do with the classifier tied to the decoder's map",
        "define-decoder",
        "decoder",
        None,
    ),
)


def judge(claim: Claim, results: Sequence[StudyResult]) -> Statement:
    """Say whether a claim shows: what is saved, and what it costs by the seeds of each.

    What is saved is exact, so that a wrong saving refutes the claim whatever the scores. Scores are held to the rule of
    all studies, the larger model ``ALIKE`` points lower: alike or better is seen, worse is the reverse.
    """
    small, large = (
        [result for result in results if result.name == name]
        for name in (claim.smaller, claim.larger)
    )
    if not small or not large:
        return Statement(claim.statement, "cannot be tried", NOT_RUN)
    saved = large[0].parameters - small[0].parameters
    figures = (
        f"{saved:,} parameters fewer, {100 * saved / large[0].parameters:.1f} %"
        if saved > 0
        else f"{-saved:,} parameters more"
    )
    wanted = None if claim.tables is None else claim.tables * large[0].table
    said: Verdict
    if saved <= 0 or (wanted is not None and saved != wanted):
        said = "the reverse is seen"
        if wanted is not None:
            figures += f", not {claim.tables} V x d = {wanted:,}"
    else:
        said = verdict_over_seeds(
            [one.bleu for one in small], [other.bleu - ALIKE for other in large]
        )
    scores = ", ".join(
        f"{name} {over_seeds([one.bleu for one in found], 2)}"
        for name, found in ((claim.smaller, small), (claim.larger, large))
    )
    return Statement(claim.statement, said, f"{figures}; BLEU {scores}")


def judge_all(results: Sequence[StudyResult]) -> list[Statement]:
    """Judge every claim."""
    return [judge(claim, results) for claim in CLAIMS]


def render_report(results: Sequence[StudyResult], order: Sequence[str], baseline: str) -> str:
    """Return the page in markdown.

    Args:
        results: All that were run.
        order: Names of all configurations, in the table's order.
        baseline: The one that reductions are of.
    """
    seeds = sorted({result.seed for result in results})
    parts = [
        "# Weight tying in translation, at small scale",
        "English to German captions (Multi30k), one small Transformer for each way of tying its embeddings: three-way "
        "weight tying of Press and Wolf (arXiv 1608.05859, section 4), and the DeFINE input of Mehta et al. (arXiv "
        "1911.12385). All share the data, the joint vocabulary and the regime. Seeds: "
        f"{', '.join(map(str, seeds)) or 'none yet'}; mean ± standard deviation where there are several.",
        "## Models",
        _model_table(results, order, baseline),
        *_signatures(results),
        "Parameters are all of the model's; a shared matrix counts once. The dev loss is the cross-entropy in nats a "
        "piece, without smoothing, of the weights that were scored. A step's time is processor time.",
        "## Claims",
        "A claim is *seen* when the parameters are saved and each seed's BLEU is above that of each seed of the "
        f"larger model less {ALIKE:g} point, *the reverse is seen* when each is below, or the saving is another. "
        "Anything else, and one seed alone, tells nothing apart.",
        statement_table(judge_all(results)),
        "## Training",
        _training_table(results, order),
        "## Again",
        "```text\npython scripts/reproduce_translation.py --data MULTI30K\n```",
        "Configurations: `task_specs/translation/`; one file a result: `leaderboards/translation_study/`.",
    ]
    return "\n\n".join(parts) + "\n"


def _model_table(results: Sequence[StudyResult], order: Sequence[str], baseline: str) -> str:
    whole = next((r.parameters for r in results if r.name == baseline), None)
    rows = []
    for name in order:
        found = [result for result in results if result.name == name]
        if not found:
            rows.append([name, *["-"] * 8])
            continue
        size = found[0].parameters
        fewer = "-" if whole is None else f"{100 * (whole - size) / whole:.1f} %"
        rows.append(
            [
                name,
                f"{size:,}",
                f"{found[0].raw['parameters']['trained']:,}",
                fewer,
                over_seeds([r.bleu for r in found], 2),
                over_seeds([r.chrf for r in found], 2),
                over_seeds([float(r.raw["training"]["dev_loss"]) for r in found], 3),
                over_seeds(
                    [1000 * float(r.raw["training"]["cpu_seconds_a_step"]) for r in found], 0
                ),
                str(len(found)),
            ]
        )
    header = ["model", "parameters", "trained", "fewer", "BLEU", "chrF"]
    header += ["dev loss", "ms a step", "n"]
    return tabulate(rows, header, "pipe", disable_numparse=True)


def _signatures(results: Sequence[StudyResult]) -> list[str]:
    lines = []
    for metric, title in (("bleu", "BLEU"), ("chrf", "chrF")):
        signatures = sorted({str(result.raw["test"][f"{metric}_signature"]) for result in results})
        if signatures:
            lines.append(f"{title}: " + "; ".join(f"`{signature}`" for signature in signatures))
    return ["  \n".join(lines)] if lines else []


def _training_table(results: Sequence[StudyResult], order: Sequence[str]) -> str:
    rows = []
    for result in sorted(results, key=lambda r: (order.index(r.name), r.seed)):
        training = result.raw["training"]
        greedy = [
            f"{epoch['dev_bleu']:.1f} ({epoch['number']})"
            for epoch in training["epochs"]
            if epoch["dev_bleu"] is not None
        ]
        rows.append(
            [
                result.name,
                str(result.seed),
                str(len(training["epochs"])),
                f"{training['steps']:,}",
                f"{training['cpu_seconds'] / 60:.0f}",
                f"{training['seconds'] / 60:.0f}",
                training["chosen"],
                ", ".join(greedy) or "-",
            ]
        )
    header = ["model", "seed", "epochs", "steps", "processor min", "wall min", "weights"]
    header.append("greedy dev BLEU (epoch)")
    return tabulate(rows, header, "pipe", disable_numparse=True)
