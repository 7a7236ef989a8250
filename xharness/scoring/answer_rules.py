r"""How the two official scripts normalise answers.

SQuAD 1.1 (XQuAD and TyDiQA): lower case; ASCII punctuation deleted; the English articles replaced by a blank, whatever
the language; tokens between white space. Text without blanks is one token, so a partly right Chinese or Thai answer
has F1 0.

MLQA: lower case; ASCII and Unicode punctuation (categories P*) deleted; the articles of the language replaced by a
blank; tokens between white space, and each ideograph of U+4E00..U+9FA5 by itself in Chinese. Its oddities are kept:

* Arabic: the pattern means ``ال`` as a prefix but matches it anywhere, so ``مجال`` and ``مج`` are one answer.
* Vietnamese: a preposition, a copula and classifiers count as articles.
* Chinese: kana and ideographs outside that range are not split.
* Any language but its seven is an error.
"""

from __future__ import annotations

import re
import string
import unicodedata
from typing import NoReturn

from xharness.errors import InputError
from xharness.scoring.answers import Tokenize

_ASCII_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation))


class _Punctuation(dict[int, int | None]):
    """A table for ``str.translate`` that deletes punctuation; it learns each character when first asked.

    Building the set over all of Unicode, as the official script does, takes longer than scoring a language.
    """

    def __missing__(self, code: int) -> int | None:
        value = None if unicodedata.category(chr(code)).startswith("P") else code
        self[code] = value
        return value


_PUNCTUATION = _Punctuation(_ASCII_PUNCTUATION)


def _articles(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words.replace(' ', '|')})\b")


_ENGLISH_ARTICLES = _articles("a an the")
_MLQA_ARTICLES = {
    "en": _ENGLISH_ARTICLES,
    "es": _articles("un una unos unas el la los las"),
    "vi": _articles("của là cái chiếc những"),
    "de": _articles("ein eine einen einem eines einer der die das den dem des"),
    "ar": re.compile("ال"),
}
_CHINESE_TOKEN = re.compile("[\u4e00-\u9fa5]|[^\\s\u4e00-\u9fa5]+")


def answer_rule(metric: str, language: str, profile: str) -> tuple[Tokenize, bool]:
    """Return a language's normalisation under a profile, and whether two answers without tokens have F1 1.

    Args:
        metric: ``squad`` or ``mlqa``.
        language: Language code.
        profile: Scoring profile.

    Raises:
        InputError: MLQA's script does not know the language.
    """
    if profile == "strict":
        from xharness.scoring.language_rules import language_tokenizer

        return language_tokenizer(language), True
    return (squad_tokens if metric == "squad" else mlqa_tokenizer(language)), False


def squad_tokens(text: str) -> list[str]:
    """Normalise as SQuAD 1.1 does, into tokens.

    >>> squad_tokens("The U.S. Army")
    ['us', 'army']
    """
    bare = text.lower().translate(_ASCII_PUNCTUATION)
    return _ENGLISH_ARTICLES.sub(" ", bare).split()


def mlqa_tokenizer(language: str) -> Tokenize:
    """Return MLQA's normalisation for a language.

    >>> mlqa_tokenizer("zh")("北京 2008年。")
    ['北', '京', '2008', '年']

    Raises:
        InputError: MLQA's script does not know the language.
    """
    if language == "zh":
        return _mlqa_chinese
    if language == "hi":
        return lambda text: text.lower().translate(_PUNCTUATION).split()
    if language not in _MLQA_ARTICLES:
        _refuse_language(language)
    articles = _MLQA_ARTICLES[language]
    return lambda text: articles.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def _mlqa_chinese(text: str) -> list[str]:
    return _CHINESE_TOKEN.findall(text.lower().translate(_PUNCTUATION))


def _refuse_language(language: str) -> NoReturn:
    known = ", ".join(sorted([*_MLQA_ARTICLES, "hi", "zh"]))
    raise InputError(
        f"MLQA's official script does not know the language {language!r}, only {known}",
        where=f"language {language}",
        mend="use --profile strict",
    )
