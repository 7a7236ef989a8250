"""A small corpus, its vocabulary and its token shards, made once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.pretraining.small_corpus import SAMPLE, train
from xharness.pretraining.corpus import CorpusFiles, find_corpus
from xharness.pretraining.shard_building import build_shards
from xharness.pretraining.shards import Shards
from xharness.pretraining.vocabulary import Vocabulary, load_vocabulary


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CorpusFiles]:
    """The sample's text, its last 100 lines held out."""
    folder = tmp_path_factory.mktemp("corpus")
    for path in sorted(SAMPLE.glob("*.txt")):
        lines = path.read_text("utf-8").splitlines(keepends=True)
        (folder / path.name).write_text("".join(lines[:-100]), "utf-8")
        (folder / f"{path.stem}.dev.txt").write_text("".join(lines[-100:]), "utf-8")
    return find_corpus(folder)


@pytest.fixture(scope="session")
def vocabulary(
    corpus: dict[str, CorpusFiles], tmp_path_factory: pytest.TempPathFactory
) -> Vocabulary:
    return load_vocabulary(train(corpus, tmp_path_factory.mktemp("vocabulary")))


@pytest.fixture(scope="session")
def shards(
    corpus: dict[str, CorpusFiles],
    vocabulary: Vocabulary,
    tmp_path_factory: pytest.TempPathFactory,
) -> Shards:
    return build_shards(corpus, vocabulary, tmp_path_factory.mktemp("shards"))


@pytest.fixture
def own_corpus(corpus: dict[str, CorpusFiles], tmp_path: Path) -> Path:
    """A copy of the corpus' folder that a test may change."""
    return Path(shutil.copytree(corpus["en"].train[0].parent, tmp_path / "text"))
