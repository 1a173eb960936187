"""PubMed: the baseline and update files (XML, usually gzipped)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from s2corpus.sources.build import build
from s2corpus.sources.dates import NO_DATE, PlainDate, make_date, parse_date, to_int, to_month
from s2corpus.sources.editorial import of_pubmed
from s2corpus.sources.fields import PARTS
from s2corpus.sources.names import make_author
from s2corpus.sources.record import Author, Deleted, Dropped, Entry, Kind, Reason
from s2corpus.sources.streams import parse_xml, text_of, xml_elements

NAME = "pubmed"
KIND = Kind.ARCHIVE


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Records of PubmedArticle and PubmedBookArticle; DeleteCitation withdraws."""
    for number, item in enumerate(xml_elements(stream, ("PubmedArticle", "PubmedBookArticle", "DeleteCitation")), 1):
        if isinstance(item, Dropped):
            yield item
            continue
        tag, text, encoding = item
        try:
            root = parse_xml(text, encoding)
        except ValueError as error:
            yield Dropped(Reason.MALFORMED, f"{tag} {number}", str(error))
            continue
        if tag == "DeleteCitation":
            yield from (Deleted(f"{NAME}:{text_of(pmid)}") for pmid in root.iterfind("PMID") if text_of(pmid))
        else:
            yield _entry(root, f"{tag} {number}")


def _entry(root: Any, where: str) -> Entry:
    citation = root.find("MedlineCitation")
    if citation is None:
        citation = root.find("BookDocument")
    pmid = text_of(citation.find("PMID")) if citation is not None else ""
    if not pmid:
        return Dropped(Reason.NO_ID, where, "no PMID")
    article = citation.find("Article") if citation.find("Article") is not None else citation
    title = text_of(article.find("ArticleTitle"))
    issue = article.find("Journal/JournalIssue")
    volume, number = (text_of(issue.find(name)) if issue is not None else "" for name in ("Volume", "Issue"))
    ids = {item.get("IdType"): text_of(item) for item in root.iterfind("*/ArticleIdList/ArticleId")}
    ids |= {
        item.get("EIdType"): text_of(item) for item in article.iterfind("ELocationID") if item.get("ValidYN") != "N"
    }
    editorial, notices = of_pubmed(citation)
    return build(
        f"{NAME}:{pmid}", NAME, KIND, pmid,
        title=title if title.casefold() not in ("", "[not available].") else text_of(article.find("VernacularTitle")),
        authors=[_author(author) for author in article.iterfind("AuthorList/Author") if author.get("ValidYN") != "N"],
        date=_date(article), journal=text_of(article.find("Journal/Title")) or text_of(article.find("Book/BookTitle")),
        abstract=_abstract(article.find("Abstract")), volume=volume, issue=number,
        pages=text_of(article.find("Pagination/MedlinePgn")) or text_of(article.find("Pagination/StartPage")),
        doi=ids.get("doi"), pubmed_id=pmid, pmc_id=ids.get("pmc"),
        subjects=[text_of(heading) for heading in citation.iterfind("MeshHeadingList/MeshHeading/DescriptorName")],
        editorial=editorial, notices=notices,
        type="preprint" if "Preprint" in map(text_of, article.iterfind("PublicationTypeList/PublicationType")) else None,
    )  # fmt: skip


def _author(author: Any) -> Author | None:
    given = text_of(author.find("ForeName")) or text_of(author.find("Initials"))
    family = text_of(author.find("LastName")) or text_of(author.find("CollectiveName"))
    return make_author(given, family, text_of(author.find("Suffix")))


def _abstract(abstract: Any) -> str:
    """Structured abstracts keep their labels: "METHODS: We …"."""
    parts = []
    for part in abstract.iterfind("AbstractText") if abstract is not None else ():
        label, text = part.get("Label"), text_of(part)
        parts.append(f"{label}: {text}" if label and label != "UNLABELLED" and text else text)
    return PARTS.join(part for part in parts if part)


def _date(article: Any) -> PlainDate:
    """The issue's date; where it has but a year, the electronic publication's of the same year."""
    issue, electronic = NO_DATE, NO_DATE
    for found in (article.find("Journal/JournalIssue/PubDate"), article.find("Book/PubDate")):
        if found is not None:
            issue = _parts(found) if found.find("Year") is not None else parse_date(text_of(found.find("MedlineDate")))
            break
    if (given := article.find("ArticleDate")) is not None:
        electronic = _parts(given)
    if issue[0] is None or (issue[1] == "year" and electronic[0] is not None and electronic[0].startswith(issue[0])):
        return electronic if electronic[0] is not None else issue
    return issue


def _parts(date: Any) -> PlainDate:
    year, month, day = (text_of(date.find(name)) for name in ("Year", "Month", "Day"))
    return make_date(to_int(year), to_month(month), to_int(day))
