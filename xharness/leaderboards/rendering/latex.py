"""Tables as LaTeX for papers: booktabs, wide tables in several parts."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from xharness.leaderboards.rendering.grid import (
    HOLE,
    Column,
    Footnotes,
    columns,
    footnotes,
    group_columns,
    is_best,
)
from xharness.leaderboards.rows import Row
from xharness.leaderboards.table import Table
from xharness.printable import printable

#: Columns of figures that a page takes; more are set as further tables, about equally wide.
_WIDE = 10

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "\ufffd": "?",
    "±": r"\ensuremath{\pm}",
    "–": "--",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def latex_table(table: Table, label: str) -> str:
    r"""Return a table as LaTeX floats.

    The document needs ``\usepackage{booktabs,graphicx,hyperref}``, and an engine that knows the letters of the names.
    The first in each column is bold. Remarks are numbered and stand, like notes and sources, below the last part.

    Args:
        table: The table.
        label: Beginning of the labels, ``tab:<label>``; a letter follows where there are several parts.
    """
    notes = footnotes(table.rows)
    shown = columns(table)
    parts = [(table.title, part) for part in _parts(shown)]
    for kind, title in (("families", "family"), ("scripts", "script")):
        groups = group_columns(table, kind)
        title = f"{table.title}: mean by {title}"
        parts += [(title, part) for part in _parts(groups)]
    floats = []
    for number, (title, part) in enumerate(parts):
        floats.append(
            _float(
                table,
                part,
                notes,
                caption=title + (f" ({number + 1} of {len(parts)})" if len(parts) > 1 else ""),
                label=label + (f"-{number + 1}" if len(parts) > 1 else ""),
                below=_below(table, notes) if number == len(parts) - 1 else [],
            )
        )
    return "\n".join(floats)


def _parts(shown: Sequence[Column]) -> list[Sequence[Column]]:
    if not shown:
        return []
    size = ceil(len(shown) / ceil(len(shown) / _WIDE))
    return [shown[start : start + size] for start in range(0, len(shown), size)]


def _float(
    table: Table,
    shown: Sequence[Column],
    notes: Footnotes,
    *,
    caption: str,
    label: str,
    below: Sequence[str],
) -> str:
    body = [" & ".join(_line(table, shown, notes, i, row)) for i, row in enumerate(table.rows)]
    header = " & ".join(["Model", "Setting", *(_escaped(column.title) for column in shown)])
    lines = [
        r"\begin{table}",
        r"  \centering",
        f"  \\caption{{{_escaped(caption)}}}",
        f"  \\label{{tab:{label}}}",
        r"  \small",
        # Shrunk only where it is wider than the text; \width is the table's own width here.
        r"  \resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
        f"  \\begin{{tabular}}{{ll{'r' * len(shown)}}}",
        r"    \toprule",
        f"    {header} \\\\",
        r"    \midrule",
        *(f"    {line} \\\\" for line in body),
        r"    \bottomrule",
        r"  \end{tabular}}",
    ]
    if below:
        lines += [r"  \par\medskip\footnotesize\raggedright", *(f"  {line}\\par" for line in below)]
    return "\n".join([*lines, r"\end{table}", ""])


def _line(
    table: Table, shown: Sequence[Column], notes: Footnotes, index: int, row: Row
) -> list[str]:
    marks = ",".join(map(str, notes.of_row[index]))
    sources = notes.sources_of_row[index] if row.sources else ""
    raised = ",".join(part for part in (marks, sources.replace(", ", ",")) if part)
    line = [_escaped(row.model) + (f"\\textsuperscript{{{raised}}}" if raised else "")]
    line.append(_escaped(row.setting))
    for column in shown:
        text = column.text(index)
        text = "--" if text == HOLE else _escaped(text)
        line.append(f"\\textbf{{{text}}}" if is_best(table, row, column.key) else text)
    return line


def _below(table: Table, notes: Footnotes) -> list[str]:
    lines = [_escaped(note) for note in table.notes]
    lines += [
        f"\\textsuperscript{{{number}}} {_escaped(remark)}"
        for number, remark in enumerate(notes.remarks, start=1)
    ]
    lines += [
        f"\\textsuperscript{{{letter}}} {_escaped(source.title)}, \\url{{{source.url}}}"
        for source, letter in notes.sources.items()
    ]
    return lines


def _escaped(text: str) -> str:
    """Escape what TeX would act on; names and notes are untrusted."""
    return "".join(_SPECIAL.get(character, character) for character in printable(text))
