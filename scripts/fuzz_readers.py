"""Fuzz every reader: whatever bytes a file holds, it is read, or refused in one line.

    python scripts/fuzz_readers.py [READER...] [--inputs 100000] [--corpus DIR] [--findings DIR]

needs ``pip install 'xharness[fuzz]'``. Inputs are made by atheris (libFuzzer), guided by the branches of xharness that
they reach, beginning with the sample data and the shipped specifications; in JSON single values are changed too. A
finding is any exception but ``InputError``, and a message of more than one line. The first input for each place that
raised one is kept in ``--findings``. Prints a line for each reader; exits with 1 where there was a finding.
"""

from __future__ import annotations

import argparse
import atexit
import io
import json
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import atheris

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
# atheris names every module that it instruments.
with redirect_stderr(io.StringIO()), atheris.instrument_imports(include=["xharness"]):
    from tests.robustness.fuzz_targets import SEPARATOR, Target, targets

#: Longest input: deep enough for nesting that passes Python's limit.
MAX_BYTES = 16_384

#: Seconds after which an input is taken for one that never ends, which is a finding.
TIMEOUT = 60

#: What no field expects.
ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2**63, 10**400, 0.5, float("inf"), float("nan")),
    *("", "\0", "a\nb", "\u2028", "\ud83d", "..", "/", [], {}, [[]], [{}], {"": None}),
)


def main() -> int:
    """Fuzz the readers that were named, or all, each in a process of its own; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("readers", nargs="*", metavar="READER")
    parser.add_argument("--inputs", type=int, default=100_000, help="inputs for each reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="folder that keeps inputs of new coverage")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--tally", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    known = targets()
    if unknown := sorted(set(options.readers) - set(known)):
        parser.error(f"no reader {unknown[0]!r}; there are {', '.join(known)}")
    if options.tally:
        (name,) = options.readers
        fuzz(known[name], name, options)
    print(f"{'reader':<22}{'inputs':>9}{'read':>9}{'refused':>9}{'seconds':>9}{'findings':>10}")
    found = 0
    for name in options.readers or known:
        found += _fuzz_apart(name, options)
    return 1 if found else 0


def _fuzz_apart(name: str, options: argparse.Namespace) -> int:
    """Fuzz one reader in a process of its own, print its line and return the number of findings."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="xharness-fuzz-") as scratch:
        tally = Path(scratch) / "tally.json"
        line = [sys.executable, __file__, name, "--tally", str(tally)]
        line += ["--inputs", str(options.inputs), "--seed", str(options.seed)]
        line += ["--findings", str(options.findings)]
        line += ["--corpus", str(options.corpus)] if options.corpus else []
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if not tally.is_file():
            print(f"{name}: ended early\n{done.stderr[-2000:]}")
            return 1
        counts = Counter(json.loads(tally.read_text(encoding="utf-8")))
    total, findings = counts["read"] + counts["refused"] + counts["raised"], counts["findings"]
    seconds = time.monotonic() - began
    print(
        f"{name:<22}{total:>9}{counts['read']:>9}{counts['refused']:>9}{seconds:>9.0f}{findings:>10}",
        flush=True,
    )
    if total < options.inputs:  # libFuzzer itself ended it: an input without end, or memory
        print(f"{name}: ended early\n{done.stderr[-2000:]}")
        findings += 1
    return findings


def fuzz(target: Target, name: str, options: argparse.Namespace) -> None:
    """Fuzz one reader in this process; does not return."""
    options.findings.mkdir(parents=True, exist_ok=True)
    scratch = options.tally.parent  # removed by the process that waits for this one
    corpus = (options.corpus or scratch / "corpus") / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    files = scratch / "files"
    files.mkdir()
    counts: Counter[str] = Counter()
    places: set[str] = set()

    def one(content: bytes) -> None:
        try:
            counts["read" if target.run(content, files) else "refused"] += 1
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a panic in Rust is no Exception
            counts["raised"] += 1
            place = _place(error)
            if place not in places:
                places.add(place)
                counts["findings"] += 1
                kept = options.findings / f"{name}-{len(places)}"
                kept.write_bytes(content)
                text = "".join(traceback.format_exception(error, limit=-8))
                kept.with_suffix(".txt").write_text(text, encoding="utf-8", errors="replace")
        if sum(counts[key] for key in ("read", "refused", "raised")) % 1000 == 0:
            options.tally.write_text(json.dumps(counts), encoding="utf-8")

    atexit.register(lambda: options.tally.write_text(json.dumps(counts), encoding="utf-8"))
    arguments = [sys.argv[0], f"-atheris_runs={options.inputs}", f"-max_len={MAX_BYTES}"]
    arguments += [f"-seed={options.seed}", f"-timeout={TIMEOUT}", "-rss_limit_mb=4096"]
    arguments += [
        f"-artifact_prefix={options.findings}/{name}-",
        "-verbosity=0",
        "-mutate_depth=3",
        str(corpus),
    ]
    mutator = None if target.form == "bytes" else _mutator(target)
    atheris.Setup(arguments, one, custom_mutator=mutator, internal_libfuzzer=True)
    atheris.Fuzz()


def _place(error: BaseException) -> str:
    """Return the type of an exception and the last line of xharness that it passed."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f"{frame.filename}:{frame.lineno}" for frame in frames if "xharness/" in frame.filename]
    return f"{type(error).__name__} {own[-1] if own else ''}"


# -- changing JSON value by value -----------------------------------------------------------------------


def _mutator(target: Target) -> Any:
    """Return a function that changes one value of one file, or a few bytes as libFuzzer does."""

    def mutate(content: bytes, size: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if chance.random() < 0.3:
            return bytes(atheris.Mutate(content, size))
        files = content.split(SEPARATOR, len(target.parts) - 1)
        at = chance.randrange(len(files))
        lines = files[at].split(b"\n") if target.form == "jsonl" else [files[at]]
        row = chance.randrange(len(lines))
        try:
            value = changed(json.loads(lines[row]), chance)
            text = json.dumps(value, ensure_ascii=chance.random() < 0.5)
        except (ValueError, RecursionError):
            return bytes(atheris.Mutate(content, size))
        lines[row] = text.encode("utf-8", "surrogatepass")
        files[at] = b"\n".join(lines)
        return SEPARATOR.join(files)[:size]

    return mutate


def changed(document: Any, chance: random.Random) -> Any:
    """Return a JSON document with one value replaced, removed, doubled or swapped for another of its values."""
    holder = [document]
    places = list(_places(holder))
    box, key = chance.choice(places)
    other_box, other_key = chance.choice(places)
    action = chance.randrange(4)
    if action == 0 and box is not holder:
        del box[key]
    elif action == 1 and isinstance(box, list) and box is not holder:
        box.append(box[key])
    elif action == 2:
        # A copy: a value put inside itself would have no end.
        box[key] = json.loads(json.dumps(other_box[other_key]))
    else:
        box[key] = chance.choice(ODD)
    return holder[0]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys: Any = ()
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = range(len(value))
    for key in keys:
        yield value, key
        yield from _places(value[key])


if __name__ == "__main__":
    sys.exit(main())
