"""Encodings on disk: a hit equals a miss, damage is replaced, and whatever decides an encoding is in its key."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xharness.errors import InputError
from xharness.inference.progress import Silent
from xharness.models.adapter import open_model
from xharness.models.encoding_cache import cache_folder, cached
from xharness.models.transformers import TransformersAdapter
from xharness.tasks.encoding import Encoding
from xharness.tasks.pair_classification import PairEncoding
from xharness.tasks.question_answering import QuestionEncoding
from xharness.tasks.tagging import TaggingEncoding

from .tiny_tasks import HEADED, PAIRS, TAGS, TRAIN, WIDE, pairs, settings, split_of, tags

Checkpoint = Callable[[str], Path]


def some_encoding() -> PairEncoding:
    return PairEncoding(
        ids=np.array([5, 6, 7, 8], np.int32),
        starts=np.array([0, 1, 4]),
        types=np.array([0, 0, 1, 1], np.uint8),
        counts={"truncated_pairs": 2},
        labels=np.array([1, -1]),
    )


def never() -> PairEncoding:
    raise AssertionError("encoded again")


def assert_equal(found: Encoding, expected: Encoding) -> None:
    assert type(found) is type(expected)
    for f in fields(expected):
        a, b = getattr(found, f.name), getattr(expected, f.name)
        if f.name == "counts":
            assert a == b
        else:
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_hit_equals_a_miss(own_cache: Path) -> None:
    missed = cached(PairEncoding, ("a", "b"), some_encoding)
    assert_equal(missed, some_encoding())
    assert_equal(cached(PairEncoding, ("a", "b"), never), some_encoding())
    assert [path.suffix for path in files_of(own_cache)] == [".safetensors"]


@pytest.mark.parametrize("kind", HEADED)
def test_a_hit_equals_a_miss_for_every_kind(
    kind: str, checkpoint: Checkpoint, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected: dict[str, type[Encoding]] = {
        "pairs": PairEncoding,
        "tags": TaggingEncoding,
        "questions": QuestionEncoding,
    }
    missed, hit = (
        TransformersAdapter(str(checkpoint("bert")), WIDE)._encode(
            HEADED[kind], TRAIN[kind](), settings()
        )
        for _ in range(2)
    )
    assert len(files_of(own_cache)) == 1
    assert type(missed) is expected[kind]
    assert_equal(hit, missed)


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"damaged", None])
def test_a_damaged_file_is_replaced_with_a_warning(content: bytes | None, own_cache: Path) -> None:
    cached(PairEncoding, ("a",), some_encoding)
    (path,) = files_of(own_cache)
    whole = path.read_bytes()
    path.write_bytes(whole[:-5] if content is None else content)
    with pytest.warns(UserWarning, match=r"xharness: .*damaged cache file.*encoding again"):
        assert_equal(cached(PairEncoding, ("a",), some_encoding), some_encoding())
    assert path.stat().st_size == len(whole)
    assert_equal(cached(PairEncoding, ("a",), never), some_encoding())


def test_a_file_of_another_kind_is_replaced_with_a_warning(own_cache: Path) -> None:
    cached(PairEncoding, ("a",), some_encoding)
    with pytest.warns(UserWarning, match="damaged cache file"), pytest.raises(AssertionError):
        cached(TaggingEncoding, ("a",), never)  # type: ignore[arg-type]


def test_a_folder_that_cannot_be_written_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A file where the folder should be stops even the superuser.
    (tmp_path / "taken").write_text("", encoding="utf-8")
    for folder in (tmp_path / "taken", Path("/proc/no-such-folder")):
        monkeypatch.setenv("XHARNESS_CACHE", str(folder))
        for _ in range(2):
            assert_equal(cached(PairEncoding, ("a",), some_encoding), some_encoding())


def test_a_full_disk_is_done_without(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Encoding, path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Encoding, "save", full)
    assert_equal(cached(PairEncoding, ("a",), some_encoding), some_encoding())


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("XHARNESS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder() == Path("/somewhere/xharness")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "/home/someone")
    assert cache_folder() == Path("/home/someone/.cache/xharness")


def test_the_key_holds_what_decides_an_encoding(
    checkpoint: Checkpoint, own_cache: Path, tmp_path: Path
) -> None:
    def encode(family: str, task: Any, split: Any, **values: Any) -> int:
        """Encode, and return how many files there are now."""
        adapter = TransformersAdapter(str(checkpoint(family)), WIDE)
        adapter._encode(task, split, settings(**values))
        return len(files_of(own_cache))

    assert encode("bert", PAIRS, pairs()) == 1
    # Nothing of these decides an encoding.
    assert encode("bert", PAIRS, pairs(), learning_rate=1e-3, n_best=3, epochs=9, layer=1) == 1
    assert encode("xlm-roberta", PAIRS, pairs()) == 2
    # The vocabulary is that of BERT, but there are no token types.
    assert encode("distilbert", PAIRS, pairs()) == 3
    assert encode("bert", PAIRS, pairs(), max_length=32) == 4
    assert encode("bert", PAIRS, pairs(), doc_stride=8) == 5
    assert encode("bert", PAIRS, pairs(), max_query_length=8) == 6
    order = PAIRS.model_copy(update={"labels": PAIRS.labels[::-1]})
    assert encode("bert", order, pairs()) == 7
    other = split_of(PAIRS, [replace(e, label="neutral") for e in pairs().examples])  # type: ignore[arg-type]
    assert encode("bert", PAIRS, other) == 8
    assert encode("bert", PAIRS, replace(pairs(), language="de")) == 9
    assert encode("bert", PAIRS, replace(pairs(), name="dev")) == 10
    assert encode("bert", PAIRS, replace(pairs(), examples=pairs().examples[:3])) == 11
    assert encode("bert", TAGS, tags()) == 12
    copy = Path(shutil.copytree(checkpoint("bert"), tmp_path / "copy"))
    adapter = TransformersAdapter(str(copy), WIDE)
    adapter._encode(PAIRS, pairs(), settings())
    assert len(files_of(own_cache)) == 12, "the place of a checkpoint is no part of the key"


def test_a_training_from_the_cache_is_the_same(
    checkpoint: Checkpoint, own_cache: Path, tmp_path: Path
) -> None:
    contents = []
    for name in ("miss", "hit"):
        into = tmp_path / name
        into.mkdir()
        adapter = open_model(str(checkpoint("xlm-roberta")), WIDE)
        adapter.finetune(TAGS, tags(), None, settings(epochs=2), 1, into, Silent())
        contents.append((into / "model.safetensors").read_bytes())
        assert len(files_of(own_cache)) == 1
    assert contents[0] == contents[1]


def test_loading_names_the_file(own_cache: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        PairEncoding.load(tmp_path / "absent")
    assert error.value.where == str(tmp_path / "absent")
