"""A process of its own that reads from the hub: ``HF_ENDPOINT`` and ``HF_HOME`` are settled on import.

Jobs come as JSON on standard input; their results, and the hosts that the process looked up, go to a file.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from xharness.data.hub import HubDataSource
from xharness.errors import InputError
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec

HOSTS: set[str] = set()


def _note_host(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.getaddrinfo":
        HOSTS.add(str(arguments[0]))


def _task(name: str, hub: dict[str, Any]) -> TaskSpec:
    document = load(TaskSpec, name).model_dump()
    if hub:
        document["sources"]["hub"] = {**(document["sources"]["hub"] or {}), **hub}
    return TaskSpec.model_validate(document)


def _result(job: dict[str, Any], sources: dict[str, HubDataSource]) -> Any:
    try:
        key = json.dumps(job.get("source", {}))
        if key not in sources:
            sources[key] = HubDataSource(**job.get("source", {}))
        source = sources[key]
        task = _task(job["task"], job.get("hub", {}))
        if job.get("has"):
            return {"has": source.has(task, job["split"], job["language"])}
        split = source.read(task, job["split"], job["language"], job.get("limit"))
    except InputError as error:
        return {"error": str(error)}
    return {
        "examples": [dataclasses.asdict(example) for example in split.examples],
        "counts": dict(split.counts),
        "origin": split.origin,
        "available": split.available,
        "fingerprint": split.fingerprint,
        "describe": source.describe(),
    }


def main() -> None:
    """Run the jobs."""
    sys.addaudithook(_note_host)
    sources: dict[str, HubDataSource] = {}
    results = {name: _result(job, sources) for name, job in json.load(sys.stdin).items()}
    document = {"results": results, "hosts": sorted(HOSTS)}
    Path(sys.argv[1]).write_text(json.dumps(document), encoding="utf-8")


if __name__ == "__main__":
    main()
