"""A word-level language model: input embedding, sequence model, classifier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from xharness.encoder.define import GroupLinear
from xharness.errors import InputError
from xharness.language_modelling.classifiers import AdaptiveClassifier, SoftmaxClassifier
from xharness.language_modelling.config import LanguageModelConfig
from xharness.language_modelling.input_embedding import AdaptiveMap, InputEmbedding, TableMap
from xharness.language_modelling.sequence_models import State, sequence_model


@dataclass(frozen=True)
class ParameterCounts:
    """Trained parameters; a shared one is counted once, with the input.

    Attributes:
        input: Looked-up vectors and the map or unit after them.
        sequence: The sequence model.
        projection: The square map before the classifier, and the one to a narrower classifier.
        classifier: What the classifier has of its own.
        total: All of them.
    """

    input: int
    sequence: int
    projection: int
    classifier: int
    total: int

    def as_json(self) -> dict[str, int]:
        """Return what a JSON file holds of it."""
        return asdict(self)


class LanguageModel(nn.Module):
    """A language model with new weights, drawn by the configuration's seed.

    Args:
        config: Its configuration.
        vocabulary: Size of the vocabulary, which may be smaller than the one asked for.

    Raises:
        InputError: Sizes do not fit each other.
    """

    def __init__(self, config: LanguageModelConfig, vocabulary: int) -> None:
        super().__init__()
        self.config, self.vocabulary = config, vocabulary
        settings, hidden, width = config.embedding, config.model.hidden_size, config.width
        states = width if settings.tied or settings.classifier == "adaptive" else hidden
        adaptive = None
        if settings.adaptive is not None:
            adaptive = AdaptiveClassifier(settings.adaptive, width, vocabulary)
        lookup: TableMap | AdaptiveMap
        if settings.input == "adaptive":
            assert adaptive is not None
            lookup = AdaptiveMap.like(adaptive, tied=settings.tied)
        else:
            lookup = TableMap(vocabulary, width)
        self.input = InputEmbedding(lookup, width, hidden, settings.define)
        self.sequence = sequence_model(config.model)
        # The paper's map has no bias; its code has one, which the classifier's bias makes superfluous, and with which
        # SGD at rate 1 does not get past the frequencies of words here.
        projected = settings.projection is not None
        self.projection = nn.Linear(hidden, hidden, bias=False) if projected else None
        self.narrowing = None if states == hidden else nn.Linear(hidden, states, bias=False)
        self.classifier: SoftmaxClassifier | AdaptiveClassifier
        if settings.classifier == "adaptive":
            assert adaptive is not None
            self.classifier = adaptive
        elif settings.tied:
            assert isinstance(lookup, TableMap)
            self.classifier = SoftmaxClassifier(lookup.weight)
        else:
            self.classifier = SoftmaxClassifier(nn.Parameter(torch.empty(vocabulary, states)))
        self._draw()

    @torch.no_grad()
    def _draw(self) -> None:
        """Draw all matrices uniformly, biases 0; group layers and normalisations keep their own start."""
        generator = torch.Generator().manual_seed(self.config.seed)
        bound = self.config.training.init_range
        own: set[int] = set()
        for module in self.modules():
            if isinstance(module, GroupLinear):
                limit = (6 / (module.weight.shape[1] + module.weight.shape[2])) ** 0.5
                module.weight.uniform_(-limit, limit, generator=generator)
            if isinstance(module, GroupLinear | nn.LayerNorm):
                own.update(map(id, module.parameters()))
        for parameter in self.parameters():
            if id(parameter) in own:
                continue
            if parameter.ndim > 1:
                parameter.uniform_(-bound, bound, generator=generator)
            else:
                parameter.zero_()

    def forward(self, inputs: Tensor, targets: Tensor, state: State | None) -> tuple[Tensor, State]:
        """Predict a window.

        Args:
            inputs: Words, (time, streams).
            targets: The words after them, (time, streams).
            state: Carried from the window before; ``None`` at the beginning of a text.

        Returns:
            The negative log-likelihood of all targets in nats, and the state for the next window.
        """
        states, after = self._states(inputs, state)
        loss: Tensor = self.classifier(states, targets.reshape(-1))
        return loss, after

    def log_probabilities(self, inputs: Tensor) -> Tensor:
        """Return the log-probability of every next word, (time, streams, vocabulary), from an empty state."""
        states, _ = self._states(inputs, None)
        return self.classifier.log_probabilities(states).view(*inputs.shape, -1)

    def _states(self, inputs: Tensor, state: State | None) -> tuple[Tensor, State]:
        hidden, after = self.sequence(self.input(inputs), state)
        states = hidden.reshape(-1, hidden.shape[-1])
        if self.projection is not None:
            states = self.projection(states)
        if self.narrowing is not None:
            states = self.narrowing(states)
        return states, after

    def penalty(self) -> Tensor:
        """Return the penalty on the projection: strength / 2 times its squared Frobenius norm.

        Press and Wolf write strength times a norm; their code has TensorFlow's half of the squared norm.
        """
        strength = self.config.embedding.projection
        if self.projection is None or strength is None:
            return torch.zeros(())
        return strength / 2 * self.projection.weight.square().sum()

    def input_table(self) -> Tensor:
        """Return what enters the sequence model for each word, (vocabulary, hidden size)."""
        return self.input.table(self.vocabulary)

    def output_table(self) -> Tensor:
        """Return the classifier's vectors of all words, (vocabulary, width).

        Raises:
            InputError: The classifier is adaptive: its vectors have several widths.
        """
        if isinstance(self.classifier, AdaptiveClassifier):
            raise InputError(
                "an adaptive classifier has no table of one width", where=self.config.name
            )
        return self.classifier.weight.detach()

    def trained_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Yield the parameters that are trained, by name; a shared one once."""
        return (
            (name, parameter)
            for name, parameter in self.named_parameters()
            if parameter.requires_grad
        )

    def parameter_counts(self) -> ParameterCounts:
        """Count the trained parameters by part."""
        counted: set[int] = set()

        def count(module: nn.Module | None) -> int:
            new = [
                parameter
                for parameter in (module.parameters() if module is not None else ())
                if parameter.requires_grad and id(parameter) not in counted
            ]
            counted.update(map(id, new))
            return sum(parameter.numel() for parameter in new)

        parts = (
            count(self.input),
            count(self.sequence),
            count(self.projection) + count(self.narrowing),
            count(self.classifier),
        )
        return ParameterCounts(*parts, total=sum(parts))
