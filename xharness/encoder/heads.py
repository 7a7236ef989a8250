"""The encoder with the heads of the tasks, alike transformers' RemBERT in names and arithmetic."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.nn import functional
from transformers.modeling_outputs import (
    MultipleChoiceModelOutput,
    QuestionAnsweringModelOutput,
    SequenceClassifierOutput,
    TokenClassifierOutput,
)

from xharness.encoder.configuration import DecoupledConfig
from xharness.encoder.modeling import IGNORED, DecoupledModel, DecoupledPreTrainedModel


class _WithHead(DecoupledPreTrainedModel):
    """A model with a head: the encoder, dropout and a linear map."""

    _keys_to_ignore_on_load_unexpected = [r"^cls\.", r"encoder\.layer\.\d+\."]
    pooled = False

    def __init__(self, config: DecoupledConfig) -> None:
        super().__init__(config)
        self.num_labels = config.num_labels
        self.rembert = DecoupledModel(config, add_pooling_layer=self.pooled)
        self.dropout = nn.Dropout(config.classifier_dropout_prob)

    def _finish(self, output: Any, return_dict: bool | None) -> Any:
        wanted = self.config.return_dict if return_dict is None else return_dict
        return output if wanted else output.to_tuple()


class DecoupledForSequenceClassification(_WithHead):
    """A class for each sequence or pair, from the pooled first token."""

    pooled = True

    def __init__(self, config: DecoupledConfig) -> None:
        super().__init__(config)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
        return_dict: bool | None = None,
        **options: Any,
    ) -> Any:
        """Return logits, (batch, num_labels), and where ``labels`` are given the loss of the configured problem type.

        Labels of classes are (batch,), those of several classes at once or of a regression (batch, num_labels).
        """
        encoded = self.rembert(
            input_ids, attention_mask, token_type_ids, return_dict=True, **options
        )
        logits = self.classifier(self.dropout(encoded.pooler_output))
        output = SequenceClassifierOutput(
            loss=None
            if labels is None
            else _sequence_loss(logits, labels, self.config.problem_type),
            logits=logits,
            hidden_states=encoded.hidden_states,
            attentions=encoded.attentions,
        )
        return self._finish(output, return_dict)


def _sequence_loss(logits: Tensor, labels: Tensor, problem: str | None) -> Tensor:
    """Return the mean loss by transformers' rules, which tell an unnamed problem by the labels."""
    if problem is None and logits.shape[1] == 1:
        problem = "regression"
    elif problem is None and labels.is_floating_point():
        problem = "multi_label_classification"
    if problem == "regression":
        return functional.mse_loss(logits, labels.view_as(logits).to(logits.dtype))
    if problem == "multi_label_classification":
        return functional.binary_cross_entropy_with_logits(logits, labels.to(logits.dtype))
    return functional.cross_entropy(logits, labels.flatten())


class DecoupledForMultipleChoice(_WithHead):
    """A score for each choice, from the pooled first token."""

    pooled = True

    def __init__(self, config: DecoupledConfig) -> None:
        super().__init__(config)
        self.classifier = nn.Linear(config.hidden_size, 1)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
        return_dict: bool | None = None,
        **options: Any,
    ) -> Any:
        """Return logits, (batch, choices), from ids of (batch, choices, length); ``labels`` are (batch,)."""
        choices = input_ids.shape[1]
        encoded = self.rembert(
            *(
                None if part is None else part.flatten(0, 1)
                for part in (input_ids, attention_mask, token_type_ids)
            ),
            return_dict=True,
            **options,
        )
        logits = self.classifier(self.dropout(encoded.pooler_output)).view(-1, choices)
        output = MultipleChoiceModelOutput(
            loss=None if labels is None else functional.cross_entropy(logits, labels),
            logits=logits,
            hidden_states=encoded.hidden_states,
            attentions=encoded.attentions,
        )
        return self._finish(output, return_dict)


class DecoupledForTokenClassification(_WithHead):
    """A class for each piece."""

    def __init__(self, config: DecoupledConfig) -> None:
        super().__init__(config)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
        return_dict: bool | None = None,
        **options: Any,
    ) -> Any:
        """Return logits, (batch, length, num_labels); ``labels`` are (batch, length), -100 where none counts."""
        encoded = self.rembert(
            input_ids, attention_mask, token_type_ids, return_dict=True, **options
        )
        logits = self.classifier(self.dropout(encoded.last_hidden_state))
        loss = None
        if labels is not None:
            loss = functional.cross_entropy(
                logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED
            )
        output = TokenClassifierOutput(
            loss=loss,
            logits=logits,
            hidden_states=encoded.hidden_states,
            attentions=encoded.attentions,
        )
        return self._finish(output, return_dict)


class DecoupledForQuestionAnswering(_WithHead):
    """Scores of each piece as the answer's first and last."""

    def __init__(self, config: DecoupledConfig) -> None:
        config.num_labels = 2
        super().__init__(config)
        self.qa_outputs = nn.Linear(config.hidden_size, 2)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        start_positions: Tensor | None = None,
        end_positions: Tensor | None = None,
        return_dict: bool | None = None,
        **options: Any,
    ) -> Any:
        """Return start and end logits, (batch, length) each, and the mean loss where both positions are given.

        Positions at or beyond the length do not count.
        """
        encoded = self.rembert(
            input_ids, attention_mask, token_type_ids, return_dict=True, **options
        )
        starts, ends = self.qa_outputs(encoded.last_hidden_state).unbind(-1)
        loss = None
        if start_positions is not None and end_positions is not None:
            length = starts.shape[1]
            parts = [
                functional.cross_entropy(
                    scores, gold.flatten().clamp(0, length), ignore_index=length
                )
                for scores, gold in ((starts, start_positions), (ends, end_positions))
            ]
            loss = (parts[0] + parts[1]) / 2
        output = QuestionAnsweringModelOutput(
            loss=loss,
            start_logits=starts,
            end_logits=ends,
            hidden_states=encoded.hidden_states,
            attentions=encoded.attentions,
        )
        return self._finish(output, return_dict)
