"""Pairing the examples of two results, and deciding which languages of a task are resampled together.

Languages of a task are resampled together, by the same draws, where their examples correspond: by id where they share
ids (XQuAD, MLQA), else by place where they have equally many (XNLI, PAWS-X). Parallel tests are hard and easy at the
same examples in every language, and averages over languages resampled apart would look more certain than they are.
Where equally long tests are not parallel nothing is lost: resampling estimates the correlation from the data, and finds
none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xharness.scoring.examples import ExampleScores, FloatArray

#: Examples with something right from which on sides may be exchanged whatever they predict beside it.
_ENOUGH = 20


@dataclass(frozen=True)
class PairedExamples:
    """Examples of one task, in languages that are resampled together.

    A figure is the mean over ``figures`` of the ratio of two sums over examples, times 100. An example that a language
    does not have adds 0 to both.

    Attributes:
        languages: Language codes.
        baseline: Numerators and denominators. (examples, languages, seeds, figures, 2)
        candidate: The same of the candidate; the number of seeds may differ.
    """

    languages: tuple[str, ...]
    baseline: FloatArray
    candidate: FloatArray

    @property
    def size(self) -> int:
        """Return the number of examples."""
        return len(self.baseline)

    def examples_of(self, language: str) -> int:
        """Return the number of examples that a language has."""
        return self._filled(language, 1)

    def rare(self, language: str) -> bool:
        """Tell whether a figure is a ratio of which fewer than 20 examples have anything right on either side.

        A figure whose denominators do not depend on the predictions is a mean, for which it does not matter.
        """
        place = self.languages.index(language)
        first, second = (
            side[:, place, ..., 1].mean(axis=1) for side in (self.baseline, self.candidate)
        )
        return not np.array_equal(first, second) and self._filled(language, 0) < _ENOUGH

    def _filled(self, language: str, part: int) -> int:
        """Count the examples with a numerator (0) or denominator (1) on either side."""
        place = self.languages.index(language)
        filled = [
            (side[:, place, ..., part] > 0).any(axis=(1, 2))
            for side in (self.baseline, self.candidate)
        ]
        return int(np.count_nonzero(filled[0] | filled[1]))


@dataclass(frozen=True)
class LanguageScores:
    """The example scores of one language on both sides.

    Attributes:
        baseline: By seed.
        candidate: By seed.
    """

    baseline: tuple[ExampleScores, ...]
    candidate: tuple[ExampleScores, ...]


#: One language's examples: their ids, if they have any, and both sides' ratios. (examples, seeds, figures, 2)
_Aligned = tuple[tuple[str, ...] | None, FloatArray, FloatArray]


def pair_examples(
    scores: Mapping[str, LanguageScores], figures: Sequence[str], *, sparse: bool = False
) -> tuple[PairedExamples, ...]:
    """Pair the examples of a task and group its languages.

    Args:
        scores: Example scores by language; all files of a language were scored against the same gold.
        figures: Figures whose mean is the task's score.
        sparse: Whether the examples that a file has depend on its predictions (mined pairs), so that they are matched
            by id and absent ones count as 0.
    """
    aligned = {code: _align(both, figures, sparse) for code, both in scores.items()}
    if _share_ids(aligned):
        return (_joined_by_id(aligned),)
    by_size: dict[int, list[str]] = {}
    for code, (_, baseline, _) in aligned.items():
        by_size.setdefault(len(baseline), []).append(code)
    return tuple(
        PairedExamples(
            tuple(codes),
            np.stack([aligned[code][1] for code in codes], axis=1),
            np.stack([aligned[code][2] for code in codes], axis=1),
        )
        for codes in by_size.values()
    )


def _align(both: LanguageScores, figures: Sequence[str], sparse: bool) -> _Aligned:
    files = (*both.baseline, *both.candidate)
    ids = files[0].ids
    tables = [np.stack([each.ratios[figure] for figure in figures], axis=1) for each in files]
    if sparse:
        ids = tuple(sorted({name for each in files for name in each.ids or ()}))
        places = {name: place for place, name in enumerate(ids)}
        spread = np.zeros((len(files), len(ids), len(figures), 2))
        for number, (each, table) in enumerate(zip(files, tables, strict=True)):
            spread[number, [places[name] for name in each.ids or ()]] = table
        tables = list(spread)
    seeds = len(both.baseline)
    return ids, np.stack(tables[:seeds], axis=1), np.stack(tables[seeds:], axis=1)


def _share_ids(aligned: Mapping[str, _Aligned]) -> bool:
    seen: set[str] = set()
    for ids, _, _ in aligned.values():
        if ids is not None and not seen.isdisjoint(ids):
            return True
        seen.update(ids or ())
    return False


def _joined_by_id(aligned: Mapping[str, _Aligned]) -> PairedExamples:
    union: dict[str, int] = {}
    for ids, _, _ in aligned.values():
        for name in ids or ():
            union.setdefault(name, len(union))
    rows = [[union[name] for name in ids or ()] for ids, _, _ in aligned.values()]
    return PairedExamples(
        tuple(aligned),
        _spread(rows, len(union), [baseline for _, baseline, _ in aligned.values()]),
        _spread(rows, len(union), [candidate for _, _, candidate in aligned.values()]),
    )


def _spread(rows: Sequence[Sequence[int]], size: int, tables: Sequence[FloatArray]) -> FloatArray:
    """Put each language's examples into its rows. (size, languages, seeds, figures, 2)."""
    joined = np.zeros((size, len(tables), *tables[0].shape[1:]))
    for place, table in enumerate(tables):
        # An id that occurs twice in a file is one example that counts twice.
        np.add.at(joined, (rows[place], place), table)
    return joined
