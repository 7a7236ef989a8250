"""Tag files: lines to integers, and the oddities that are mended or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.scoring.submission import tag_text, write
from xharness.errors import InputError
from xharness.scoring import lines as lines_module
from xharness.scoring.spans import Scheme
from xharness.scoring.tag_lines import TagFile, distinct_lines, new_vocabulary
from xharness.scoring.tagging import score_tags

#: As a file is read, and a line at a time.
BLOCKS = pytest.mark.parametrize("block_bytes", [1 << 20, 1])

SENTENCES = [["B-PER", "I-PER", "O"], ["O", "B-LOC"]]


def reconstructed(data: bytes) -> list[bytes]:
    lines, indices = distinct_lines(data)
    return [lines[index] for index in indices]


def by_hand(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


@given(
    st.lists(
        st.sampled_from([b"B-PER", b"O", b"", b"PROPN\r", b"12345678", b"A", b"A\0"]), max_size=40
    )
)
def test_short_lines_are_told_apart(lines: list[bytes]) -> None:
    data = b"\n".join(lines)
    assert reconstructed(data) == by_hand(data)


@given(st.binary(max_size=60))
def test_any_bytes_are_told_apart(data: bytes) -> None:
    assert reconstructed(data) == by_hand(data)


def test_lines_that_share_a_hash_are_told_apart() -> None:
    """With 100,000 distinct words and 65,536 hashes some must collide."""
    data = "".join(f"{number}\n" for number in range(100_000)).encode()
    assert reconstructed(data) == by_hand(data)


def read_tags(path: Path) -> tuple[list[str], TagFile]:
    vocabulary = new_vocabulary()
    file = TagFile(path, vocabulary)
    ids = [int(number) for block in file for number in block]
    names = list(vocabulary)
    return [names[number] for number in ids], file


def test_tags_of_lines(tmp_path: Path) -> None:
    tags, file = read_tags(write(tmp_path / "a", tag_text(SENTENCES)))
    assert tags == ["B-PER", "I-PER", "O", "", "O", "B-LOC"]
    assert file.counts.total() == 0


@pytest.mark.parametrize(
    ("content", "counted"),
    [
        (b"\xef\xbb\xbfB-PER\nI-PER\nO\n\nO\nB-LOC\n", {"byte_order_marks": 1}),
        (b"B-PER\r\nI-PER\r\nO\r\n\r\nO\r\nB-LOC\r\n", {"crlf_lines": 6}),
        (b"B-PER\nI-PER\nO\n\nO\nB-LOC\n\n\n\n", {"trailing_blank_lines": 2}),
        (b"B-PER\nI-PER\nO\n\nO\nB-LOC", {}),
        (b"B-PER \n I-PER\nO\n \nO\nB-LOC\n", {"padded_lines": 3}),
        # White space of Unicode, as str.strip has it; U+001C is no line end.
        ("B-PER\x1c\nI-PER\u00a0\nO\n\u3000\nO\u2028\nB-LOC\n".encode(), {"padded_lines": 4}),
    ],
)
@BLOCKS
def test_mended_and_counted(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    counted: dict[str, int],
    block_bytes: int,
) -> None:
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", block_bytes)
    tags, file = read_tags(write(tmp_path / "a", content))
    assert tags == ["B-PER", "I-PER", "O", "", "O", "B-LOC"]
    assert +file.counts == counted


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no tag in the file"),
        (b"\xef\xbb\xbf", "no tag in the file"),
        (b"\n\n", "no tag in the file"),
        (b"O\nB-PER\rO\n", ":2: carriage return inside a line"),
        (b"O\nO\n\nBerlin\tB-LOC\n", ":4: more than a tag in the line: 'Berlin\\tB-LOC'"),
        (b"O\nB-\xff\n", r":2: not UTF-8 (byte 0xff)"),
        (b"O\nB-PERSON-NAME\xff\n", r":2: not UTF-8 (byte 0xff)"),
    ],
)
@BLOCKS
def test_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, message: str, block_bytes: int
) -> None:
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", block_bytes)
    path = write(tmp_path / "a", content)
    with pytest.raises(InputError) as caught:
        read_tags(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_unicode_separators_inside_a_tag_are_no_line_ends(tmp_path: Path) -> None:
    tags, _ = read_tags(write(tmp_path / "a", "A\x1cB\nA\u2028B\nA\x85B\n"))
    assert tags == ["A\x1cB", "A\u2028B", "A\x85B"]


@pytest.mark.parametrize(
    ("predicted", "line", "message"),
    [
        ("O\n\nO\nO\nO\n", 2, "the sentence ends here but goes on at"),
        ("O\nO\nO\nO\n\nO\n", 3, "the sentence goes on here but ends at"),
        ("O\nO\n\nO\n", 5, "the file ends here but goes on at"),
        ("O\nO\n\nO\nO\nO\n", 6, "the file goes on here but ends at"),
        ("O\nO\n\nO\nO\n\nO\n", 6, "the file goes on here but ends at"),
        ("O\nO\n\n\nO\nO\n", 4, "the sentence ends here but goes on at"),
    ],
)
@BLOCKS
def test_other_sentences_name_the_first_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    predicted: str,
    line: int,
    message: str,
    block_bytes: int,
) -> None:
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", block_bytes)
    gold = write(tmp_path / "gold", "O\nO\n\nO\nB-X\n")
    answers = write(tmp_path / "predicted", predicted)
    with pytest.raises(InputError) as caught:
        score_tags(answers, gold, "seqeval-1.2.2", accuracy=False)
    assert str(caught.value).startswith(f"{answers}:{line}: {message} {gold}:{line}")


@given(
    st.lists(st.lists(st.sampled_from(["O", "B-A", "I-A", "X", "I-Ü"]), max_size=4), min_size=1),
    st.integers(0, 3),
    st.sampled_from([1, 4, 9]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("scheme", ["seqeval-1.2.2", "seqeval-0.0.12", "iob2", "runs"])
def test_blocks_of_a_file_change_no_figure(
    tmp_path: Path, scheme: Scheme, sentences: list[list[str]], turn: int, block_bytes: int
) -> None:
    """Blank lines between sentences may be many; blocks of the two files end at different lines."""
    flat = ["O", *(tag for sentence in sentences for tag in sentence)]
    turn %= len(flat)
    moved = iter(flat[turn:] + flat[:turn])
    gold = write(tmp_path / "gold", "O\n" + tag_text(sentences))
    other = [[next(moved) for _ in sentence] for sentence in sentences]
    answers = write(tmp_path / "predicted", f"{next(moved)}\n" + tag_text(other))
    whole = score_tags(answers, gold, scheme, accuracy=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_module, "_BLOCK_BYTES", block_bytes)
        assert score_tags(answers, gold, scheme, accuracy=True) == whole


def test_accuracy_and_span_f1_are_two_figures(tmp_path: Path) -> None:
    """Pitfall 1: accuracy 75, span F1 33.3."""
    gold = write(tmp_path / "gold", "NOUN\nNOUN\nNOUN\nVERB\n")
    answers = write(tmp_path / "predicted", "NOUN\nVERB\nNOUN\nVERB\n")
    score = score_tags(answers, gold, "seqeval-1.2.2", accuracy=True, tags=["NOUN", "VERB"])
    assert score.figures["accuracy"] == 75.0
    assert score.figures["f1"] == pytest.approx(100 / 3)
    assert score.counts == {"examples": 1, "unanswered": 0, "tokens": 4}


def test_accuracy_leaves_blank_lines_out(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold", "A\n\nB\n\nB\n")
    answers = write(tmp_path / "predicted", "A\n\nA\n\nB\n\n\n")
    score = score_tags(answers, gold, "runs", accuracy=True)
    assert score.figures["accuracy"] == pytest.approx(200 / 3)


def test_unknown_and_malformed_tags_are_counted(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold", "B-PER\nO\nE-PER\n")
    answers = write(tmp_path / "predicted", "B-PER\nB\nB-XYZ\n")
    score = score_tags(answers, gold, "iob2", accuracy=False, tags=["O", "B-PER"])
    assert score.counts["unknown_labels"] == 2
    assert score.counts["gold_unknown_labels"] == 1
    assert score.counts["malformed_tags"] == 1
    assert score.counts["gold_malformed_tags"] == 1


@pytest.mark.parametrize(("sentences", "status"), [(5, "scored"), (6, "unscored")])
def test_constant_gold_of_more_than_a_handful_of_sentences(
    tmp_path: Path, sentences: int, status: str
) -> None:
    gold = write(tmp_path / "gold", "O\nO\n\n" * sentences)
    score = score_tags(gold, gold, "seqeval-1.2.2", accuracy=False)
    assert score.status == status
    assert bool(score.figures) == (status == "scored")
