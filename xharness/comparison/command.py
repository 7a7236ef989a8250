"""The ``compare`` verb: from what the user typed to reports and an exit code."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from rich.console import Console

from xharness.comparison.aggregation import benchmark_of
from xharness.comparison.checks import default_checks, gate_checks
from xharness.comparison.comparability import (
    check_profiles,
    check_records,
    common_tasks,
    training_notes,
)
from xharness.comparison.comparing import Resampling, TaskPair, compare_tasks
from xharness.comparison.effects import Comparison, Described
from xharness.comparison.gate import Gate, bind_gate, load_gate
from xharness.comparison.junit import render_junit
from xharness.comparison.markdown import render_markdown
from xharness.comparison.matching import find_gold, pair_of_examples, pair_of_records
from xharness.comparison.report import Report
from xharness.comparison.results_json import as_json
from xharness.comparison.sides import Role, Side, read_predictions, read_side
from xharness.comparison.terminal import render_terminal
from xharness.errors import InputError
from xharness.files import write_json, write_text
from xharness.scoring.scores import check_profile
from xharness.specs.registry import Benchmark
from xharness.specs.yaml_loading import Document
from xharness.submission.archive import submission_folder

#: More draws than this would not fit into memory at full size.
_MOST_RESAMPLES = 1_000_000


@dataclass(frozen=True)
class CompareCommand:
    """The options of ``xharness compare`` as typed; see ``xharness compare --help``."""

    baseline: Path
    candidate: Path
    labels: Path | None = None
    suite: str | None = None
    tasks: tuple[str, ...] = ()
    profile: str | None = None
    gate: Path | None = None
    output: Path | None = None
    junit: Path | None = None
    json: Path | None = None
    resamples: int = 10_000
    seed: int = 0
    level: float = 0.95

    def execute(self, today: date | None = None) -> int:
        """Compare, print and write the reports.

        Args:
            today: The day on which allowances are looked at; the present one (UTC) where absent.

        Returns:
            0 without a regression, 1 with one.

        Raises:
            InputError: Wrong use, unusable input, results that cannot be compared, or drops in records alone, which
                nothing can judge; in that last case after the reports are written.
        """
        self._check_options()
        gate = None if self.gate is None else load_gate(self.gate)
        with Console(stderr=True).status("comparing"):
            comparison = self.compare()
            report = self._judged(comparison, gate, today or datetime.now(UTC).date())
        if self.output is not None:
            write_text(self.output, render_markdown(report))
        if self.junit is not None:
            write_text(self.junit, render_junit(report))
        if self.json is not None:
            write_json(self.json, as_json(report))
        print(render_terminal(report))
        if report.untested_drops:
            first = report.untested_drops[0]
            raise InputError(
                f"no verdict: {len(report.untested_drops)} figures dropped, such as {first.key}, and records alone "
                "do not tell whether by chance",
                mend="give run folders with their predictions, or a --gate with max_drop",
            )
        return 1 if report.with_status("breach") else 0

    def compare(self) -> Comparison:
        """Read both sides and compare them.

        Raises:
            InputError: A side is unusable, or the two cannot be compared.
        """
        with ExitStack() as stack:
            benchmark, baseline, candidate = self._sides(stack)
            profile = check_profiles(baseline, candidate, self.profile)
            names = common_tasks(baseline, candidate, self.tasks)
            pairs = self._pairs(benchmark, baseline, candidate, names, profile)
        effects = compare_tasks(
            pairs,
            benchmark.categories,
            benchmark.overall,
            Resampling(self.resamples, self.seed, self.level),
        )
        return Comparison(
            baseline=_described(baseline),
            candidate=_described(candidate),
            suite=benchmark.title,
            profile=profile,
            level=self.level,
            resamples=self.resamples,
            seed=self.seed,
            effects=effects,
            notes=(
                *_seed_notes(baseline, candidate),
                *_hole_notes(benchmark, pairs),
                *training_notes(baseline, candidate, names),
            ),
        )

    def _check_options(self) -> None:
        if not 0.5 <= self.level < 1:
            raise InputError(
                f"{self.level:g} is not between 0.5 and 1", where="--level", mend="such as 0.95"
            )
        if not 100 <= self.resamples <= _MOST_RESAMPLES:
            raise InputError(
                f"{self.resamples} is not between 100 and {_MOST_RESAMPLES}", where="--resamples"
            )
        if self.seed < 0:
            raise InputError(f"{self.seed} is negative", where="--seed")
        if self.profile is not None:
            check_profile(self.profile)

    def _sides(self, stack: ExitStack) -> tuple[Benchmark, Side, Side]:
        given: tuple[tuple[Path, Role], ...] = (
            (self.baseline, "baseline"),
            (self.candidate, "candidate"),
        )
        opened = [(path, role, _opened(path, stack)) for path, role in given]
        sides = [read_side(folder, role) for _, role, folder in opened]
        benchmark = benchmark_of(sides, self.suite)
        wanted = [task for task in benchmark.tasks if not self.tasks or task.name in self.tasks]
        found = [
            _within(side, benchmark)
            if side is not None
            else read_predictions(folder, role, wanted or benchmark.tasks, path)
            for side, (path, role, folder) in zip(sides, opened, strict=True)
        ]
        return benchmark, found[0], found[1]

    def _pairs(
        self,
        benchmark: Benchmark,
        baseline: Side,
        candidate: Side,
        names: list[str],
        profile: str,
    ) -> list[TaskPair]:
        for name in names:
            check_records(baseline, candidate, name)
        tasks = [benchmark.task(name) for name in names]
        if not (baseline.folders and candidate.folders):
            for side in (baseline, candidate):
                if not side.records:
                    raise InputError(
                        "prediction files cannot be compared with records alone",
                        where=side.path,
                        mend="give the other side's run folder with its predictions",
                    )
            if self.labels is not None:
                raise InputError(
                    "labels are of no use to records alone",
                    where="--labels",
                    mend="give run folders with their predictions",
                )
            return [pair_of_records(task, baseline, candidate, profile) for task in tasks]
        gold = find_gold(baseline, candidate, self.labels)
        return [pair_of_examples(task, baseline, candidate, gold, profile) for task in tasks]

    def _judged(
        self, comparison: Comparison, gate: tuple[Gate, Document] | None, today: date
    ) -> Report:
        if gate is None:
            return Report(comparison, default_checks(comparison))
        bound = bind_gate(*gate, comparison, today)
        notes = tuple(
            f"the allowance for {expired.cell} ended on {expired.expires}: {expired.reason}"
            for expired in bound.expired
        )
        return Report(comparison, gate_checks(comparison, bound), str(self.gate), notes)


def _opened(path: Path, stack: ExitStack) -> Path:
    """Return the path itself, or the folder that an archive of predictions was unpacked into."""
    if path.is_file() and path.suffix != ".json":
        return stack.enter_context(submission_folder(path))
    return path


def _within(side: Side, benchmark: Benchmark) -> Side:
    """Leave out the tasks that the suite has not."""
    names = [task.name for task in benchmark.tasks if task.name in side.records]
    return Side(
        side.role,
        side.path,
        {name: side.records[name] for name in names},
        {name: side.folders[name] for name in names if name in side.folders},
        side.gold,
    )


def _described(side: Side) -> Described:
    seeds = side.all_seeds if side.records else ()
    return Described(side.name, str(side.path), seeds)


def _seed_notes(baseline: Side, candidate: Side) -> list[str]:
    """Say it where only one side has several seeds, which are then averaged."""
    counts = {side.role: len(side.all_seeds) for side in (baseline, candidate)}
    if max(counts.values()) > 1 == min(counts.values()):
        first, second = counts.values()
        return [
            f"{first} and {second} seeds: they are averaged, and nothing is said of other seeds"
        ]
    return []


def _hole_notes(benchmark: Benchmark, pairs: list[TaskPair]) -> list[str]:
    notes = []
    for pair in pairs:
        holes = [code for code in pair.languages if code not in pair.baseline]
        if holes:
            notes.append(
                f"hole: {pair.name} {', '.join(holes)} on both sides, so no average over it"
            )
    names = {pair.name for pair in pairs}
    absent = [task.name for task in benchmark.tasks if task.name not in names]
    if absent:
        notes.append(f"not compared: {', '.join(absent)}")
    return notes
