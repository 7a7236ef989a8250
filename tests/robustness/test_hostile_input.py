"""Nothing from outside runs, and what is made to exhaust or mislead is refused in one line."""

from __future__ import annotations

import ast
import io
import json
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import xharness
from xharness.data.readers import READERS
from xharness.errors import InputError
from xharness.records.store import read_record
from xharness.scoring.answers import read_answers
from xharness.scoring.ranking import read_rankings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.specs.yaml_loading import load_document
from xharness.submission.archive import submission_folder

#: Calls that run what they are given, or load what can.
FORBIDDEN = {
    *("eval", "exec", "compile", "__import__"),
    *("pickle.load", "pickle.loads", "pickle.Unpickler", "torch.load", "joblib.load", "dill.load"),
    *("marshal.load", "marshal.loads", "shelve.open", "os.system", "os.popen", "yaml.unsafe_load"),
    *("yaml.full_load", "np.load", "numpy.load", "shutil.unpack_archive"),
}


@cache
def calls() -> list[tuple[str, ast.Call, str]]:
    """Return every call of the package: its name as written, the call and its place."""
    root = Path(xharness.__file__).parent
    found = []
    for path in sorted(root.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                place = f"{path.relative_to(root)}:{node.lineno}"
                found.append((ast.unparse(node.func), node, place))
    return found


def test_no_call_of_the_package_runs_or_unpickles_what_it_is_given() -> None:
    found = calls()
    assert len(found) > 2000
    assert [place for name, _, place in found if name in FORBIDDEN] == []
    keywords = [
        (keyword.arg, ast.unparse(keyword.value), place)
        for _, call, place in found
        for keyword in call.keywords
    ]
    trusted = [(value, place) for name, value, place in keywords if name == "trust_remote_code"]
    assert trusted
    assert {value for value, _ in trusted} == {"False"}
    for name in ("shell", "allow_pickle"):
        assert [place for arg, value, place in keywords if arg == name and value != "False"] == []


def test_every_yaml_loader_is_a_safe_one() -> None:
    for name, call, place in calls():
        if name == "yaml.load":
            loaders = [ast.unparse(k.value) for k in call.keywords if k.arg == "Loader"]
            assert loaders == ["_Loader"], place
    from yaml import SafeLoader

    from xharness.specs.yaml_loading import _Loader

    assert issubclass(_Loader, SafeLoader)


@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/object/apply:os.system ['touch PROOF']",
        "a: !!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path ['PROOF']]",
        "a: !!python/name:os.system",
        "!!python/object/new:type {args: ['z', [], {}]}",
        "a: !!binary aGk=",
        "a: !!set {x}",
    ],
)
def test_yaml_tags_are_refused_and_make_nothing(text: str, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    path = tmp_path / "spec.yaml"
    path.write_text(text.replace("PROOF", str(proof)), encoding="utf-8")
    with pytest.raises(InputError) as error:
        load_document(path)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)
    assert not proof.exists()


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 999 + "]" * 999 + "x"])
def test_deep_json_is_refused_everywhere(text: str, tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text(text, encoding="utf-8")
    task = load(TaskSpec, "xquad")
    reads: list[Callable[[], object]] = [
        lambda: read_record(path),
        lambda: read_answers(path),
        lambda: read_rankings(path),
        lambda: READERS["squad_json"]({"file": path}, task, "test", {}, Counter()),
        lambda: READERS["xquad_r"]({"en": path, "questions": path}, task, "test", {}, Counter()),
        lambda: load_document(path),
    ]
    for read in reads:
        with pytest.raises(InputError) as error:
            read()
        assert "\n" not in str(error.value)
        assert str(path) in str(error.value)


def test_nul_bytes_are_characters_like_others(tmp_path: Path) -> None:
    path = tmp_path / "test-en.tsv"
    path.write_bytes(b"a\0b\tc\tneutral\n\0\t\0\tentailment\n")
    task = load(TaskSpec, "xnli")
    first, second = READERS["pair_tsv"]({"file": path}, task, "test", {}, Counter())
    assert (first.premise, second.hypothesis) == ("a\0b", "\0")  # type: ignore[union-attr]


def tar_of(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def zip_of(*names: str, content: bytes = b"neutral\n") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


ARCHIVES = {
    "up.tar": tar_of((member("xnli/../../../proof"), b"ran")),
    "absolute.tar": tar_of((member("/tmp/proof"), b"ran")),
    "link.tar": tar_of((member("xnli", tarfile.SYMTYPE, "/"), b""), (member("xnli/proof"), b"x")),
    "hard-link.tar": tar_of((member("a", tarfile.LNKTYPE, "/etc/passwd"), b"")),
    "device.tar": tar_of((member("a", tarfile.CHRTYPE), b"")),
    "file-and-folder.tar": tar_of((member("a"), b"x"), (member("a/b"), b"x")),
    "dot.tar": tar_of((member("."), b"x")),
    "long.tar": tar_of((member("x" * 300), b"x")),
    "up.zip": zip_of("../proof"),
    "absolute.zip": zip_of("/tmp/proof"),
    "dot.zip": zip_of("."),
    "nameless.zip": zip_of(""),
    "file-and-folder.zip": zip_of("a", "a/b"),
    "long.zip": zip_of("x" * 300),
    "drive.zip": zip_of("C:\\proof"),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_archives_write_nothing_outside(name: str, tmp_path: Path) -> None:
    archive = tmp_path / "inside" / name
    archive.parent.mkdir()
    archive.write_bytes(ARCHIVES[name])
    with pytest.raises(InputError) as error, submission_folder(archive):
        raise AssertionError("unpacked")
    assert "\n" not in str(error.value)
    assert str(archive) in str(error.value)
    assert [path.name for path in tmp_path.rglob("*")] == ["inside", name]


def test_a_zip_that_lies_about_its_sizes(tmp_path: Path) -> None:
    """The headers say one byte, the stream unpacks to a megabyte."""
    content = zip_of("a", content=bytes(1_000_000))
    archive = tmp_path / "lies.zip"
    archive.write_bytes(
        content.replace((1_000_000).to_bytes(4, "little"), (1).to_bytes(4, "little"))
    )
    with pytest.raises(InputError), submission_folder(archive):
        raise AssertionError("unpacked")


def test_a_record_with_half_a_character_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text(json.dumps({"schema_version": 1, "command": "\udcff"}), encoding="utf-8")
    with pytest.raises(InputError, match="half a character"):
        read_record(path)
