"""Multiple choice encoded as pairs, decided and trained by example, for any number of choices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForMultipleChoice, AutoTokenizer

from xharness.data.examples import ChoiceExample, Split
from xharness.encoder import register
from xharness.finetuning.objectives import decisions, summed_loss
from xharness.finetuning.training import train
from xharness.inference.batching import collate
from xharness.inference.device import Device
from xharness.inference.prediction import predict_choices
from xharness.inference.progress import Silent
from xharness.models.tokenization import TransformersPieces
from xharness.sample import CHECKPOINT
from xharness.specs.recipe import Settings
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec
from xharness.tasks.multiple_choice import ChoiceEncoding, encode
from xharness.tasks.predictions import Predictions, gold_text, prediction_text

register()  # so that the Auto classes open the sample checkpoint

TASK = load(TaskSpec, "xcopa")
EXAMPLES = (
    ChoiceExample("1", "Ada opens the window.", "What was the cause?", ("It is warm.", "No."), 0),
    ChoiceExample("2", "Ben runs.", "Why?", ("He is late for the train.", "Red.", "Blue."), 2),
    ChoiceExample("3", "x " * 40, "How?", ("y", "z " * 60), None),
)


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return AutoTokenizer.from_pretrained(CHECKPOINT)


@pytest.fixture(scope="module")
def encoding(tokenizer: Any) -> ChoiceEncoding:
    pieces = TransformersPieces(tokenizer, 512, False)
    return encode(EXAMPLES, TASK, pieces, Settings(max_length=49))


def model(seed: int = 0) -> Any:
    torch.manual_seed(seed)
    return AutoModelForMultipleChoice.from_pretrained(CHECKPOINT).eval()


def test_windows_are_the_official_pairs(encoding: ChoiceEncoding, tokenizer: Any) -> None:
    """run_xcopa.py: tokenizer(context + blank + question, choice, truncation=True).

    The window has room for an even number of pieces: of an odd number the script's tokenizers gave the last to the
    first side, and those of today give it to the second.
    """
    windows = [
        encoding.ids[start:end].tolist()
        for start, end in zip(encoding.starts[:-1], encoding.starts[1:], strict=True)
    ]
    firsts = [f"{e.context} {e.question}" for e in EXAMPLES for _ in e.choices]
    seconds = [choice for e in EXAMPLES for choice in e.choices]
    expected = tokenizer(firsts, seconds, truncation=True, max_length=49)
    assert windows == expected["input_ids"]
    assert encoding.counts == {"truncated_choices": 2}
    assert encoding.labels.tolist() == [0, 2, -1]


def test_rows_are_examples(encoding: ChoiceEncoding) -> None:
    assert len(encoding) == 3
    assert encoding.choices.tolist() == [2, 3, 2]
    assert encoding.windows(np.array([1, 0])).tolist() == [2, 3, 4, 0, 1]
    windows = np.diff(encoding.starts)
    assert encoding.lengths.tolist() == [
        2 * max(windows[:2]),
        3 * max(windows[2:5]),
        2 * max(windows[5:]),
    ]
    assert decisions(encoding, np.array([0, 1])) == 2


def test_encoding_survives_its_file(encoding: ChoiceEncoding, tmp_path: Path) -> None:
    encoding.save(tmp_path / "e.safetensors")
    again = ChoiceEncoding.load(tmp_path / "e.safetensors")
    assert again.first_windows.tolist() == encoding.first_windows.tolist()
    assert (again.ids.tolist(), again.counts) == (encoding.ids.tolist(), encoding.counts)


def test_scores_are_those_of_the_head_itself(encoding: ChoiceEncoding) -> None:
    """The head's own (examples, choices) form against windows one by one, and the loss against by hand."""
    head = model()
    rows = np.array([1])
    inputs = collate(encoding, rows, head.config.pad_token_id, torch.device("cpu"))
    whole = head(**{name: tensor[None] for name, tensor in inputs.items()}).logits[0]
    by_hand = torch.logsumexp(whole, 0) - whole[2]
    loss = summed_loss(head, encoding, rows, inputs)
    assert loss.item() == pytest.approx(by_hand.item(), abs=1e-5)
    chosen = predict_choices(head, encoding, Device("cpu", "float32", 1024), Silent())
    assert chosen[1] == int(whole.argmax())


def test_the_loss_does_not_depend_on_how_examples_are_batched(encoding: ChoiceEncoding) -> None:
    head = model()
    pad = head.config.pad_token_id

    def gradient(parts: list[list[int]]) -> torch.Tensor:
        head.zero_grad()
        for part in parts:
            rows = np.array(part)
            inputs = collate(encoding, rows, pad, torch.device("cpu"))
            torch.autograd.backward(summed_loss(head, encoding, rows, inputs))
        return torch.cat([p.grad.flatten() for p in head.parameters() if p.grad is not None])

    together, apart = gradient([[0, 1]]), gradient([[1], [0]])
    assert torch.isfinite(together).all()
    assert torch.allclose(together, apart, atol=1e-6)


def test_training_learns_which_choice_fits(tokenizer: Any) -> None:
    """Two and three choices in one set; the right one is told by its word."""
    random = np.random.default_rng(3)
    examples = []
    for number in range(48):
        count = 2 + number % 2
        label = int(random.integers(count))
        words = ["is water" if at == label else "is fire" for at in range(count)]
        examples.append(ChoiceExample(str(number), "What", "then?", tuple(words), label))
    pieces = TransformersPieces(tokenizer, 64, False)
    settings = Settings(max_length=32, epochs=4, learning_rate=2e-3, batch_size=8)
    encoded = encode(examples, TASK, pieces, settings)
    head, device = model(), Device("cpu", "float32", 2048)
    report = train(head, encoded, settings, 1, device, None, Silent())
    assert (report.windows, report.steps) == (48, 24)
    chosen = predict_choices(head, encoded, device, Silent())
    assert (chosen == encoded.labels).all()


def test_prediction_and_gold_files_have_the_official_form() -> None:
    split = Split("xcopa", "test", "et", EXAMPLES[:2])
    assert "".join(prediction_text(TASK, [Predictions([1, 0])])) == '{"label": 1}\n{"label": 0}\n'
    assert "".join(gold_text(TASK, split) or ()) == '{"label": 0}\n{"label": 2}\n'
    assert gold_text(TASK, Split("xcopa", "test", "et", EXAMPLES)) is None
