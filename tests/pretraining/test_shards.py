"""Token shards: their content, when they are built again, what is refused."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import psutil
import pytest
from rich.console import Console
from tokenizers import Tokenizer

from tests.pretraining.small_corpus import train
from xharness.errors import InputError
from xharness.pretraining import shard_building, tokenising
from xharness.pretraining.corpus import CorpusFiles, find_corpus, read_lines
from xharness.pretraining.shard_building import build_shards
from xharness.pretraining.shards import Shards, open_shards, read_index
from xharness.pretraining.tokenising import Tokenising, token_rules
from xharness.pretraining.vocabulary import Vocabulary, load_vocabulary

Corpus = dict[str, CorpusFiles]


def expected_ids(path: Path, vocabulary: Vocabulary, separator: int | None = None) -> list[int]:
    """Ids of a text, one line at a time."""
    tokenizer = Tokenizer.from_str(vocabulary.tokenizer_json)
    ids: list[int] = []
    for line in read_lines(path, Counter()):
        ids += tokenizer.encode(line, add_special_tokens=False).ids
        ids += [] if separator is None else [separator]
    return ids


def all_ids(shards: Shards, language: str, split: Any = "train") -> list[int]:
    return [int(id_) for id_ in shards.read(language, split, 0, shards.tokens(language, split))]


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


def built_at(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("*.bin")}


def text(folder: Path, **lines: str) -> Corpus:
    folder.mkdir()
    for language, content in lines.items():
        (folder / f"{language.replace('_', '.')}.txt").write_text(content, "utf-8")
    return find_corpus(folder)


# Content


@pytest.mark.parametrize("language", ["en", "zh", "hi"])
def test_ids_are_those_of_the_lines_in_order(
    corpus: Corpus, vocabulary: Vocabulary, shards: Shards, language: str
) -> None:
    files = corpus[language]
    assert files.dev is not None
    assert all_ids(shards, language) == expected_ids(files.train[0], vocabulary)
    assert all_ids(shards, language, "dev") == expected_ids(files.dev, vocabulary)


def test_lines_can_be_separated(corpus: Corpus, vocabulary: Vocabulary, tmp_path: Path) -> None:
    one = {"de": corpus["de"]}
    shards = build_shards(one, vocabulary, tmp_path, separate_lines=True)
    path = corpus["de"].train[0]
    assert all_ids(shards, "de") == expected_ids(path, vocabulary, vocabulary.end_id)


def test_counts(vocabulary: Vocabulary, tmp_path: Path) -> None:
    """A line's special tokens are left out and counted, also where lines are separated."""
    line = "Anna wohnt in Istanbul."
    content = f"{line}\n\n{line} <mask></s>\n<s>\n☃{line}\n"
    files = text(tmp_path / "text", de=content)
    tokenizer = Tokenizer.from_str(vocabulary.tokenizer_json)
    ids = tokenizer.encode(line, add_special_tokens=False).ids
    last = tokenizer.encode(f"☃{line}", add_special_tokens=False).ids
    assert last.count(1) == 1
    for separate in (False, True):
        shards = build_shards(files, vocabulary, tmp_path / "shards", separate_lines=separate)
        end = [vocabulary.end_id] * separate
        assert all_ids(shards, "de") == [*ids, *end, *ids, *end, *end, *last, *end]
        part = shards.part("de", "train")
        assert part is not None
        assert (part.lines, part.blank_lines, part.bytes) == (4, 1, len(content.encode()))
        assert (part.unknown_tokens, part.special_tokens_in_text) == (1, 3)
    assert shards.lines() == {"de": 4}
    assert shards.lines("dev") == {}
    assert shards.tokens("de", "dev") == 0


def test_numbered_parts_are_joined_and_files_rolled_over(
    vocabulary: Vocabulary, tmp_path: Path
) -> None:
    files = text(tmp_path / "text", de_1="Anna wohnt.\n" * 9, de_2="Hassan ist kein Fahrer.\n" * 9)
    expected = [id_ for path in files["de"].train for id_ in expected_ids(path, vocabulary)]
    shards = build_shards(files, vocabulary, tmp_path / "shards", shard_tokens=10)
    part = shards.part("de", "train")
    assert part is not None
    assert [file.tokens for file in part.files][:-1] == [10] * (len(expected) // 10)
    assert all_ids(shards, "de") == expected
    for start in range(len(expected) - 25):  # rows over up to four files
        assert shards.read("de", "train", start, 25).tolist() == expected[start : start + 25]


def test_ids_take_two_bytes_where_the_vocabulary_fits(
    corpus: Corpus, vocabulary: Vocabulary, shards: Shards, tmp_path: Path
) -> None:
    part = shards.part("en", "train")
    assert part is not None
    assert shards.index.dtype == "<u2"
    assert (shards.folder / "en.train.0.bin").stat().st_size == 2 * part.tokens
    state = json.loads(vocabulary.tokenizer_json)
    state["model"]["vocab"] += [[f"▁unused{n}", -20.0] for n in range(65_537 - vocabulary.size)]
    large = Path(shutil.copytree(vocabulary.path, tmp_path / "large"))
    (large / "tokenizer.json").write_text(json.dumps(state))
    wide = build_shards({"en": corpus["en"]}, load_vocabulary(large), tmp_path / "shards")
    assert wide.index.dtype == "<u4"
    assert (tmp_path / "shards" / "en.train.0.bin").stat().st_size == 4 * part.tokens
    assert all_ids(wide, "en") == all_ids(shards, "en")


def test_several_processes_write_the_same_bytes(
    corpus: Corpus,
    vocabulary: Vocabulary,
    shards: Shards,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tokenising, "BATCH_CHARACTERS", 2000)  # many batches, many in flight
    build_shards(corpus, vocabulary, tmp_path, processes=2)
    assert content(tmp_path) == content(shards.folder)


def test_a_process_that_is_ended(corpus: Corpus, vocabulary: Vocabulary) -> None:
    with Tokenising(token_rules(vocabulary, False), 2) as tokenise:
        lines = (line for _ in range(10**6) for line in ["Anna wohnt in Istanbul."] * 1000)
        batches = tokenise(lines)
        next(batches)
        assert tokenise._pool is not None
        os.kill(next(iter(tokenise._pool._processes)), signal.SIGKILL)
        with pytest.raises(InputError, match=r"a tokenising process was ended .*fewer processes"):
            for _ in batches:
                pass


ENDLESS = """
import sys
from pathlib import Path
from xharness.pretraining.tokenising import Tokenising, token_rules
from xharness.pretraining.vocabulary import load_vocabulary

if __name__ == "__main__":
    rules = token_rules(load_vocabulary(Path(sys.argv[1])), False)
    with Tokenising(rules, 2) as tokenise:
        for _ in tokenise(iter(lambda: "Anna wohnt in Istanbul.", None)):
            print(*tokenise._pool._processes, flush=True)
"""


def test_processes_end_with_the_one_that_started_them(
    vocabulary: Vocabulary, tmp_path: Path
) -> None:
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    command: list[str | Path] = [sys.executable, script, vocabulary.path]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        started = [psutil.Process(int(word)) for word in process.stdout.readline().split()]
        process.kill()
    assert len(started) == 2
    assert psutil.wait_procs(started, timeout=120)[1] == []


# Use again, build again


def test_what_fits_is_used_again(own_corpus: Path, vocabulary: Vocabulary, tmp_path: Path) -> None:
    corpus, into = find_corpus(own_corpus), tmp_path / "shards"
    build_shards(corpus, vocabulary, into)
    before, times = content(into), built_at(into)
    build_shards(find_corpus(own_corpus), vocabulary, into)
    assert (content(into), built_at(into)) == (before, times)


def test_only_changed_text_is_tokenised_again(
    own_corpus: Path, vocabulary: Vocabulary, tmp_path: Path
) -> None:
    into = tmp_path / "shards"
    build_shards(find_corpus(own_corpus), vocabulary, into)
    times = built_at(into)
    with (own_corpus / "de.dev.txt").open("a", encoding="utf-8") as file:
        file.write("Anna wohnt in Berlin.\n")
    (own_corpus / "tr.dev.txt").unlink()
    shards = build_shards(find_corpus(own_corpus), vocabulary, into)
    now = built_at(into)
    assert {name for name in times if now.get(name) != times[name]} == {
        "de.dev.0.bin",
        "tr.dev.0.bin",
    }
    assert "tr.dev.0.bin" not in now
    assert shards.part("tr", "dev") is None
    assert all_ids(shards, "de", "dev") == expected_ids(own_corpus / "de.dev.txt", vocabulary)


@pytest.mark.parametrize("damage", ["cut", "changed", "absent", "index"])
def test_what_is_damaged_is_built_again(
    corpus: Corpus, vocabulary: Vocabulary, tmp_path: Path, damage: str
) -> None:
    few = {language: corpus[language] for language in ("de", "en")}
    build_shards(few, vocabulary, tmp_path)
    before, times = content(tmp_path), built_at(tmp_path)
    path = tmp_path / ("index.json" if damage == "index" else "de.train.0.bin")
    whole = path.read_bytes()
    if damage == "absent":
        path.unlink()
    elif damage == "changed":
        path.write_bytes(whole[:-2] + b"\0\0")
    else:
        path.write_bytes(whole[: len(whole) // 2])
    build_shards(few, vocabulary, tmp_path)
    assert content(tmp_path) == before
    if damage != "index":
        changed = {name for name, at in built_at(tmp_path).items() if times[name] != at}
        assert changed == {"de.train.0.bin"}


def test_another_tokenizer_or_option_builds_everything_again_and_leaves_nothing_behind(
    corpus: Corpus, vocabulary: Vocabulary, tmp_path: Path
) -> None:
    few = {"de": corpus["de"]}
    into = tmp_path / "shards"
    build_shards({"en": corpus["en"]}, vocabulary, into, shard_tokens=5000)
    (into / ".en.train.7.bin.partial").write_bytes(b"half")
    build_shards(few, vocabulary, into, separate_lines=True)
    assert sorted(content(into)) == ["de.dev.0.bin", "de.train.0.bin", "index.json"]
    other = load_vocabulary(train(few, tmp_path / "other", size=300))
    shards = build_shards(few, other, into, separate_lines=True)
    assert shards.index.vocabulary == other.sha256
    assert all_ids(shards, "de") == expected_ids(corpus["de"].train[0], other, other.end_id)


def test_other_languages_are_kept_out_of_view(
    corpus: Corpus, vocabulary: Vocabulary, tmp_path: Path
) -> None:
    build_shards({"de": corpus["de"], "en": corpus["en"]}, vocabulary, tmp_path)
    times = built_at(tmp_path)
    shards = build_shards({"tr": corpus["tr"]}, vocabulary, tmp_path)
    assert shards.languages == ("tr",)
    assert list(shards.lines()) == ["tr"]
    assert open_shards(tmp_path).languages == ("de", "en", "tr")
    assert times.items() <= built_at(tmp_path).items()


SLOW_BUILD = """
import sys, time
from pathlib import Path
from xharness.pretraining import shard_building
from xharness.pretraining.corpus import find_corpus
from xharness.pretraining.shard_writing import ShardWriter
from xharness.pretraining.vocabulary import load_vocabulary

write = ShardWriter.write
def slowly(self, ids):
    write(self, ids)
    if "hi" in str(self._path):
        print("half", flush=True)
        time.sleep(60)
ShardWriter.write = slowly
text, vocabulary, into = map(Path, sys.argv[1:])
shard_building.build_shards(find_corpus(text), load_vocabulary(vocabulary), into)
"""


def test_a_killed_build_goes_on_after_the_last_finished_part(
    own_corpus: Path, vocabulary: Vocabulary, shards: Shards, tmp_path: Path
) -> None:
    into = tmp_path / "shards"
    command: list[str | Path] = [sys.executable, "-c", SLOW_BUILD]
    command += [own_corpus, vocabulary.path, into]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"half\n"
        process.kill()
    assert sorted(read_index(into).languages) == ["de", "en", "es"]
    times = built_at(into)
    build_shards(find_corpus(own_corpus), vocabulary, into)
    assert times.items() <= built_at(into).items()
    assert content(into) == content(shards.folder)


def test_calls_at_the_same_time_wait_for_each_other(
    own_corpus: Path, vocabulary: Vocabulary, shards: Shards, tmp_path: Path
) -> None:
    into = tmp_path / "shards"
    quick = SLOW_BUILD.replace("time.sleep(60)", "time.sleep(1)")
    command: list[str | Path] = [sys.executable, "-c", quick]
    command += [own_corpus, vocabulary.path, into]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        began = time.monotonic()
        build_shards(find_corpus(own_corpus), vocabulary, into)
        waited = time.monotonic() - began
        times = built_at(into)
    assert process.returncode == 0
    assert waited > 0.9
    assert built_at(into) == times
    assert content(into) == content(shards.folder)


# Display


def test_each_finished_part_is_told(corpus: Corpus, vocabulary: Vocabulary, tmp_path: Path) -> None:
    shown = io.StringIO()
    console = Console(file=shown, width=200)
    shards = build_shards({"de": corpus["de"]}, vocabulary, tmp_path, console=console)
    assert shown.getvalue() == (
        f"de.train: {shards.tokens('de', 'train')} tokens of 1610 lines\n"
        f"de.dev: {shards.tokens('de', 'dev')} tokens of 100 lines\n"
    )


# Refused


def test_text_that_cannot_be_used(vocabulary: Vocabulary, tmp_path: Path) -> None:
    files = text(tmp_path / "text", de="Anna wohnt.\n", en="\n\n", tr="<s> </s>\n")
    for processes in (1, 2):
        with pytest.raises(InputError, match=r"en\.txt: holds no text"):
            build_shards(files, vocabulary, tmp_path / "shards", processes=processes)
    assert list(read_index(tmp_path / "shards").languages) == ["de"]
    with pytest.raises(InputError, match=r"tr\.txt: the tokenizer makes nothing of this text"):
        build_shards({"tr": files["tr"]}, vocabulary, tmp_path / "shards")
    assert not list((tmp_path / "shards").glob(".*partial"))


class _FullDisk:
    def __init__(self, file: BinaryIO):
        self._file = file

    def write(self, content: bytes) -> int:
        self._file.write(content[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    def close(self) -> None:
        self._file.close()


def test_a_full_disk_loses_nothing_that_is_finished(
    corpus: Corpus, vocabulary: Vocabulary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {language: corpus[language] for language in ("de", "en")}
    opened = Path.open

    def full(self: Path, *arguments: Any, **options: Any) -> Any:
        file = opened(self, *arguments, **options)
        return _FullDisk(file) if self.name.startswith(".en.train") else file

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        with pytest.raises(
            InputError, match=r"en\.train\.0\.bin: cannot be written: No space left"
        ):
            build_shards(few, vocabulary, tmp_path)
    assert sorted(content(tmp_path)) == ["de.dev.0.bin", "de.train.0.bin", "index.json"]
    times = built_at(tmp_path)
    build_shards(few, vocabulary, tmp_path)
    assert times.items() <= built_at(tmp_path).items()


def test_a_folder_that_cannot_be_made(
    corpus: Corpus, vocabulary: Vocabulary, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        build_shards(corpus, vocabulary, tmp_path / "file" / "shards")


def test_opening_what_is_absent_or_damaged(
    corpus: Corpus, vocabulary: Vocabulary, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="no index of token shards"):
        open_shards(tmp_path / "absent")
    build_shards({"de": corpus["de"]}, vocabulary, tmp_path)
    with pytest.raises(InputError, match="no token shards of en"):
        open_shards(tmp_path, ["en"])
    path = tmp_path / "de.train.0.bin"
    whole = path.read_bytes()
    for part in (whole[:-2], whole[:-1], b""):
        path.write_bytes(part)
        with pytest.raises(InputError, match=r"de\.train\.0\.bin: .*damaged"):
            open_shards(tmp_path)
    (tmp_path / "index.json").write_text("{}")
    with pytest.raises(InputError, match=r"index\.json: damaged index"):
        open_shards(tmp_path)


def test_shards_are_mapped_not_read(shards: Shards) -> None:
    base: object = shards.read("en", "train", 0, 100)
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)


def test_the_module_imports_neither_torch_nor_transformers() -> None:
    """Each tokenising process imports it."""
    modules = "tokenising, batches, shard_building, vocabulary_training"
    code = f"import sys; from xharness.pretraining import {modules}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"torch", "transformers"}.isdisjoint(done.stdout.split())


@pytest.mark.shared
def test_real_text_in_several_processes(
    shared: Path, vocabulary: Vocabulary, tmp_path: Path
) -> None:
    """Line and byte counts are those of the data's README; ids are those of one line at a time."""
    corpus = find_corpus(shared / "data" / "pretrain", ["et"])
    shards = build_shards(corpus, vocabulary, tmp_path, processes=2)
    part = shards.part("et", "train")
    assert part is not None
    assert (part.lines, part.blank_lines) == (20297, 0)
    assert part.bytes == pytest.approx(2.29e6, abs=0.005e6)
    assert corpus["et"].dev is not None
    assert all_ids(shards, "et", "dev") == expected_ids(corpus["et"].dev, vocabulary)
    assert part.tokens < shard_building.SHARD_TOKENS
