"""ACL Anthology: XML with one file per collection, or a tar. Open: CC BY 4.0 from 2016, CC BY-NC-SA 3.0 before. Ids: `acl:<id>`."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import IO, Any

from s2corpus.sources.build import RawRecord
from s2corpus.sources.record import Dropped, Editorial, Entry, RecordKind, RejectReason
from s2corpus.sources.xml_elements import parse_documents
from s2orc_parse.bibliography.author_fields import add_affiliations
from s2orc_parse.bibliography.dates import extract_year, join_date
from s2orc_parse.bibliography.identifiers import normalize_acl
from s2orc_parse.bibliography.names import make_author
from s2orc_parse.bibliography.tex import decode_text
from s2orc_parse.xml import extract_text

NAME = "acl"
KIND = RecordKind.PUBLISHER
OPEN_FROM = 2016  # CC BY 4.0 from then on, CC BY-NC-SA 3.0 before: the Anthology's terms


_STATUS = {"retracted": Editorial.RETRACTED, "removed": Editorial.WITHDRAWN, "erratum": Editorial.CORRECTED}
"""Elements of the Anthology that give a paper's status, most serious first."""
_FORMULA_PLACEHOLDER = "\ue010"


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Return the records of the papers, without front matter. Venue and date are the volume's."""
    return parse_documents(stream, (".xml",), _parse_collection)


def _parse_collection(root: Any, _: str) -> Iterator[Entry]:
    for volume in root.iterfind("volume"):
        for paper in volume.iterfind("paper"):
            yield _parse(root.get("id") or "", volume, paper)


def _parse(collection: str, volume: Any, paper: Any) -> Entry:
    meta = volume.find("meta")
    meta = meta if meta is not None else volume
    acl_id = _acl_id(collection, volume.get("id") or "", paper)
    if acl_id is None:
        return Dropped(
            RejectReason.NO_ID, f"{collection}-{volume.get('id')}, paper {paper.get('id')}", "no Anthology id"
        )
    if paper.get("type") in ("frontmatter", "backmatter"):
        return Dropped(RejectReason.NOT_A_PAPER, acl_id, str(paper.get("type")))
    date = join_date(extract_text(meta.find("year")), extract_text(meta.find("month")))
    year = extract_year(date[0])
    authors = [
        add_affiliations(
            make_author(extract_text(author.find("first")), extract_text(author.find("last"))),
            ((extract_text(place), "") for place in author.iterfind("affiliation")),
            author.get("orcid") or "",
        )
        for author in paper.iterfind("author")
    ]
    return RawRecord(
        f"{NAME}:{acl_id}", NAME, KIND, acl_id,
        title=_plain(paper.find("title")), authors=authors,
        date=date,
        venue=_plain(meta.find("booktitle")), journal=_plain(meta.find("journal-title")), abstract=_plain(paper.find("abstract")),
        pages=extract_text(paper.find("pages")), volume=extract_text(meta.find("journal-volume")),
        issue=extract_text(meta.find("journal-issue")),
        doi=extract_text(paper.find("doi")), acl_id=acl_id, open_access=True,
        editorial=next((status for name, status in _STATUS.items() if paper.find(name) is not None), None),
        license="CC-BY-4.0" if year and year >= OPEN_FROM else "CC-BY-NC-SA-3.0",
    ).normalize()  # fmt: skip


def _plain(element: Any) -> str:
    """Return the text of a title or abstract; TeX commands are decoded, except in `tex-math`."""
    if element is None:
        return ""
    formulas = [extract_text(formula) for formula in element.iter("tex-math")]
    if not formulas or _FORMULA_PLACEHOLDER in extract_text(element):
        return decode_text(extract_text(element))
    element = deepcopy(element)
    for formula in element.iter("tex-math"):
        for child in list(formula):
            formula.remove(child)
        formula.text = _FORMULA_PLACEHOLDER
    parts = decode_text(extract_text(element)).split(_FORMULA_PLACEHOLDER)
    return "".join(part + formula for part, formula in zip(parts, [*formulas, ""], strict=True))


def _acl_id(collection: str, volume: str, paper: Any) -> str | None:
    """Return the id from the paper's `url`, or build it: 2020.acl-main.207; P19-1001; W19-4401 (two digits of the volume)."""
    url, number = extract_text(paper.find("url")), paper.get("id") or ""
    if (found := normalize_acl(url.rpartition("/")[2])) is not None:
        return found
    if not collection[:1].isalpha():
        return normalize_acl(f"{collection}-{volume}.{number}")
    if not (volume.isdecimal() and number.isdecimal()):
        return None
    has_two_digits = collection.startswith("W") or collection in ("C69", "D19")
    return normalize_acl(
        f"{collection}-{int(volume):02d}{int(number):02d}"
        if has_two_digits
        else f"{collection}-{int(volume)}{int(number):03d}"
    )
