"""Read the text of a paper for display."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from s2corpus.pipeline.run import ReleaseTables, Row
from s2corpus.storage.parts import NotCommitted, OtherColumns
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.texts import DOCUMENTS, FULLTEXTS
from s2orc_parse.parse_model import ParseKind

MOST_CHARACTERS = 400_000
"""maximum number of characters that the reader shows"""
_PAPER = ["paper_id", "title", "authors", "date", "venue", "journal", "abstract"]


@dataclass(frozen=True, slots=True)
class ReadableText:
    """A text to read: its paper, its kind, and its blocks (heading or "", paragraphs), the abstract first."""

    title: str
    paper: Row
    kind: str
    abstract: list[str]
    blocks: list[tuple[str, list[str]]]
    is_truncated: bool = False

    @property
    def contents(self) -> list[tuple[int, str]]:
        """Numbers and headings of the blocks that have a heading."""
        return [(number, heading) for number, (heading, _) in enumerate(self.blocks) if heading]


def read_text(tables: ReleaseTables, paper_id: str) -> ReadableText | None:
    """Return the first available text of a paper: its document, its open full text or its abstract.

    Return None for an unknown paper."""
    try:
        paper = next(iter(tables.of_paper(PAPERS, paper_id, _PAPER)), None)
    except OtherColumns:
        raise
    except NotCommitted:
        return None
    if paper is None:
        return None
    title = paper["title"] or "(no title)"
    parses = [row for row in tables.of_paper(FULLTEXTS, paper_id) if row["open_access"]]
    for row in tables.of_paper(DOCUMENTS, paper_id, ["paper_id", "set", "outcome", "text"]):
        if row["outcome"] == "kept":
            return _document(paper, row, {_one_line(head) for parse in parses for head in _heads(parse)})
    if parses:
        return _read_parse(title, paper, min(parses, key=lambda row: list(ParseKind).index(row["parse_kind"])))
    abstract = [paper["abstract"]] if paper["abstract"] else []
    return ReadableText(title, paper, "the abstract (no open full text)", abstract, [])


def _document(paper: Row, row: Row, heads: set[str]) -> ReadableText:
    """Return a published document: title, abstract and blocks separated by blank lines.

    A block may begin with its heading (SPEC §10.4).
    """
    text = row["text"]
    parts: list[str] = [*text[:MOST_CHARACTERS].split("\n\n"), "", ""]
    title, abstract, *blocks = parts
    parsed = []
    for block in blocks:
        lines = block.split("\n") if block else []
        if lines:
            headed = _one_line(lines[0]) in heads
            parsed.append((lines[0], lines[1:]) if headed else ("", lines))
    kind = f"the document of {row['set']}"
    return ReadableText(
        title, paper, kind, abstract.split("\n") if abstract else [], parsed, len(text) > MOST_CHARACTERS
    )


def _read_parse(title: str, paper: Row, row: Row) -> ReadableText:
    parse = orjson.loads(row["parse"])
    blocks: list[tuple[str, list[str]]] = []
    length = 0
    for paragraph in parse.get("body_text", ()):
        section = str(paragraph.get("section_path") or paragraph.get("section") or "").replace("::", " › ")
        if not blocks or blocks[-1][0] != section:
            blocks.append((section, []))
        blocks[-1][1].append(paragraph["text"])
        length += len(paragraph["text"])
        if length > MOST_CHARACTERS:
            break
    abstract = [paragraph["text"] for paragraph in parse.get("abstract", ())]
    kind = f"the {row['parse_kind']} parse, before cleaning"
    return ReadableText(title, paper, kind, abstract, blocks, length > MOST_CHARACTERS)


def _heads(row: Row) -> list[str]:
    return [str(paragraph.get("section") or "") for paragraph in orjson.loads(row["parse"]).get("body_text", ())]


def _one_line(text: str) -> str:
    return " ".join(text.split())
