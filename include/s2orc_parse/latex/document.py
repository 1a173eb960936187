"""What every converter turns a source into: blocks of inlines, nothing printed yet, no numbers given yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from s2orc_parse.latex.source import Source


@dataclass(frozen=True, slots=True)
class Cite:
    """A citation command with the keys it names."""

    command: str  # cite, citep, textcite …; with * where it has one
    keys: tuple[str, ...]
    before: str = ""
    after: str = ""


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
    """A footnote."""

    content: Inlines


@dataclass(frozen=True, slots=True)
class Mark:
    """A text that is marked up: `kind` is emph, link, block (of a bibliography entry) or field:<name>."""

    kind: str
    content: Inlines
    target: str = ""


Inline = str | Cite | Ref | Math | Label | Note | Mark
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
    """A paragraph."""

    content: Inlines


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


Block = Head | Para | Appendix | Float


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
    """Every inline, those inside marks too (not those in footnotes)."""
    for inline in content:
        yield inline
        if isinstance(inline, Mark):
            yield from walk(inline.content)
