"""Write papers in the format of release 20190928 (GORC, Appendix E): one object per line with metadata and both parses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from s2corpus.snapshot.metadata import author_names

Json = dict[str, Any]
_TYPES = {"figure", "table", "formula"}
"""kinds of reference entries in this format; the ref_id of a span with another kind is null"""


def gorc_line(paper: Mapping[str, Any]) -> Json | None:
    """Return a released paper (`rows.read_released_papers`) as `{paper_id, metadata, s2_pdf_hash, grobid_parse, latex_parse}`.

    `grobid_parse` is the parse of the PDF by any extractor. Return None if the paper has neither a PDF nor a LaTeX parse.
    """
    pdf, latex = (paper["parses"].get(kind) for kind in ("pdf", "latex"))
    if pdf is None and latex is None:
        return None
    names = ("arxiv_id", "acl_id", "pmc_id", "pubmed_id", "doi", "venue", "journal")
    metadata = {
        "title": paper["title"],
        "authors": author_names(paper),
        "abstract": paper["abstract"],
        "year": paper["date"] and paper["date"][:4],
        **{name: paper[name] for name in names},
    }
    return {
        "paper_id": paper["paper_id"],
        "metadata": metadata,
        "s2_pdf_hash": pdf and pdf["_pdf_hash"],
        "grobid_parse": pdf and _parse(pdf),
        "latex_parse": latex and _parse(latex),
    }


def _parse(parse: Mapping[str, Any]) -> Json:
    supported = {key: entry for key, entry in parse["ref_entries"].items() if entry["type"] in _TYPES}
    return {
        "abstract": [_paragraph(paragraph, supported) for paragraph in parse["abstract"]],
        "body_text": [_paragraph(paragraph, supported) for paragraph in parse["body_text"]],
        "ref_entries": {
            key: {"text": entry["text"], "latex": entry.get("latex"), "type": entry["type"]}
            for key, entry in supported.items()
        },
        "bib_entries": {key: _bib_entry(key, entry) for key, entry in parse["bib_entries"].items()},
    }


def _paragraph(paragraph: Mapping[str, Any], supported: Mapping[str, Any]) -> Json:
    cites = [*paragraph["cite_spans"], *paragraph.get("unlinked_spans", ())]
    cites.sort(key=lambda span: (span["start"], span["end"]))
    refs = [
        {**span, "ref_id": span["ref_id"] if span["ref_id"] in supported else None} for span in paragraph["ref_spans"]
    ]
    return {
        "text": paragraph["text"],
        "cite_spans": [_span(span) for span in cites],
        "ref_spans": [_span(span) for span in refs],
        "eq_spans": [{**_span(span), "latex": span.get("latex")} for span in paragraph.get("eq_spans", ())],
        "section": paragraph["section"] or None,
    }


def _span(span: Mapping[str, Any]) -> Json:
    return {
        "start": span["start"], "end": span["end"], "text": span["text"], "latex": None, "ref_id": span.get("ref_id"),
    }  # fmt: skip


def _bib_entry(key: str, entry: Mapping[str, Any]) -> Json:
    return {
        "ref_id": entry.get("ref_id", key),
        **{name: entry[name] for name in ("title", "authors", "year", "venue")},
        "volume": entry.get("volume") or "",
        "issn": "",
        "pages": entry.get("pages") or "",
        "other_ids": {kind.lower(): found for kind, found in entry.get("other_ids", {}).items()},
        "links": entry["link"],
    }
