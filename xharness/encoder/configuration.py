"""Configuration of the decoupled encoder."""

from __future__ import annotations

from typing import Any, Literal, get_args

from transformers import PretrainedConfig

from xharness.errors import InputError

Coupling = Literal["coupled", "decoupled"]
InputKind = Literal["table", "factorised", "define"]
Start = Literal["normal", "local"]

#: Sizes that may be left out.
_DERIVED_SIZES = (
    "intermediate_size",
    "input_embedding_size",
    "output_embedding_size",
    "input_factor_size",
)
_SIZES = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "extra_layers",
    "num_attention_heads",
    *_DERIVED_SIZES,
    "define_expansion_size",
    "define_depth",
    "define_groups",
    "max_position_embeddings",
    "type_vocab_size",
)


class DecoupledConfig(PretrainedConfig):
    """An encoder whose input and output embeddings are free in size (RemBERT, arXiv 2010.12821).

    Fields that transformers' ``RemBertConfig`` has too bear its names and mean the same.

    Attributes:
        vocab_size: Pieces in the vocabulary.
        hidden_size: Width of the blocks.
        num_hidden_layers: Blocks that fine-tuning keeps.
        extra_layers: Blocks above those in pre-training, dropped afterwards (RemBERT, Table 5).
        num_attention_heads: Heads; they divide the width.
        intermediate_size: Width of the feed-forward layer; four times the width where absent.
        input_embedding_size: Width of the input embeddings; the hidden size where absent.
        output_embedding_size: Width of the output embeddings; that of the input embeddings where absent.
        coupling: ``coupled`` makes one matrix of both embeddings, whose sizes must then be equal.
        input_kind: How a piece gets its input vector: ``table`` looks it up; ``factorised`` looks up a narrower
            vector and maps it linearly; ``define`` expands and reduces that one (DeFINE, arXiv 1911.12385).
        input_factor_size: Width of the narrower vector, for the last two.
        define_expansion_size: Widest layer of the DeFINE unit.
        define_depth: Its layers.
        define_groups: Groups of its first layer; they halve from layer to layer.
        freeze_input_embedding: Whether the input table keeps its values in training; where the embeddings are
            coupled, the output embeddings keep theirs with it.
        input_projection: Whether a linear map leads from the input embeddings to the blocks; where absent, it is
            there when the sizes differ. RemBERT always has one.
        hidden_dropout_prob: Dropout of embeddings and blocks.
        attention_probs_dropout_prob: Dropout of attention weights.
        classifier_dropout_prob: Dropout before a head.
        max_position_embeddings: Longest sequence.
        type_vocab_size: Token types.
        initializer_range: Standard deviation of the initial weights.
        start: What a new encoder's attention begins with. ``normal`` draws all weights. ``local`` lets each position
            attend to its neighbours: learned positions start as sinusoids (Vaswani et al. 2017, arXiv 1706.03762,
            section 3.5) of twice the deviation, and the identity times 0.7 is added to what is drawn for queries and
            keys (after Trockman and Kolter 2023, arXiv 2305.09828); a map from narrower input embeddings keeps
            their deviation. A small encoder without such a map then begins to learn from context in far fewer steps;
            with one the heads hold no bands of wavelengths apart, and the gain is not there.

    Raises:
        InputError: A value is out of its range, or sizes do not fit each other.
    """

    model_type = "decoupled_encoder"

    vocab_size: int = 120_000
    hidden_size: int = 768
    num_hidden_layers: int = 12
    extra_layers: int = 0
    num_attention_heads: int = 12
    intermediate_size: int | None = None
    input_embedding_size: int | None = None
    output_embedding_size: int | None = None
    coupling: str = "decoupled"
    input_kind: str = "table"
    input_factor_size: int | None = None
    define_expansion_size: int = 1024
    define_depth: int = 3
    define_groups: int = 8
    freeze_input_embedding: bool = False
    input_projection: bool | None = None
    hidden_act: str = "gelu"
    hidden_dropout_prob: float | int = 0.0
    attention_probs_dropout_prob: float | int = 0.0
    classifier_dropout_prob: float | int = 0.1
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    initializer_range: float = 0.02
    start: str = "normal"
    layer_norm_eps: float = 1e-12
    pad_token_id: int | None = 0
    bos_token_id: int | None = 2
    eos_token_id: int | list[int] | None = 3
    tie_word_embeddings: bool = False

    def __post_init__(self, **kwargs: Any) -> None:
        """Fill in what follows from other fields, and check that all fit."""
        self._check_numbers()
        # RemBERT maps its embeddings to the blocks even where the sizes are equal, and its checkpoints open here too.
        if kwargs.pop("model_type", None) == "rembert" and self.input_projection is None:
            self.input_projection = True
        if self.intermediate_size is None:
            self.intermediate_size = 4 * self.hidden_size
        if self.input_embedding_size is None:
            self.input_embedding_size = self.hidden_size
        if self.output_embedding_size is None:
            self.output_embedding_size = self.input_embedding_size
        if self.input_projection is None:
            self.input_projection = self.input_embedding_size != self.hidden_size
        self._check_choices()
        self._check_embeddings()
        self.tie_word_embeddings = self.coupling == "coupled"
        super().__post_init__(**kwargs)

    def _check_numbers(self) -> None:
        for name in _SIZES:
            value = getattr(self, name)
            if value is None and name in _DERIVED_SIZES:
                continue
            least = 0 if name == "extra_layers" else 1
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise InputError(f"{value!r} is not a whole number of at least {least}", where=name)
        for name in ("hidden", "attention_probs", "classifier"):
            share = getattr(self, f"{name}_dropout_prob")
            if not isinstance(share, int | float) or not 0 <= share < 1:
                raise InputError(
                    f"{share!r} is not a share from 0 up to 1", where=f"{name}_dropout_prob"
                )
        if self.hidden_size % self.num_attention_heads:
            raise InputError(
                f"{self.num_attention_heads} heads do not divide a width of {self.hidden_size}",
                where="num_attention_heads",
            )
        if self.pad_token_id is not None and not 0 <= self.pad_token_id < self.vocab_size:
            raise InputError(
                f"{self.pad_token_id} is not in a vocabulary of {self.vocab_size}",
                where="pad_token_id",
            )

    def _check_choices(self) -> None:
        # Imported here, for a configuration alone needs no torch.
        from transformers.activations import ACT2FN

        for name, choices in (
            ("coupling", get_args(Coupling)),
            ("input_kind", get_args(InputKind)),
            ("start", get_args(Start)),
            ("hidden_act", tuple(ACT2FN)),
        ):
            if getattr(self, name) not in choices:
                raise InputError(
                    f"{getattr(self, name)!r} is none of {', '.join(choices)}", where=name
                )
        if self.tie_word_embeddings and self.coupling == "decoupled":
            raise InputError(
                "decoupled embeddings cannot be tied",
                where="tie_word_embeddings",
                mend="set coupling: coupled, or leave tie_word_embeddings out",
            )

    def _check_embeddings(self) -> None:
        if not self.input_projection and self.input_embedding_size != self.hidden_size:
            raise InputError(
                f"input embeddings of {self.input_embedding_size} need a map to a width of {self.hidden_size}",
                where="input_projection",
                mend="leave it out",
            )
        if self.input_kind != "table" and self.input_factor_size is None:
            raise InputError(
                f"input kind {self.input_kind} needs a width to look up", where="input_factor_size"
            )
        if self.input_kind == "table" and self.input_factor_size is not None:
            raise InputError(
                f"input kind table has no narrower vector, so none of {self.input_factor_size}",
                where="input_factor_size",
                mend="set input_kind, or leave it out",
            )
        if self.coupling == "coupled":
            if self.input_kind != "table":
                raise InputError(
                    f"input kind {self.input_kind} has no table to share with the output",
                    where="coupling",
                    mend="set input_kind: table, or coupling: decoupled",
                )
            if self.input_embedding_size != self.output_embedding_size:
                raise InputError(
                    f"coupled embeddings of sizes {self.input_embedding_size} and {self.output_embedding_size}",
                    where="coupling",
                    mend="make the sizes equal, or set coupling: decoupled",
                )
        if self.input_kind == "define":
            # Imported here: the unit's module needs torch.nn, a configuration alone does not.
            from xharness.encoder.define import layer_plan

            assert self.input_factor_size is not None
            layer_plan(
                self.input_factor_size,
                self.define_expansion_size,
                self.define_depth,
                self.define_groups,
            )
