"""Repair the text of a TEI where extractors write spaces and hyphens that the paper does not print."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property

from s2orc_parse.words import read_table
from s2orc_parse.xml import Element

_SPACED = re.compile(r" (?:(?=[,)\]](?!\w))|(?<!\. )(?=\.(?: [^.]| ?\Z))|(?<=[(\[] )|(?<=[\w/]/ )(?=\w))")
"""White space where the font changes or after a slash at the end of a line: `Eq. ( 3)`, `(Y )`, `5-FU/ CDDP`"""
_BESIDE_MARKS = (" ,", " .", " )", " ]", "( ", "[ ", "/ ")
"""One of these is in every text that contains `_SPACED`: a search is faster than a substitution"""
_DEGREE = re.compile(r"(?<=\d)[∘◦](?!\w)|(?<=\d)(\s?)[∘◦]\s?(?=[CF]\b)")
"""A ring operator for the degree sign: `60 ◦C`"""
_POWER = re.compile(r"(?<=[×·]10) (?=[1-9]\d?(?![\d.]*\d))|(?<=[×·] 10) (?=[1-9]\d?(?![\d.]*\d))")
"""The space before a raised exponent: `1.5 × 10 8`"""
_SHARED = re.compile(r"(?<=[a-z]-)(?=(?:and|or) [a-z]+-[a-z])")
"""The place of the lost space in `over-or under-represented`"""
_PREFIXES = frozenset(read_table("tei/words")["prefixes"].split())
_DIVIDED = re.compile(r"-(?<=[^\W\d_]{2}-)(\s?)([a-z]{2,})(?![\w-])")
_LEFT = re.compile(r"(?<![\w-])[^\W\d_]+\Z")
_COMPOUND = re.compile(r"[^\W\d_]{2,}(?:-[^\W\d_]{2,})+")
_HYPHEN = re.compile("-")
_MARKS = ".,;:!?()[]\"'“”‘’"
_MAX_LEFT = 30
"""characters before a hyphen that may belong to a divided word"""


class TextRepairs:
    """Repairs for the text of one document, whose words decide whether a hyphen divides a word."""

    def __init__(self, parts: Iterable[Element] = ()) -> None:
        """Read the words of these parts of the document; without any, divided words remain."""
        self._parts = tuple(parts)

    @cached_property
    def _words(self) -> Counter[str]:
        """The words of the document between spaces with their frequency; a compound is one word."""
        return Counter(" ".join([text for part in self._parts for text in part.itertext()]).casefold().split())

    @cached_property
    def _joined(self) -> tuple[re.Pattern[str], dict[str, int]] | None:
        """The compounds that lost a hyphen at the end of a line: a pattern of their forms, and the place of each form's hyphen.

        The document has the compound at least twice, and more often than the form, and has each part as a word.
        """
        compounds = Counter[str]()
        for word, times in self._words.items():
            if "-" in word and _COMPOUND.fullmatch(word := word.strip(_MARKS)):
                compounds[word] += times
        places = {}
        for compound, times in compounds.items():
            if times > 1 and all(part in self._words for part in compound.split("-")):
                for hyphen in _HYPHEN.finditer(compound):
                    form = compound[: hyphen.start()] + compound[hyphen.end() :]
                    if 0 < self._words[form] < times:
                        places[form] = hyphen.start()
        if not places:
            return None
        return re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(places))})(?![\w-])", re.IGNORECASE), places

    def apply(self, text: str) -> str:
        """Return the repaired text. White space is a single space."""
        for marks in _BESIDE_MARKS:
            if marks in text:
                text = _SPACED.sub("", text)
                break
        if "10 " in text:
            text = _POWER.sub("^", text)
        if "-" in text:
            if "-and " in text or "-or " in text:
                text = _SHARED.sub(" ", text)
            text = self._join_words(text)
        if self._joined:
            pattern, places = self._joined
            folded = text.casefold()
            if any(form in folded for form in places):
                text = pattern.sub(lambda form: _insert_hyphen(form.group(), places), text)
        if "∘" in text or "◦" in text:
            text = _DEGREE.sub(r"\1°", text)
        return text

    def _join_words(self, text: str) -> str:
        """Join the divided words that the document also has undivided."""
        parts, at = [], 0
        for match in _DIVIDED.finditer(text):
            left = _LEFT.search(text, max(at, match.start() - _MAX_LEFT), match.start())
            if left and self._is_divided(left.group().casefold(), *match.groups()):
                parts.append(text[at : match.start()])
                at = match.start(2)
        return "".join([*parts, text[at:]]) if parts else text

    def _is_divided(self, left: str, space: str, right: str) -> bool:
        """Return whether a hyphen divides a word.

        Without a space, the hyphen may be the paper's. It is not if neither part is a word or prefix and the compound is not more frequent.
        """
        if not space and left in _PREFIXES:
            return False
        joined, known = f"{left}{right}", self._words
        if joined not in known or space:
            return joined in known
        is_printed = left in known or right in known
        return not is_printed and known[f"{left}-{right}"] <= known[joined]


def _insert_hyphen(form: str, places: dict[str, int]) -> str:
    at = places.get(form.casefold(), len(form))
    return f"{form[:at]}-{form[at:]}" if at < len(form) else form
