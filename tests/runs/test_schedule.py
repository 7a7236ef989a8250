"""The order of units, parts of a plan, and what is tried again."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.errors import InputError
from xharness.runs import plan as plans
from xharness.runs.plan import TaskPlan, Unit
from xharness.runs.schedule import (
    TRIES,
    Shard,
    UnitQueue,
    estimated_cost,
    list_schedule,
    longest_first,
)
from xharness.specs.recipe import Recipe
from xharness.specs.registry import benchmark_of_suite, load

COSTS = st.dictionaries(st.text("abcdef", min_size=1, max_size=4), st.integers(1, 100), min_size=1)


def test_longest_first_and_equal_costs_by_name() -> None:
    assert longest_first({"b": 1, "a": 1, "c": 3}) == ["c", "a", "b"]


def test_lists_are_those_of_grahams_example() -> None:
    """Graham 1969: times 5 5 4 4 3 3 3 on three machines end at 11 by LPT, where 9 is best."""
    times = dict(zip("abcdefg", (5, 5, 4, 4, 3, 3, 3), strict=True))
    queues = list_schedule(longest_first(times), times, 3)
    assert queues == [["a", "e", "g"], ["b", "f"], ["c", "d"]]
    assert max(sum(times[name] for name in queue) for queue in queues) == 11


@given(costs=COSTS, machines=st.integers(1, 8))
def test_longest_first_keeps_grahams_bound(costs: dict[str, int], machines: int) -> None:
    queues = list_schedule(longest_first(costs), costs, machines)
    makespan = max(sum(costs[name] for name in queue) for queue in queues)
    total, longest = sum(costs.values()), max(costs.values())
    # Any list schedule; LPT's own bound of 4/3 needs the best makespan, which is not known here.
    assert makespan <= total / machines + longest * (1 - 1 / machines) + 1e-9


@given(costs=COSTS, count=st.integers(1, 6))
def test_shards_are_a_partition(costs: dict[str, int], count: int) -> None:
    shards = [Shard(number, count).of(costs) for number in range(1, count + 1)]
    assert sorted(name for shard in shards for name in shard) == sorted(costs)
    shuffled = dict(reversed(list(costs.items())))
    assert shards == [Shard(number, count).of(shuffled) for number in range(1, count + 1)]


def test_shard_is_read_and_written() -> None:
    assert Shard.parse("2/16") == Shard(2, 16)
    assert str(Shard(2, 16)) == "2/16"


@pytest.mark.parametrize(
    "text", ["", "1", "/", "1/", "0/2", "3/2", "-1/2", "1/2/3", "a/b", "٢/٣", "1/0"]
)
def test_no_shard(text: str) -> None:
    with pytest.raises(InputError, match="--shard"):
        Shard.parse(text)


def plan_of(name: str, train: int, test: int) -> TaskPlan:
    task = benchmark_of_suite("xtreme").task(name)
    return TaskPlan(
        task=task,
        settings=load(Recipe, "xtreme").resolve(task),
        training_key=None if task.kind == "retrieval" else task.training,
        seeds=(1,),
        tests=(plans.TestSet("en", test, test), plans.TestSet("xx", absent="no data")),
        train_examples=train,
        train_fingerprint="",
    )


def test_cost_counts_a_training_once_and_grows_with_epochs_and_tests() -> None:
    xquad, mlqa = plan_of("xquad", 100, 10), plan_of("mlqa", 100, 20)
    # 3 passes, 3 epochs, 100 examples of 220 pieces; 30 test examples.
    assert estimated_cost(Unit((xquad, mlqa), 1)) == 220 * (3 * 3 * 100 + 30)
    assert estimated_cost(Unit((plan_of("tatoeba", 0, 10),), 1)) == 32 * 10


def test_a_unit_shares_one_training_and_is_named_by_it() -> None:
    unit = Unit((plan_of("xquad", 100, 10), plan_of("mlqa", 100, 20)), 7)
    assert unit.name == "squad_seed-7"
    assert [(stage.kind, stage.plan.task.name, stage.language) for stage in unit.stages()] == [
        ("finetune", "xquad", None),
        ("predict", "xquad", "en"),
        ("score", "xquad", None),
        ("predict", "mlqa", "en"),
        ("score", "mlqa", None),
    ]


def test_queue_tries_again_up_to_the_limit() -> None:
    queue = UnitQueue(["a", "b"])
    assert queue.take() == "a"
    for _ in range(TRIES - 1):
        assert queue.settle("a", again=True)
        assert queue.take() == "a"
    assert not queue.settle("a", again=True)
    assert queue.tries == {"a": TRIES}
    assert queue.take() == "b"
    assert not queue.settle("b", again=False)
    assert queue.take() is None


def test_a_free_worker_waits_for_a_unit_that_may_come_again() -> None:
    queue = UnitQueue(["a"])
    queue.take()
    taken: list[str | None] = []
    waiting = threading.Thread(target=lambda: taken.append(queue.take()))
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    queue.settle("a", again=True)
    waiting.join(5)
    assert taken == ["a"]


def test_a_closed_queue_gives_out_nothing() -> None:
    queue = UnitQueue(["a", "b"])
    queue.take()
    queue.close()
    assert queue.take() is None
    assert not queue.settle("a", again=True)
