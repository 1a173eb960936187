"""Build metadata rows and parses in the format of S2ORC 20200705."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from s2corpus.snapshot.documents import year
from s2corpus_reader.schemas import METADATA

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
    """Return the authors of a paper with the keys of the release."""
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
        released |= {"title": None, "abstract": [], "body_text": [], "back_matter": [], "ref_entries": {}}
        for name in ("keywords", "issn", "emails", "article"):
            released.pop(name, None)
    return released
