"""Define the document that pandoc's tree becomes: blocks of inlines, without printed text and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Cite:
    """A citation command with its keys."""

    command: str  # cite, citep, textcite …; with * if present
    keys: tuple[str, ...]
    before: Inlines = ()
    after: Inlines = ()
    alias: Inlines = ()  # the paper's name for the entry: Paper I
    further: tuple[Cite, ...] = ()  # the other groups of \cites and similar commands


@dataclass(frozen=True, slots=True)
class Ref:
    """A mention of labels; `printed` is its text if the source states it."""

    command: str  # ref, eqref, cref, autoref …
    labels: tuple[str, ...]
    printed: str = ""


@dataclass(frozen=True, slots=True)
class Math:
    """A formula as TeX, including its environment."""

    tex: str
    display: bool


@dataclass(frozen=True, slots=True)
class LabelName:
    r"""A \label, which refers to the item counted last."""

    name: str


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote; `num` is the number given by the source."""

    content: Inlines
    num: str | None = None


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A marked text: `kind` is emph, link, block (of a bibliography entry) or field:<name>."""

    kind: str
    content: Inlines
    target: str = ""


@dataclass(frozen=True, slots=True)
class ListItemStart:
    """The start of a list item with labels."""

    num: str  # may contain counter names between OPEN and CLOSE, which `numbering` replaces by numbers
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Subequations:
    """The start or end of formulas with a common number: 1a, 1b."""

    is_start: bool


Inline = str | Cite | Ref | Math | LabelName | Note | MarkedText | ListItemStart | Subequations
Inlines = tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """A section header; level 1 is the highest level of the document."""

    level: int
    content: Inlines
    numbered: bool = True
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Para:
    """A paragraph; `back` is the name of its part of the back matter, or None."""

    content: Inlines
    back: str | None = None


@dataclass(frozen=True, slots=True)
class Theorem:
    """The start of a theorem-like environment or a proof; it ends at the matching `TheoremEnd`."""

    name: str  # of the environment
    note: Inlines = ()  # its optional argument


@dataclass(frozen=True, slots=True)
class TheoremEnd:
    """The end of the innermost theorem-like environment."""


@dataclass(frozen=True, slots=True)
class Appendix:
    """The start of the appendix: sections are numbered by letters."""


@dataclass(slots=True)
class LatexFloat:
    """A figure, table, algorithm or listing, or a table inside the text (without caption)."""

    kind: str  # figure, table, algorithm, listing
    caption: Inlines | None = None
    numbered: bool = True
    labels: tuple[str, ...] = ()
    cells: list[list[Inlines]] | None = None
    latex: str | None = None
    parts: list[LatexFloat] = field(default_factory=list)  # subfigures


@dataclass(frozen=True, slots=True)
class BibItem:
    """A printed bibliography entry. `label` is None if the list is numbered."""

    key: str
    label: Inlines | None
    content: Inlines


Block = Head | Para | Appendix | Theorem | TheoremEnd | LatexFloat


@dataclass(slots=True)
class LatexDocument:
    """The content of a source."""

    title: Inlines = ()
    authors: list[list[Inlines]] = field(default_factory=list)
    """for each author, or each group with common affiliations, the lines of the title page"""
    keywords: list[str] = field(default_factory=list)
    abstract: list[Para] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    bibliography: list[BibItem] = field(default_factory=list)


def walk(content: Inlines) -> Iterator[Inline]:
    """Yield every inline, including those inside marks, citations and footnotes."""
    for inline in content:
        yield inline
        if isinstance(inline, MarkedText | Note):
            yield from walk(inline.content)
        elif isinstance(inline, Cite):
            for part in (inline.before, inline.after, inline.alias, inline.further):
                yield from walk(part)


def walk_blocks(blocks: Iterable[Block]) -> Iterator[Inline]:
    """Yield every inline of some blocks, including captions and cells."""
    for block in blocks:
        if isinstance(block, Head | Para):
            yield from walk(block.content)
        elif isinstance(block, Theorem):
            yield from walk(block.note)
        elif isinstance(block, LatexFloat):
            yield from walk(block.caption or ())
            for row in block.cells or ():
                for cell in row:
                    yield from walk(cell)
            yield from walk_blocks(block.parts)
