"""No possible span: an empty answer, one for each id, and counted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from tests.pitfalls.questions import ask, encoded
from tests.pitfalls.tiny_tokenizers import bert_pieces
from xharness.data.examples import QuestionExample
from xharness.inference.device import Device
from xharness.inference.prediction import predict_spans
from xharness.inference.progress import Silent
from xharness.tasks.question_answering import answers_of

CPU = Device("cpu", "float32", 1024)


class Logits:
    """A model whose start and end logits are functions of the position."""

    def __init__(self, start: Any, end: Any):
        self.config = SimpleNamespace(pad_token_id=0)
        self._start, self._end = start, end

    def eval(self) -> None:
        pass

    def __call__(self, input_ids: torch.Tensor, **_: Any) -> SimpleNamespace:
        at = torch.arange(input_ids.shape[1]).expand(input_ids.shape).float()
        return SimpleNamespace(start_logits=self._start(at), end_logits=self._end(at))


def answers(
    examples: list[QuestionExample], model: Logits, n_best: int = 20
) -> tuple[dict[str, str], dict[str, int]]:
    encoding = encoded(examples, bert_pieces())
    spans = predict_spans(model, encoding, CPU, Silent(), n_best=n_best, max_answer_length=30)
    return answers_of(encoding, examples, *spans)


PLAIN = Logits(lambda at: at, lambda at: at)


@pytest.mark.parametrize("context", ["", " ", "\u00ad", "\u200b\u200b"], ids=ascii)
def test_a_context_without_pieces(context: str) -> None:
    examples = [ask("1", context, None), ask("2", "Anna", "Anna"), ask("3", context, None)]
    found, counts = answers(examples, PLAIN)
    assert found == {"1": "", "2": "a", "3": ""}
    assert counts == {"questions_without_span": 2}
    assert encoded(examples, bert_pieces()).counts["contexts_without_pieces"] == 2


def test_every_best_start_after_every_best_end() -> None:
    crossed = Logits(lambda at: at, lambda at: -at)
    found, counts = answers([ask("1", "a b c d e f", None)], crossed, n_best=1)
    assert found == {"1": ""}
    assert counts == {"questions_without_span": 1}


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_logits_that_are_no_numbers(value: float) -> None:
    broken = Logits(lambda at: at * 0 + value, lambda at: at * 0 + value)
    found, counts = answers([ask("1", "a b", None), ask("2", "c", None)], broken)
    assert found == {"1": "", "2": ""}
    assert counts == {"questions_without_span": 2}


def test_one_broken_position_does_not_win() -> None:
    def start(at: torch.Tensor) -> torch.Tensor:
        return torch.where(at == at.max() - 1, torch.nan, -at)

    found, counts = answers([ask("1", "a b c", None)], Logits(start, lambda at: -at))
    assert found == {"1": "a"}
    assert counts == {}
