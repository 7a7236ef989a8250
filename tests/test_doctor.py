"""The doctor's findings, with faults injected."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path

import pytest

from xharness.doctor.diagnosis import diagnose
from xharness.doctor.findings import Finding, report, size_text
from xharness.doctor.folders import cache_folders


def found(findings: tuple[Finding, ...], name: str) -> Finding:
    return next(finding for finding in findings if finding.name == name)


def faults(findings: tuple[Finding, ...]) -> list[Finding]:
    return [finding for finding in findings if finding.fault]


def test_a_sound_installation_has_no_fault() -> None:
    findings = diagnose()
    assert faults(findings) == []
    assert found(findings, "torch").value == version("torch")
    assert found(findings, "encodings").value.startswith(
        f"{os.environ['XHARNESS_CACHE']}: writable"
    )
    assert found(findings, "access").value.startswith("offline")  # as the tests' environment says
    assert "transformers" in found(findings, "model adapters").value
    assert found(findings, "--device auto").value in (
        "cpu, float32",
        "cuda, bfloat16",
        "cuda, float32",
    )
    assert report(findings).endswith("\neverything required is there")


def test_a_cache_below_a_file_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    findings = diagnose(caches={"encodings": tmp_path / "file" / "cache"})
    (fault,) = faults(findings)
    assert fault.name == "encodings"
    assert f"not writable: {tmp_path / 'file'} is no folder" in fault.value
    assert fault.mend is not None
    text = report(findings)
    assert "everything required is there" not in text
    assert text.splitlines()[-1].startswith("fault: encodings: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser writes everywhere")
def test_a_cache_without_permission_is_a_fault(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    (fault,) = faults(diagnose(caches={"encodings": tmp_path}))
    assert "Permission denied" in fault.value


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no file system that refuses files")
def test_a_file_system_that_refuses_files_is_a_fault_for_the_superuser_too() -> None:
    (fault,) = faults(diagnose(caches={"encodings": Path("/proc/self/net")}))
    assert "not writable" in fault.value


def test_the_content_of_a_cache_is_counted_once(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "blob").write_bytes(bytes(2048))
    (tmp_path / "link").symlink_to(tmp_path / "a" / "blob")
    findings = diagnose(caches={"encodings": tmp_path})
    assert found(findings, "encodings").value == f"{tmp_path}: writable, 1 files, 2 KiB"


def test_looking_leaves_nothing_behind(tmp_path: Path) -> None:
    findings = diagnose(caches={"encodings": tmp_path / "new" / "cache"})
    assert found(findings, "encodings").value.endswith("writable, not there yet")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("requirement", "value", "mend"),
    [
        ("no-such-package>=2", "missing", "pip install 'no-such-package>=2'"),
        ("numpy>=999", f"{version('numpy')}, needs >=999", "pip install 'numpy>=999'"),
    ],
)
def test_a_package_that_is_absent_or_too_old_is_a_fault(
    requirement: str, value: str, mend: str
) -> None:
    (fault,) = faults(diagnose(requirements=["pydantic", requirement]))
    assert (fault.section, fault.value, fault.mend) == ("versions", value, mend)


def test_an_extra_that_is_absent_is_no_fault() -> None:
    findings = diagnose(
        requirements=[
            "numpy",
            'no-such-package; extra == "cluster"',
            'numpy; extra == "tables"',
            'no-such-package; python_version < "3"',
        ]
    )
    assert faults(findings) == []
    cluster = found(findings, "cluster")
    assert (cluster.value, cluster.mend) == (
        "no-such-package missing",
        "pip install 'xharness[cluster]'",
    )
    assert found(findings, "tables").value == "installed"


def test_a_library_that_breaks_is_named_and_the_rest_is_examined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken() -> bool:
        raise RuntimeError("driver mismatch")

    monkeypatch.setattr("torch.cuda.is_available", broken)
    findings = diagnose()
    (fault,) = faults(findings)
    assert (fault.section, fault.value) == ("devices", "RuntimeError: driver mismatch")
    assert found(findings, "task specifications")


def test_the_hub_that_does_not_answer_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(
        "huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE",
        "http://127.0.0.1:9/{repo_id}/resolve/{revision}/{filename}",
    )
    findings = diagnose(caches={})
    assert faults(findings) == []
    access = found(findings, "access")
    assert access.value.startswith("no google/xtreme at http://127.0.0.1:9 (")
    assert access.mend is not None


def test_caches_follow_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XHARNESS_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "tables"))
    folders = cache_folders()
    assert folders["encodings"] == tmp_path / "own"
    assert folders["datasets cache"] == tmp_path / "tables"


def test_columns_are_aligned() -> None:
    text = report([Finding("a", "x", "1"), Finding("a", "long", "2", "do"), Finding("b", "y", "3")])
    assert text.splitlines()[:5] == ["a", "  x     1", "  long  2 (do)", "", "b"]


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (1023, "1023 B"), (2048, "2 KiB"), (3 * 1024**3, "3.0 GiB")]
)
def test_sizes(count: int, text: str) -> None:
    assert size_text(count) == text
