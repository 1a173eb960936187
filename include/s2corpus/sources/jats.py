"""JATS: publishers' and PMC's article XML (PLOS, eLife, PMC packages): one file an article, or a tar of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import IO, Any

from s2corpus.sources.build import build
from s2corpus.sources.dates import NO_DATE, PlainDate, make_date, to_int, to_month
from s2corpus.sources.editorial import of_jats
from s2corpus.sources.fields import PARTS, licence_of, with_details
from s2corpus.sources.names import make_author, parse_name
from s2corpus.sources.record import Author, Dropped, Entry, Kind, Reason, Record
from s2corpus.sources.streams import documents, parse_xml, text_of

NAME = "jats"
KIND = Kind.PUBLISHER
_HREF = "{http://www.w3.org/1999/xlink}href"
_DATES = ("epub", "epub-ppub", "pub", "ppub", "collection")  # by how well they say when it appeared
_ASIDE = (
    "xref",
    "fn",
    "author-notes",
    "object-id",
    "tex-math",
    "inline-graphic",
    "graphic",
    "named-content/label",
    "label",
)

_ARTICLE_TYPES = """
    a advances an and application article articles best book books brief case challenge clinical comment commentary communication
    communications correction correspondence current debate display editorial editorials erratum essay feature features for forum full
    general guidance guidelines hypotheses hypothesis in insight insights invited issue length letter letters meeting method methods mini
    minireview minireviews news note notes of on open opinion opinions or original other paper papers perspective perspectives policy
    practice primer proceedings protocol protocols rapid regular reply report reports research resource resources retraction review
    reviewed reviews short special studies study synopsis systematic technical the to tools trial trials update viewpoint viewpoints
"""
_ARTICLE_TYPE_WORDS = frozenset(_ARTICLE_TYPES.split())

_BESIDE_AFFILIATION = frozenset(("label", "sup", "email", "ext-link", "uri", "institution-id", "fn", "phone", "fax"))
_IN_WORDS = (
    (re.compile(r"creative commons attribution[- ]non-?commercial", re.IGNORECASE), "CC-BY-NC"),
    (re.compile(r"creative commons attribution", re.IGNORECASE), "CC-BY"),
    (
        re.compile(r"creative commons (?:cc0|public domain)|public domain (?:declaration|dedication)", re.IGNORECASE),
        "CC0-1.0",
    ),
)


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Records of the articles' front matter."""
    for item in documents(stream):
        if isinstance(item, Dropped):
            yield item
            continue
        name, text = item
        if name != "document" and not name.endswith((".xml", ".nxml")):
            continue
        try:
            root = parse_xml(text)
        except ValueError as error:
            yield Dropped(Reason.MALFORMED, name, str(error))
            continue
        articles = (
            [root]
            if _local(root) == "article"
            else [a for a in root.iter("{*}article") if a.find("{*}front") is not None]
        )
        if not articles:
            yield Dropped(Reason.MALFORMED, name, f"no article, but <{_local(root)}>")
        for article in articles:
            yield record_of(article, name)


def _local(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def record_of(article: Any, where: str) -> Record | Dropped:
    """The record of one `article` element."""
    meta = article.find("{*}front/{*}article-meta")
    if meta is None:
        return Dropped(Reason.MALFORMED, where, "no article-meta")
    ids = {item.get("pub-id-type"): text_of(item) for item in meta.iterfind("{*}article-id")}
    pmc_id = ids.get("pmcid") or ids.get("pmc")
    native = ids.get("doi") or pmc_id or ids.get("pmid") or ids.get("publisher-id")
    if not native:
        return Dropped(Reason.NO_ID, where, "no article-id")
    licence, open_access = _licence(meta)
    editorial, notices = of_jats(meta)
    return build(
        f"{NAME}:{native.lower()}", NAME, KIND, native,
        title=_title(meta), authors=_authors(meta), date=_date(meta),
        journal=text_of(article.find("{*}front/{*}journal-meta//{*}journal-title")), abstract=_abstract(meta),
        volume=text_of(meta.find("{*}volume")), issue=text_of(meta.find("{*}issue")), pages=_pages(meta),
        doi=ids.get("doi"), pubmed_id=ids.get("pmid"), pmc_id=pmc_id, subjects=_subjects(meta),
        licence=licence, open_access=open_access, editorial=editorial, notices=notices, type=article.get("article-type"),
    )  # fmt: skip


def _pages(meta: Any) -> str:
    first, last, electronic = (text_of(meta.find(f"{{*}}{name}")) for name in ("fpage", "lpage", "elocation-id"))
    return f"{first}-{last}" if first and last and first != last else first or electronic


def _title(meta: Any) -> str:
    group = meta.find("{*}title-group")
    if group is None:
        return ""
    title, subtitle = _plain(group.find("{*}article-title")), _plain(group.find("{*}subtitle"))
    return f"{title}: {subtitle}" if title and subtitle else title


def _plain(element: Any) -> str:
    """Text without footnote marks and the TeX form of a formula."""
    if element is None:
        return ""
    if len(element):
        element = deepcopy(element)  # who parses the article needs it whole
    for name in _ASIDE:
        for aside in element.findall(f".//{{*}}{name}"):
            if aside.tail:
                previous = aside.getprevious()
                if previous is not None:
                    previous.tail = (previous.tail or "") + aside.tail
                else:
                    aside.getparent().text = (aside.getparent().text or "") + aside.tail
            aside.getparent().remove(aside)
    return text_of(element)


def _authors(meta: Any) -> Iterator[Author | None]:
    every = list(meta.iter("{*}aff"))
    known = {aff.get("id"): aff for aff in every if aff.get("id")}
    for group in meta.iterfind("{*}contrib-group"):
        referred = group.find(".//{*}xref[@ref-type='aff']") is not None
        of_all = group.findall("{*}aff") or every
        if referred or len(of_all) > 1:  # one that nobody refers to is everybody's, of several nobody knows whose
            of_all = []
        for contributor in group.iterfind("{*}contrib"):
            if contributor.get("contrib-type", "author") == "author":
                ids = [
                    one
                    for ref in contributor.iterfind("{*}xref[@ref-type='aff']")
                    for one in (ref.get("rid") or "").split()
                ]
                own = [*contributor.iterfind("{*}aff"), *(known[one] for one in ids if one in known)]
                orcids = contributor.iterfind("{*}contrib-id[@contrib-id-type='orcid']")
                yield with_details(
                    _author(contributor), map(_affiliation, own or of_all), " ".join(map(text_of, orcids))
                )


def _author(contributor: Any) -> Author | None:
    name = contributor.find(".//{*}name")
    if name is not None:
        return make_author(*(text_of(name.find(f"{{*}}{part}")) for part in ("given-names", "surname", "suffix")))
    if (whole := contributor.find(".//{*}string-name")) is not None:
        family = text_of(whole.find("{*}surname"))
        return make_author(text_of(whole.find("{*}given-names")), family) if family else parse_name(text_of(whole))
    if (collab := contributor.find("{*}collab")) is not None:
        own = " ".join((collab.text or "").split()) or text_of(collab.find("{*}institution"))
        return make_author("", own or text_of(collab))
    return None


def _affiliation(aff: Any) -> tuple[str, str]:
    """(name as printed, without its mark, addresses of mail and identifiers; ROR)."""
    pieces: list[str] = []

    def add(element: Any) -> None:
        if _local(element) not in _BESIDE_AFFILIATION:
            pieces.append(element.text or "")
            for child in element:
                add(child)
                pieces.append(child.tail or "")
            pieces.append(" ")

    add(aff)
    ids = " ".join(text_of(one) for one in aff.iter("{*}institution-id"))
    return re.sub(r"\s+([,;.])", r"\1", " ".join("".join(pieces).split())), ids


def _date(meta: Any) -> PlainDate:
    found: dict[str, PlainDate] = {}
    for date in meta.iterfind("{*}pub-date"):
        kind = date.get("pub-type") or date.get("date-type") or "pub"
        year, month, day = (text_of(date.find(f"{{*}}{part}")) for part in ("year", "month", "day"))
        found.setdefault(kind, make_date(to_int(year), to_month(month), to_int(day)))
    return next((found[kind] for kind in (*_DATES, *found) if found.get(kind, NO_DATE)[0] is not None), NO_DATE)


def own_abstract(meta: Any) -> Any:
    """The article's own `abstract`, not its teaser, summary for lay readers or graphic; None where it has none."""
    return next(
        (
            abstract
            for abstract in meta.iterfind("{*}abstract")
            if abstract.get("abstract-type") in (None, "", "abstract", "section", "structured")
        ),
        None,
    )


def _abstract(meta: Any) -> str:
    """The abstract's text; headings of its parts stay."""
    abstract = own_abstract(meta)
    parts, head = [], ""
    for element in abstract.iter("{*}title", "{*}p") if abstract is not None else ():
        text = _plain(element)
        if _local(element) == "title":
            head = "" if text.casefold().rstrip(":.") in ("abstract", "summary") else f"{text.rstrip(':')}: "
        elif text:
            parts.append(f"{head}{text}")
            head = ""
    return PARTS.join(parts)


def _subjects(meta: Any) -> list[str]:
    """All subjects, broader before narrower; what names the kind of article ("Research Article") or its shelf mark is none."""
    return [
        text
        for subject in meta.iterfind("{*}article-categories//{*}subject")
        if (text := text_of(subject)) and not text.isdecimal()
        if not _ARTICLE_TYPE_WORDS.issuperset(re.findall(r"[a-z]+", text.casefold()))
    ]


def _licence(meta: Any) -> tuple[str | None, bool | None]:
    """(licence, whether the article says it is open access): by a link to Creative Commons, else in words."""
    permissions = meta.find("{*}permissions")
    if permissions is None:
        permissions = meta  # JATS before 1.0: copyright-statement stands alone
    links = [
        link for element in permissions.iter("{*}license", "{*}ext-link", "{*}uri") if (link := element.get(_HREF))
    ]
    links += [text_of(reference) for reference in permissions.iter("{*}license_ref")]
    words = " ".join(text_of(element) for element in permissions.iter("{*}license", "{*}copyright-statement"))
    for link in (*links, *words.split()):
        if "creativecommons.org" in link:
            return licence_of(link), True
    for pattern, licence in _IN_WORDS:
        if pattern.search(words):
            return licence, True
    declared = any(
        element.get("license-type") in ("open-access", "OpenAccess") for element in permissions.iter("{*}license")
    )
    return None, True if declared else None
