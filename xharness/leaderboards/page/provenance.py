"""What the page tells of a record: enough to make the figure again, without what only a log needs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from math import isfinite

from xharness.records.record import Record

#: Long, and of use only in a plot of one's own.
_LEFT_OUT = {"losses"}


class Pool:
    """Values that many records share, each held once.

    Attributes:
        values: The values, in order of their first use.
    """

    def __init__(self) -> None:
        self.values: list[object] = []
        self._places: dict[str, int] = {}

    def place(self, value: object) -> int:
        """Return the place of a value, which is added where it is new."""
        value = _plain(value)
        key = json.dumps(value)
        if key not in self._places:
            self._places[key] = len(self.values)
            self.values.append(value)
        return self._places[key]


def provenance(record: Record, pool: Pool) -> dict[str, object]:
    """Return what the page shows of a record; sections that records share are places in the pool.

    The counts are sums over the languages.
    """
    protocol = record.protocol.model_dump(mode="json", exclude_none=True)
    training = _told(protocol.pop("training", None) or {})
    counts: Counter[str] = Counter()
    for result in record.languages.values():
        counts.update(result.counts)
    sections = {
        "model": record.model,
        "protocol": protocol,
        "data": record.data.model_dump(mode="json", exclude_none=True),
        "environment": record.environment,
        "command": record.command,
        "counts": dict(sorted(counts.items())),
        "training": training,
        "timings": record.timings,
    }
    return {
        "task": record.task_title,
        "suite": record.suite,
        "seed": record.seed,
        "profile": record.profile,
        "score": _plain(record.score),
        "spec": record.spec_sha256,
        "content": record.content_sha256,
        "sections": {name: pool.place(value) for name, value in sections.items() if value},
    }


def _told(training: Mapping[str, object]) -> dict[str, object]:
    """Return what is shown of a training, or of each language's own."""
    return {
        key: _told(value) if isinstance(value, Mapping) else value
        for key, value in training.items()
        if key not in _LEFT_OUT
    }


def _plain(value: object) -> object:
    """Return a value as JSON can hold it; what it cannot hold becomes text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    return value if isinstance(value, float) and isfinite(value) else str(value)
