"""Join lines to running text: undo hyphenation, record raised characters."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property

import wordfreq

from pdf2tei.pages.language import language
from pdf2tei.pages.model import Line, Token

_SIGNS = str.maketrans({
    "\u00ad": "-", **dict.fromkeys("\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"),
})  # fmt: skip
_HYPHENS = "-\u2010"
_CJK = "\u2e80"  # scripts from this code point on are written without spaces
_COMPOUND = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?:[-\u2010][^\W\d_]+)+")
_WORD = re.compile(r"[^\W\d_]+")
_MIN_PART, _MAX_JOINED = 1e-7, 3e-7
"""Shares of English words: a part of a compound is at least as frequent as the first; a joined word that is no word is rarer.
They were chosen on 739 hyphens at line ends, half of the publishers of pmc-pdf and cases/layout."""
_MAX_RAISED_GAP, _MAX_MARK_GAP = 0.1, 0.2
"""Maximum gap before a raised token, or a comma or bracket, that pdfalto separates by a space; in type sizes."""
_MARKS = frozenset(",.)]")
_EXPONENT = re.compile(r"[−–-]\d+|\d*[+−][.,)]?|[*∗°◦′″]+|st|nd|rd|th")
_POWER = re.compile(r"[2-9]|1[0-9]?")
_BASE = re.compile(r"(?:.*[^\w.])?(?:[a-zα-ωΑ-Ω\U0001d400-\U0001d7ff]|[kcdmnµμ]m)")
"""The end of a token that a power follows: a unit of length or a variable. A raised number after other words is a citation."""
_SYMBOL = re.compile(r"[A-Z][a-z]?(?![^\W\d_])|[^\w\s]")
"""The start of a token that a raised token may belong to: a chemical element, a unit or a sign, not the text of a note."""

_URL = re.compile(r"\W*(?:[Dd][Oo][Ii]:)?(?:https?:|www\.|doi\.org/|10\.\d{4,9}/)\S*")
_URL_SIGNS = frozenset("/_=?&%#")
_URL_PART = re.compile(r"\S*\d|\S*[\w/][./_=?&%#-][\w/]|\w+/")
"""The beginning of a token that continues a URL: unlike a word, it has a digit or a sign inside."""

_COMBINING = dict(zip("´`¨ˆ˜¸ˇ˚˛˝", "\u0301\u0300\u0308\u0302\u0303\u0327\u030c\u030a\u0328\u030b", strict=True))
"""Combining characters by the accents that are printed as separate characters."""
_ACCENT = re.compile(r"([^\W\d_]?)([´`¨ˆ˜¸ˇ˚˛˝])(\s?)([^\W\d_]?)")
_VOWELS = frozenset("aeiouyAEIOUYı")
_WITH_CEDILLA = frozenset("cstCST")


def _compose_accent(match: re.Match[str]) -> str:
    """Combine a separately printed accent with the preceding vowel, or otherwise with the following letter.

    A cedilla is combined with a `c`, `s` or `t`.
    """
    before, accent, space, after = match.groups()
    if accent == "¸":
        if before in _WITH_CEDILLA:
            return unicodedata.normalize("NFC", before + "\u0327") + space + after
        return before + unicodedata.normalize("NFC", after + "\u0327") if after in _WITH_CEDILLA else match.group()
    if accent == "`" and not (before in _VOWELS and before and after and not space):  # a quotation mark
        return match.group()
    if (before in _VOWELS and before) or (not after and before):
        return unicodedata.normalize("NFC", before.replace("ı", "i") + _COMBINING[accent]) + space + after
    if after:
        return before + unicodedata.normalize("NFC", after.replace("ı", "i") + _COMBINING[accent])
    return match.group()


def clean(text: str) -> str:
    """Attach loose accents to their letters, remove control characters, and collapse white space."""
    if text.isascii() and text.isprintable() and " " not in text and "`" not in text:
        return text  # fast path for most words
    text = _ACCENT.sub(_compose_accent, text)
    return " ".join("".join(c for c in text.translate(_SIGNS) if c >= " " and c != "\x7f").split())


@dataclass(slots=True)
class Text:
    """Running text, with the ranges that are raised above the line."""

    text: str = ""
    raised: list[tuple[int, int]] = field(default_factory=list)


class Joiner:
    """Join lines. The words of the document decide whether a hyphen at the end of a line belongs to the word."""

    def __init__(self, lines: Iterable[Line]) -> None:
        text = "\n".join([line.text for line in lines]).translate(_SIGNS).casefold()
        self._words = Counter[str](_WORD.findall(text))
        hyphened = " ".join([word for word in text.split() if "-" in word or "\u2010" in word])
        self._compounds = Counter[str](_COMPOUND.findall(hyphened))
        self._sample = text[: 1 << 12]

    @cached_property
    def _is_english(self) -> bool:
        return language(self._sample)[0] == "en"

    def kept(self, left: str, right: str) -> bool:
        """Return whether `left-` + `right` retains its hyphen.

        The paper's own spelling decides: the compound or the joined word occurs more often elsewhere. Otherwise, the English word
        list decides.
        """
        left, right = left.casefold(), right.casefold()
        compounds, words = self._compounds[f"{left}-{right}"], self._words[left + right]
        return compounds > words or (compounds == words and self._is_english and _is_compound(left, right))

    def _may_join(self, last: str, first: str) -> bool:
        """Return whether a hyphen at the end of a line may divide a word.

        A lowercase letter follows, or the joined word occurs elsewhere.
        """
        if first[:1].islower():
            return True
        right = _WORD.match(first)
        return right is not None and self._words[(_WORD.findall(last)[-1] + right.group()).casefold()] > 0

    def _is_initial(self, letter: Token, rest: Token) -> bool:
        """Return whether a large letter begins the word of the token after it: D ISTRIBUTED; not A NEW."""
        first, word = letter.text.casefold(), _WORD.match(rest.text.casefold())
        is_large = len(first) == 1 and letter.text.isupper() and letter.font.size >= 1.5 * rest.font.size
        is_word = word is not None and first in "aeiouyàéó" and self._words[first + word[0]] < self._words[word[0]]
        return is_large and word is not None and not is_word

    def text(self, lines: Iterable[Line]) -> Text:
        """Return lines as running text."""
        out = Text()
        parts: list[str] = []
        length = 0
        for line in lines:
            separator = " "
            if parts:
                last = parts[-1]
                first = line.tokens[0].text.translate(_SIGNS)
                if _continues_url(parts, first):
                    separator = ""
                elif len(last) > 1 and last[-1] in _HYPHENS and last[-2].isalpha() and self._may_join(last, first):
                    left = _WORD.findall(last)[-1]
                    right = (_WORD.match(first) or [""])[0]
                    separator = ""
                    if not self.kept(left, right):
                        parts[-1] = last[:-1]
                        length -= 1
                elif (
                    (len(last) > 1 and last[-1] in _HYPHENS and last[-2].isalnum())
                    or (last[-1] >= _CJK and first[:1] >= _CJK)
                    or (len(last) > 1 and last[-1] == "–" and last[-2].isdigit() and first[:1].isdigit())
                ):
                    separator = ""
            for i, token in enumerate(line.tokens):
                text = token.text
                if i:
                    is_initial = i == len(parts) == 1 and self._is_initial(line.tokens[0], token)
                    separator = " " if token.space and not is_initial else ""
                    if separator and (text[0] in _MARKS or token.font.raised or line.tokens[i - 1].font.raised):
                        separator = "" if _is_attached(line.tokens[i - 1], token) else " "
                if parts and not separator and text[0] in _COMBINING:  # in a separate font
                    base = parts.pop()
                    text = base[-1] + text
                    parts += [base[:-1]] if len(base) > 1 else []
                    length -= 1
                text = clean(text)
                if not text:
                    continue
                if parts and separator:
                    parts.append(" ")
                    length += 1
                if token.font.raised:
                    out.raised.append((length, length + len(text)))
                parts.append(text)
                length += len(text)
        out.text = "".join(parts)
        return out


def _continues_url(parts: list[str], first: str) -> bool:
    """Return whether a line continues the URL or DOI at the end of the one before, which was broken after or before a sign.

    A word after a complete URL is no part of it: after a slash, a part has a digit or a sign; after a period, it is lowercase.
    """
    sign = parts[-1][-1]
    if sign not in _URL_SIGNS and sign not in "-.:" and first[0] not in _URL_SIGNS:
        return False
    begin = next((place for place in range(len(parts) - 1, -1, -1) if parts[place] == " "), -1)
    url = "".join(parts[begin + 1 :])
    if _URL.fullmatch(url) is None:
        return False
    if sign == "." and not url.endswith("www."):
        return first[0].islower() or first[0].isdigit()
    if sign == "/" and not url.endswith("://"):
        return _URL_PART.match(first) is not None
    return sign != ":" or first[0] == "/"


@cache
def _is_compound(left: str, right: str) -> bool:
    """Return whether both parts are English words and much more frequent than the joined word, if that is a word at all."""
    shares = wordfreq.get_frequency_dict("en", wordlist="large")
    parts, joined = min(shares.get(left, 0.0), shares.get(right, 0.0)), shares.get(left + right, 0.0)
    return parts >= _MIN_PART and joined < _MAX_JOINED and parts >= 10 * joined


def _is_attached(before: Token, token: Token) -> bool:
    """Return whether no space is printed before a token. pdfalto writes a space around every change of font or baseline.

    An exponent, an ordinal and a degree sign belong to the token before (`mL −1`); a raised citation remains separate.
    """
    gap = (token.x0 - before.x1) / max(before.font.size, token.font.size, 1.0)
    if token.text[0] in _MARKS:
        return gap < _MAX_MARK_GAP and not token.text[1:2].isalnum()
    if abs(gap) > _MAX_RAISED_GAP:
        return False
    if not token.font.raised:
        return _SYMBOL.match(token.text) is not None
    if _EXPONENT.fullmatch(token.text):
        return True
    return _POWER.fullmatch(token.text) is not None and _BASE.fullmatch(before.text) is not None
