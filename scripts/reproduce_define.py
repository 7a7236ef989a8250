"""The study of DeFINE (Mehta et al., arXiv 1911.12385) at small scale: language models with deep, narrow inputs.

    python scripts/reproduce_define.py --data FOLDER [--seeds 1,2] [--only NAME,...] [--threads N]
    python scripts/reproduce_define.py --report

Each configuration of ``task_specs/language_modelling/define`` is trained with each seed. A finished run is one file,
``leaderboards/define_study/<name>-seed-<n>.json``, and is not done again; one that was cut off continues after its last
epoch. ``--data`` is a folder of ``en.txt`` and ``en.dev.txt``, plain or compressed. The page is
``leaderboards/define_study.md``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from xharness.language_modelling.define_study import NAMES, measure_unit, write_define_report
from xharness.language_modelling.study import Study
from xharness.language_modelling.study_command import (
    Steps,
    exit_with,
    located,
    run_study,
    study_parser,
)

ROOT: Final = Path(__file__).resolve().parents[1]
STUDY: Final = Study(
    ROOT / "task_specs" / "language_modelling" / "define",
    NAMES,
    ROOT / "leaderboards" / "define_study",
    ROOT / "runs" / "define",
)


def main() -> None:
    """Do what is missing, then write the page."""
    assert __doc__ is not None
    arguments = study_parser(__doc__.split("\n")[0]).parse_args()
    steps = Steps(measure_unit, write_define_report)
    run_study(located(STUDY, arguments), arguments, steps)


if __name__ == "__main__":
    exit_with(main)
