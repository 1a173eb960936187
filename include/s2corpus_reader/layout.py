"""Build the layout of a document's `text`: title, abstract and blocks.

Two newlines separate these parts. One newline separates the lines of a block; two in the template layouts (`format_spaced`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

RECIPE = "recipe-2024"
IMPROBABLE = {"card": -20.0, "card-wordfreq": -19.82, RECIPE: -20.0}
"""profile → mean log2 probability of a word below which a section is removed, and at or below which an abstract is dropped

The card states −20. With wordfreq's list, −19.82 removes the same share of sections (docs/quality.md).
"""
EQUATION_WORD = re.compile(r"\bEQUATION\b")
"""placeholder of a display formula in the text of a parse"""
_PARTS = re.compile(r"[\n\r]+|(?<!\S):::(?!\S)")
EMPTY_BRACKETS = re.compile(r"\s?(?:\([\s,;]*\)|\[[\s,;]*\])")
"""brackets that are empty after their citations were dropped"""


@dataclass(frozen=True, slots=True)
class Unit:
    """One paragraph of a body with its section: a heading, a path of headings joined by `::`, or None.

    A unit without text is a heading that has no paragraph.
    """

    section: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class TextRules:
    """The rules of a spec that decide which parts of a body are in a text, and how they are joined (section `clean`)."""

    profile: str
    citations: str = "keep"
    """keep or drop"""
    layout: str = "sections"
    """sections, template or template_blank"""
    min_log_prob: float | None = None
    formulas: str = "remove"
    """remove or placeholder; snapshots without this rule removed them"""

    @property
    def threshold(self) -> float:
        """The mean log2 probability of a word below which a section is removed."""
        return IMPROBABLE[self.profile] if self.min_log_prob is None else self.min_log_prob


@dataclass(slots=True)
class Block:
    """A section's optional header line and its paragraphs, each on one line."""

    header: str | None
    paragraphs: list[str] = field(default_factory=list)
    level: int = 1
    """number of headings above the block, including its own"""
    units: list[int] = field(default_factory=list)
    """indexes of the body units in this block, including units with only formulas"""

    @property
    def lines(self) -> list[str]:
        """The header, followed by the paragraphs."""
        return self.paragraphs if self.header is None else [self.header, *self.paragraphs]

    @property
    def text(self) -> str:
        """The lines of the block, joined by newlines."""
        return "\n".join(self.lines)

    def format_spaced(self, blank_after_header: bool) -> str:
        """Return the block with an empty line between paragraphs (S2 V2 card: Format, the template).

        `blank_after_header` adds an empty line after the header.
        """
        if self.header is None or blank_after_header:
            return "\n\n".join(self.lines)
        return "\n\n".join(["\n".join(self.lines[:2]), *self.lines[2:]])


def to_one_line(text: str) -> str:
    """Return the text as one line: NFC, with every run of white space replaced by one space."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def format_abstract(text: str) -> str:
    """Return the non-empty lines of an abstract. S2ORC's `:::` between the parts of a structured abstract ends a line."""
    return "\n".join(filter(None, map(to_one_line, _PARTS.split(text))))


def build_blocks(units: Iterable[Unit], *, keep_formulas: bool = False) -> tuple[list[Block], int]:
    """Return the blocks of a body, and the number of words before formulas are removed.

    With `keep_formulas`, a formula in a sentence leaves its placeholder. Paragraphs that contain only formulas are omitted.
    The word count includes headers and formulas (`EQUATION`). Each new heading starts a block with that heading as its
    header. An outer heading without paragraphs is a separate block.
    """
    found: list[Block] = []
    words = 0
    path: tuple[str, ...] | None = None
    for number, unit in enumerate(units):
        headings = _headings(unit.section)
        if headings != path:
            entered = list(_new_headings(path or (), headings))
            above = len(headings) - len(entered)
            found.extend([Block(head, level=above + i) for i, head in enumerate(entered, 1)] or [Block(None)])
            words += sum(head.count(" ") + 1 for head in entered)
            path = headings
        found[-1].units.append(number)
        if unit.text:
            text = to_one_line(unit.text)
            words += text.count(" ") + 1 if text else 0
            if "EQUATION" in text:
                rest = remove_formulas(text)
                text = text if keep_formulas and rest else rest
            if text:
                found[-1].paragraphs.append(text)
    return [b for b in found if b.lines], words


def list_sections(units: Iterable[Unit], rules: TextRules) -> list[Block]:
    """Return the parts of a body that are removed completely: sections, or merged paragraphs in profile `recipe-2024`."""
    if rules.profile == RECIPE:
        return merge_paragraphs(units)
    return build_blocks(units, keep_formulas=rules.formulas == "placeholder")[0]


def format_body(sections: Iterable[Block], rules: TextRules) -> str:
    """Return the part of a text that follows title and abstract, with the empty line before it."""
    if rules.profile == RECIPE:
        return "\n\n" + "\n".join(section.text for section in sections)
    if rules.layout == "sections":
        return "".join(f"\n\n{section.text}" for section in sections)
    return "".join(f"\n\n{section.format_spaced(rules.layout == 'template_blank')}" for section in sections)


def merge_paragraphs(units: Iterable[Unit]) -> list[Block]:
    """Return paragraphs with their header prepended; join split paragraphs (profile `recipe-2024`).

    The result for a paragraph with headers is `⏎header⏎paragraph`, with the last of its headers. A paragraph without header is appended
    to the previous one in three cases: it contains no space, the previous one does not end in `.?!`, or it closes a parenthesis
    that the previous one opened.
    """
    merged: list[Block] = []
    header: str | None = None
    section: str | None = None
    for number, unit in enumerate(units):
        if unit.section is not None and (unit.section != section or unit.text is None):
            header = _normalize(unit.section.rsplit("::", 1)[-1])
        section = unit.section
        if unit.text is None:
            continue
        text = _normalize(unit.text)
        if header is not None:
            text, header = f"\n{header}\n{text}", None
        elif merged and _continues(previous := merged[-1].paragraphs[0].rstrip(), text):
            merged[-1].paragraphs = [f"{previous} {text}"]
            merged[-1].units.append(number)
            continue
        merged.append(Block(None, [text], units=[number]))
    return merged


def _normalize(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip())


def _continues(previous: str, text: str) -> bool:
    if " " not in text or not previous.endswith((".", "?", "!")):
        return True
    opened, closes = previous.rfind("("), text.rfind(")")
    return opened > previous.rfind(")") and closes > text.rfind("(")


def _headings(section: str | None) -> tuple[str, ...]:
    return tuple(head for part in section.split("::") if (head := to_one_line(part))) if section else ()


def _new_headings(before: Sequence[str], now: Sequence[str]) -> Iterator[str]:
    """Yield the headings of path `now` from the first difference to path `before` on, and at least the last one."""
    common = 0
    while common < min(len(before), len(now)) and before[common] == now[common]:
        common += 1
    yield from now[min(common, len(now) - 1) :] if now else ()


def remove_formulas(text: str) -> str:
    """Return the paragraph without its formulas; return an empty string if no letter or digit remains."""
    kept = to_one_line(EQUATION_WORD.sub(" ", text))
    return kept if any(c.isalnum() for c in kept) else ""


def document_text(title: str, abstract: str, body: Iterable[str] = ()) -> str:
    """Return `title ⏎⏎ abstract ⏎⏎ blocks`, with one line for each part of the abstract (S2 V2 card: Format).

    `body` contains the text of each block. Without blocks, the result is title and abstract only.
    """
    return "\n\n".join([to_one_line(title), format_abstract(abstract), *body])


def split_document_text(text: str) -> tuple[str, str, list[list[str]]]:
    """Return title, abstract, and the lines of each block: the inverse of `document_text`."""
    title, abstract, *body = text.split("\n\n")
    return title, abstract, [block.split("\n") for block in body]


def list_units(parse: Mapping[str, Any], *, drop_citations: bool = False) -> tuple[Unit, ...]:
    """Return the paragraphs of a parse's `body_text`; remove inline citations if `drop_citations` is true."""
    return tuple(
        Unit(
            paragraph.get("section_path", paragraph.get("section")) or None,
            remove_citations(paragraph) if drop_citations else paragraph["text"],
        )
        for paragraph in parse["body_text"]
    )


def merge_citations(paragraph: Mapping[str, Any]) -> list[tuple[int, int, list[str]]]:
    """Return (start, end, entries) of each inline citation, in order. An unlinked citation has the entry `""`.

    Several citations can have one position (entries of a range) or overlap (ends of a range); they are merged.
    """
    found: list[tuple[int, int, list[str]]] = []
    spans = (*paragraph.get("cite_spans", ()), *paragraph.get("unlinked_spans", ()))
    for span in sorted(spans, key=lambda s: (s["start"], s["end"])):
        entry = span.get("ref_id") or ""
        if found and span["start"] < found[-1][1]:
            start, end, entries = found[-1]
            found[-1] = (start, max(end, span["end"]), [*entries, entry])
        else:
            found.append((span["start"], span["end"], [entry]))
    return found


def remove_citations(paragraph: Mapping[str, Any]) -> str:
    """Return the text without inline citations."""
    text: str = paragraph["text"]
    for start, end, _ in reversed(merge_citations(paragraph)):
        before, after = text[:start], text[end:]
        text = (before.rstrip(" ") if not after or after[0] in " ,.;:)]" else before) + after
    return EMPTY_BRACKETS.sub("", text)
