"""scripts/simulate_scale.py: unit times from records and tables, and the schedule beside its bound."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.records.examples import make_record
from xharness.errors import InputError
from xharness.records.record import Record

SCRIPT = Path(__file__).parents[1] / "scripts" / "simulate_scale.py"

#: Hours of one model's units in whole numbers, so that sums are exact.
TIMES = """
large: {parameters: 5e8, xnli: 36000, pawsx: 3600, udpos: 3600, panx: 3600, squad: 7200, tydiqa: 3600,
        bucc2018: 3600, tatoeba: 3600}
"""


@pytest.fixture(scope="module")
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("simulate_scale", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def rows(text: str) -> dict[int, list[str]]:
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    return {int(row[0]): row[1:] for row in cells[2:]}


@pytest.fixture(scope="module")
def times(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("times") / "times.yaml"
    path.write_text(TIMES, encoding="utf-8")
    return path


def test_the_whole_of_xtreme_stays_near_the_bound(
    module: ModuleType, times: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Trainings of 16 hours and two hours of retrieval: (5 x 16 + 2) x 10 models are 820 hours, 320 units."""
    assert module.main(["--times", str(times), "--start", "0"]) == 0
    text = capsys.readouterr().out
    assert "320 units of 10 models and 5 seeds, 820.0 GPU-hours" in text
    assert "the longest unit takes 10.00 hours" in text
    table = rows(text)
    assert table[1][:2] == ["820.00", "820.00"]
    # 64 machines: 820 / 64 is more than the longest unit; 256: the longest unit is all there is.
    assert table[64][1] == "12.81"
    assert table[256] == ["10.00", "10.00", "0.0 %", "2560.0", "32 %"]
    assert all(float(row[2].removesuffix(" %")) <= 5 for n, row in table.items() if n <= 64)


def test_a_schedule_far_from_its_bound_is_told(
    module: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three units that cannot be cut, on two machines: 2 hours where 1.5 are the bound."""
    path = tmp_path / "times.yaml"
    units = ("xnli", "pawsx", "udpos", "panx", "squad", "tydiqa", "bucc2018", "tatoeba")
    hour = {"xnli", "udpos", "panx"}
    seconds = ", ".join(f"{unit}: {3600 if unit in hour else 0}" for unit in units)
    path.write_text(f"one: {{{seconds}}}\n", encoding="utf-8")
    few = ("--models", "1", "--seeds", "1", "--gpus", "2", "--start", "0")
    assert module.main(["--times", str(path), *few]) == 1
    assert rows(capsys.readouterr().out)[2][:3] == ["2.00", "1.50", "33.3 %"]


def record(task: str, **timings: float) -> Record:
    """A record of 10 examples in each language, trained on 1,000 for one epoch."""
    made = make_record(task)
    languages = {
        language: result.model_copy(update={"counts": {"examples": 10}})
        for language, result in made.languages.items()
    }
    data = made.data.model_copy(
        update={
            "train_examples": 1000 if "finetune_seconds" in timings else None,
            "examples": dict.fromkeys(languages, 500),
        }
    )
    model = {**made.model, "parameters": 5}
    changes = {"languages": languages, "data": data, "timings": timings, "model": model}
    return made.model_copy(update=changes)


def test_unit_times_are_scaled_from_records(module: ModuleType) -> None:
    """SQuAD is trained once for XQuAD and MLQA, three epochs of 87,599 examples; mining counts sentences."""
    plans = module.full_plans("xtreme")
    records = [
        record(task, predict_seconds=2.0, finetune_seconds=10.0)
        for task in ("xnli", "pawsx", "udpos", "panx", "xquad", "mlqa", "tydiqa")
    ]
    records += [record("bucc2018", predict_seconds=4.0), record("tatoeba", predict_seconds=3.0)]
    times = module.measured(records, plans)
    assert (times.name, times.parameters) == ("m", 5)
    trained = 10 * 3 * 87_599 / 1000
    predicted = 2 * 11 * 1190 / (11 * 10) + 2 * 42_245 / (7 * 10)
    assert times.seconds["squad"] == pytest.approx(trained + predicted)
    assert times.seconds["xnli"] == pytest.approx(10 * 5 * 392.702 + 2 * 15 * 5010 / 150)
    # Four language pairs of 500 sentences.
    assert times.seconds["bucc2018"] == pytest.approx(4 * 1_250_000 / 2000)
    with pytest.raises(InputError, match="no record of tatoeba"):
        module.measured(records[:-1], plans)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("one: {xnli: 1}\n", "times.yaml, one: no seconds for 'pawsx'"),
        ("one: fast\n", "times.yaml, one: no seconds for"),
        (None, "no times (give run folders or --times)"),
    ],
)
def test_bad_times_are_named(
    module: ModuleType, tmp_path: Path, text: str | None, message: str
) -> None:
    arguments = []
    if text is not None:
        path = tmp_path / "times.yaml"
        path.write_text(text, encoding="utf-8")
        arguments = ["--times", str(path)]
    with pytest.raises(InputError) as error:
        module.main(arguments)
    assert message in str(error.value)
