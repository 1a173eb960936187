"""`ref` → bibliography entries. Nothing is thrown away: an entry without a title is still cited."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from s2orc_parse.bibliography import identifiers
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.dates import FIRST_YEAR, LAST_YEAR
from s2orc_parse.bibliography.names import make_author, parse_name
from s2orc_parse.jats.read import Element
from s2orc_parse.jats.text import plain
from s2orc_parse.parse_model import BibEntry
from s2orc_parse.tei.bibliography import with_arxiv

_HREF = "{http://www.w3.org/1999/xlink}href"
_CITATIONS = frozenset(("element-citation", "mixed-citation", "nlm-citation", "citation", "product"))
_TITLES = ("article-title", "chapter-title", "part-title", "trans-title", "data-title")
_YEAR = re.compile(r"(?<![\d.])(1[5-9]\d\d|20\d\d)(?![\d-]|\.\d)")
_ARXIV = re.compile(r"\barxiv\b", re.IGNORECASE)
_PMID_LINK = re.compile(r"ncbi\.nlm\.nih\.gov/(?:m/)?pubmed/|pubmed\.ncbi\.nlm\.nih\.gov/")
_PMC_LINK = re.compile(r"/pmc/articles/(PMC\d+)", re.IGNORECASE)
_NOBODY = frozenset(("et al", "others", "and others"))


def read_references(article: Element) -> tuple[list[BibEntry], Mapping[str, tuple[str, ...]]]:
    """The entries of all reference lists but those of sub-articles, and the keys of the entries that each id means.

    A reference of several works (`(a) …; (b) …`) has an entry for each: its own id means all of them.
    """
    entries: list[BibEntry] = []
    ids: dict[str, tuple[str, ...]] = {}
    for ref in _refs(article):
        ref_id = ref.get("id") or ""
        works = _works(ref)
        label = next((plain(child) for place in (ref, *works) for child in place.iterchildren("label")), "")
        keys = []
        for n, work in enumerate(works):
            key = f"BIBREF{len(entries)}"
            own = work.get("id") or ""
            name = ref_id if n == 0 and ref_id else own or (f"{ref_id}.{n}" if ref_id else f"ref{len(entries)}")
            entries.append(_entry(work, key, name, label.strip(" []().") or None))
            keys.append(key)
            if own:
                ids.setdefault(own, (key,))
        if ref_id and keys:
            ids[ref_id] = tuple(keys)
    return entries, ids


def _refs(article: Element) -> Iterable[Element]:
    for part in article:
        if part.tag in ("front", "body", "back", "floats-group"):
            yield from part.iter("ref")


def _works(ref: Element) -> list[Element]:
    """The citations of a reference; of the forms of one the first. A reference without any (a note) is its own."""
    found = []
    for child in ref:
        name = child.tag
        if name in _CITATIONS:
            found.append(child)
        elif name == "citation-alternatives":
            found.extend([form for form in child if form.tag in _CITATIONS][:1])
    return found or [ref]


class _Said:
    """What one citation says, read in one pass."""

    def __init__(self, work: Element) -> None:
        self.fields: dict[str, str] = {}
        self.authors: list[Author] = []
        self.pub_ids: list[tuple[str, str]] = []
        self.urls: list[str] = []
        self._between = "" if work.tag in _PRINTED else " "  # a citation of fields only prints nothing between them
        self._parts = [work.text or ""]
        self._read(work, authors=True)
        self.raw = " ".join("".join(self._parts).split())

    def _read(self, element: Element, *, authors: bool) -> None:
        parts, fields, between = self._parts, self.fields, self._between
        for child in element:
            tag = child.tag
            if tag == "name":
                self._name(child, authors)
            elif tag in _FIELDS:
                if len(child):
                    text = words = plain(child)
                else:
                    text = child.text or ""
                    words = text if text.isalnum() else " ".join(text.split())
                parts.append(text)
                if tag not in fields:
                    fields[tag] = words
            elif tag == "person-group":
                self._read(child, authors=authors and child.get("person-group-type", "author") in _AUTHORS)
            elif tag != "label":
                self._other(child, tag, authors)
            parts.append(child.tail or between)

    def _name(self, element: Element, authors: bool) -> None:
        given = family = suffix = ""
        for part in element:
            tag = part.tag
            text = part.text
            if text is None or not text.isalnum() or len(part):
                text = plain(part)
            if tag == "surname":
                family = text
            elif tag == "given-names":
                given = text
            elif tag == "suffix":
                suffix = text
        self._parts.append(f"{family} {given} {suffix}" if suffix else f"{family} {given}" if given else family)
        if not authors:
            return
        if family and not suffix and given.isalpha() and family.isalpha():
            self.authors.append(Author(given, (), family, ""))  # as below, sooner
        elif (author := make_author(given, family, suffix)) is not None:
            self.authors.append(author)

    def _other(self, child: Element, tag: object, authors: bool) -> None:
        if tag == "string-name" or tag == "collab":
            text = plain(child)
            self._parts.append(text)
            if not authors or not text or text.casefold().strip(" .,") in _NOBODY:
                return
            if tag == "collab":
                author = make_author("", text)
            elif family := plain(child.find("surname")):
                author = make_author(plain(child.find("given-names")), family, plain(child.find("suffix")))
            else:
                author = parse_name(text)
            if author is not None:
                self.authors.append(author)
        elif tag == "name-alternatives":
            for form in child[:1]:
                self._name(form, authors)
        else:
            if tag == "pub-id" or tag == "object-id":
                self.pub_ids.append(((child.get("pub-id-type") or "").casefold(), plain(child)))
            elif (tag == "ext-link" or tag == "uri") and (url := child.get(_HREF) or plain(child)):
                self.urls.append(url.strip())
            self._parts.append(child.text or "")
            self._read(child, authors=authors)


_PRINTED = frozenset(("mixed-citation", "citation", "ref"))
_AUTHORS = frozenset(("author", "authors", "allauthors", "inventor"))
_FIELDS = frozenset(
    (*_TITLES, "source", "year", "volume", "issue", "fpage", "lpage", "page-range", "elocation-id", "publisher-name", "issn",
     "conf-name")
)  # fmt: skip


def _entry(work: Element, key: str, ref_id: str, label: str | None) -> BibEntry:
    said = _Said(work)
    fields = said.fields
    title = next((fields[name] for name in _TITLES if fields.get(name)), "")
    source = fields.get("source", "")
    found = _identifiers(said.pub_ids, said.urls, said.raw)
    year = _YEAR.search(fields.get("year", ""))
    first, last = fields.get("fpage", ""), fields.get("lpage", "")
    pages = f"{first}--{last}" if first and last and first != last else first
    return BibEntry(
        key=key,
        ref_id=ref_id,
        title=title or source,
        authors=tuple(said.authors),
        year=int(year.group()) if year else _year_of_text(said.raw),
        venue=source if title else fields.get("conf-name", ""),
        label=label,
        volume=fields.get("volume", ""),
        issue=fields.get("issue", ""),
        pages=pages or fields.get("page-range") or fields.get("elocation-id", ""),
        publisher=fields.get("publisher-name", ""),
        issn=fields.get("issn", ""),
        doi=found.get("doi"),
        arxiv_id=found.get("arxiv_id"),
        pubmed_id=found.get("pubmed_id"),
        pmc_id=found.get("pmc_id"),
        raw_text=said.raw,
        urls=tuple(dict.fromkeys(said.urls)),
    )


def _identifiers(pub_ids: Iterable[tuple[str, str]], urls: Iterable[str], text: str) -> dict[str, str]:
    """Normalised identifiers, the first of each kind: as tagged, then as links say, then arXiv's as printed."""
    found: dict[str, str] = {}

    def take(name: str, identifier: str | None) -> None:
        if identifier:
            found.setdefault(name, identifier)

    for kind, value in pub_ids:
        if kind == "doi":
            take("doi", identifiers.normalise_doi(value))
        elif kind in ("pmid", "pubmed"):
            take("pubmed_id", identifiers.normalise_pmid(value))
        elif kind in ("pmcid", "pmc"):
            take("pmc_id", identifiers.normalise_pmcid(value))
        elif kind == "arxiv" or _ARXIV.search(value):
            take("arxiv_id", identifiers.normalise_arxiv(value))
    for url in urls:
        if "doi.org/" in url or url.startswith(("10.", "doi:")):
            take("doi", identifiers.normalise_doi(url))
        elif "arxiv.org/" in url:
            take("arxiv_id", identifiers.normalise_arxiv(url))
        elif _PMID_LINK.search(url):
            take("pubmed_id", identifiers.normalise_pmid(url))
        elif match := _PMC_LINK.search(url):
            take("pmc_id", identifiers.normalise_pmcid(match.group(1)))
    if "arxiv" in text.casefold() and (match := _ARXIV.search(text)):
        take("arxiv_id", identifiers.normalise_arxiv(text[match.start() :]))
    return with_arxiv(found)


def _year_of_text(raw: str) -> int | None:
    """The year of a raw reference that has exactly one number that can be one."""
    years = {year for year in _YEAR.findall(raw) if FIRST_YEAR <= int(year) <= LAST_YEAR}
    return int(years.pop()) if len(years) == 1 else None
