"""A unit as a job: everything another process, here or on another machine, needs to carry it out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from xharness.data.sources import DataSource, FileDataSource
from xharness.errors import InputError
from xharness.runs.plan import Plan, Unit
from xharness.sample import CHECKPOINT as SAMPLE_CHECKPOINT
from xharness.sample import DATA as SAMPLE_DATA

#: The built-in model and data, which each machine finds in its own installation.
SAMPLE = "sample"


@dataclass(frozen=True)
class Place:
    """Where a run reads, computes and writes; the same for all its units.

    Attributes:
        model: Checkpoint folder, hub id, ``<adapter>:<reference>`` or ``sample``.
        data: Data folder, ``hub``, ``hub:<revision>`` or ``sample``.
        device: ``cpu``, ``cuda``, ``mps`` or ``auto``, chosen where the unit runs.
        dtype: Number format.
        tokens: Padded pieces in a micro-batch.
        output: The run's folder, an absolute path.
        store: URL that results go through where machines share no folder.
        processes: Processes that fine-tune together.
    """

    model: str
    data: str
    device: str
    dtype: str
    tokens: int | None
    output: str
    store: str | None = None
    processes: int = 1

    def absolute(self) -> Place:
        """Return the place with paths that hold in any working folder."""
        model = self.model
        if model != SAMPLE and Path(model).exists():
            model = str(Path(model).resolve())
        data = self.data
        if self.data_folder is not None and data != SAMPLE:
            data = str(Path(data).resolve())
        return replace(self, model=model, data=data, output=str(Path(self.output).resolve()))

    @property
    def reference(self) -> str:
        """The model's reference on this machine."""
        return str(SAMPLE_CHECKPOINT) if self.model == SAMPLE else self.model

    @property
    def data_folder(self) -> Path | None:
        """The data folder on this machine; ``None`` for the hub."""
        if self.data == SAMPLE:
            return SAMPLE_DATA
        return None if self.data.partition(":")[0] == "hub" else Path(self.data)

    def open_source(self) -> DataSource:
        """Open the data.

        Raises:
            InputError: There is no such folder.
        """
        folder = self.data_folder
        if folder is not None:
            return FileDataSource(folder)
        from xharness.data.hub import HubDataSource

        return HubDataSource(self.data.partition(":")[2] or None)


@dataclass(frozen=True)
class UnitJob:
    """One unit of a plan.

    Attributes:
        name: The unit's name.
        plan: The plan, with no more tasks than the unit has.
        place: Where to read, compute and write.
    """

    name: str
    plan: Plan
    place: Place

    @classmethod
    def of(cls, unit: Unit, plan: Plan, place: Place) -> UnitJob:
        """Make a unit's job."""
        return cls(unit.name, replace(plan, tasks=unit.plans), place)

    @property
    def unit(self) -> Unit:
        """The unit."""
        return next(unit for unit in self.plan.units() if unit.name == self.name)

    def to_json(self) -> str:
        """Return it as JSON."""
        return _JOB.dump_json(self).decode()

    @classmethod
    def from_json(cls, text: str) -> UnitJob:
        """Read what ``to_json`` returned.

        Raises:
            InputError: It is something else, such as the job of another version.
        """
        try:
            return _JOB.validate_json(text)
        except ValidationError as error:
            key = ".".join(map(str, error.errors()[0]["loc"]))
            raise InputError(
                f"no job of this version of xharness: {key}: {error.errors()[0]['msg']}",
                mend="install the same version on every machine",
            ) from error


_JOB = TypeAdapter(UnitJob)
