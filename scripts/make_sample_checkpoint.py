"""Make the encoder of ``xharness/sample/checkpoint`` from ``xharness/sample/data/text`` and nothing else.

    python scripts/make_sample_checkpoint.py [--set KEY=VALUE]... [--work FOLDER] [--output FOLDER]

The text is arranged into two files of groups of lines, and what ``xharness pretrain`` does with
``task_specs/pretraining/sample.yaml`` makes the rest. The groups are

* ``translations.txt``: a statement in every language, so that a word masked in one can be told from the others
  (translation language modelling: Conneau and Lample, NeurIPS 2019);
* ``passages.txt``: a question, a passage of statements of which one answers it, and the answer.

The tokenizer is the pre-trainer's; marks and Chinese characters are set apart, for its training and by it, so that
running text and the words of tagging data have the same pieces. The same text, configuration and machine give the
same bytes.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Regex, Tokenizer, pre_tokenizers

from xharness.files import write_text
from xharness.pretraining.command import PretrainCommand
from xharness.pretraining.config import VocabularySettings, load_config
from xharness.pretraining.corpus import find_corpus
from xharness.pretraining.vocabulary_training import train_vocabulary
from xharness.sample import CHECKPOINT, DATA

CONFIG: Final = Path(__file__).resolve().parents[1] / "task_specs" / "pretraining" / "sample.yaml"
SEED: Final = 20
TRANSLATIONS: Final = 6  # groups of each statement
PASSAGES: Final = 2  # groups of each question in each language
ABROAD: Final = 0.5  # share of passages whose question is in another language
LOOK_ALIKES: Final = 8  # statements of which one stands in the passage beside that which answers
WORD: Final = re.compile(r"[\u4e00-\u9fff]|[^\s.?¿।。？，«»\u4e00-\u9fff]+")
PARTS: Final = (
    pre_tokenizers.WhitespaceSplit(),
    pre_tokenizers.Punctuation("isolated"),
    pre_tokenizers.Split(Regex(r"\p{Han}"), "isolated"),
)


@dataclass(frozen=True)
class Unit:
    """A statement in every language, with the question that it answers where the text has one."""

    statement: Mapping[str, str]
    question: Mapping[str, str] | None


def main() -> None:
    """Arrange the text, train, and write the checkpoint."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--work", type=Path, help="where a run that is stopped can be continued")
    parser.add_argument("--output", type=Path, default=CHECKPOINT)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        make(arguments.set, arguments.work or Path(scratch), arguments.output)


def make(overrides: Sequence[str], work: Path, output: Path) -> None:
    """Train in ``work`` and write to ``output``; with one thread, since sums depend on their number."""
    torch.set_num_threads(1)
    arrange(read_units(DATA / "text"), work / "text")
    vocabulary = make_tokenizer(load_config(CONFIG, overrides).vocabulary, work)
    trained = PretrainCommand(
        CONFIG,
        work / "run",
        (*overrides, f"vocabulary.path={vocabulary}"),
        text=work / "text",
        device="cpu",
        dtype="bfloat16",
    ).execute()
    store(trained, output)


# --- text ---------------------------------------------------------------------------------------


def read_units(folder: Path) -> list[Unit]:
    """The parallel lines of ``{language}.txt``; a question belongs to the line after it."""
    texts = {
        path.stem: path.read_text(encoding="utf-8").split("\n")[:-1]
        for path in sorted(folder.glob("*.txt"))
    }
    rows = [dict(zip(texts, row, strict=True)) for row in zip(*texts.values(), strict=True)]
    units: list[Unit] = []
    question: dict[str, str] | None = None
    for row in rows:
        if row["en"].endswith("?"):
            question = row
        else:
            units.append(Unit(row, question))
            question = None
    return units


def arrange(units: Sequence[Unit], folder: Path) -> None:
    """Write the text to train on."""
    rng = random.Random(SEED)
    for name, make_groups in (("translations", translations), ("passages", passages)):
        groups = list(make_groups(units, rng))
        rng.shuffle(groups)
        lines = (f"{line}\n" for group in groups for line in group)
        write_text(folder / f"{name}.txt", "".join(lines))


def translations(units: Sequence[Unit], rng: random.Random) -> Iterator[list[str]]:
    """Statements in every language, in any order."""
    for unit in units:
        for _ in range(TRANSLATIONS):
            yield rng.sample(list(unit.statement.values()), len(unit.statement))


def passages(units: Sequence[Unit], rng: random.Random) -> Iterator[list[str]]:
    """Questions, passages of three or four statements, one a look-alike of the one that answers, and answers."""
    nearest = look_alikes(units)
    for number, unit in enumerate(units):
        if unit.question is None:
            continue
        questions = unit.question
        for language, statement in unit.statement.items():
            start, end = news(questions[language], statement)
            for _ in range(PASSAGES if start < end else 0):
                asked = rng.choice(list(questions)) if rng.random() < ABROAD else language
                others = [
                    units[rng.choice(nearest[number])],
                    *rng.sample(units, rng.choice((1, 2))),
                ]
                told = [statement, *(other.statement[language] for other in others)]
                rng.shuffle(told)
                yield [questions[asked], " ".join(told), statement[start:end]]


def look_alikes(units: Sequence[Unit]) -> list[list[int]]:
    """For each unit the units that share most English words with it, rare words counting most."""
    words = [set(WORD.findall(unit.statement["en"])) for unit in units]
    frequency = Counter(word for line in words for word in line)
    nearest = []
    for line in words:
        shared = [
            (sum(frequency[word] ** -0.5 for word in sorted(line & other)), number)
            for number, other in enumerate(words)
            if other != line
        ]
        nearest.append([number for _, number in sorted(shared, reverse=True)[:LOOK_ALIKES]])
    return nearest


def news(question: str, statement: str) -> tuple[int, int]:
    """The code-point range of the longest run of words in a statement that its question lacks.

    Words are compared by their first three letters, for inflection. A Chinese character is a word.
    """
    known = {match[0][:3].casefold() for match in WORD.finditer(question)}
    best, run = (0, 0), None
    for match in WORD.finditer(statement):
        if match[0][:3].casefold() in known:
            run = None
            continue
        run = (run[0] if run else match.start(), match.end())
        best = max(best, run, key=lambda span: span[1] - span[0])
    return best


# --- tokenizer ----------------------------------------------------------------------------------


def make_tokenizer(settings: VocabularySettings, work: Path) -> Path:
    """Train the pre-trainer's vocabulary on text that is cut as the tokenizer will cut it; return its folder."""
    cutter = pre_tokenizers.Sequence(list(PARTS))
    for path in sorted((DATA / "text").glob("*.txt")):
        parts = (part for part, _ in cutter.pre_tokenize_str(path.read_text(encoding="utf-8")))
        # Only what stands in two distinct words can become a piece, so each comes with a full stop too.
        write_text(work / "words" / path.name, "".join(f"{part} {part}.\n" for part in parts))
    folder = train_vocabulary(
        find_corpus(work / "words"),
        size=settings.size,
        alpha=settings.alpha,
        lines=settings.lines,
        seed=settings.seed,
        character_coverage=settings.character_coverage,
        threads=1,
        into=work / "vocabulary",
        report=print,
    )
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [*PARTS, pre_tokenizers.Metaspace(prepend_scheme="always", split=False)]
    )
    write_text(folder / "tokenizer.json", tokenizer.to_str(pretty=True) + "\n")
    return folder


# --- writing ------------------------------------------------------------------------------------


def store(trained: Path, folder: Path) -> None:
    """Write the whole model, its weights in half precision, and the tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = load_file(trained / "model.safetensors")
    halves = {name: value.half() for name, value in weights.items()}
    save_file(halves, folder / "model.safetensors", metadata={"format": "pt"})
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        write_text(folder / name, (trained / name).read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
