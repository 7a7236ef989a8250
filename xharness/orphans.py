"""Processes that end with the one that started them; killed, it cannot tell them to."""

from __future__ import annotations

import multiprocessing
import os
from threading import Thread


def end_with_parent() -> None:
    """End this process at once when the one that started it by ``multiprocessing`` has ended."""
    Thread(target=_wait, daemon=True).start()


def _wait() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
