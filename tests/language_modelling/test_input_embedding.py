"""Input embeddings: clusters by rank, and the finished table in place of the unit."""

from __future__ import annotations

import pytest
import torch

from tests.language_modelling.tiny_models import EMBEDDINGS, VOCABULARY, tiny_model, words
from xharness.language_modelling.classifiers import AdaptiveClassifier
from xharness.language_modelling.input_embedding import AdaptiveMap


def test_clusters_by_hand() -> None:
    """Ranks 0, 1 in a table of width 2, ranks 2 to 4 in one of width 1 with a projection."""
    lookup = AdaptiveMap(
        (0, 2, 5),
        [
            torch.nn.Parameter(torch.tensor([[1.0, 2], [3, 4], [99, 99]])),
            torch.nn.Parameter(torch.tensor([[5.0], [6], [7]])),
        ],
        [torch.nn.Parameter(torch.tensor([[10.0, -1]]))],
    )
    found = lookup(torch.tensor([4, 0, 2, 1]))
    assert found.tolist() == [[70, -7], [1, 2], [50, -5], [3, 4]]


def test_tied_clusters_are_the_classifiers_own() -> None:
    model = tiny_model(EMBEDDINGS["adaptive-tied"])
    assert isinstance(model.classifier, AdaptiveClassifier)
    assert isinstance(model.input.lookup, AdaptiveMap)
    for own, shared in zip(model.classifier.tables(), model.input.lookup.tables, strict=True):
        assert own is shared
    names = [name for name, _ in model.named_parameters()]
    # 5 ranks and 2 clusters in the head, 7 and 11 ranks of widths 4 and 2, and their projections.
    expected = 7 * 8 + 7 * 4 + 4 * 8 + 11 * 2 + 2 * 8
    assert sum(model.get_parameter(n).numel() for n in names if "lookup" in n) == expected


def test_untied_clusters_are_new_ones() -> None:
    model = tiny_model(EMBEDDINGS["adaptive"])
    assert isinstance(model.classifier, AdaptiveClassifier)
    assert isinstance(model.input.lookup, AdaptiveMap)
    assert model.input.lookup.tables[0].shape == (5, 16)
    assert model.classifier.tables()[0].shape == (7, 16)
    assert not {id(one) for one in model.classifier.parameters()} & {
        id(one) for one in model.input.parameters()
    }


@pytest.mark.parametrize("embedding", EMBEDDINGS.values(), ids=EMBEDDINGS)
def test_the_table_stands_for_the_unit(embedding: dict[str, object]) -> None:
    """A word's vector depends on the word alone, however often and wherever it stands."""
    model = tiny_model(embedding)
    ids = words(7, 3)
    table = model.input_table()
    assert table.shape == (VOCABULARY, 16)
    vectors = model.input(ids)
    assert vectors.shape == (7, 3, 16)
    torch.testing.assert_close(vectors.to(table.dtype), table[ids], rtol=1e-5, atol=1e-6)
    with model.input.cached(VOCABULARY):
        torch.testing.assert_close(model.input(ids), table[ids])
    assert model.input(ids).requires_grad


def test_the_unit_gets_scaled_vectors() -> None:
    """As in the authors' code, times the root of their width; a linear map gets them as they are."""
    ids = torch.tensor([3, 0, 3, 22])
    for name, scale in (("define", 8**0.5), ("factorised-tied", 1.0)):
        embedding = tiny_model(EMBEDDINGS[name]).input
        assert embedding.unit is not None
        expected = embedding.unit(embedding.lookup(ids) * scale)
        torch.testing.assert_close(embedding(ids), expected)
