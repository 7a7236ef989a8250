"""UD-POS: raw treebanks to XTREME's token and tag files.

The rules are those of XTREME's preparation (``third_party/ud-conversion-tools`` and
``udpos_preprocess`` in ``utils_preprocess.py`` of google-research/xtreme), restated:

- All treebanks of a language are pooled by split, in the order of their file names.
- A multiword token stands for its words, with the tag of the span's head. The head is the word
  with the fewest ancestors; the ancestors are taken in the basic tree and the enhanced graph
  together, and counted once each. Where several words tie, the tag that comes first in the
  language's precedence wins, and the first word among equal tags.
- Edge blanks, inner spaces and U+200C are removed from forms; other blanks inside a form
  (U+00A0) stay.
- A sentence is dropped where some form is ``_`` and at most one is not (treebanks that are
  shipped without their words).

Where the official scripts stop or lose data, this goes on and counts: a tie on a tag that the
language's precedence does not name (``unranked_ties``), a last sentence without a blank line, a
form of which nothing is left (``empty_forms``: it is written as ``_``, so that no tag moves). A
form that is nothing but U+3000 or U+00A0 stays; there the official file has a blank line.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from xharness.errors import InputError
from xharness.preparation.conllu import Sentence, enhanced_heads, read_conllu
from xharness.preparation.outputs import OutputFiles
from xharness.preparation.sources import LANGUAGE, find_files, read_lines, unique_names

SPLITS = ("train", "dev", "test")

PRECEDENCE: dict[str, tuple[str, ...]] = {
    "es": ("VERB", "AUX", "PRON", "ADP", "DET"),
    "fr": (
        *("VERB", "AUX", "PRON", "NOUN", "ADJ", "ADV", "ADP", "DET", "PART", "SCONJ"),
        "CONJ",  # the tag of UD version 1; the official list was never brought to CCONJ
    ),
    "it": ("VERB", "AUX", "ADV", "PRON", "ADP", "DET", "INTJ"),
}
"""Which UPOS heads a multiword token when its words tie in depth, by language, first is best."""

DEFAULT_PRECEDENCE: tuple[str, ...] = (
    *("VERB", "NOUN", "PROPN", "PRON", "ADJ", "NUM", "ADV", "INTJ", "AUX", "ADP", "DET", "PART"),
    *("CCONJ", "SCONJ", "X", "PUNCT"),
)
"""The precedence of every other language."""

TaggedSentence = list[tuple[str, str]]


def prepare_udpos(raw: Path, files: OutputFiles) -> None:
    """Write ``{split}-{language}.tsv`` for every language and split below ``raw``.

    A split of which no sentence is left gets no file and is named among the ignored.

    Args:
        raw: A folder, of any depth, that holds files such as ``en_pud-ud-test.conllu``.
        files: Where the files go.

    Raises:
        InputError: No treebank is found, a file is not CoNLL-U, or its name tells no split.
    """
    treebanks = unique_names(find_files(raw, lambda path: path.suffix == ".conllu"))
    if not treebanks:
        raise InputError("no *.conllu file", where=raw, mend="point --from at UD treebanks")
    pools: defaultdict[tuple[str, str], list[Path]] = defaultdict(list)
    for path in treebanks:
        pools[language_and_split(path)].append(path)
    for (language, split), paths in sorted(pools.items()):
        counts: Counter[str] = Counter()
        blocks = (format_tagged(sentence) for sentence in convert(paths, language, counts))
        files.add(f"{split}-{language}.tsv", blocks, counts, separator="\n")


def language_and_split(path: Path) -> tuple[str, str]:
    """The language and split in a treebank's file name (``de_hdt-ud-train-a-1.conllu``).

    Raises:
        InputError: The name holds no language code, or not exactly one split.
    """
    language, *rest = re.split(r"[-_.]", path.stem)
    splits = {part for part in rest if part in SPLITS}
    if not LANGUAGE.fullmatch(language) or len(splits) != 1:
        raise InputError(
            "the file name tells no language and split",
            where=path,
            mend="name it as UD does: en_ewt-ud-train.conllu",
        )
    return language, splits.pop()


def convert(
    treebanks: Sequence[Path], language: str, counts: Counter[str]
) -> Iterator[TaggedSentence]:
    """The tagged sentences of one language and split.

    Args:
        treebanks: Its CoNLL-U files, in order.
        language: Chooses the tag precedence.
        counts: Filled on the way: ``multiword_tokens``, ``tied_heads``, ``unranked_ties``,
            ``empty_nodes``, ``inner_spaces`` and ``non_joiners`` and ``edge_blanks`` (forms that
            held them), ``empty_forms``, ``dropped_sentences``, ``dropped_tokens``.

    Yields:
        Sentences of (form, tag), none of them empty.
    """
    for path in treebanks:
        for sentence in read_conllu(read_lines(path, counts), path):
            tokens = surface_tokens(sentence, language, counts)
            if nearly_all_blank([form for form, _ in tokens]):
                counts["dropped_sentences"] += 1
                counts["dropped_tokens"] += len(tokens)
            else:
                yield [(clean_form(form, counts), tag) for form, tag in tokens]


def surface_tokens(sentence: Sentence, language: str, counts: Counter[str]) -> TaggedSentence:
    """The sentence's tokens as written: every multiword token one token, edge blanks removed."""
    counts["empty_nodes"] += sentence.empty_nodes
    starts = {token.first: token for token in sentence.multiword_tokens}
    tokens: TaggedSentence = []
    number = 1
    while number <= len(sentence.words):
        token = starts.get(number)
        if token is None:
            form, upos = sentence.words[number - 1][:2]
            number += 1
        else:
            counts["multiword_tokens"] += 1
            form = token.form
            span = range(token.first, token.last + 1)
            upos = sentence.words[span_head(sentence, span, language, counts) - 1].upos
            number = token.last + 1
        # A form of blanks alone (U+3000) is a token all the same.
        stripped = form.strip() or form
        counts["edge_blanks"] += stripped != form
        tokens.append((stripped, upos))
    return tokens


def span_head(sentence: Sentence, span: range, language: str, counts: Counter[str]) -> int:
    """The word number that heads a span of words: least deep, then first in the precedence.

    Tags that the language's precedence lacks come after those it names, in the default order;
    the official script stops at them.
    """
    depths = {number: len(ancestors(sentence, number)) for number in span}
    least = min(depths.values())
    highest = [number for number in span if depths[number] == least]
    if len(highest) == 1:
        return highest[0]
    counts["tied_heads"] += 1
    named = PRECEDENCE.get(language, DEFAULT_PRECEDENCE)
    order = (*named, *(tag for tag in DEFAULT_PRECEDENCE if tag not in named))
    ranks = {tag: rank for rank, tag in enumerate(order)}
    tags = {number: sentence.words[number - 1].upos for number in highest}
    if not set(tags.values()) <= set(named):
        counts["unranked_ties"] += 1
    return min(highest, key=lambda number: ranks.get(tags[number], len(order)))


def ancestors(sentence: Sentence, number: int) -> set[int]:
    """The words above a word, 0 for the root included, in the basic and enhanced graph together.

    The enhanced graph may hold cycles; the word itself never counts.
    """
    seen: set[int] = set()
    waiting = [number]
    while waiting:
        current = waiting.pop()
        if not 1 <= current <= len(sentence.words):
            continue
        word = sentence.words[current - 1]
        heads = set(enhanced_heads(word.deps))
        if word.head is not None:
            heads.add(word.head)
        waiting.extend(heads - seen)
        seen |= heads
    return seen - {number}


def nearly_all_blank(forms: Sequence[str]) -> bool:
    """Whether some form is ``_`` and at most one is not."""
    blank = sum(form == "_" for form in forms)
    return blank > 0 and blank >= len(forms) - 1


def clean_form(form: str, counts: Counter[str]) -> str:
    """A form without U+0020 and U+200C; ``_`` where nothing is left."""
    if " " in form:
        counts["inner_spaces"] += 1
        form = form.replace(" ", "")
    if "\u200c" in form:
        counts["non_joiners"] += 1
        form = form.replace("\u200c", "")
    if not form:
        counts["empty_forms"] += 1
        return "_"
    return form


def format_tagged(sentence: TaggedSentence) -> str:
    """The lines ``form TAB tag`` of a sentence, each with its line end."""
    return "".join(f"{form}\t{tag}\n" for form, tag in sentence)
