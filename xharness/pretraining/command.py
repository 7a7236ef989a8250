"""The ``pretrain`` verb: from a configuration to an encoder that can be fine-tuned."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console

from xharness.encoder import DecoupledForMaskedLM
from xharness.encoder.arithmetic import training_flops
from xharness.errors import InputError
from xharness.files import write_json
from xharness.inference.allocator import keep_freed_memory
from xharness.inference.device import Device, choose_device
from xharness.inference.memory import memory_told
from xharness.inference.peak import matmul_peak
from xharness.pretraining.batches import BatchStream, Masking
from xharness.pretraining.config import PretrainingConfig, encoder_config, load_config
from xharness.pretraining.corpus import CorpusFiles, find_corpus
from xharness.pretraining.curves import draw_curve
from xharness.pretraining.display import Pace, PretrainingDisplay
from xharness.pretraining.finished_model import in_words, read_summary, summarise, write_model
from xharness.pretraining.masking import predictions_in_row
from xharness.pretraining.metrics import MetricsLog, read_metrics, require_tensorboard
from xharness.pretraining.processes import (
    Processes,
    ending_together,
    join_processes,
    one_voice,
)
from xharness.pretraining.run_folder import RunFolder
from xharness.pretraining.sampling import language_probabilities
from xharness.pretraining.shard_building import build_shards
from xharness.pretraining.shards import Shards, open_shards
from xharness.pretraining.training import Training
from xharness.pretraining.vocabulary import Vocabulary, load_vocabulary
from xharness.pretraining.vocabulary_training import train_vocabulary

Report = Callable[[str], None]


@dataclass(frozen=True)
class PretrainCommand:
    """The options of ``xharness pretrain`` as typed; see ``xharness pretrain --help``."""

    config: Path
    output: Path
    overrides: tuple[str, ...] = ()
    text: Path | None = None
    prepared: Path | None = None
    device: str = "auto"
    dtype: str = "auto"
    tensorboard: bool = False

    def execute(self) -> Path:
        """Pre-train, or go on with it; return the folder of the finished model.

        Raises:
            InputError: Wrong use or unusable input, or the training diverged.
        """
        folder = RunFolder(self.output)
        with one_voice():
            config = load_config(self.config, self.overrides)
            if self.text is not None:
                config = config.model_copy(update={"text": self.text})
            device = choose_device(self.device, self.dtype)
            if self.tensorboard:
                require_tensorboard()
            if not folder.is_finished():
                _corpus(config)
        processes = join_processes(device)
        console = Console(stderr=True, quiet=not processes.is_main)

        def report(line: str) -> None:
            console.print(line, markup=False, highlight=False, soft_wrap=True)

        with ending_together(), ExitStack() as stack:
            with processes.agreed():
                _check_division(config, processes.number)
                if processes.is_main:
                    stack.enter_context(folder.locked())
                    folder.check_config(config)
            if folder.is_finished():
                report(f"finished before; {in_words(read_summary(folder.summary), folder.model)}")
            else:
                self._work(config, device, folder, processes, console, report)
            processes.leave()
        return folder.model

    def _work(
        self,
        config: PretrainingConfig,
        device: Device,
        folder: RunFolder,
        processes: Processes,
        console: Console,
        report: Report,
    ) -> None:
        with processes.agreed():
            if processes.is_main:
                self._prepare(config, console, report)
                folder.keep_config(config)
        with processes.agreed():
            vocabulary, shards = self._open(config)
            stream = _stream(config, shards, vocabulary)
            if processes.is_main:
                folder.keep_data(shards)
        keep_freed_memory()
        held_out = tuple(name for name in stream.languages if shards.part(name, "dev"))
        with memory_told(device):
            model = _initial_model(config, vocabulary).to(device.torch)
            training = Training(config, model, stream, held_out, device, folder.path, report)
            training.resume()
        if training.step:
            report(f"continues after step {training.step} of {config.steps}")
        predictions = predictions_in_row(config.sequence_length, config.masking.rate)
        flops = training_flops(
            model.config, config.batch_size, config.sequence_length, predictions * config.batch_size
        )
        peak = matmul_peak(device) * processes.number
        pace = Pace(config.batch_size * config.sequence_length, flops, peak)
        with PretrainingDisplay(console, config.steps, pace) as display:
            if not training.is_main:
                training.run(None, display.step)
                return
            board = folder.path / "tensorboard" if self.tensorboard else None
            with MetricsLog(folder.metrics, training.step, board) as log:
                training.run(log, display.step)
        write_model(model, vocabulary, folder.model)
        draw_curve(folder.metrics, folder.path / "loss.svg")
        share = config.steps * flops / training.seconds / peak
        metrics = read_metrics(folder.metrics)
        summary = summarise(config, model, metrics, device, training.seconds, share)
        write_json(folder.summary, summary)
        report(in_words(summary, folder.model))

    # -- text and tokenizer -----------------------------------------------------------------------------

    @property
    def _prepared(self) -> Path:
        return self.prepared or self.output / "prepared"

    def _prepare(self, config: PretrainingConfig, console: Console, report: Report) -> None:
        """Train the tokenizer and make the token shards, where they are not there yet."""
        corpus = _corpus(config)
        settings = config.vocabulary
        threads = os.cpu_count() or 1
        if settings.path is None:
            train_vocabulary(
                corpus,
                size=settings.size,
                alpha=settings.alpha,
                lines=settings.lines,
                seed=settings.seed,
                character_coverage=settings.character_coverage,
                threads=threads,
                into=self._prepared / "vocabulary",
                report=report,
            )
        build_shards(
            corpus,
            self._vocabulary(config),
            self._prepared / "shards",
            processes=threads,
            separate_lines=config.separate_lines,
            console=console,
        )

    def _open(self, config: PretrainingConfig) -> tuple[Vocabulary, Shards]:
        shards = open_shards(self._prepared / "shards", list(_corpus(config)))
        return self._vocabulary(config), shards

    def _vocabulary(self, config: PretrainingConfig) -> Vocabulary:
        return load_vocabulary(config.vocabulary.path or self._prepared / "vocabulary")


def _corpus(config: PretrainingConfig) -> dict[str, CorpusFiles]:
    if config.text is None:
        raise InputError("no text is named", where="text", mend="give --text FOLDER")
    return find_corpus(config.text, config.languages)


def _check_division(config: PretrainingConfig, processes: int) -> None:
    if config.batch_size % processes:
        raise InputError(
            f"{processes} processes do not divide a batch of {config.batch_size} rows",
            where="batch_size",
        )


def _stream(config: PretrainingConfig, shards: Shards, vocabulary: Vocabulary) -> BatchStream:
    return BatchStream(
        shards,
        language_probabilities(shards.lines("train"), config.sampling_alpha),
        vocabulary,
        batch_size=config.batch_size,
        sequence_length=config.sequence_length,
        masking=Masking(config.masking.rate, config.masking.whole_words),
        seed=config.seed,
    )


def _initial_model(config: PretrainingConfig, vocabulary: Vocabulary) -> DecoupledForMaskedLM:
    torch.manual_seed(config.seed)
    return DecoupledForMaskedLM(
        encoder_config(
            config.encoder,
            vocab_size=vocabulary.size,
            pad_token_id=vocabulary.pad_id,
            bos_token_id=vocabulary.begin_id,
            eos_token_id=vocabulary.end_id,
        )
    )
