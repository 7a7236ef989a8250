"""The reports: what stands in them, and that untrusted text does nothing in any of them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xmlschema

from tests.comparison.test_gate import MADE, comparison, effect
from xharness.comparison.checks import default_checks, gate_checks
from xharness.comparison.effects import Described
from xharness.comparison.gate import bind_gate, load_gate
from xharness.comparison.junit import render_junit
from xharness.comparison.markdown import COMMENT_LIMIT, render_markdown
from xharness.comparison.report import Report
from xharness.comparison.results_json import as_json
from xharness.comparison.terminal import render_terminal

HOSTILE = (
    "<script>alert(1)</script> |`x` @octocat #1 [a](https://e.vil) www.e.vil *b* \x1b[31m\x00\n"
)
GATE = """\
overall: {max_drop: 0.5}
languages:
  xnli/*: {max_drop: 2}
  xquad/en: {min: 10}
allow:
  - cell: xnli/sw
    max_drop: 3
    reason: REASON
  - {cell: xnli, max_drop: 3, reason: old, expires: 2026-01-01}
"""


@pytest.fixture
def report(tmp_path: Path) -> Report:
    path = tmp_path / "gate.yaml"
    path.write_text(GATE.replace("REASON", "'<b>@all</b> | x'"), encoding="utf-8")
    made = replace(MADE, candidate=Described(HOSTILE, HOSTILE, (1, 2)), notes=("hole: xnli th",))
    bound = bind_gate(*load_gate(path), made, date(2026, 5, 1))
    return Report(made, gate_checks(made, bound), "gate.yaml", ("the allowance for xnli ended",))


def test_verdict_in_words(report: Report) -> None:
    assert report.verdict == "1 breach, 1 allowed"
    assert Report(MADE, default_checks(MADE)).verdict == "6 regressions"
    calm = comparison([effect("xnli", 80, 81)])
    assert Report(calm, default_checks(calm)).verdict == "No regression"
    alone = comparison([effect("xnli", 80, 79, None)])
    assert Report(alone, ()).verdict.startswith("No verdict")


def test_terminal_shows_averages_breaches_and_notes(report: Report) -> None:
    text = render_terminal(report)
    lines = [line for line in text.split("\n") if line]
    # Breach without the default family's correction: rule and place stand behind the figures.
    breach = next(line for line in lines if line.startswith("  overall: "))
    assert breach.startswith(
        "  overall: 70.00 -> 69.40, -0.60 [-1.60, +0.40], p = 0.04 (max_drop 0.5; overall, "
    )
    assert "  xnli/sw: 70.00 -> 67.50, -2.50" in text
    assert "hole: xnli th" in text
    assert "the allowance for xnli ended" in text
    assert lines[-1] == "1 breach, 1 allowed"
    assert not re.search("[\x00-\x09\x0b-\x1f]", text)


def test_markdown_puts_the_verdict_first_and_folds_the_languages(report: Report) -> None:
    text = render_markdown(report)
    assert text.startswith("## ❌ 1 breach, 1 allowed\n")
    head, _, folded = text.partition("<details>")
    assert "### Breaches\n\n- **overall** 70.00 -&gt; 69.40" not in head  # entities are numeric
    assert "- **overall** 70.00 -&#62; 69.40, -0.60" in head
    assert "| xquad | 60.00 | 58.00 | **-2.00** | -3.00 to -1.00 | 0.0010 | 0.0010 |" in head
    assert "xquad/ar" not in head
    assert "| xquad/ar | 40.00 | 39.00 | -1.00 |" in folded
    assert folded.rstrip().endswith("</details>")
    assert "Of 4 languages of tasks, 2 dropped and 0 gained significantly." in head


def test_nothing_untrusted_is_markup_in_markdown(report: Report) -> None:
    text = render_markdown(report)
    tags = set(re.findall(r"</?\w+>", text))
    assert tags == {"<code>", "</code>", "<details>", "</details>", "<summary>", "</summary>"}
    assert "@" not in text
    assert "://" not in text
    assert "www." not in text
    assert "[a]" not in text
    assert "\x1b" not in text
    assert "&#60;script&#62;alert&#40;1&#41;&#60;/script&#62;" in text
    columns = {line.count("|") for line in text.split("\n") if line.startswith("|")}
    assert columns == {8}


def test_markdown_fits_a_comment() -> None:
    many = comparison([effect(f"task{n % 40}/l{n}", 50, 40, 0.0001) for n in range(3000)], 100_000)
    text = render_markdown(Report(many, default_checks(many)))
    assert len(text) <= COMMENT_LIMIT
    assert "- and 2950 more" in text
    left_out = re.search(r"(\d+) more are left out for lack of room", text)
    assert left_out is not None
    shown = len(re.findall(r"^\| task\d+/l", text, re.MULTILINE))
    assert shown + int(left_out[1]) == 3000
    assert shown > 300


def test_junit_is_valid_and_has_a_case_for_each_check(report: Report) -> None:
    text = render_junit(report)
    xmlschema.XMLSchema(Path(__file__).with_name("junit.xsd")).validate(text)
    root = ElementTree.fromstring(text.encode())
    cases = root.findall("testsuite/testcase")
    assert len(cases) == len(report.checks) == 4
    assert root.attrib["tests"] == "4"
    assert root.attrib["failures"] == "1"
    (failed,) = [case for case in cases if case.find("failure") is not None]
    assert failed.attrib["name"] == "overall: max_drop 0.5"
    failure = failed.find("failure")
    assert failure is not None
    assert failure.attrib["message"].startswith("70.00 -> 69.40, -0.60")
    (skipped,) = [case for case in cases if case.find("skipped") is not None]
    reason = skipped.find("skipped")
    assert reason is not None
    assert reason.attrib["message"].endswith("3 points allowed: <b>@all</b> | x")


def test_schema_of_junit_can_refuse(report: Report) -> None:
    schema = xmlschema.XMLSchema(Path(__file__).with_name("junit.xsd"))
    assert not schema.is_valid(render_junit(report).replace("classname=", "class="))
    assert not schema.is_valid(
        render_junit(report).replace("<failure", "<broken").replace("</failure", "</broken")
    )


def test_json_holds_full_precision(report: Report) -> None:
    content = as_json(report)
    overall = content["effects"][0]
    assert overall["key"] == "overall"
    assert overall["difference"] == 69.4 - 70
    assert content["checks"][0]["status"] == "breach"
    assert content["candidate"]["name"] == HOSTILE
    assert content["regression"] is True
