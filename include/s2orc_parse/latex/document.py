"""What every converter turns a source into: blocks of inlines, nothing printed yet, no numbers given yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from s2orc_parse.latex.source import Source


@dataclass(frozen=True, slots=True)
class Cite:
    """A citation command with the keys it names."""

    command: str  # cite, citep, textcite …; with * where it has one
    keys: tuple[str, ...]
    before: Inlines = ()
    after: Inlines = ()
    alias: Inlines = ()  # the name that the paper gives the entry: Paper I
    further: tuple[Cite, ...] = ()  # the other groups of \cites and its kin


@dataclass(frozen=True, slots=True)
class Ref:
    """A mention of labels; `printed` is what the converter would print, where it knows."""

    command: str  # ref, eqref, cref, autoref …
    labels: tuple[str, ...]
    printed: str = ""


@dataclass(frozen=True, slots=True)
class Math:
    """A formula as TeX, with its environment where it has one."""

    tex: str
    display: bool
    mathml: str | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """A label of whatever was counted last."""

    name: str


@dataclass(frozen=True, slots=True)
class Note:
    """A footnote; `num` is the number that the source gives it."""

    content: Inlines
    num: str | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A text that is marked up: `kind` is emph, link, block (of a bibliography entry) or field:<name>."""

    kind: str
    content: Inlines
    target: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """The start of a list's item that has labels."""

    num: str  # a counter's name between marks stands for its number there
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Subequations:
    """The start or the end of formulas that share a number: 1a, 1b."""

    is_start: bool


Inline = str | Cite | Ref | Math | Label | Note | Mark | Item | Subequations
Inlines = tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """A section's head; level 1 is the highest of the document."""

    level: int
    content: Inlines
    numbered: bool = True
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Para:
    """A paragraph; `back` is the name of the environment's part of the back matter, if it is in one."""

    content: Inlines
    back: str | None = None


@dataclass(frozen=True, slots=True)
class Theorem:
    """The start of a theorem-like environment or a proof; the next `TheoremEnd` of its level ends it."""

    name: str  # of the environment
    note: Inlines = ()  # its optional argument
    num: str | None = None  # if the converter has counted and printed it; empty if there is none


@dataclass(frozen=True, slots=True)
class TheoremEnd:
    """The end of the innermost theorem-like environment."""


@dataclass(frozen=True, slots=True)
class Appendix:
    """From here on sections are counted by letters."""


@dataclass(slots=True)
class Float:
    """A figure, table or algorithm, or a table that stands in the text (without caption)."""

    kind: str  # figure, table, algorithm
    caption: Inlines | None = None
    numbered: bool = True
    labels: tuple[str, ...] = ()
    cells: list[list[Inlines]] | None = None
    latex: str | None = None
    parts: list[Float] = field(default_factory=list)  # subfigures


@dataclass(frozen=True, slots=True)
class BibItem:
    """An entry of the bibliography as it is printed. `label` is None where the list is numbered."""

    key: str
    label: Inlines | None
    content: Inlines


Block = Head | Para | Appendix | Theorem | TheoremEnd | Float


@dataclass(slots=True)
class Document:
    """A source, read."""

    title: Inlines = ()
    authors: list[Inlines] = field(default_factory=list)
    abstract: list[Para] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    bibliography: list[BibItem] = field(default_factory=list)


class Converter(Protocol):
    """A program that reads LaTeX."""

    name: str

    def installed(self) -> bool:
        """Whether it can be run here."""

    def refuse_unconfined(self, *, unsafe: bool) -> None:
        """Raise UserError where this machine cannot keep it from other files, unless that is asked for."""

    @property
    def version(self) -> str:
        """The program's own version."""

    def read(self, source: Source, *, seconds: float, memory_mb: int) -> Document:
        """The document. Raises `BadSource` (converter_failed, timeout, out_of_memory)."""


def walk(content: Inlines) -> Iterator[Inline]:
    """Yield every inline, those inside marks, citations and footnotes too."""
    for inline in content:
        yield inline
        if isinstance(inline, Mark | Note):
            yield from walk(inline.content)
        elif isinstance(inline, Cite):
            for part in (inline.before, inline.after, inline.alias, inline.further):
                yield from walk(part)


def walk_blocks(blocks: Iterable[Block]) -> Iterator[Inline]:
    """Yield every inline of some blocks, those in captions and cells too."""
    for block in blocks:
        if isinstance(block, Head | Para):
            yield from walk(block.content)
        elif isinstance(block, Theorem):
            yield from walk(block.note)
        elif isinstance(block, Float):
            yield from walk(block.caption or ())
            for row in block.cells or ():
                for cell in row:
                    yield from walk(cell)
            yield from walk_blocks(block.parts)
