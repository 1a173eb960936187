"""Convert headers to section paths.

GROBID's divisions are flat. The hierarchy comes from the headers' numbers or from the usual structure of papers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from s2orc_parse.words import read_table, write_numeral

MAX_HEAD = 500  # maximum number of characters; a longer header is a paragraph
MAX_PATH = 1_000  # maximum number of characters; outer headers of a longer path are omitted
_SPACE_IN_NUMBER = re.compile(r"\s*([.\-])\s*")
SECTION_NUMBER = re.compile(r"(?:\d{1,3}|[A-Z]|[IVXLC]{1,6})(?:[.\-][0-9A-Za-z]{1,3})*")
_IN_HEAD = re.compile(
    r"(?:(?:appendix|annex)\s+(?P<appendix>[A-Z](?:\.\d+)*)\s*[.:)—–-]\s*"
    r"|(?P<dotted>(?:\d{1,2}|[A-Z])(?:\.\d{1,2})+)\.?(?:\s+|$)"
    r"|(?P<plain>\d{1,2})[.)](?:\s+|$)"
    r"|(?P<letters>[IVX]{1,6}|[A-Z])[.)]\s+)(?P<rest>.*)",
    re.IGNORECASE,
)
_FURNITURE = re.compile(
    r"(?:fig(?:ure|\.)?|table|tab\.)\s*[0-9IVX]{1,4}[a-z]?\s*[.:]?|arxiv:\d{4}\.\d{4,5}.*", re.IGNORECASE
)
_ROMAN = {write_numeral("Roman", number): number for number in range(1, 400)}

_METHODS, _RESULTS, _DISCUSSION, _TOP_LEVEL = (
    re.compile("|".join(heads)) for heads in read_table("tei/words")["heads"].values()
)
_APPENDIX_LABEL = re.compile(r"(?i:appendix|annex)\s+(?P<num>[A-Z](?:\.?\d{1,2})*|\d{1,2}|[IVX]{1,4})(?=$|[\s.:,)—–-])")
_APPENDIX = re.compile(r"append(?:ix|ices)\b|annex(?:es)?\b", re.IGNORECASE)


class SectionPath(NamedTuple):
    """The section of a paragraph: the headers above it, outermost first, and the number of the innermost header."""

    heads: tuple[str, ...] = ()
    path: str = ""  # headers joined by `::`; for back matter without headers its type, such as "acknowledgement"
    num: str | None = None
    numbers: tuple[str, ...] = ()  # the parts of the number at all levels: ("III", "B") for header B under III


NO_SECTION = SectionPath()


class Sections:
    """The sections of one paper, in the order of their headers.

    Two conventions of papers resolve a flat sequence of headers. A header without number among numbered headers belongs
    to the last numbered section. In an article without numbers and with at least two of Methods, Results and
    Discussion, the following headers belong to these parts. Headers that are always top-level (Conclusions, Funding, …)
    do not.
    """

    def __init__(self, heads: Iterable[tuple[str | None, str]] = ()) -> None:
        # numbered sections; the first section with a number counts
        self.numbered: dict[tuple[str, ...], SectionPath] = {}
        self.appendices: dict[str, SectionPath] = {}  # by the number of the appendix: A, B.1, 2
        # open numbered headers, outermost first; a following header may be below them
        self._open: list[tuple[tuple[str, ...], str]] = []
        self._is_roman = False  # IEEE: I. A. 1)
        self._numbers_by_letter = False  # in the appendices
        self._current: tuple[str, ...] = ()
        facts = [(bool(n and _clean_number(n)) or bool(_IN_HEAD.match(head)), _keep_letters(head)) for n, head in heads]
        self._numbers_to_come = sum(numbered for numbered, _ in facts)
        parts = {p for p in (_METHODS, _RESULTS, _DISCUSSION) for _, letters in facts if p.fullmatch(letters)}
        self._has_parts = not self._numbers_to_come and len(parts) > 1
        # the part or numbered section that contains headers without number
        self._current_part: SectionPath | None = None

    def end_of_body(self) -> None:
        """End the body: the following back matter is outside its sections."""
        self._numbers_to_come, self._has_parts = 0, False
        self._close_all()

    def _close_all(self) -> None:
        """Close all sections: an appendix is a top-level section, numbered by letters."""
        self._open, self._current, self._current_part = [], (), None
        self._is_roman, self._numbers_by_letter = False, True

    def open_section(self, parent: SectionPath, n: str | None, head: str) -> SectionPath | None:
        """Return the section that a header opens inside `parent` (`NO_SECTION` at the top).

        Return None if the header is a running title or a figure's label that the extractor mistook for a header.
        """
        label = _APPENDIX_LABEL.match(head)
        section = self._open_section(parent, n, head)
        if section is not None and label is not None:
            self.appendices.setdefault(label["num"], section)
        elif section is not None and section.num and section.num[0].isalpha() and self._numbers_by_letter:
            self.appendices.setdefault(section.num, section)
        return section

    def _open_section(self, parent: SectionPath, n: str | None, head: str) -> SectionPath | None:
        if _FURNITURE.fullmatch(head):
            return None
        if _APPENDIX.match(head):
            self._close_all()
        num = _clean_number(n) if n else None
        if num is None and (match := _IN_HEAD.match(head)):
            self._numbers_to_come -= 1
            letters = match["letters"]
            if letters is None or self._is_roman or self._numbers_by_letter or letters == "I":
                num = _clean_number(match["appendix"] or match["dotted"] or match["plain"] or letters)
                head = match["rest"]
        elif num:
            self._numbers_to_come -= 1
        if not num:
            return self._enter_unnumbered(parent, head) if head else parent
        numbers = self._split_number(num)
        # "4." after an interrupted 4.3.1 does not begin a new section.
        if not head and any(numbers == number for number, _ in self._open):
            return self.numbered[numbers]
        head = head or num
        while self._open and not numbers[: len(above := self._open[-1][0])] == above != numbers:
            self._open.pop()
        heads = parent.heads or tuple(number for _, number in self._open)
        self._open.append((numbers, head))
        self._current = numbers
        self._current_part = section = make_section((*heads, head), num, numbers)
        self.numbered.setdefault(numbers, section)
        return section

    def _enter_unnumbered(self, parent: SectionPath, head: str) -> SectionPath:
        if parent.heads:
            return make_section((*parent.heads, head))
        letters = _keep_letters(head)
        if _TOP_LEVEL.match(letters):
            self._current_part = None
        elif self._current_part is not None and self._numbers_to_come > 0:
            return make_section((*self._current_part.heads, head))
        elif self._has_parts:
            if any(part.fullmatch(letters) for part in (_METHODS, _RESULTS, _DISCUSSION)):
                self._current_part = make_section((head,))
            elif self._current_part is not None:
                return make_section((*self._current_part.heads, head))
        return make_section((head,))

    def _split_number(self, num: str) -> tuple[str, ...]:
        """Split a printed number into its parts at all levels."""
        parts = tuple(re.split(r"[.\-]", num))
        if len(parts) > 1:
            return parts
        if not self.numbered:
            self._is_roman = num == "I"
        if not self._is_roman or not self._current:
            return parts
        top, value = _ROMAN.get(self._current[0], 0), _ROMAN.get(num, 0)
        if value and (value == top + 1 or (value > top and len(num) > 1)):
            return parts
        if num.isalpha():
            return (self._current[0], num)
        letter = [part for part in self._current[1:2] if part.isalpha()]  # no letter if "1)" is directly below "I."
        return (self._current[0], *letter, num)


def make_section(heads: tuple[str, ...], num: str | None = None, numbers: tuple[str, ...] = ()) -> SectionPath:
    """Return the section below some headers, without the outer headers of a path that is too long."""
    while len(heads) > 1 and sum(map(len, heads)) > MAX_PATH:
        heads = heads[1:]
    return SectionPath(heads, "::".join(head.replace("::", ":") for head in heads), num, numbers)


def _keep_letters(head: str) -> str:
    return "".join(filter(str.isalpha, head.casefold()))


def _clean_number(n: str) -> str | None:
    """Return a header's number without closing punctuation ("3.2." → "3.2"), or None if it is not a number."""
    num = _SPACE_IN_NUMBER.sub(r"\1", n.strip()).rstrip(".)-: ")
    return num if SECTION_NUMBER.fullmatch(num) else None
