"""Human ratings of word similarity, and how embeddings correlate with them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from xharness.data.lines import read_lines
from xharness.errors import InputError

Array = npt.NDArray[np.floating]

#: The sets' names in the papers, by words of the files that mfaruqui/eval-word-vectors keeps them in.
SET_NAMES: dict[str, str] = {
    "MEN": "MEN",
    "MTURK": "MTurk-771",
    "RW": "Rare-Word",
    "SIMLEX": "SimLex-999",
    "VERB": "Verb-143",
}


@dataclass(frozen=True)
class SimilaritySet:
    """Pairs of words and their ratings.

    Attributes:
        name: As the papers call it; the file's where they do not.
        pairs: The pairs, as written.
        ratings: (pairs,), higher is more alike; each set has a scale of its own.
    """

    name: str
    pairs: tuple[tuple[str, str], ...]
    ratings: npt.NDArray[np.float64]

    @property
    def words(self) -> tuple[str, ...]:
        """Its words, each once."""
        return tuple(dict.fromkeys(word for pair in self.pairs for word in pair))


@dataclass(frozen=True)
class Correlation:
    """Agreement of two lists of figures, x 100 as the papers print it; ``None`` where it is not defined.

    Attributes:
        spearman: Of their ranks.
        pearson: Of the figures themselves.
    """

    spearman: float | None
    pearson: float | None

    def as_json(self) -> dict[str, float | None]:
        """Return what a JSON file holds of it."""
        return asdict(self)


def read_set(path: Path) -> SimilaritySet:
    """Read ``word1 word2 rating`` a line, between tabs or blanks; empty lines are passed over.

    Raises:
        InputError: A line has another form, or there is none.
    """
    pairs, ratings = [], []
    for number, line in enumerate(read_lines(path, Counter()), 1):
        if not line.strip():
            continue
        cells = line.split()
        rating = _number(cells[-1])
        if len(cells) != 3 or rating is None:
            raise InputError(
                f"{line[:60]!r} is not two words and a rating", where=f"{path}:{number}"
            )
        pairs.append((cells[0], cells[1]))
        ratings.append(rating)
    if not pairs:
        raise InputError("no pair of words", where=path)
    parts = path.stem.upper().split("-")
    name = next((known for part, known in SET_NAMES.items() if part in parts), path.stem)
    return SimilaritySet(name, tuple(pairs), np.array(ratings))


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def read_sets(paths: Sequence[Path]) -> list[SimilaritySet]:
    """Read files, and of folders every ``.txt`` file, in the order of their names.

    Raises:
        InputError: There is no file, or one does not read.
    """
    files = [
        file for path in paths for file in (sorted(path.glob("*.txt")) if path.is_dir() else [path])
    ]
    if not files:
        raise InputError(
            "no word similarity set",
            where="--words",
            mend="give files of 'word1 word2 rating' a line, or a folder of .txt files",
        )
    return [read_set(file) for file in files]


def correlation(one: Array, other: Array) -> Correlation:
    """Return how two lists agree; undefined for fewer than three entries, or where one of them is constant."""
    from scipy.stats import pearsonr, spearmanr

    if len(one) < 3 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return Correlation(None, None)
    return Correlation(
        100 * float(spearmanr(one, other).statistic), 100 * float(pearsonr(one, other).statistic)
    )


def similarities(
    pairs: Sequence[tuple[str, str]], vectors: Mapping[str, Array]
) -> tuple[Array, Array]:
    """Return the dot product and the cosine of each pair; a zero vector has cosine 0 with everything."""
    one = np.array([vectors[first] for first, _ in pairs], np.float64)
    other = np.array([vectors[second] for _, second in pairs], np.float64)
    dots = np.einsum("ij,ij->i", one, other)
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return dots, np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0)


@dataclass(frozen=True)
class SetResult:
    """How one embedding agrees with one set.

    Attributes:
        dot: Ratings and dot products, as in RemBERT's section 6.1.
        cosine: Ratings and cosines, as in Press and Wolf.
        pairs: Pairs compared.
        missing_pairs: Pairs left out, for a word of theirs has no vector.
        missing_words: Words of the set without a vector.
    """

    dot: Correlation
    cosine: Correlation
    pairs: int
    missing_pairs: int
    missing_words: tuple[str, ...]


def rate(similarity: SimilaritySet, vectors: Mapping[str, Array]) -> SetResult:
    """Correlate an embedding's similarities with the ratings.

    Args:
        similarity: The set.
        vectors: A vector for each word that has one.
    """
    kept = [i for i, (a, b) in enumerate(similarity.pairs) if a in vectors and b in vectors]
    missing = tuple(word for word in similarity.words if word not in vectors)
    if not kept:
        none = Correlation(None, None)
        return SetResult(none, none, 0, len(similarity.pairs), missing)
    dots, cosines = similarities([similarity.pairs[i] for i in kept], vectors)
    ratings = similarity.ratings[kept]
    return SetResult(
        correlation(ratings, dots),
        correlation(ratings, cosines),
        len(kept),
        len(similarity.pairs) - len(kept),
        missing,
    )
