"""PubMed: articles, books and chapters of baseline and update files, XML. `DeleteCitation` and `DeleteDocument` delete. Ids:
`pubmed:<pmid>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Any

from s2corpus.sources.build import RawRecord
from s2corpus.sources.editorial import read_pubmed_notices
from s2corpus.sources.record import Deleted, Dropped, Entry, RecordKind, RejectReason
from s2corpus.sources.xml_elements import parse_xml_elements
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.author_fields import add_affiliations
from s2orc_parse.bibliography.dates import NO_DATE, PlainDate, join_date, parse_date
from s2orc_parse.bibliography.fields import PARTS, clean_title
from s2orc_parse.bibliography.identifiers import normalize_pmid
from s2orc_parse.bibliography.names import make_author, make_group
from s2orc_parse.xml import extract_text

NAME = "pubmed"
KIND = RecordKind.ARCHIVE
_DELETIONS = frozenset(("DeleteCitation", "DeleteDocument"))
_TAGS = ("PubmedArticle", "PubmedBookArticle", *sorted(_DELETIONS))
_ISSNS = ("Article/Journal/ISSN", "MedlineJournalInfo/ISSNLinking")
_PAGE = r"(?:[A-Za-z]{0,4}-?\d+[A-Za-z]?(?:\.[A-Za-z]?\d+)?|[ivxlcdm]+)"
_RANGE = rf"{_PAGE}(?:\s*[-–]\s*{_PAGE})?"
_PAGES = re.compile(
    rf"\s*(?:suppl(?:ement)?\b\.?:?\s*|pp?\.\s*|\[)?(?P<pages>{_RANGE}(?:\s*,\s*{_RANGE}(?![\w.]))*)\]?(?:\s*$|\s*[;,]\s|\s+(?:contd|passim)\b)",
    re.IGNORECASE,
)
"""Pages at the start of MedlinePgn; text after a semicolon or comma is a note: "discussion 24-5", "back cover"."""


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Return the records of PubmedArticle and PubmedBookArticle, and `Deleted` for DeleteCitation and DeleteDocument."""
    return parse_xml_elements(stream, _TAGS, _parse)


def _parse(root: Any, where: str) -> list[Entry]:
    if root.tag in _DELETIONS:
        pmids = (normalize_pmid(extract_text(one)) for one in root.iterfind("PMID"))
        return [Deleted(f"{NAME}:{pmid}") for pmid in pmids if pmid]
    return [_parse_citation(root, where)]


def _parse_citation(root: Any, where: str) -> Entry:
    citation = root.find("MedlineCitation")
    if citation is None:
        citation = root.find("BookDocument")
    pmid = normalize_pmid(extract_text(citation.find("PMID"))) if citation is not None else None
    if not pmid:
        return Dropped(RejectReason.NO_ID, where, "no PMID")
    article = citation.find("Article") if citation.find("Article") is not None else citation
    title = extract_text(article.find("ArticleTitle"))
    title = title if clean_title(title) else extract_text(article.find("VernacularTitle"))
    book = article.find("Book")
    is_book = book is not None and not title
    work = book if is_book else article
    issue = article.find("Journal/JournalIssue")
    volume, number = (extract_text(issue.find(name)) if issue is not None else "" for name in ("Volume", "Issue"))
    book_title = extract_text(book.find("BookTitle")) if book is not None else ""
    ids = {item.get("IdType"): extract_text(item) for item in root.iterfind("*/ArticleIdList/ArticleId")}
    ids |= {
        item.get("EIdType"): extract_text(item) for item in work.iterfind("ELocationID") if item.get("ValidYN") != "N"
    }
    editorial, notices = read_pubmed_notices(citation)
    types = list(map(extract_text, article.iterfind("PublicationTypeList/PublicationType")))
    return RawRecord(
        f"{NAME}:{pmid}", NAME, KIND, pmid,
        title=book_title if is_book else title,
        authors=[_author(author) for author in _authors(article) or (_authors(book) if is_book else [])],
        date=_date(article, is_book=is_book), venue=extract_text(book.find("CollectionTitle")) if is_book else "",
        journal=extract_text(article.find("Journal/Title")) or ("" if is_book else book_title),
        abstract=_abstract(_find_abstract(citation, article)), volume=extract_text(book.find("Volume")) if is_book else volume,
        issue=number,
        pages=_pages(article.find("Pagination")),
        doi=ids.get("doi"), pubmed_id=pmid, pmc_id=ids.get("pmc"),
        issns=[extract_text(issn) for path in _ISSNS for issn in citation.iterfind(path)],
        subjects=[extract_text(heading) for heading in citation.iterfind("MeshHeadingList/MeshHeading/DescriptorName")],
        editorial=editorial, notices=notices,
        type="preprint" if "Preprint" in types else None, document=types,
    ).normalize()  # fmt: skip


def _authors(work: Any) -> list[Any]:
    """Return the author elements of an article or book, without editors and superseded names."""
    lists = work.iterfind("AuthorList") if work is not None else ()
    return [
        author
        for found in lists
        if found.get("Type") != "editors"
        for author in found.iterfind("Author")
        if author.get("ValidYN") != "N"
    ]


def _pages(pagination: Any) -> str:
    """Return the pages without prose: "123-30" of "123-30; discussion 131"; an empty text for "No pagination"."""
    if pagination is None:
        return ""
    medline, first, last = (extract_text(pagination.find(name)) for name in ("MedlinePgn", "StartPage", "EndPage"))
    for text in (medline, f"{first}-{last}" if last and last != first else first):
        if (match := _PAGES.match(text)) is not None:
            return match["pages"]
    return ""


def _author(author: Any) -> Author | None:
    group, given, last, suffix = (
        extract_text(author.find(name)) for name in ("CollectiveName", "ForeName", "LastName", "Suffix")
    )
    return add_affiliations(
        make_group(group) if group else make_author(given or extract_text(author.find("Initials")), last, suffix),
        (
            (extract_text(place.find("Affiliation")), extract_text(place.find("Identifier[@Source='ROR']")))
            for place in author.iterfind("AffiliationInfo")
        ),
        extract_text(author.find("Identifier[@Source='ORCID']")),
    )


def _find_abstract(citation: Any, article: Any) -> Any:
    """Return the article's own abstract, else another one: in English, else in the article's language, else the first.

    Other abstracts are translations and summaries of agencies (types AAMC, AIDS, KIE, NASA, PIP, Publisher).
    """
    if (own := article.find("Abstract")) is not None and extract_text(own):
        return own
    others = [one for one in citation.iterfind("OtherAbstract") if one.get("Type") != "plain-language-summary"]
    languages = ("eng", *map(extract_text, article.iterfind("Language")))
    for language in languages:
        for other in others:
            if other.get("Language", "eng") == language:
                return other
    return others[0] if others else None


def _abstract(abstract: Any) -> str:
    """Return the text; sections of a structured abstract start with their labels: "METHODS: We …"."""
    parts = []
    for part in abstract.iterfind("AbstractText") if abstract is not None else ():
        label, text = (part.get("Label") or "").rstrip(" :."), extract_text(part)
        is_printed = label.casefold() in ("", "unlabelled") or text.casefold().startswith(f"{label.casefold()}:")
        parts.append(text if is_printed or not text else f"{label}: {text}")
    return PARTS.join(part for part in parts if part)


def _date(article: Any, *, is_book: bool) -> PlainDate:
    """Return the date of a chapter or book; otherwise the issue's, or the electronic publication's if the issue has only its year."""
    book = article.find("Book")
    if book is not None:
        own = [] if is_book else [article.find("ContributionDate")]
        others = [
            book.find("PubDate"),
            book.find("BeginningDate"),
            article.find("ContributionDate"),
            article.find("DateRevised"),
        ]
        return next((date for one in (*own, *others) if (date := _issue_date(one))[0] is not None), NO_DATE)
    issue = _issue_date(article.find("Journal/JournalIssue/PubDate"))
    given = article.find("ArticleDate")
    electronic = _parts(given) if given is not None else NO_DATE
    if issue[0] is None or (issue[1] == "year" and electronic[0] is not None and electronic[0].startswith(issue[0])):
        return electronic if electronic[0] is not None else issue
    return issue


def _issue_date(date: Any) -> PlainDate:
    """Return a date given in parts or as prose; NO_DATE for None."""
    if date is None:
        return NO_DATE
    return _parts(date) if date.find("Year") is not None else parse_date(extract_text(date.find("MedlineDate")))


def _parts(date: Any) -> PlainDate:
    year, month, day = (extract_text(date.find(name)) for name in ("Year", "Month", "Day"))
    return join_date(year, month, day)
