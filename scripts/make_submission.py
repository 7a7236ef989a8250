"""Write a synthetic XTREME submission of full size: gold and predictions of all nine tasks in all languages.

    python scripts/make_submission.py --output /tmp/submission [--scale 0.1] [--seed 1]

makes ``labels/`` and ``predictions/`` below the output folder. The texts mean nothing: words are drawn from a made-up
vocabulary in each language's script, so that a scorer meets texts of real length, script and punctuation. Sizes follow
the official test sets; the same seed and scale give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xharness.scoring.folder import file_name
from xharness.specs.languages import language_table
from xharness.specs.registry import benchmark_of_suite
from xharness.specs.task import TaskSpec

IntArray = NDArray[np.int64]
Generator = np.random.Generator

#: Sentences of NER; languages not listed have the last number.
NER_SENTENCES = {
    **dict.fromkeys(
        ("af", "bn", "hi", "kk", "ml", "mr", "ms", "sw", "ta", "te", "tl", "ur"), 1_000
    ),
    **dict.fromkeys(("jv", "my", "yo"), 100),
}
NER_OTHERS = 12_700
POS_SENTENCES = {"de": 22_358, "ru": 8_976, "tl": 55, "yo": 100, "mr": 47}
POS_OTHERS = 2_445
#: Languages whose NER tokens are characters, so that sentences are longer.
CHARACTER_TOKENS = frozenset({"ja", "th", "zh"})

LABEL_LINES = {"xnli": 5_010, "pawsx": 2_000}
BUCC_PAIRS = {"de": 9_580, "fr": 9_086, "ru": 14_435, "zh": 1_899}
TATOEBA_PAIRS = 1_000

#: Questions: MLQA's test and development sets, TyDiQA-GoldP's development set.
QUESTIONS = {
    "mlqa": {"ar": 5852, "de": 5029, "en": 12738, "es": 5754, "hi": 5425, "vi": 6006, "zh": 5641},
    "tydiqa": {
        **{"ar": 921, "bn": 113, "en": 440, "fi": 782, "id": 565},
        **{"ko": 276, "ru": 812, "sw": 499, "te": 669},
    },
}
XQUAD_QUESTIONS = 1_190
QUESTIONS_A_PARAGRAPH = {"xquad": 5, "mlqa": 1, "tydiqa": 1}
#: Words of a context; 124 and 150 are what XQuAD's and MLQA's English contexts have on average.
WORDS_A_PARAGRAPH = {"xquad": 124, "mlqa": 150, "tydiqa": 90}

#: Letters of each script, as ranges of code points.
SCRIPTS: dict[str, list[tuple[int, int]]] = {
    "Latn": [(0x61, 0x7A)] * 6 + [(0xE0, 0xF6), (0xF8, 0xFF)],
    "Arab": [(0x627, 0x63A), (0x641, 0x64A)],
    "Cyrl": [(0x430, 0x44F)],
    "Grek": [(0x3B1, 0x3C9)],
    "Deva": [(0x905, 0x939), (0x93E, 0x94D)],
    "Beng": [(0x995, 0x9A8), (0x9AA, 0x9B0), (0x9BE, 0x9C4)],
    "Telu": [(0xC15, 0xC28), (0xC3E, 0xC44)],
    "Kore": [(0xAC00, 0xB5FF)],
    "Thai": [(0xE01, 0xE2E), (0xE30, 0xE3A), (0xE40, 0xE44)],
    "Hans": [(0x4E00, 0x62FF)],
}
#: Frequent short words, articles among them, which normalisation treats apart.
SHORT_WORDS = {
    "en": "the of a in and The an to A",
    "de": "der die das und in ein eine von Der Die",
    "es": "el de la los las y en un una El La",
    "vi": "của là cái và những ở",
    "ar": "في من على إلى عن",
}
ARABIC_ARTICLE = "ال"
UNSPACED = frozenset({"th", "zh"})
FULL_STOP = {"zh": "。", "hi": "।", "ar": "."}


@dataclass(frozen=True)
class Vocabulary:
    """The words of a language, how often each is drawn, and what stands between them."""

    words: NDArray[np.object_]
    weights: NDArray[np.float64]
    blank: str


def vocabulary(language: str, rng: Generator, size: int = 4_000) -> Vocabulary:
    """Make up a vocabulary in the language's script, with weights by Zipf's law."""
    script = language_table()[language].script
    letters = [chr(code) for low, high in SCRIPTS[script] for code in range(low, high + 1)]
    short_script = script in ("Hans", "Kore")
    lengths = rng.integers(1, 4, size) if short_script else rng.integers(2, 11, size)
    words = SHORT_WORDS.get(language, "").split()
    for index, length in enumerate(lengths.tolist()):
        word = "".join(letters[i] for i in rng.integers(0, len(letters), length).tolist())
        if language == "ar" and index % 3 == 0:
            word = ARABIC_ARTICLE + word
        if index % 9 == 4:
            word = word[0].upper() + word[1:]
        elif index % 40 == 7:
            word = str(1000 + index)
        elif index % 50 == 11:
            word = f"{word}-{words[-1]}"
        words.append(word)
    weights = 1.0 / np.arange(3, len(words) + 3)
    return Vocabulary(
        np.array(words, dtype=object),
        weights / weights.sum(),
        "" if language in UNSPACED else " ",
    )


def write_tags(path: Path, tags: list[str], ids: IntArray, ends: IntArray) -> None:
    """Write tags, one a line, with a blank line after each sentence.

    Args:
        path: The file.
        tags: Tag of each id.
        ids: Tag ids of all sentences in a row. (tokens,)
        ends: Where each sentence ends in ``ids``. (sentences,)
    """
    with_blanks = np.insert(ids, ends, len(tags))
    lines: list[str] = np.array([*tags, ""], dtype=object)[with_blanks].tolist()
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def disturb(ids: IntArray, share: float, choices: int, rng: Generator) -> IntArray:
    """Return a copy with that share of the ids drawn anew."""
    noisy = ids.copy()
    places = rng.random(len(ids)) < share
    noisy[places] = rng.integers(0, choices, int(places.sum()))
    return noisy


def entity_tags(tags: list[str], ends: IntArray, rng: Generator) -> tuple[IntArray, IntArray]:
    """Draw gold IOB2 tags and predictions that miss, extend or mistype some entities. Both (tokens,)."""
    total = int(ends[-1])
    outside = tags.index("O")
    begins = [index for index, tag in enumerate(tags) if tag.startswith("B-")]
    inside = {begin: tags.index("I-" + tags[begin][2:]) for begin in begins}
    # Runs of O and entities in turn, long enough to cover all tokens.
    pieces = total // 2 + 8
    kinds = rng.choice(begins, pieces)
    kinds[::2] = outside
    lengths = np.where(kinds == outside, rng.geometric(0.3, pieces), rng.geometric(0.5, pieces))
    guesses = np.where(rng.random(pieces) < 0.9, kinds, rng.choice([*begins, outside], pieces))
    follow = np.arange(len(tags))
    follow[begins] = list(inside.values())
    first = np.zeros(int(lengths.sum()), dtype=bool)
    first[np.cumsum(lengths) - lengths] = True
    first[ends[:-1][ends[:-1] < len(first)]] = True  # an entity starts anew in the next sentence
    drawn = []
    for kind in (kinds, guesses):
        each = np.repeat(kind, lengths)
        drawn.append(np.where(first, each, follow[each])[:total])
    return drawn[0], disturb(drawn[1], 0.02, len(tags), rng)


def write_tagging(
    task: TaskSpec, language: str, gold: Path, answers: Path, scale: float, rng: Generator
) -> None:
    """Write the tag files of a language."""
    tags = list(task.labels)
    if task.name == "panx":
        sentences = scaled(NER_SENTENCES.get(language, NER_OTHERS), scale)
        mean = 28 if language in CHARACTER_TOKENS else 8
    else:
        sentences = scaled(POS_SENTENCES.get(language, POS_OTHERS), scale)
        mean = 18
    ends = np.cumsum(1 + rng.poisson(mean - 1, sentences))
    if task.name == "panx":
        truth, guess = entity_tags(tags, ends, rng)
    else:
        weights = 1.0 / np.arange(1, len(tags) + 1)
        truth = rng.choice(rng.permutation(len(tags)), int(ends[-1]), p=weights / weights.sum())
        guess = disturb(truth, 0.25, len(tags), rng)
    write_tags(gold, tags, truth, ends)
    write_tags(answers, tags, guess, ends)


def write_labels(task: TaskSpec, gold: Path, answers: Path, scale: float, rng: Generator) -> None:
    """Write label files of a language: classes, or the line numbers of Tatoeba's nearest neighbours."""
    if task.labels:
        total = scaled(LABEL_LINES[task.name], scale)
        names = list(task.labels)
        truth = rng.integers(0, len(names), total)
    else:
        total = scaled(TATOEBA_PAIRS, scale)
        names = [str(number) for number in range(total)]
        truth = rng.permutation(total)
    guess = disturb(truth, 0.3, len(names), rng)
    for path, ids in ((gold, truth), (answers, guess)):
        path.write_text("".join(f"{names[i]}\n" for i in ids.tolist()), encoding="utf-8")


def write_pairs(language: str, gold: Path, answers: Path, scale: float, rng: Generator) -> None:
    """Write mined pairs of a language."""
    total = scaled(BUCC_PAIRS[language], scale)
    sources = np.sort(rng.choice(10 * total, total, replace=False)).tolist()
    targets = rng.choice(20 * total, total, replace=False).tolist()
    pairs = [f"{language}-{s:09}\ten-{t:09}\n" for s, t in zip(sources, targets, strict=True)]
    gold.write_text("".join(pairs), encoding="utf-8")
    kept = [
        pair for pair, draw in zip(pairs, rng.random(total).tolist(), strict=True) if draw < 0.8
    ]
    wrong = [f"{language}-{s:09}\ten-{s:09}\n" for s in sources[::7]]
    answers.write_text("".join(kept + wrong), encoding="utf-8")


def context(words: Vocabulary, length: int, stop: str, rng: Generator) -> list[str]:
    """Draw a context as words with punctuation."""
    drawn: list[str] = words.words[rng.choice(len(words.words), length, p=words.weights)].tolist()
    for place in range(5, length, 11):
        drawn[place] += ","
    for place in range(12, length, 14):
        drawn[place] += stop
    drawn[length // 2] = f"({drawn[length // 2]})"
    return drawn


def answer_to(gold: str, tokens: list[str], start: int, draw: float, blank: str) -> str | None:
    """Return a model's answer: right, nearly right, somewhere else, empty or none at all."""
    if draw < 0.55:
        return gold
    if draw < 0.62:
        return gold.upper() + "."
    if draw < 0.80:
        return blank.join(tokens[max(0, start - 1) : start + 2])
    if draw < 0.94:
        return blank.join(tokens[:3])
    return "" if draw < 0.98 else None


def write_questions(
    task: TaskSpec, language: str, gold: Path, answers: Path, scale: float, rng: Generator
) -> None:
    """Write gold in SQuAD JSON and predictions of a language.

    XQuAD and MLQA are published with escaped characters and TyDiQA without; predictions are written as ``run_squad``
    does, escaped and indented by four.
    """
    total = scaled(QUESTIONS.get(task.name, {}).get(language, XQUAD_QUESTIONS), scale)
    words = vocabulary(language, rng)
    stop = FULL_STOP.get(language, ".")
    paragraphs: list[dict[str, Any]] = []
    predicted: dict[str, str] = {}
    asked = 0
    while asked < total:
        tokens = context(words, WORDS_A_PARAGRAPH[task.name], stop, rng)
        text = words.blank.join(tokens)
        questions = []
        for _ in range(min(QUESTIONS_A_PARAGRAPH[task.name], total - asked)):
            identifier = f"{zlib.crc32(f'{task.name}-{language}-{asked}'.encode()):08x}{asked:016x}"
            asked += 1
            start = int(rng.integers(0, len(tokens) - 6))
            length = int(rng.integers(1, 6))
            right = words.blank.join(tokens[start : start + length]).rstrip(",.。।")
            draw = float(rng.random())
            answer = answer_to(right, tokens, start, draw, words.blank)
            if answer is not None:
                predicted[identifier] = answer
            question = words.blank.join(context(words, 10, "", rng)) + "?"
            accepted = [{"text": right, "answer_start": text.find(right)}]
            questions.append({"question": question, "id": identifier, "answers": accepted})
        paragraphs.append({"context": text, "qas": questions})
    document = {
        "version": "1.1",
        "data": [{"title": p["context"][:20], "paragraphs": [p]} for p in paragraphs],
    }
    with gold.open("w", encoding="utf-8") as file:
        json.dump(document, file, ensure_ascii=task.name != "tydiqa")
    with answers.open("w", encoding="utf-8") as file:
        json.dump(predicted, file, indent=4)


def scaled(number: int, scale: float) -> int:
    """Return a size at the scale asked for, at least 8."""
    return max(8, round(number * scale))


def make_submission(output: Path, scale: float = 1.0, seed: int = 1) -> None:
    """Write ``labels/`` and ``predictions/`` below a folder.

    Args:
        output: The folder; made if need be.
        scale: Share of the full size.
        seed: Seed of all drawing; each file has a generator of its own.
    """
    for task in benchmark_of_suite("xtreme").tasks:
        for kind in ("labels", "predictions"):
            (output / kind / task.name).mkdir(parents=True, exist_ok=True)
        for number, language in enumerate(sorted(task.languages)):
            name = file_name(task, language)
            gold, answers = output / "labels" / name, output / "predictions" / name
            rng = np.random.default_rng([seed, zlib.crc32(task.name.encode()), number])
            if task.kind == "tagging":
                write_tagging(task, language, gold, answers, scale, rng)
            elif task.kind == "question_answering":
                write_questions(task, language, gold, answers, scale, rng)
            elif task.metric == "mined_pairs":
                write_pairs(language, gold, answers, scale, rng)
            else:
                write_labels(task, gold, answers, scale, rng)


def main() -> None:
    """Parse the command line and write the submission."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True, help="folder to write into")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full size (1.0)")
    parser.add_argument("--seed", type=int, default=1, help="seed of all drawing (1)")
    arguments = parser.parse_args()
    make_submission(arguments.output, arguments.scale, arguments.seed)


if __name__ == "__main__":
    main()
