"""Read a document for display: its sections with the parts that rules removed, its figures, and its bibliography with links.

Only open texts are read. The body is the body of the document's parse, so that removed parts are in their places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

import orjson

from s2corpus.pipeline.run import ReleaseTables, Row, list_columns
from s2corpus.pipeline.trace import read_spec
from s2corpus.rules import CleanRules
from s2corpus.snapshot.removed import BODY_ONLY, SECTIONS, RemovedKind, list_parts
from s2corpus.storage.parts import NotCommitted, OtherColumns
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.texts import DOCUMENTS, FULLTEXTS, LINKS, SPLITS
from s2corpus.text.personal import mask_parse, mask_text
from s2corpus_reader.layout import Block, TextRules, format_abstract, list_sections, list_units, to_one_line
from s2orc_parse.parse_model import ParseKind

MOST_CHARACTERS = 400_000
"""maximum number of characters that the reader shows"""
MOST_ENTRIES = 2000
"""maximum number of figures, and of bibliography entries"""
_PAPER = ["paper_id", "title", "authors", "date", "venue", "journal", "abstract"]
_FLOATS = (RemovedKind.FIGURE, RemovedKind.TABLE, RemovedKind.FOOTNOTE)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a paragraph, with the id of the entry or figure that it mentions, and the rule that removed it."""

    text: str
    target: str = ""
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A section with the rule that removed it, and the value that the rule compared."""

    heading: str
    paragraphs: list[list[Piece]] = field(default_factory=list)
    rule: str = ""
    value: float | None = None


@dataclass(frozen=True, slots=True)
class ReadableText:
    """A text to read. The abstract comes before the sections."""

    title: str
    paper: Row
    kind: str
    abstract: list[str]
    outcomes: list[tuple[str, str]]
    """set and outcome of each document of the paper"""
    sections: list[Section] = field(default_factory=list)
    figures: list[tuple[str, str, list[list[str]]]] = field(default_factory=list)
    """id, text and cells of each figure, table and note"""
    entries: list[tuple[str, str, str | None]] = field(default_factory=list)
    """id, text and cited paper of each bibliography entry"""
    removed: list[tuple[str, int, int]] = field(default_factory=list)
    """rule, number of parts, and words"""
    threshold: float | None = None
    is_truncated: bool = False

    @property
    def contents(self) -> list[tuple[int, str]]:
        """Numbers and headings of the sections that have a heading."""
        return [(number, section.heading) for number, section in enumerate(self.sections) if section.heading]


def read_text(tables: ReleaseTables, paper_id: str) -> ReadableText | None:
    """Return the text of a paper: the open full text that cleaning decided about, another open one, or the abstract.

    Return None for an unknown paper."""
    try:
        paper = next(iter(tables.of_paper(PAPERS, paper_id, _PAPER)), None)
    except OtherColumns:
        raise
    except NotCommitted:
        return None
    if paper is None:
        return None
    spec = read_spec(tables)
    rules = spec.clean if spec else None
    is_masked = rules is not None and rules.pii == "mask"
    title, abstract = (
        mask_text(text) if text and is_masked else text or "" for text in (paper["title"], paper["abstract"])
    )
    splits = {row["set"]: row["split"] for row in tables.of_paper(SPLITS, paper_id, ["paper_id", "set", "split"])}
    columns = list_columns(DOCUMENTS, "text", "minhash")
    documents = {row["set"]: row for row in tables.of_paper(DOCUMENTS, paper_id, columns)}
    values: dict[str, Any] = {
        "title": to_one_line(title) or "(no title)",
        "paper": paper,
        "abstract": format_abstract(abstract).split("\n") if abstract else [],
        "outcomes": [
            (set_, splits.get(set_, "kept") if row["outcome"] == "kept" else f"clean.{row['outcome']}")
            for set_, row in sorted(documents.items(), reverse=True)
        ],
    }
    document = documents.get("s2orc")
    parses = [row for row in tables.of_paper(FULLTEXTS, paper_id) if row["open_access"]]
    if not parses:
        return ReadableText(kind="the abstract (no open full text)", **values)
    kinds = list(ParseKind)
    row = min(
        parses, key=lambda row: (not document or row["file_sha1"] != document["sha1"], kinds.index(row["parse_kind"]))
    )
    parse = orjson.loads(row["parse"])
    parse = mask_parse(parse) if is_masked else parse
    is_cleaned = document is not None and row["file_sha1"] == document["sha1"]
    log_probs = document["section_log_probs"] if document and is_cleaned else None
    links = tables.of_paper(LINKS, paper_id, ["paper_id", "parse_kind", "ref_id", "cited_paper_id"])
    cited = {link["ref_id"]: link["cited_paper_id"] for link in links if link["parse_kind"] == row["parse_kind"]}
    return ReadableText(
        kind=f"the {row['parse_kind']} full text" + ("" if is_cleaned else ", which cleaning did not choose"),
        **values, **_read_parse(parse, rules if is_cleaned else None, log_probs, cited),
    )  # fmt: skip


def _read_parse(
    parse: Row, rules: CleanRules | None, log_probs: list[float] | None, cited: Mapping[str, str | None]
) -> Row:
    """Return sections, figures, entries and removed parts of a full text; without rules, nothing is removed."""
    floats = dict(islice(((k, v) for k, v in parse["ref_entries"].items() if v["type"] in _FLOATS), MOST_ENTRIES))
    entries = dict(islice(parse["bib_entries"].items(), MOST_ENTRIES))
    targets = {*floats, *entries}
    units = list_units(parse, drop_citations=rules is not None and rules.citations == "drop")
    blocks = list_sections(units, rules.text_rules if rules else TextRules("card"))
    if log_probs is not None and len(log_probs) != len(blocks):
        log_probs = None  # another version cleaned this text
    parts = list(list_parts(parse, rules, log_probs)) if rules else []
    marks: dict[int, list[Row]] = {}
    for part in parts:
        if part["start"] is not None:
            marks.setdefault(part["paragraph"], []).append(part)
    first = len(parse.get("abstract", ()))
    body = parse.get("body_text", ())
    sections: list[Section] = []
    length = 0
    for block, numbers, value in _group(blocks, len(units), log_probs):
        is_removed = rules is not None and value is not None and value < rules.text_rules.threshold
        section = Section(_heading(block), rule=SECTIONS if is_removed else "", value=value)
        sections.append(section)
        for number in numbers:
            section.paragraphs.append(list(_split(body[number], targets, marks.get(first + number, ()))))
            length += len(body[number]["text"])
        if length > MOST_CHARACTERS:
            break
    heading = None
    for paragraph in parse.get("back_matter", ()) if length <= MOST_CHARACTERS else ():
        if paragraph["section"] != heading:
            heading = paragraph["section"]
            sections.append(Section(heading or "", rule=BODY_ONLY if rules else ""))
        sections[-1].paragraphs.append(list(_split(paragraph, targets, ())))
        length += len(paragraph["text"])
    count, words = Counter[str](), Counter[str]()
    for part in parts:
        count[part["rule"]] += 1
        words[part["rule"]] += part["words"] or 0
    return {
        "sections": sections,
        "figures": [(id_, entry["text"] or "", entry.get("cells") or []) for id_, entry in floats.items()],
        "entries": [(id_, _format_entry(entry), cited.get(id_)) for id_, entry in entries.items()],
        "removed": [(rule, n, words[rule]) for rule, n in sorted(count.items())],
        "threshold": rules.text_rules.threshold if rules and log_probs else None,
        "is_truncated": length > MOST_CHARACTERS,
    }


def _group(
    blocks: list[Block], count: int, log_probs: list[float] | None
) -> Iterator[tuple[Block, list[int], float | None]]:
    """Yield each section with the numbers of its paragraphs, including paragraphs with formulas only, and its score."""
    blocks = blocks or [Block(None)]
    owner = {number: place for place, block in enumerate(blocks) for number in block.units}
    numbers: list[list[int]] = [[] for _ in blocks]
    place = 0
    for number in range(count):
        place = owner.get(number, place)
        numbers[place].append(number)
    for place, block in enumerate(blocks):
        yield block, numbers[place], log_probs[place] if log_probs else None


def _heading(block: Block) -> str:
    """Return the heading of a section. In profile `recipe-2024`, the text of a paragraph begins with its heading."""
    if block.header is not None or not block.paragraphs or not block.paragraphs[0].startswith("\n"):
        return block.header or ""
    return block.paragraphs[0].split("\n")[1]


def _split(paragraph: Row, targets: set[str], removed: Iterable[Row]) -> Iterator[Piece]:
    """Yield the pieces of a paragraph at its mentions and removed parts."""
    text = paragraph["text"]
    spans = (*paragraph.get("cite_spans", ()), *paragraph.get("ref_spans", ()))
    links = _disjoint([(s["start"], s["end"], s["ref_id"]) for s in spans if s.get("ref_id") in targets], len(text))
    marks = _disjoint([(row["start"], row["end"], row) for row in removed], len(text))
    edges = sorted({0, len(text), *(at for span in (*links, *marks) for at in span[:2])})
    for start, end in pairwise(edges):
        while links and links[0][1] <= start:
            links.pop(0)
        while marks and marks[0][1] <= start:
            marks.pop(0)
        target = links[0][2] if links and links[0][0] <= start else ""
        words, rule = text[start:end], ""
        if marks and marks[0][0] <= start:
            mark = marks[0][2]
            rule = mark["rule"]
            words = (mark["text"] if mark["kind"] == RemovedKind.FORMULA else None) or words
        yield Piece(words, target, rule)


def _disjoint(spans: list[tuple[int, int, Any]], length: int) -> list[tuple[int, int, Any]]:
    """Return the spans in order, without spans that overlap an earlier one or are not in the text."""
    found: list[tuple[int, int, Any]] = []
    for start, end, value in sorted(spans, key=lambda span: span[:2]):
        if (found[-1][1] if found else 0) <= start < end <= length:
            found.append((start, end, value))
    return found


def _format_entry(entry: Row) -> str:
    names = "; ".join(author["last"] for author in entry.get("authors") or () if author.get("last"))
    parts = (names, str(entry.get("year") or ""), entry.get("title") or "", entry.get("venue") or "")
    return entry.get("raw_text") or ". ".join(filter(None, parts)) or "–"
