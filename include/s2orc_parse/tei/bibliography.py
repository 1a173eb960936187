"""Convert `biblStruct` elements to bibliography entries, and `author` elements to authors. Entries without a title are included."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.author_fields import add_affiliations
from s2orc_parse.bibliography.dates import extract_year, find_year, parse_date, to_int
from s2orc_parse.bibliography.fields import join_titles
from s2orc_parse.bibliography.leading_names import split_leading_names
from s2orc_parse.bibliography.links import clean_url, collect_identifiers
from s2orc_parse.bibliography.names import make_author, make_group
from s2orc_parse.parse_model import BibEntry
from s2orc_parse.tei.text import read_flat, read_head
from s2orc_parse.xml import NAMES, Element, extract_text, local_name

_NO_NAMES = frozenset(("others", "al", "et al", "and others", "others et al"))
_PLACES = frozenset(("orgName", "settlement", "region", "country"))
_SUFFIXED = re.compile(r"(.+?)[, ]+(jr|sr|ii|iii|iv)\.?", re.IGNORECASE)


def read_author(element: Element) -> Author | None:
    """Return the author of an `author` element, or None if it contains no name ("and others", only an affiliation)."""
    given: list[str] = []
    family = suffix = group = link = ""
    named = detailed = False
    for child in element:
        tag = NAMES[child.tag]
        if tag == "affiliation" or tag == "idno":
            detailed = True
        elif tag == "orgName":
            group = group or extract_text(child)
        if named or (tag != "persName" and tag != "name"):
            continue
        named = True
        for part in child:
            tag = NAMES[part.tag]
            if tag == "forename":
                given.append(extract_text(part))
            elif tag == "surname":
                family = f"{family} {extract_text(part)}" if family else extract_text(part)
            elif tag == "nameLink":
                link = f"{link} {extract_text(part)}".strip()
            elif tag == "genName":
                suffix = extract_text(part)
        family = f"{link} {family}" if link and family else family
        if not given and not family:
            given = [extract_text(child)]
    if group and not named:
        return make_group(group)
    if not named and not len(element):
        given = [extract_text(element)]
    if (family or " ".join(given)).casefold().strip(" .,") in _NO_NAMES:
        return None
    if not suffix and " " in family and (match := _SUFFIXED.fullmatch(family)):
        family, suffix = match.groups()
    initials = [name for name in given if len(name) > 1 and name.isupper()]  # "JW" contains two initials
    if given and not (suffix or initials) and _is_plain(family.replace(" ", "")) and _is_plain("".join(given)):
        # shortcut with the result of make_author
        author: Author | None = Author(given[0], tuple(given[1:]), family, "")
    else:
        author = make_author(" ".join(given), family, suffix)
    if not detailed:
        return author
    affiliations = (_read_affiliation(child) for child in element if local_name(child) == "affiliation")
    ids = [extract_text(idno) for idno in element.iter("{*}idno") if (idno.get("type") or "").casefold() == "orcid"]
    return add_affiliations(author, affiliations, ids[0] if ids else "")


def _read_affiliation(element: Element) -> tuple[str, str]:
    """Return name and ROR id: the printed affiliation, else department, institution, place and country."""
    for note in element.iter("{*}note"):
        if note.get("type") == "raw_affiliation":
            labels = [extract_text(label) for label in note.iter("{*}label")]
            return extract_text(note).removeprefix(labels[0] if labels else "").strip(), ""
    parts = [part for part in element.iter() if local_name(part) in _PLACES]
    ids = " ".join(extract_text(idno) for idno in element.iter("{*}idno"))
    return ", ".join(dict.fromkeys(filter(None, map(extract_text, parts)))), ids


def _is_plain(text: str) -> bool:
    return text.isalpha() or text.replace("-", "").isalpha()


XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
_GROBID_ID = re.compile(r"b(\d{1,5})")
_FACTS = frozenset(("title", "idno", "ptr", "date", "biblScope", "publisher", "meeting", "label", "note"))
_PARTS = frozenset(("analytic", "monogr", "series"))
_LABEL = re.compile(r"\s*(?:\[([^\[\]\s]{1,12})\]|(\d{1,4})\s*[.)](?=\s))")
_INNER_LABEL = re.compile(r"\[(\d{1,4})\]")


def read_bibliography(lists: Iterable[Iterable[Element]]) -> tuple[list[Element], list[BibEntry]]:
    """Return the elements and entries of all `listBibl` in order. Keys use GROBID's numbers if these are distinct."""
    elements = [
        element
        for found in lists
        for child in found
        for element in child.iter("{*}biblStruct", "{*}bibl")
        if child is element or next(element.iterancestors("{*}biblStruct", "{*}bibl"), None) is None
    ]
    ids = [element.get(XML_ID) or "" for element in elements]
    matches = [_GROBID_ID.fullmatch(identifier) for identifier in ids]
    numbers = [int(match.group(1)) for match in matches if match]
    if len(numbers) < len(ids) or len(set(numbers)) < len(ids):
        numbers = list(range(len(ids)))
    contents = [_EntryContent(element) for element in elements]
    labels = _read_labels([(content.label, content.raw) for content in contents])
    return elements, [
        content.entry(f"BIBREF{number}", identifier or f"b{number}", label)
        for content, number, identifier, label in zip(contents, numbers, ids, labels, strict=True)
    ]


def read_identifier(element: Element) -> tuple[str, str]:
    """Return the type in lower case and the value of an `idno` element."""
    return (element.get("type") or "").casefold(), extract_text(element)


def _read_labels(printed: Iterable[tuple[str, str]]) -> list[str | None]:
    """Return the printed label of each entry, from the label element or else from the start of the raw reference.

    GROBID may leave "[12]" inside the raw text at a column break. Such numbers, and plain numbers ("12. Smith"), may be
    part of the reference. They count only if all numbers of the list ascend.
    """
    labels: list[str | None] = []
    for element_label, raw in printed:
        match = _LABEL.match(raw)
        label = element_label.strip(" []().") or (match and (match.group(1) or match.group(2))) or ""
        if not label and (inner := _INNER_LABEL.findall(raw)) and len(inner) == 1:
            label = inner[0]
        labels.append(label or None)
    numbers = [number for label in labels if (number := to_int(label)) is not None]
    if any(b <= a for a, b in pairwise(numbers)):
        labels = [None if label and label.isdecimal() else label for label in labels]
    return labels


class _EntryContent:
    """The content of one `biblStruct` (or free `bibl`), read in one pass."""

    def __init__(self, element: Element) -> None:
        self.titles: dict[str, str] = {}
        self.scopes: dict[str, str] = {}
        self.idnos: list[Element] = []
        self.urls: list[str] = []
        self.notes: list[str] = []
        self.label = (element.get("n") or "").strip()
        self.raw = self.publisher = self.issn = self.meeting = ""
        self.year: int | None = None
        self.authors: list[Author] = []  # of the first of analytic, monogr and series that has authors
        self._authors_in = ""
        self._read(element, "")
        if not self.raw and local_name(element) == "bibl":
            self.raw = read_flat([element]).text

    def _read(self, element: Element, part: str) -> None:
        for child in element:
            tag = NAMES[child.tag]
            if tag == "author":
                if (not self.authors or self._authors_in == part) and (author := read_author(child)) is not None:
                    self.authors.append(author)
                    self._authors_in = part
            elif tag in _FACTS:
                self._take(tag, child, part)
            elif tag != "editor" and tag != "relatedItem":
                if tag == "ref":
                    self.urls.append((child.get("target") or "").strip())
                self._read(child, tag if tag in _PARTS else part)

    def _take(self, tag: str, element: Element, part: str) -> None:
        if tag == "title":
            level = element.get("level") or ("a" if part == "analytic" else "m")
            if text := read_head(element):  # a thesis has an empty title in `analytic`
                is_subtitle = element.get("type") == "sub" and level in self.titles
                self.titles[level] = (
                    join_titles(self.titles[level], text) if is_subtitle else self.titles.get(level, text)
                )
        elif tag == "idno":
            if (element.get("type") or "").casefold().startswith(("issn", "eissn")):
                self.issn = self.issn or extract_text(element)
            else:
                self.idnos.append(element)
        elif tag == "ptr":
            self.urls.append((element.get("target") or "").strip())
        elif tag == "date" and "access" not in (element.get("type") or ""):
            texts = (element.get("when"), element.get("from"), element.get("notBefore"), element.text)
            self.year = self.year or next(filter(None, (extract_year(parse_date(text)[0]) for text in texts)), None)
        elif tag == "biblScope":
            unit = element.get("unit") or element.get("type") or ""
            self.scopes[unit] = _join_scope(self.scopes.get(unit, ""), element)
        elif tag == "publisher":
            self.publisher = self.publisher or extract_text(element)
        elif tag == "meeting":
            self.meeting = self.meeting or " ".join((element.text or "").split())
        elif tag == "label":
            self.label = self.label or extract_text(element)
        elif element.get("type") == "raw_reference":
            self.raw = self.raw or extract_text(element)
        else:
            self.notes.append(extract_text(element))

    def entry(self, key: str, ref_id: str, label: str | None) -> BibEntry:
        """Return the entry with the given key, id and label."""
        titles, scopes = self.titles, self.scopes
        is_book = "a" not in titles  # the monograph itself is cited
        levels = ("j", "s") if is_book else ("j", "m", "s")
        title, authors = split_leading_names(titles.get("m" if is_book else "a", ""), tuple(self.authors))
        found = collect_identifiers(map(read_identifier, self.idnos), self.urls, (self.raw, *self.notes))
        return BibEntry(
            key=key,
            ref_id=ref_id,
            title=title,
            authors=authors,
            year=self.year if self.year is not None else find_year(self.raw),
            venue=next((titles[level] for level in levels if titles.get(level)), self.meeting),
            label=label,
            volume=scopes.get("volume") or scopes.get("vol", ""),
            issue=scopes.get("issue", ""),
            pages=next((scopes[unit] for unit in ("page", "pp", "pages") if scopes.get(unit)), ""),
            publisher=self.publisher,
            issn=self.issn,
            raw_text=self.raw,
            urls=tuple(dict.fromkeys(filter(None, map(clean_url, self.urls)))),
            **found,
        )


def _join_scope(before: str, scope: Element) -> str:
    """Return a volume, an issue or pages as "from--to" (S2ORC's double dash); join halves from two elements."""
    first, last = (scope.get("from") or "").strip(), (scope.get("to") or "").strip()
    if first and last and first != last:
        return f"{first}--{last}"
    text = first or last or extract_text(scope)
    return f"{before}--{text}" if before and text and last and before != text else before or text
