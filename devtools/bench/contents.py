"""Read title, authors, headings, entries and citations of a paper from GROBID's form of TEI or a publisher's JATS."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from lxml import etree

from devtools.measure import letters, read_xml, text

NS = {"t": "http://www.tei-c.org/ns/1.0"}
ID = "{http://www.w3.org/XML/1998/namespace}id"


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


@dataclass
class Entry:
    """A reference entry: its words, the title and first surname that a raw string must contain, and its fields."""

    id: str
    words: Counter[str]
    named: tuple[str, str]
    title: str
    doi: str
    signatures: list[str]
    """keys of GROBID's evaluation, strongest first; empty if a part is missing"""


@dataclass
class Content:
    """Title, authors, abstract, headings, entries and citations of a paper."""

    titles: set[str]
    surnames: str
    abstract: str
    headings: list[str]
    entries: list[Entry]
    cited: Counter[str]
    """number of citations of each entry"""
    has_raws: bool
    """whether an entry has its raw string"""


def sign(title: str, within: str, authors: list[str], year: str, volume: str, page: str) -> list[str]:
    """Return the keys by which two entries may match; a key is empty if a part of it is missing."""
    title, within, everybody = letters(title), letters(within), letters("".join(authors))
    first = letters(authors[0]) if authors else ""
    ways = ((title, year), (everybody, year), (within, volume, page), (first, title or within))
    return [" ".join(way) if all(way) else "" for way in ways]


def read_content(xml: bytes) -> Content:
    """Read a paper from a TEI (ours or GROBID's) or from a publisher's JATS."""
    root = read_xml(xml)
    return read_jats(root) if etree.QName(root).localname == "article" else read_tei(root)


def read_tei(root: etree._Element) -> Content:
    """Read a paper from a TEI."""
    title, sub = (letters(text(root.find(f".//t:titleStmt/t:title{of}", NS))) for of in ("", "[@type='sub']"))
    people = root.findall(".//t:sourceDesc//t:analytic/t:author/t:persName", NS)
    entries = root.findall(".//t:listBibl/t:biblStruct", NS)
    headings = [text(head) for head in root.iterfind(".//t:body//t:div/t:head", NS)]
    targets = (ref.get("target", "")[1:] for ref in root.iterfind(".//t:text//t:ref[@type='bibr']", NS))
    return Content(
        {title, title + sub},
        letters("".join(text(person.find("t:surname", NS)) for person in people)),
        letters(text(root.find(".//t:profileDesc/t:abstract", NS))),
        headings,
        [read_tei_entry(entry) for entry in entries],
        Counter(target for target in targets if target),
        any(text(entry.find("t:note[@type='raw_reference']", NS)) for entry in entries),
    )


def read_tei_entry(entry: etree._Element) -> Entry:
    """Read an entry of a TEI."""
    dates = (str(v) for e in entry.iter() for k, v in e.attrib.items() if k in ("when", "from", "to"))
    raw = text(entry.find("t:note[@type='raw_reference']", NS)) or " ".join([*map(str, entry.itertext()), *dates])
    title = text(entry.find("t:analytic/t:title", NS))
    paths = ("t:analytic/t:title[@type='main']", "t:analytic/t:title", "t:monogr/t:title")
    named = next((found for path in paths if (found := text(entry.find(path, NS)))), "")
    authors = [text(surname) for surname in entry.iterfind(".//t:author//t:surname", NS)]
    year = next(((date.get("when") or text(date))[:4] for date in entry.iterfind(".//t:date", NS)), "")
    scopes = (entry.find(f".//t:biblScope[@unit='{unit}']", NS) for unit in ("volume", "page"))
    volume, page = ("" if scope is None else scope.get("from") or text(scope) for scope in scopes)
    return Entry(
        entry.get(ID, ""),
        Counter(words(raw)),
        (named, letters(text(entry.find(".//t:surname", NS)))),
        letters(title),
        text(entry.find(".//t:idno[@type='DOI']", NS)).casefold(),
        sign(title, text(entry.find("t:monogr/t:title", NS)), authors, year, volume, page),
    )


def read_jats(root: etree._Element) -> Content:
    """Read a paper from a JATS article."""
    title, sub = (letters(text(root.find(path))) for path in ("front//article-title", "front//title-group/subtitle"))
    surnames = root.findall("front//contrib[@contrib-type='author']/name/surname")
    abstracts = [e for e in root.iterfind("front//abstract") if not e.get("abstract-type")]
    marks = (i for x in root.iter("xref") if x.get("ref-type") == "bibr" for i in (x.get("rid") or "").split())
    return Content(
        {title, title + sub},
        letters("".join(map(text, surnames))),
        letters("".join(text(p) for abstract in abstracts[:1] for p in abstract.iter("p", "title"))),
        [text(heading) for heading in root.iterfind("body//sec/title")],
        [read_jats_entry(ref) for ref in root.findall(".//ref-list//ref")],
        Counter(marks),
        has_raws=False,
    )


def read_jats_entry(ref: etree._Element) -> Entry:
    """Read an entry of a JATS article."""

    def first(*names: str) -> str:
        return next((text(element) for element in ref.iter(*names)), "")

    raw = " ".join(str(t) for element in ref if element.tag != "label" for t in element.itertext())
    titles = (text(e) for name in ("article-title", "chapter-title", "source") for e in ref.iter(name))
    authors = [text(surname) for surname in ref.iter("surname")]
    year, title = first("year")[:4], first("article-title")
    return Entry(
        ref.get("id", ""),
        Counter(words(raw)),
        (next((t for t in titles if t), ""), letters(first("surname", "collab"))),
        letters(title),
        text(ref.find(".//pub-id[@pub-id-type='doi']")).casefold(),
        sign(title, first("source"), authors, year, first("volume"), first("fpage")),
    )
