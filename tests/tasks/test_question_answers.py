"""From scores to answers: the rules of the n-best list, and texts on which answers used to be cut wrongly."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.tasks import trained_tokenizers
from tests.tasks.counted_pieces import CharacterPieces
from tests.tasks.fake_models import gold_scores, spans_from_scores
from xharness.data.examples import Answer, QuestionExample
from xharness.inference.prediction import best_spans
from xharness.specs.recipe import Settings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.pieces import PieceTokenizer
from xharness.tasks.question_answering import QuestionEncoding, answers_of, encode

XQUAD = load(TaskSpec, "xquad")
INFINITY = float("inf")
NAN = float("nan")


def best(
    start: list[float],
    end: list[float],
    start_allowed: list[bool] | None = None,
    end_allowed: list[bool] | None = None,
    n_best: int = 20,
    max_answer_length: int = 30,
) -> tuple[float, int, int]:
    everywhere = [True] * len(start)
    found = best_spans(
        torch.tensor([start], dtype=torch.float32),
        torch.tensor([end], dtype=torch.float32),
        torch.tensor([start_allowed or everywhere]),
        torch.tensor([end_allowed or everywhere]),
        n_best=n_best,
        max_answer_length=max_answer_length,
    )
    score, first, last = (tensor.tolist()[0] for tensor in found)
    return float(score), int(first), int(last)


def test_highest_sum_wins() -> None:
    assert best([0, 5, 1], [0, 1, 4]) == (9, 1, 2)


def test_end_before_start_is_no_span() -> None:
    assert best([0, 0, 9], [9, 0, 1]) == (10, 2, 2)


def test_span_of_the_greatest_length_is_allowed_and_a_longer_one_is_not() -> None:
    start, end = [9.0, 0.0, 1.0, 0.0], [0.0, 0.0, 5.0, 9.0]
    assert best(start, end, max_answer_length=4) == (18, 0, 3)
    assert best(start, end, max_answer_length=3) == (14, 0, 2)


def test_only_the_n_best_of_each_side_are_paired() -> None:
    # The two best starts lie behind all of the two best ends; the third pairs well but is not looked at.
    start, end = [3.0, 0.0, 9.0, 8.0], [7.0, 9.0, 0.0, 1.0]
    assert best(start, end, n_best=3) == (12, 0, 1)
    assert best(start, end, n_best=2)[0] == -INFINITY


def test_candidates_come_from_allowed_positions_only() -> None:
    start, end = [9.0, 1.0, 0.0], [9.0, 0.0, 1.0]
    allowed = [False, True, True]
    # With one candidate a side the forbidden first position must not use it up.
    assert best(start, end, allowed, allowed, n_best=1) == (2, 1, 2)


def test_scores_that_are_not_finite_never_win() -> None:
    assert best([NAN, 1, INFINITY], [NAN, 2, INFINITY]) == (3, 1, 1)
    assert best([NAN] * 3, [1, 2, 3])[0] == -INFINITY
    assert best([1, 2, 3], [-INFINITY] * 3)[0] == -INFINITY


@st.composite
def windows(draw: Any) -> tuple[list[float], list[float], list[bool], list[bool], int, int]:
    length = draw(st.integers(1, 8))
    # Distinct powers of two and of three: no two sums are equal, so the best span is one.
    start = draw(st.permutations([float(2**i) for i in range(length)]))
    end = draw(st.permutations([float(3**i) / 1024 for i in range(length)]))
    masks = [draw(st.lists(st.booleans(), min_size=length, max_size=length)) for _ in range(2)]
    for values in (start, end):
        for at in draw(st.sets(st.integers(0, length - 1), max_size=2)):
            values[at] = draw(st.sampled_from([NAN, INFINITY, -INFINITY]))
    return start, end, masks[0], masks[1], draw(st.integers(1, 5)), draw(st.integers(1, 5))


@given(windows())
def test_best_span_against_trying_all(case: Any) -> None:
    start, end, start_allowed, end_allowed, n_best, longest = case

    def candidates(values: list[float], allowed: list[bool]) -> list[int]:
        usable = [i for i, v in enumerate(values) if allowed[i] and np.isfinite(v)]
        return sorted(usable, key=lambda i: -values[i])[:n_best]

    spans = [
        (start[i] + end[j], i, j)
        for i, j in product(candidates(start, start_allowed), candidates(end, end_allowed))
        if i <= j < i + longest
    ]
    found = best(start, end, start_allowed, end_allowed, n_best, longest)
    if spans:
        assert found == max(spans)
    else:
        assert found[0] == -INFINITY


# -- from windows to answers -----------------------------------------------------------------------------


def encoded(tokenizer: PieceTokenizer, *examples: QuestionExample, **lengths: int) -> Any:
    settings = {"max_length": 384, "doc_stride": 128, **lengths}
    return encode(examples, XQUAD, tokenizer, Settings.model_validate(settings))


def asked(context: str, answer: str = "", name: str = "1") -> QuestionExample:
    answers = (Answer(answer, context.index(answer)),) if answer else ()
    return QuestionExample(name, "q", context, answers)


def answered(encoding: QuestionEncoding, *examples: QuestionExample) -> dict[str, str]:
    answers, counts = answers_of(
        encoding, examples, *spans_from_scores(encoding, gold_scores(encoding))
    )
    assert counts == {}
    return answers


def test_window_of_highest_score_gives_the_answer_and_the_first_of_equals() -> None:
    example = asked("abcdefghijklmnopqrstuvwxyz")
    encoding = encoded(CharacterPieces(), example, max_length=15, doc_stride=5)
    at = np.full(len(encoding), encoding.context_at[0])
    scores = np.zeros(len(encoding), np.float32)
    assert answers_of(encoding, [example], scores, at, at)[0] == {"1": "a"}
    scores[2] = 1
    assert answers_of(encoding, [example], scores, at, at + 1)[0] == {"1": "kl"}
    scores[:] = -np.inf
    assert answers_of(encoding, [example], scores, at, at) == (
        {"1": ""},
        {"questions_without_span": 1},
    )


def test_start_counts_only_in_the_window_with_maximum_context() -> None:
    # Ten pieces a window, five on: "i" is last but one in the first window, well inside the second.
    example = asked("abcdefghijklmno", "i")
    encoding = encoded(CharacterPieces(), example, max_length=15, doc_stride=5)
    assert encoding.context_lengths.tolist() == [10, 10]
    first = ord("i") - ord("a") + int(encoding.context_at[0])

    def scores(rows: Any, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        score = torch.zeros(len(rows), length)
        score[torch.from_numpy(rows) == 0, first] = 50.0  # loud, but in the wrong window
        return score, score.clone()

    found = spans_from_scores(encoding, scores)
    assert found[0].tolist()[0] < 50 + 50
    assert answered(encoding, example) == {"1": "i"}


def test_questions_special_tokens_and_padding_are_never_answers() -> None:
    examples = [asked("abc", name="1"), asked("abcdefghij", name="2")]
    encoding = encoded(CharacterPieces(), *examples)

    def scores(rows: Any, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        score = torch.full((len(rows), length), 9.0)
        for row, window in enumerate(rows.tolist()):
            at = int(encoding.context_at[window])
            score[row, at : at + int(encoding.context_lengths[window])] = -9.0
        return score, score.clone()

    found, counts = answers_of(encoding, examples, *spans_from_scores(encoding, scores))
    assert counts == {}
    assert set("".join(found.values())) <= set("abcdefghij")
    assert all(found.values())


@pytest.mark.parametrize("scores", ["nan", "end before start"])
def test_unusable_scores_give_an_empty_answer_for_every_id(scores: str) -> None:
    examples = [asked("abc", name="1"), asked("abcd", name="2")]
    encoding = encoded(CharacterPieces(), *examples)

    def unusable(rows: Any, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        start = torch.full((len(rows), length), NAN)
        end = torch.full((len(rows), length), NAN)
        if scores == "end before start":
            start[:, encoding.context_at[0] + 2] = 1
            end[:, encoding.context_at[0]] = 1
        return start, end

    found = answers_of(encoding, examples, *spans_from_scores(encoding, unusable))
    assert found == ({"1": "", "2": ""}, {"questions_without_span": 2})


def test_contexts_without_a_piece_give_empty_answers() -> None:
    examples = [asked("", name="1"), asked("\u00ad", name="2"), asked("abc", "b", name="3")]
    encoding = encoded(CharacterPieces(vanishing="\u00ad"), *examples)
    spans = spans_from_scores(encoding, gold_scores(encoding))
    assert answers_of(encoding, examples, *spans) == (
        {"1": "", "2": "", "3": "b"},
        {"questions_without_span": 2},
    )


# -- answers are slices of the context, for tokenizers of three kinds -------------------------------------


@pytest.fixture(scope="module", params=["wordpiece", "byte_level_bpe", "unigram"])
def tokenizer(request: pytest.FixtureRequest) -> PieceTokenizer:
    make: Any = getattr(trained_tokenizers, request.param)
    return trained_tokenizers.pieces(make(trained_tokenizers.TEXTS, 400))


CONTEXTS = {
    "Chinese without blanks": ("他在 1999年 去世", "1999年"),
    "half": ("vor ½ Antwort danach", "Antwort"),
    "square kilometre": ("vor ㎞ Antwort danach", "Antwort"),
    "ligature": ("vor ﬃ Antwort danach", "Antwort"),
    "Arabic phrase as one character": ("vor ﷺ Antwort danach", "Antwort"),
    "ellipsis": ("vor … Antwort danach", "Antwort"),
    "combining accent": ("vor caf\u00e9 cafe\u0301 Antwort danach", "Antwort"),
    "expands to several pieces": ("die ﷺ Antwort", "ﷺ"),
    "is a fraction": ("noch ½ Zeile", "½"),
    "ends in a combining accent": ("le cafe\u0301 ferme", "cafe\u0301"),
    "emoji before": ("\U0001f600\U0001f468\u200d\U0001f469 die Antwort folgt", "Antwort"),
    "flag before": ("\U0001f1e9\U0001f1ea die Antwort folgt", "Antwort"),
    "leading blanks": ("  \t die Antwort folgt", "Antwort"),
    "carriage return": ("die Zeile\r\nAntwort\r\nfolgt", "Antwort"),
    "several lines": ("die Zeile\r\nAntwort\r\nfolgt", "Zeile\r\nAntwort"),
    "no-break blank": ("die\u00a0Antwort\u3000folgt", "Antwort"),
    "full width": ("die Ａｎｔｗｏｒｔ folgt", "Ａｎｔｗｏｒｔ"),
    "zero-width joiner at the end": ("जो क्\u200d उत्तर है", "क्\u200d"),
    "Thai vowel at the end": ("vor คำ\u0e35 danach", "คำ\u0e35"),
    "byte order mark before": ("die \ufeffAntwort folgt", "Antwort"),
}


@pytest.mark.parametrize("name", CONTEXTS)
def test_gold_span_gives_back_the_gold_answer(tokenizer: PieceTokenizer, name: str) -> None:
    context, answer = CONTEXTS[name]
    example = asked(context, answer)
    encoding = encoded(tokenizer, example)
    assert encoding.counts == {}
    assert answered(encoding, example) == {"1": answer}


def test_answer_inside_chinese_text_has_no_blank_added() -> None:
    # Pieces of single characters, as BERT cuts Chinese: joining them again would put blanks between.
    tokenizer = trained_tokenizers.pieces(
        trained_tokenizers.wordpiece(trained_tokenizers.TEXTS, 400)
    )
    example = asked("他在1999年去世", "去世")
    encoding = encoded(tokenizer, example)
    assert encoding.counts == {}
    assert answered(encoding, example) == {"1": "去世"}
    assert int(encoding.answers[0, 1] - encoding.answers[0, 0]) == 1


def test_year_between_ideographs(tokenizer: PieceTokenizer) -> None:
    example = asked("他在1999年去世", "1999年")
    encoding = encoded(tokenizer, example)
    (text,) = answered(encoding, example).values()
    assert text in example.context
    assert "1999年" in text
    exact = "answers_inside_pieces" not in encoding.counts
    assert (text == "1999年") == exact
