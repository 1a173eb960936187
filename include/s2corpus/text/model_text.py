"""Format a document's text for training language models (`export.text`).

The format has Markdown headings, citations as links to papers, captions, tables and formulas.
Only the sections that passed cleaning are included.
The plain text of the S2 V2 card is unchanged. The rules, counts and checks use that text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from s2corpus.rules import ModelTextRules
from s2corpus_reader.layout import (
    EMPTY_BRACKETS,
    EQUATION_WORD,
    Block,
    TextRules,
    list_sections,
    list_units,
    merge_citations,
    remove_formulas,
    split_document_text,
    to_one_line,
)

Json = Mapping[str, Any]
_MAX_LEVEL = 6
"""number of Markdown heading levels (CommonMark 0.31, §4.2)"""
_COMMENT = re.compile(r"(?<!\\)%[^\n]*(?:\n|\Z)")
_BEFORE_POINT = re.compile(r" +(?=[,.;:)\]])")
_FLOATS = {"figure": "Figure", "table": "Table"}
_Piece = tuple[int, int, str]
"""start, end and replacement of a text range"""


def model_text(text: str, parse: Json | None, linked: Mapping[str, str], rules: ModelTextRules, own: TextRules) -> str:
    """Return the formatted document.

    `text` is the cleaned document. It was built from `parse`, which is None for a title with abstract.
    `linked` maps bibliography entries to papers: BIBREF → paper id. Entries that are not papers are absent.
    `own` are the rules by which `text` was built.

    Raises:
        ValueError: `text` was not built from this parse.
    """
    title, abstract, body = split_document_text(text)
    kept = [line for lines in body for line in lines]
    markdown = rules.headings == "markdown"
    parts = [f"# {title}" if markdown else title, abstract]
    if parse is None:
        return "\n\n".join(filter(None, parts))
    writer = _BlockWriter(parse, linked, rules, own)
    at = 0
    for block in list_sections(list_units(parse, drop_citations=own.citations == "drop"), own):
        if kept[at : at + len(block.lines)] == block.lines:
            at += len(block.lines)
            parts += writer.format_block(block)
    if at < len(kept):
        raise ValueError(f"line {at + 1} of the body does not occur in the parse")
    parts += writer.format_unmentioned()
    return "\n\n".join(filter(None, parts))


class _BlockWriter:
    """Format the blocks of one parse. Each figure or table appears once, after the block that first mentions it."""

    def __init__(self, parse: Json, linked: Mapping[str, str], rules: ModelTextRules, own: TextRules) -> None:
        self._paragraphs: Sequence[Json] = parse["body_text"]
        self._entries: Mapping[str | None, Json] = parse["ref_entries"]
        self._linked = linked
        self._rules = rules
        self._drop = own.citations == "drop"
        self._placeholder = "EQUATION" if own.formulas == "placeholder" else " "
        self._shown: set[str | None] = set()

    def format_block(self, block: Block) -> Iterator[str]:
        """Yield a section: its heading and paragraphs, followed by the figures and tables first mentioned there."""
        markdown = self._rules.headings == "markdown"
        marks = f"{'#' * min(block.level + 1, _MAX_LEVEL)} " if markdown else ""
        heads = [] if block.header is None else [f"{marks}{block.header}"]
        paragraphs = [self._paragraphs[number] for number in block.units]
        texts = (self._text(paragraph["text"], paragraph) for paragraph in paragraphs)
        lines = [*heads, *filter(remove_formulas, texts)]
        yield ("\n\n" if markdown else "\n").join(lines)
        for paragraph in paragraphs:
            for span in paragraph.get("ref_spans", ()):
                yield from self._format_float(span["ref_id"])

    def format_unmentioned(self) -> Iterator[str]:
        """Yield the figures and tables that no paragraph mentions, not even a removed one."""
        mentioned = {span["ref_id"] for paragraph in self._paragraphs for span in paragraph.get("ref_spans", ())}
        for key in self._entries:
            if key not in mentioned:
                yield from self._format_float(key)

    def _text(self, text: str, spans: Json) -> str:
        """Return the text with citations and formulas formatted as the rules request."""
        pieces = sorted([*self._formulas(spans), *self._citations(text, spans)])
        parts: list[str] = []
        at = 0
        for start, end, new in pieces:
            if start >= at:
                parts += (EQUATION_WORD.sub(self._placeholder, text[at:start]), new)
                at = end
        found = "".join([*parts, EQUATION_WORD.sub(self._placeholder, text[at:])])
        if self._drop:
            found = _BEFORE_POINT.sub("", EMPTY_BRACKETS.sub("", found))
        return to_one_line(found)

    def _formulas(self, spans: Json) -> Iterator[_Piece]:
        for span in spans.get("eq_spans", ()) if self._rules.formulas == "latex" else ():
            if latex := to_one_line(_COMMENT.sub("", span.get("latex") or "")):
                fence = "$$" if span["text"] == "EQUATION" else "$"
                yield span["start"], span["end"], f"{fence}{latex}{fence}"

    def _citations(self, text: str, spans: Json) -> Iterator[_Piece]:
        """Yield a replacement for each citation that differs from its printed form.

        If only some cited works are papers of the corpus, links to them follow the printed text.
        """
        if self._rules.citations == "printed" and not self._drop:
            return
        for start, end, works in merge_citations(spans):
            papers = list(dict.fromkeys(self._linked[work] for work in works if work in self._linked))
            printed = "" if self._drop else text[start:end]
            if not papers or self._rules.citations == "printed":
                yield start, end, printed
                continue
            link = f"[{'; '.join(f'@{paper}' for paper in papers)}]"
            if all(work in self._linked for work in works):
                if text[start - 1 : start] == "[" and text[end : end + 1] == "]":
                    start, end = start - 1, end + 1
                yield start, end, link
            else:
                yield start, end, f"{printed} {link}".strip()

    def _format_float(self, key: str | None) -> Iterator[str]:
        """Yield the caption and the table of an entry, unless the entry was already written."""
        entry = self._entries.get(key)
        if entry is None or key in self._shown or entry["type"] not in _FLOATS:
            return
        self._shown.add(key)
        if self._rules.captions and (caption := self._text(entry["text"], entry)):
            number = entry.get("num")
            named = f"{_FLOATS[entry['type']]}{f' {number}' if number else ''}"
            begins = caption.casefold().startswith((named.casefold(), entry["type"][:3]))
            yield caption if begins else f"{named}: {caption}"
        if self._rules.tables == "markdown" and entry.get("cells") and not self._is_part(key):
            yield self._table(entry)

    def _is_part(self, key: str | None) -> bool:
        """Return whether another table contains all rows of this table: 2a is a part of 2."""
        entry = self._entries[key]
        whole = re.sub(r"(?<=\d)\(?[a-z]\)?$", "", entry.get("num") or "")
        return any(
            other.get("num") == whole != entry.get("num") and all(row in other["cells"] for row in entry["cells"])
            for other in self._entries.values()
            if other["type"] == "table" and other.get("cells")
        )

    def _table(self, entry: Json) -> str:
        """Return the cells as a Markdown table. The first row is the header (GitHub Flavored Markdown 0.29, §4.10)."""
        width = max(map(len, entry["cells"]))
        cites: dict[tuple[int, int], list[Json]] = {}
        for span in entry.get("cell_cite_spans", ()):
            cites.setdefault((span["row"], span["column"]), []).append(span)
        rows = [
            [self._text(cell, {"cite_spans": cites.get((i, j), ())}).replace("|", "\\|") for j, cell in enumerate(row)]
            + [""] * (width - len(row))
            for i, row in enumerate(entry["cells"])
        ]
        return "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], ["---"] * width, *rows[1:]))
