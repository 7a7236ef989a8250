"""The study of DeFINE: deep, factorised inputs of a language model (Mehta et al., ICLR 2020, arXiv 1911.12385)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from xharness.analysis.statements import (
    MEANING,
    NOT_RUN,
    Statement,
    Verdict,
    lower_over_seeds,
    over_seeds,
    statement_table,
    verdict_over_seeds,
)
from xharness.files import write_json, write_text
from xharness.language_modelling.model import LanguageModel
from xharness.language_modelling.study import Study, read_results
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

#: In this order, so that what is compared first is there first.
NAMES = (
    "adaptive",
    "define-3",
    "standard",
    "hierarchical-3",
    "grouped-3",
    "define-3-unmixed",
    "linear-3",
    "define-7",
)

#: How far a perplexity may be above one that it is like, in percent: the paper calls 44.87 and 44.12 alike, 1.7 %.
_ALIKE = 2.0


def measure_unit(model: LanguageModel, splits: Splits, folder: Path) -> Mapping[str, Any]:
    """Count the parameters between looked-up vector and sequence model, and check the cached table against them."""
    unit = model.input.unit
    count = sum(one.numel() for one in unit.parameters()) if isinstance(unit, nn.Module) else 0
    ids = torch.arange(0, model.vocabulary, 97, device=next(model.parameters()).device)
    with torch.no_grad():
        computed = model.input(ids)
        with model.input.cached(model.vocabulary):
            gap = float((model.input(ids) - computed).abs().max())
    return {"unit_parameters": count, "cached_table_gap": gap}


def write_define_report(study: Study) -> None:
    """Write the page.

    Raises:
        InputError: A result cannot be used, or the page cannot be written.
    """
    results = read_results(study)
    found = findings(results)
    write_json(study.results / "statements.json", [one.as_json() for one in found])
    parts = [
        "# DeFINE at small scale",
        "The comparisons of Mehta et al. (ICLR 2020, arXiv 1911.12385): a word is looked up as a narrow vector, which "
        "a deep unit of group transformations expands and reduces to the width of the model. Against it: one table of "
        "full width, adaptive input and softmax with a linear map, and units with parts taken away. Input and "
        "classifier are tied in all of them; the classifier stays at the narrow width.",
        f"{text_line(results)} {setting_line(study, results)}",
        "The paper trains LSTMs and Transformer-XL on the 103M words of WikiText-103 with a vocabulary of 260,000, n = "
        "64 to 512 and k = 1024 to 4096; all of that is scaled down here, and its ablations are LSTMs with 7 layers of "
        "DeFINE where these are Transformers with 3. The figures compare with each other, not with the paper's.",
        "## Models",
        FIGURES,
        model_table(study, results),
        "## Findings of the paper",
        f"{MEANING} A perplexity up to {_ALIKE:g} % above another is like it.",
        statement_table(found),
        "## The unit",
        "Parameters between the looked-up vector and the model, and the largest difference between vectors from the "
        "unit and from the table that it leaves behind after training, which makes its inference a plain lookup.",
        _unit_table(study, results),
        "## Train / dev perplexity by epoch",
        epoch_table(study, results),
        "## Again",
        "```text\npython scripts/reproduce_define.py --data TEXTS\n```",
        f"Configurations: `task_specs/language_modelling/define/`; one file a result: `{study.results.name}/`.",
    ]
    write_text(study.page, "\n\n".join(parts) + "\n")


def findings(results: Results) -> list[Statement]:
    """Hold the results against the paper's statements; perplexities are on the test text."""
    tests = {
        name: (name, [one.perplexity("test") for one in found]) for name, found in results.items()
    }
    times = {
        name: (name, [one.step_milliseconds for one in found]) for name, found in results.items()
    }
    return [
        _fewer_and_alike(
            "Adaptive input and softmax need fewer parameters than a full table at like perplexity "
            "(32.6M, 44.9 against 92.2M, 44.1)",
            results,
            "adaptive",
            "standard",
        ),
        lower_over_seeds(
            "An adaptive step is faster than one of the full softmax (297 against 1150 ms)",
            times["adaptive"],
            times["standard"],
        ),
        lower_over_seeds(
            "DeFINE of 3 layers lowers the adaptive model's perplexity (LSTM: 41.2 against 44.9; Transformer-XL with "
            "n = 64: 29.1 against 33.7)",
            tests["define-3"],
            tests["adaptive"],
        ),
        lower_over_seeds(
            "It is also below the full table (41.2 against 44.1)",
            tests["define-3"],
            tests["standard"],
        ),
        lower_over_seeds(
            "7 layers are better than 3 (38.0 against 41.2, there with a wider n too)",
            tests["define-7"],
            tests["define-3"],
        ),
        lower_over_seeds(
            "The hierarchical transformation is better than constant groups (40.9 against 45.6)",
            tests["hierarchical-3"],
            tests["grouped-3"],
        ),
        _fewer_and_alike(
            "The hierarchical transformation is like linear layers with fewer parameters "
            "(40.7M, 40.9 against 42.9M, 41.2)",
            results,
            "hierarchical-3",
            "linear-3",
        ),
        lower_over_seeds(
            "Joining the input to each layer is better than not (38.9 against 40.9)",
            tests["define-3-unmixed"],
            tests["hierarchical-3"],
        ),
        lower_over_seeds(
            "Interleaving it in groups is better still (38.0 against 38.9)",
            tests["define-3"],
            tests["define-3-unmixed"],
        ),
    ]


def _fewer_and_alike(statement: str, results: Results, smaller: str, larger: str) -> Statement:
    one, other = results[smaller], results[larger]
    if not one or not other:
        return Statement(statement, "cannot be tried", NOT_RUN)
    perplexities = [[run.perplexity("test") for run in runs] for runs in (one, other)]
    here = "; ".join(
        f"{name} {runs[0].parameters / 1e6:.2f}M, {over_seeds(values)}"
        for name, runs, values in zip((smaller, larger), (one, other), perplexities, strict=True)
    )
    alike = [value * (1 + _ALIKE / 100) for value in perplexities[1]]
    said: Verdict = verdict_over_seeds(alike, perplexities[0])  # lower is better
    if one[0].parameters >= other[0].parameters:
        said = "the reverse is seen"
    return Statement(statement, said, here)


def _unit_table(study: Study, results: Results) -> str:
    rows = []
    for name in study.names:
        if results[name]:
            raw = results[name][0].raw
            gaps = [float(one.raw["cached_table_gap"]) for one in results[name]]
            rows.append([name, f"{raw['unit_parameters']:,}", f"{max(gaps):.1g}"])
    return table(["model", "parameters of the map", "largest difference"], rows)
