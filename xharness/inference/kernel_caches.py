"""torch's caches of CPU kernels, which hold one for each shape of product that ever occurred, kept small."""

from __future__ import annotations

import os

#: Kernels that a cache holds. A batch needs fewer than ten and uses each in every block; the next batch's are mostly
#: others. Making one takes a quarter of a millisecond, keeping it in both caches half a megabyte and more.
KERNELS = 64

#: Read once, at the first product: by oneDNN, and by the layer between torch and oneDNN. Both say 1024 by default.
VARIABLES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")


def keep_few_kernels() -> None:
    """Have the caches of this process and of those it starts hold ``KERNELS``, unless the environment says otherwise.

    Without it a process grows by hundreds of megabytes while batches of ever new shapes go by.
    """
    for name in VARIABLES:
        os.environ.setdefault(name, str(KERNELS))
