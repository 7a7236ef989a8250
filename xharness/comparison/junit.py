"""The report as JUnit XML, the format by which CI systems show tests: one test case a condition and figure."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from xharness.comparison.checks import figures_line
from xharness.comparison.report import Report

#: What XML 1.0 does not hold, even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(report: Report) -> str:
    """Return the report as JUnit XML. A breach is a failure; one that is allowed is skipped, with its reason.

    There is no time in it, so that the same comparison gives the same bytes.
    """
    failures, skipped = len(report.with_status("breach")), len(report.with_status("allowed"))
    totals = {
        "tests": str(len(report.checks)),
        "failures": str(failures),
        "errors": "0",
    }
    root = ElementTree.Element("testsuites", {"name": "xharness compare", **totals})
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        {"name": _clean(report.comparison.suite), **totals, "skipped": str(skipped)},
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(report).items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": _clean(value)})
    for check in report.checks:
        attributes = {
            "classname": _clean(check.source.partition(",")[0]),
            "name": _clean(f"{check.effect.key}: {check.rule}"),
            "time": "0",
        }
        case = ElementTree.SubElement(suite, "testcase", attributes)
        if check.status == "breach":
            failure = {"message": _clean(check.detail), "type": check.rule.partition(" ")[0]}
            ElementTree.SubElement(case, "failure", failure).text = _clean(
                f"{check.effect.key}: {check.detail}\n{check.rule}\n{check.source}"
            )
        elif check.status == "allowed":
            ElementTree.SubElement(case, "skipped", {"message": _clean(check.detail)})
        else:
            ElementTree.SubElement(case, "system-out").text = figures_line(check.effect)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _properties(report: Report) -> dict[str, str]:
    comparison = report.comparison
    return {
        "baseline": comparison.baseline.name,
        "candidate": comparison.candidate.name,
        "profile": comparison.profile,
        "resamples": str(comparison.resamples),
        "seed": str(comparison.seed),
        "level": f"{comparison.level:g}",
        "gate": report.gate or "none",
        "verdict": report.verdict,
    }


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
