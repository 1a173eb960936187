"""Convert `teiHeader` to the paper's own metadata."""

from __future__ import annotations

from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.dates import parse_date
from s2orc_parse.bibliography.links import collect_identifiers
from s2orc_parse.parse_model import Header
from s2orc_parse.tei.bibliography import read_identifier
from s2orc_parse.tei.drafts import Element
from s2orc_parse.tei.people import read_author
from s2orc_parse.tei.read import local_name
from s2orc_parse.xml import extract_text

_DATE_TYPES = ("published", "e-published", "collection-published", "")


def read_header(header: Element | None) -> Header:
    """Return title, authors, date, venue and identifiers; without a header, all are empty."""
    if header is None:
        return Header()
    title = ""
    titles: dict[str, str] = {}
    dates: list[tuple[int, str]] = []
    authors: tuple[Author, ...] = ()
    idnos: list[Element] = []
    for element in header.iter():
        tag = local_name(element)
        if tag == "title":
            parent = element.getparent()
            above = local_name(parent) if parent is not None else ""
            text = extract_text(element)
            if above in ("titleStmt", "analytic"):
                title = title or text
            elif text:
                titles.setdefault(element.get("level") or "m", text)
        elif tag == "analytic":
            authors = authors or tuple(filter(None, map(read_author, element.iter("{*}author"))))
        elif tag == "date" and (element.get("type") or "") in _DATE_TYPES:
            dates.append((_DATE_TYPES.index(element.get("type") or ""), element.get("when") or extract_text(element)))
        elif tag == "idno":
            parent = element.getparent()
            if parent is not None and local_name(parent) in ("biblStruct", "analytic", "monogr", "publicationStmt"):
                idnos.append(element)
    found = collect_identifiers(map(read_identifier, idnos), (), ())
    date, precision = next((parsed for _, text in sorted(dates) if (parsed := parse_date(text))[0]), (None, None))
    return Header(
        title=title, authors=authors, date=date, date_precision=precision,
        venue=titles.get("m") or titles.get("s") or None, journal=titles.get("j"),
        doi=found.get("doi"), arxiv_id=found.get("arxiv_id"), pubmed_id=found.get("pubmed_id"), pmc_id=found.get("pmc_id"),
    )  # fmt: skip


def read_extractor(header: Element | None) -> tuple[str, str, str]:
    """Return the extractor and its version as recorded in the TEI ("unknown" if missing).

    The TEI contains no options.
    """
    for element in header.iter() if header is not None else ():
        if local_name(element) == "application":
            return (element.get("ident") or "unknown").lower(), element.get("version") or "", ""
    return "unknown", "", ""
