"""Write the records of a paper in each metadata source, with the source's habits and mistakes.

`formats` writes them in the source's format.
"""

from __future__ import annotations

import random
from typing import Any

from devtools.sample.formats import PARTS, Row, subjects
from devtools.sample.model import Paper


def crossref(paper: Paper, *, abstract: bool = True, **changes: Any) -> Row:
    """Return the publisher's record: full names, full date, DOI.

    The caller adds `file_sha1` if the source names the file.
    """
    return (
        _row(
            record_id=f"crossref:{paper.doi}",
            source="crossref",
            kind="publisher",
            title=paper.title,
            authors=[a.as_dict() for a in paper.authors],
            date=paper.date,
            journal=paper.journal,
            venue=paper.venue,
            abstract=paper.abstract if abstract else None,
            volume=str(paper.volume) if paper.journal else None,
            pages=paper.pages,
            doi=paper.doi,
            subjects=subjects("crossref", paper.field),
        )
        | changes
    )


def dblp(rng: random.Random, paper: Paper, **changes: Any) -> Row:
    """Return a bibliography's record: no abstract, only a year (sometimes wrong), title case with a period."""
    title = " ".join(w if len(w) < 4 else w[0].upper() + w[1:] for w in paper.title.split())
    year = paper.year
    if year is not None and rng.random() < 0.2:
        year -= 1
    native = f"journals/smp/{paper.authors[0].last.replace(' ', '').replace(chr(39), '')}{paper.key}"
    return (
        _row(
            record_id=f"dblp:{native}",
            source="dblp",
            kind="archive",
            title=f"{title}.",
            authors=[a.as_dict() for a in paper.authors],
            year=year,
            venue=paper.venue or paper.journal,
            volume=str(paper.volume) if paper.journal else None,
            pages=paper.pages,
            doi=paper.doi,
        )
        | changes
    )


def pubmed(rng: random.Random, paper: Paper, **changes: Any) -> Row:
    """Return a library's record: abstract, initials only, a date by month, and in some titles a typing error."""
    title = paper.title
    if rng.random() < 0.25:
        at = rng.randrange(4, len(title) - 4)
        title = title[:at] + title[at + 1] + title[at] + title[at + 2 :]
    return (
        _row(
            record_id=f"pubmed:{paper.pubmed_id}",
            source="pubmed",
            kind="archive",
            title=title,
            authors=[
                a.as_dict() | {"first": a.first[:1] + ".", "middle": [m[:1] + "." for m in a.middle]}
                for a in paper.authors
            ],
            date=paper.date[:7] if paper.date else None,
            journal=paper.journal,
            abstract=paper.abstract,
            volume=str(paper.volume) if paper.journal else None,
            pages=paper.pages,
            doi=paper.doi,
            pubmed_id=paper.pubmed_id,
            subjects=subjects("pubmed", paper.field),
        )
        | changes
    )


def arxiv(paper: Paper, **changes: Any) -> Row:
    """Return a preprint server's record: its own id, abstract, license.

    The DOI of the published version is included only if the author added it.
    """
    return (
        _row(
            record_id=f"arxiv:{paper.arxiv_id}",
            source="arxiv",
            kind="archive",
            title=paper.title,
            authors=[a.as_dict() for a in paper.authors],
            date=paper.date,
            abstract=paper.abstract,
            arxiv_id=paper.arxiv_id,
            subjects=subjects("arxiv", paper.field),
        )
        | changes
    )


def acl(paper: Paper, acl_id: str, **changes: Any) -> Row:
    """Return an anthology's record: a publisher's record with the anthology's own id."""
    return (
        _row(
            record_id=f"acl:{acl_id}",
            source="acl",
            kind="publisher",
            title=paper.title,
            authors=[a.as_dict() for a in paper.authors],
            date=paper.date,
            venue=paper.venue,
            abstract=paper.abstract,
            doi=paper.doi,
            acl_id=acl_id,
        )
        | changes
    )


def jats(paper: Paper, **changes: Any) -> Row:
    """Return PubMed Central's record of the publisher's article, under a license that makes it open."""
    return (
        _row(
            record_id=f"jats:{paper.doi}",
            source="jats",
            title=paper.title,
            authors=[a.as_dict() for a in paper.authors],
            date=paper.date,
            journal=paper.journal,
            doi=paper.doi,
            pubmed_id=paper.pubmed_id,
            subjects=[paper.field],
        )
        | changes
    )


def s2orc(paper: Paper, corpus_id: int, **changes: Any) -> Row:
    """Return a record of release 20200705: `:::` separates and precedes the parts of its abstract. It names the PDF."""
    return (
        _row(
            record_id=f"s2:{corpus_id}",
            source="s2orc",
            title=paper.title,
            authors=[a.as_dict() for a in paper.authors],
            date=paper.date,
            journal=paper.journal,
            venue=paper.venue,
            abstract=f"{PARTS}{paper.abstract}".strip(),
            doi=paper.doi,
            subjects=subjects("s2orc", paper.field),
        )
        | changes
    )


def scienceparse(paper: Paper, **changes: Any) -> Row:
    """Return the record of another PDF parser, of kind pdf."""
    return (
        _row(
            record_id=f"scienceparse:{paper.key}",
            source="scienceparse",
            kind="pdf",
            title=paper.title,
            authors=[a.full for a in paper.authors],
            abstract=paper.abstract,
        )
        | changes
    )


def unpaywall(paper: Paper) -> Row:
    """Return Unpaywall's record for a DOI: an open copy exists."""
    return _row(
        record_id=f"unpaywall:{paper.doi}",
        source="unpaywall",
        kind="archive",
        doi=paper.doi,
        open_access=True,
        licence="CC-BY-4.0",
    )


def tombstone(record_id: str) -> Row:
    """Return a record with which the source withdraws its record."""
    return {"record_id": record_id, "source": record_id.split(":")[0], "deleted": True}


def _row(**values: Any) -> Row:
    return {k: v for k, v in values.items() if v not in (None, "", [])}
