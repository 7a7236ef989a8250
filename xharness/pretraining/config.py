"""The configuration of a pre-training, as YAML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from xharness.errors import InputError
from xharness.specs.languages import LanguageCode
from xharness.specs.validation import SpecModel, build
from xharness.specs.yaml_loading import Document, load_document, merge, parse_scalar

if TYPE_CHECKING:
    from xharness.encoder.configuration import DecoupledConfig


class VocabularySettings(SpecModel):
    """The tokenizer: one that is there, or what a new one is trained with.

    Attributes:
        path: A tokenizer's folder, relative to where the command runs; the rest is then not used.
        size: Pieces, special tokens included.
        alpha: Exponent by which languages are sampled for its training.
        lines: Lines it is trained on.
        character_coverage: Share of characters that get a piece, a fraction.
        seed: Decides which lines; not the configuration's own, so that runs of several seeds share a tokenizer.
    """

    path: Path | None = None
    size: int = Field(default=32_000, ge=32)
    alpha: float = Field(default=0.5, gt=0, le=1)
    lines: int = Field(default=400_000, ge=1)
    character_coverage: float = Field(default=0.9995, ge=0.98, le=1)
    seed: int = Field(default=1, ge=0)


class MaskingSettings(SpecModel):
    """Which tokens are predicted: 80 % of them are masked, 10 % replaced, 10 % left.

    Attributes:
        rate: Share of a row's tokens, a fraction.
        whole_words: Choose all pieces of a word together.
    """

    rate: float = Field(default=0.15, gt=0, lt=1)
    whole_words: bool = False


class EncoderSettings(SpecModel):
    """The encoder's shape; the fields mean what they mean in ``DecoupledConfig``."""

    hidden_size: int = Field(ge=1)
    num_hidden_layers: int = Field(ge=1)
    num_attention_heads: int = Field(ge=1)
    extra_layers: int = Field(default=0, ge=0)
    intermediate_size: int | None = Field(default=None, ge=1)
    input_embedding_size: int | None = Field(default=None, ge=1)
    output_embedding_size: int | None = Field(default=None, ge=1)
    coupling: Literal["coupled", "decoupled"] = "decoupled"
    input_kind: Literal["table", "factorised", "define"] = "table"
    input_factor_size: int | None = Field(default=None, ge=1)
    define_expansion_size: int = Field(default=1024, ge=1)
    define_depth: int = Field(default=3, ge=1)
    define_groups: int = Field(default=8, ge=1)
    freeze_input_embedding: bool = False
    hidden_dropout_prob: float = Field(default=0.0, ge=0, lt=1)
    attention_probs_dropout_prob: float = Field(default=0.0, ge=0, lt=1)
    max_position_embeddings: int = Field(default=512, ge=3)
    initializer_range: float = Field(default=0.02, gt=0, allow_inf_nan=False)
    start: Literal["normal", "local"] = "normal"


class PretrainingConfig(SpecModel):
    """A pre-training.

    Attributes:
        name: Short name.
        title: One line on what it is for.
        text: Folder of ``<language>.txt``, plain or compressed, with ``<language>.dev.txt`` held out.
        languages: Languages; all of the folder where absent.
        vocabulary: The tokenizer.
        separate_lines: Whether the end token follows each line of text.
        encoder: The encoder's shape.
        sampling_alpha: Languages are sampled by p^alpha, p being their share of lines (RemBERT, section 5).
        masking: Which tokens are predicted.
        sequence_length: Tokens of a row.
        batch_size: Rows of one optimizer step, over all devices.
        micro_batch_size: Rows computed at a time on one device; all of the device's where absent.
        steps: Optimizer steps.
        learning_rate: Peak of AdamW's rate: linear warm-up, then linear decay to 0.
        warmup_steps: Steps of warm-up.
        adam_beta1: Decay of the first moment.
        adam_beta2: Decay of the second.
        adam_epsilon: Denominator constant.
        weight_decay: Decoupled; not applied to biases and normalisations.
        max_grad_norm: Gradient norm above which gradients are scaled down.
        seed: Decides initial weights, order of text, masks and dropout.
        checkpoint_every: Steps between checkpoints.
        evaluate_every: Steps between evaluations on held-out text; only at the end where absent.
        evaluation_rows: Held-out rows of each language at most.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    title: str = ""
    text: Path | None = None
    languages: tuple[LanguageCode, ...] | None = None
    vocabulary: VocabularySettings = VocabularySettings()
    separate_lines: bool = False
    encoder: EncoderSettings
    sampling_alpha: float = Field(default=0.5, gt=0, le=1)
    masking: MaskingSettings = MaskingSettings()
    sequence_length: int = Field(default=128, ge=3, validate_default=True)
    batch_size: int = Field(default=32, ge=1)
    micro_batch_size: int | None = Field(default=None, ge=1)
    steps: int = Field(ge=1)
    learning_rate: float = Field(default=1e-3, gt=0, allow_inf_nan=False)
    warmup_steps: int = Field(default=0, ge=0)
    adam_beta1: float = Field(default=0.9, ge=0, lt=1)
    adam_beta2: float = Field(default=0.999, ge=0, lt=1)
    adam_epsilon: float = Field(default=1e-6, gt=0, allow_inf_nan=False)
    weight_decay: float = Field(default=0.01, ge=0, allow_inf_nan=False)
    max_grad_norm: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    seed: int = Field(default=1, ge=0, lt=2**64)
    checkpoint_every: int = Field(default=500, ge=1)
    evaluate_every: int | None = Field(default=None, ge=1)
    evaluation_rows: int = Field(default=64, ge=1)

    @field_validator("sequence_length")
    @classmethod
    def _has_positions(cls, length: int, before: ValidationInfo) -> int:
        encoder = before.data.get("encoder")
        if encoder is not None and length > encoder.max_position_embeddings:
            raise ValueError(
                f"{length} tokens exceed the encoder's max_position_embeddings of {encoder.max_position_embeddings}"
            )
        return length

    @field_validator("warmup_steps")
    @classmethod
    def _leaves_steps(cls, warmup: int, before: ValidationInfo) -> int:
        steps = before.data.get("steps")
        if steps is not None and warmup >= steps:
            raise ValueError(f"{warmup} steps of warm-up leave none of {steps} for the decay")
        return warmup


def load_config(path: Path, overrides: Sequence[str] = ()) -> PretrainingConfig:
    """Load a configuration, with ``KEY=VALUE`` laid over it; keys below another are written ``encoder.hidden_size``.

    Raises:
        InputError: With file, line and key, for everything that does not validate.
    """
    document = load_document(path)
    values: dict[str, Any] = dict(document.data)
    places = dict(document.places)
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not key:
            raise InputError(f"{override!r} is not KEY=VALUE", where="--set")
        parts = tuple(key.split("."))
        value: Any = parse_scalar(text)
        for part in reversed(parts):
            value = {part: value}
        values = merge(values, value)
        places[parts] = f"--set {key}"
    laid_over = Document(document.path, values, places)
    config = build(PretrainingConfig, laid_over)
    try:
        encoder_config(config.encoder, vocab_size=config.vocabulary.size)
    except InputError as error:
        name = error.where or "encoder"
        raise InputError(
            f"encoder.{name}: {error.what}",
            where=laid_over.place(("encoder", name)),
            mend=error.mend,
        ) from error
    return config


def encoder_config(settings: EncoderSettings, **tokenizer: int) -> DecoupledConfig:
    """Return the encoder's own configuration; ``tokenizer`` are its fields that a tokenizer decides.

    Raises:
        InputError: Sizes do not fit each other.
    """
    # Imported here, since it takes transformers seconds to load.
    from xharness.encoder.configuration import DecoupledConfig

    return DecoupledConfig(**settings.model_dump(), **tokenizer)


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Name the keys in which two dumped configurations differ, dotted."""
    found = []
    for key in sorted({*before, *now}):
        one, two = before.get(key), now.get(key)
        if isinstance(one, Mapping) and isinstance(two, Mapping):
            found += [f"{key}.{inner}" for inner in differences(one, two)]
        elif one != two:
            found.append(key)
    return found
