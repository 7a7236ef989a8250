"""Submissions that come as an archive: unpacked into a temporary folder, nothing outside it touched."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from xharness.errors import InputError
from xharness.preparation.archives import MAX_BYTES, MAX_MEMBERS, archive_stem, read_members


@contextmanager
def submission_folder(path: Path) -> Iterator[Path]:
    """Yield the folder of a submission: the path itself, or what a ``.zip`` or tar archive holds.

    A single folder around the task folders is stepped into.

    Raises:
        InputError: The archive is damaged, too large, or has a member that is a link or points outside.
    """
    if not path.is_file():
        yield path
        return
    if path.suffix == ".zip":
        members = _zip_members(path)
    elif archive_stem(path) is not None:
        members = read_members(path, lambda name: True)
    else:
        raise InputError("neither a folder nor a .zip or tar archive", where=path)
    with TemporaryDirectory(prefix="xharness-submission-") as folder:
        root = Path(folder)
        try:
            for name, content in members.items():
                target = root / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        except (OSError, ValueError) as error:
            # No room, a name too long, or a file where others need a folder.
            raise InputError(f"cannot be unpacked: {error}", where=path) from error
        inner = list(root.iterdir())
        around = (
            len(inner) == 1 and inner[0].is_dir() and any(e.is_dir() for e in inner[0].iterdir())
        )
        yield inner[0] if around else root


def _zip_members(path: Path, max_bytes: int = MAX_BYTES) -> dict[PurePosixPath, bytes]:
    """Return the files of a zip archive by their path inside it."""
    members: dict[PurePosixPath, bytes] = {}
    left = max_bytes
    try:
        with zipfile.ZipFile(path) as archive:
            if len(archive.infolist()) > MAX_MEMBERS:
                raise _refused(path, f"more than {MAX_MEMBERS} members")
            for info in archive.infolist():
                name = PurePosixPath(info.filename.replace("\\", "/"))
                if not name.parts:
                    raise _refused(path, f"member {info.filename!r} has no name")
                if name.is_absolute() or ".." in name.parts or ":" in name.parts[0]:
                    raise _refused(path, f"member {info.filename!r} points outside")
                if info.is_dir():
                    continue
                kind = stat.S_IFMT(info.external_attr >> 16)
                if kind not in (0, stat.S_IFREG):
                    raise _refused(path, f"member {info.filename!r} is no plain file")
                if name in members:
                    raise _refused(path, f"member {info.filename!r} occurs twice")
                with archive.open(info) as file:
                    # The declared size may lie, so reading itself is bounded.
                    content = file.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise _refused(path, f"it unpacks to more than {max_bytes} bytes")
                members[name] = content
    except (
        zipfile.BadZipFile,
        OSError,
        EOFError,
        ValueError,
        RuntimeError,
        NotImplementedError,
    ) as error:
        raise InputError(
            f"no readable zip archive: {error}", where=path, mend="fetch it again"
        ) from error
    return members


def _refused(path: Path, what: str) -> InputError:
    return InputError(f"archive refused: {what}", where=path, mend="give a plain folder")
