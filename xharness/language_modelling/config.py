"""The configuration of a word-level language model, as YAML."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from xharness.specs.validation import SpecModel, build
from xharness.specs.yaml_loading import load_document


class TextSettings(SpecModel):
    """Which words are modelled.

    Attributes:
        vocabulary_size: Most frequent words of the training text, ``<unk>`` and ``<eos>`` included.
        words: ``split`` takes words and punctuation marks apart; ``whitespace`` leaves prepared text as it is.
        lowercase: Whether case is dropped.
        train_words: Words of the training text at most, ends of lines included; all where absent.
        dev_words: Words at the end of that text that are not trained on but held out for development.
    """

    vocabulary_size: int = Field(default=10_000, ge=3)
    words: Literal["split", "whitespace"] = "split"
    lowercase: bool = True
    train_words: int | None = Field(default=None, ge=1)
    dev_words: int = Field(default=50_000, ge=1)


class DefineSettings(SpecModel):
    """The unit that makes the model's input of a narrow vector.

    Attributes:
        transformation: ``define``, or a part of it: ``unmixed`` joins the input to each layer without interleaving,
            ``hierarchical`` leaves it out, ``grouped`` also keeps the number of groups, ``linear`` has no groups.
        expansion: Width of the widest layer.
        depth: Layers.
        groups: Groups of the first layer.
    """

    transformation: Literal["define", "unmixed", "hierarchical", "grouped", "linear"] = "define"
    expansion: int = Field(default=1024, ge=1)
    depth: int = Field(default=3, ge=1)
    groups: int = Field(default=8, ge=1)


class AdaptiveSettings(SpecModel):
    """Clusters of words by frequency, rarer ones with narrower vectors.

    Attributes:
        cutoffs: Ranks at which a new cluster begins, rising.
        division: By which each cluster's width is divided against the one before.
    """

    cutoffs: tuple[int, ...] = Field(min_length=1)
    division: float = Field(default=2.0, ge=1, allow_inf_nan=False)

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if any(after <= before for before, after in pairwise((0, *self.cutoffs))):
            raise ValueError("the cutoffs must rise from above 0")
        return self


class EmbeddingSettings(SpecModel):
    """Input embedding and classifier.

    Attributes:
        width: Of the looked-up vectors; the model's hidden size where absent. A narrower vector is mapped to the
            hidden size by a linear map, or by ``define``.
        input: ``table``, or ``adaptive`` clusters (Baevski and Auli 2019).
        classifier: ``softmax`` over all words, or ``adaptive`` (Grave et al. 2017).
        tied: Whether the classifier's vectors are the looked-up ones (Press and Wolf 2017; Inan et al. 2017).
        projection: Strength of the penalty on a square map before the classifier (projection regularisation,
            Press and Wolf 2017, 0.15 there); no such map where absent.
        adaptive: The clusters, for an adaptive input or classifier.
        define: The unit between the looked-up vectors and the model.
    """

    width: int | None = Field(default=None, ge=1)
    input: Literal["table", "adaptive"] = "table"
    classifier: Literal["softmax", "adaptive"] = "softmax"
    tied: bool = False
    projection: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    adaptive: AdaptiveSettings | None = None
    define: DefineSettings | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        kinds = (self.input, self.classifier)
        if "adaptive" in kinds and self.adaptive is None:
            raise ValueError("an adaptive input or classifier needs adaptive.cutoffs")
        if "adaptive" not in kinds and self.adaptive is not None:
            raise ValueError("adaptive is set, but neither input nor classifier is adaptive")
        if self.tied and (self.input == "adaptive") != (self.classifier == "adaptive"):
            raise ValueError(
                f"tied needs input and classifier of one kind, not {self.input} and {self.classifier}"
            )
        return self


class ModelSettings(SpecModel):
    """The sequence model.

    Attributes:
        kind: ``lstm``, or ``transformer`` with rotary positions and a memory of earlier windows.
        hidden_size: Width of its layers.
        layers: Their number.
        dropout: On what enters and leaves each layer (Zaremba et al. 2014), or each block's part; a fraction.
        heads: Of attention, Transformer alone.
        feed_forward_size: Inner width, Transformer alone; four times the hidden size where absent.
        memory: Earlier positions that attention sees beside the window's own, Transformer alone.
    """

    kind: Literal["lstm", "transformer"] = "lstm"
    hidden_size: int = Field(default=200, ge=1)
    layers: int = Field(default=2, ge=1)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    heads: int = Field(default=4, ge=1)
    feed_forward_size: int | None = Field(default=None, ge=1)
    memory: int = Field(default=64, ge=0)

    @model_validator(mode="after")
    def _has_heads(self) -> Self:
        if self.kind == "transformer" and self.hidden_size % (2 * self.heads):
            raise ValueError(
                f"hidden_size {self.hidden_size} is not {self.heads} heads of an even width"
            )
        return self


class TrainingSettings(SpecModel):
    """How a model is trained.

    The default of an LSTM is the small configuration of Press and Wolf: plain SGD at rate 1 on the loss summed over
    the window and averaged over streams, halved each epoch after the fourth, gradient norm 5. A Transformer's is
    AdamW on the mean loss of a word, linear warm-up and linear decay.

    Attributes:
        optimizer: ``sgd`` or ``adamw``; by the kind of model where absent.
        epochs: Passes over the text.
        streams: Contiguous parts of the text read side by side.
        window: Words of a stream that one step is differentiated through.
        learning_rate: Of SGD in the first epochs, or AdamW's peak; 1.0 and 0.001 where absent.
        full_rate_epochs: SGD: epochs before the rate decays.
        decay: SGD: factor on the rate for each later epoch.
        warmup_steps: AdamW: steps of linear warm-up.
        weight_decay: AdamW: on matrices.
        max_grad_norm: Norm to which gradients are scaled down; 5.0 with SGD and 1.0 with AdamW where absent.
        init_range: Weights are drawn uniformly between minus and plus this.
        dtype: Of products in training; sums and evaluation are float32.
    """

    optimizer: Literal["sgd", "adamw"] | None = None
    epochs: int = Field(default=13, ge=1)
    streams: int = Field(default=20, ge=1)
    window: int = Field(default=20, ge=1)
    learning_rate: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    full_rate_epochs: int = Field(default=4, ge=1)
    decay: float = Field(default=0.5, gt=0, le=1)
    warmup_steps: int = Field(default=0, ge=0)
    weight_decay: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    max_grad_norm: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    init_range: float = Field(default=0.1, gt=0, allow_inf_nan=False)
    dtype: Literal["float32", "bfloat16"] = "float32"


class LanguageModelConfig(SpecModel):
    """A language model and its training.

    Attributes:
        name: Short name.
        title: One line on what it is.
        text: The words.
        model: The sequence model.
        embedding: Input embedding and classifier.
        training: Optimizer and schedule.
        seed: Decides initial weights and dropout.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    title: str = ""
    text: TextSettings = TextSettings()
    model: ModelSettings = ModelSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    training: TrainingSettings = TrainingSettings()
    seed: int = Field(default=1, ge=0, lt=2**63)

    @property
    def width(self) -> int:
        """Width of the looked-up vectors."""
        return self.embedding.width or self.model.hidden_size

    @property
    def optimizer(self) -> Literal["sgd", "adamw"]:
        """The optimizer, chosen or by default."""
        return self.training.optimizer or ("sgd" if self.model.kind == "lstm" else "adamw")

    @property
    def learning_rate(self) -> float:
        """The highest learning rate, chosen or by default."""
        return self.training.learning_rate or (1.0 if self.optimizer == "sgd" else 1e-3)

    @property
    def max_grad_norm(self) -> float:
        """The norm to which gradients are scaled down, chosen or by default."""
        return self.training.max_grad_norm or (5.0 if self.optimizer == "sgd" else 1.0)


def load_language_model_config(path: Path) -> LanguageModelConfig:
    """Load a configuration.

    Raises:
        InputError: With file, line and key, for everything that does not validate.
    """
    return build(LanguageModelConfig, load_document(path))
