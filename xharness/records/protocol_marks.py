"""What tables say of a training that was not zero-shot transfer from English."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

Report = Mapping[str, Any]


def protocol_marks(
    setting: str, seed: int, training: Report, languages: Container[str]
) -> list[str]:
    """Return what sets a record's training apart.

    Args:
        setting: What tables call the protocol.
        seed: The record's seed.
        training: ``protocol.training`` of the record.
        languages: Languages to speak of.
    """
    models: dict[str, Report] = {
        code: report for code, report in training.get("models", {}).items() if code in languages
    }
    if not models:
        return [f"{setting}: {_one_model(training)}"]
    found = ["; ".join((f"{setting}: a model for each language", *_named(models, _choice)))]
    for codes, reason in _grouped(models, lambda code, report: report.get("failed")):
        found.append(f"seed {seed} failed in {codes}: {reason}")
    for codes, _ in _grouped(models, lambda code, report: report.get("degenerate") or None):
        found.append(
            f"seed {seed} is degenerate in {codes}: no better on dev than always giving the most frequent label"
        )
    return found


def dev_name(language: str) -> str:
    """Return what the dev data of a language, or of several together, are called."""
    return {"en": "English", "mul": "pooled"}.get(language, language)


def _one_model(training: Report) -> str:
    if "languages" not in training:
        return "test data translated into English"
    choice = _choice("", training)
    return "; ".join(filter(None, (f"one model for {' '.join(training['languages'])}", choice)))


def _choice(code: str, report: Report) -> str | None:
    """Say how a model's checkpoint was chosen; nothing of one that failed."""
    if "failed" in report:
        return None
    if "languages" not in report:
        return "the model trained on English"
    dev = report["dev_language"]
    if dev is None:
        return "the last checkpoint kept"
    return f"checkpoint chosen on {'its own' if dev == code else dev_name(dev)} dev data"


def _named(models: Mapping[str, Report], say: Callable[[str, Report], str | None]) -> list[str]:
    groups = _grouped(models, say)
    return [text if len(groups) == 1 else f"{codes}: {text}" for codes, text in groups]


def _grouped(
    models: Mapping[str, Report], say: Callable[[str, Report], str | None]
) -> list[tuple[str, str]]:
    """Return what is said of models, each text once, after the languages that it is said of."""
    groups: dict[str, list[str]] = {}
    for code, report in models.items():
        text = say(code, report)
        if text is not None:
            groups.setdefault(text, []).append(code)
    return [(" ".join(codes), text) for text, codes in groups.items()]
