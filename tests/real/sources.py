"""Metadata of the real papers in the formats of their sources, generated on demand: the project stores no content of
the papers.

Titles, names, dates and subjects come from the truth file. Abstracts are read from the publisher's JATS, from the TEI
next to the PDF, or from the LaTeX source.
"""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lxml import etree

from tests.real.truth import RealPaper

JATS, TEI = "{*}", "{http://www.tei-c.org/ns/1.0}"
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_PARTICLES = re.compile(r"\s(?=(?:De|de|da|van|von|el|Al)\s\S+$)|\s(?=\S+$)")


def _text(element: Any) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def _jats(data: Path, paper: RealPaper) -> Any:
    path = (data / paper.file).with_suffix(".nxml")
    return etree.parse(path).getroot() if path.is_file() else None


def people(data: Path, paper: RealPaper) -> list[tuple[str, str]]:
    """Return (given names, surname) of the authors; the publisher's division of names is used if available."""
    root = _jats(data, paper)
    if root is None:
        return [tuple(_PARTICLES.split(name, maxsplit=1)) for name in paper.authors]  # type: ignore[misc]  # the pattern splits each name in two
    names = root.findall(".//article-meta/contrib-group/contrib[@contrib-type='author']/name")
    return [(_text(name.find("given-names")), _text(name.find("surname"))) for name in names]


def abstract(data: Path, paper: RealPaper) -> list[tuple[str, str]]:
    """Return (head, text) of the parts of the abstract; head is "" for a part without a head."""
    if paper.is_latex:
        with tarfile.open(data / paper.file) as archive:
            for member in sorted(archive.getnames()):
                if not member.endswith(".tex") or "/._" in f"/{member}":
                    continue
                file = archive.extractfile(member)
                tex = file.read().decode("utf-8", "replace") if file else ""
                if found := re.search(r"\\begin\{abstract\}(.*?)\\end\{abstract\}", tex, re.DOTALL):
                    plain = re.sub(r"(?m)(?<!\\)%.*$", "", found.group(1))
                    plain = re.sub(r"\\(?:footnote|url)\{(?:[^{}]|\{[^{}]*\})*\}", "", plain)
                    return [("", " ".join(re.sub(r"\\(?:gorc|ours)\b(?:\\xspace)?", "the corpus", plain).split()))]
    if (root := _jats(data, paper)) is not None:
        own = root.find(".//article-meta/abstract")
        parts = own.findall("sec") or [own]
        return [(_text(part.find("title")), " ".join(_text(p) for p in part.iter("p"))) for part in parts]
    tei = etree.parse((data / paper.file).with_suffix(".tei.xml")).getroot()
    return [("", _text(tei.find(f".//{TEI}profileDesc/{TEI}abstract")))]


def crossref(data: Path, papers: Sequence[RealPaper]) -> bytes:
    """Return works in the format of the REST API, one line each, with abstracts in JATS markup."""
    lines = []
    for paper in papers:
        marked = "".join(
            f"<jats:sec><jats:title>{_escaped(head)}</jats:title><jats:p>{_escaped(text)}</jats:p></jats:sec>"
            if head
            else f"<jats:p>{_escaped(text)}</jats:p>"
            for head, text in abstract(data, paper)
        )
        work = {
            "DOI": _doi(data, paper),
            "type": "proceedings-article" if paper.venue else "journal-article",
            "title": [paper.title],
            "author": [
                {"given": given, "family": family, "sequence": "additional"} for given, family in people(data, paper)
            ],
            "issued": {"date-parts": [[int(part) for part in paper.date.split("-")]]},
            "container-title": [paper.venue or _journal(data, paper)],
            "subject": paper.subjects,
            "abstract": marked,
        }
        if paper.open_by:
            work["license"] = [{"URL": "http://creativecommons.org/licenses/by/4.0/", "content-version": "vor"}]
        lines.append(json.dumps(work, ensure_ascii=False))
    return ("\n".join(lines) + "\n").encode()


def unpaywall(data: Path, papers: Sequence[RealPaper]) -> bytes:
    """Return one line for each DOI: open if the paper is open, in its publisher's version."""
    lines = []
    for paper in papers:
        doi = _doi(data, paper)
        place = {
            "host_type": "publisher",
            "version": "publishedVersion",
            "license": "cc-by",
            "url": f"https://doi.org/{doi}",
        }
        is_open = paper.open_by is not None
        lines.append(
            json.dumps(
                {
                    "doi": doi,
                    "is_oa": is_open,
                    "best_oa_location": place if is_open else None,
                    "oa_locations": [place] * is_open,
                }
            )
        )
    return ("\n".join(lines) + "\n").encode()


def arxiv_oai(data: Path, papers: Sequence[RealPaper]) -> bytes:
    """Return an OAI-PMH harvest in arXiv's own format."""
    records = []
    for paper in papers:
        authors = "".join(
            f"<author><keyname>{_escaped(family)}</keyname><forenames>{_escaped(given)}</forenames></author>"
            for given, family in people(data, paper)
        )
        given = paper.arxiv
        records.append(
            f"<record><header><identifier>oai:arXiv.org:{paper.arxiv_id}</identifier><setSpec>cs</setSpec></header><metadata>"
            f'<arXiv xmlns="http://arxiv.org/OAI/arXiv/"><id>{paper.arxiv_id}</id><created>{given.get("created", paper.date)}</created>'
            f"<authors>{authors}</authors><title>{_escaped(given.get('title', paper.title))}</title>"
            f"<categories>{given['categories']}</categories><license>{given['licence']}</license>"
            f"<abstract>{_escaped(abstract(data, paper)[0][1])}</abstract></arXiv></metadata></record>"
        )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords>'
        + "".join(records)
        + "</ListRecords></OAI-PMH>"
    ).encode()


def arxiv_snapshot(data: Path, papers: Sequence[RealPaper]) -> bytes:
    """Return lines of the JSON snapshot."""
    lines = []
    for paper in papers:
        year, month, day = (int(part) for part in paper.date.split("-"))
        created = f"{day} {_MONTHS[month - 1][:3]} {year} 12:00:00 GMT"
        lines.append(
            json.dumps(
                {
                    "id": paper.arxiv_id,
                    "title": paper.title,
                    "authors_parsed": [[family, given, ""] for given, family in people(data, paper)],
                    "categories": paper.arxiv["categories"],
                    "license": paper.arxiv["licence"],
                    "abstract": "  " + abstract(data, paper)[0][1] + "\n",
                    "versions": [{"version": "v1", "created": created}],
                    "update_date": paper.date,
                    "doi": None,
                    "journal-ref": None,
                }
            )
        )
    return ("\n".join(lines) + "\n").encode()


def acl(data: Path, paper: RealPaper) -> bytes:
    """Return a collection of the Anthology with one paper."""
    given = paper.acl
    acl_id = Path(paper.delivered_name).stem
    authors = "".join(
        f"<author><first>{_escaped(first)}</first><last>{_escaped(last)}</last></author>"
        for first, last in people(data, paper)
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><collection id="{given["collection"]}"><volume id="{given["volume"]}"><meta>'
        f"<booktitle>{_escaped(given['booktitle'])}</booktitle><month>{given['month']}</month><year>{paper.date[:4]}</year></meta>"
        f'<paper id="{given["number"]}"><title>{_escaped(paper.title)}</title>{authors}<url>{acl_id}</url>'
        f"<abstract>{_escaped(abstract(data, paper)[0][1])}</abstract></paper></volume></collection>"
    ).encode()


def pubmed(data: Path, papers: Sequence[RealPaper]) -> bytes:
    """Return an update file."""
    articles = []
    for paper in papers:
        year, month, day = paper.date.split("-")
        authors = "".join(
            f"<Author><LastName>{_escaped(last)}</LastName><ForeName>{_escaped(first)}</ForeName></Author>"
            for first, last in people(data, paper)
        )
        parts = "".join(
            f"<AbstractText{f' Label={json.dumps(head.upper())}' if head else ''}>{_escaped(text)}</AbstractText>"
            for head, text in abstract(data, paper)
        )
        mesh = "".join(
            f"<MeshHeading><DescriptorName>{_escaped(name)}</DescriptorName></MeshHeading>"
            for name in paper.pubmed["mesh"]
        )
        articles.append(
            f"<PubmedArticle><MedlineCitation><PMID>{paper.pubmed['pmid']}</PMID><Article><Journal>"
            f"<JournalIssue><PubDate><Year>{year}</Year></PubDate></JournalIssue><Title>{_escaped(_journal(data, paper))}</Title></Journal>"
            f"<ArticleTitle>{_escaped(paper.title)}.</ArticleTitle><Abstract>{parts}</Abstract><AuthorList>{authors}</AuthorList>"
            f"<ArticleDate><Year>{year}</Year><Month>{month}</Month><Day>{day}</Day></ArticleDate></Article>"
            f"<MeshHeadingList>{mesh}</MeshHeadingList></MedlineCitation><PubmedData><ArticleIdList>"
            f'<ArticleId IdType="doi">{_doi(data, paper)}</ArticleId></ArticleIdList></PubmedData></PubmedArticle>'
        )
    return f'<?xml version="1.0" encoding="UTF-8"?><PubmedArticleSet>{"".join(articles)}</PubmedArticleSet>'.encode()


def declared(data: Path, papers: Sequence[RealPaper]) -> bytes:
    """Return the drop's own `records.jsonl`."""
    lines = [
        json.dumps(
            {
                "name": paper.delivered_name,
                "title": paper.title,
                "authors": paper.authors,
                "published": paper.date,
                "abstract": abstract(data, paper)[0][1],
                "licence": paper.licence,
                "open_access": True,
            }
        )
        for paper in papers
    ]
    return ("\n".join(lines) + "\n").encode()


def _doi(data: Path, paper: RealPaper) -> str:
    root = _jats(data, paper)
    if root is None:
        return paper.printed["doi"]
    return _text(root.find(".//article-meta/article-id[@pub-id-type='doi']"))


def _journal(data: Path, paper: RealPaper) -> str:
    root = _jats(data, paper)
    return paper.journal if root is None else _text(root.find(".//journal-title"))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
