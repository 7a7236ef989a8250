"""Safe YAML: booleans, floats, duplicate keys, includes, places."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.errors import InputError
from xharness.specs.yaml_loading import load_document, merge, parse_scalar


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_no_is_norwegian_and_not_false(tmp_path: Path) -> None:
    document = load_document(
        write(tmp_path, "a.yaml", "languages: [no, en, on, yes]\nflag: true\n")
    )
    assert document.data == {"languages": ["no", "en", "on", "yes"], "flag": True}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2e-5", 2e-5),
        ("1E3", 1000.0),
        ("0.1", 0.1),
        ("3", 3),
        ("last", "last"),
        ("1e", "1e"),
        ("", None),
    ],
)
def test_numbers_are_read_as_yaml_1_2_has_them(text: str, value: object) -> None:
    parsed = parse_scalar(text)
    assert parsed == value
    assert type(parsed) is type(value)


def test_repeated_key_names_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, "a.yaml", "name: x\nsources:\n  files: 1\n  files: 2\n")
    with pytest.raises(InputError, match=r"a\.yaml:4: key 'files' occurs twice"):
        load_document(path)


def test_include_merges_mappings_and_replaces_lists(tmp_path: Path) -> None:
    write(tmp_path, "base.yaml", "a: {x: 1, y: [1, 2]}\nb: 1\n")
    path = write(tmp_path, "top.yaml", "include: base.yaml\na: {y: [3]}\n")
    document = load_document(path)
    assert document.data == {"a": {"x": 1, "y": [3]}, "b": 1}
    assert document.place(("b",)).endswith("base.yaml:2")
    assert document.place(("a", "y")).endswith("top.yaml:2")


def test_include_cycle_is_named(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "include: b.yaml\n")
    write(tmp_path, "b.yaml", "include: a.yaml\n")
    with pytest.raises(InputError, match=r"include cycle: a\.yaml -> b\.yaml -> a\.yaml"):
        load_document(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1, 2\n", "not valid YAML"),
        ("- 1\n", "a mapping is expected"),
        ("include: 3\n", "include must be a file name"),
        ("include: other.yaml\n", "does not exist"),
        ("a: !!python/object/apply:os.system ['true']\n", "is not allowed"),
        ("? [a, b]\n: 1\n", "a key must be a plain word"),
    ],
)
def test_bad_documents_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_document(write(tmp_path, "a.yaml", text))


def test_bytes_that_are_no_utf8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"a: \xff\n")
    with pytest.raises(InputError, match="UTF-8"):
        load_document(path)


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("yaml") / "a.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with suppress(InputError):
        assert isinstance(load_document(path).data, dict)


mappings = st.recursive(
    st.integers(),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
).filter(lambda value: isinstance(value, dict))


@given(mappings, mappings)
def test_merge_keeps_every_key_and_prefers_the_upper(
    base: dict[str, object], over: dict[str, object]
) -> None:
    merged = merge(base, over)
    assert set(merged) == set(base) | set(over)
    assert merge(merged, over) == merged
    assert merge({}, base) == base
