"""Build flat, typed Parquet tables of the corpus: papers, paragraphs, bibliography entries, reference entries, rights and scores.

A file contains the papers of one file number. Rows are in the order of papers, and of the parts of a parse. A closed full text has
only bibliography entries, as in the JSONL of `corpus/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Annotated, Any, TypedDict

from s2corpus.rules import CleanRules
from s2corpus.snapshot import removed, rights, scores
from s2corpus.snapshot.documents import year
from s2corpus.tables.columns import CitedPaperId, ParagraphNumber, ParseKind, Year
from s2corpus.tables.papers import PaperRow
from s2corpus.tables.published import PublishedId
from s2corpus.tables.schema import INT32, Column, columns_of, schema_of
from s2corpus.tables.texts import EntryRow

Row = dict[str, Any]
GROUP_BYTES = {"papers": 2 << 20}
"""Size at which a row group of papers ends: about 2,000 papers. A look-up reads one row group and the footer. With 100 row groups, both
have the same size. Other tables use the size of documents."""

_IDS = {"DOI": "doi", "arXiv": "arxiv_id", "PMID": "pubmed_id", "PMCID": "pmc_id"}

OF_PAPERS = (
    "title", "authors", "abstract", "date", "doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id", "preprints", "mag_ids",
    "venue", "journal", "volume", "issue", "pages", "issns", "fields_of_study", "subjects", "open_access", "oa_evidence", "license",
    "editorial", "editorial_by",
)  # fmt: skip
"""columns of `tables/papers` copied from the internal table papers"""


class SpanValue(TypedDict):
    """A citation or mention in a text, with offsets in code points."""

    start: Annotated[int, INT32]
    end: Annotated[int, INT32]
    text: str
    ref_id: str | None


class CellSpan(TypedDict):
    """An inline citation in a cell of a table."""

    row: Annotated[int, INT32]
    column: Annotated[int, INT32]
    start: Annotated[int, INT32]
    end: Annotated[int, INT32]
    text: str
    ref_id: str | None


class FormulaSpan(SpanValue):
    """A formula in a text."""

    latex: str | None
    mathml: str | None


CiteSpans = Annotated[list[SpanValue], "inline citations with offsets in code points"]


class PublishedPaperRow(TypedDict):
    """Columns that `tables/papers` has in addition to those of the internal table papers."""

    year: Year
    outbound_citations: Annotated[list[str], "ids of the cited papers of the corpus"]
    parses: Annotated[list[str], "kinds of full text with a parse"]


class ParagraphRow(TypedDict):
    """Paragraphs of the parses, numbered as in `graph/contexts`."""

    paper_id: PublishedId
    parse_kind: ParseKind
    paragraph: ParagraphNumber
    part: Annotated[str, "part of the parse: abstract, body or back"]
    back_part: Annotated[str | None, "type of back matter, or null"]
    section: Annotated[str, "innermost section header; empty without one"]
    section_path: Annotated[str, "all section headers, joined by `::`"]
    sec_num: Annotated[str | None, "number of the section"]
    text: Annotated[str, "text of the paragraph"]
    cite_spans: CiteSpans
    ref_spans: Annotated[list[SpanValue], "mentions of figures, tables and sections, with offsets in code points"]
    eq_spans: Annotated[list[FormulaSpan], "formulas with offsets in code points"]


class LinkedEntryRow(TypedDict):
    """The column that `tables/bib_entries` has in addition to those of the internal table entries."""

    cited_paper_id: CitedPaperId


class RefEntryRow(TypedDict):
    """Figures, tables, formulas, sections, theorems and notes of the parses."""

    paper_id: PublishedId
    parse_kind: ParseKind
    ref_id: Annotated[str, "id of the entry within its parse, such as BIBREF0 or FIGREF0"]
    type: Annotated[str, "type of the entry: figure, table, formula, section …"]
    num: Annotated[str | None, "printed number of the entry"]
    text: Annotated[str | None, "caption or text of the entry"]
    latex: Annotated[str | None, "LaTeX source of the entry"]
    html: Annotated[str | None, "table as HTML"]
    cells: Annotated[list[list[str]] | None, "table as rows of cells"]
    cite_spans: CiteSpans
    cell_cite_spans: Annotated[list[CellSpan], "inline citations in the cells of a table"]


COLUMNS: dict[str, tuple[Column, ...]] = {
    "papers": (*columns_of(PaperRow, "paper_id", *OF_PAPERS), *columns_of(PublishedPaperRow)),
    "paragraphs": columns_of(ParagraphRow),
    "bib_entries": (
        *(
            replace(c, nullable=c.nullable and c.name != "authors")
            for c in columns_of(EntryRow)
            if c.name != "parse_id"
        ),
        *columns_of(LinkedEntryRow),
    ),
    "ref_entries": columns_of(RefEntryRow),
    "rights": columns_of(rights.RightsRow),
    "removed": columns_of(removed.RemovedRow),
    "scores": scores.COLUMNS,
}
SCHEMAS = {name: schema_of(columns) for name, columns in COLUMNS.items()}
"""Schemas of `tables/<name>/<nn>.parquet`. Paragraphs are numbered from 0 over abstract, body and back matter, as in `graph/contexts`."""


def rows(paper: Mapping[str, Any], rules: CleanRules) -> Iterator[tuple[str, Row, int]]:
    """Yield (table, row, approximate bytes) for all rows of a released paper.

    Its `parses` are released parses. Its `signals` are the quality signals of its published documents by set.
    """
    own = {name: paper[name] for name in OF_PAPERS}
    own |= {"paper_id": paper["paper_id"], "year": year(paper["date"]), "parses": sorted(paper["parses"])}
    yield "papers", own | {"outbound_citations": paper["outbound"]}, 1000 + len(paper["abstract"] or "")
    yield from (("rights", row, 100) for row in rights.rows(paper))
    parts = list(removed.rows(paper, rules))
    yield from (("removed", row, 200 + len(row["text"] or "")) for row in parts)
    yield from (("scores", row, 400) for row in scores.rows(paper, parts))
    for kind in sorted(paper["parses"]):
        key = {"paper_id": paper["paper_id"], "parse_kind": kind}
        parse = paper["parses"][kind]
        yield from (("paragraphs", key | row, 400 + len(row["text"])) for row in _paragraphs(parse))
        yield from (("bib_entries", key | row, 400) for row in _bib_entries(parse["bib_entries"]))
        yield from (("ref_entries", key | row, size) for row, size in _ref_entries(parse["ref_entries"]))


def _paragraphs(parse: Mapping[str, Any]) -> Iterator[Row]:
    parts = chain.from_iterable(
        ((part, p) for p in parse.get(name, ()))
        for part, name in (("abstract", "abstract"), ("body", "body_text"), ("back", "back_matter"))
    )
    for number, (part, paragraph) in enumerate(parts):
        section = paragraph["section"] or ""
        yield {
            "paragraph": number,
            "part": part,
            "back_part": paragraph.get("back_part"),
            "section": section,
            "section_path": paragraph.get("section_path", section),
            "sec_num": paragraph.get("sec_num"),
            "text": paragraph["text"],
            "cite_spans": [_span(span) for span in (*paragraph["cite_spans"], *paragraph.get("unlinked_spans", ()))],
            "ref_spans": [_span(span) for span in paragraph.get("ref_spans", ())],
            "eq_spans": [
                _span(span) | {"latex": span.get("latex"), "mathml": span.get("mathml")}
                for span in paragraph.get("eq_spans", ())
            ],
        }


def _span(span: Mapping[str, Any]) -> Row:
    return {"start": span["start"], "end": span["end"], "text": span["text"], "ref_id": span.get("ref_id")}


def _bib_entries(entries: Mapping[str, Mapping[str, Any]]) -> Iterable[Row]:
    for ref_id, entry in entries.items():
        ids = entry.get("other_ids", {})
        yield {
            "ref_id": ref_id,
            **{
                name: entry.get(name) or None
                for name in ("title", "year", "venue", "volume", "issue", "pages", "raw_text")
            },
            "authors": entry["authors"],
            **{column: next(iter(ids.get(kind, ())), None) for kind, column in _IDS.items()},
            "cited_paper_id": entry["link"],
        }


def _ref_entries(entries: Mapping[str, Mapping[str, Any]]) -> Iterable[tuple[Row, int]]:
    for ref_id, entry in entries.items():
        row = {"ref_id": ref_id, "type": entry["type"], "text": entry["text"]}
        row |= {name: entry.get(name) for name in ("num", "latex", "html", "cells")}
        row["cite_spans"] = [_span(span) for span in (*entry.get("cite_spans", ()), *entry.get("unlinked_spans", ()))]
        row["cell_cite_spans"] = [
            {"row": span["row"], "column": span["column"], **_span(span)} for span in entry.get("cell_cite_spans", ())
        ]
        yield row, 200 + sum(len(row[name] or "") for name in ("text", "html", "latex"))
