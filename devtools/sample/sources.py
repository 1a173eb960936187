"""Write the records of a paper in each metadata source, with the source's habits and mistakes.

`formats` writes them in the source's format.
"""

from __future__ import annotations

import random
from typing import Any

from devtools.sample.formats import Row, subjects
from devtools.sample.model import Paper


def crossref(paper: Paper, *, abstract: bool = True, **changes: Any) -> Row:
    """Return the publisher's record: full names, full date, DOI.

    The caller adds `file_sha1` if the source names the file.
    """
    fields = ["date", "journal", "venue", "volume", "pages", "doi", *(["abstract"] if abstract else [])]
    return _describe(paper, "crossref", paper.doi, fields, kind="publisher") | changes


def dblp(rng: random.Random, paper: Paper, **changes: Any) -> Row:
    """Return a bibliography's record: no abstract, only a year (sometimes wrong), title case with a period."""
    title = " ".join(w if len(w) < 4 else w[0].upper() + w[1:] for w in paper.title.split())
    year = paper.year
    if year is not None and rng.random() < 0.2:
        year -= 1
    native = f"journals/smp/{paper.authors[0].last.replace(' ', '').replace(chr(39), '')}{paper.key}"
    own = {"kind": "archive", "title": f"{title}.", "year": year, "venue": paper.venue or paper.journal}
    return _describe(paper, "dblp", native, ["volume", "pages", "doi"], **own) | changes


def pubmed(rng: random.Random, paper: Paper, **changes: Any) -> Row:
    """Return a library's record: abstract, initials only, a date by month, and in some titles a typing error."""
    title = paper.title
    if rng.random() < 0.25:
        at = rng.randrange(4, len(title) - 4)
        title = title[:at] + title[at + 1] + title[at] + title[at + 2 :]
    initials = [
        a.as_dict() | {"first": a.first[:1] + ".", "middle": [m[:1] + "." for m in a.middle]} for a in paper.authors
    ]
    own = {"kind": "archive", "title": title, "authors": initials, "date": paper.date[:7] if paper.date else None}
    fields = ["journal", "abstract", "volume", "pages", "doi", "pubmed_id"]
    return _describe(paper, "pubmed", paper.pubmed_id, fields, **own) | changes


def arxiv(paper: Paper, **changes: Any) -> Row:
    """Return a preprint server's record: its own id, abstract, license.

    The DOI of the published version is included only if the author added it.
    """
    return _describe(paper, "arxiv", paper.arxiv_id, ["date", "abstract", "arxiv_id"], kind="archive") | changes


def acl(paper: Paper, acl_id: str, **changes: Any) -> Row:
    """Return an anthology's record: a publisher's record with the anthology's own id."""
    fields = ["date", "venue", "abstract", "doi"]
    return _describe(paper, "acl", acl_id, fields, kind="publisher", acl_id=acl_id) | changes


def jats(paper: Paper, **changes: Any) -> Row:
    """Return PubMed Central's record of the publisher's article, under a license that makes it open."""
    fields = ["date", "journal", "doi", "pubmed_id"]
    return _describe(paper, "jats", paper.doi, fields, subjects=[paper.field]) | changes


def unpaywall(paper: Paper) -> Row:
    """Return Unpaywall's record for a DOI: an open copy exists."""
    own = {"source": "unpaywall", "kind": "archive", "open_access": True, "license": "CC-BY-4.0"}
    return {"record_id": f"unpaywall:{paper.doi}", "doi": paper.doi, **own}


def tombstone(record_id: str) -> Row:
    """Return a record with which the source withdraws its record."""
    return {"record_id": record_id, "source": record_id.split(":")[0], "deleted": True}


def _describe(paper: Paper, source: str, native: object, fields: list[str], **own: Any) -> Row:
    """Return a record with the source's own values, the paper's title, authors and subjects, and some of its fields."""
    row: Row = {name: getattr(paper, name) for name in fields}
    row |= {"record_id": f"{source}:{native}", "source": source, "title": paper.title}
    row |= {"authors": [a.as_dict() for a in paper.authors], "subjects": subjects(source, paper.field)}
    if "volume" in row:
        row["volume"] = str(paper.volume) if paper.journal else None
    return {name: value for name, value in (row | own).items() if value not in (None, "", [])}
