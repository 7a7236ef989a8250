"""What tables say of trainings under other protocols than zero-shot."""

from __future__ import annotations

from typing import Any

from xharness.records.protocol_marks import protocol_marks


def model(code: str, dev: str | None, **changes: object) -> dict[str, Any]:
    return {"languages": {code: 10}, "dev_language": dev, **changes}


def test_languages_that_have_something_in_common_are_named_together() -> None:
    models = {
        "en": {"steps": 5},  # the zero-shot protocol's model
        "de": model("de", "de"),
        "fr": model("fr", "fr"),
        "sw": model("sw", "en"),
        "th": model("th", None),
    }
    training = {"models": models}
    assert protocol_marks("few-shot, 10 examples", 1, training, models) == [
        "few-shot, 10 examples: a model for each language; en: the model trained on English; "
        "de fr: checkpoint chosen on its own dev data; sw: checkpoint chosen on English dev data; "
        "th: the last checkpoint kept"
    ]
    # Of one language alone, as for that language's own results.
    assert protocol_marks("in-language", 1, training, ["de"]) == [
        "in-language: a model for each language; checkpoint chosen on its own dev data"
    ]


def test_failed_and_degenerate_models_are_named() -> None:
    models = {
        "de": model("de", "de", degenerate=True),
        "fr": model("fr", "fr", degenerate=False),
        "sw": model("sw", None, failed="the loss is nan at step 1 of 2"),
    }
    marks = protocol_marks("in-language", 7, {"models": models}, models)
    assert marks[1:] == [
        "seed 7 failed in sw: the loss is nan at step 1 of 2",
        "seed 7 is degenerate in de: no better on dev than always giving the most frequent label",
    ]


def test_one_model_for_several_languages_and_translated_tests() -> None:
    pool = {"languages": {"de": 4, "fr": 4}, "dev_language": "mul"}
    assert protocol_marks("in-language, multi-task", 1, pool, ["de"]) == [
        "in-language, multi-task: one model for de fr; checkpoint chosen on pooled dev data"
    ]
    assert protocol_marks("in-language, multi-task", 1, {**pool, "failed": "x"}, ["de"]) == [
        "in-language, multi-task: one model for de fr"
    ]
    assert protocol_marks("translate-test", 1, {"steps": 3}, ["de"]) == [
        "translate-test: test data translated into English"
    ]
