"""Archives of submissions: the same scores as the folder, and nothing that reaches outside."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from xharness.errors import InputError
from xharness.submission import archive
from xharness.submission.archive import submission_folder

FILES = {"xnli/test-en.tsv": "neutral\n", "xquad/test-en.json": "{}\n"}


def zipped(path: Path, files: dict[str, str], mode: int = 0) -> Path:
    with zipfile.ZipFile(path, "w") as out:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            out.writestr(info, content)
    return path


def tarred(path: Path, files: dict[str, str]) -> Path:
    with tarfile.open(path, "w:gz") as out:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            out.addfile(info, io.BytesIO(content.encode()))
    return path


def contents(path: Path) -> dict[str, str]:
    with submission_folder(path) as folder:
        return {
            str(p.relative_to(folder)): p.read_text("utf-8")
            for p in folder.rglob("*")
            if p.is_file()
        }


def test_zip_and_tar_hold_what_the_folder_holds(tmp_path: Path) -> None:
    assert contents(zipped(tmp_path / "a.zip", FILES)) == FILES
    assert contents(tarred(tmp_path / "a.tar.gz", FILES)) == FILES


def test_folder_around_the_tasks_is_stepped_into(tmp_path: Path) -> None:
    wrapped = {f"mine/{name}": content for name, content in FILES.items()}
    assert contents(zipped(tmp_path / "a.zip", wrapped)) == FILES


def test_single_task_is_not_taken_for_a_folder_around(tmp_path: Path) -> None:
    files = {"xnli/test-en.tsv": "neutral\n"}
    assert contents(zipped(tmp_path / "a.zip", files)) == files


def test_folder_is_given_back_as_it_is(tmp_path: Path) -> None:
    with submission_folder(tmp_path) as folder:
        assert folder == tmp_path


@pytest.mark.parametrize(
    "name", ["../out.tsv", "/out.tsv", "xnli/../../out.tsv", "..\\out.tsv", "C:/out.tsv"]
)
def test_member_that_points_outside_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="points outside"):
        contents(zipped(tmp_path / "a.zip", {name: "x"}))
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


def test_link_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no plain file"):
        contents(zipped(tmp_path / "a.zip", {"xnli": "/etc"}, stat.S_IFLNK | 0o777))


def test_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("xnli/test-en.tsv", b"\0" * 100_000)
    with pytest.raises(InputError, match="unpacks to more than 1000 bytes"):
        archive._zip_members(path, max_bytes=1000)


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.txt"])
def test_other_files_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match=name):
        contents(path)
