"""Batches: the same rows for seed, step and row however they are asked for, all text used, languages by share."""

from __future__ import annotations

import dataclasses
import hashlib
import subprocess
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from tokenizers import Tokenizer

from xharness.errors import InputError
from xharness.pretraining import batches as batches_module
from xharness.pretraining.batches import BatchStream, MaskedBatch, Masking
from xharness.pretraining.corpus import CorpusFiles, find_corpus
from xharness.pretraining.sampling import language_probabilities
from xharness.pretraining.shard_building import build_shards
from xharness.pretraining.shards import Shards, open_shards
from xharness.pretraining.vocabulary import Vocabulary, load_vocabulary

LENGTH = 32
BODY = LENGTH - 2


def stream_of(shards: Shards, vocabulary: Vocabulary, **changes: Any) -> BatchStream:
    settings: dict[str, Any] = {
        "batch_size": 16,
        "sequence_length": LENGTH,
        "masking": Masking(),
        "seed": 7,
        "probabilities": language_probabilities(shards.lines(), 0.5),
    }
    settings |= changes
    return BatchStream(shards, settings.pop("probabilities"), vocabulary, **settings)


@pytest.fixture
def stream(shards: Shards, vocabulary: Vocabulary) -> BatchStream:
    return stream_of(shards, vocabulary)


def same(a: MaskedBatch, b: MaskedBatch) -> bool:
    return all(
        np.array_equal(getattr(a, field.name), getattr(b, field.name))
        for field in dataclasses.fields(MaskedBatch)
    )


def originals(batch: MaskedBatch) -> Any:
    """Return the rows as they were before masking."""
    ids = batch.input_ids.copy()
    ids.reshape(-1)[batch.positions] = batch.labels
    return ids


# Shape


def test_shapes_and_ends(stream: BatchStream, vocabulary: Vocabulary) -> None:
    batch = stream.batch(3)
    assert batch.input_ids.shape == (16, LENGTH)
    assert batch.languages.shape == (16,)
    assert batch.positions.shape == batch.labels.shape
    kinds = [batch.input_ids, batch.positions, batch.labels, batch.languages]
    assert {array.dtype for array in kinds} == {np.dtype(np.int64)}
    assert (batch.input_ids[:, 0] == vocabulary.begin_id).all()
    assert (batch.input_ids[:, -1] == vocabulary.end_id).all()
    assert not (batch.input_ids == vocabulary.pad_id).any()
    assert (np.diff(batch.positions) > 0).all()
    # 0.15 x 30 = 4.5, rounded up: 5 of each row, none of them at an end.
    assert np.bincount(batch.positions // LENGTH).tolist() == [5] * 16
    assert (originals(batch).reshape(-1)[batch.positions] == batch.labels).all()


def test_rows_are_text_of_their_language(stream: BatchStream, shards: Shards) -> None:
    texts = {
        language: shards.read(language, "train", 0, shards.tokens(language, "train")).tolist()
        for language in shards.languages
    }
    batch = stream.batch(11)
    for row, language in zip(originals(batch).tolist(), batch.languages.tolist(), strict=True):
        text = texts[stream.languages[language]]
        assert any(text[at : at + BODY] == row[1:-1] for at in range(len(text) - BODY + 1))


# A pure function of seed, step and row


@given(
    st.integers(0, 300),
    st.integers(0, 15),
    st.integers(1, 16),
    st.integers(0, 300),
    st.booleans(),
)
def test_rows_do_not_depend_on_how_they_are_asked_for(
    shards: Shards,
    vocabulary: Vocabulary,
    step: int,
    first: int,
    count: int,
    other: int,
    words: bool,
) -> None:
    masking = Masking(whole_words=words)
    whole = stream_of(shards, vocabulary, masking=masking).batch(step)
    stream = stream_of(shards, vocabulary, masking=masking)
    stream.batch(other)  # a call before, for an earlier or a later step
    stop = min(first + count, 16)
    part = stream.batch(step, slice(first, stop))
    own = (whole.positions >= first * LENGTH) & (whole.positions < stop * LENGTH)
    expected = MaskedBatch(
        whole.input_ids[first:stop],
        whole.positions[own] - first * LENGTH,
        whole.labels[own],
        whole.languages[first:stop],
    )
    assert same(part, expected)
    assert same(stream.batch(step), whole)


def test_replaying_is_the_same_in_any_chunks(
    stream: BatchStream, shards: Shards, vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = stream.batch(500)
    monkeypatch.setattr(batches_module, "_REPLAYED", 101)
    odd = stream_of(shards, vocabulary)
    odd.batch(33)
    assert same(odd.batch(500), expected)


def test_micro_batches_step_by_step_are_the_whole_batches(
    shards: Shards, vocabulary: Vocabulary
) -> None:
    """As gradient accumulation asks, over the ends of passes: 8 languages in 200 steps of 16 rows."""
    whole, parts = stream_of(shards, vocabulary), stream_of(shards, vocabulary)
    for step in range(200):
        expected = whole.batch(step)
        for first in (0, 4, 8, 12):
            rows = slice(first, first + 4)
            assert (parts.batch(step, rows).input_ids == expected.input_ids[rows]).all()


PRINT_BATCH = """
import hashlib, sys
from pathlib import Path
from xharness.pretraining.batches import BatchStream, Masking
from xharness.pretraining.sampling import language_probabilities
from xharness.pretraining.shards import open_shards
from xharness.pretraining.vocabulary import load_vocabulary
shards = open_shards(Path(sys.argv[1]))
stream = BatchStream(shards, language_probabilities(shards.lines(), 0.5), load_vocabulary(Path(sys.argv[2])),
    batch_size=16, sequence_length=32, masking=Masking(), seed=7)
batch = stream.batch(1234)
print(hashlib.sha256(batch.input_ids.tobytes() + batch.positions.tobytes()).hexdigest())
"""


def test_another_process_gets_the_same(
    stream: BatchStream, shards: Shards, vocabulary: Vocabulary
) -> None:
    batch = stream.batch(1234)
    command: list[str | Path] = [sys.executable, "-c", PRINT_BATCH]
    command += [shards.folder, vocabulary.path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    content = batch.input_ids.tobytes() + batch.positions.tobytes()
    assert done.stdout.strip() == hashlib.sha256(content).hexdigest()


def test_seeds_steps_and_rows_differ(
    stream: BatchStream, shards: Shards, vocabulary: Vocabulary
) -> None:
    batch = stream.batch(5)
    other = stream_of(shards, vocabulary, seed=2**64 - 1).batch(5)
    assert not np.array_equal(originals(batch), originals(other))
    assert not np.array_equal(batch.positions, stream.batch(6).positions)
    places = [
        tuple((batch.positions[batch.positions // LENGTH == row] % LENGTH).tolist())
        for row in range(16)
    ]
    assert len(set(places)) == 16


def test_the_order_of_the_shares_does_not_matter(shards: Shards, vocabulary: Vocabulary) -> None:
    shares = language_probabilities(shards.lines(), 0.5)
    backwards = dict(reversed(shares.items()))
    a = stream_of(shards, vocabulary, probabilities=shares)
    b = stream_of(shards, vocabulary, probabilities=backwards)
    assert a.languages == b.languages == tuple(sorted(shares))
    assert same(a.batch(9), b.batch(9))


# All text, and languages by share


@pytest.fixture(scope="module")
def numbered(
    vocabulary: Vocabulary, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Shards, int]:
    """Shards of one short language, in files of 50 ids, and its number of ids."""
    folder = tmp_path_factory.mktemp("numbered")
    (folder / "en.txt").write_text("".join(f"Anna {n} is not driver {n % 7}\n" for n in range(60)))
    shards = build_shards(find_corpus(folder), vocabulary, folder / "shards", shard_tokens=50)
    return shards, shards.tokens("en", "train")


def test_each_pass_has_every_block_once_in_a_new_order(
    numbered: tuple[Shards, int], vocabulary: Vocabulary
) -> None:
    shards, tokens = numbered
    text = shards.read("en", "train", 0, tokens)
    blocks, left_over = divmod(tokens, BODY)
    assert left_over > 0
    stream = stream_of(shards, vocabulary, probabilities={"en": 1.0}, batch_size=7)
    rows = np.concatenate([originals(stream.batch(step)) for step in range(6 * blocks // 7 + 1)])
    orders, offsets, used = [], [], np.zeros(tokens, np.bool_)
    for number in range(6):
        of_pass = rows[number * blocks : (number + 1) * blocks, 1:-1].tolist()
        fitting = []
        for offset in range(left_over + 1):
            cut = text[offset : offset + blocks * BODY].reshape(blocks, BODY).tolist()
            if sorted(cut) == sorted(of_pass):
                fitting.append(offset)
                orders.append([cut.index(row) for row in of_pass])
        assert len(fitting) == 1
        offsets += fitting
        used[fitting[0] : fitting[0] + blocks * BODY] = True
    assert all(a != b for a, b in pairwise(orders))
    assert len(set(offsets)) > 1
    assert used[BODY:-BODY].all()


def test_languages_are_drawn_by_share(shards: Shards, vocabulary: Vocabulary) -> None:
    shares = {"en": 0.6, "sw": 0.3, "zh": 0.1}
    stream = stream_of(shards, vocabulary, probabilities=shares, batch_size=50)
    assert stream.languages == ("en", "sw", "zh")
    drawn = np.concatenate([stream.batch(step).languages for step in range(200)])
    for language, count in enumerate(np.bincount(drawn).tolist()):
        share = shares[stream.languages[language]]
        assert binomtest(count, 10_000, share).pvalue > 1e-4


# Held out


def test_held_out_text_is_used_in_order_once(
    stream: BatchStream, shards: Shards, vocabulary: Vocabulary
) -> None:
    batches = list(stream.held_out("tr"))
    rows = np.concatenate([originals(batch) for batch in batches])
    tokens = shards.tokens("tr", "dev")
    assert len(rows) == tokens // BODY
    text = shards.read("tr", "dev", 0, len(rows) * BODY)
    assert rows[:, 1:-1].reshape(-1).tolist() == text.tolist()
    assert [len(batch.input_ids) for batch in batches[:-1]] == [16] * (len(batches) - 1)
    turkish = stream.languages.index("tr")
    assert {language for batch in batches for language in batch.languages.tolist()} == {turkish}
    assert (rows[:, 0] == vocabulary.begin_id).all()
    assert (rows[:, -1] == vocabulary.end_id).all()


def test_held_out_masks_are_fixed_whatever_seed_batch_size_and_other_languages(
    stream: BatchStream, shards: Shards, vocabulary: Vocabulary
) -> None:
    def labels(stream: BatchStream) -> tuple[list[int], list[int]]:
        batches = list(stream.held_out("tr"))
        ids = np.concatenate([batch.input_ids for batch in batches]).reshape(-1)
        return ids.tolist(), np.concatenate([batch.labels for batch in batches]).tolist()

    expected = labels(stream)
    assert labels(stream) == expected
    assert expected == labels(
        stream_of(shards, vocabulary, seed=8, batch_size=5, probabilities={"tr": 0.5, "zh": 0.5})
    )


def test_a_language_without_held_out_text(
    corpus: dict[str, CorpusFiles], vocabulary: Vocabulary, tmp_path: Path
) -> None:
    files = {"de": CorpusFiles("de", corpus["de"].train, None)}
    stream = stream_of(build_shards(files, vocabulary, tmp_path), vocabulary)
    assert stream.batch(0).input_ids.shape == (16, LENGTH)
    with pytest.raises(InputError, match=r"de has no held-out text \(add de.dev.txt\)"):
        next(stream.held_out("de"))


# Refused


def test_text_shorter_than_a_row(shards: Shards, vocabulary: Vocabulary) -> None:
    counts = {language: shards.tokens(language, "dev") for language in shards.languages}
    shortest = min(counts, key=lambda language: counts[language])
    length = counts[shortest] + 3
    with pytest.raises(InputError, match="tokens of dev text, a row of") as caught:
        stream_of(shards, vocabulary, sequence_length=length)
    assert f"language {shortest} has {counts[shortest]} tokens" in str(caught.value)
    assert f"takes {counts[shortest] + 1}" in str(caught.value)
    stream_of(shards, vocabulary, sequence_length=length - 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sequence_length": 2}, "holds no text"),
        ({"batch_size": 0}, "holds no text"),
        ({"probabilities": {"en": 0.5, "xx": 0.5}}, "no token shards of xx"),
        ({"probabilities": {"en": 1.0, "de": 0.0}}, "the share of language de is 0.0"),
    ],
)
def test_bad_settings(
    shards: Shards, vocabulary: Vocabulary, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        stream_of(shards, vocabulary, **changes)


def test_shards_of_another_tokenizer(shards: Shards, vocabulary: Vocabulary) -> None:
    other = dataclasses.replace(vocabulary, sha256="0")
    with pytest.raises(InputError, match="made with another tokenizer"):
        stream_of(shards, other)


@pytest.mark.parametrize("rows", [slice(0, 8, 2), slice(8, 8), slice(None, None, -1)])
def test_rows_must_be_contiguous(stream: BatchStream, rows: slice) -> None:
    with pytest.raises(ValueError, match="no contiguous part"):
        stream.batch(0, rows)


# Speed


@pytest.mark.parametrize("whole_words", [False, True])
def test_a_batch_takes_a_few_milliseconds(
    shards: Shards, vocabulary: Vocabulary, whole_words: bool
) -> None:
    """64 rows of 128 take under 3 ms on one core of a current machine; the bound allows for a loaded one."""
    masking = Masking(whole_words=whole_words)
    stream = stream_of(shards, vocabulary, batch_size=64, sequence_length=128, masking=masking)
    seconds = []
    for step in range(60):
        began = time.perf_counter()
        stream.batch(step)
        seconds.append(time.perf_counter() - began)
    assert float(np.median(seconds)) < 0.02


def test_resuming_late_is_quick(shards: Shards, vocabulary: Vocabulary) -> None:
    """A hundred thousand steps of 64 rows are replayed in well under a second."""
    stream = stream_of(shards, vocabulary, batch_size=64)
    began = time.perf_counter()
    stream.batch(100_000)
    assert time.perf_counter() - began < 5


@pytest.mark.shared
def test_real_text_with_a_real_tokenizer(shared: Path, tmp_path: Path) -> None:
    """Rows decode to text in their language's script."""
    vocabulary = load_vocabulary(shared / "models" / "multilingual-e5-small-trimmed")
    files = find_corpus(shared / "data" / "pretrain", ["et", "hi"])
    held_out = {
        language: CorpusFiles(language, (file.dev,), None)
        for language, file in files.items()
        if file.dev is not None
    }
    shards = open_shards(build_shards(held_out, vocabulary, tmp_path).folder)
    stream = stream_of(shards, vocabulary, sequence_length=128)
    assert stream.languages == ("et", "hi")
    tokenizer = Tokenizer.from_str(vocabulary.tokenizer_json)
    scripts: Counter[tuple[str, bool]] = Counter()
    for step in range(4):
        batch = stream.batch(step)
        for ids, language in zip(originals(batch), batch.languages.tolist(), strict=True):
            row = tokenizer.decode(ids.tolist())
            devanagari = sum("\u0900" <= c <= "\u097f" for c in row) > len(row) / 3
            scripts[stream.languages[language], devanagari] += 1
    assert set(scripts) == {("et", False), ("hi", True)}
