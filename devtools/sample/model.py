"""Define a sample paper before typesetting: text, references, and its citation style."""

from __future__ import annotations

import dataclasses
import zlib
from dataclasses import dataclass
from enum import StrEnum

from devtools.sample.prose import Paragraph


@dataclass(frozen=True, slots=True)
class Person:
    """An author."""

    first: str
    middle: tuple[str, ...]
    last: str
    suffix: str = ""

    @property
    def full(self) -> str:
        """The name in spoken order."""
        return " ".join(p for p in (self.first, *self.middle, self.last, self.suffix) if p)

    @property
    def initials(self) -> str:
        """The initials of all given names, `P. J.`."""
        return " ".join(f"{name[0]}." for name in (self.first, *self.middle) if name)

    def as_dict(self) -> dict[str, object]:
        """Return the author in the form used everywhere in the corpus."""
        return {"first": self.first, "middle": list(self.middle), "last": self.last, "suffix": self.suffix}


class InlineStyle(StrEnum):
    """How a paper prints its inline citations (SPEC §3.10; superscripts count as OTHER)."""

    BRACKET = "BRACKET"
    NAME_YEAR = "NAME_YEAR"
    SUPERSCRIPT = "OTHER"


@dataclass(frozen=True, slots=True)
class PrintedReference:
    """A bibliography entry as printed. `cites` is the cited sample paper, whether or not a release may link it."""

    authors: tuple[Person, ...]
    year: int
    title: str
    source: str  # journal or conference
    is_journal: bool
    volume: int
    pages: str
    doi: str | None = None
    arxiv_id: str | None = None
    cites: str | None = None
    numeral: bool = False  # its nearest paper differs only in a number: linked with a warning, not counted


@dataclass(frozen=True, slots=True)
class SectionHead:
    """A section head; `num` as printed, or empty."""

    text: str
    num: str | None
    level: int = 1


@dataclass(frozen=True, slots=True)
class Equation:
    """A numbered display formula; `formula` selects one of the template's formulas."""

    formula: int


@dataclass(frozen=True, slots=True)
class Figure:
    """A bar chart with its caption."""

    num: int
    caption: str
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table with its caption; the first row is the head."""

    num: int
    caption: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class PageBreak:
    """A new page."""


Block = SectionHead | Equation | Figure | TableBlock | PageBreak | Paragraph


@dataclass(slots=True)
class Paper:
    """One work: its metadata, its text and how it is typeset."""

    key: str
    field: str
    title: str
    authors: tuple[Person, ...]
    date: str | None  # ISO, with the precision of the truth
    journal: str | None
    venue: str | None
    abstract: str | None
    blocks: list[Block] = dataclasses.field(default_factory=list)
    back_matter: list[Block] = dataclasses.field(default_factory=list)
    references: list[PrintedReference] = dataclasses.field(default_factory=list)
    doi: str | None = None
    arxiv_id: str | None = None
    pubmed_id: str | None = None
    style: InlineStyle = InlineStyle.BRACKET
    ranges: str = "joined"  # `joined` prints [1, 3-5], `split` prints [3]–[5] and titles of entries in quotes
    square: bool = False  # names and years in square brackets: [Lyons and Waite, 2011]
    columns: int = 1
    language: str = "en"
    affiliation: str | None = None
    keywords: str | None = None

    @property
    def volume(self) -> int:
        """The volume of the paper: one volume per year."""
        return (self.year or 2015) - 1940

    @property
    def pages(self) -> str:
        """The paper's pages in the volume."""
        first = 1 + zlib.crc32(self.key.encode()) % 900
        return f"{first}-{first + 4 + first % 20}"

    @property
    def year(self) -> int | None:
        """The year of the paper's date."""
        return int(self.date[:4]) if self.date else None
