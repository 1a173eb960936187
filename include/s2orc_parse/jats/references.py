"""Convert `ref` elements to bibliography entries. Entries without a title are included: they may be cited."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from s2orc_parse.bibliography import identifiers
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.dates import FIRST_YEAR, LAST_YEAR
from s2orc_parse.bibliography.names import make_author
from s2orc_parse.jats import front
from s2orc_parse.jats.read import Element
from s2orc_parse.jats.text import plain
from s2orc_parse.parse_model import BibEntry
from s2orc_parse.tei.bibliography import add_arxiv

_HREF = "{http://www.w3.org/1999/xlink}href"
_CITATIONS = frozenset(("element-citation", "mixed-citation", "nlm-citation", "citation", "product"))
_TITLES = ("article-title", "chapter-title", "part-title", "trans-title", "data-title")
_YEAR = re.compile(r"(?<![\d.])(1[5-9]\d\d|20\d\d)(?![\d-]|\.\d)")
_ARXIV = re.compile(r"\barxiv\b", re.IGNORECASE)
_PMID_LINK = re.compile(r"ncbi\.nlm\.nih\.gov/(?:m/)?pubmed/|pubmed\.ncbi\.nlm\.nih\.gov/")
_PMC_LINK = re.compile(r"/pmc/articles/(PMC\d+)", re.IGNORECASE)
_PMID_WORD = re.compile(r"\s*(?:pmid|pubmed)\b|\S*ncbi\.nlm\.nih\.gov/", re.IGNORECASE)
_PMC_WORD = re.compile(r"\s*PMC\s?\d", re.IGNORECASE)
_OTHER_IDS = frozenset(
    ("accession", "ark", "art-access-id", "coden", "doaj", "index", "isbn", "issn", "jfm", "manuscript", "medline", "mr", "pii",
     "publisher-id", "sici", "std-designation", "zbl")
)  # fmt: skip
"""values of `pub-id-type` (JATS Tag Library) that are ignored; identifiers of unlisted types are detected by their form"""
_NO_NAMES = frozenset(("et al", "others", "and others"))


def read_references(article: Element) -> tuple[list[BibEntry], Mapping[str, tuple[str, ...]]]:
    """Return the entries of all reference lists except the lists of sub-articles, and the keys of the entries by id.

    A reference with several works (`(a) …; (b) …`) has an entry for each work. Its own id refers to all its entries.
    """
    entries: list[BibEntry] = []
    ids: dict[str, tuple[str, ...]] = {}
    for ref in _find_refs(article):
        ref_id = ref.get("id") or ""
        works = _find_citations(ref)
        label = next((plain(child) for place in (ref, *works) for child in place.iterchildren("label")), "")
        keys = []
        for n, work in enumerate(works):
            key = f"BIBREF{len(entries)}"
            work_id = work.get("id") or ""
            name = ref_id if n == 0 and ref_id else work_id or (f"{ref_id}.{n}" if ref_id else f"ref{len(entries)}")
            entries.append(_build_entry(work, key, name, label.strip(" []().") or None))
            keys.append(key)
            if work_id:
                ids.setdefault(work_id, (key,))
        if ref_id and keys:
            ids[ref_id] = tuple(keys)
    return entries, ids


def _find_refs(article: Element) -> Iterable[Element]:
    for part in article:
        if part.tag in ("front", "body", "back", "floats-group"):
            yield from part.iter("ref")


def _find_citations(ref: Element) -> list[Element]:
    """Return the citations in a reference, and only the first of alternative forms.

    A reference without citations is a note.
    """
    found = []
    for child in ref:
        name = child.tag
        if name in _CITATIONS:
            found.append(child)
        elif name == "citation-alternatives":
            found.extend([form for form in child if form.tag in _CITATIONS][:1])
    return found or [ref]


class _CitationContent:
    """The content of one citation, read in one pass."""

    def __init__(self, work: Element) -> None:
        self.fields: dict[str, str] = {}
        self.authors: list[Author] = []
        self.pub_ids: list[tuple[str, str]] = []
        self.urls: list[str] = []
        self._is_printed = work.tag in _PRINTED and _has_punctuation(work)
        self._parts = [work.text or ""]
        self._read(work, authors=True)
        self.raw = " ".join("".join(self._parts).split())
        self.kind = (work.get("publication-type") or work.get("citation-type") or "").casefold()

    def _read(self, element: Element, *, authors: bool) -> None:
        parts, fields, before = self._parts, self.fields, ""
        children = list(element)
        if not self._is_printed:
            children = [child for child in children if child.tag != "label" and _has_text(child)]
        for at, child in enumerate(children):
            tag = child.tag
            after = next((other.tag for other in children[at + 1 : at + 3] if _has_text(other)), "")
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
            tail = child.tail
            if self._is_printed:
                parts.append(_join_printed(tag, tail, after))
            elif tail and tail.strip():
                parts.append(tail)
            elif after:
                parts.append(_separate(parts, before, str(tag), str(after)))
            before = str(tag)

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
            self.authors.append(Author(given, (), family, ""))  # shortcut with the result of make_author
        elif (author := make_author(given, family, suffix)) is not None:
            self.authors.append(author)

    def _other(self, child: Element, tag: object, authors: bool) -> None:
        if tag == "string-name" or tag == "collab":
            text = front.read_group_name(child) if tag == "collab" else _string_name(child)
            self._parts.append(text)
            if not authors or not text or text.casefold().strip(" .,") in _NO_NAMES:
                return
            author = make_author("", text) if tag == "collab" else front.read_string_name(child)
            if author is not None:
                self.authors.append(author)
        elif tag == "name-alternatives" or tag == "collab-alternatives":
            for form in child[:1]:
                if form.tag == "name":
                    self._name(form, authors)
                else:
                    self._other(form, form.tag, authors)
        else:
            if tag == "pub-id" or tag == "object-id":
                self.pub_ids.append(((child.get("pub-id-type") or "").casefold(), plain(child) or child.get(_HREF, "")))
            elif (tag == "ext-link" or tag == "uri") and (url := child.get(_HREF) or plain(child)):
                self.urls.append(url.strip())
            self._parts.append(child.text or "")
            self._read(child, authors=authors)


_PRINTED = frozenset(("mixed-citation", "citation", "ref"))
_AUTHORS = frozenset(("author", "authors", "allauthors", "inventor"))
_FIELDS = frozenset(
    (*_TITLES, "source", "year", "volume", "issue", "fpage", "lpage", "page-range", "elocation-id", "publisher-name", "issn",
     "conf-name", "conf-acronym", "series", "trans-source", "issue-title")
)  # fmt: skip


_PERIODICALS = frozenset(("journal", "periodical", "magazine", "newspaper", "newsletter", "letter", "review"))
_BOOKS = frozenset(
    ("book", "book-chapter", "chapter", "monograph", "report", "gov", "government", "thesis", "dissertation", "software", "data", "dataset",
     "database", "web", "webpage", "website", "web-page", "standard", "patent", "preprint", "manual", "guideline", "legal", "commun")
)  # fmt: skip


_PERIODICAL_NAME = re.compile(
    r"\b(?:journals?|jnl|annals|annual|archives?|acta|advances|bulletin|bolet[ií]n|cahiers|comptes|ieee|letters|magazine|newsletter|news"
    r"|proc|proceedings|progress|quarterly|reviews?|revista|revue|rivista|studies|transactions|trans|trends|weekly|zeitschrift)\b"
    r"|\b(?-i:[A-Z])\w{0,8}\.(?:\s|$)",
    re.IGNORECASE,
)
_PAGE_COUNT = re.compile(r"\d+\s*(?:pp?|pages)\.?", re.IGNORECASE)


def _is_part(content: _CitationContent) -> bool:
    """Return whether the cited work is part of its `source`: an article without title in a journal, not a book.

    Without a decisive type, a volume, issue, ISSN or pages indicate a part if no publisher is named. A `journal`
    whose source has many words, and no word that is typical of journals, is a book, report or program.
    """
    fields = content.fields
    volume = "" if _PAGE_COUNT.fullmatch(fields.get("volume", "")) else fields.get("volume", "")
    has_place = bool(volume) or any(
        fields.get(name) for name in ("issue", "issn", "elocation-id", "fpage", "page-range")
    )
    if content.kind in _PERIODICALS:
        name = fields.get("source", "")
        is_name = len(name.split()) < (7 if has_place else 4) or _PERIODICAL_NAME.search(name) is not None
        return is_name and (has_place or not fields.get("publisher-name"))
    return content.kind not in _BOOKS and has_place and not fields.get("publisher-name")


def _has_punctuation(work: Element) -> bool:
    """Return whether a citation prints text between its fields, or has no fields."""
    return not len(work) or any(text and text.strip() for text in (work.text, *(child.tail for child in work)))


def _has_text(element: Element) -> bool:
    return bool(len(element) or (element.text and element.text.strip()) or element.get(_HREF))


_PEOPLE = frozenset(("name", "string-name", "collab", "name-alternatives", "collab-alternatives", "etal", "anonymous"))
_DATES = frozenset(("year", "month", "day", "season", "date"))
_PAGES = frozenset(("fpage", "page-range", "elocation-id"))


def _separate(parts: list[str], before: str, tag: str, after: str) -> str:
    """Return the separator between two fields of a citation without punctuation.

    Example: `Lee A, Hu B. Work. J Odd. 2001;3(2):12-15`.
    """
    if tag in _PEOPLE and after in _PEOPLE:
        return ", "
    if tag in _DATES and after in ("volume", "issue"):
        return ";"
    if tag in _DATES and after in _DATES:
        return " "
    if tag == "volume" and after == "issue":
        return "("
    is_closing = tag == "issue" and before == "volume"
    if after in _PAGES and tag in ("volume", "issue", *_DATES):
        return "):" if is_closing else ":"
    if tag == "fpage" and after == "lpage":
        return "-"
    if tag in ("publisher-loc", "publisher-name") and after in ("publisher-loc", "publisher-name"):
        return ": "
    last = next((part for part in reversed(parts) if part.strip()), "").rstrip()
    return "). " if is_closing else " " if last.endswith((".", "?", "!")) else ". "


_STRUCTURE = (
    _PEOPLE | _DATES | {"person-group", "pub-id", "object-id", "ext-link", "uri", "publisher-loc", "edition", "lpage"}
)


def _join_printed(tag: object, tail: str | None, after: object) -> str:
    """Return the text after an element of a printed citation; add a space if two fields would otherwise touch."""
    text = tail or ""
    if not _is_structure(after):
        return text
    if not text:
        return ", " if tag in _PEOPLE and after in _PEOPLE - {"etal"} else " " if _is_structure(tag) else ""
    return (
        f"{text} "
        if after in ("pub-id", "object-id", "ext-link", "uri") and text[-1] not in " \t\r\n([{:/=\"'“<"
        else text
    )


def _is_structure(tag: object) -> bool:
    return tag in _STRUCTURE or tag in _FIELDS


def _string_name(element: Element) -> str:
    """Return the text of a `string-name`, with a space between adjacent parts."""
    parts = [element.text or ""]
    for child in element:
        parts += [plain(child), child.tail or (" " if child.getnext() is not None else "")]
    return " ".join("".join(parts).split())


def _build_entry(work: Element, key: str, ref_id: str, label: str | None) -> BibEntry:
    content = _CitationContent(work)
    fields = content.fields
    title = next((fields[name] for name in _TITLES if fields.get(name)), "")
    place = fields.get("source", "")
    if not title and not _is_part(content):
        title, place = place, ""
    venues = (place, *(fields.get(name, "") for name in ("conf-name", "conf-acronym", "series")))
    found = _collect_identifiers(content.pub_ids, content.urls, content.raw)
    year = _YEAR.search(fields.get("year", ""))
    first, last = fields.get("fpage", ""), fields.get("lpage", "")
    pages = f"{first}--{last}" if first and last and first != last else first
    return BibEntry(
        key=key,
        ref_id=ref_id,
        title=title,
        authors=tuple(content.authors),
        year=int(year.group()) if year else _find_year(content.raw),
        venue=next(filter(None, venues), ""),
        label=label,
        volume=fields.get("volume", ""),
        issue=fields.get("issue", ""),
        pages=pages or fields.get("page-range") or fields.get("elocation-id", ""),
        publisher=fields.get("publisher-name", ""),
        issn=fields.get("issn", ""),
        raw_text=content.raw,
        urls=tuple(dict.fromkeys(content.urls)),
        **found,
    )


def _collect_identifiers(pub_ids: Iterable[tuple[str, str]], urls: Iterable[str], text: str) -> dict[str, str]:
    """Return the first normalized identifier of each kind: from tags, then from links, then printed arXiv ids."""
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
        elif kind == "jstor":
            take("doi", identifiers.doi_of_jstor(value))
        elif kind == "handle" or kind not in _OTHER_IDS:
            take("doi", identifiers.doi_of_url(value))
            take("pubmed_id", identifiers.normalise_pmid(value) if _PMID_WORD.match(value) else None)
            take("pmc_id", identifiers.normalise_pmcid(value) if _PMC_WORD.match(value) else None)
    for url in urls:
        if doi := identifiers.doi_of_url(url):
            take("doi", doi)
        elif "jstor.org/stable/" in url:
            take("doi", identifiers.doi_of_jstor(url))
        elif "arxiv.org/" in url:
            take("arxiv_id", identifiers.normalise_arxiv(url))
        elif _PMID_LINK.search(url):
            take("pubmed_id", identifiers.normalise_pmid(url))
        elif match := _PMC_LINK.search(url):
            take("pmc_id", identifiers.normalise_pmcid(match.group(1)))
    if "arxiv" in text.casefold() and (match := _ARXIV.search(text)):
        take("arxiv_id", identifiers.normalise_arxiv(text[match.start() :]))
    return add_arxiv(found)


def _find_year(raw: str) -> int | None:
    """Return the year in a raw reference if it contains exactly one possible year."""
    years = {year for year in _YEAR.findall(raw) if FIRST_YEAR <= int(year) <= LAST_YEAR}
    return int(years.pop()) if len(years) == 1 else None
