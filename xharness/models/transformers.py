"""The adapter for every encoder that the transformers Auto classes know."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
from transformers import set_seed

from xharness.data.examples import Bitext, Split
from xharness.errors import InputError
from xharness.files import write_json
from xharness.finetuning.dev_score import chance_score, dev_score, judged
from xharness.finetuning.group import own_group
from xharness.finetuning.together import train_together
from xharness.finetuning.training import TrainingReport, train
from xharness.inference.device import Device
from xharness.inference.memory import memory_told, with_less_memory
from xharness.inference.packed_layers import load_packed
from xharness.inference.prediction import embed_sentences
from xharness.inference.progress import Progress, Silent
from xharness.models.adapter import ModelInfo
from xharness.models.checkpoints import (
    HEAD_SUFFIX,
    checkpoint_name,
    load_as_is,
    load_config,
    load_encoder,
    load_tokenizer,
    load_with_head,
    save_checkpoint,
    weights_digest,
)
from xharness.models.encoding_cache import cached
from xharness.models.kinds import HEADED_KINDS, Head, label_order
from xharness.specs.recipe import Settings
from xharness.specs.task import TaskSpec
from xharness.tasks import retrieval
from xharness.tasks.encoding import Encoding
from xharness.tasks.predictions import Predictions

#: Candidates that a ranking holds; mAP@20 looks at no more.
RANKED_CANDIDATES = 20

#: Settings that decide an encoding.
_ENCODING_SETTINGS = {"max_length", "doc_stride", "max_query_length"}


def _finetune_part(
    reference: str,
    task: TaskSpec,
    train_split: Split,
    dev: Split | None,
    settings: Settings,
    seed: int,
    into: Path,
    device: Device,
    progress: Progress,
) -> TrainingReport:
    """Fine-tune as one of several processes."""
    adapter = TransformersAdapter(reference, device)
    return adapter._finetune_here(task, train_split, dev, settings, seed, into, progress)


class TransformersAdapter:
    """Any encoder with a configuration and a tokenizer that the Auto classes open.

    Args:
        reference: A checkpoint folder or hub id.
        device: Where it runs.

    Raises:
        InputError: The checkpoint does not open.
    """

    def __init__(self, reference: str, device: Device):
        self.reference = reference
        self.device = device
        self._config = load_config(reference)
        self._tokenizer, self._pieces = load_tokenizer(reference, self._config)
        self._models: dict[str, Any] = {}

    # -- training ---------------------------------------------------------------------------------------

    def finetune(
        self,
        task: TaskSpec,
        train_split: Split,
        dev: Split | None,
        settings: Settings,
        seed: int,
        into: Path,
        progress: Progress,
    ) -> TrainingReport:
        """Fine-tune and leave model, tokenizer and ``training.json`` in the folder ``into``."""
        if self.device.processes > 1:
            self._encode(task, train_split, settings)  # once, for all to read from the cache
            parts = (self.reference, task, train_split, dev, settings, seed, into)
            return train_together(_finetune_part, parts, self.device, progress)
        return self._finetune_here(task, train_split, dev, settings, seed, into, progress)

    def _finetune_here(
        self,
        task: TaskSpec,
        train_split: Split,
        dev: Split | None,
        settings: Settings,
        seed: int,
        into: Path,
        progress: Progress,
    ) -> TrainingReport:
        """Fine-tune in this process; the first of several writes what they trained."""
        with memory_told(self.device):
            report, model = self._train(task, train_split, dev, settings, seed, progress)
        if own_group(self.device.torch).index:
            return report
        save_checkpoint(model, self._tokenizer, into)
        # Without its seconds: the same training leaves the same bytes, so what rests on them is not done again.
        told = {name: value for name, value in asdict(report).items() if name != "seconds"}
        write_json(into / "training.json", told)
        return report

    def _train(
        self,
        task: TaskSpec,
        train_split: Split,
        dev: Split | None,
        settings: Settings,
        seed: int,
        progress: Progress,
    ) -> tuple[TrainingReport, Any]:
        set_seed(seed)
        model = load_with_head(self.reference, task).to(self.device.torch)
        encoding = self._encode(task, train_split, settings)
        if np.any(getattr(encoding, "labels", np.zeros(1)) < 0):
            raise InputError(f"{task.name} train has examples without a label")
        evaluate = None
        if settings.selection == "best_dev" and dev is not None:
            dev_split = dev

            def evaluate(current: Any) -> float:
                found = self._predict_with(current, task, dev_split, settings, Silent())
                return dev_score(task, dev_split, found)

        report = train(model, encoding, settings, seed, self.device, evaluate, progress)
        if evaluate is not None and dev is not None:
            report = judged(report, chance_score(task, dev))
        return report, model

    def finetuned(self, task: TaskSpec, folder: Path) -> TransformersAdapter:
        """Return an adapter for the checkpoint that ``finetune`` left in a folder."""
        return TransformersAdapter(str(folder), self.device)

    # -- prediction -------------------------------------------------------------------------------------

    def predict(
        self,
        task: TaskSpec,
        split: Split,
        settings: Settings,
        progress: Progress,
        dev: Split | None = None,
    ) -> Predictions:
        """Predict one split with the checkpoint's own head, or without one for retrieval."""
        with memory_told(self.device):
            if task.kind == "retrieval":
                return self._retrieve(task, split, settings, progress, dev)
            if "head" not in self._models:
                self._models["head"] = load_packed(
                    lambda: load_as_is(self.reference, task), self.device
                )
            return self._predict_with(self._models["head"], task, split, settings, progress)

    def _predict_with(
        self, model: Any, task: TaskSpec, split: Split, settings: Settings, progress: Progress
    ) -> Predictions:
        encoding = self._encode(task, split, settings)
        decide = HEADED_KINDS[task.kind].decide
        found, halvings = with_less_memory(
            self.device,
            lambda device: decide(
                Head(model, task, settings, device, progress, self.reference), split, encoding
            ),
        )
        counts = Counter({**encoding.counts, "memory_halvings": halvings})
        return replace(found, counts=found.counts + counts)

    def _encode(self, task: TaskSpec, split: Split, settings: Settings) -> Encoding:
        values = settings.model_dump(include=_ENCODING_SETTINGS)
        # How the files are read is part of the key: a reader's options change examples without changing files.
        reading = task.sources.model_dump_json()
        key = (split.fingerprint, self._pieces.fingerprint, json.dumps(values, sort_keys=True))
        kind = HEADED_KINDS[task.kind]
        return cached(
            kind.encoding,
            (*key, reading, *task.labels),
            # Encoding passes the examples several times; those of a large file would be parsed each time.
            lambda: kind.encode(list(split.examples), task, self._pieces, settings),
        )

    # -- retrieval --------------------------------------------------------------------------------------

    def _retrieve(
        self,
        task: TaskSpec,
        split: Split,
        settings: Settings,
        progress: Progress,
        dev: Split | None,
    ) -> Predictions:
        bitext = cast(Bitext, split.examples[0])
        if task.method == "nearest_neighbour":
            source, target, counts = self._embed_bitext(bitext, settings, progress)
            lines = retrieval.nearest_neighbours(source, target, bitext.target.texts)
            values = [bitext.target.ids[line] for line in lines]
            return Predictions(values, counts)
        if task.method == "ranking":
            source, target, counts = self._embed_bitext(bitext, settings, progress)
            best = retrieval.ranked(source, target, bitext.target.ids, RANKED_CANDIDATES)
            names = np.array(bitext.target.ids, object)
            rankings = dict(zip(bitext.source.ids, names[best].tolist(), strict=True))
            return Predictions(rankings, counts)
        mined, counts = self._mine(bitext, settings, progress)
        if split.stand_in is not None:
            if bitext.gold is None:
                raise InputError(f"{task.name} dev {split.language} has no gold pairs")
            pairs, thresholds = retrieval.cross_fitted(mined, bitext.gold)
            return Predictions(pairs, counts, {"cross_fitted_thresholds": thresholds})
        dev_bitext = cast(Bitext, dev.examples[0]) if dev is not None else None
        if dev_bitext is None or dev_bitext.gold is None:
            raise InputError(
                f"{task.name} {split.language} has no dev gold to take a threshold from",
                mend="put the dev files beside the test files",
            )
        dev_mined, _ = self._mine(dev_bitext, settings, progress)
        threshold = retrieval.best_threshold(dev_mined, dev_bitext.gold)
        return Predictions(retrieval.cut(mined, threshold), counts, {"threshold": threshold})

    def _mine(
        self, bitext: Bitext, settings: Settings, progress: Progress
    ) -> tuple[retrieval.MinedPairs, Counter[str]]:
        source, target, counts = self._embed_bitext(bitext, settings, progress)
        return retrieval.mine(source, target, bitext, settings.neighbours), counts

    def _embed_bitext(
        self, bitext: Bitext, settings: Settings, progress: Progress
    ) -> tuple[retrieval.Vectors, retrieval.Vectors, Counter[str]]:
        texts = list(dict.fromkeys((*bitext.source.texts, *bitext.target.texts)))
        index = {text: i for i, text in enumerate(texts)}
        encoding = retrieval.encode_sentences(texts, self._pieces, settings)
        layer = settings.layer_of(self._layers)
        before, after = self._pieces.template.single
        vectors, halvings = with_less_memory(
            self.device,
            lambda device: embed_sentences(
                self._encoder(layer),
                encoding,
                device,
                progress,
                layer=layer,
                pooling=settings.pooling,
                specials=(0, 0) if settings.pool_special_tokens else (len(before), len(after)),
            ),
        )
        source = vectors[[index[text] for text in bitext.source.texts]]
        target = vectors[[index[text] for text in bitext.target.texts]]
        return source, target, +Counter({**encoding.counts, "memory_halvings": halvings})

    def _encoder(self, layer: int) -> Any:
        """Return the encoder with its blocks up to ``layer``; those above are never computed."""
        name = f"encoder-{layer}"
        if name not in self._models:
            layers = layer if layer < self._layers else None
            self._models[name] = load_packed(
                lambda: load_encoder(self.reference, layers), self.device
            )
        return self._models[name]

    # -- description ------------------------------------------------------------------------------------

    @property
    def _layers(self) -> int:
        return int(self._config.num_hidden_layers)

    def check_head(self, task: TaskSpec) -> None:
        """Make sure that the checkpoint has the task's head, its labels those of the task by name."""
        if task.kind == "retrieval":
            return
        suffix = HEAD_SUFFIX[task.kind]
        architectures = getattr(self._config, "architectures", None) or ["none"]
        # XLM's head is called XLMForQuestionAnsweringSimple.
        if suffix not in architectures[0]:
            raise InputError(
                f"architecture {architectures[0]} has no head for {task.kind} tasks",
                where=self.reference,
                mend="leave out --no-finetune to train one",
            )
        if task.labels:
            label_order(self._config.id2label, task, self.reference)

    def describe(self) -> ModelInfo:
        """Return what a record says of the model."""
        return self._info

    @cached_property
    def _info(self) -> ModelInfo:
        encoder = load_encoder(self.reference)
        notes = []
        if self._pieces.template.pair_specials and not self._pieces.uses_token_types:
            notes.append("no token types")
        if not self._tokenizer.is_fast:
            notes.append("slow tokenizer")
        if getattr(self._config, "use_lang_emb", False) and self._config.n_langs > 1:
            notes.append("language embeddings not given")
        return ModelInfo(
            name=checkpoint_name(self.reference),
            reference=self.reference,
            adapter="transformers",
            architecture=self._config.model_type,
            parameters=sum(p.numel() for p in encoder.parameters()),
            weights_sha256=weights_digest(self.reference),
            revision=getattr(self._config, "_commit_hash", None),
            layers=self._layers,
            notes=tuple(notes),
        )
