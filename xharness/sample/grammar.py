"""What the sample data can say, and how each of its languages says it.

A :class:`Fact` is a frame of ``frames.yaml`` with an entry of ``lexicon.yaml`` in every slot. :meth:`Grammar.state`
realises it as a tagged sentence, :meth:`Grammar.ask` as a question. Inflected forms are listed, never derived.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import yaml

FOLDER: Final = Path(__file__).resolve().parent
LANGUAGES: Final = ("en", "de", "es", "ru", "hi", "zh", "sw", "tr")
LATIN: Final = frozenset({"en", "de", "es", "sw", "tr"})
FULL_STOP: Final = {"hi": "।", "zh": "。"}
QUESTION_MARK: Final = {"zh": "？"}
GLUED_LEFT: Final = frozenset({".", "?", "।", ",", "»", "'s"})  # no blank before these
GLUED_RIGHT: Final = frozenset({"«", "¿"})  # no blank after these
PORTIONS: Final = ("train",) * 6 + ("dev",) + ("test",) * 3

_AGREEMENT = re.compile(r"\[(\w)\|([^\]]*)\](?:/(\w+))?")
_SLOT = re.compile(r"\{(\w)(?:\.(\w+))?(?:@(\w))?\}")


@dataclass(frozen=True)
class Token:
    """A word of a sentence: its text, part of speech, IOB2 entity tag, and the slot that it realises."""

    text: str
    pos: str
    entity: str = "O"
    slot: str | None = None
    counts: bool = True  # False: in the slot's phrase, but no part of the entity (a preposition)


@dataclass(frozen=True)
class Sentence:
    """Tokens, the text they make up, and the code-point range of each token in it."""

    tokens: tuple[Token, ...]
    text: str
    ranges: tuple[tuple[int, int], ...]

    def answer(self, slot: str) -> tuple[int, str]:
        """The start (code points) and text of what fills a slot."""
        inside = [
            span
            for token, span in zip(self.tokens, self.ranges, strict=True)
            if token.slot == slot and token.counts
        ]
        start, end = inside[0][0], inside[-1][1]
        return start, self.text[start:end]


@dataclass(frozen=True)
class Entry:
    """A lexicon entry: forms by language and form name, and how it relates to others."""

    kind: str
    key: str
    pos: str
    entity: str | None
    forms: Mapping[str, Mapping[str, str]]
    gender: str | None = None
    held_out: bool = False
    genus: str | None = None
    opposite: str | None = None

    def agrees(self, language: str) -> str:
        """The key by which other words agree with this entry in a language, or ``"_"``."""
        return self.forms[language].get("g", self.gender or "_")

    def tokens(self, language: str, form: str, slot: str) -> list[Token]:
        """The tokens of one form, entity tags included."""
        forms = self.forms[language]
        tokens: list[Token] = []
        inside = False
        for item in (forms.get(form) or forms["_"]).split(" "):
            counts = not item.startswith("^")
            text, _, pos = item.removeprefix("^").partition("/")
            tag = "O"
            if self.entity is not None and counts:
                tag, inside = f"{'I' if inside else 'B'}-{self.entity}", True
            tokens.append(Token(text, pos or self.pos, tag, slot, counts))
        return tokens


@dataclass(frozen=True)
class Fact:
    """A frame with an entry in every slot. Its portion (train, dev or test) follows from its content alone."""

    frame: str
    fillers: tuple[tuple[str, Entry], ...]

    @property
    def key(self) -> str:
        """A name of the fact that does not depend on a language."""
        return " ".join([self.frame, *(f"{slot}={entry.key}" for slot, entry in self.fillers)])

    @property
    def portion(self) -> str:
        """``train`` for six facts in ten, ``dev`` for one, ``test`` for three: no sentence is in two of them."""
        return PORTIONS[crc32(self.key.encode()) % len(PORTIONS)]

    def __getitem__(self, slot: str) -> Entry:
        return dict(self.fillers)[slot]


class Grammar:
    """The lexicon and the frames, with every entry that a slot can take.

    Args:
        folder: The folder of ``lexicon.yaml`` and ``frames.yaml``.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self.frames: Mapping[str, Mapping[str, Any]] = _load(folder / "frames.yaml")
        self.entries: dict[str, list[Entry]] = {
            kind: [_entry(kind, key, block, forms) for key, forms in block["entries"].items()]
            for kind, block in _load(folder / "lexicon.yaml").items()
        }
        self.entries["org"] = [
            _organisation(house, brand)
            for house in self.entries["house"]
            for brand in self.entries["brand"]
        ]
        names, surnames = self.entries["name"], self.entries["surname"]
        self.entries["person"] = [
            _full_name(*parts, surname)
            for name, middle in zip(names, [*names[1:], names[0]], strict=True)
            for surname in surnames
            for parts in ((name,), (name, middle))
            if surname.key not in (name.key, middle.key)
            and (middle.gender, middle.held_out) == (name.gender, name.held_out)
        ]
        given = {name.key for name in names}
        alone = [surname for surname in surnames if surname.key not in given]
        # a family name alone is drawn as often as one with any given name
        self.entries["person"] += [replace(surname, gender="m") for surname in alone] * len(names)

    def choices(self, frame: str, slot: str, *, held_out: bool = False) -> list[Entry]:
        """The entries that a slot can take; those held out for NER tests only on request."""
        kind, _, gender = self.frames[frame]["slots"][slot].partition(":")
        return [
            entry
            for entry in self.entries[kind]
            if (held_out or not entry.held_out) and (not gender or entry.gender == gender)
        ]

    def fact(
        self,
        frame: str,
        rng: random.Random,
        fixed: Mapping[str, Entry] | None = None,
        *,
        held_out: bool = False,
    ) -> Fact:
        """A random fact of a frame, some slots given; no entry fills two slots."""
        fillers = dict(fixed or {})
        for slot in self.frames[frame]["slots"]:
            if slot not in fillers:
                free = [
                    e
                    for e in self.choices(frame, slot, held_out=held_out)
                    if e not in fillers.values()
                ]
                fillers[slot] = rng.choice(free)
        return Fact(frame, tuple((slot, fillers[slot]) for slot in self.frames[frame]["slots"]))

    def state(self, fact: Fact, language: str) -> Sentence:
        """The fact as a statement."""
        tokens = _fill(self.frames[fact.frame][language], fact, language)
        return _sentence([*tokens, Token(FULL_STOP.get(language, "."), "PUNCT")], language)

    def ask(self, fact: Fact, slot: str, language: str) -> Sentence:
        """The question that a slot of the fact answers."""
        tokens = _fill(self.frames[fact.frame]["ask"][slot][language], fact, language)
        opening = [Token("¿", "PUNCT")] if language == "es" else []
        return _sentence(
            [*opening, *tokens, Token(QUESTION_MARK.get(language, "?"), "PUNCT")], language
        )


def _load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


def _entry(kind: str, key: str, block: Mapping[str, Any], given: Mapping[str, Any]) -> Entry:
    forms: dict[str, Mapping[str, str]] = {}
    for language in LANGUAGES:
        form = given.get(language, given.get("latin") if language in LATIN else None)
        form = given["all"] if form is None else form
        forms[language] = {"_": form} if isinstance(form, str) else form
    return Entry(
        kind=kind,
        key=key,
        pos=block["pos"],
        entity=block.get("entity"),
        forms=forms,
        gender=given.get("g"),
        held_out=given.get("held_out", False),
        genus=given.get("kind"),
        opposite=given.get("opposite"),
    )


def _organisation(house: Entry, brand: Entry) -> Entry:
    forms = {
        language: {
            name: form.replace("%", brand.forms[language]["_"]) for name, form in table.items()
        }
        for language, table in house.forms.items()
    }
    return Entry("org", f"{house.key}-{brand.key}", "PROPN", "ORG", forms, held_out=brand.held_out)


def _full_name(*parts: Entry) -> Entry:
    """A given name, with a second one or without, before a family name."""
    forms = {
        language: {
            "_": (" ·/PUNCT " if language == "zh" else " ").join(
                part.forms[language]["_"] for part in parts
            )
        }
        for language in LANGUAGES
    }
    return Entry(
        kind="person",
        key="-".join(part.key for part in parts),
        pos="PROPN",
        entity="PER",
        forms=forms,
        gender=parts[0].gender,
        held_out=any(part.held_out for part in parts),
    )


def _fill(template: str, fact: Fact, language: str) -> list[Token]:
    """The tokens of a template: plain words, words chosen by agreement, and slots."""
    tokens: list[Token] = []
    for item in template.split(" "):
        if match := _AGREEMENT.fullmatch(item):
            slot, listed, pos = match.groups()
            words = dict(pair.split("=") for pair in listed.split("|"))
            tokens.append(Token(words[fact[slot].agrees(language)], pos or "X"))
        elif match := _SLOT.fullmatch(item):
            slot, form, other = match.groups()
            form = fact[other].agrees(language) if other else form or "_"
            tokens.extend(fact[slot].tokens(language, form, slot))
        else:
            text, _, pos = item.partition("/")
            tokens.append(Token(text, pos or "X"))
    return tokens


def _sentence(tokens: Sequence[Token], language: str) -> Sentence:
    """Join the tokens as the language writes them, the first word with a capital letter."""
    words = [token.text for token in tokens]
    first = 1 if words[0] == "¿" else 0
    words[first] = _capital(words[first], language)
    text, ranges = "", []
    for index, word in enumerate(words):
        glued = (
            language == "zh" or word in GLUED_LEFT or index == 0 or words[index - 1] in GLUED_RIGHT
        )
        text += word if glued else f" {word}"
        ranges.append((len(text) - len(word), len(text)))
    written = (
        Token(word, token.pos, token.entity, token.slot, token.counts)
        for word, token in zip(words, tokens, strict=True)
    )
    return Sentence(tuple(written), text, tuple(ranges))


def _capital(word: str, language: str) -> str:
    first = "İ" if language == "tr" and word[0] == "i" else word[0].upper()
    return first + word[1:]
