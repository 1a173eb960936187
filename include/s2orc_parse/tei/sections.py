"""Heads → section paths. GROBID's divs are flat: the hierarchy is in the numbers of the heads, or in what every paper does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

MAX_HEAD = 500  # characters; a longer one is a paragraph that was taken for a head
MAX_PATH = 1_000  # characters; of a longer path the outermost heads are left out
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

# The parts of a research article that hold sections of their own, by their heads' letters; and those that stand beside them.
_METHODS = re.compile(
    r"(?:(?:materials?|patients|subjects|participants|animals|data)and)?methods?(?:and(?:materials?|procedures?|data))?|methodology"
    r"|(?:patients|subjects)andmaterials?|experimental(?:section|procedures?|methods?|part)?"
)
_RESULTS = re.compile(r"(?:experimental)?results?(?:and(?:discussions?|analys[ie]s))?|findings")
_DISCUSSION = re.compile(r"(?:general)?discussions?(?:and(?:conclusions?|outlook))?")
_APPENDIX_LABEL = re.compile(r"(?i:appendix|annex)\s+(?P<num>[A-Z](?:\.?\d{1,2})*|\d{1,2}|[IVX]{1,4})(?=$|[\s.:,)—–-])")
_APPENDIX = re.compile(r"append(?:ix|ices)\b|annex(?:es)?\b", re.IGNORECASE)
_BESIDE = re.compile(
    r"(?:introduction|background|conclusions?|concludingremarks|summary|abstract|keywords|acknowledge?ments?|references"
    r"|(?:notes?|limitations?|abbreviations?|disclosures?|nomenclature))$"
    r"|(?:acknowledg|funding|conflicts?of|competing|declaration|supplement|supporting|appendi|annex|(?:data|code|material).*availab|availab"
    r"|authors?|credit|ethic|broaderimpact|conclu|onlineresources|additionalinformation)"
)


class Section(NamedTuple):
    """Where a paragraph stands: the heads above it, outermost first, and the innermost one's number."""

    heads: tuple[str, ...] = ()
    path: str = ""  # the heads joined by `::`; of a part of the back without heads its type, "acknowledgement"
    num: str | None = None
    numbers: tuple[str, ...] = ()  # the number's parts over all levels: ("III", "B") for head B under III


NO_SECTION = Section()


class Sections:
    """The sections of one paper, in the order its heads are met.

    What a flat sequence of heads leaves open is settled as papers do it: a head without number among numbered ones belongs to the
    last numbered one, and in an article without numbers that has Methods, Results or Discussion (two of them) the heads after each
    belong to it. Heads that stand beside them in every paper (Conclusions, Funding, …) do not.
    """

    def __init__(self, heads: Iterable[tuple[str | None, str]] = ()) -> None:
        self.numbered: dict[tuple[str, ...], Section] = {}  # every numbered section, first of its number
        self.appendices: dict[str, Section] = {}  # by the number of the appendix: A, B.1, 2
        self._open: list[
            tuple[tuple[str, ...], str]
        ] = []  # numbered heads that a coming one may lie under, outermost first
        self._roman = False  # IEEE: I. A. 1)
        self._by_letters = False  # in the appendices
        self._current: tuple[str, ...] = ()
        known = [(bool(n and _clean(n)) or bool(_IN_HEAD.match(head)), _letters(head)) for n, head in heads]
        self._numbers_to_come = sum(numbered for numbered, _ in known)
        parts = {p for p in (_METHODS, _RESULTS, _DISCUSSION) for _, letters in known if p.fullmatch(letters)}
        self._has_parts = not self._numbers_to_come and len(parts) > 1
        self._part: Section | None = None  # the part or numbered section that a head without number lies in

    def end_of_body(self) -> None:
        """What follows (back matter) lies in none of the body's sections."""
        self._numbers_to_come, self._has_parts = 0, False
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Leave all sections: appendices lie beside the last one, and count by letters."""
        self._open, self._roman, self._current, self._part, self._by_letters = [], False, (), None, True

    def enter(self, parent: Section, n: str | None, head: str) -> Section | None:
        """The section that a head opens inside `parent` (`NO_SECTION` at the top); None if the head is a running title
        or a figure's label that the extractor took for a head."""
        label = _APPENDIX_LABEL.match(head)
        section = self._enter(parent, n, head)
        if section is not None and label is not None:
            self.appendices.setdefault(label["num"], section)
        elif section is not None and section.num and section.num[0].isalpha() and self._by_letters:
            self.appendices.setdefault(section.num, section)
        return section

    def _enter(self, parent: Section, n: str | None, head: str) -> Section | None:
        if _FURNITURE.fullmatch(head):
            return None
        if _APPENDIX.match(head):
            self._begin_anew()
        num = _clean(n) if n else None
        if num is None and (match := _IN_HEAD.match(head)):
            self._numbers_to_come -= 1
            letters = match["letters"]
            if letters is None or self._roman or self._by_letters or letters == "I":
                num = _clean(match["appendix"] or match["dotted"] or match["plain"] or letters)
                head = match["rest"]
        elif num:
            self._numbers_to_come -= 1
        if not num:
            return self._without_number(parent, head) if head else parent
        numbers = self._place(num)
        if not head and any(
            numbers == known for known, _ in self._open
        ):  # "4." where 4.3.1 broke off: nothing new begins
            return self.numbered[numbers]
        head = head or num
        while self._open and not _is_under(numbers, self._open[-1][0]):
            self._open.pop()
        above = parent.heads or tuple(known for _, known in self._open)
        self._open.append((numbers, head))
        self._current = numbers
        self._part = section = _section((*above, head), num, numbers)
        self.numbered.setdefault(numbers, section)
        return section

    def _without_number(self, parent: Section, head: str) -> Section:
        if parent.heads:
            return _section((*parent.heads, head))
        letters = _letters(head)
        if _BESIDE.match(letters):
            self._part = None
        elif self._part is not None and self._numbers_to_come > 0:
            return _section((*self._part.heads, head))
        elif self._has_parts:
            if any(part.fullmatch(letters) for part in (_METHODS, _RESULTS, _DISCUSSION)):
                self._part = _section((head,))
            elif self._part is not None:
                return _section((*self._part.heads, head))
        return _section((head,))

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
        letter = [part for part in self._current[1:2] if part.isalpha()]  # none where "1)" stands under "I." itself
        return (self._current[0], *letter, num)


def _section(heads: tuple[str, ...], num: str | None = None, numbers: tuple[str, ...] = ()) -> Section:
    while len(heads) > 1 and sum(map(len, heads)) > MAX_PATH:
        heads = heads[1:]
    return Section(heads, "::".join(head.replace("::", ":") for head in heads), num, numbers)


def _letters(head: str) -> str:
    return "".join(filter(str.isalpha, head.casefold()))


def _is_under(numbers: tuple[str, ...], above: tuple[str, ...]) -> bool:
    return numbers[: len(above)] == above != numbers


def _clean(n: str) -> str | None:
    """A head's number without its closing punctuation ("3.2." → "3.2"); None if it is not a number."""
    num = _SPACE_IN_NUMBER.sub(r"\1", n.strip()).rstrip(".)-: ")
    return num if _NUMBER.fullmatch(num) else None


def _roman_value(text: str) -> int:
    """A Roman numeral's value; 0 if it is not one."""
    total = 0
    for character, following in zip(text, f"{text[1:]} ", strict=True):
        value = _ROMAN.get(character, 0)
        if not value:
            return 0
        total += -value if _ROMAN.get(following, 0) > value else value
    return total
