"""Read the content that devtools/bench/extract.py compares, from a TEI (ours or GROBID's) or from a publisher's JATS."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from lxml import etree

NS = {"t": "http://www.tei-c.org/ns/1.0"}
ID = "{http://www.w3.org/XML/1998/namespace}id"
FLOATS = {
    "fig",
    "table-wrap",
    "disp-formula",
    "fn",
    "fig-group",
    "table-wrap-group",
    "supplementary-material",
    "boxed-text",
}
_NUMBER = re.compile(r"\d+(?:\.\d+)*\.?\s+")
_INSIDE = re.compile(r"(?:\bet al\.?,?|[(\[][^()\[\]]{0,120}(?:\bet al\.?,?|\d,|\d{4}[a-z]?[,;]))$")
"""Pattern of a paragraph's end inside a citation."""
_DASH = re.compile(r"\s*[-\u2010-\u2014]\s*")


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def text(element: etree._Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def spaced(element: etree._Element) -> str:
    values = [v for e in element.iter() for k, v in e.attrib.items() if k in ("when", "from", "to")]
    return " ".join([*element.itertext(), *values])


def running(element: etree._Element) -> Iterator[str]:
    """Yield the text of a JATS element outside floats and formulas."""
    yield element.text or ""
    for child in element:
        if isinstance(child.tag, str) and child.tag not in FLOATS:
            if child.tag in ("p", "list-item"):
                yield " "
            yield from running(child)
        yield child.tail or ""


class PaperContent:
    """Title, authors, abstract, body, entries and citations of a paper."""

    def __init__(self, xml: bytes) -> None:
        parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, recover=True)
        root = etree.fromstring(xml, parser)
        self.jats = etree.QName(root).localname == "article"
        self.cited: Counter[str] = Counter()
        """Number of citations of each entry, ranges filled."""
        if self.jats:
            self._read_jats(root)
        else:
            self._read_tei(root)

    def _read_tei(self, root: etree._Element) -> None:
        self.title = letters(text(root.find(".//t:titleStmt/t:title", NS)))
        self.subtitle = letters(text(root.find(".//t:titleStmt/t:title[@type='sub']", NS)))
        paragraphs = root.xpath(".//t:body//t:div/t:p", namespaces=NS)
        self.paragraphs = len(paragraphs)
        self.broken = sum(_INSIDE.search(text(p)) is not None for p in paragraphs)
        self.notes = [words(text(e)) for e in root.iterfind(".//t:note[@place='foot']", NS)]
        self.body = words(" ".join(map(text, paragraphs)))
        self.heads = [h for e in root.xpath(".//t:body//t:div/t:head", namespaces=NS) if (h := letters(text(e)))]
        self.surnames = [
            letters(text(e)) for e in root.xpath(".//t:sourceDesc//t:analytic/t:author//t:surname", namespaces=NS)
        ]
        self.abstract = words(text(root.find(".//t:profileDesc/t:abstract", NS)))
        entries = root.xpath(".//t:listBibl/t:biblStruct", namespaces=NS)
        self.ids = [e.get(ID, "") for e in entries]
        notes = [text(e.find("t:note[@type='raw_reference']", NS)) for e in entries]
        self.has_raws = any(notes)
        self.raws = [Counter(words(note or spaced(e))) for note, e in zip(notes, entries, strict=True)]
        self.firsts = [letters(text(e.find(".//t:surname", NS))) for e in entries]
        self.titles = [self._entry_title(e) for e in entries]
        self.cites = [
            (letters(text(r)), r.get("target", "")[1:])
            for r in root.xpath(".//t:body//t:div/t:p//t:ref[@type='bibr'][@target]", namespaces=NS)
        ]
        self.cells: Counter[str] = Counter()
        for paragraph in paragraphs:
            refs = paragraph.findall("t:ref[@type='bibr'][@target]", NS)
            self._cite([(r.get("target", "")[1:], bool(_DASH.fullmatch(r.tail or ""))) for r in refs])

    def _read_jats(self, root: etree._Element) -> None:
        self.title = letters(text(root.find("front//article-title")))
        self.subtitle = letters(text(root.find("front//title-group/subtitle")))
        self.surnames = [letters(text(e)) for e in root.xpath("front//contrib[@contrib-type='author']/name/surname")]
        abstracts = [e for e in root.iterfind("front//abstract") if not e.get("abstract-type")]
        self.abstract = words(" ".join(text(e) for a in abstracts[:1] for e in a.iter("p", "title")))
        self.notes = [words(text(e)) for e in root.iter("fn")]
        entries = root.findall(".//ref-list//ref")
        self.ids = [e.get("id", "") for e in entries]
        self.has_raws = False
        self.raws = [Counter(words(" ".join(t for x in e if x.tag != "label" for t in x.itertext()))) for e in entries]
        self.firsts = [letters(text(next(e.iter("surname", "collab"), None))) for e in entries]
        self.titles = [self._cited_title(e) for e in entries]
        names = {i: ref.get("id", "") for ref in entries for e in ref.iter() if (i := e.get("id"))}
        body = root.find("body")
        outer = (
            []
            if body is None
            else [p for p in body.iter("p") if not {a.tag for a in p.iterancestors()} & {"p", *FLOATS}]
        )
        self.body = words(" ".join("".join(running(p)) for p in outer))
        heads = [] if body is None else body.xpath(".//sec/title")
        self.heads = [h for e in heads if (h := letters(_NUMBER.sub("", text(e))))]
        self.cells = Counter(
            w
            for e in ([] if body is None else body.iter("td", "th"))
            for w in words(" ".join(e.itertext()))
            if w.isdigit()
        )
        self.cites = []
        for paragraph in outer:
            for xref in paragraph.iter("xref"):
                if xref.get("ref-type") != "bibr" or {a.tag for a in xref.iterancestors()} & FLOATS:
                    continue
                cited = [names[i] for i in (xref.get("rid") or "").split() if i in names]
                tail = xref.tail or ""
                parent = xref.getparent()
                if not tail and parent is not None and parent.tag == "sup":
                    tail = parent.tail or ""
                self._cite([(i, False) for i in cited[:-1]] + [(i, bool(_DASH.fullmatch(tail))) for i in cited[-1:]])

    def _cite(self, marks: list[tuple[str, bool]]) -> None:
        """Count citations. If a dash follows a citation, all entries up to the next citation are cited too."""
        at = {ident: i for i, ident in enumerate(self.ids)}
        before: int | None = None
        for ident, dashed in marks:
            here = at.get(ident)
            if here is not None and before is not None and before < here:
                self.cited.update(self.ids[before + 1 : here])
            self.cited[ident] += 1
            before = here if dashed else None

    def holds(self, note: list[str]) -> bool:
        """Return whether the body contains a footnote's first eight words."""
        return len(note) >= 8 and " ".join(note[:8]) in " ".join(self.body)

    def named_in(self, i: int, raw: Counter[str]) -> bool:
        """Return whether a raw string contains entry i: nine tenths of its title's words and its first surname."""
        title = Counter(words(self.titles[i]))
        total = sum(title.values())
        return total > 1 and sum((title & raw).values()) >= 0.9 * total and self.firsts[i] in letters("".join(raw))

    @staticmethod
    def _cited_title(ref: etree._Element) -> str:
        found = (text(e).casefold() for name in ("article-title", "chapter-title", "source") for e in ref.iter(name))
        return next((t for t in found if t), "")

    @staticmethod
    def _entry_title(entry: etree._Element) -> str:
        for path in ("t:analytic/t:title[@type='main']", "t:analytic/t:title", "t:monogr/t:title"):
            found = text(entry.find(path, NS))
            if found:
                return found.casefold()
        return ""
