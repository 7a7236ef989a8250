"""BLEU and chrF of translations, by sacrebleu, with the signatures without which they mean little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from xharness.errors import InputError

#: Languages written without blanks between words: BLEU counts their characters, or sacrebleu's own Chinese tokens.
_CHARACTERS = frozenset({"ja", "th", "my", "km", "lo"})


@dataclass(frozen=True)
class Quality:
    """How close translations are to references.

    Attributes:
        bleu: Corpus BLEU in percent.
        bleu_signature: How it was computed.
        chrf: Corpus chrF2 in percent.
        chrf_signature: How it was computed.
        segments: Translations.
    """

    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str
    segments: int


def corpus_quality(
    translations: Sequence[str], references: Sequence[str], language: str
) -> Quality:
    """Score detokenised translations against raw references, one each.

    Args:
        translations: In any order.
        references: In the same order.
        language: What both are written in, which decides how BLEU cuts words: 13a, ``zh`` for Chinese, characters
            for Japanese, Thai, Burmese, Khmer and Lao.

    Raises:
        InputError: There are none, or not as many of both.
    """
    if not translations or len(translations) != len(references):
        raise InputError(
            f"{len(translations)} translations for {len(references)} references",
            mend="each translation needs one reference",
        )
    tokens = "zh" if language == "zh" else "char" if language in _CHARACTERS else "13a"
    bleu, chrf = BLEU(tokenize=tokens), CHRF()
    bleu_score = bleu.corpus_score(list(translations), [list(references)])
    chrf_score = chrf.corpus_score(list(translations), [list(references)])
    return Quality(
        bleu=float(bleu_score.score),
        bleu_signature=str(bleu.get_signature()),
        chrf=float(chrf_score.score),
        chrf_signature=str(chrf.get_signature()),
        segments=len(translations),
    )
