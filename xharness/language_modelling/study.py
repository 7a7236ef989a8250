"""A study: configurations trained with a few seeds, each finished run one small JSON file that is never made again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from xharness.errors import InputError
from xharness.files import write_json
from xharness.language_modelling.config import (
    LanguageModelConfig,
    TextSettings,
    load_language_model_config,
)
from xharness.language_modelling.evaluation import evaluate
from xharness.language_modelling.kneser_ney import KneserNey
from xharness.language_modelling.model import LanguageModel
from xharness.language_modelling.text import SPLITS, Splits, read_splits
from xharness.language_modelling.training import EpochFigures, Training
from xharness.pretraining.config import differences

#: Words of the longest n-grams of the baseline, as in the paper's table.
ORDER = 5

#: Makes further figures of a trained model; gets the text and the folder of the run.
Measure = Callable[[LanguageModel, Splits, Path], Mapping[str, Any]]


@dataclass(frozen=True)
class Study:
    """What is compared, and where it lies.

    Attributes:
        configs: Folder of ``<name>.yaml``.
        names: Configurations, in the order of running and of tables.
        results: Folder of ``<name>-seed-<n>.json``; the page is the file beside it that ends in ``.md``.
        work: Folder of checkpoints.
    """

    configs: Path
    names: tuple[str, ...]
    results: Path
    work: Path

    @property
    def page(self) -> Path:
        """The report."""
        return self.results.with_suffix(".md")

    @property
    def baseline(self) -> Path:
        """The n-gram model's figures."""
        return self.results / "kneser-ney.json"

    def config(self, name: str) -> LanguageModelConfig:
        """Load a configuration."""
        return load_language_model_config(self.configs / f"{name}.yaml")

    def result(self, name: str, seed: int) -> Path:
        """Return a run's result file."""
        return self.results / f"{name}-seed-{seed}.json"

    def folder(self, name: str, seed: int) -> Path:
        """Return a run's folder of checkpoints."""
        return self.work / f"{name}-seed-{seed}"


@dataclass(frozen=True)
class Result:
    """A finished run.

    Attributes:
        raw: All of the result file.
    """

    raw: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The configuration's."""
        return str(self.raw["name"])

    @property
    def seed(self) -> int:
        """The seed."""
        return int(self.raw["seed"])

    @property
    def parameters(self) -> int:
        """Trained parameters."""
        return int(self.raw["parameters"]["total"])

    def perplexity(self, split: str) -> float:
        """Return the perplexity on ``dev`` or ``test``, or on ``train`` while it was trained on."""
        return float(self.raw["perplexity"][split])

    @property
    def step_milliseconds(self) -> float:
        """CPU time of a training step."""
        return float(self.raw["step_milliseconds"])


class Runner:
    """Makes what is missing of a study.

    Args:
        study: The study.
        data: Folder of ``<language>.txt`` and ``<language>.dev.txt``.
        language: The text's language.
        device: Where models run.
        report: Told of progress, in lines.
    """

    def __init__(
        self,
        study: Study,
        data: Path,
        language: str,
        device: torch.device,
        report: Callable[[str], None],
    ) -> None:
        self._study, self._data, self._language = study, data, language
        self._device, self._report = device, report
        self._texts: dict[TextSettings, Splits] = {}

    def run(self, name: str, seed: int, measure: Measure) -> bool:
        """Train a configuration if it is not finished, and keep its result; return whether it was trained.

        Raises:
            InputError: The text or the configuration cannot be used, or what was begun here was another one.
        """
        if self._study.result(name, seed).exists():
            return False
        self._measure_baseline()
        config = self._study.config(name).model_copy(update={"seed": seed})
        write_json(self._study.result(name, seed), self._one(config, measure))
        return True

    def _text(self, settings: TextSettings) -> Splits:
        if settings not in self._texts:
            self._texts[settings] = read_splits(self._data, self._language, settings)
        return self._texts[settings]

    def _measure_baseline(self) -> None:
        if self._study.baseline.exists():
            return
        splits = self._text(self._study.config(self._study.names[0]).text)
        vocabulary = splits.vocabulary
        model = KneserNey(splits.train.ids, len(vocabulary), ORDER, vocabulary.end_id)
        figures = {
            split: model.perplexity(splits.part(split).ids).value for split in ("dev", "test")
        }
        self._report(f"Kneser-Ney of order {ORDER}: {_rounded(figures)}")
        write_json(
            self._study.baseline,
            {"order": ORDER, "perplexity": figures, "text": splits.as_json()},
        )

    def _one(self, config: LanguageModelConfig, measure: Measure) -> dict[str, Any]:
        splits = self._text(config.text)
        folder = self._study.folder(config.name, config.seed)
        label = f"{config.name}, seed {config.seed}"

        def watch(figures: EpochFigures) -> None:
            self._report(
                f"{label}, epoch {figures.epoch}: perplexity {figures.train_perplexity:.1f} train, "
                f"{figures.dev_perplexity:.1f} dev; {figures.step_milliseconds:.1f} ms of CPU a step"
            )

        training = Training(config, splits, folder, device=self._device, report=self._report)
        trained = training.run(watch)
        end = splits.vocabulary.end_id
        perplexity = {
            "train": trained.best.train_perplexity,
            **{
                split: evaluate(trained.model, splits.part(split).ids, end).value
                for split in ("dev", "test")
            },
        }
        self._report(f"{label}: {_rounded(perplexity)}")
        return {
            "name": config.name,
            "title": config.title,
            "seed": config.seed,
            "perplexity": perplexity,
            "best_epoch": trained.best.epoch,
            "parameters": trained.model.parameter_counts().as_json(),
            "step_milliseconds": trained.step_milliseconds,
            "history": [asdict(figures) for figures in trained.history],
            "dropped_words": trained.dropped_words,
            **measure(trained.model, splits, folder),
            "text": splits.as_json(),
            "config": config.model_dump(mode="json"),
            "environment": {
                "torch": torch.__version__,
                "threads": torch.get_num_threads(),
                "device": self._device.type,
            },
        }


def _rounded(perplexity: Mapping[str, float]) -> str:
    return ", ".join(f"{split} {value:.1f}" for split, value in perplexity.items())


def read_results(study: Study) -> dict[str, list[Result]]:
    """Read what is finished, by name, in the order of seeds.

    Raises:
        InputError: A file is damaged, was made with another configuration than the one that is there now, or not
            with the same text as the others.
    """
    found: dict[str, list[Result]] = {}
    texts: dict[tuple[str, ...], Path] = {}
    for name in study.names:
        now = study.config(name).model_dump(mode="json")
        paths = study.results.glob(f"{name}-seed-*.json") if study.results.is_dir() else ()
        results = []
        for path in sorted(paths):
            raw = read_json(path)
            try:
                results.append(Result(raw))
                changed = [key for key in differences(raw["config"], now) if key != "seed"]
                texts.setdefault(tuple(raw["text"][split]["sha256"] for split in SPLITS), path)
            except (KeyError, TypeError) as error:
                raise InputError(
                    f"no result of a study: {error}", where=path, mend="remove it"
                ) from error
            if changed:
                raise InputError(
                    f"made with another {', '.join(changed)} than {name}.yaml has",
                    where=path,
                    mend="remove it and run again, or put the configuration back",
                )
        found[name] = sorted(results, key=lambda result: result.seed)
    if len(texts) > 1:
        raise InputError(
            f"other text than in {next(iter(texts.values())).name}",
            where=list(texts.values())[1],
            mend="remove the results of one of the texts",
        )
    return found


def read_json(path: Path) -> dict[str, Any]:
    """Read a result file.

    Raises:
        InputError: It cannot be read or holds no JSON mapping.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", where=path, mend="remove it") from error
    if not isinstance(content, dict):
        raise InputError("no JSON mapping", where=path, mend="remove it")
    return content
