"""Metadata of the real papers as rows of their sources, which the sample's writers put into the sources' formats.

The project stores no content of the papers: titles, names, dates and subjects come from the truth file, abstracts from
the publisher's JATS, from the TEI next to the PDF, or from the LaTeX source.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lxml import etree

from devtools.measure import text
from devtools.real.truth import RealPaper
from devtools.sample.deliver import jsonl
from devtools.sample.formats import PARTS, Row, files_of
from s2orc_parse import latex
from s2orc_parse.files import convert_document
from s2orc_parse.parse_model import Parse

_PARTICLES = re.compile(r"\s(?=(?:De|de|da|van|von|el|Al)\s\S+$)|\s(?=\S+$)")


def delivery(source: str, data: Path, papers: Sequence[RealPaper]) -> dict[str, bytes]:
    """Return the files that a source delivers about the papers; `data` is the folder of the papers."""
    if source == "jats":
        return {f"{p.key}.nxml": (data / p.file).with_suffix(".nxml").read_bytes() for p in papers}
    if source == "acl":  # one file for each collection
        files = [(p.acl["collection"], files_of(source, [row(source, data, p)])) for p in papers]
        return {f"{collection}.xml": content for collection, of in files for content in of.values()}
    return files_of(source, [row(source, data, paper) for paper in papers])


def row(source: str, data: Path, paper: RealPaper) -> Row:
    """Return what a source states about a paper, as `devtools.sample.sources` does for generated papers."""
    root = jats(data, paper)
    doi = (
        paper.printed.get("doi") if root is None else text(root.find(".//article-meta/article-id[@pub-id-type='doi']"))
    )
    journal = paper.journal if root is None else text(root.find(".//journal-title"))
    open_url = "http://creativecommons.org/licenses/by/4.0/" if paper.open_by else None
    own: dict[str, Row] = {
        "crossref": {"subjects": paper.subjects, "license_url": open_url},
        "unpaywall": {"is_open": paper.open_by is not None},
        "pubmed": {
            "record_id": f"pubmed:{paper.pubmed.get('pmid')}", "subjects": paper.pubmed.get("mesh"), "date": paper.date[:7],
        },
        "arxiv": {
            "arxiv_id": paper.arxiv_id, "date": paper.arxiv.get("created", paper.date),
            "title": paper.arxiv.get("title", paper.title), "subjects": paper.arxiv.get("categories", "").split(),
            "license_url": paper.arxiv.get("license"), "doi": None,
        },
        "acl": {"record_id": f"acl:{Path(paper.delivered_name).stem}", "venue": paper.acl.get("booktitle"), "doi": None},
    }  # fmt: skip
    return {
        "record_id": f"{source}:{doi}", "title": paper.title, "date": paper.date, "doi": doi, "abstract": abstract(data, paper),
        "journal": None if paper.venue else journal, "venue": paper.venue,
        "authors": [{"first": first, "middle": [], "last": last, "suffix": ""} for first, last in people(root, paper)],
    } | own[source]  # fmt: skip


def declared(data: Path, papers: Sequence[RealPaper]) -> bytes:
    """Return the drop's own `records.jsonl`."""
    return jsonl(
        [
            {
                "name": paper.delivered_name, "title": paper.title, "authors": paper.authors, "published": paper.date,
                "abstract": abstract(data, paper), "license": paper.license, "open_access": True,
            }
            for paper in papers
        ]
    )  # fmt: skip


def jats(data: Path, paper: RealPaper) -> Any:
    """Return the root of the publisher's XML of a paper, or None without a file."""
    path = (data / paper.file).with_suffix(".nxml")
    return etree.parse(path).getroot() if path.is_file() else None


def people(root: Any, paper: RealPaper) -> list[tuple[str, str]]:
    """Return (given names, surname) of the authors; the publisher's division of names is used if available."""
    if root is None:
        return [tuple(_PARTICLES.split(name, maxsplit=1)) for name in paper.authors]  # type: ignore[misc]  # the pattern splits each name in two
    names = root.findall(".//article-meta/contrib-group/contrib[@contrib-type='author']/name")
    return [(text(name.find("given-names")), text(name.find("surname"))) for name in names]


def abstract(data: Path, paper: RealPaper) -> str:
    """Return the abstract; parts with a head begin with it in capitals."""
    path = data / paper.file
    if paper.is_latex:
        parse: Parse | None = latex.convert(path.read_bytes(), sha1="")
    else:
        xml = next(file for suffix in (".nxml", ".tei.xml") if (file := path.with_suffix(suffix)).is_file())
        parse, _ = convert_document(xml.read_bytes(), "")
    parts = [(p.section.partition("::")[2], p.text) for p in parse.abstract] if parse else []
    return PARTS.join(f"{head.upper()}: {words}" if head else words for head, words in parts)
