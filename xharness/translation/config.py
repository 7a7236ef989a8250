"""The configuration of a translation model: what a YAML file may say, and how it is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from xharness.specs.languages import LanguageCode
from xharness.specs.validation import SpecModel, build
from xharness.specs.yaml_loading import load_document

Tying = Literal["none", "decoder", "three-way"]


class SplitNames(SpecModel):
    """What the files of each split are called: ``<name>.<language>``, plain or ``.gz``."""

    train: str = "train"
    dev: str = "val"
    test: str = "test_2016_flickr"


class VocabularySettings(SpecModel):
    """The joint vocabulary of both languages, trained on the text of both sides of the training split.

    Attributes:
        size: Pieces, the four special ones included.
        model_type: Byte-pair encoding, or a unigram model.
    """

    size: int = Field(default=8000, ge=16)
    model_type: Literal["bpe", "unigram"] = "bpe"


class DefineSettings(SpecModel):
    """The DeFINE unit before the encoder and the one before the decoder (Mehta et al., arXiv 1911.12385).

    Attributes:
        map_size: Width n of the vectors that are looked up.
        expansion_size: Width k of the widest layer.
        depth: Layers N.
        groups: Groups of the first layer.
    """

    map_size: int = Field(ge=1)
    expansion_size: int = Field(ge=1)
    depth: int = Field(default=3, ge=1)
    groups: int = Field(default=4, ge=1)


class TransformerSettings(SpecModel):
    """The shape of the encoder-decoder.

    Attributes:
        width: Width d of all states.
        encoder_layers: Blocks of the encoder.
        decoder_layers: Blocks of the decoder.
        heads: Attention heads.
        feed_forward: Width within the feed-forward sublayers.
        dropout: Probability, after the embeddings and each sublayer.
        tying: Which embeddings share a matrix (Press and Wolf, arXiv 1608.05859): ``none``; ``decoder``: the
            decoder's input and the classifier; ``three-way``: the encoder's input too.
        define: DeFINE units in place of full-width input tables. With ``decoder`` tying the classifier is the
            decoder's map, at that width; without tying it keeps the full width.
    """

    width: int = Field(default=128, ge=2, multiple_of=2)
    encoder_layers: int = Field(default=3, ge=1)
    decoder_layers: int = Field(default=3, ge=1)
    heads: int = Field(default=4, ge=1)
    feed_forward: int = Field(default=256, ge=1)
    dropout: float = Field(default=0.3, ge=0, lt=1)
    tying: Tying = "none"
    define: DefineSettings | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.width % self.heads:
            raise ValueError(f"{self.heads} heads do not divide a width of {self.width}")
        if self.define is not None and self.tying == "three-way":
            raise ValueError("define goes with the tying none or decoder")
        return self


class TrainingSettings(SpecModel):
    """How the model is trained.

    Attributes:
        epochs: Passes over the training split.
        batch_tokens: Padded pieces of both sides in one batch at most.
        max_length: Pieces of a sentence; training pairs with a longer side are left out, and counted.
        learning_rate: Peak of AdamW's rate.
        warmup_steps: Steps in which the rate rises from 0 in a line.
        schedule: How it falls afterwards: ``linear`` to 0 at the end, or ``inverse-sqrt`` with the step.
        label_smoothing: Share of the target that is spread evenly over the vocabulary, a fraction.
        weight_decay: Decoupled; not applied to vectors.
        adam_beta2: Decay of the second moment.
        max_grad_norm: Gradient norm above which gradients are scaled down.
        average_epochs: Weights of this many last epochs are averaged; the average is kept where its dev loss is
            not above that of the best single epoch.
        dev_bleu_every: Epochs between greedy translations of the dev split, whose BLEU is told; 0 for none.
        seed: Decides initial weights, order of batches and dropout.
    """

    epochs: int = Field(ge=1)
    batch_tokens: int = Field(default=4096, ge=2)
    max_length: int = Field(default=128, ge=2)
    learning_rate: float = Field(default=2e-3, gt=0, allow_inf_nan=False)
    warmup_steps: int = Field(default=400, ge=0)
    schedule: Literal["linear", "inverse-sqrt"] = "linear"
    label_smoothing: float = Field(default=0.1, ge=0, lt=1)
    weight_decay: float = Field(default=0.01, ge=0, allow_inf_nan=False)
    adam_beta2: float = Field(default=0.98, ge=0, lt=1)
    max_grad_norm: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    average_epochs: int = Field(default=5, ge=1)
    dev_bleu_every: int = Field(default=0, ge=0)
    seed: int = Field(default=1, ge=0, lt=2**63)


class SearchSettings(SpecModel):
    """How translations are searched for.

    Attributes:
        beam: Hypotheses kept for each sentence; 1 is greedy.
        length_exponent: A hypothesis of n pieces, its end included, scores its log-probability / n^exponent.
        length_factor: A translation has at most this many pieces a source piece,
        length_offset: and this many more.
        rows: Hypotheses computed at a time.
    """

    beam: int = Field(default=5, ge=1)
    length_exponent: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    length_factor: float = Field(default=1.5, gt=0, allow_inf_nan=False)
    length_offset: int = Field(default=10, ge=1)
    rows: int = Field(default=320, ge=1)


class TranslationConfig(SpecModel):
    """A translation model, its data and its training.

    Attributes:
        name: Short name.
        title: One line on what it is for.
        source: Language that is translated from.
        target: Language that is translated into.
        splits: Names of the data files.
        vocabulary: The joint vocabulary.
        model: The model's shape.
        training: How it is trained.
        search: How translations are searched for.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    title: str = ""
    source: LanguageCode
    target: LanguageCode
    splits: SplitNames = SplitNames()
    vocabulary: VocabularySettings = VocabularySettings()
    model: TransformerSettings = TransformerSettings()
    training: TrainingSettings
    search: SearchSettings = SearchSettings()

    @model_validator(mode="after")
    def _two_languages(self) -> Self:
        if self.source == self.target:
            raise ValueError(f"source and target are both {self.source!r}")
        return self


def load_config(path: Path) -> TranslationConfig:
    """Load a configuration and what it includes.

    Raises:
        InputError: With file, line and key, for everything that does not validate.
    """
    return build(TranslationConfig, load_document(path))
