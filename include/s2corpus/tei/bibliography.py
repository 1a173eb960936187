"""`biblStruct` → bibliography entries. Nothing is thrown away: an entry without a title is still cited."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from s2corpus.sources import identifiers
from s2corpus.sources.dates import parse_date as parse_any_date
from s2corpus.sources.dates import year_of
from s2corpus.sources.names import make_author
from s2corpus.sources.record import Author
from s2corpus.tei.model import BibEntry
from s2corpus.tei.read import local_name
from s2corpus.tei.text import Element, plain

XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
_GROBID_ID = re.compile(r"b(\d{1,5})")
_NOT_A_NAME = frozenset(("others", "al", "et al", "and others", "others et al"))
_NAME_SUFFIX = re.compile(r"(.+?)[,\s]+(jr|sr|ii|iii|iv)\.?", re.IGNORECASE)
_LABEL = re.compile(r"\s*(?:\[([^\[\]\s]{1,12})\]|(\d{1,4})\s*[.)](?=\s))")
_INNER_LABEL = re.compile(r"\[(\d{1,4})\]")
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)[a-z]?(?![\d-])")
_PMID_NOTE = re.compile(r"\bPMID:?\s*(\d{1,8})\b", re.IGNORECASE)
_PMCID_NOTE = re.compile(r"\bPMC\s?(\d{4,8})\b")
_ARXIV_NOTE = re.compile(r"\barxiv\b", re.IGNORECASE)


def read_bibliography(lists: Iterable[Element]) -> tuple[list[Element], list[BibEntry]]:
    """The elements and entries of all `listBibl`s in order; keys follow GROBID's own numbers where it gave distinct ones."""
    entries = [child for found in lists for child in found.iter() if local_name(child) in ("biblStruct", "bibl")]
    ids = [entry.get(XML_ID) or "" for entry in entries]
    matches = [_GROBID_ID.fullmatch(identifier) for identifier in ids]
    numbers = [int(match.group(1)) for match in matches if match]
    if len(numbers) < len(ids) or len(set(numbers)) < len(ids):
        numbers = list(range(len(ids)))
    raws = [_raw(entry) for entry in entries]
    labels = _labels(entries, raws)
    return entries, [
        _entry(entry, f"BIBREF{number}", identifier or f"b{number}", raw, label)
        for entry, number, identifier, raw, label in zip(entries, numbers, ids, raws, labels, strict=True)
    ]


def read_authors(parent: Element) -> tuple[Author, ...]:
    """Authors directly under `analytic`, `monogr` or `bibl`; "and others" is none."""
    authors = []
    for element in parent:
        if local_name(element) != "author":
            continue
        name = next((child for child in element if local_name(child) in ("persName", "name")), None)
        author = _person(name if name is not None else element)
        if author is not None:
            authors.append(author)
    return tuple(authors)


def _person(name: Element) -> Author | None:
    given: list[str] = []
    family = suffix = ""
    for part in name:
        tag = local_name(part)
        if tag == "forename":
            given.append(plain(part))
        elif tag == "surname":
            family = f"{family} {plain(part)}".strip()
        elif tag in ("genName", "nameLink"):
            text = plain(part)
            suffix, family = (text, family) if tag == "genName" else (suffix, f"{text} {family}".strip())
    if not family and not given:
        if len(name) and local_name(name) == "author":
            return None  # affiliations only
        family = "" if len(name) else plain(name)
    if family.casefold().strip(" .,") in _NOT_A_NAME:
        return None
    if not suffix and (match := _NAME_SUFFIX.fullmatch(family)):
        family, suffix = match.groups()
    return make_author(" ".join(given), family, suffix)


def read_identifiers(elements: Iterable[Element]) -> dict[str, str]:
    """Normalised identifiers (`doi, arxiv_id, pubmed_id, pmc_id`) of some `idno`s, the first of each kind."""
    found: dict[str, str] = {}
    for element in elements:
        kind = (element.get("type") or "").casefold()
        value = plain(element)
        if kind == "arxiv" or (not kind and _ARXIV_NOTE.search(value)):
            name, identifier = "arxiv_id", identifiers.normalise_arxiv(value)
        elif kind in ("pmid", "pubmed"):
            name, identifier = "pubmed_id", identifiers.normalise_pmid(value)
        elif kind in ("pmcid", "pmc"):
            name, identifier = "pmc_id", identifiers.normalise_pmcid(value)
        elif kind in ("", "doi"):
            name, identifier = "doi", identifiers.normalise_doi(value)
        else:
            continue
        if identifier:
            found.setdefault(name, identifier)
    return found


def with_arxiv(found: dict[str, str]) -> dict[str, str]:
    """The two names that a preprint has at arXiv, each from the other: 10.48550/arxiv.X and X."""
    if (arxiv_id := identifiers.arxiv_of_doi(found.get("doi"))) and "arxiv_id" not in found:
        return {**found, "arxiv_id": arxiv_id}
    if "arxiv_id" in found and "doi" not in found:
        return {**found, "doi": identifiers.doi_of_arxiv(found["arxiv_id"])}
    return found


def _raw(entry: Element) -> str:
    for note in entry.iter():
        if local_name(note) == "note" and note.get("type") == "raw_reference":
            return plain(note)
    return plain(entry) if local_name(entry) == "bibl" else ""


def _labels(entries: list[Element], raws: list[str]) -> list[str | None]:
    """The label printed before each entry: an attribute or element of its own, or the start of the raw reference.

    GROBID may leave "[12]" inside the raw text where a column broke; such numbers count only if they ascend over
    the whole list, and so do plain numbers ("12. Smith"), which may be part of the reference.
    """
    labels: list[str | None] = []
    for entry, raw in zip(entries, raws, strict=True):
        own = entry.get("n") or next((plain(c) for c in entry if local_name(c) == "label"), "")
        match = _LABEL.match(raw)
        label = own.strip(" []().") or (match and (match.group(1) or match.group(2))) or ""
        if not label and (inner := _INNER_LABEL.findall(raw)) and len(inner) == 1:
            label = inner[0]
        labels.append(label or None)
    numeric = [int(label) for label in labels if label and label.isdecimal()]
    if any(b <= a for a, b in pairwise(numeric)):
        labels = [None if label and label.isdecimal() else label for label in labels]
    return labels


def _entry(entry: Element, key: str, ref_id: str, raw: str, label: str | None) -> BibEntry:
    titles: dict[str, str] = {}
    authors: tuple[Author, ...] = ()
    meeting = ""
    scopes: dict[str, str] = {}
    year: int | None = None
    publisher = issn = ""
    idnos: list[Element] = []
    urls: list[str] = []
    notes: list[str] = []
    for part in entry:
        tag = local_name(part)
        if tag in ("analytic", "monogr", "series"):
            authors = authors or read_authors(part)
        for element in part.iter():
            name = local_name(element)
            if name == "title":
                level = element.get("level") or ("a" if tag == "analytic" else "m")
                if element.get("type") == "abbrev" and level in titles:
                    continue
                titles.setdefault(level, plain(element))
            elif name == "idno":
                if (element.get("type") or "").casefold().startswith(("issn", "eissn")):
                    issn = issn or plain(element)
                else:
                    idnos.append(element)
            elif name == "ptr":
                urls.append((element.get("target") or "").strip())
            elif name == "date":
                year = year or _year(element)
            elif name == "biblScope":
                unit = element.get("unit") or element.get("type") or ""
                scopes[unit] = _join_scope(scopes.get(unit, ""), element)
            elif name == "publisher":
                publisher = publisher or plain(element)
            elif name == "meeting":
                meeting = meeting or " ".join((element.text or "").split())
            elif name == "note" and element.get("type") != "raw_reference":
                notes.append(plain(element))
    is_book = "a" not in titles  # the monograph is the work itself
    title = titles.get("m" if is_book else "a", "")
    venue = next(
        (titles[level] for level in (("j", "s") if is_book else ("j", "m", "s")) if titles.get(level)), meeting
    )
    found = with_arxiv(_identifiers(idnos, urls, raw, notes))
    return BibEntry(
        key=key, ref_id=ref_id, title=title, authors=authors or read_authors(entry),
        year=year if year is not None else _year_of_text(raw),
        venue=venue, label=label,
        volume=scopes.get("volume") or scopes.get("vol", ""), issue=scopes.get("issue", ""),
        pages=scopes.get("page") or scopes.get("pp", ""), publisher=publisher, issn=issn,
        doi=found.get("doi"), arxiv_id=found.get("arxiv_id"), pubmed_id=found.get("pubmed_id"), pmc_id=found.get("pmc_id"),
        raw_text=raw, urls=tuple(dict.fromkeys(url for url in urls if url)),
    )  # fmt: skip


def _identifiers(idnos: list[Element], urls: list[str], raw: str, notes: list[str]) -> dict[str, str]:
    found = read_identifiers(idnos)
    for url in urls:
        if "doi.org/" in url and (doi := identifiers.normalise_doi(url)):
            found.setdefault("doi", doi)
        elif "arxiv.org/" in url and (arxiv_id := identifiers.normalise_arxiv(url)):
            found.setdefault("arxiv_id", arxiv_id)
    for text in (raw, *notes):
        if match := _PMID_NOTE.search(text):
            found.setdefault("pubmed_id", match.group(1).lstrip("0"))
        if match := _PMCID_NOTE.search(text):
            found.setdefault("pmc_id", f"PMC{match.group(1)}")
        if (match := _ARXIV_NOTE.search(text)) and (arxiv_id := identifiers.normalise_arxiv(text[match.start() :])):
            found.setdefault("arxiv_id", arxiv_id)
    return found


def _year(date: Element) -> int | None:
    for text in (date.get("when"), date.text):
        if text and (year := year_of(parse_any_date(text)[0])):
            return year
    return None


def _year_of_text(raw: str) -> int | None:
    """The year of a raw reference that has exactly one number that can be one."""
    years = set(_YEAR.findall(raw))
    return int(years.pop()) if len(years) == 1 else None


def _join_scope(before: str, scope: Element) -> str:
    """A volume, an issue or pages "from--to" (S2ORC's double dash); halves in two elements are joined."""
    first, last = (scope.get("from") or "").strip(), (scope.get("to") or "").strip()
    if first and last and first != last:
        return f"{first}--{last}"
    text = first or last or plain(scope)
    return f"{before}--{text}" if before and text and last and before != text else before or text
