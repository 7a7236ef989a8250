"""Tags without B- or I-: two seqeval versions read their first letter differently, and each has its profile."""

from __future__ import annotations

from pathlib import Path

import pytest
from seqeval.metrics import f1_score

from tests.pitfalls.submission import figures
from xharness.errors import InputError

GOLD = [["CCONJ", "NOUN"]]
PREDICTED = [["SCONJ", "NOUN"]]


@pytest.mark.parametrize(
    ("profile", "f1"),
    [
        ("official", 100.0),  # 1.2.2 takes C and S for prefixes: both spans are of type CONJ
        ("official-2020", 50.0),  # 0.0.12 keeps the whole tag as type
        ("strict", 50.0),
    ],
)
def test_each_version_keeps_its_own_reading(tmp_path: Path, profile: str, f1: float) -> None:
    assert figures(tmp_path, "udpos", GOLD, PREDICTED, profile=profile)["f1"] == f1


@pytest.mark.filterwarnings("ignore")
def test_the_official_profile_is_the_installed_library(tmp_path: Path) -> None:
    sentences = [["X", "_", "SYM", "INTJ", "NOUN", "NOUN"], ["SCONJ", "X"], ["DET", "NOUN"]]
    other = [["X", "X", "SYM", "INTJ", "PRON", "NOUN"], ["CCONJ", "X"], ["DET", "PROPN"]]
    ours = figures(tmp_path, "udpos", sentences, other)["f1"]
    assert ours == pytest.approx(100 * f1_score(sentences, other), abs=1e-9)


@pytest.mark.parametrize("profile", ["official", "official-2020", "strict"])
def test_sentences_of_unequal_length_are_refused_by_every_profile(
    tmp_path: Path, profile: str
) -> None:
    with pytest.raises(InputError, match=r"test-en\.tsv:2: the sentence"):
        figures(tmp_path, "udpos", [["NOUN", "VERB"], ["DET"]], [["NOUN"], ["VERB", "DET"]],
                profile=profile)  # fmt: skip
