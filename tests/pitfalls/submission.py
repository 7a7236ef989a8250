"""Gold and prediction files of one language, scored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xharness.scoring import TaskScores, score_task
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec

Content = str | bytes | Sequence[Sequence[str]]


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def one_language(task: str, language: str) -> TaskSpec:
    """Return a specification with one language only."""
    changed: TaskSpec = load(TaskSpec, task).model_copy(update={"languages": (language,)})
    return changed


def tag_text(sentences: Sequence[Sequence[str]]) -> str:
    return "\n".join("".join(f"{tag}\n" for tag in tags) for tags in sentences)


def score(
    folder: Path,
    task: str,
    gold: Content,
    predictions: Content,
    *,
    language: str = "en",
    profile: str = "official",
) -> TaskScores:
    """Write the two files, tags as lists of sentences or any file's content, and score them."""
    spec = one_language(task, language)
    for side, content in (("gold", gold), ("predictions", predictions)):
        text = content if isinstance(content, str | bytes) else tag_text(content)
        write(folder / side / task / spec.file_name(language), text)
    return score_task(spec, folder / "predictions", folder / "gold", profile)


def figures(
    folder: Path,
    task: str,
    gold: Content,
    predictions: Content,
    *,
    language: str = "en",
    profile: str = "official",
) -> dict[str, float]:
    """Return the figures of the one language, in percent."""
    scores = score(folder, task, gold, predictions, language=language, profile=profile)
    return scores.languages[language].figures
