"""Batches side by side: every one is worked on once, in its own part of the result, and errors come through."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from xharness.inference.device import Device
from xharness.inference.streams import BATCHES_PER_STREAM, each_batch, stream_count

CPU = Device("cpu", "float32", 1024)


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_streams_are_as_many_as_threads_and_have_batches_enough(two_threads: None) -> None:
    assert stream_count(CPU, 2 * BATCHES_PER_STREAM) == 2
    assert stream_count(CPU, 2 * BATCHES_PER_STREAM - 1) == 1
    assert stream_count(CPU, 1000) == 2
    assert stream_count(CPU, 0) == 1
    assert stream_count(Device("cuda", "float32", 1024), 1000) == 1


def test_works_on_each_batch_without_gradients_on_a_share_of_the_threads(two_threads: None) -> None:
    batches = [np.arange(3 * i, 3 * i + 3) for i in range(20)]
    result = np.zeros(60, np.int64)
    seen: list[tuple[int, bool, int]] = []
    both = threading.Barrier(2, timeout=60)

    def work(batch: np.ndarray) -> None:
        if batch[0] < 6:
            both.wait()  # the first two are worked on at the same time
        result[batch] += batch
        seen.append(
            (threading.get_ident(), torch.is_inference_mode_enabled(), torch.get_num_threads())
        )

    done = list(each_batch(CPU, batches, work))
    assert [batch.tolist() for batch in done] == [batch.tolist() for batch in batches]
    assert result.tolist() == list(range(60))
    assert len({thread for thread, _, _ in seen}) == 2
    assert all(inference and threads == 1 for _, inference, threads in seen)
    assert torch.get_num_threads() == 2
    assert not torch.is_inference_mode_enabled()


def test_an_error_ends_the_work_and_comes_through(two_threads: None) -> None:
    worked: list[int] = []

    def work(batch: int) -> None:
        if batch == 1:
            raise MemoryError("none left")
        worked.append(batch)

    with pytest.raises(MemoryError, match="none left"):
        list(each_batch(CPU, range(10_000), work))
    assert len(worked) < 9_999
    assert torch.get_num_threads() == 2


def test_few_batches_go_one_after_the_other_on_all_threads(two_threads: None) -> None:
    threads: list[int] = []
    list(each_batch(CPU, range(3), lambda batch: threads.append(torch.get_num_threads())))
    assert threads == [2, 2, 2]
