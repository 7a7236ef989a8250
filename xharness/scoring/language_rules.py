"""Answer normalisation of the ``strict`` profile: one rule for every language, and each language's own articles.

An answer becomes tokens as follows. Two answers match exactly if their tokens are the same; F1 is over bags of tokens.

1. **Form**: NFKC (full-width digits, half-width kana, ligatures and decomposed accents are one text), case folding
   (``ß`` is ``ss``; in Turkish and Azerbaijani ``I`` is dotless), decimal digits of any script as ASCII digits.
   Invisible characters (category Cf, variation selectors) and the Arabic tatweel are deleted. Accents and vowel signs
   stay: they tell words apart.
2. **Tokens** are runs of letters, marks and numbers. All else, Unicode punctuation (P*) and symbols (S*) alike, only
   separates, since both original scripts delete ASCII symbols with punctuation: ``New-York`` is ``New York``, and
   ``5 €`` is ``5``. Two exceptions keep different things apart or one thing together: a full stop or comma between
   digits belongs to the number (``3.5`` is not ``35``), and an apostrophe, geresh or middle dot between letters belongs
   to the word and is deleted (``don't``, ``צה״ל``). In French, Italian and Catalan it ends an elided word (``l'eau``).
3. **Scripts without blanks** (Han, kana, Thai, Lao, Khmer, Myanmar) and Hangul: every letter with its marks is a token,
   whichever the language; runs of other scripts inside stay whole (``iPhone手机`` is ``iphone 手 机``). Hangul is
   among them because particles are glued to Korean words; KorQuAD's script counts characters for the same reason.
4. **Articles** of the language are dropped as whole words; the Arabic ``ال`` only at the beginning of a word that has
   two more letters. An answer of nothing but articles keeps them.
5. An answer without any letter, mark or number is one token, so ``+`` and ``-`` differ.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import regex  # type: ignore[import-untyped,unused-ignore]

from xharness.scoring.answers import Tokenize

#: Free-standing articles. Languages not listed have none, or suffix them, or have none that is told from other words.
ARTICLES: dict[str, str] = {
    "af": "die n",
    "ca": "el la els les l un una uns unes",
    "da": "den det de en et",
    "de": "der die das den dem des ein eine einen einem einer eines",
    "el": "ο η το οι τα του της των τον την τη τους τις ένας ένα έναν ενός μια μία μιας",
    "en": "a an the",
    "es": "el la los las lo un una unos unas",
    "fr": "le la les l un une des",
    "ga": "an na",
    "ht": "yon",
    "hu": "a az egy",
    "it": "il lo la i gli le l un uno una",
    "nb": "den det de en ei et",
    "nl": "de het een t",
    "no": "den det de en ei et",
    "pcm": "di",
    "pt": "o a os as um uma uns umas",
    "ro": "un o",
    "sq": "një",
    "sv": "den det de en ett",
}

#: Prefixed articles, and how many letters of the word must remain.
_PREFIXES = {"ar": "ال"}
_LETTERS_LEFT = 2

_ELIDING = frozenset({"ca", "fr", "it"})
_DOTTED = frozenset({"az", "tr"})
_TATWEEL = "\u0640"

_ONE_BY_ONE = r"[[\p{Han}\p{Hiragana}\p{Katakana}\u30FC\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]--[\p{M}\p{Nd}]]"
_IN_WORD = rf"[[\p{{L}}\p{{M}}\p{{N}}]--{_ONE_BY_ONE}]"
_APOSTROPHE = "['’ʼ‘׳״\"·]"
_NUMBER_GOES_ON = rf"(?<=\p{{Nd}})[.,٫٬](?=\p{{Nd}}){_IN_WORD}+"
_WORD_GOES_ON = rf"(?<=[\p{{L}}\p{{M}}]){_APOSTROPHE}(?=\p{{L}}){_IN_WORD}+"


def _token_pattern(joins: str) -> regex.Pattern[str]:
    return regex.compile(rf"{_ONE_BY_ONE}\p{{M}}*|{_IN_WORD}+(?:{joins})*", regex.VERSION1)


_TOKEN = _token_pattern(f"{_NUMBER_GOES_ON}|{_WORD_GOES_ON}")
_TOKEN_ELIDING = _token_pattern(_NUMBER_GOES_ON)
_JOINED = regex.compile(_APOSTROPHE)


class _Cosmetic(dict[int, int | None]):
    """A table for ``str.translate``: deletes invisible characters, makes digits ASCII; learns each when asked."""

    def __missing__(self, code: int) -> int | None:
        character = chr(code)
        category = unicodedata.category(character)
        value: int | None = code
        if category == "Cf" or character == _TATWEEL or 0xFE00 <= code <= 0xFE0F:
            value = None
        elif category == "Nd":
            value = ord("0") + unicodedata.decimal(character)
        self[code] = value
        return value


_COSMETIC = _Cosmetic()


def fold(text: str, language: str) -> str:
    """Return the text in the form of rule 1.

    >>> fold("ＡＢＣ ١٩٩٩", "ar")
    'abc 1999'
    """
    if language in _DOTTED:
        # Composed first, so that a decomposed capital dotted I is found too.
        text = unicodedata.normalize("NFC", text).replace("İ", "i").replace("I", "ı")
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", folded).translate(_COSMETIC)


@cache
def language_tokenizer(language: str) -> Tokenize:
    """Return the normalisation of a language; any code will do, unlisted ones have no articles.

    >>> language_tokenizer("fr")("L'eau de Paris !")
    ['eau', 'de', 'paris']
    """
    eliding = language in _ELIDING
    find = (_TOKEN_ELIDING if eliding else _TOKEN).findall
    articles = {fold(word, language) for word in ARTICLES.get(language, "").split()}
    prefix = _PREFIXES.get(language)

    def tokenize(text: str) -> list[str]:
        folded = fold(text, language)
        tokens: list[str] = find(folded)
        if not tokens:
            return ["".join(folded.split())] if folded.strip() else []
        if not eliding:
            tokens = [_JOINED.sub("", token) for token in tokens]
        if articles:
            tokens = [token for token in tokens if token not in articles] or tokens
        if prefix:
            tokens = [_without(prefix, token) for token in tokens]
        return tokens

    return tokenize


def _without(prefix: str, token: str) -> str:
    long_enough = len(token) >= len(prefix) + _LETTERS_LEFT
    return token[len(prefix) :] if long_enough and token.startswith(prefix) else token
