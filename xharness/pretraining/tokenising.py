"""Turning lines into token ids, over several processes and in order."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from xharness.errors import InputError
from xharness.orphans import end_with_parent
from xharness.pretraining.shards import DType, TokenArray
from xharness.pretraining.vocabulary import Vocabulary

#: Characters that a process tokenises at one time.
BATCH_CHARACTERS = 1 << 18

#: Batches in flight for each process: enough that none waits, few enough that memory stays small.
_AHEAD = 4


@dataclass(frozen=True, eq=False)
class TokenRules:
    """All that a process must know to make ids of lines.

    Attributes:
        tokenizer_json: The tokenizer.
        dtype: Of the ids.
        unknown_id: The unknown token, counted.
        left_out: (size,), special tokens other than the unknown one: text that writes them out must not put
            them in. They are counted.
        separator: Put after each line.
    """

    tokenizer_json: str
    dtype: DType
    unknown_id: int | None
    left_out: npt.NDArray[np.bool_]
    separator: int | None


@dataclass(frozen=True, eq=False)
class TokenBatch:
    """The ids of some lines, one after the other, and what was counted."""

    ids: TokenArray
    unknown: int
    left_out: int


def token_rules(vocabulary: Vocabulary, separate_lines: bool) -> TokenRules:
    """Return the rules of a vocabulary; ids take two bytes where it fits."""
    left_out = vocabulary.special.copy()
    if vocabulary.unknown_id is not None:
        left_out[vocabulary.unknown_id] = False
    return TokenRules(
        vocabulary.tokenizer_json,
        "<u2" if vocabulary.size <= 1 << 16 else "<u4",
        vocabulary.unknown_id,
        left_out,
        vocabulary.end_id if separate_lines else None,
    )


class _Tokeniser:
    def __init__(self, rules: TokenRules):
        self._rules = rules
        self._tokenizer = Tokenizer.from_str(rules.tokenizer_json)

    def __call__(self, lines: list[str]) -> TokenBatch:
        rules = self._rules
        encodings = self._tokenizer.encode_batch_fast(lines, add_special_tokens=False)
        rows = [encoding.ids for encoding in encodings]
        ends = np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)))
        ids = np.fromiter(chain.from_iterable(rows), rules.dtype, int(ends[-1]))
        left_out = rules.left_out[ids]
        if left_out.any():
            ends -= np.concatenate([[0], np.cumsum(left_out)])[ends]
            ids = ids[~left_out]
        unknown = 0 if rules.unknown_id is None else int((ids == rules.unknown_id).sum())
        if rules.separator is not None:
            ids = np.insert(ids, ends, rules.separator)
        return TokenBatch(ids, unknown, int(left_out.sum()))


_of_process: _Tokeniser | None = None


def _start_process(rules: TokenRules) -> None:
    global _of_process
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C reaches all; the main process alone tells of it
    end_with_parent()
    # The processes share the cores; threads of each would only contend for them.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    _of_process = _Tokeniser(rules)


def _tokenise(lines: list[str]) -> TokenBatch:
    assert _of_process is not None
    return _of_process(lines)


class Tokenising:
    """Processes that make ids of lines; a context manager.

    Args:
        rules: What to make of lines.
        processes: How many; with 1 the work is done in this process.
    """

    def __init__(self, rules: TokenRules, processes: int):
        self._ahead = _AHEAD * processes
        self._own = _Tokeniser(rules) if processes == 1 else None
        self._pool = None
        if processes > 1:
            # Not forked: this process may have threads, and a fork that inherits their locks can hang.
            self._pool = ProcessPoolExecutor(
                processes, multiprocessing.get_context("spawn"), _start_process, (rules,)
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def __call__(self, lines: Iterable[str]) -> Iterator[TokenBatch]:
        """Yield the ids of lines in order.

        Raises:
            InputError: A process was ended from outside.
        """
        if self._own is not None:
            yield from map(self._own, _batches(lines))
            return
        assert self._pool is not None
        pending: deque[Future[TokenBatch]] = deque()
        try:
            for batch in _batches(lines):
                pending.append(self._pool.submit(_tokenise, batch))
                if len(pending) >= self._ahead:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        except BrokenProcessPool as error:
            raise InputError(
                "a tokenising process was ended", mend="if memory ran out, use fewer processes"
            ) from error


def _batches(lines: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for line in lines:
        batch.append(line)
        characters += len(line)
        if characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
