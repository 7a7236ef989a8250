"""Options of an export as typed."""

from __future__ import annotations

import pytest

from xharness.errors import InputError
from xharness.export.options import ExportOptions


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"date": "31.1.2025"}, "--date: '31.1.2025' is no ISO 8601 date"),
        ({"source_url": "javascript:alert(1)"}, "--source-url: .* is no web address"),
        ({"source_url": "https://"}, "is no web address"),
        ({"developer": " "}, "--developer: the name is empty"),
        ({"developer": "a/b"}, "--developer: 'a/b' holds a slash"),
        ({"dataset": "xtreme"}, r"--dataset: 'xtreme' is no data set id \(owner/name\)"),
        ({"relationship": "self"}, r"--relationship: .* \(one of first_party, third_party,"),
    ],
)
def test_wrong_values_are_named(typed: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ExportOptions.checked(**typed)


def test_a_date_without_zone_is_utc() -> None:
    # 2025-01-31 00:00 UTC; two hours east it began two hours earlier.
    assert ExportOptions.checked(date="2025-01-31").timestamp == 1738281600
    assert ExportOptions.checked(date="2025-01-31T00:00:00+02:00").timestamp == 1738274400
    assert ExportOptions.checked().timestamp is None
