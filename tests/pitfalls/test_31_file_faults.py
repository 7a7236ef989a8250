"""Faults of plain files that break or bend a scorer: each is mended and counted, or refused in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pitfalls.submission import one_language, score, write
from xharness.errors import InputError

GOLD = "neutral\nentailment\ncontradiction\n"


@pytest.mark.parametrize("side", ["gold", "predictions"])
@pytest.mark.parametrize("blank", ["\n", "\n\n \n"])
def test_blank_lines_at_the_end(tmp_path: Path, side: str, blank: str) -> None:
    files = {"gold": GOLD, "predictions": GOLD}
    files[side] += blank
    found = score(tmp_path, "xnli", files["gold"], files["predictions"]).languages["en"]
    assert found.figures == {"accuracy": 100.0}
    assert found.counts["examples"] == 3
    name = "trailing_blank_lines" if side == "predictions" else "gold_trailing_blank_lines"
    assert found.counts[name] == blank.count("\n")


@pytest.mark.parametrize("side", ["gold", "predictions"])
def test_a_byte_order_mark_is_no_part_of_the_first_label(tmp_path: Path, side: str) -> None:
    files = {"gold": GOLD, "predictions": GOLD}
    files[side] = "\ufeff" + files[side]
    found = score(tmp_path, "xnli", files["gold"], files["predictions"]).languages["en"]
    assert found.figures == {"accuracy": 100.0}
    assert found.counts[("gold_" if side == "gold" else "") + "byte_order_marks"] == 1


def test_a_short_file_is_not_rewarded(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"test-en\.tsv:2: 1 predictions for the 3 labels"):
        score(tmp_path, "xnli", GOLD, "neutral\n")


@pytest.mark.parametrize("task", ["xnli", "panx", "bucc2018", "xquad"])
def test_an_empty_gold_file_is_refused_and_divides_by_nothing(tmp_path: Path, task: str) -> None:
    language = "de" if task == "bucc2018" else "en"
    predicted = {"xnli": GOLD, "panx": [["O"]], "bucc2018": "d\te\n", "xquad": "{}"}[task]
    spec = one_language(task, language)
    with pytest.raises(InputError, match=rf"gold/{task}/{spec.file_name(language)}"):
        score(tmp_path, task, "", predicted, language=language)


def test_blanks_around_the_ids_of_a_pair(tmp_path: Path) -> None:
    pairs = (" d-1\te-1 \r\n", "d-1 \t e-1\n")
    found = score(tmp_path, "bucc2018", *pairs, language="de").languages["de"]
    assert found.figures == {"f1": 100.0, "precision": 100.0, "recall": 100.0}
    assert found.counts["padded_fields"] == 1


PROGRAM = """
import sys
from pathlib import Path
from xharness.scoring import score_task
from xharness.specs.registry import load
from xharness.specs.task import TaskSpec

root = Path(sys.argv[1])
task = load(TaskSpec, "xquad").model_copy(update={"languages": ("zh",)})
print(score_task(task, root / "predictions", root / "gold").score)
"""


def test_no_file_is_read_in_the_encoding_of_the_machine(tmp_path: Path) -> None:
    gold = (
        '{"data": [{"paragraphs": [{"context": "北京", "qas": [{"id": "é", "question": "?",'
        ' "answers": [{"text": "北京", "answer_start": 0}]}]}]}]}'
    )
    write(tmp_path / "gold/xquad/test-zh.json", gold)
    write(tmp_path / "predictions/xquad/test-zh.json", '{"é": "北京"}')
    environment = {
        **os.environ,
        **{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    }
    arguments = ["-X", "warn_default_encoding", "-W", "error::EncodingWarning"]
    done = subprocess.run(
        [sys.executable, *arguments, "-c", PROGRAM, str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert (done.stdout.strip(), done.returncode) == ("100.0", 0), done.stderr
