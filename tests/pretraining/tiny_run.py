"""A pre-training that takes a second, and commands in processes of their own."""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
import yaml
from safetensors.torch import load_file

from xharness.pretraining.corpus import CorpusFiles
from xharness.pretraining.run_folder import RunFolder
from xharness.pretraining.shard_building import build_shards
from xharness.pretraining.vocabulary import Vocabulary

ROOT = Path(__file__).resolve().parents[2]

#: Two languages, twelve steps, whole words, dropout, three micro-batches a step.
CONFIG: dict[str, Any] = {
    "name": "tiny",
    "languages": ["en", "zh"],
    "encoder": {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 48,
        "input_embedding_size": 16,
        "output_embedding_size": 24,
        "max_position_embeddings": 32,
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
    },
    "masking": {"whole_words": True},
    "sequence_length": 24,
    "batch_size": 8,
    "micro_batch_size": 3,
    "steps": 12,
    "learning_rate": 0.01,
    "warmup_steps": 3,
    "checkpoint_every": 3,
    "evaluate_every": 5,
    "evaluation_rows": 6,
}

NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
COUPLED = {"coupling": "coupled", "output_embedding_size": None}


def changed(config: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration with changes laid over it, mappings merged."""
    merged = dict(config)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = changed(merged[key], value) if both else value
    return merged


def write_config(folder: Path, **changes: Any) -> Path:
    """Write the configuration, some of its keys changed."""
    path = folder / "tiny.yaml"
    path.write_text(yaml.safe_dump(changed(CONFIG, changes), sort_keys=False), "utf-8")
    return path


@dataclass(frozen=True)
class Material:
    """What a run needs beside its configuration.

    Attributes:
        text: The folder of text.
        vocabulary: The tokenizer.
        prepared: The folder with the token shards of that text.
    """

    text: Path
    vocabulary: Vocabulary
    prepared: Path


def material(corpus: Mapping[str, CorpusFiles], vocabulary: Vocabulary) -> Material:
    """Return the material of the small corpus; its shards are built at the first call."""
    prepared = vocabulary.path.parent / "prepared"
    build_shards(
        {name: corpus[name] for name in CONFIG["languages"]}, vocabulary, prepared / "shards"
    )
    return Material(corpus["en"].train[0].parent, vocabulary, prepared)


@dataclass(frozen=True)
class Ended:
    """How a process ended.

    Attributes:
        code: Its exit code; negative ones are signals.
        stderr: What it wrote there and to standard output.
        seconds: After which time.
        written: Files and folders that it made, wrote, moved or removed, through Python's own functions.
    """

    code: int
    stderr: str
    seconds: float
    written: list[str]


@dataclass(frozen=True)
class Fault:
    """What befalls a process before it works on a file.

    Attributes:
        path: Part of the file's path.
        at: The operation on such files at which it happens, from 1.
        error: The error number that it fails with; the process is killed where absent.
        operation: Which kind of operation alone counts: ``open``, ``os.rename``, ``os.mkdir`` and so on.
        rank: Number of the process.
    """

    path: str
    at: int = 1
    error: int | None = None
    operation: str = ""
    rank: int = 0


@dataclass(frozen=True)
class Job:
    """A command and what befalls it.

    Attributes:
        arguments: After ``xharness``.
        folder: Where it runs.
        processes: How many, joined as by ``torchrun``.
        faults: What befalls them at files.
        kill_after: Seconds after which all are killed.
        signal_after_lines: Number of a process, a signal, a file, and how many lines that file must have before.
        file_limit: Bytes that a file may have at most, as on a full disk.
        timeout: Seconds after which the test fails.
    """

    arguments: tuple[str, ...]
    folder: Path
    processes: int = 1
    faults: tuple[Fault, ...] = ()
    kill_after: float | None = None
    signal_after_lines: tuple[int, int, str, int] | None = None
    file_limit: int | None = None
    timeout: float = 300.0


def run_job(job: Job) -> list[Ended]:
    """Run a command in processes of its own; return how each ended."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.TemporaryDirectory() as scratch:
        server.stdin.write(json.dumps({**asdict(job), "scratch": scratch}, default=str) + "\n")
        server.stdin.flush()
        answer = server.stdout.readline()
    assert answer, "the server has ended"
    return [Ended(**ended) for ended in json.loads(answer)]


@functools.cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.pretraining.forking_server"],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(server.kill)
    return server


@dataclass
class TinyRun:
    """A run's folder and the command that fills it.

    Attributes:
        folder: An empty folder; the run's own is ``output`` in it.
        material: Text and tokenizer.
        changes: Of the configuration.
        options: More arguments.
    """

    folder: Path
    material: Material
    changes: dict[str, Any] = field(default_factory=dict)
    options: tuple[str, ...] = ()

    @property
    def output(self) -> Path:
        return self.folder / "output"

    @property
    def arguments(self) -> tuple[str, ...]:
        """The command's, after ``xharness``."""
        return (
            *("pretrain", "tiny.yaml", "--output", "output", "--device", "cpu"),
            *("--text", str(self.material.text), "--prepared", str(self.material.prepared)),
            *self.options,
        )

    def write_config(self) -> None:
        """Make the folder and write the configuration into it."""
        self.folder.mkdir(exist_ok=True)
        vocabulary = {"path": str(self.material.vocabulary.path)}
        write_config(self.folder, **{"vocabulary": vocabulary, **self.changes})

    def pretrain(self, **of_job: Any) -> list[Ended]:
        """Run ``xharness pretrain`` in processes of its own."""
        self.write_config()
        return run_job(Job(self.arguments, self.folder, **of_job))

    def finish(self, **of_job: Any) -> float:
        """Run it to its end; return how long that took, in seconds."""
        done = self.pretrain(**of_job)
        for ended in done:
            assert ended.code == 0, ended.stderr
        return done[0].seconds

    def locked(self) -> AbstractContextManager[None]:
        """Work in the folder as another process would."""
        return RunFolder(self.output).locked()

    def weights(self) -> dict[str, torch.Tensor]:
        """Return the finished model's weights."""
        weights: dict[str, torch.Tensor] = load_file(self.output / "model" / "model.safetensors")
        return weights

    def metrics(self) -> list[dict[str, Any]]:
        """Return the lines of figures."""
        lines = (self.output / "metrics.jsonl").read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def checkpoints(self) -> list[str]:
        """Return the names in the folder of checkpoints, hidden ones too."""
        return sorted(path.name for path in (self.output / "checkpoints").iterdir())


def assert_same_run(one: TinyRun, other: TinyRun) -> None:
    """Check that two runs ended alike, bit for bit: figures, model, and the state of the optimizer."""
    assert (one.output / "metrics.jsonl").read_bytes() == (
        other.output / "metrics.jsonl"
    ).read_bytes()
    assert one.checkpoints() == other.checkpoints()
    paths = ["model/model.safetensors", "model/config.json", "loss.svg"]
    paths += [
        f"checkpoints/{name}/{part}.safetensors"
        for name in one.checkpoints()
        for part in ("model", "optimizer")
    ]
    for path in paths:
        assert (one.output / path).read_bytes() == (other.output / path).read_bytes(), path
