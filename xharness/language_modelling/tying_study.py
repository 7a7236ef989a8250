"""The study of weight tying and projection regularisation (Press and Wolf, EACL 2017, arXiv 1608.05859)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file

from xharness.analysis.statements import (
    MEANING,
    NOT_RUN,
    Statement,
    Verdict,
    higher_over_seeds,
    lower_over_seeds,
    over_seeds,
    statement_table,
    verdict_over_seeds,
)
from xharness.analysis.word_similarity import SimilaritySet
from xharness.errors import InputError
from xharness.files import write_json, write_text
from xharness.language_modelling.embedding_quality import agreement, rate_table
from xharness.language_modelling.model import LanguageModel
from xharness.language_modelling.study import Measure, Result, Study, read_json, read_results
from xharness.language_modelling.study_page import (
    FIGURES,
    Results,
    epoch_table,
    model_table,
    setting_line,
    table,
    text_line,
)
from xharness.language_modelling.text import Splits

NAMES = ("small", "small-wt", "small-pr", "small-wt-pr")

#: An untied model and the tied one that its embeddings are compared with.
_PAIRS = (("small", "small-wt"), ("small-pr", "small-wt-pr"))

_AGREEMENTS = {
    "input_output": "input, output",
    "input_tied": "input, tied",
    "output_tied": "output, tied",
}


def rating(sets: Sequence[SimilaritySet]) -> Measure:
    """Return what rates a trained model's embeddings by human judgements of similarity."""

    def measure(model: LanguageModel, splits: Splits, _: Path) -> Mapping[str, Any]:
        tables = {"output": model.output_table().cpu().numpy()}
        if model.config.embedding.tied:
            tables = {"tied": tables["output"]}
        else:
            tables = {"input": model.input_table().cpu().numpy(), **tables}
        rated = {kind: rate_table(one, splits.vocabulary, sets) for kind, one in tables.items()}
        return {"word_similarity": rated}

    return measure


def compare_embeddings(study: Study, seed: int) -> None:
    """Measure how far the embeddings of an untied and a tied model of one seed agree, if both were trained here."""
    path = _agreement_path(study, seed)
    found = dict(read_json(path)) if path.exists() else {}
    for untied, tied in _PAIRS:
        weights = [study.folder(name, seed) / "best.safetensors" for name in (untied, tied)]
        finished = all(study.result(name, seed).exists() for name in (untied, tied))
        if untied in found or not finished or not all(weight.is_file() for weight in weights):
            continue
        own, shared = (load_file(weight) for weight in weights)
        first, second, third = (
            own["input.lookup.weight"],
            own["classifier.weight"],
            shared["input.lookup.weight"],
        )
        pairs: dict[str, tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]] = {
            "input_output": (first, second),
            "input_tied": (first, third),
            "output_tied": (second, third),
        }
        found[untied] = {name: agreement(*pair).as_json() for name, pair in pairs.items()}
    if found:
        write_json(path, found)


def _agreement_path(study: Study, seed: int) -> Path:
    return study.results / f"agreement-{seed}.json"


def write_tying_report(study: Study) -> None:
    """Write the page.

    Raises:
        InputError: A result cannot be used, or the page cannot be written.
    """
    results = read_results(study)
    agreements = [
        read_json(path)
        for path in (
            sorted(study.results.glob("agreement-*.json")) if study.results.is_dir() else ()
        )
    ]
    found = findings(study, results, agreements)
    write_json(study.results / "statements.json", [one.as_json() for one in found])
    parts = [
        "# Weight tying and projection regularisation at small scale",
        "The comparisons of Press and Wolf (EACL 2017, arXiv 1608.05859): a word-level LSTM without dropout, with two "
        "embedding matrices or one for input and output (WT), with and without a penalised square map before the "
        "classifier (PR: 0.15 / 2 times its squared Frobenius norm, as in the authors' code, but without the bias that "
        "the map has there, with which SGD at rate 1 does not get past the frequencies of words here).",
        f"{text_line(results)} {setting_line(study, results)}",
        "The paper's small model has a width of 200 and trains for 13 epochs, 30,000 steps, on the 930,000 words of "
        "the Penn Treebank with a vocabulary of 10,000; width, text, vocabulary and epochs are scaled down here, so "
        "the figures compare with each other, not with the paper's.",
        "## Models",
        FIGURES,
        model_table(study, results),
        "## Findings of the paper",
        MEANING,
        statement_table(found),
        "## Train / dev perplexity by epoch",
        epoch_table(study, results),
        "## Embeddings and human ratings",
        "Correlation x 100 of word pairs' similarity with human ratings, by cosine and dot product, Spearman's and "
        "Pearson's. A pair with a word outside the vocabulary is left out.",
        _similarity_table(results),
        "## Agreement between embeddings",
        "Correlation x 100 of the cosines of all pairs of the 1,000 most frequent words in one embedding with those in "
        "the other; input and output are of the untied model, tied of the model with one matrix and the same seed.",
        _agreement_table(agreements),
        "## Again",
        "```text\npython scripts/reproduce_tying.py --data TEXTS --words SETS\n```",
        f"Configurations: `task_specs/language_modelling/tying/`; one file a result: `{study.results.name}/`.",
    ]
    write_text(study.page, "\n\n".join(parts) + "\n")


def findings(
    study: Study, results: Results, agreements: Sequence[Mapping[str, Any]]
) -> list[Statement]:
    """Hold the results against the paper's statements."""

    def perplexities(name: str, split: str) -> tuple[str, list[float]]:
        return name, [result.perplexity(split) for result in results[name]]

    compared = (
        ("Tying lowers {} perplexity", 1, 0, ("117.5 against 120.7", "112.4 against 114.5")),
        ("Projection regularisation lowers {} perplexity", 2, 0, ("116.0 against 120.7", "111.7 against 114.5")),
        ("It lowers that of the tied model on {}", 3, 1, ("104.9 against 117.5", "100.9 against 112.4")),
    )  # fmt: skip
    found = [
        lower_over_seeds(
            f"{statement.format(split)} ({figures})",
            perplexities(NAMES[better], split),
            perplexities(NAMES[worse], split),
        )
        for statement, better, worse, of_paper in compared
        for split, figures in zip(("dev", "test"), of_paper, strict=True)
    ]
    found += [_best_of_all(results, split) for split in ("dev", "test")]
    found.append(_saving(study, results))
    found += [
        higher_over_seeds(
            f"{name}: the output embedding is nearer to human ratings than the input one (Spearman, cosine, mean over "
            "the sets)",
            ("output", [_mean_spearman(one, "output") for one in results[name]]),
            ("input", [_mean_spearman(one, "input") for one in results[name]]),
        )
        for name, _ in _PAIRS
    ]
    found += [
        higher_over_seeds(
            f"{tied}: the tied embedding resembles the output embedding of {untied} more than its input one "
            "(Spearman)",
            ("output", _spearman(agreements, untied, "output_tied")),
            ("input", _spearman(agreements, untied, "input_tied")),
        )
        for untied, tied in _PAIRS
    ]
    return found


def _best_of_all(results: Results, split: str) -> Statement:
    runs = {name: [one.perplexity(split) for one in results[name]] for name in NAMES}
    verdicts = {verdict_over_seeds(runs[name], runs[NAMES[-1]]) for name in NAMES[:-1]}
    said: Verdict = "not told apart"
    figures = ", ".join(f"{name} {over_seeds(runs[name])}" for name in reversed(NAMES))
    if "cannot be tried" in verdicts:
        said, figures = "cannot be tried", NOT_RUN
    elif verdicts == {"seen"}:
        said = "seen"
    elif "the reverse is seen" in verdicts:
        said = "the reverse is seen"
    return Statement(f"Both together are best of all four on {split}", said, figures)


def _saving(study: Study, results: Results) -> Statement:
    statement = "Tying saves vocabulary times width parameters (2M of 4.65M)"
    untied, tied = results["small"], results["small-wt"]
    if not untied or not tied:
        return Statement(statement, "cannot be tried", NOT_RUN)
    saved = untied[0].parameters - tied[0].parameters
    words = int(untied[0].raw["text"]["vocabulary"])
    width = study.config("small").width
    share = 100 * saved / untied[0].parameters
    here = f"{saved:,} saved, {words:,} x {width} = {words * width:,}; {share:.0f} %"
    said: Verdict = "seen" if saved == words * width else "the reverse is seen"
    return Statement(statement, said, here)


def _mean_spearman(result: Result, kind: str) -> float:
    """Return the mean over the sets for which it is defined."""
    rated = result.raw["word_similarity"][kind].values()
    known = [one["cosine"]["spearman"] for one in rated if one["cosine"]["spearman"] is not None]
    if not known:
        raise InputError(f"no rated pair is in the vocabulary of {result.name}", where="--words")
    return float(mean(known))


def _spearman(agreements: Sequence[Mapping[str, Any]], untied: str, pair: str) -> list[float]:
    values = (one[untied][pair]["spearman"] for one in agreements if untied in one)
    return [value for value in values if value is not None]


def _similarity_table(results: Results) -> str:
    rows = []
    for name in NAMES:
        if not results[name]:
            continue
        for kind, sets in results[name][0].raw["word_similarity"].items():
            for title, one in sets.items():
                of_seeds = [result.raw["word_similarity"][kind] for result in results[name]]
                all_seeds = [rated[title] for rated in of_seeds if title in rated]
                rows.append(
                    [
                        name,
                        kind,
                        title,
                        *(
                            _over_known([seed[by][of] for seed in all_seeds])
                            for by in ("cosine", "dot")
                            for of in ("spearman", "pearson")
                        ),
                        f"{one['pairs']:,} of {one['pairs'] + one['missing_pairs']:,}",
                        str(one["missing_words"]),
                    ]
                )
    header = ["model", "embedding", "set", "cosine, Spearman", "cosine, Pearson", "dot, Spearman"]
    return table([*header, "dot, Pearson", "pairs", "missing words"], rows)


def _agreement_table(agreements: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for untied, tied in _PAIRS:
        for pair, title in _AGREEMENTS.items():
            cells = [
                _over_known([one[untied][pair][of] for one in agreements if untied in one])
                for of in ("spearman", "pearson")
            ]
            rows.append([f"{untied}, {tied}", title, *cells])
    return table(["models", "embeddings", "Spearman", "Pearson"], rows)


def _over_known(values: Sequence[float | None]) -> str:
    return over_seeds([value for value in values if value is not None])
