"""The ``analyze parameters`` verb."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabulate import tabulate

from xharness.analysis.parameters import Convention, count
from xharness.analysis.published_parameters import ParameterRow, load_published, published_rows
from xharness.encoder import DecoupledConfig
from xharness.errors import InputError
from xharness.files import write_json
from xharness.models.checkpoints import checkpoint_name
from xharness.models.checkpoints import load_config as load_checkpoint_config
from xharness.pretraining.config import load_config as load_pretraining_config
from xharness.pretraining.vocabulary import load_vocabulary

_OWN_CONVENTION = "Millions of parameters; pre-training with the masked-LM head, fine-tuning without head or pooler."


@dataclass(frozen=True)
class ParametersCommand:
    """The options of ``xharness analyze parameters`` as typed.

    Attributes:
        models: Checkpoint folders, hub ids, or pre-training configurations; the printed tables where there are none.
        json_file: Where the rows go as JSON.
    """

    models: tuple[str, ...] = ()
    json_file: Path | None = None

    def execute(self) -> str:
        """Count, write the JSON file if there is one, and return the table for the terminal.

        Raises:
            InputError: A model or configuration is unusable, or the file cannot be written.
        """
        rows = [own_row(model) for model in self.models] or published_rows()
        if self.json_file is not None:
            write_json(self.json_file, [row.as_json() for row in rows])
        return own_table(rows) if self.models else published_table(rows)


def own_row(model: str) -> ParameterRow:
    """Count a checkpoint, or what a pre-training configuration makes.

    Raises:
        InputError: It is unusable, or no encoder with a masked-LM head.
    """
    if Path(model).suffix in (".yaml", ".yml"):
        name, config = _pretraining_config(Path(model))
    else:
        name, config = checkpoint_name(model), load_checkpoint_config(model)
    try:
        counts = count(config)
    except InputError as error:
        raise _placed(error, model) from error
    convention = Convention()
    return ParameterRow(
        name, counts.pre_training(convention), counts.fine_tuning(convention), counts
    )


def _pretraining_config(path: Path) -> tuple[str, Any]:
    config = load_pretraining_config(path)
    size, pad = config.vocabulary.size, 0
    if config.vocabulary.path is not None:
        vocabulary = load_vocabulary(config.vocabulary.path)
        size, pad = vocabulary.size, vocabulary.pad_id
    try:
        encoder = DecoupledConfig(vocab_size=size, pad_token_id=pad, **config.encoder.model_dump())
    except InputError as error:
        raise _placed(error, f"{path}: encoder") from error
    return config.name, encoder


def _placed(error: InputError, place: str) -> InputError:
    where = place if error.where is None else f"{place}: {error.where}"
    return InputError(error.what, where=where, mend=error.mend)


def own_table(rows: Sequence[ParameterRow]) -> str:
    """Return a table of counts, in millions, with their parts."""
    header = ["model", "pre-training", "fine-tuning", "embedding", "share", "frozen"]
    header += ["extra layers", "output embedding"]
    cells = [
        [
            row.model,
            *(_in_millions(n) for n in (row.pretraining, row.fine_tuning, row.counts.embedding)),
            f"{row.share:.0f} %",
            *(
                _in_millions(n) if n else "-"
                for n in (
                    row.counts.frozen,
                    row.counts.extra_layers,
                    row.counts.output_embedding,
                )
            ),
        ]
        for row in rows
    ]
    table = tabulate(
        cells, header, "simple", colalign=("left", *["right"] * 7), disable_numparse=True
    )
    return f"{table}\n\n{_OWN_CONVENTION}"


def published_table(rows: Sequence[ParameterRow]) -> str:
    """Return a table of our counts, in millions, beside the printed ones, with notes where they differ."""
    header = ["table", "model", "pre-training", "printed", "", "fine-tuning", "printed", ""]
    header += ["embedding", "printed", ""]
    cells, notes = [], []
    for row in rows:
        assert row.published is not None
        found = row.agreements
        line = [str(row.table), row.model]
        for name, ours in (("pretraining", row.pretraining), ("fine_tuning", row.fine_tuning)):
            printed = getattr(row.published, name)
            line += [_in_millions(ours), _whole(printed, "M"), found.get(name, "")]
        if row.published.embedding is None:
            line += ["", "", ""]
        else:
            worst = "differs" if "differs" in (found["embedding"], found["share"]) else ""
            line += [
                f"{_in_millions(row.counts.embedding)} ({row.share:.1f} %)",
                f"{row.published.embedding}M ({row.published.share} %)",
                worst or found["embedding"],
            ]
        cells.append(line)
        if row.published.note:
            notes.append(f"Table {row.table}, {row.model}: {row.published.note}")
    align = ("right", "left", *["right", "right", "left"] * 3)
    table = tabulate(cells, header, "simple", colalign=align, disable_numparse=True)
    agreeing = sum(row.agrees is True for row in rows)
    summary = f"{agreeing} of {len(rows)} rows agree to the printed precision."
    return "\n".join([table, "", summary, *notes, f"Printed: {load_published().source}."])


def _in_millions(count: int) -> str:
    return f"{count / 1e6:.2f}"


def _whole(number: int | None, unit: str) -> str:
    return "" if number is None else f"{number}{unit}"
