"""Tar archives from strangers, read in memory and never unpacked to disk."""

from __future__ import annotations

import bz2
import gzip
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import IO, cast

from xharness.errors import InputError

MAX_BYTES = 512 * 1024 * 1024
"""Bytes an archive may unpack to; the largest raw archive of these tasks needs under a fifth."""

MAX_MEMBERS = 10_000

_SUFFIXES = (".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar")


def archive_stem(path: Path) -> str | None:
    """The name of a tar archive without its suffix (``af`` of ``af.tar.gz``); else None."""
    for suffix in _SUFFIXES:
        if path.name.endswith(suffix):
            return path.name[: -len(suffix)]
    return None


def read_members(
    path: Path, wanted: Callable[[PurePosixPath], bool], *, max_bytes: int = MAX_BYTES
) -> dict[PurePosixPath, bytes]:
    """The wanted files of a tar archive: plain, gzip or bzip2.

    Args:
        path: The archive.
        wanted: Whether a member is kept, from its path inside the archive.
        max_bytes: The most bytes that the archive may unpack to, headers included.

    Returns:
        The bytes of each kept member by its path, in the archive's order.

    Raises:
        InputError: It is no tar archive; it is cut or damaged; it unpacks to too much or holds
            too many members; a member's path is absolute or has ``..``; a member is a link, a
            device or a sparse file; a kept path occurs twice.
    """
    kept: dict[PurePosixPath, bytes] = {}
    try:
        # Stream mode: members are met in order, and every byte passes through the counter.
        with _unpack(path) as stream:
            counted = cast(IO[bytes], _Counted(stream, path, max_bytes))
            archive = tarfile.open(fileobj=counted, mode="r|")  # noqa: SIM115
            for count, member in enumerate(archive, 1):
                if count > MAX_MEMBERS:
                    raise _refused(path, f"more than {MAX_MEMBERS} members")
                name = PurePosixPath(member.name)
                if name.is_absolute() or ".." in name.parts:
                    raise _refused(path, f"member {member.name!r} points outside")
                if member.isdir():
                    continue
                if not member.isreg() or member.issparse():
                    raise _refused(path, f"member {member.name!r} is no plain file")
                if member.size > max_bytes:
                    raise _refused(path, f"member {member.name!r} is over {max_bytes} bytes")
                if name.name.startswith(".") or not wanted(name):
                    continue
                if name in kept:
                    raise _refused(path, f"member {member.name!r} occurs twice")
                content = archive.extractfile(member)
                data = b"" if content is None else content.read()
                if len(data) != member.size:
                    raise _refused(path, f"member {member.name!r} is cut short")
                kept[name] = data
            # tarfile stops in silence at a damaged header: what follows the end must be zeros.
            # Reading on to the last byte also lets gzip and bzip2 check their sums.
            rest = cast(IO[bytes], archive.fileobj)
            while chunk := rest.read(tarfile.RECORDSIZE):
                if chunk.strip(b"\0"):
                    raise _refused(path, "a header is damaged")
    except (tarfile.TarError, OSError, EOFError, ValueError, zlib.error) as problem:
        raise InputError(
            f"no readable tar archive: {problem}", where=path, mend="fetch it again"
        ) from problem
    return kept


def _unpack(path: Path) -> IO[bytes]:
    """The unpacked stream, chosen by the file's first bytes rather than by its name."""
    with path.open("rb") as start:
        magic = start.read(3)
    if magic.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.open(path, "rb"))
    if magic == b"BZh":
        return cast(IO[bytes], bz2.open(path, "rb"))
    return path.open("rb")


class _Counted:
    """A stream that refuses to give more than a number of bytes."""

    def __init__(self, stream: IO[bytes], path: Path, limit: int):
        self._stream = stream
        self._path = path
        self._left = limit

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise _refused(self._path, "it unpacks to too many bytes")
        return data


def _refused(path: Path, what: str) -> InputError:
    return InputError(
        f"archive refused: {what}", where=path, mend="unpack a trusted copy and give its folder"
    )
