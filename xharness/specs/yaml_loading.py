"""Safe YAML with line numbers, duplicate-key errors and ``include``.

Two things differ from plain ``yaml.safe_load``. Booleans are only ``true`` and ``false``, as in YAML 1.2, so the
language code ``no`` stays a string; and numbers may be written ``2e-5``, which YAML 1.1 reads as a string.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from xharness.errors import InputError

KeyPath = tuple[str | int, ...]


class _Loader(yaml.SafeLoader):
    """``SafeLoader`` with the YAML 1.2 core rules for booleans and floats."""


_REDEFINED = {f"tag:yaml.org,2002:{name}" for name in ("bool", "float", "timestamp")}
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _REDEFINED]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$|^[-+]?\.(?:inf|nan)$"),
    list("-+0123456789."),
)
_PLAIN_TAGS = {
    f"tag:yaml.org,2002:{name}" for name in ("map", "seq", "str", "int", "float", "bool", "null")
}


#: Values in one file: a few lines of aliases to aliases would unfold to more than any memory holds.
MAX_VALUES = 100_000


@dataclass(frozen=True)
class Document:
    """A YAML mapping and where each of its keys stands.

    Attributes:
        path: The file that was asked for.
        data: The mapping, includes merged in.
        places: ``file:line`` of each key path.
    """

    path: Path
    data: dict[str, Any]
    places: dict[KeyPath, str] = field(default_factory=dict)

    def place(self, keys: KeyPath) -> str:
        """Return ``file:line`` of the key path or of its nearest known parent."""
        for end in range(len(keys), 0, -1):
            if keys[:end] in self.places:
                return self.places[keys[:end]]
        return str(self.path)


def load_document(path: Path) -> Document:
    """Read one YAML file and what it includes.

    A top-level ``include: other.yaml`` (or a list of them), relative to the including file, is read first; the
    including file's keys then override it, mappings merging key by key.

    Raises:
        InputError: The file is absent or no valid YAML mapping, repeats a key, or its includes form a cycle.
    """
    return _load(path, ())


def _load(path: Path, including: tuple[Path, ...]) -> Document:
    resolved = path.resolve()
    if resolved in including:
        chain = " -> ".join(p.name for p in (*including, resolved))
        raise InputError(f"include cycle: {chain}", where=including[-1], mend="remove one include")
    own = _parse(path)
    includes = own.data.pop("include", [])
    if isinstance(includes, str):
        includes = [includes]
    if not isinstance(includes, list) or not all(isinstance(name, str) for name in includes):
        raise InputError(
            "include must be a file name or a list of file names", where=own.place(("include",))
        )
    data: dict[str, Any] = {}
    places: dict[KeyPath, str] = {}
    for name in includes:
        included = path.parent / name
        if not included.is_file():
            raise InputError(f"included file {name} does not exist", where=own.place(("include",)))
        base = _load(included, (*including, resolved))
        data = merge(data, base.data)
        places.update(base.places)
    return Document(path, merge(data, own.data), {**places, **own.places})


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with ``over`` laid on it; mappings merge, everything else is replaced."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        both = isinstance(value, Mapping) and isinstance(below, Mapping)
        merged[key] = merge(below, value) if both else value  # type: ignore[arg-type]
    return merged


def parse_scalar(text: str) -> Any:
    """Parse one value of ``--set KEY=VALUE`` by the same rules as a spec file."""
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506  (a SafeLoader subclass)
    except yaml.YAMLError as error:
        raise InputError(f"{text!r} is not a YAML value", where="--set") from error


def _parse(path: Path) -> Document:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise InputError("no such file", where=path) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read as UTF-8 text: {error}", where=path) from error
    loader = None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        places: dict[KeyPath, str] = {}
        data = _construct(loader, node, (), places, path)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise InputError(
            f"not valid YAML: {error.problem or error.context}", where=where
        ) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # PyYAML's own message of a forbidden character has two lines.
        raise InputError(f"not valid YAML: {' '.join(str(error).split())}", where=path) from error
    finally:
        if loader is not None:
            loader.dispose()
    if not isinstance(data, dict):
        raise InputError("a mapping is expected at the top", where=path)
    return Document(path, data, places)


def _construct(
    loader: _Loader,
    node: yaml.Node | None,
    keys: KeyPath,
    places: dict[KeyPath, str],
    path: Path,
) -> Any:
    if node is not None and node.tag not in _PLAIN_TAGS:
        where = f"{path}:{node.start_mark.line + 1}"
        raise InputError(f"tag {node.tag} is not allowed", where=where, mend="plain YAML only")
    if len(places) > MAX_VALUES:
        raise InputError(f"more than {MAX_VALUES} values, aliases unfolded", where=path)
    if isinstance(node, yaml.MappingNode):
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            where = f"{path}:{key_node.start_mark.line + 1}"
            if not isinstance(key_node, yaml.ScalarNode):
                raise InputError("a key must be a plain word", where=where)
            key = str(key_node.value)
            if key in mapping:
                raise InputError(f"key {key!r} occurs twice", where=where, mend="keep one")
            places[(*keys, key)] = where
            mapping[key] = _construct(loader, value_node, (*keys, key), places, path)
        return mapping
    if isinstance(node, yaml.SequenceNode):
        items = []
        for index, item in enumerate(node.value):
            places[(*keys, index)] = f"{path}:{item.start_mark.line + 1}"
            items.append(_construct(loader, item, (*keys, index), places, path))
        return items
    return None if node is None else loader.construct_object(node, deep=True)
