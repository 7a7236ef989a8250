"""Write the sample data set of ``xharness/sample/data`` from its hand-written lexicon and grammar.

    python scripts/make_sample_data.py [FOLDER]

The same seed gives the same bytes. Every statement belongs to one portion (train, dev or test) by a hash of
what it says, so no sentence of a test file occurs in training or pre-training text.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from xharness.sample import DATA
from xharness.sample.grammar import FOLDER, LANGUAGES, Entry, Fact, Grammar, Sentence, Token

SEED: Final = 20
OTHERS: Final = tuple(language for language in LANGUAGES if language != "en")
BITEXT_LANGUAGES: Final = ("de", "zh")
SIZES: Final = {
    "sample_nli": {"train": 1500, "dev": 150, "test": 150},
    "sample_pos": {"train": 800, "dev": 100, "test": 120},
    "sample_ner": {"train": 800, "dev": 100, "test": 120},
    "sample_qa": {"train": 1200, "dev": 120, "test": 100},
    "sample_retrieval": {"test": 200},
    "sample_bitext": {"pairs": 120, "distractors": 80},
    "text": {"statements": 1150, "questions": 560},
}
ENTITY_FRAMES: Final = (
    "person_works_at",
    "person_lives",
    "person_travels",
    "works_at",
    "org_in",
    "both_live",
    "born",
)
TAGGED_WITHOUT_ENTITY: Final = "being_acts_at"
HELD_OUT_SHARE: Final = 0.4  # of the NER test draws may take a name that no other file has


def main() -> None:
    """Write all files below the folder given."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "folder", nargs="?", type=Path, default=DATA, help="where to write (default: the package)"
    )
    write_all(parser.parse_args().folder)


def write_all(folder: Path) -> None:
    """Write the six tasks and the running text."""
    grammar = Grammar()
    for make in (
        nli_files,
        pos_files,
        ner_files,
        qa_files,
        retrieval_files,
        bitext_files,
        text_files,
    ):
        for name, content in make(grammar, random.Random(f"{SEED} {make.__name__}")):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8", newline="\n")


def draw(make: Callable[[], Fact], portion: str, seen: set[str]) -> Fact:
    """The first fact of the portion that has not been drawn before."""
    while True:
        fact = make()
        if fact.portion == portion and fact.key not in seen:
            seen.add(fact.key)
            return fact


def split_languages(split: str) -> tuple[str, ...]:
    """Training and dev files are English; tests come in every language."""
    return LANGUAGES if split == "test" else ("en",)


def lines(items: Iterable[str]) -> str:
    """One item a line."""
    return "".join(f"{item}\n" for item in items)


# --- sentence pairs ---------------------------------------------------------------------------------------------------


def nli_files(grammar: Grammar, rng: random.Random) -> Iterator[tuple[str, str]]:
    """``premise TAB hypothesis TAB label``, the three labels equally often."""
    rules: Mapping[str, Sequence[Mapping[str, Any]]] = yaml.safe_load(
        (FOLDER / "relations.yaml").read_text(encoding="utf-8")
    )
    for split, size in SIZES["sample_nli"].items():
        pairs: list[tuple[Fact, Fact, str]] = []
        seen: set[str] = set()
        while len(pairs) < size:
            label = sorted(rules)[len(pairs) % len(rules)]
            premise, hypothesis = entailment_pair(grammar, rng.choice(rules[label]), rng)
            key = f"{premise.key} / {hypothesis.key}"
            if premise.portion == hypothesis.portion == split and key not in seen:
                seen.add(key)
                pairs.append((premise, hypothesis, label))
        rng.shuffle(pairs)
        for language in split_languages(split):
            yield (
                f"sample_nli/{split}-{language}.tsv",
                lines(
                    f"{grammar.state(premise, language).text}\t{grammar.state(hypothesis, language).text}\t{label}"
                    for premise, hypothesis, label in pairs
                ),
            )


def entailment_pair(
    grammar: Grammar, rule: Mapping[str, Any], rng: random.Random
) -> tuple[Fact, Fact]:
    """A premise and a hypothesis that a rule of ``relations.yaml`` relates."""
    fixed: dict[str, Entry] = {}
    for source in rule["slots"].values():
        if source.startswith("genus "):
            slot = source.removeprefix("genus ")
            fixed[slot] = rng.choice([e for e in grammar.choices(rule["premise"], slot) if e.genus])
    premise = grammar.fact(rule["premise"], rng, fixed)
    given: dict[str, Entry] = {}
    for slot, source in rule["slots"].items():
        how, _, name = source.rpartition(" ")
        choices = grammar.choices(rule["hypothesis"], slot)
        if name == "any":
            continue
        if how == "other":
            given[slot] = rng.choice([e for e in choices if e != premise[name]])
        elif how == "genus":
            given[slot] = next(e for e in choices if e.key == premise[name].genus)
        elif how == "opposite":
            given[slot] = next(e for e in choices if e.key == premise[name].opposite)
        else:
            given[slot] = premise[name]
    return premise, grammar.fact(rule["hypothesis"], rng, given)


# --- tagging ----------------------------------------------------------------------------------------------------------


def pos_files(grammar: Grammar, rng: random.Random) -> Iterator[tuple[str, str]]:
    """``word TAB UPOS``, a blank line after each sentence."""
    frames = [frame for frame in grammar.frames if not frame.startswith("person_")]
    for split, size in SIZES["sample_pos"].items():
        seen: set[str] = set()
        facts = [
            draw(lambda: grammar.fact(rng.choice(frames), rng), split, seen) for _ in range(size)
        ]
        for language in split_languages(split):
            sentences = (grammar.state(fact, language).tokens for fact in facts)
            rows = ([(token.text, token.pos) for token in tokens] for tokens in sentences)
            yield f"sample_pos/{split}-{language}.tsv", tagged(rows)


def ner_files(grammar: Grammar, rng: random.Random) -> Iterator[tuple[str, str]]:
    """``word TAB tag`` in IOB2; Chinese by characters, as in PAN-X."""
    for split, size in SIZES["sample_ner"].items():
        seen: set[str] = set()

        def make(split: str = split) -> Fact:
            frame = rng.choice((*ENTITY_FRAMES, TAGGED_WITHOUT_ENTITY))
            new = split == "test" and rng.random() < HELD_OUT_SHARE
            return grammar.fact(frame, rng, held_out=new)

        facts = [draw(make, split, seen) for _ in range(size)]
        for language in split_languages(split):
            sentences = (grammar.state(fact, language).tokens for fact in facts)
            rows = (
                [
                    row
                    for token in tokens
                    for row in (by_character(token) if language == "zh" else [entity_row(token)])
                ]
                for tokens in sentences
            )
            yield f"sample_ner/{split}-{language}.tsv", tagged(rows)


def entity_row(token: Token) -> tuple[str, str]:
    """The word and its tag."""
    return token.text, token.entity


def by_character(token: Token) -> list[tuple[str, str]]:
    """One row a character: ``B-`` on the first one of an entity only."""
    inside = token.entity.replace("B-", "I-")
    return [(char, token.entity if index == 0 else inside) for index, char in enumerate(token.text)]


def tagged(sentences: Iterable[Sequence[tuple[str, str]]]) -> str:
    """Rows of ``word TAB tag``, a blank line after each sentence."""
    return "".join(
        lines(f"{word}\t{tag}" for word, tag in sentence) + "\n" for sentence in sentences
    )


# --- question answering -----------------------------------------------------------------------------------------------


def qa_files(grammar: Grammar, rng: random.Random) -> Iterator[tuple[str, str]]:
    """SQuAD 1.1 files: contexts of three to five statements, each question answered by one of them alone."""
    for split, size in SIZES["sample_qa"].items():
        seen: set[str] = set()
        contexts: list[tuple[list[Fact], list[tuple[Fact, str]]]] = []
        missing = size
        while missing:
            facts = context_facts(grammar, rng, split, seen)
            questions = answerable(grammar, facts)
            if len(questions) >= 3:
                chosen = rng.sample(questions, min(4, len(questions), missing))
                missing -= len(chosen)
                contexts.append((facts, chosen))
        for language in split_languages(split):
            data = [
                squad_paragraph(
                    grammar, facts, questions, language, f"{split}-{language}-{number:03d}"
                )
                for number, (facts, questions) in enumerate(contexts)
            ]
            content = {"version": "1.1", "data": [{"title": f"sample {split}", "paragraphs": data}]}
            yield (
                f"sample_qa/{split}-{language}.json",
                json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n",
            )


def context_facts(grammar: Grammar, rng: random.Random, split: str, seen: set[str]) -> list[Fact]:
    """Three to five facts about two or three people; two of one frame, so that the frame alone finds no answer."""
    asked = [
        frame
        for frame in grammar.frames
        if "ask" in grammar.frames[frame] and frame != "being_acts_at"
    ]
    people = rng.sample(grammar.choices("lives", "p"), 3)
    frames = rng.sample(asked, rng.randint(2, 4))
    frames.append(frames[0])

    def make(frame: str, person: int) -> Fact:
        slots = grammar.frames[frame]["slots"]
        fixed = {"p": people[person % 3]} if "p" in slots else {}
        return grammar.fact(frame, rng, fixed)

    facts: list[Fact] = []
    for number, frame in enumerate(frames):
        for _ in range(200):  # a person may have no fact of this frame left
            fact = make(frame, number)
            if fact.portion == split and fact.key not in seen:
                seen.add(fact.key)
                facts.append(fact)
                break
    rng.shuffle(facts)
    return facts


def answerable(grammar: Grammar, facts: Sequence[Fact]) -> list[tuple[Fact, str]]:
    """The questions that in every language exactly one of the facts answers."""
    found = []
    for fact in facts:
        for slot in grammar.frames[fact.frame].get("ask", {}):
            rivals = [
                (o, s)
                for o in facts
                if o is not fact
                for s in grammar.frames[o.frame].get("ask", {})
            ]
            if not any(
                grammar.ask(fact, slot, language).text == grammar.ask(other, rival, language).text
                for other, rival in rivals
                for language in LANGUAGES
            ):
                found.append((fact, slot))
    return found


def squad_paragraph(
    grammar: Grammar,
    facts: Sequence[Fact],
    questions: Sequence[tuple[Fact, str]],
    language: str,
    prefix: str,
) -> dict[str, Any]:
    """A paragraph of a SQuAD file; offsets count code points."""
    context, starts = "", {}
    for fact in facts:
        context += " " if context and language != "zh" else ""
        starts[fact.key] = len(context)
        context += grammar.state(fact, language).text
    asked = []
    for number, (fact, slot) in enumerate(questions):
        start, text = grammar.state(fact, language).answer(slot)
        question = grammar.ask(fact, slot, language).text
        answer = {"text": text, "answer_start": starts[fact.key] + start}
        asked.append({"id": f"{prefix}-{number}", "question": question, "answers": [answer]})
    return {"context": context, "qas": asked}


# --- retrieval --------------------------------------------------------------------------------------------------------


def distinct_facts(
    grammar: Grammar, rng: random.Random, portion: str, size: int, seen: set[str]
) -> list[Fact]:
    """Facts of all frames, told apart by their text in every language."""
    frames = list(grammar.frames)
    texts: dict[str, set[str]] = {language: set() for language in LANGUAGES}
    facts: list[Fact] = []
    while len(facts) < size:
        fact = draw(lambda: grammar.fact(rng.choice(frames), rng), portion, seen)
        said = {language: grammar.state(fact, language).text for language in LANGUAGES}
        if all(said[language] not in texts[language] for language in LANGUAGES):
            facts.append(fact)
            for language in LANGUAGES:
                texts[language].add(said[language])
    return facts


def retrieval_files(grammar: Grammar, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Line by line translations, the same sentences for every language."""
    facts = distinct_facts(grammar, rng, "test", SIZES["sample_retrieval"]["test"], set())
    for language in OTHERS:
        for side in (language, "en"):
            content = lines(grammar.state(fact, side).text for fact in facts)
            yield f"sample_retrieval/{language}-en.{side}", content


def bitext_files(grammar: Grammar, rng: random.Random) -> Iterator[tuple[str, str]]:
    """BUCC files: two sides of which only some sentences have their translation in the other."""
    pairs, others = SIZES["sample_bitext"]["pairs"], SIZES["sample_bitext"]["distractors"]
    for language in BITEXT_LANGUAGES:
        for split in ("dev", "test"):
            facts = distinct_facts(grammar, rng, split, pairs + 2 * others, set())
            sides = {
                language: facts[: pairs + others],
                "en": facts[:pairs] + facts[pairs + others :],
            }
            ids: dict[str, dict[str, str]] = {}
            for side, said in sides.items():
                order = rng.sample(said, len(said))
                ids[side] = {
                    fact.key: f"{side}-{number:06d}" for number, fact in enumerate(order, 1)
                }
                content = lines(
                    f"{ids[side][fact.key]}\t{grammar.state(fact, side).text}" for fact in order
                )
                yield f"sample_bitext/{language}-en.{split}.{side}", content
            gold = sorted(
                f"{ids[language][fact.key]}\t{ids['en'][fact.key]}" for fact in facts[:pairs]
            )
            yield f"sample_bitext/{language}-en.{split}.gold", lines(gold)


# --- running text -----------------------------------------------------------------------------------------------------


def text_files(grammar: Grammar, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Parallel text, one sentence a line: statements, some of them after the question that they answer."""
    seen: set[str] = set()
    frames = list(grammar.frames)
    asked = [frame for frame in frames if "ask" in grammar.frames[frame]]
    units: list[tuple[Fact, str | None]] = []
    while len(units) < SIZES["text"]["statements"]:
        with_question = len(units) < SIZES["text"]["questions"]
        frame = rng.choice(asked if with_question else frames)
        fact = grammar.fact(frame, rng)
        if (
            fact.portion != "train" or fact.key in seen
        ):  # small frames run dry: then another one is chosen
            continue
        seen.add(fact.key)
        slot = rng.choice(list(grammar.frames[frame]["ask"])) if with_question else None
        units.append((fact, slot))
    rng.shuffle(units)
    for language in LANGUAGES:
        sentences: list[Sentence] = []
        for fact, slot in units:
            if slot is not None:
                sentences.append(grammar.ask(fact, slot, language))
            sentences.append(grammar.state(fact, language))
        yield f"text/{language}.txt", lines(sentence.text for sentence in sentences)


if __name__ == "__main__":
    main()
