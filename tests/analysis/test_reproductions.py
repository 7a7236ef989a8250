"""The page of reproductions: which statements are found, and what it says of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from xharness.analysis.reproductions import STUDIES, Study, read_statements, reproductions_page
from xharness.errors import InputError

SEEN = {"text": "a beats b (Table 2: 3 | 1)", "verdict": "seen", "figures": "a 3.0, b 1.0"}
REVERSE = {"text": "c beats d", "verdict": "the reverse is seen", "figures": "c 1.0, d 2.0"}
STUDY = Study("A paper", "study/statements.json", "python study.py", "python study.py --full")


def written(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_each_statement_is_a_row_with_its_direction(tmp_path: Path) -> None:
    written(tmp_path / "study" / "statements.json", [SEEN, REVERSE])
    page = reproductions_page(tmp_path, [STUDY])
    rows = [line for line in page.splitlines() if "beats" in line]
    assert [row.split("|")[-2].strip() for row in rows] == ["the same", "the opposite"]
    # A bar inside a cell would begin another one.
    assert "3 \\| 1" in rows[0]
    assert "Here: `python study.py`" in page
    assert "At full scale: `python study.py --full`" in page


def test_sets_that_differ_in_their_seed_alone_are_one(tmp_path: Path) -> None:
    """What each seed says is kept, what they disagree on is not told apart, and so is what one seed says."""
    study = Study("A paper", "*/one.json", "x", "y")
    for name, statements in {
        "small-seed-1": [SEEN, REVERSE],
        "small-seed-2": [SEEN, {**REVERSE, "verdict": "seen", "figures": "c 2.0, d 1.0"}],
        "large-seed-1": [{**SEEN, "text": "x beats all", "subject": "large-seed-1"}],
        "other": [{**SEEN, "text": "x beats all", "subject": "other"}],
        "third": [{**SEEN, "text": "x beats all", "subject": "third"}],
        "fourth": [{**SEEN, "text": "x beats all", "subject": "b", "verdict": "cannot be tried"}],
        "fifth": [{**SEEN, "text": "y beats all", "subject": "a"}],
        "sixth": [{**SEEN, "text": "y beats all", "subject": "b", "verdict": "cannot be tried"}],
    }.items():
        written(tmp_path / name / "one.json", statements)
    page = reproductions_page(tmp_path, [study])
    rows = [[cell.strip("| ") for cell in line.split(" | ")] for line in page.splitlines()]
    assert [row for row in rows if "beats" in row[0]] == [
        ["y beats all", "a: a 3.0, b 1.0", "the same"],
        [
            "x beats all",
            "not told apart: large; the same: other, third",
            "not told apart in 1, the same in 2",
        ],
        ["a beats b (Table 2: 3 \\| 1)", "a 3.0, b 1.0", "the same"],
        ["c beats d", "c 1.0, d 2.0; c 2.0, d 1.0", "not told apart"],
    ]


def test_a_study_that_was_not_run_says_so(tmp_path: Path) -> None:
    assert "none yet" in reproductions_page(tmp_path, [STUDY])


def test_an_analysis_keeps_its_statements_among_other_things(tmp_path: Path) -> None:
    path = written(tmp_path / "one.json", {"models": [], "statements": [SEEN]})
    assert [one.text for one in read_statements(path)] == [SEEN["text"]]
    assert read_statements(written(tmp_path / "two.json", {"rows": []})) == []


@pytest.mark.parametrize(
    "content",
    ["{", '[{"text": "a"}]', "[1]", '[{"text": "a", "verdict": "perhaps", "figures": ""}]', "1"],
)
def test_a_damaged_file_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "statements.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"statements\.json"):
        read_statements(path)


def test_the_papers_are_all_there() -> None:
    titles = " ".join(study.title for study in STUDIES)
    assert all(paper in titles for paper in ("2010.12821", "1608.05859", "1911.12385"))
