"""Tiny raw sources, written by hand for these tests."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path


def write(path: Path, text: str) -> Path:
    """Write text exactly as given (no newline translation), folders made on the way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    return path


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


def row(number: str, form: str, upos: str = "_", head: str = "_", deps: str = "_") -> str:
    """A CoNLL-U row."""
    return "\t".join([number, form, "_", upos, "_", "_", head, "_", deps, "_"])


def block(*rows: str) -> str:
    """A sentence of CoNLL-U with the blank line that ends it."""
    return "\n".join(rows) + "\n\n"


def tar_bytes(members: dict[str, bytes | tarfile.TarInfo], mode: str = "w:gz") -> bytes:
    """A tar archive of plain files, or of ready headers without content."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
            else:
                header = tarfile.TarInfo(name)
                header.size = len(content)
                archive.addfile(header, io.BytesIO(content))
    return buffer.getvalue()
