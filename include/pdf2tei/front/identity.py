"""Determine a PDF's DOI, arXiv id, ACL id, PMCID and publication date, from its first pages and its metadata.

A first page names other papers too: references in footnotes, data sets, commentaries. Evidence decides: the PDF's metadata, a
place in the running heads, repetition on later pages, a separate line, or words like "cite this article as". If two identifiers
have equally strong evidence, neither is used.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from pdf2tei.front.printed_dates import publication_date
from pdf2tei.words import read_pattern, read_words
from s2orc_parse.bibliography.identifiers import (
    arxiv_of_doi,
    normalize_acl,
    normalize_arxiv,
    normalize_doi,
    normalize_pmcid,
)

VERSION = "3"  # part of the key of every stored result: increase it when any result may change


class Stamp(StrEnum):
    """The archive that stamped the first page."""

    ARXIV = "arxiv"  # arXiv:1706.03762v5 [cs.CL] 6 Dec 2017, in the margin
    ACL = "acl"  # Proceedings of …, pages 1-9, © 2020 Association for Computational Linguistics


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A line of a page; `height` is its position, from 0.0 (foot of the page) to 1.0 (top)."""

    text: str
    height: float


@dataclass(frozen=True, slots=True)
class FirstPages:
    """The first pages of a PDF, line by line, and its metadata: Info keys and XMP properties in lower case."""

    pages: Sequence[Sequence[PrintedLine]] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Identity:
    """The identifiers and the date that a PDF states for itself; missing values are None."""

    doi: str | None = None
    arxiv_id: str | None = None
    acl_id: str | None = None
    pmc_id: str | None = None
    date: str | None = None
    date_precision: str | None = None
    stamp: str | None = None


NOTHING = Identity()
_MIN_EVIDENCE = 2.0  # minimum evidence for a DOI
_MIN_LEAD = 1.0  # minimum difference between its evidence and the evidence for any other DOI
_METADATA_DOI_WEIGHT = 4.0  # evidence of a DOI in a metadata field for DOIs
_METADATA_TEXT_WEIGHT = 3.0  # evidence of a single DOI in a metadata field for text
_DATA_PENALTY = 3.0  # evidence that is subtracted from the DOI of a data set
_NEXT_LINE = 0.025  # largest step from one line to the next, as a share of the page's height
_DATA_PREFIXES = tuple(sorted(read_words("identity", "data_prefixes")))
"""Registrants of data sets and protocols, not of papers."""
_METADATA_DOI = ("prism:doi", "pdfx:doi", "crossmark:doi", "pdfx:wps-articledoi", "doi", "wps-articledoi", "articledoi")
_METADATA_TEXT = ("dc:identifier", "prism:url", "subject", "dc:description", "title", "keywords")
_DOI = read_pattern("identity", "doi")
_SUPPLEMENT_SUFFIX = re.compile(r"\.(?:[gts]\d{3}|suppl?\d*)$")
_LABEL = read_pattern("identity", "label")
_CITE_THIS = read_pattern("identity", "cite_this")
_ANOTHER_WORK = read_pattern("identity", "another_work")
_REFERENCES_HEAD = read_pattern("identity", "references_head")
_LOOKS_LIKE_REFERENCE = read_pattern("identity", "looks_like_reference", re.NOFLAG)
_ARXIV_STAMP = read_pattern("identity", "arxiv_stamp")
_SIGNS = re.compile(r"[\W_]+")
_ACL_STAMP = re.compile(r"^proceedings of .{5,300}?\bpages?\b", re.IGNORECASE)
_ACL_OWNER = re.compile(r"association for computational linguistics", re.IGNORECASE)
_ACL_DOI = re.compile(r"10\.(?:18653/v1|3115/v1)/(.+)")
_ACL_URL = read_pattern("identity", "acl_url")
_PMCID = re.compile(r"\bPMC(?:ID)?\s*:?\s*(PMC\d{4,8}|\d{5,8})\b")


def identify(first: FirstPages) -> Identity:
    """Return the identity of one PDF from its first pages and metadata. The function is pure and raises nothing.

    A preprint's arXiv DOI and its arXiv id support each other. The stamp of a later version does not date the first version.
    The month in which the arXiv id was assigned is used instead.
    """
    pages = _cut_references(first.pages)
    doi = _choose_doi(pages, first.metadata)
    arxiv_id, stamped = _find_arxiv_id(pages, first.metadata)
    arxiv_id = arxiv_id or arxiv_of_doi(doi)
    acl_stamp = bool(pages) and _has_acl_stamp(pages[0])
    texts = [line.text for page in pages[:1] for line in page]
    date, precision = publication_date(texts, first.metadata, arxiv_id, stamped)
    return Identity(
        doi=doi,
        arxiv_id=arxiv_id,
        acl_id=_find_acl_id(pages, doi),
        pmc_id=_get_single(normalize_pmcid(id_) for page in pages for x in page for id_ in _PMCID.findall(x.text)),
        date=date,
        date_precision=precision,
        stamp=Stamp.ARXIV if stamped else Stamp.ACL if acl_stamp else None,
    )


def _get_single(found: Iterable[str | None]) -> str | None:
    """Return the only identifier among the values; None if there are none or several."""
    different = set(found) - {None}
    return different.pop() if len(different) == 1 else None


def _cut_references(pages: Sequence[Sequence[PrintedLine]]) -> list[list[PrintedLine]]:
    """Return the lines before the head of the references, and only the top and bottom margins after it."""
    kept: list[list[PrintedLine]] = []
    in_references = False
    for page in pages:
        heads = (i for i, line in enumerate(page) if _REFERENCES_HEAD.fullmatch(line.text))
        end = 0 if in_references else next(heads, len(page))
        in_references = in_references or end < len(page)
        kept.append([*page[:end], *(line for line in page[end:] if line.height > 0.94 or line.height < 0.06)])
    return kept


def _choose_doi(pages: list[list[PrintedLine]], metadata: Mapping[str, str]) -> str | None:
    """Return the DOI with the most evidence; None if the evidence is weak or another DOI has nearly as much."""
    evidence: dict[str, float] = defaultdict(float)
    for key in _METADATA_DOI:
        if doi := normalize_doi(metadata.get(key, "")):
            evidence[doi] = _METADATA_DOI_WEIGHT
    for key in _METADATA_TEXT:
        found = (normalize_doi(match.group()) for match in _DOI.finditer(metadata.get(key, "")))
        if (doi := _get_single(found)) and doi not in evidence:
            evidence[doi] = _METADATA_TEXT_WEIGHT
    best: dict[tuple[str, int], float] = {}
    for number, doi, weight in _find_printed_dois(pages):
        best[doi, number] = max(weight, best.get((doi, number), weight))
    for (doi, _), weight in best.items():  # mentions on two pages count twice; footnotes appear once
        evidence[doi] += max(weight, 0.0) if evidence[doi] >= _METADATA_TEXT_WEIGHT else weight
    for doi in list(evidence):
        if doi.startswith(_DATA_PREFIXES):
            evidence[doi] -= _DATA_PENALTY
        longer = [other for other in evidence if other != doi and other.startswith(doi)]
        if longer and doi[-1] not in "0123456789":  # cut at the end of a line
            evidence[max(longer, key=lambda other: evidence[other])] += max(evidence.pop(doi), 0.0)
    for doi in [doi for doi in evidence if arxiv_of_doi(doi)]:  # the publisher's DOI of the same paper takes precedence
        if any(weight >= _MIN_EVIDENCE and other != doi for other, weight in evidence.items()):
            del evidence[doi]
    ranked = sorted(evidence, key=lambda doi: (-evidence[doi], doi))
    if not ranked or evidence[ranked[0]] < _MIN_EVIDENCE:
        return None
    if len(ranked) > 1 and evidence[ranked[0]] - evidence[ranked[1]] < _MIN_LEAD:
        return None
    return ranked[0]


def _find_printed_dois(pages: list[list[PrintedLine]]) -> Iterator[tuple[int, str, float]]:
    """Yield the page number, DOI and weight of each mention of a DOI."""
    letters = [_SIGNS.sub("", " ".join(line.text for line in page).casefold()) for page in pages]
    for number, page in enumerate(pages):
        for i, line in enumerate(page):
            for match in _DOI.finditer(line.text):
                text = match.group()
                follows = page[i + 1].text if i + 1 < len(page) else ""
                if (
                    match.end() == len(line.text.rstrip())
                    and text[-1] in "./-_"
                    and (more := re.match(r"[a-z0-9][\w.()/;-]*", follows, re.IGNORECASE))
                ):
                    text += more.group()
                if (doi := normalize_doi(text)) is not None:
                    weight = _weigh_mention(line, match, _join_lines_above(page, i), letters, on_first=number == 0)
                    yield number, _SUPPLEMENT_SUFFIX.sub("", doi), weight


def _join_lines_above(page: list[PrintedLine], at: int) -> str:
    """Return the text of up to six lines directly above a line, without gaps between them."""
    first = at
    while first > max(0, at - 6) and 0.0 <= page[first - 1].height - page[first].height < _NEXT_LINE:
        first -= 1
    return " ".join(line.text for line in page[first:at])


def _weigh_mention(
    line: PrintedLine, match: re.Match[str], before: str, letters: list[str], *, on_first: bool
) -> float:
    """Return how strongly one mention supports that the DOI is the paper's own, from -3 to 4."""
    label = line.text[: match.start()]
    near = f"{before} {label}"
    if _ANOTHER_WORK.search(label[-120:]):
        return -3.0
    if _CITE_THIS.search(near[-500:]):
        return 3.0
    if _ANOTHER_WORK.search(near[-60:]):
        return -3.0
    rest = _LABEL.sub("", line.text[: match.start()] + line.text[match.end() :])
    running_head = (line.height > 0.93 or line.height < 0.07) and len(rest) < 80
    weight = 2.0 if not rest or running_head else 1.0 if len(rest) < 60 else 0.0
    if line.height > 0.85 or line.height < 0.15:
        weight += 1.0
    below_authors = on_first and not rest and line.height > 0.5  # authors' initials look like a reference
    if not running_head and not below_authors and _LOOKS_LIKE_REFERENCE.search(near[-150:]):
        plain, whole = "".join(c for c in near[-400:].casefold() if c.isalnum()), "".join(letters)
        parts = (plain[i : i + 30] for i in range(0, max(len(plain) - 29, 0), 5))
        repeats_title = any(whole.count(part) > 1 for part in parts)  # as in the paper's own citation
        weight += 1.0 if repeats_title else -2.5 if rest or line.height < 0.5 else -1.0
    return weight


def _find_arxiv_id(
    pages: list[list[PrintedLine]], metadata: Mapping[str, str]
) -> tuple[str | None, tuple[str, bool] | None]:
    """Return the arXiv id, and the stamp's date with whether it is the date of the first version."""
    for page in pages[:2]:
        for line in page:
            if (match := _ARXIV_STAMP.match(line.text)) and (found := normalize_arxiv(match["id"])):
                return found, (match["date"], match["version"] in (None, "v1"))
    for key in ("arxivid", "pdfx:arxivid", "doi", "pdfx:doi"):
        value = metadata.get(key, "")
        if ("arxiv" in key or "arxiv" in value.casefold()) and (found := normalize_arxiv(value)):
            return found, None
    return None, None


def _find_acl_id(pages: list[list[PrintedLine]], doi: str | None) -> str | None:
    """Return the ACL Anthology id, from the DOI or from the only Anthology address in the first page's margins."""
    if doi and (match := _ACL_DOI.fullmatch(doi)):
        return normalize_acl(match.group(1))
    margins = [line.text for page in pages[:1] for line in page if line.height > 0.88 or line.height < 0.12]
    return _get_single(normalize_acl(address.rstrip(".")) for text in margins for address in _ACL_URL.findall(text))


def _has_acl_stamp(page: list[PrintedLine]) -> bool:
    """Return whether the foot of the first page names proceedings with page numbers and the ACL as owner."""
    foot = [line.text for line in page if line.height < 0.12]
    is_stamped = any(_ACL_STAMP.match(" ".join(foot[i : i + 3])) for i in range(len(foot)))
    return is_stamped and any(map(_ACL_OWNER.search, foot))
