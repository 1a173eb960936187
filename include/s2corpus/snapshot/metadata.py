"""Build the lines of `corpus/`: metadata and parses in the format of S2ORC 20200705, and papers in the format of release 20190928.

The latter (GORC, Appendix E) is an option: one object per line with metadata and both parses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from s2corpus.snapshot.documents import year
from s2corpus_reader.schemas import METADATA

Json = dict[str, Any]
_GORC_TYPES = {"figure", "table", "formula"}
"""kinds of reference entries in this format; the ref_id of a span with another kind is null"""
_AUTHOR = ("first", "middle", "last", "suffix")
"""keys of an author in the release; affiliations and ORCIDs are only in the parses and in Parquet"""


def metadata_row(
    paper: Mapping[str, Any], outbound: Sequence[str], inbound: Sequence[str], parse: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the metadata of a paper with exactly the keys of the release. Keys about parts of a parse exist only with a parse.

    `outbound` and `inbound` are sorted paper ids.
    """
    values = {
        **paper,
        "authors": author_names(paper),
        "year": year(paper["date"]),
        "mag_id": min(paper["mag_ids"] or [], default=None),
        "mag_field_of_study": paper["fields_of_study"] or None,
        "outbound_citations": list(outbound),
        "inbound_citations": list(inbound),
        "has_outbound_citations": bool(outbound),
        "has_inbound_citations": bool(inbound),
        "has_pdf_parse": parse is not None,
        "s2_url": _s2_url(paper["record_ids"]),
    }
    if parse is not None:
        values["has_pdf_body_text"] = bool(parse["body_text"])
        for part in ("abstract", "body_text", "bib_entries", "ref_entries"):
            values[f"has_pdf_parsed_{part}"] = bool(parse[part])
    return {name: values[name] for name in METADATA.names if name in values}


def author_names(paper: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the authors of a paper, or of its parse, with the keys of the release."""
    return [{key: author[key] for key in _AUTHOR} for author in paper["authors"] or ()]


def _s2_url(record_ids: Sequence[str]) -> str | None:
    """Return the Semantic Scholar URL of a paper if one of its records is from Semantic Scholar."""
    for record_id in record_ids:
        source, _, native = record_id.partition(":")
        if source == "s2" and native.isdecimal():
            return f"https://api.semanticscholar.org/CorpusID:{native}"
    return None


def released_parse(parse: dict[str, Any], links: Mapping[str, str], *, open_access: bool) -> dict[str, Any]:
    """Return a parse with the cited paper as `link` of each bibliography entry. A closed parse has only its bibliography."""
    entries = {ref_id: {**entry, "link": links.get(ref_id)} for ref_id, entry in parse["bib_entries"].items()}
    released = {**parse, "bib_entries": entries}
    if not open_access:
        released |= {
            "title": None,
            "authors": [],
            "abstract": [],
            "body_text": [],
            "back_matter": [],
            "ref_entries": {},
        }
        for name in ("keywords", "issn", "emails", "article"):
            released.pop(name, None)
    return released


def gorc_line(paper: Mapping[str, Any]) -> Json | None:
    """Return a released paper (`rows.read_released_papers`) as `{paper_id, metadata, s2_pdf_hash, grobid_parse, latex_parse}`.

    `grobid_parse` is the parse of the PDF by any extractor. Return None if the paper has no PDF parse and no LaTeX parse.
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
        "grobid_parse": pdf and {"title": pdf["title"], "authors": author_names(pdf), **_parse(pdf)},
        "latex_parse": latex and _parse(latex),
    }


def _parse(parse: Mapping[str, Any]) -> Json:
    supported = {key: entry for key, entry in parse["ref_entries"].items() if entry["type"] in _GORC_TYPES}
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
