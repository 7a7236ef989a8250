"""A cached encoding that is not what was written is never used, whichever byte it is; and none is a program."""

from __future__ import annotations

import io
import os
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from xharness.errors import InputError
from xharness.models.encoding_cache import cached
from xharness.tasks.pair_classification import PairEncoding


def some_encoding() -> PairEncoding:
    return PairEncoding(
        ids=np.array([5, 6, 7, 8], np.int32),
        starts=np.array([0, 1, 4]),
        types=np.array([0, 0, 1, 1], np.uint8),
        counts={"truncated_pairs": 2},
        labels=np.array([1, -1]),
    )


def same(found: PairEncoding) -> bool:
    expected = some_encoding()
    return found.counts == expected.counts and all(
        np.array_equal(getattr(found, name), getattr(expected, name))
        and getattr(found, name).dtype == getattr(expected, name).dtype
        for name in ("ids", "starts", "types", "labels")
    )


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "encoding"
    some_encoding().save(path)
    assert same(PairEncoding.load(path))
    return path


def test_any_flipped_bit_is_found(written: Path) -> None:
    """Ids, labels, counts, names, types, shapes: all are under the digest. A blank of the header's padding may flip."""
    whole = written.read_bytes()
    header_end = 8 + int.from_bytes(whole[:8], "little")
    found = 0
    for at in range(len(whole)):
        written.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << at % 8)]) + whole[at + 1 :])
        told = ""
        try:
            assert same(PairEncoding.load(written)), at
            assert at < header_end
        except InputError as error:
            told = str(error)
        assert not told or "damaged cache file" in told
        found += bool(told)
    assert found > 0.95 * len(whole)


def test_any_truncation_is_found(written: Path) -> None:
    whole = written.read_bytes()
    for length in range(len(whole)):
        written.write_bytes(whole[:length])
        with pytest.raises(InputError, match="damaged cache file"):
            PairEncoding.load(written)


class Hostile:
    """Writes a file when it is unpickled."""

    def __init__(self, proof: Path):
        self.proof = proof

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.write_text, (self.proof, "ran"))


@pytest.mark.parametrize("form", ["pickle", "npz", "npy"])
def test_a_hostile_cache_file_is_replaced_and_runs_nothing(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XHARNESS_CACHE", str(tmp_path / "cache"))
    proof = tmp_path / "proof"
    cached(PairEncoding, ("a",), some_encoding)
    (path,) = (tmp_path / "cache/encodings").iterdir()
    buffer = io.BytesIO()
    hostile = np.array([Hostile(proof)], dtype=object)
    if form == "pickle":
        pickle.dump(Hostile(proof), buffer)
    elif form == "npz":
        np.savez(buffer, ids=hostile)
    else:
        np.save(buffer, hostile, allow_pickle=True)
    path.write_bytes(buffer.getvalue())
    with pytest.warns(UserWarning, match="damaged cache file"):
        assert same(cached(PairEncoding, ("a",), some_encoding))
    assert not proof.exists()
    # The content does what this test says it does.
    buffer.seek(0)
    if form == "pickle":
        pickle.load(buffer)
    else:
        loaded = np.load(buffer, allow_pickle=True)
        assert loaded["ids"] is not None if form == "npz" else True
    assert proof.read_text(encoding="utf-8") == "ran"


def test_a_whole_file_with_another_digest_is_refused(tmp_path: Path) -> None:
    """As a file would be that someone else made to fit the format."""
    arrays = {"ids": np.array([9], np.int32), "starts": np.array([0, 1])}
    arrays |= {"types": np.zeros(0, np.uint8), "labels": np.array([0])}
    metadata = {"kind": "pairs", "counts": "{}", "sha256": "0" * 64}
    metadata["kind"] = PairEncoding.kind
    save_file(arrays, tmp_path / "made", metadata)
    with pytest.raises(InputError, match="does not fit its digest"):
        PairEncoding.load(tmp_path / "made")


def test_processes_that_write_the_same_file_do_not_meet(tmp_path: Path) -> None:
    """Each writes aside under its own name, so none renames what another has half written."""
    children = []
    path = tmp_path / "shared"
    for _ in range(4):
        child = os.fork()
        if not child:
            for _ in range(50):
                some_encoding().save(path)
                if not same(PairEncoding.load(path)):
                    os._exit(1)
            os._exit(0)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes == [0] * 4
    assert list(tmp_path.iterdir()) == [path]


def test_no_warning_without_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XHARNESS_CACHE", str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            assert same(cached(PairEncoding, ("a",), some_encoding))
