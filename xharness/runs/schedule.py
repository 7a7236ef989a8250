"""Which unit runs when and where: the longest first, whatever carries them out."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Condition

from xharness.errors import InputError
from xharness.runs.plan import TaskPlan, Unit
from xharness.specs.task import Kind

#: A unit that fails this often is given up.
TRIES = 3

#: A training step costs a forward pass and a backward pass of about twice its work.
TRAINING_PASSES = 3.0

#: Rough mean pieces of an example or window; only the order of units rests on it.
TYPICAL_PIECES: dict[Kind, int] = {
    "pair_classification": 48,
    "multiple_choice": 80,
    "tagging": 40,
    "question_answering": 220,
    "retrieval": 32,
}


def estimated_cost(unit: Unit) -> float:
    """Estimate a unit's work from the plan alone.

    Returns:
        Pieces through the model, a training step counted as three passes. Comparable within a plan only.
    """
    training = sum(
        TRAINING_PASSES * part.settings.epochs * part.train_examples * _pieces(part)
        for part in unit.trainings
    )
    testing = sum(_pieces(plan) * sum(test.examples for test in plan.tests) for plan in unit.plans)
    return training + testing


def _pieces(part: TaskPlan) -> int:
    return min(TYPICAL_PIECES[part.task.kind], part.settings.max_length)


def longest_first(costs: Mapping[str, float]) -> list[str]:
    """Return names by falling cost; equal costs by name, so that every machine sees the same order."""
    return sorted(costs, key=lambda name: (-costs[name], name))


def list_schedule(
    order: Iterable[str], seconds: Mapping[str, float], machines: int
) -> list[list[str]]:
    """Give each unit in turn to the machine that is free first.

    With the longest first this is Graham's LPT rule, at most 4/3 - 1/(3m) of the best makespan.

    Args:
        order: Names in the order in which they are started.
        seconds: How long each takes.
        machines: How many run side by side.

    Returns:
        The names that each machine runs, in order.
    """
    queues: list[list[str]] = [[] for _ in range(machines)]
    free = [(0.0, number) for number in range(machines)]
    for name in order:
        when, number = heapq.heappop(free)
        queues[number].append(name)
        heapq.heappush(free, (when + seconds[name], number))
    return queues


@dataclass(frozen=True)
class Shard:
    """One of ``count`` parts of a plan.

    Attributes:
        number: Which, from 1.
        count: How many there are.
    """

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read ``i/n``.

        Raises:
            InputError: It is no such thing, or ``i`` is not among 1 to ``n``.
        """
        number, _, count = text.partition("/")
        # isdecimal alone takes digits of other scripts too.
        if not (text.isascii() and number.isdecimal() and count.isdecimal()):
            raise InputError(f"{text!r} is not i/n", where="--shard", mend="for example 1/4")
        if not 1 <= int(number) <= int(count):
            raise InputError(
                f"{text!r}: shards count from 1 to {count}",
                where="--shard",
                mend=f"1/{count} first",
            )
        return cls(int(number), int(count))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def of(self, costs: Mapping[str, float]) -> frozenset[str]:
        """Return the names in this part: parts of like cost, the same on every machine."""
        return frozenset(list_schedule(longest_first(costs), costs, self.count)[self.number - 1])


@dataclass
class UnitQueue:
    """Units that wait for a worker, shared by threads; a unit that failed comes again until it has had its tries.

    Args:
        order: Names in the order in which they are started.
    """

    order: Sequence[str]
    tries: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._waiting = deque(self.order)
        self._running: set[str] = set()
        self._changed = Condition()
        self._closed = False

    def take(self) -> str | None:
        """Return the next unit; wait while one that runs may still fail and come again. ``None`` at the end."""
        with self._changed:
            while not self._waiting and self._running and not self._closed:
                self._changed.wait()
            if self._closed or not self._waiting:
                return None
            name = self._waiting.popleft()
            self._running.add(name)
            self.tries[name] = self.tries.get(name, 0) + 1
            return name

    def settle(self, name: str, *, again: bool) -> bool:
        """Tell that a unit ended.

        Args:
            name: The unit.
            again: Whether it failed in a way that another try may mend.

        Returns:
            Whether it will be tried again.
        """
        with self._changed:
            self._running.discard(name)
            again = again and self.tries[name] < TRIES and not self._closed
            if again:
                self._waiting.appendleft(name)
            self._changed.notify_all()
            return again

    def close(self) -> None:
        """Give out nothing more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
