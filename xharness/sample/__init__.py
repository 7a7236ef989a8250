"""The embedded default: a small multilingual data set and a tiny encoder pre-trained on it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

#: Folder of the data, laid out as XTREME's own ``download`` folder.
DATA: Final[Path] = Path(__file__).resolve().parent / "data"

#: Folder of the pre-trained encoder, in the Hugging Face layout.
CHECKPOINT: Final[Path] = Path(__file__).resolve().parent / "checkpoint"
