"""Recipes: the hyperparameters of fine-tuning, prediction and retrieval."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from xharness.errors import InputError
from xharness.specs.task import Kind, TaskSpec
from xharness.specs.validation import SpecModel
from xharness.specs.yaml_loading import merge


class Settings(SpecModel):
    """Hyperparameters of one task or training set, fully resolved.

    Attributes:
        learning_rate: Peak learning rate of AdamW.
        epochs: Passes over the training set.
        batch_size: Examples (QA: windows) per optimizer step, however they are split into micro-batches.
        group_by_length: Whether a step's windows have like lengths, for less padding, in place of being drawn at random
            as the official scripts do.
        max_length: Pieces per window, special tokens included.
        warmup_steps: Steps of linear warm-up; added to ``warmup_ratio``.
        warmup_ratio: Fraction of all steps spent in linear warm-up.
        weight_decay: Decoupled weight decay; not applied to biases and layer norms.
        adam_beta1: First moment decay.
        adam_beta2: Second moment decay.
        adam_epsilon: Denominator constant.
        max_grad_norm: Gradient norm above which gradients are scaled down.
        selection: Keep the checkpoint that scores best on English dev, or the last one.
        evaluate_every: Optimizer steps between dev evaluations; each epoch's end where absent.
        doc_stride: Pieces by which QA windows advance.
        max_query_length: Pieces of a question that are kept.
        max_answer_length: Pieces of an answer at most.
        n_best: Start and end candidates considered in each window.
        layer: Retrieval: hidden layer, 1 being the first block's output, by number of layers of the model
            (``otherwise`` for sizes not listed), or ``last``.
        pooling: Retrieval: mean over tokens, or the first token.
        pool_special_tokens: Retrieval: whether the mean includes special tokens.
        neighbours: Mining: neighbours on each side whose mean cosine normalises a score.
    """

    learning_rate: float = Field(default=2e-5, gt=0)
    epochs: float = Field(default=3, gt=0)
    batch_size: int = Field(default=32, ge=1)
    group_by_length: bool = False
    max_length: int = Field(default=128, ge=8)
    warmup_steps: int = Field(default=0, ge=0)
    warmup_ratio: float = Field(default=0.0, ge=0, le=1)
    weight_decay: float = Field(default=0.0, ge=0)
    adam_beta1: float = Field(default=0.9, ge=0, lt=1)
    adam_beta2: float = Field(default=0.999, ge=0, lt=1)
    adam_epsilon: float = Field(default=1e-8, gt=0)
    max_grad_norm: float = Field(default=1.0, gt=0)
    selection: Literal["best_dev", "last"] = "best_dev"
    evaluate_every: int | None = Field(default=None, ge=1)
    doc_stride: int = Field(default=128, ge=1)
    max_query_length: int = Field(default=64, ge=1)
    max_answer_length: int = Field(default=30, ge=1)
    n_best: int = Field(default=20, ge=1)
    layer: int | Literal["last"] | dict[str, int | Literal["last"]] = "last"
    pooling: Literal["mean", "first_token"] = "mean"
    pool_special_tokens: bool = True
    neighbours: int = Field(default=4, ge=1)

    @model_validator(mode="after")
    def _lengths_fit(self) -> Self:
        if self.max_query_length + 8 > self.max_length and self.max_length > 64:
            raise ValueError("max_query_length leaves no room for the context in max_length")
        return self

    def layer_of(self, layers: int) -> int:
        """Return the hidden layer (1 to ``layers``) that embeds a sentence in a model of ``layers`` blocks.

        Raises:
            InputError: The model has fewer layers than the recipe asks for.
        """
        layer = self.layer
        if isinstance(layer, dict):
            layer = layer.get(str(layers), layer.get("otherwise", "last"))
        number = layers if layer == "last" else layer
        if not 1 <= number <= layers:
            raise InputError(
                f"layer {number} asked of a model of {layers} layers",
                where="layer",
                mend="use --set layer=last or a smaller number",
            )
        return number


#: Settings that matter at prediction only; two tasks that differ in nothing else share a fine-tuned model.
PREDICTION_SETTINGS: frozenset[str] = frozenset(
    {"max_answer_length", "n_best", "layer", "pooling", "pool_special_tokens", "neighbours"}
)


class Recipe(SpecModel):
    """Named hyperparameters.

    A task's settings are, each laid over the one before: the field defaults, ``kinds`` of its kind, the
    task's own ``recipe``, ``settings`` of its training set, ``settings`` of the task, the ``recipe`` of its
    protocol, and ``--set``.

    Attributes:
        name: Short name.
        title: One line on what it reproduces.
        source: Where the values come from.
        kinds: Settings by task kind.
        settings: Settings by training set or task.
    """

    name: str
    title: str = ""
    source: str = ""
    kinds: dict[Kind, dict[str, Any]] = {}
    settings: dict[str, dict[str, Any]] = {}

    def resolve(self, task: TaskSpec, overrides: Mapping[str, Any] | None = None) -> Settings:
        """Return a task's settings.

        Args:
            task: The task.
            overrides: Values of ``--set``: ``key`` for every task, ``name.key`` for a training set, a task or a
                protocol's kind.

        Raises:
            InputError: A key is unknown or a value out of range.
        """
        layers = [
            self.kinds.get(task.kind, {}),
            task.recipe,
            self.settings.get(task.training or "", {}),
            self.settings.get(task.name, {}) if task.name != task.training else {},
            task.protocol.recipe,
            _overrides_for(task, overrides or {}),
        ]
        values: dict[str, Any] = {}
        for layer in layers:
            for key in layer:
                if key not in Settings.model_fields:
                    near = get_close_matches(key, Settings.model_fields, n=1)
                    raise InputError(
                        f"unknown setting {key!r}",
                        where=f"recipe {self.name}, task {task.name}",
                        mend=f"did you mean {near[0]!r}?"
                        if near
                        else "see the recipe's documentation",
                    )
            values = merge(values, layer)
        try:
            return Settings.model_validate(values)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"][:1]) or "settings"
            raise InputError(
                f"{key} = {first.get('input')!r}: {first['msg']}",
                where=f"recipe {self.name}, task {task.name}",
            ) from error


def _overrides_for(task: TaskSpec, overrides: Mapping[str, Any]) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for scope in ("", task.training, task.name, task.protocol.kind):
        for key, value in overrides.items():
            name, _, last = key.rpartition(".")
            if name == scope:
                chosen[last] = value
    return chosen
