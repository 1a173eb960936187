"""The layout of a page: fonts, tokens, lines and graphics. Coordinates are in points from the top left corner."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

from pdf2tei.words import read_pattern

_BOLD = re.compile(r"bold|medi(?!um)|demi|black|heavy|semib|[-,]bd|tb\b|cmb|bx\d|b$|minionpro-.*bd", re.I)
_ITALIC = re.compile(r"ital|obli|slant|[-,]it\b|cmti|cmsl|ti$|tini$", re.I)
_MATH = read_pattern("model", "math")
Item = TypeVar("Item")


class Kind(StrEnum):
    """The role of a line. Every line starts as BODY; each step changes the kind of the lines that it recognizes."""

    BODY = "body"
    FURNITURE = "furniture"
    FRONT = "front"
    ABSTRACT = "abstract"
    CAPTION = "caption"
    FIGURE = "figure"
    TABLE = "table"
    FORMULA = "formula"
    NOTE = "note"
    REFERENCE = "reference"
    LABEL = "label"
    """The name of a field, such as `Abstract` or `References`, on a separate line."""


@dataclass(frozen=True, slots=True)
class Font:
    """A text style of the PDF. `family` is lower-case and without the subset's prefix."""

    family: str
    size: float
    bold: bool = False
    italic: bool = False
    raised: bool = False
    """Set above the line, as footnote marks are."""
    lowered: bool = False
    mathematical: bool = False

    def __hash__(self) -> int:
        return hash((self.family, self.size))

    @classmethod
    def from_pdfalto(cls, family: str, size: float, style: str) -> Font:
        """Return a font from pdfalto's FONTFAMILY, FONTSIZE and FONTSTYLE."""
        family = family.lower().rpartition("+")[2]
        return cls(
            family,
            size,
            bold="bold" in style or bool(_BOLD.search(family)),
            italic="italics" in style or bool(_ITALIC.search(family)),
            raised="superscript" in style,
            lowered="subscript" in style,
            mathematical=bool(_MATH.search(family)),
        )


@dataclass(slots=True)
class Token:
    """A run of characters without white space in one font."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    font: Font
    space: bool
    """Whether white space precedes the token."""


@dataclass(eq=False)
class Line:
    """A line of one column; two lines are equal if they are the same object."""

    tokens: list[Token]
    page: int
    block: int
    """Serial number of pdfalto's block in the document, in reading order."""
    kind: Kind = Kind.BODY
    x0: float = field(init=False)
    y0: float = field(init=False)
    x1: float = field(init=False)
    y1: float = field(init=False)

    def __post_init__(self) -> None:
        x0 = y0 = top = float("inf")
        x1 = y1 = bottom = float("-inf")
        for token in self.tokens:  # one pass, because this runs for every line of every page
            x0 = token.x0 if token.x0 < x0 else x0
            x1 = token.x1 if token.x1 > x1 else x1
            y0 = token.y0 if token.y0 < y0 else y0
            y1 = token.y1 if token.y1 > y1 else y1
            if not (token.font.raised or token.font.lowered):
                top = token.y0 if token.y0 < top else top
                bottom = token.y1 if token.y1 > bottom else bottom
        self.x0, self.x1 = x0, x1
        self.y0, self.y1 = (y0, y1) if bottom == float("-inf") else (top, bottom)

    @cached_property
    def text(self) -> str:
        """The line as printed, one space between words."""
        return join_tokens(self.tokens)

    @cached_property
    def font(self) -> Font:
        """The font of most of its characters."""
        first = self.tokens[0].font
        for token in self.tokens:
            if token.font is not first:
                break
        else:
            return first
        weight: dict[Font, int] = {}
        for token in self.tokens:
            weight[token.font] = weight.get(token.font, 0) + len(token.text)
        return max(weight, key=lambda font: (weight[font], font.size))

    def forget(self) -> None:
        """Discard values that were computed from the line's tokens, after the tokens changed."""
        for name in ("text", "font", "size"):
            self.__dict__.pop(name, None)

    @cached_property
    def size(self) -> float:
        """Size of the line's main font, in points."""
        return self.font.size

    def overlaps(self, other: Line) -> bool:
        """Return whether the lines overlap horizontally."""
        return self.x0 < other.x1 and other.x0 < self.x1

    def continues(self, above: Line, *, gap: float, size: float, rise: float = 0.3) -> bool:
        """Return whether the line is in nearly the size of another and up to `gap` type sizes below it in its column."""
        is_near = -rise * self.size < self.y0 - above.y1 < gap * self.size
        return is_near and abs(self.size - above.size) < size and self.overlaps(above) and self.page == above.page

    @property
    def height(self) -> float:
        """Height of the line, in points."""
        return self.y1 - self.y0

    @property
    def width(self) -> float:
        """Width of the line, in points."""
        return self.x1 - self.x0


@dataclass(frozen=True, slots=True)
class Box:
    """A picture or a group of vector paths."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(slots=True)
class Page:
    """A page: its lines in reading order and its graphics."""

    number: int
    width: float
    height: float
    lines: list[Line]
    boxes: list[Box]
    is_left_out: bool = False
    """Whether the page exceeds a limit of `alto`, so that its lines are left out."""


@dataclass(slots=True)
class Document:
    """The pages of a PDF and the title in its metadata."""

    pages: list[Page]
    metadata_title: str = ""


def join_tokens(tokens: list[Token]) -> str:
    """Join tokens to a text."""
    text = "".join([f" {t.text}" if t.space else t.text for t in tokens])
    return text[1:] if tokens and tokens[0].space else text


def group_items(items: Iterable[Item], begins: Callable[[list[Item], Item], bool]) -> list[list[Item]]:
    """Group items into runs. The first item begins a run, and each item for which `begins(run so far, item)` is true."""
    runs: list[list[Item]] = []
    for item in items:
        if not runs or begins(runs[-1], item):
            runs.append([item])
        else:
            runs[-1].append(item)
    return runs
