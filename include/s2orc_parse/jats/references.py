"""Convert `ref` elements to bibliography entries. Entries without a title are included: they may be cited."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.dates import extract_year, find_year, parse_date
from s2orc_parse.bibliography.leading_names import split_leading_names
from s2orc_parse.bibliography.links import clean_url, collect_identifiers
from s2orc_parse.bibliography.names import make_author, make_group
from s2orc_parse.bibliography.printed import ReferenceParser, read_certain_fields
from s2orc_parse.jats import front
from s2orc_parse.jats.text import HREF, plain
from s2orc_parse.parse_model import BibEntry
from s2orc_parse.words import read_table
from s2orc_parse.xml import Element

_CITATIONS = frozenset(("element-citation", "mixed-citation", "nlm-citation", "citation", "product"))
_STRUCTURED = frozenset(("element-citation", "nlm-citation"))
_WORDS: dict[str, list[str]] = {name: words.split() for name, words in read_table("jats/words")["references"].items()}
_TITLES = _WORDS["titles"]
_FIELDS, _AUTHORS, _PERIODICALS, _BOOKS, _PEOPLE, _DATES, _PAGES = (
    frozenset(_WORDS[name]) for name in ("fields", "authors", "periodicals", "books", "people", "dates", "pages")
)
_NO_NAMES = frozenset(("et al", "others", "and others"))
_ACCESS_DATES = frozenset(("date-in-citation", "access-date"))
_PUBLISHED = re.compile(r"pub|collection|copyright|issue", re.IGNORECASE)
_PRINTED = frozenset(("mixed-citation", "citation", "ref"))
_PERIODICAL_NAME = re.compile(
    rf"\b(?:{'|'.join(_WORDS['periodical_names'])})\b|\b(?-i:[A-Z])\w{{0,8}}\.(?:\s|$)", re.IGNORECASE
)
_RANGE = re.compile(r"(?<=\w)\s?[-–]\s?(?=\w+$)")  # S2ORC writes the pages of a range with two hyphens
_PAGE_COUNT = re.compile(r"\d+\s*(?:pp?|pages)\.?", re.IGNORECASE)
_STRUCTURE = frozenset[object](_PEOPLE | _DATES | _FIELDS | {*_WORDS["others"]})


def read_references(
    article: Element, parse_reference: ReferenceParser = None
) -> tuple[list[BibEntry], Mapping[str, tuple[str, ...]]]:
    """Return the entries of all reference lists except the lists of sub-articles, and the keys of the entries by id.

    A reference with several works (`(a) …; (b) …`) has an entry for each work. Its own id refers to all its entries.
    `parse_reference` reads works without a tagged title.
    """
    entries: list[BibEntry] = []
    ids: dict[str, tuple[str, ...]] = {}
    parts = [part for part in article if part.tag in ("front", "body", "back", "floats-group", "floats-wrap")]
    for ref in (ref for part in parts for ref in part.iter("ref")):
        ref_id = ref.get("id") or ""
        works = list(_find_works(ref))
        label = next((plain(child) for place in (ref, *ref) for child in place.iterchildren("label")), "")
        keys = []
        for n, (work, printed) in enumerate(works):
            key = f"BIBREF{len(entries)}"
            work_id = work.get("id") or ""
            name = ref_id if n == 0 and ref_id else work_id or (f"{ref_id}.{n}" if ref_id else f"ref{len(entries)}")
            entry = _build_entry(work, printed, key, name, label.strip(" []().") or None)
            if not entry.title and not entry.venue and (read := read_certain_fields(entry.raw_text, parse_reference)):
                entry = replace(entry, **{field: value for field, value in read.items() if not getattr(entry, field)})
            entries.append(entry)
            keys.append(key)
            if work_id:
                ids.setdefault(work_id, (key,))
        if ref_id and keys:
            ids[ref_id] = tuple(keys)
    return entries, ids


def _find_works(ref: Element) -> Iterator[tuple[Element, Element | None]]:
    """Yield each work of a reference: its citation, and another form of the same citation as printed, or None.

    Citations of one kind are several works. A printed and a structured citation are two forms of one work (SciELO PS
    requires both). A reference without citations is a note.
    """
    found = [child for child in ref if child.tag in _CITATIONS]
    if len(found) == 1:
        yield found[0], None
        return
    for forms in ref.iterchildren("citation-alternatives"):
        found += [form for form in forms if form.tag in _CITATIONS]
    structured = [work for work in found if work.tag in _STRUCTURED]
    printed = [work for work in found if work.tag not in _STRUCTURED]
    if len(structured) == len(printed):
        yield from zip(structured, printed, strict=True)
    elif next(ref.iterchildren("citation-alternatives"), None) is not None:
        yield (structured or printed)[0], printed[0] if structured and printed else None
    else:
        yield from ((work, None) for work in (structured if len(structured) > len(printed) else printed))
    if not found:
        yield ref, None


class _CitationContent:
    """The content of one citation, read in one pass."""

    def __init__(self, work: Element) -> None:
        self.fields: dict[str, str] = {}
        self.authors: list[Author] = []
        self.pub_ids: list[tuple[str, str]] = []
        self.urls: list[str] = []
        self.access: list[str] = []  # dates of access
        texts = (work.text, *(child.tail for child in work))  # between its fields
        self._is_printed = work.tag in _PRINTED and (not len(work) or any(text and text.strip() for text in texts))
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
            if tag == "collab":
                text = front.read_group_name(child)
            else:
                words = [child.text or ""]
                for part in child:  # with a space between adjacent parts
                    words += [plain(part), part.tail or (" " if part.getnext() is not None else "")]
                text = " ".join("".join(words).split())
            self._parts.append(text)
            if not authors or not text or text.casefold().strip(" .,") in _NO_NAMES:
                return
            author = make_group(text) if tag == "collab" else front.read_string_name(child)
            if author is not None:
                self.authors.append(author)
        elif tag == "name-alternatives" or tag == "collab-alternatives":
            for form in child[:1]:
                if form.tag == "name":
                    self._name(form, authors)
                else:
                    self._other(form, form.tag, authors)
        elif tag in _ACCESS_DATES and not _PUBLISHED.search(child.get("content-type") or ""):
            self._parts.append(plain(child))
            self.access.append(plain(child))
        else:
            if tag == "pub-id" or tag == "object-id":
                self.pub_ids.append(((child.get("pub-id-type") or "").casefold(), plain(child) or child.get(HREF, "")))
                self.urls.append(child.get(HREF, ""))
            elif (tag == "ext-link" or tag == "uri") and (url := child.get(HREF) or plain(child)):
                self.urls.append(url.strip())
                if not len(child) and not child.text:  # the address is printed
                    self._parts.append(url)
            self._parts.append(" " if tag == "break" or tag == "hr" else child.text or "")
            self._read(child, authors=authors)


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


def _has_text(element: Element) -> bool:
    return bool(len(element) or (element.text and element.text.strip()) or element.get(HREF))


def _separate(parts: list[str], before: str, tag: str, after: str) -> str:
    """Return the separator between two fields of a citation without punctuation: `Lee A, Hu B. Work. J Odd. 2001;3(2):12-15`."""
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


def _join_printed(tag: object, tail: str | None, after: object) -> str:
    """Return the text after an element of a printed citation; add a space if two fields would otherwise touch."""
    text = tail or ""
    if after not in _STRUCTURE:
        return text
    if not text:
        return ", " if tag in _PEOPLE and after in _PEOPLE - {"etal"} else " " if tag in _STRUCTURE else ""
    return (
        f"{text} "
        if after in ("pub-id", "object-id", "ext-link", "uri") and text[-1] not in " \t\r\n([{:/=\"'“<"
        else text
    )


def _build_entry(work: Element, printed: Element | None, key: str, ref_id: str, label: str | None) -> BibEntry:
    content = _CitationContent(work)
    other = None if printed is None else _CitationContent(printed)
    raw = content.raw if other is None else other.raw or content.raw
    urls = content.urls if other is None else [*content.urls, *other.urls]
    fields = content.fields
    title = next((fields[name] for name in _TITLES if fields.get(name)), "")
    place = fields.get("source", "")
    if not title and not _is_part(content):
        title, place = place, ""
    title, authors = split_leading_names(title, tuple(content.authors or (other.authors if other else ())))
    venues = (place, *(fields.get(name, "") for name in ("conf-name", "conf-acronym", "series")))
    found = collect_identifiers(
        [*content.pub_ids, *(other.pub_ids if other else ())],
        urls,
        (content.raw,) if other is None else (content.raw, raw),
    )
    first, last = fields.get("fpage", ""), fields.get("lpage", "")
    pages = f"{first}--{last}" if first and last and first != last else first
    without_access = raw
    for date in (*content.access, *(other.access if other else ())):
        without_access = without_access.replace(date, " ")
    return BibEntry(
        key=key,
        ref_id=ref_id,
        title=title,
        authors=authors,
        year=extract_year(parse_date(fields.get("year"))[0]) or find_year(without_access),
        venue=next(filter(None, venues), ""),
        label=label,
        volume=fields.get("volume", ""),
        issue=fields.get("issue", ""),
        pages=(pages if last else _RANGE.sub("--", fields.get("page-range", "")) or pages)
        or fields.get("elocation-id", ""),
        publisher=fields.get("publisher-name", ""),
        issn=fields.get("issn", ""),
        raw_text=raw,
        urls=tuple(dict.fromkeys(filter(None, map(clean_url, urls)))),
        **found,
    )
