"""Heads → section paths. GROBID's divs are flat: the hierarchy is in the numbers of the heads, or nowhere."""

from __future__ import annotations

import re
from typing import NamedTuple

_SPACE_IN_NUMBER = re.compile(r"\s*([.\-])\s*")
_NUMBER = re.compile(r"(?:\d{1,3}|[A-Z]|[IVXLC]{1,6})(?:[.\-][0-9A-Za-z]{1,3})*")
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
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


class Section(NamedTuple):
    """Where a paragraph stands: the heads above it, outermost first, and the innermost one's number."""

    heads: tuple[str, ...] = ()
    num: str | None = None
    numbers: tuple[str, ...] = ()  # the number's parts over all levels: ("III", "B") for head B under III
    part: str = ""  # what stands for the heads where there are none: the type of a part of the back, "acknowledgement"

    @property
    def path(self) -> str:
        """The heads joined by `::`."""
        return "::".join(self.heads) or self.part


NO_SECTION = Section()


class Sections:
    """The sections of one paper, in the order its heads are met."""

    def __init__(self) -> None:
        self.numbered: dict[tuple[str, ...], Section] = {}  # every numbered section, first of its number
        self._open: dict[tuple[str, ...], str] = {}  # heads that a coming number may lie under
        self._roman = False  # IEEE: I. A. 1)
        self._current: tuple[str, ...] = ()

    def enter(self, parent: Section, n: str | None, head: str) -> Section | None:
        """The section that a head opens inside `parent` (`NO_SECTION` at the top); None if the head is a running title
        or a figure's label that the extractor took for a head."""
        if _FURNITURE.fullmatch(head):
            return None
        num = _clean(n) if n else None
        if num is None and (match := _IN_HEAD.match(head)):
            letters = match["letters"]
            if letters is None or self._roman or letters == "I":
                num = _clean(match["appendix"] or match["dotted"] or match["plain"] or letters)
                head = match["rest"]
        if not num:
            return Section((*parent.heads, head)) if head else parent
        numbers = self._place(num)
        if not head and numbers in self._open:  # "4." where 4.3.1 broke off: nothing new begins
            return self.numbered[numbers]
        head = head or num
        above = parent.heads
        if not above:
            above = tuple(self._open[numbers[:i]] for i in range(1, len(numbers)) if numbers[:i] in self._open)
        for known in [known for known in self._open if known[: len(numbers)] == numbers]:
            del self._open[known]
        self._open[numbers] = head
        self._current = numbers
        section = Section((*above, head), num, numbers)
        self.numbered.setdefault(numbers, section)
        return section

    def _place(self, num: str) -> tuple[str, ...]:
        """A printed number as its parts over all levels."""
        parts = tuple(re.split(r"[.\-]", num))
        if len(parts) > 1:
            return parts
        if not self.numbered:
            self._roman = num == "I"
        if not self._roman or not self._current:
            return parts
        top = _roman_value(self._current[0])
        value = _roman_value(num)
        if value and (value == top + 1 or (value > top and len(num) > 1)):
            return parts
        if num.isalpha():
            return (self._current[0], num)
        return (*self._current[:2], num)


def _clean(n: str) -> str | None:
    """A head's number without its closing punctuation ("3.2." → "3.2"); None if it is no number."""
    num = _SPACE_IN_NUMBER.sub(r"\1", n.strip()).rstrip(".)-: ")
    return num if _NUMBER.fullmatch(num) else None


def _roman_value(text: str) -> int:
    """A Roman numeral's value; 0 if it is none."""
    total = 0
    for character, following in zip(text, f"{text[1:]} ", strict=True):
        value = _ROMAN.get(character, 0)
        if not value:
            return 0
        total += -value if _ROMAN.get(following, 0) > value else value
    return total
