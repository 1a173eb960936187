"""The layout of a document's `text`: title, abstract and blocks, two newlines between them, one between the lines of a block, or two."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_EQUATION = re.compile(r"\bEQUATION\b")
"""What a display formula is in the text of a parse."""
_PARTS = re.compile(r"[\n\r]+|(?<!\S):::(?!\S)")
_EMPTY_BRACKETS = re.compile(r"\s?(?:\([\s,;]*\)|\[[\s,;]*\])")
"""What brackets hold when the citations in them are dropped."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One paragraph of a body with the section it stands in: a head, a path of heads joined by `::`, or none.

    Without text it is a head that has no paragraph.
    """

    section: str | None
    text: str | None


@dataclass(slots=True)
class Block:
    """A section's header line, if it has one, and its paragraphs, each one line."""

    header: str | None
    paragraphs: list[str] = field(default_factory=list)
    level: int = 1
    """how many heads it stands under, its own counted"""
    units: list[int] = field(default_factory=list)
    """the units of the body that it is of, formulas among them"""

    @property
    def lines(self) -> list[str]:
        """The header, then the paragraphs."""
        return self.paragraphs if self.header is None else [self.header, *self.paragraphs]

    @property
    def text(self) -> str:
        """The lines of the block."""
        return "\n".join(self.lines)

    def spaced(self, blank_after_header: bool) -> str:
        """The block with an empty line between its paragraphs, and maybe one after its header (S2 V2 card: Format, the template)."""
        if self.header is None or blank_after_header:
            return "\n\n".join(self.lines)
        return "\n\n".join(["\n".join(self.lines[:2]), *self.lines[2:]])


def line(text: str) -> str:
    """One line of text: NFC, every run of white space one space."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def lines(text: str) -> str:
    """The lines of an abstract, none of them empty; S2ORC's `:::` between the parts of a structured one ends a line."""
    return "\n".join(filter(None, map(line, _PARTS.split(text))))


def blocks(units: Iterable[Unit]) -> tuple[list[Block], int]:
    """The blocks of a body, without formulas, and its words as they were: headers and formulas (`EQUATION`) counted.

    A paragraph that holds nothing but formulas is none. Each newly entered head opens a block; all but the innermost are
    blocks of their own. A block's header is the innermost head.
    """
    found: list[Block] = []
    words = 0
    path: tuple[str, ...] | None = None
    for number, unit in enumerate(units):
        heads = _heads(unit.section)
        if heads != path:
            entered = list(_entered(path or (), heads))
            above = len(heads) - len(entered)
            found.extend([Block(head, level=above + i) for i, head in enumerate(entered, 1)] or [Block(None)])
            words += sum(head.count(" ") + 1 for head in entered)
            path = heads
        found[-1].units.append(number)
        if unit.text:
            text = line(unit.text)
            words += text.count(" ") + 1 if text else 0
            if "EQUATION" in text:
                text = _without_formulas(text)
            if text:
                found[-1].paragraphs.append(text)
    return [b for b in found if b.lines], words


def _heads(section: str | None) -> tuple[str, ...]:
    return tuple(head for part in section.split("::") if (head := line(part))) if section else ()


def _entered(before: Sequence[str], now: Sequence[str]) -> Iterator[str]:
    """The heads of `now` that `before` was not in; on return to a head already open, that head."""
    common = 0
    while common < min(len(before), len(now)) and before[common] == now[common]:
        common += 1
    yield from now[min(common, len(now) - 1) :] if now else ()


def _without_formulas(text: str) -> str:
    """The paragraph without its formulas; empty if no letter or digit is left."""
    kept = line(_EQUATION.sub(" ", text))
    return kept if any(c.isalnum() for c in kept) else ""


def document_text(title: str, abstract: str, body: Iterable[str] = ()) -> str:
    """`title ⏎⏎ abstract ⏎⏎ blocks`, given the blocks' text, a line for each part of the abstract; without blocks title and abstract
    only (S2 V2 card: Format)."""
    return "\n\n".join([line(title), lines(abstract), *body])


def lines_of(text: str) -> tuple[str, str, list[list[str]]]:
    """Title, abstract, and the lines of each block: what `document_text` was given."""
    title, abstract, *body = text.split("\n\n")
    return title, abstract, [block.split("\n") for block in body]


def units_of_parse(parse: Mapping[str, Any], *, drop_citations: bool = False) -> tuple[Unit, ...]:
    """The paragraphs of a parse's `body_text`, with or without the inline citations in them."""
    return tuple(
        Unit(
            paragraph.get("section_path", paragraph.get("section")) or None,
            _without_citations(paragraph) if drop_citations else paragraph["text"],
        )
        for paragraph in parse["body_text"]
    )


def _without_citations(paragraph: Mapping[str, Any]) -> str:
    """The text without callouts; several may stand on one place (the entries of a range) or within it (its ends)."""
    text: str = paragraph["text"]
    places = {(s["start"], s["end"]) for s in (*paragraph["cite_spans"], *paragraph.get("unlinked_spans", ()))}
    stretches: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if stretches and start < stretches[-1][1]:
            stretches[-1] = (stretches[-1][0], max(end, stretches[-1][1]))
        else:
            stretches.append((start, end))
    for start, end in reversed(stretches):
        before, after = text[:start], text[end:]
        text = (before.rstrip(" ") if not after or after[0] in " ,.;:)]" else before) + after
    return _EMPTY_BRACKETS.sub("", text)
