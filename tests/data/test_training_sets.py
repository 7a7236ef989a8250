"""What a model is trained on under each protocol, from small files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.files import write
from xharness.data.examples import PairExample, QuestionExample, Split
from xharness.data.sources import FileDataSource
from xharness.data.training_sets import (
    POOLED,
    Limits,
    can_train,
    drawn,
    example_id,
    merged_origins,
    read_training_set,
    training_languages,
)
from xharness.errors import InputError
from xharness.specs.protocol import ProtocolFiles, ProtocolKind, TransferProtocol
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec


def pairs(language: str, split: str, count: int) -> str:
    return "".join(
        f"{language} {split} {n}\thypothesis {n}\tneutral\n" for n in range(1, count + 1)
    )


@pytest.fixture
def source(tmp_path: Path) -> FileDataSource:
    """English train and dev; train in de and fr, dev in de only; test in all."""
    for language, split, count in (
        ("en", "train", 6),
        ("en", "dev", 3),
        ("de", "train", 4),
        ("de", "dev", 2),
        ("fr", "train", 5),
    ):
        write(tmp_path / "xnli" / f"{split}-{language}.tsv", pairs(language, split, count))
    return FileDataSource(tmp_path)


def xnli(kind: ProtocolKind, dev_files: bool = True, **changes: object) -> TaskSpec:
    """Return XNLI in en, de, fr and sw under a protocol that reads ``train-`` and ``dev-{language}.tsv``."""
    files = ProtocolFiles(
        train="xnli/train-{language}.tsv", dev="xnli/dev-{language}.tsv" if dev_files else None
    )
    protocol = TransferProtocol.model_validate({"kind": kind, "files": files, **changes})
    changed = {"languages": ("en", "de", "fr", "sw"), "protocol": protocol}
    task: TaskSpec = load(TaskSpec, "xnli").model_copy(update=changed)
    return task


def premises(split: Split | None) -> list[str]:
    assert split is not None
    return [e.premise for e in split.examples if isinstance(e, PairExample)]


def test_zero_shot_reads_english_and_has_nothing_more_to_say(source: FileDataSource) -> None:
    task = load(TaskSpec, "xnli")
    found = read_training_set(task, None, source, Limits(4, 2), choose=True)
    assert premises(found.train) == [f"en train {n}" for n in (1, 2, 3, 4)]
    assert premises(found.dev) == ["en dev 1", "en dev 2"]
    assert found.facts == {}
    assert read_training_set(task, None, source, Limits(), choose=False).dev is None


def test_each_language_is_trained_and_chosen_on_its_own(source: FileDataSource) -> None:
    found = read_training_set(xnli("in_language"), "de", source, Limits(), choose=True)
    assert premises(found.train) == [f"de train {n}" for n in (1, 2, 3, 4)]
    assert premises(found.dev) == ["de dev 1", "de dev 2"]
    assert found.facts == {"languages": {"de": 4}, "dev_language": "de"}


@pytest.mark.parametrize(("language", "choice"), [("fr", "training"), ("de", "english")])
def test_english_chooses_where_the_language_has_no_dev_or_the_protocol_says_so(
    source: FileDataSource, language: str, choice: str
) -> None:
    task = xnli("in_language", dev=choice)
    found = read_training_set(task, language, source, Limits(), choose=True)
    assert premises(found.dev) == ["en dev 1", "en dev 2", "en dev 3"]
    assert found.facts["dev_language"] == "en"


def test_last_checkpoint_is_said_to_be_kept(source: FileDataSource) -> None:
    found = read_training_set(xnli("in_language"), "de", source, Limits(), choose=False)
    assert found.dev is None
    assert found.facts["dev_language"] is None


def test_english_is_trained_on_the_originals_under_translate_train(tmp_path: Path) -> None:
    write(tmp_path / "xnli" / "train-en.tsv", pairs("en", "train", 2))
    write(tmp_path / "translated" / "de.tsv", pairs("de", "translated", 3))
    protocol = TransferProtocol(
        kind="translate_train",
        training_languages="all",
        files=ProtocolFiles(train="translated/{language}.tsv"),
    )
    changes = {"languages": ("en", "de"), "protocol": protocol}
    task = load(TaskSpec, "xnli").model_copy(update=changes)
    found = read_training_set(task, None, FileDataSource(tmp_path), Limits(), choose=True)
    assert premises(found.train) == ["en train 1", "en train 2"] + [
        f"de translated {n}" for n in (1, 2, 3)
    ]
    assert found.facts["languages"] == {"en": 2, "de": 3}


def test_a_pool_has_the_languages_that_have_data_and_ids_that_differ(
    source: FileDataSource,
) -> None:
    task = xnli("in_language", training_languages="all", dev_files=False)
    assert training_languages(task, None, source) == ("en", "de", "fr")
    assert not can_train(task, "sw", source)
    found = read_training_set(task, None, source, Limits(train=2), choose=True)
    # Two a language: the limit is one on each language's file.
    assert [example_id(e) for e in found.train.examples] == [
        f"{code}/{n}" for code in ("en", "de", "fr") for n in (1, 2)
    ]
    assert found.train.language == POOLED
    assert found.facts == {"languages": {"en": 2, "de": 2, "fr": 2}, "dev_language": "en"}
    assert set(found.train.origin) == {f"xnli/train-{code}.tsv" for code in ("en", "de", "fr")}


def test_a_pool_over_listed_languages_needs_the_data_of_all(source: FileDataSource) -> None:
    two = xnli("in_language", training_languages=("de", "fr"))
    assert training_languages(two, None, source) == ("de", "fr")
    with pytest.raises(InputError, match=r"train-sw\.tsv: no such file, needed for xnli train sw"):
        read_training_set(
            xnli("in_language", training_languages=("de", "sw")),
            None,
            source,
            Limits(),
            choose=True,
        )


def test_dev_data_are_pooled_where_all_languages_have_them(source: FileDataSource) -> None:
    task = xnli("in_language", training_languages=("en", "de"))
    found = read_training_set(task, None, source, Limits(dev=2), choose=True)
    assert premises(found.dev) == ["en dev 1", "en dev 2", "de dev 1", "de dev 2"]
    assert found.facts["dev_language"] == POOLED


def test_pooled_dev_is_refused_where_the_metric_goes_by_language(source: FileDataSource) -> None:
    task = xnli("in_language", training_languages=("en", "de")).model_copy(
        update={"metric": "mlqa"}
    )
    with pytest.raises(InputError, match="MLQA's script scores one language at a time"):
        read_training_set(task, None, source, Limits(), choose=True)


def test_training_data_do_not_choose_the_checkpoint(source: FileDataSource) -> None:
    files = ProtocolFiles(train="xnli/dev-{language}.tsv", dev="xnli/dev-{language}.tsv")
    protocol = TransferProtocol(kind="in_language", files=files)
    task = xnli("in_language").model_copy(update={"protocol": protocol})
    with pytest.raises(InputError, match=r"trained on its dev split.*selection=last, or dev: engl"):
        read_training_set(task, "de", source, Limits(), choose=True)
    assert len(read_training_set(task, "de", source, Limits(), choose=False).train) == 2


def test_few_examples_are_the_same_ones_every_time_and_named(source: FileDataSource) -> None:
    task = xnli("few_shot", examples=2, seed=7)
    found = read_training_set(task, "de", source, Limits(), choose=True)
    again = read_training_set(task, "de", source, Limits(), choose=True)
    assert found.facts["examples"] == [example_id(e) for e in found.train.examples]
    assert found.facts == again.facts
    assert found.train.origin["drawn"] == "2 of 4, seed 7"
    # Other examples of the same files have another fingerprint, since encodings are kept by it.
    other = read_training_set(
        xnli("few_shot", examples=2, seed=8), "de", source, Limits(), choose=True
    )
    assert other.fingerprint != found.fingerprint


def test_more_examples_than_there_are_is_an_error_with_both_numbers(
    source: FileDataSource,
) -> None:
    with pytest.raises(
        InputError, match=r"train-de\.tsv: 5 examples of de are asked for, there are 4 \(lower"
    ):
        read_training_set(xnli("few_shot", examples=5), "de", source, Limits(), choose=True)
    assert (
        len(
            read_training_set(
                xnli("few_shot", examples=4), "de", source, Limits(), choose=True
            ).train
        )
        == 4
    )


def test_limit_below_the_few_examples_is_an_error(source: FileDataSource) -> None:
    with pytest.raises(InputError, match="--limit-train: 1 is less than the 2 examples"):
        read_training_set(xnli("few_shot", examples=2), "de", source, Limits(train=1), choose=True)


def split_of(count: int) -> Split:
    questions = [QuestionExample(f"q{n}", "?", "text", ()) for n in range(count)]
    return Split("t", "train", "de", questions, Counter(), {"f": "0"}, None, count)


@given(st.integers(1, 60), st.data(), st.integers(0, 1000))
def test_more_drawn_examples_contain_the_fewer(count: int, data: st.DataObject, seed: int) -> None:
    few = data.draw(st.integers(1, count))
    more = data.draw(st.integers(few, count))
    split = split_of(count)
    ids = {n: [example_id(e) for e in drawn(split, n, seed).examples] for n in (few, more)}
    assert len(set(ids[few])) == few
    assert set(ids[few]) <= set(ids[more])
    order = [example_id(e) for e in split.examples]
    assert ids[more] == [name for name in order if name in set(ids[more])]


def test_each_example_is_drawn_as_often_as_any_other() -> None:
    """Of 20 examples each is among 5 with probability 1/4: in 2,000 draws 500 times, standard deviation 19.4."""
    split = split_of(20)
    counts = Counter(example_id(e) for seed in range(2000) for e in drawn(split, 5, seed).examples)
    assert len(counts) == 20
    assert all(abs(count - 500) < 5 * 19.4 for count in counts.values())


def test_origins_on_the_hub_are_told_apart_by_language() -> None:
    hub = {"repository": "google/xtreme", "config": "PAN-X.de", "revision": "1"}
    files = {"panx/train-fr.tsv": "abc", "drawn": "2 of 4, seed 1"}
    assert merged_origins({"de": hub, "fr": files}) == {
        "de: repository": "google/xtreme",
        "de: config": "PAN-X.de",
        "de: revision": "1",
        "panx/train-fr.tsv": "abc",
        "fr: drawn": "2 of 4, seed 1",
    }
