"""Labels as they stand in files, mapped to the labels of the specification."""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches

from xharness.errors import InputError
from xharness.specs.task import TaskSpec

#: How several data sets write "the annotators did not agree".
NO_GOLD = "-"


class LabelReader:
    """Maps label texts of one file, counting aliases.

    Args:
        task: The task whose labels are valid.
        counts: Where aliases are counted.
    """

    def __init__(self, task: TaskSpec, counts: Counter[str]):
        self._task = task
        self._counts = counts
        self._known = dict(zip(task.labels, task.labels, strict=True))

    def __call__(self, text: str, path: object, line: int) -> str:
        """Return the label that ``text`` stands for.

        Raises:
            InputError: It is no label and no alias of the task.
        """
        if text in self._known:
            return self._known[text]
        if text in self._task.label_aliases:
            self._counts[f"label_alias_{text}"] += 1
            return self._task.label_aliases[text]
        near = get_close_matches(text, [*self._task.labels, *self._task.label_aliases], n=1)
        mend = f"did you mean {near[0]!r}?" if near else f"labels: {', '.join(self._task.labels)}"
        raise InputError(
            f"label {text!r} is not one of task {self._task.name}",
            where=f"{path}:{line}",
            mend=mend,
        )
