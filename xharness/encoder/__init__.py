"""The decoupled encoder, a transformers model like any other once it is registered with the Auto classes."""

from __future__ import annotations

from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForMultipleChoice,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
)

from xharness.encoder.configuration import DecoupledConfig
from xharness.encoder.heads import (
    DecoupledForMultipleChoice,
    DecoupledForQuestionAnswering,
    DecoupledForSequenceClassification,
    DecoupledForTokenClassification,
)
from xharness.encoder.modeling import DecoupledForMaskedLM, DecoupledModel

__all__ = ["DecoupledConfig", "DecoupledForMaskedLM", "DecoupledModel", "register"]


def register() -> None:
    """Make the Auto classes open checkpoints of the encoder; calling it again changes nothing."""
    AutoConfig.register(DecoupledConfig.model_type, DecoupledConfig, exist_ok=True)
    for auto, model in (
        (AutoModel, DecoupledModel),
        (AutoModelForMaskedLM, DecoupledForMaskedLM),
        (AutoModelForSequenceClassification, DecoupledForSequenceClassification),
        (AutoModelForTokenClassification, DecoupledForTokenClassification),
        (AutoModelForQuestionAnswering, DecoupledForQuestionAnswering),
        (AutoModelForMultipleChoice, DecoupledForMultipleChoice),
    ):
        auto.register(DecoupledConfig, model, exist_ok=True)
