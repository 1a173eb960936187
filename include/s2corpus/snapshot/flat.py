"""Build flat, typed Parquet tables of the corpus: papers, paragraphs, bibliography entries, reference entries and rights.

A file contains the papers of one file number. Rows are in the order of papers, and of the parts of a parse. A closed full text has
only bibliography entries, as in the JSONL of `corpus/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from s2corpus.rules import CleanRules
from s2corpus.snapshot import removed, rights
from s2corpus.snapshot.documents import year
from s2corpus.tables.published import OF_PAPERS, published_schema

Row = dict[str, Any]
GROUP_BYTES = {"papers": 2 << 20}
"""Size at which a row group of papers ends: about 2,000 papers. A look-up reads one row group and the footer. With 100 row groups, both
have the same size. Other tables use the size of documents."""

_IDS = {"DOI": "doi", "arXiv": "arxiv_id", "PMID": "pubmed_id", "PMCID": "pmc_id"}

SCHEMAS = {
    name: published_schema(name) for name in ("papers", "paragraphs", "bib_entries", "ref_entries", "rights", "removed")
}
"""Schemas of `tables/<name>/<nn>.parquet`. Paragraphs are numbered from 0 over abstract, body and back matter, as in `graph/contexts`."""


def rows(paper: Mapping[str, Any], rules: CleanRules) -> Iterator[tuple[str, Row, int]]:
    """Yield (table, row, approximate bytes) for all rows of a released paper. Its `parses` are released parses."""
    own = {name: paper[name] for name in OF_PAPERS}
    own |= {"paper_id": paper["paper_id"], "year": year(paper["date"]), "parses": sorted(paper["parses"])}
    yield "papers", own | {"outbound_citations": paper["outbound"]}, 1000 + len(paper["abstract"] or "")
    yield from (("rights", row, 100) for row in rights.rows(paper))
    yield from (("removed", row, 200 + len(row["text"] or "")) for row in removed.rows(paper, rules))
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
