"""Archives from strangers."""

from __future__ import annotations

import contextlib
import gzip
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.errors import InputError
from xharness.preparation.archives import archive_stem, read_members

from .raw import tar_bytes


def unpack(folder: Path, data: bytes, limit: int = 10_000_000) -> dict[str, bytes]:
    path = folder / "x.tar.gz"
    path.write_bytes(data)
    members = read_members(path, lambda name: True, max_bytes=limit)
    return {str(name): content for name, content in members.items()}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2"])
def test_plain_gzip_and_bzip2_are_read(tmp_path: Path, mode: str) -> None:
    members = {"a": b"1", "b/c": b"", "d": bytes(70_000)}
    assert unpack(tmp_path, tar_bytes({**members}, mode)) == members


def test_only_wanted_members_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    path.write_bytes(tar_bytes({"a": b"1", "b": b"2", ".b": b"3"}, "w"))
    assert [str(name) for name in read_members(path, lambda name: "b" in name.name)] == ["b"]


@pytest.mark.parametrize("name", ["../a", "/a", "a/../../b", "b/.."])
def test_a_path_that_points_outside_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="points outside"):
        unpack(tmp_path, tar_bytes({name: b"1"}))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    header = tarfile.TarInfo("train")
    header.type, header.linkname = kind, "dev"
    with pytest.raises(InputError, match="no plain file"):
        unpack(tmp_path, tar_bytes({"train": header}))


def test_a_member_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="occurs twice"):
        unpack(tmp_path, tar_bytes({"train": b"1", "./train": b"2"}))


def test_a_bomb_is_refused_by_its_declared_size(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="over 1000000 bytes"):
        unpack(tmp_path, tar_bytes({"train": bytes(5_000_000)}), limit=1_000_000)


def test_many_small_members_are_counted_together(tmp_path: Path) -> None:
    members: dict[str, bytes | tarfile.TarInfo] = {str(n): bytes(1000) for n in range(100)}
    with pytest.raises(InputError, match="too many bytes"):
        unpack(tmp_path, tar_bytes(members), limit=50_000)


def test_a_bomb_inside_a_header_is_counted_too(tmp_path: Path) -> None:
    # An extended header is read into memory by tarfile itself, before any member is seen.
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 40_000_000
    data = gzip.compress(header.tobuf(tarfile.USTAR_FORMAT) + bytes(40_000_000))
    with pytest.raises(InputError, match="too many bytes"):
        unpack(tmp_path, data, limit=1_000_000)


def test_damage_is_told_and_not_taken_for_the_end(tmp_path: Path) -> None:
    whole = tar_bytes({"a": b"1", "b": b"2"}, "w")
    second_header = 2 * tarfile.BLOCKSIZE  # after the header and the one block of the first member
    damaged = whole[:second_header] + b"\xff" * 100 + whole[second_header + 100 :]
    for data in (
        gzip.compress(whole)[:-20],
        gzip.compress(whole)[:-8] + b"\x00" * 8,
        gzip.compress(damaged),
        whole[:600],
        b"",
        b"no archive",
        b"\x1f\x8b",
    ):
        with pytest.raises(InputError, match=r"no readable tar archive|damaged"):
            unpack(tmp_path, data)


@given(st.binary(max_size=2000), st.integers(0, 2000))
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, place: int
) -> None:
    whole = tar_bytes({"a": b"1", "b": b"2"}, "w")
    data = whole[:place] + noise + whole[place + len(noise) :]
    folder = tmp_path_factory.mktemp("tar")
    with contextlib.suppress(InputError):  # any other exception fails the test
        members = unpack(folder, data, limit=100_000)
        assert sum(len(content) for content in members.values()) <= 100_000


def test_stems() -> None:
    assert archive_stem(Path("a/zh-min-nan.tar.gz")) == "zh-min-nan"
    assert archive_stem(Path("x-dev.tgz")) == "x-dev"
    assert archive_stem(Path("x.zip")) is None
