"""Streams: every word is predicted once, from the word before it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xharness.errors import InputError
from xharness.language_modelling.streams import cut_streams, require_batch


def test_two_streams() -> None:
    """Words 10 to 16 in two streams of three; the last one is left over."""
    cut = cut_streams(np.arange(10, 17, dtype=np.int32), 2, end_id=1)
    assert cut.inputs.tolist() == [[1, 12], [10, 13], [11, 14]]
    assert cut.targets.tolist() == [[10, 13], [11, 14], [12, 15]]
    assert cut.dropped == 1
    windows = list(cut.windows(2))
    assert [len(window.inputs) for window in windows] == [2, 1]
    assert cut.steps(2) == 2


@given(st.integers(1, 200), st.integers(1, 9), st.integers(1, 30))
def test_nothing_is_lost(words: int, streams: int, window: int) -> None:
    ids = np.arange(2, words + 2, dtype=np.int32)
    cut = cut_streams(ids, streams, end_id=1)
    parts = list(cut.windows(window))
    assert len(parts) == cut.steps(window)
    targets = np.concatenate([part.targets for part in parts] or [cut.targets])
    assert targets.T.reshape(-1).tolist() == ids[: len(ids) - cut.dropped].tolist()
    assert cut.dropped < streams
    assert np.array_equal(np.where(cut.targets == 2, 1, cut.targets - 1), cut.inputs)


def test_less_than_a_batch() -> None:
    require_batch(np.zeros(40, np.int32), 4, 10, "train")
    with pytest.raises(
        InputError, match="train text: 39 words are less than one batch of 4 streams of 10"
    ):
        require_batch(np.zeros(39, np.int32), 4, 10, "train")
