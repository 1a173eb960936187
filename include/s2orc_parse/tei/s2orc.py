"""Write a parse in the published schemas: S2ORC 20200705 (a superset) and the object `grobid_parse` of GORC 20190928."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import orjson

from s2orc_parse.bibliography.author import Author
from s2orc_parse.parse_model import BibEntry, CiteSpan, EqSpan, Paragraph, Parse, RefEntry, RefSpan, RefType

Json = dict[str, Any]


def to_json_bytes(value: Json) -> bytes:
    """Return canonical JSON: UTF-8, no spaces, keys in the schema's order, no newline."""
    return orjson.dumps(value)


def to_s2orc(parse: Parse, paper_id: str | None = None) -> Json:
    """Return the parse in schema 20200705: all its keys with their types, and the extra keys of TABLES.md, in fixed
    order.

    An unknown year is null (the published files have ""). `paper_id` is available once the parse belongs to a paper.
    """
    return {
        "paper_id": paper_id,
        "_pdf_hash": parse.file_sha1,
        "abstract": [_paragraph_to_json(p) for p in parse.abstract],
        "body_text": [_paragraph_to_json(p) for p in parse.body_text],
        "bib_entries": {e.key: _bib_entry_to_json(e) for e in parse.bib_entries},
        "ref_entries": {e.key: _ref_entry_to_json(e) for e in parse.ref_entries},
        "back_matter": [{**_paragraph_to_json(p), "back_part": p.back_part} for p in parse.back_matter],
        "citation_style": parse.citation_style.value,
        "title": parse.header.title,
        "authors": [a.as_dict() for a in parse.header.authors],
        "provenance": asdict(parse.provenance),
        **({"keywords": list(parse.header.keywords)} if parse.header.keywords else {}),
        **({"issn": parse.header.issn} if parse.header.issn else {}),
        **({"emails": list(parse.header.emails)} if parse.header.emails else {}),
        **({"article": parse.article} if parse.article is not None else {}),
    }


def to_gorc(parse: Parse) -> Json:
    """Return the object `grobid_parse` of GORC with exactly the keys of its Appendix E.

    The files of release 20190928 lack `title` and `authors`. Entries of other types are omitted, and spans that reference them have a
    null `ref_id`.
    """
    known = {e.key for e in parse.ref_entries if e.type in (RefType.FIGURE, RefType.TABLE, RefType.FORMULA)}
    return {
        "title": parse.header.title,
        "authors": _authors(parse.header.authors),
        "abstract": [_gorc_paragraph(p, known) for p in parse.abstract],
        "body_text": [_gorc_paragraph(p, known) for p in parse.body_text],
        "ref_entries": {
            e.key: {"text": e.text, "latex": e.latex, "type": e.type.value} for e in parse.ref_entries if e.key in known
        },
        "bib_entries": {e.key: _gorc_bib_entry(e) for e in parse.bib_entries},
    }


def to_gorc_line(parse: Parse, paper_id: str | None = None) -> Json:
    """Return a line of GORC: `grobid_parse` and its surrounding keys. The metadata comes from the PDF's header."""
    found = build_header(parse)
    date = found["date"]
    metadata = {"title": found["title"], "authors": _authors(parse.header.authors), "abstract": found["abstract"]}
    metadata["year"] = date and date[:4]
    metadata |= {
        key: found.get(key) for key in ("arxiv_id", "acl_id", "pmc_id", "pubmed_id", "doi", "venue", "journal")
    }
    return {
        "paper_id": paper_id, "metadata": metadata, "s2_pdf_hash": parse.file_sha1, "grobid_parse": to_gorc(parse), "latex_parse": None,
    }  # fmt: skip


def _span_to_json(span: CiteSpan | RefSpan | EqSpan) -> Json:
    """Return the fields of a span. They are flat, so no copy is needed, which takes most of the time of `asdict`."""
    return {name: getattr(span, name) for name in span.__match_args__}


def _split_cites(spans: Iterable[CiteSpan]) -> tuple[list[Json], list[Json]]:
    """Split citations into those with an entry (`cite_spans`) and those without (`unlinked_spans`)."""
    found = [_span_to_json(span) for span in spans]
    unlinked = [{name: span[name] for name in ("start", "end", "text")} for span in found if span["ref_id"] is None]
    return [span for span in found if span["ref_id"] is not None], unlinked


def _paragraph_to_json(paragraph: Paragraph) -> Json:
    linked, unlinked = _split_cites(paragraph.cite_spans)
    return {
        "section": paragraph.section.rpartition("::")[2],
        "text": paragraph.text,
        "cite_spans": linked,
        "ref_spans": [_span_to_json(span) for span in paragraph.ref_spans],
        "eq_spans": [_span_to_json(span) for span in paragraph.eq_spans],
        "unlinked_spans": unlinked,
        "section_path": paragraph.section,
        "sec_num": paragraph.sec_num,
    }


def _bib_entry_to_json(entry: BibEntry) -> Json:
    return {
        "title": entry.title,
        "authors": _authors(entry.authors),
        "year": entry.year,
        "venue": entry.venue,
        "link": None,
        **{name: getattr(entry, name) for name in ("ref_id", "label", "volume", "issue", "pages", "publisher")},
        "other_ids": _other_ids(entry),
        "raw_text": entry.raw_text,
        "urls": list(entry.urls),
    }


def _authors(authors: Iterable[Author]) -> list[Json]:
    return [author.name() for author in authors]


def _other_ids(entry: BibEntry) -> Json:
    found = {"DOI": entry.doi, "arXiv": entry.arxiv_id, "PMID": entry.pubmed_id, "PMCID": entry.pmc_id}
    return {kind: [identifier] for kind, identifier in found.items() if identifier}


def _ref_entry_to_json(entry: RefEntry) -> Json:
    linked, unlinked = _split_cites(entry.cite_spans)
    in_cells = [
        {"row": found.row, "column": found.column, **_span_to_json(found.span)}
        for found in entry.cell_cites
        if found.span.ref_id is not None
    ]
    return {
        "text": entry.text,
        "type": entry.type.value,
        "num": entry.num,
        "latex": entry.latex,
        "cells": None if entry.cells is None else [list(row) for row in entry.cells],
        "html": entry.html,
        "cite_spans": linked,
        **({"unlinked_spans": unlinked} if unlinked else {}),
        **({"cell_cite_spans": in_cells} if in_cells else {}),
    }


def _gorc_paragraph(paragraph: Paragraph, known: set[str]) -> Json:
    def span(found: CiteSpan | RefSpan | EqSpan, ref_id: str | None) -> Json:
        return {"start": found.start, "end": found.end, "text": found.text, "latex": None, "ref_id": ref_id}

    return {
        "text": paragraph.text,
        "cite_spans": [span(s, s.ref_id) for s in paragraph.cite_spans],
        "ref_spans": [span(s, s.ref_id if s.ref_id in known else None) for s in paragraph.ref_spans],
        "eq_spans": [{**span(s, s.ref_id), "latex": s.latex} for s in paragraph.eq_spans],
        "section": paragraph.section.rpartition("::")[2] or None,
    }


def _gorc_bib_entry(entry: BibEntry) -> Json:
    return {
        **{name: getattr(entry, name) for name in ("ref_id", "title")},
        "authors": _authors(entry.authors),
        **{name: getattr(entry, name) for name in ("year", "venue", "volume", "issn", "pages")},
        "other_ids": {kind.lower(): found for kind, found in _other_ids(entry).items()},
        "links": None,
    }


def build_header(parse: Parse) -> Json:
    """Return the paper's header with the columns of the table `records` that a PDF can fill; missing values are null."""
    found = parse.header
    abstract = "\n\n".join(paragraph.text for paragraph in parse.abstract)
    return {
        "title": found.title or None,
        "authors": [author.as_dict() for author in found.authors],
        **{name: getattr(found, name) for name in ("date", "date_precision", "venue", "journal")},
        "abstract": abstract or None,
        **{name: getattr(found, name) for name in ("doi", "arxiv_id", "pubmed_id", "pmc_id")},
    }
