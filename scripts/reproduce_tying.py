"""The study of weight tying (Press and Wolf, arXiv 1608.05859) at small scale: train, evaluate, compare embeddings.

    python scripts/reproduce_tying.py --data FOLDER --words FOLDER [--seeds 1,2] [--only NAME,...] [--threads N]
    python scripts/reproduce_tying.py --report

Each configuration of ``task_specs/language_modelling/tying`` is trained with each seed. A finished run is one file,
``leaderboards/tying_study/<name>-seed-<n>.json``, and is not done again; one that was cut off continues after its last
epoch. ``--data`` is a folder of ``en.txt`` and ``en.dev.txt``, plain or compressed; ``--words`` one of word similarity
sets, ``word1 word2 rating`` a line. The page is ``leaderboards/tying_study.md``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from xharness.analysis.word_similarity import read_sets
from xharness.language_modelling.study import Study
from xharness.language_modelling.study_command import (
    Steps,
    exit_with,
    located,
    run_study,
    study_parser,
)
from xharness.language_modelling.tying_study import (
    NAMES,
    compare_embeddings,
    rating,
    write_tying_report,
)

ROOT: Final = Path(__file__).resolve().parents[1]
STUDY: Final = Study(
    ROOT / "task_specs" / "language_modelling" / "tying",
    NAMES,
    ROOT / "leaderboards" / "tying_study",
    ROOT / "runs" / "tying",
)


def main() -> None:
    """Do what is missing, then write the page."""
    assert __doc__ is not None
    parser = study_parser(__doc__.split("\n")[0])
    parser.add_argument("--words", type=Path, nargs="+", default=[], help="word similarity sets")
    arguments = parser.parse_args()
    sets = [] if arguments.report else read_sets(arguments.words)
    steps = Steps(rating(sets), write_tying_report, compare_embeddings)
    run_study(located(STUDY, arguments), arguments, steps)


if __name__ == "__main__":
    exit_with(main)
