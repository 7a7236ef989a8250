"""The C library's allocator, told to keep what a step frees for the next one."""

from __future__ import annotations

import ctypes
import sys

_M_TRIM_THRESHOLD = -1
_M_MMAP_MAX = -4


def keep_freed_memory() -> bool:
    """Keep freed memory in the process; return whether the C library was told.

    By default glibc gives large blocks back to the system at once, so each step's gradients would be mapped and
    cleared page by page again. Elsewhere than on Linux with glibc nothing is done.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_M_MMAP_MAX, 0)) and bool(mallopt(_M_TRIM_THRESHOLD, 2**31 - 1))
