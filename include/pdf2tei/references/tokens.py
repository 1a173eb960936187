"""Compute the features of tokens for the reference CRF, as arrays, because a reference list has thousands of tokens.

A stretch is a run of tokens between two separating signs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_CHARACTERS = 3000  # longer strings are not references; the remainder is not labeled

_TOKEN = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_MONTH = re.compile(r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*$", re.I)
_ROMAN = re.compile(r"[IVXLC]+$")
_SIZES = (1, 2, 4, 8, 16)
"""Upper limits of the size classes of stretches, in words."""
_INSIDE = 60  # maximum number of tokens between an opening sign and its closing sign
Ints = NDArray[np.intp]
Flags = NDArray[np.bool_]


class Piece(NamedTuple):
    """A token of a reference string and its position."""

    text: str
    start: int
    end: int


def pieces(raw: str) -> list[Piece]:
    """Split a reference string into runs of letters, runs of digits, and single signs."""
    return [Piece(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(raw[:MAX_CHARACTERS])]


def _find_shape(text: str) -> str:
    if text.isdigit():
        return f"d{min(len(text), 5)}"
    if not text.isalpha():
        return text
    if len(text) == 1:
        return "A" if text.isupper() else "a"
    if text.isupper():
        return "AA"
    if text[0].isupper():
        return "Aa" if text[1:].islower() else "AaA"
    return "aa" if text.islower() else "aA"


class _Property(IntEnum):
    """The properties of a token, by index in `_TokenFeatures.is_`."""

    YEAR = 0
    DIGITS = 1
    LETTERS = 2
    LONG = 3
    """of more than three characters"""
    UPPER = 4
    CAPITAL = 5
    SMALL = 6
    LETTER = 7
    DOT = 8
    STOP = 9
    SIGN = 10


class _TokenFeatures(NamedTuple):
    """The features of a single token: its lowercase form without accents, its endings and its properties."""

    shape: str
    own: tuple[str, ...]
    optional: tuple[str, ...]
    for_neighbors: tuple[tuple[str, ...], ...]
    """the feature names for neighboring tokens, for each offset of _BESIDE"""
    is_: tuple[bool, ...]


_BESIDE = (-3, -2, -1, 1, 2, 3)
_GAP = 3  # empty positions between two strings
_NONE = _TokenFeatures("", (), (), tuple((f"{d}=END",) for d in _BESIDE), (False,) * len(_Property))


@lru_cache(maxsize=1 << 15)
def _describe_token(text: str) -> _TokenFeatures:
    if not text:
        return _NONE
    low = text.lower()
    if not text.isascii():
        low = "".join(c for c in unicodedata.normalize("NFKD", low) if not unicodedata.combining(c))
    optional: list[str] = []
    if text.isalpha():
        optional += ["p2=" + low[:2], "p3=" + low[:3], "s2=" + low[-2:], "s3=" + low[-3:]]
        if _MONTH.match(low) and len(low) >= 3:
            optional.append("month")
        if _ROMAN.match(text):
            optional.append("roman")
    plain, shape = "NUM" if text.isdigit() else low, _find_shape(text)
    is_year = len(text) == 4 and plain == "NUM" and "1600" <= text <= "2035"
    return _TokenFeatures(
        shape,
        ("w=" + ("YEAR" if is_year else low if len(low) < 2 else plain), "s=" + shape),
        tuple(optional),
        tuple((f"{d}w={plain}", f"{d}s={shape}") if abs(d) < 3 else (f"{d}s={shape}",) for d in _BESIDE),
        (
            is_year,
            text.isdigit(),
            text.isalpha(),
            len(text) > 3,
            shape == "AA",
            text[0].isupper(),
            text[0].islower(),
            shape in ("A", "a"),
            text == ".",
            text in ".?!",
            text in ",;:",
        ),
    )


class FeatureColumn(NamedTuple):
    """One group of token features: an index for each token, and the feature names for each index."""

    codes: Ints
    names: Sequence[tuple[str, ...]]


class _Tokens:
    """The tokens of several strings, concatenated.

    The arrays have one value per token: the start and the size of its string, and its position in the string.
    """

    def __init__(self, strings: Sequence[list[Piece]]) -> None:
        self.strings = strings
        self.all = [piece for found in strings for piece in found]
        lengths = np.fromiter(map(len, strings), np.intp, len(strings))
        number = np.repeat(np.arange(len(strings)), lengths)
        self.size = lengths[number]
        self.start = (np.cumsum(lengths) - lengths)[number]
        self.at = np.arange(len(self.all)) - self.start
        self.padded = np.arange(len(self.all)) + _GAP * (number + 1)
        index = {"": 0}
        self.codes = np.zeros(len(self.all) + _GAP * (len(strings) + 1), np.intp)
        self.codes[self.padded] = [index.setdefault(piece.text, len(index)) for piece in self.all]
        self.words = [_describe_token(text) for text in index]
        self._is: Flags = np.array([word.is_ for word in self.words])[self.codes]
        ends, starts = [-1, *(piece.end for piece in self.all)], [*(piece.start for piece in self.all), -1]
        touching = np.equal(ends, starts)
        self.glued, self.glues = touching[:-1] & (self.at > 0), touching[1:] & (self.at < self.size - 1)

    def is_(self, what: _Property, offset: int = 0) -> Flags:
        """Return for each token whether it, or the token at the given offset in its string, has this property."""
        found: Flags = self._is[self.padded + offset, what]
        return found

    def count_before(self, true: Flags) -> Ints:
        """Count for each token how many earlier tokens of its string have this property."""
        count: Ints = np.cumsum(true) - true
        count -= count[self.start]
        return count


def columns(strings: Sequence[list[Piece]]) -> list[FeatureColumn]:
    """Return the features of all tokens of strings and of their neighbors."""
    tokens = _Tokens(strings)
    quoted, quote = _locate_quotations(tokens)
    words, codes, at = tokens.words, tokens.codes, tokens.padded
    stops = tokens.is_(_Property.DOT) & tokens.is_(_Property.LONG, -1)
    out = [
        FeatureColumn(codes[at], [word.own for word in words]),
        FeatureColumn(10 * tokens.at // tokens.size, _PLACES["p"]),
        FeatureColumn(np.minimum(tokens.at, 4), _PLACES["i"]),
        FeatureColumn(np.minimum(tokens.size - 1 - tokens.at, 4), _PLACES["e"]),
        FeatureColumn((tokens.count_before(tokens.is_(_Property.YEAR)) > 0).astype(np.intp), _PLACES["y"]),
        FeatureColumn(np.minimum(tokens.count_before(stops), 4), _PLACES["st"]),
        FeatureColumn(quote, [("q=0",), ("q=b",), ("q=i",), ("q=a",)]),
        _describe_stretches(tokens, tokens.is_(_Property.STOP), long=True),
        _describe_stretches(tokens, tokens.is_(_Property.STOP) | tokens.is_(_Property.SIGN), long=False),
        FeatureColumn(codes[at], [word.optional for word in words]),
        FeatureColumn(tokens.glued.astype(np.intp), [(), ("glued",)]),
        FeatureColumn(tokens.is_(_Property.YEAR).astype(np.intp), [(), ("year",)]),
        FeatureColumn(quoted.astype(np.intp), [(), ("quoted",)]),
        FeatureColumn(_find_enclosed(tokens, "([", ")]").astype(np.intp), [(), ("bracket",)]),
    ]
    out += [FeatureColumn(codes[at + d], [word.for_neighbors[k] for word in words]) for k, d in enumerate(_BESIDE)]
    forms = {"": 0}
    shapes = np.array([forms.setdefault(word.shape, len(forms)) for word in words])[codes]
    return out + [_join_shapes(name, shapes, at, places, list(forms)) for name, places in _RUNS]


_PLACES = {name: [(f"{name}={i}",) for i in range(10)] for name in ("p", "i", "e", "y", "st")}
_RUNS = (("s-1s", (-1, 0)), ("ss+1", (0, 1)), ("sss", (-1, 0, 1)), ("s-2s-1s", (-2, -1, 0)), ("ss+1s+2", (0, 1, 2)))


def _join_shapes(name: str, shapes: Ints, at: Ints, places: tuple[int, ...], forms: list[str]) -> FeatureColumn:
    """Return the joined shapes of neighboring tokens, if all of these tokens exist."""
    n = len(forms)
    code = np.zeros(len(at), np.intp)
    for place in places:
        code = code * n + shapes[at + place]
    values, codes = np.unique(code, return_inverse=True)
    rows = [[forms[value // n**k % n] for k in range(len(places) - 1, -1, -1)] for value in values.tolist()]
    return FeatureColumn(codes, [(f"{name}={'|'.join(row)}",) if all(row) else () for row in rows])


def _locate_quotations(tokens: _Tokens) -> tuple[Flags, Ints]:
    """Return for each token whether it is in quotation marks, and its position relative to the longest quotation of its string.

    The position is 1 before the quotation, 2 inside and 3 after it. It is 0 if no quotation has two tokens.
    """
    quoted = _find_enclosed(tokens, '“«‘"', '”»’"')
    out = np.zeros(len(quoted), np.intp)
    for start in np.unique(tokens.start[quoted]).tolist():
        inside = quoted[start : start + tokens.size[start]]
        edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
        first, last = max(edges.reshape(-1, 2).tolist(), key=lambda run: run[1] - run[0])
        if last - first >= 4:  # the two signs and two tokens
            out[start : start + len(inside)] = 3
            out[start : start + last] = 2
            out[start : start + first] = 1
    return quoted, out


def _find_enclosed(tokens: _Tokens, opening: str, closing: str) -> Flags:
    """Return for each token whether it is between an opening sign and its closing sign."""
    out = np.zeros(len(tokens.all), bool)
    start = 0
    for found in tokens.strings:
        texts = [piece.text for piece in found]
        end = -1
        for i, text in enumerate(texts):
            at = opening.find(text)
            if at >= 0 and i > end and closing[at] in (near := texts[i + 1 : i + _INSIDE]):
                end = i + 1 + near.index(closing[at])
                out[start + i : start + end + 1] = True
        start += len(found)
    return out


def _describe_stretches(tokens: _Tokens, signs: Flags, *, long: bool) -> FeatureColumn:
    """Return the features of each token's stretch between separating signs.

    The features are its number from both ends, the distance to the next number, its length, and its capitalization. If not
    `long`, the first two features are omitted, and all names begin with a comma.

    A sign ends a stretch if white space follows and the sign is not the dot of an initial. After a dot, a question mark or an
    exclamation mark, the next token must not begin in lowercase.
    """
    ends = signs & (tokens.at < tokens.size - 1) & ~tokens.glues
    ends &= ~tokens.is_(_Property.DOT) | ~tokens.is_(_Property.LETTER, -1)
    ends &= tokens.is_(_Property.SIGN) | ~tokens.is_(_Property.SMALL, 1)
    begins = tokens.at == 0
    begins[1:] |= ends[:-1]
    stretch = np.cumsum(begins) - 1
    first = np.flatnonzero(begins)
    if not len(first):
        return FeatureColumn(stretch, [])

    def count(true: Flags) -> Ints:
        return np.add.reduceat(true, first, dtype=np.intp)

    letters = tokens.is_(_Property.LETTERS)
    order = np.cumsum(letters)
    words = letters & (order - (order - letters)[first][stretch] > 1) & tokens.is_(_Property.LONG)
    of_string = stretch[tokens.start[first]]
    number = np.arange(len(first)) - of_string
    last = stretch[tokens.start[first] + tokens.size[first] - 1]
    numbered = np.flatnonzero(count(tokens.is_(_Property.DIGITS)))
    next_ = np.append(numbered, len(first))[np.searchsorted(numbered, np.arange(len(first)))]
    away = next_ - np.arange(len(first))
    near = np.where((next_ <= last) & (away < 9), np.minimum(away, 3), 9)
    size = np.searchsorted(_SIZES, count(letters))
    of_words = count(words)
    upper, capital = (count(words & tokens.is_(kind)) for kind in (_Property.UPPER, _Property.CAPITAL))
    case = np.select([of_words == 0, 2 * upper > of_words, capital == 0, capital == of_words], [0, 1, 2, 3], 4)
    parts = (np.minimum(number, 6), np.minimum(last - np.arange(len(first)), 5), near, size, case)
    return FeatureColumn(stretch, [_name_stretch_features(long, *row) for row in np.stack(parts, 1).tolist()])


@lru_cache(maxsize=1 << 14)
def _name_stretch_features(long: bool, number: int, rest: int, near: int, size: int, case: int) -> tuple[str, ...]:
    words, written = (*_SIZES, 17)[size], "-U01s"[case]
    names = f"sb={number}", f"se={rest}", f"sn={near}", f"sl={words}", f"sc={written}", f"slc={words}{written}"
    return names if long else tuple("," + name for name in names[2:])
