"""What both benchmarks of the ways do with their rows: medians, and ratios between ways."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from speed.measuring import Row


def merged(found: Mapping[str, Sequence[Row]], tasks: Sequence[str]) -> list[Row]:
    """Return the median of each way's rounds by task.

    Args:
        found: Rows by way; each names its task.
        tasks: The tasks.
    """
    rows = []
    for way, runs in found.items():
        for task in tasks:
            same = [row for row in runs if row["task"] == task]
            numbers = [key for key, value in same[0].items() if isinstance(value, int | float)]
            middle = {key: statistics.median(row[key] for row in same) for key in numbers}
            rows.append({"way": way, "task": task, **middle})
    return rows


def told(label: str, by_task: Mapping[str, float], wanted: float) -> dict[str, float]:
    """Print how many times as fast we are, by task and as the geometric mean; return what was printed."""
    ratios = {**by_task, "geometric mean": statistics.geometric_mean(by_task.values())}
    cells = ", ".join(f"{name} {value:.2f}" for name, value in ratios.items())
    print(f"{label}: {cells} (wanted {wanted})")
    return ratios
