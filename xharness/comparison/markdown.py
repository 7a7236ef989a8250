"""The report as markdown, fit for a comment on a pull request: verdict first, all cells folded away."""

from __future__ import annotations

from collections.abc import Sequence

from xharness.comparison.effects import Comparison, Described, Effect, significant_drops
from xharness.comparison.report import Report, effect_row, header

#: GitHub refuses longer comments; what does not fit is counted.
COMMENT_LIMIT = 65_536
_MOST_LINES = 50

#: Characters that markdown, HTML, or the linking of names and issues would act on.
_ACTIVE = {ord(letter): f"&#{ord(letter)};" for letter in "&<>\"'`*_[](){}|~#@!:\\$^="}


def render_markdown(report: Report) -> str:
    """Return the report as markdown.

    Names and reasons are untrusted: they are shown as they are, and nothing in them is markup, a link or a mention.
    """
    comparison = report.comparison
    averages = comparison.of("overall", "category", "task")
    parts = [
        f"## {'❌' if report.with_status('breach') or report.untested_drops else '✅'} {report.verdict}",
        f"{_described(comparison.baseline)} → {_described(comparison.candidate)}, {_plain(comparison.suite)}, "
        f"profile {_plain(comparison.profile)}",
        *_check_list(report, "breach", "Breaches"),
        *_check_list(report, "allowed", "Allowed"),
        _table(comparison, averages),
        *_changes(comparison),
        report.method,
        _notes(report),
    ]
    head = "\n\n".join(part for part in parts if part)
    return head + "\n\n" + _details(comparison, COMMENT_LIMIT - len(head) - 200) + "\n"


def _described(side: Described) -> str:
    seeds = f" (seeds {', '.join(map(str, side.seeds))})" if len(side.seeds) > 1 else ""
    return f"<code>{_plain(side.name)}</code>{seeds}"


def _check_list(report: Report, status: str, title: str) -> list[str]:
    checks = report.with_status(status)
    if not checks:
        return []
    lines = [
        f"- **{_plain(check.effect.key)}** {_plain(check.detail)} ({_plain(check.rule)}; {_plain(check.source)})"
        for check in checks[:_MOST_LINES]
    ]
    if len(checks) > _MOST_LINES:
        lines.append(f"- and {len(checks) - _MOST_LINES} more")
    return [f"### {title}", "\n".join(lines)]


def _changes(comparison: Comparison) -> list[str]:
    if not comparison.tested:
        return []
    languages = comparison.of("language")
    changed = [effect for effect in languages if effect.significant(comparison.alpha)]
    down = len(significant_drops(changed, comparison.alpha))
    return [
        f"Of {len(languages)} languages of tasks, {down} dropped and {len(changed) - down} gained significantly."
    ]


def _notes(report: Report) -> str:
    notes = (*report.comparison.notes, *report.notes)
    return "\n".join(f"- {_plain(note)}" for note in notes)


def _details(comparison: Comparison, room: int) -> str:
    """Return all languages, folded away, as far as there is room."""
    languages = comparison.of("language")
    shown = list(languages)
    while shown:
        table = _table(comparison, shown)
        if len(table) <= room:
            break
        shown = shown[: len(shown) * room // (len(table) + 1)]
    else:
        return f"{len(languages)} languages are left out for lack of room."
    left_out = len(languages) - len(shown)
    more = f"\n\n{left_out} more are left out for lack of room." if left_out else ""
    return f"<details>\n<summary>Every task and language</summary>\n\n{table}{more}\n\n</details>"


def _table(comparison: Comparison, effects: Sequence[Effect]) -> str:
    columns = header(comparison)
    lines = ["| " + " | ".join(columns) + " |", "|:--|" + "--:|" * (len(columns) - 1)]
    for effect in effects:
        cells = [_plain(cell) for cell in effect_row(effect)[: len(columns)]]
        if effect.significant(comparison.alpha):
            cells[3] = f"**{cells[3]}**"
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return text that shows as itself: entities cannot begin markup, a link, a mention or a reference."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return shown.translate(_ACTIVE).replace("www.", "www&#46;")
