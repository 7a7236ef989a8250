"""The suite specification: which tasks, in which categories, averaged how."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from xharness.specs.languages import LanguageCode
from xharness.specs.validation import SpecModel


class SuiteTask(SpecModel):
    """How a suite uses a task.

    Attributes:
        languages: Test languages where the suite's differ from the task's.
        score: Figures whose mean enters averages, by profile; the task's own where absent.
    """

    languages: tuple[LanguageCode, ...] | None = None
    score: dict[str, tuple[str, ...]] | None = None


class Suite(SpecModel):
    """A set of tasks with its aggregation rules.

    A task's average is the unweighted mean over its languages, English included; a category's score the
    unweighted mean of its tasks; the overall score the unweighted mean of all tasks' scores, not of the
    categories (XTREME's ``evaluate.py``). A missing language makes every average above it null.

    Attributes:
        name: Short name.
        title: Name in tables.
        tasks: Tasks in table order.
        categories: Tasks of each category; a task may be in two.
        overall: Tasks that enter the overall score; all of them where absent.
        category_average: Whether tables also show the mean over the categories, as the RemBERT paper does beside
            the mean over the tasks.
        recipe: Recipe used where the user names none.
        citation: Whom to cite.
        notes: Anything a reader of the table should know.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]*$")
    title: str
    tasks: dict[str, SuiteTask] = Field(min_length=1)
    categories: dict[str, tuple[str, ...]]
    overall: tuple[str, ...] | None = None
    category_average: bool = False
    recipe: str = "xtreme"
    citation: str = ""
    notes: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _empty_entries(cls, data: object) -> object:
        """Allow ``xnli:`` with nothing after it in the YAML."""
        if isinstance(data, dict) and isinstance(data.get("tasks"), dict):
            data = {
                **data,
                "tasks": {k: ({} if v is None else v) for k, v in data["tasks"].items()},
            }
        return data

    @model_validator(mode="after")
    def _categories_fit(self) -> Self:
        for category, tasks in self.categories.items():
            for task in tasks:
                if task not in self.tasks:
                    raise ValueError(f"categories.{category}: {task!r} is not a task of the suite")
        for task in self.overall or ():
            if task not in self.tasks:
                raise ValueError(f"overall: {task!r} is not a task of the suite")
        return self
