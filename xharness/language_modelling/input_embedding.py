"""Input embeddings: a looked-up vector, from one table or from clusters by frequency, mapped to the model's width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

import torch
from torch import Tensor, nn

from xharness.language_modelling.classifiers import AdaptiveClassifier
from xharness.language_modelling.config import DefineSettings
from xharness.language_modelling.transformations import expansion_unit

#: Words whose vectors are computed at one time when a whole table is made.
_BLOCK = 4096


class TableMap(nn.Module):
    """One vector a word.

    Args:
        vocabulary: Size of the vocabulary.
        width: Of the vectors.
    """

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, width))

    def forward(self, ids: Tensor) -> Tensor:
        """Look up (words,) as (words, width)."""
        return nn.functional.embedding(ids, self.weight)


class AdaptiveMap(nn.Module):
    """Clusters of words by frequency, rarer ones with narrower vectors (Baevski and Auli 2019, arXiv 1809.10853).

    A cluster's narrower vector is mapped to the common width by a linear map without bias.

    Args:
        starts: Ranks at which clusters begin, 0 the first, and the size of the vocabulary.
        tables: Each cluster's vectors; the first may have further rows, which are never looked up.
        projections: (cluster width, width) for each cluster but the first.
    """

    def __init__(
        self,
        starts: Sequence[int],
        tables: Sequence[nn.Parameter],
        projections: Sequence[nn.Parameter],
    ) -> None:
        super().__init__()
        self.starts = tuple(starts)
        self.tables = nn.ParameterList(tables)
        self.projections = nn.ParameterList(projections)

    @classmethod
    def like(cls, classifier: AdaptiveClassifier, *, tied: bool) -> AdaptiveMap:
        """Return the map with the clusters of an adaptive softmax.

        Args:
            classifier: The softmax.
            tied: Whether vectors and projections are the softmax's own, or new ones of the same shapes.
        """
        shortlist, *_ = cutoffs = classifier.softmax.cutoffs
        tables, projections = classifier.tables(), classifier.projections()
        if not tied:
            head = nn.Parameter(torch.empty(shortlist, tables[0].shape[1]))
            tables = [head, *(nn.Parameter(torch.empty_like(table)) for table in tables[1:])]
            projections = [nn.Parameter(torch.empty_like(one)) for one in projections]
        return cls((0, *cutoffs), tables, projections)

    def forward(self, ids: Tensor) -> Tensor:
        """Look up (words,) as (words, width)."""
        first_table = self.tables[0]
        shape = (len(ids), first_table.shape[1])
        vectors = torch.zeros(shape, dtype=first_table.dtype, device=ids.device)
        for number, (first, last) in enumerate(pairwise(self.starts)):
            at = torch.nonzero((ids >= first) & (ids < last))[:, 0]
            found = nn.functional.embedding(ids[at] - first, self.tables[number])
            if number:
                found = found @ self.projections[number - 1]
            vectors = vectors.index_copy(0, at, found.to(vectors.dtype))
        return vectors


class InputEmbedding(nn.Module):
    """What enters the sequence model for each word.

    Args:
        lookup: Gives each word a vector of the width ``narrow``.
        narrow: That width.
        width: The sequence model's.
        define: The unit between both; without one the map is linear, and none where the widths are equal.

    Raises:
        InputError: The unit's sizes and groups do not fit each other.
    """

    def __init__(
        self,
        lookup: TableMap | AdaptiveMap,
        narrow: int,
        width: int,
        define: DefineSettings | None,
    ) -> None:
        super().__init__()
        self.lookup = lookup
        self.unit: nn.Module | None = None
        if define is not None:
            self.unit = expansion_unit(define, narrow, width)
        elif narrow != width:
            self.unit = nn.Linear(narrow, width, bias=False)
        # As in the code of DeFINE's authors. The first group layer normalises what it makes of a vector, so that a tiny
        # one would get a huge gradient.
        self.scale = narrow**0.5 if define is not None else 1.0
        self._cached: Tensor | None = None

    def forward(self, ids: Tensor) -> Tensor:
        """Map ids of any shape to vectors, (..., width)."""
        if self._cached is not None:
            return self._cached[ids]
        # A frequent word's vector is computed once, however often the window holds it.
        words, places = torch.unique(ids, return_inverse=True) if self.unit else (ids, None)
        vectors: Tensor = self.lookup(words.reshape(-1))
        if self.unit is None or places is None:
            return vectors.view(*ids.shape, -1)
        mapped: Tensor = self.unit(vectors * self.scale)
        # Autocast's bfloat16 would also hold the sums of gradients of a repeated word.
        return nn.functional.embedding(places, mapped.to(vectors.dtype))

    @torch.no_grad()
    def table(self, vocabulary: int) -> Tensor:
        """Return the vectors of all words, (vocabulary, width): they depend on the word alone."""
        device = next(self.parameters()).device
        blocks = torch.split(torch.arange(vocabulary, device=device), _BLOCK)
        return torch.cat([self(block) for block in blocks])

    @contextmanager
    def cached(self, vocabulary: int) -> Iterator[None]:
        """Look vectors up in the finished table for a while, without the unit's arithmetic; for evaluation alone."""
        self._cached = self.table(vocabulary)
        try:
            yield
        finally:
            self._cached = None
