"""Write deliveries in the sources' own formats, from the rows of `sources`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from devtools.sample.deliver import jsonl

Row = dict[str, Any]
PARTS = " ::: "
"""Separator between the parts of a structured abstract, as in S2ORC."""

_SUBJECTS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "Computer Science": ("Information Systems", "cs.IR", ("Information Storage and Retrieval", "Natural Language Processing")),
    "Biology": ("Ecology, Evolution, Behavior and Systematics", "q-bio.PE", ("Ecology", "Animals")),
    "Medicine": ("General Medicine", "q-bio.TO", ("Humans", "Patients")),
    "Materials Science": ("Metals and Alloys", "cond-mat.mtrl-sci", ("Manufactured Materials",)),
    "Physics": ("Astronomy and Astrophysics", "astro-ph.SR", ("Astronomy", "Physics")),
    "Economics": ("Economics and Econometrics", "econ.GN", ("Economics", "Commerce")),
}  # fmt: skip
"""Field → an ASJC name (Crossref), an arXiv category, MeSH headings. A medical preprint is filed under biology."""


def subjects(source: str, field: str) -> list[str]:
    """Return a source's subjects for a paper of a field; empty if the source has no subjects."""
    asjc, category, headings = _SUBJECTS[field]
    return {"crossref": [asjc], "arxiv": [category], "pubmed": list(headings), "s2orc": [field]}.get(source, [])


def files_of(source: str, rows: Sequence[Row]) -> dict[str, bytes]:
    """Return the files of one delivery, name → content.

    Rows are written in the source's own format. `records.jsonl`, the generic form, contains only rows that this format
    cannot express: the file of a record (`file_sha1`), and, for most sources, a withdrawal.
    """
    rows = [{key: value for key, value in row.items() if value is not None} for row in rows]
    own = [row for row in rows if source in _FORMATS and not _only_generic(source, row)]
    generic = [row for row in rows if row not in own]
    made = {"records.jsonl": jsonl(generic)} if generic else {}
    if own:
        name, write = _FORMATS[source]
        made[name] = write(own)
    return made


def _only_generic(source: str, row: Row) -> bool:
    if source == "crossref" and "arxiv_id" in row:
        return True
    return ("file_sha1" in row and source != "s2orc") or bool(row.get("deleted"))


def _native(row: Row) -> str:
    return str(row["record_id"]).partition(":")[2]


def _names(row: Row) -> Iterable[tuple[str, str, str]]:
    """Yield (given names, surname, suffix) of the authors."""
    for author in row.get("authors", ()):
        yield " ".join([author["first"], *author["middle"]]), author["last"], author["suffix"]


def _parts(row: Row) -> list[tuple[str, str]]:
    """Return the parts of an abstract: (label or "", text)."""
    found = []
    for part in row.get("abstract", "").split(PARTS):
        label, colon, text = part.partition(": ")
        found.append((label, text) if colon and label.isupper() else ("", part))
    return [(label, text) for label, text in found if text]


def _crossref(rows: Sequence[Row]) -> bytes:
    return jsonl([_work(row) for row in rows])


def _work(row: Row) -> Row:
    work: Row = {
        "DOI": row["doi"].upper(),  # publishers deposit DOIs in upper or lower case
        "type": row.get("type", "journal-article" if row.get("journal") else "proceedings-article"),
        "title": [row["title"]] if "title" in row else [],
        "author": [
            {"given": given, "family": family, "sequence": "additional", **({"suffix": suffix} if suffix else {})}
            for given, family, suffix in _names(row)
        ],
        "container-title": [place] if (place := row.get("journal") or row.get("venue")) else [],
        "subject": row.get("subjects", []),
        **{key: row[name] for key, name in (("volume", "volume"), ("page", "pages")) if name in row},
    }
    if "license_url" in row:
        work["license"] = [{"URL": row["license_url"], "content-version": "vor"}]
    if row.get("date"):
        work["issued"] = {"date-parts": [[int(part) for part in row["date"].split("-")]]}
    if abstract := _parts(row):
        sections = [
            f"<jats:sec><jats:title>{label}</jats:title><jats:p>{_escaped(text)}</jats:p></jats:sec>" if label
            else f"<jats:p>{_escaped(text)}</jats:p>"
            for label, text in abstract
        ]  # fmt: skip
        work["abstract"] = f"<jats:title>Abstract</jats:title>{''.join(sections)}"
    return work


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _pubmed(rows: Sequence[Row]) -> bytes:
    root = ElementTree.Element("PubmedArticleSet")
    for row in rows:
        article = add(root, "PubmedArticle")
        citation = add(article, "MedlineCitation", Status="MEDLINE")
        add(citation, "PMID", _native(row), Version="1")
        paper = add(citation, "Article")
        journal = add(paper, "Journal")
        year, _, month = row.get("date", "").partition("-")
        issue = add(journal, "JournalIssue")
        if "volume" in row:
            add(issue, "Volume", row["volume"])
        when = add(issue, "PubDate")
        for tag, text in (("Year", year), ("Month", month)):
            if text:
                add(when, tag, text)
        add(journal, "Title", row.get("journal", ""))
        if "pages" in row:
            add(add(paper, "Pagination"), "MedlinePgn", row["pages"])
        add(paper, "ArticleTitle", f"{row['title']}." if "title" in row else "")
        if parts := _parts(row):
            abstract = add(paper, "Abstract")
            for label, text in parts:
                add(abstract, "AbstractText", text, **({"Label": label} if label else {}))
        authors = add(paper, "AuthorList")
        for given, family, suffix in _names(row):
            author = add(authors, "Author", ValidYN="Y")
            for tag, text in (("LastName", family), ("ForeName", given), ("Suffix", suffix)):
                if text:
                    add(author, tag, text)
        headings = add(citation, "MeshHeadingList")
        for heading in row.get("subjects", ()):
            add(add(headings, "MeshHeading"), "DescriptorName", heading, MajorTopicYN="N")
        ids = add(add(article, "PubmedData"), "ArticleIdList")
        for kind, key in (("pubmed", "pubmed_id"), ("doi", "doi"), ("pmc", "pmc_id")):
            if key in row:
                add(ids, "ArticleId", row[key], IdType=kind)
    return _xml(root)


def _arxiv(rows: Sequence[Row]) -> bytes:
    root = ElementTree.Element("OAI-PMH", xmlns="http://www.openarchives.org/OAI/2.0/")
    listed = add(root, "ListRecords")
    for row in rows:
        record = add(listed, "record")
        add(add(record, "header"), "identifier", f"oai:arXiv.org:{row['arxiv_id']}")
        paper = add(add(record, "metadata"), "arXiv", xmlns="http://arxiv.org/OAI/arXiv/")
        add(paper, "id", row["arxiv_id"])
        add(paper, "created", row["date"])
        authors = add(paper, "authors")
        for given, family, suffix in _names(row):
            author = add(authors, "author")
            for tag, text in (("keyname", family), ("forenames", given), ("suffix", suffix)):
                if text:
                    add(author, tag, text)
        add(paper, "title", row["title"])
        add(paper, "categories", " ".join(row.get("subjects", ())))
        if "doi" in row:
            add(paper, "doi", row["doi"])
        add(paper, "license", row.get("license_url", "http://creativecommons.org/licenses/by/4.0/"))
        add(paper, "abstract", "  " + row.get("abstract", "").replace(". ", ".\n"))  # wrapped, as in arXiv
    return _xml(root)


def _dblp(rows: Sequence[Row]) -> bytes:
    root = ElementTree.Element("dblp")
    for row in rows:
        paper = add(root, "article", key=_native(row))
        for given, family, suffix in _names(row):
            add(paper, "author", " ".join(filter(None, (given, family, suffix))))
        add(paper, "title", row["title"])
        if "year" in row:
            add(paper, "year", str(row["year"]))
        if "venue" in row:
            add(paper, "booktitle", row["venue"])
        for tag in ("volume", "pages"):
            if tag in row:
                add(paper, tag, row[tag])
        if "doi" in row:
            add(paper, "ee", f"https://doi.org/{row['doi']}")
    return _xml(root)


def _acl(rows: Sequence[Row]) -> bytes:
    root = ElementTree.Element("collection", id=_native(rows[0]).partition("-")[0])
    for row in rows:
        volume_id, _, number = _native(row).partition("-")[2].partition(".")
        volume = add(root, "volume", id=volume_id)
        meta = add(volume, "meta")
        add(meta, "booktitle", row.get("venue", ""))
        year, month, *_ = row["date"].split("-")
        add(meta, "month", month)
        add(meta, "year", year)
        paper = add(volume, "paper", id=number)
        add(paper, "title", row["title"])
        for given, family, suffix in _names(row):
            author = add(paper, "author")
            add(author, "first", given)
            add(author, "last", " ".join(filter(None, (family, suffix))))
        if "abstract" in row:
            add(paper, "abstract", row["abstract"])
        add(paper, "url", _native(row))
        if "doi" in row:
            add(paper, "doi", row["doi"])
    return _xml(root)


def _unpaywall(rows: Sequence[Row]) -> bytes:
    location = {"host_type": "publisher", "is_best": True, "license": "cc-by", "version": "publishedVersion"}
    lines = []
    for row in rows:
        found = [location] if row.get("is_open", True) else []
        best = found[0] if found else None
        lines.append({"doi": row["doi"], "is_oa": bool(found), "best_oa_location": best, "oa_locations": found})
    return jsonl(lines)


def _s2orc(rows: Sequence[Row]) -> bytes:
    return jsonl(
        [
            {
                "paper_id": _native(row), "title": row["title"], "authors": row["authors"], "abstract": row["abstract"],
                "year": int(row["date"][:4]), "doi": row.get("doi"), "journal": row.get("journal"), "venue": row.get("venue"),
                "mag_field_of_study": row.get("subjects"), "pdf_hash": row.get("file_sha1"),
            }
            for row in rows
        ]
    )  # fmt: skip


def _jats(rows: Sequence[Row]) -> bytes:
    """Return PMC's articles, with their front matter only."""
    root = ElementTree.Element("pmc-articleset", {"xmlns:xlink": "http://www.w3.org/1999/xlink"})
    for row in rows:
        front(add(root, "article"), row)
    return _xml(root)


def front(article: ElementTree.Element, row: Row) -> None:
    """Add the front matter of an article; `license`, if present, is an SPDX id of Creative Commons, version 4.0."""
    front = add(article, "front")
    titles = add(add(front, "journal-meta"), "journal-title-group")
    add(titles, "journal-title", row.get("journal", ""))
    meta = add(front, "article-meta")
    for kind, key in (("doi", "doi"), ("pmid", "pubmed_id"), ("pmc", "pmc_id")):
        if key in row:
            add(meta, "article-id", row[key], **{"pub-id-type": kind})
    categories = add(meta, "article-categories")
    for subject in ("Research Article", *row.get("subjects", ())):
        add(add(categories, "subj-group", **{"subj-group-type": "heading"}), "subject", subject)
    add(add(meta, "title-group"), "article-title", row["title"])
    authors = add(meta, "contrib-group")
    for given, family, suffix in _names(row):
        name = add(add(authors, "contrib", **{"contrib-type": "author"}), "name")
        for tag, text in (("surname", family), ("given-names", given), ("suffix", suffix)):
            if text:
                add(name, tag, text)
    date = add(meta, "pub-date", **{"pub-type": "epub"})
    for tag, text in zip(("day", "month", "year"), reversed(row["date"].split("-")), strict=False):
        add(date, tag, text)
    terms = row.get("license", "CC-BY-4.0").removeprefix("CC-").removesuffix("-4.0").lower()
    license = {"license-type": "open-access", "xlink:href": f"http://creativecommons.org/licenses/{terms}/4.0/"}
    add(add(meta, "permissions"), "license", **license)
    if "abstract" in row:
        add(add(meta, "abstract"), "p", row["abstract"])


def add(parent: ElementTree.Element, tag: str, text: str = "", **attributes: str) -> ElementTree.Element:
    """Add an element with its text."""
    element = ElementTree.SubElement(parent, tag, attributes)
    element.text = text or None
    return element


def _xml(root: ElementTree.Element) -> bytes:
    ElementTree.indent(root, " ")
    return bytes(ElementTree.tostring(root, "utf-8", xml_declaration=True)) + b"\n"


_FORMATS: Mapping[str, tuple[str, Callable[[Sequence[Row]], bytes]]] = {
    "crossref": ("works.jsonl", _crossref),
    "pubmed": ("pubmed.xml", _pubmed),
    "arxiv": ("oai.xml", _arxiv),
    "dblp": ("dblp.xml", _dblp),
    "acl": ("anthology.xml", _acl),
    "unpaywall": ("snapshot.jsonl", _unpaywall),
    "s2orc": ("metadata.jsonl", _s2orc),
    "jats": ("articles.xml", _jats),
}
"""Source → the file name of a delivery, and the function that writes it."""
