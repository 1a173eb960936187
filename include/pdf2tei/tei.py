"""Write a paper as TEI in GROBID's format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from itertools import count

from lxml import etree

from pdf2tei.body.callouts import Callout, Linker
from pdf2tei.body.sections import BodyParagraph, Formula, Section
from pdf2tei.floats.figures_and_tables import Float
from pdf2tei.front.authors import FrontAuthor
from pdf2tei.front.header import FrontContents
from pdf2tei.pages.model import Kind
from pdf2tei.pages.text import Text
from pdf2tei.references.fields import Reference
from pdf2tei.references.reference_list import PrintedEntry
from pdf2tei.version import NAME, VERSION

TEI = "http://www.tei-c.org/ns/1.0"
_ID = "{http://www.w3.org/XML/1998/namespace}id"
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _add(parent: etree._Element, tag: str, text: str = "", **attributes: str) -> etree._Element:
    element = etree.SubElement(parent, f"{{{TEI}}}{tag}")
    for name, value in attributes.items():
        element.set(_ID if name == "id" else name, _FORBIDDEN.sub("", value))
    if text:
        element.text = _FORBIDDEN.sub("", text)
    return element


@dataclass(frozen=True, slots=True)
class TextLayer:
    """How the text of a PDF was obtained: its pages, the pages read with OCR, and the pages with a defective text layer."""

    pages: int
    ocr: tuple[int, ...] = ()
    defects: tuple[tuple[int, str], ...] = ()
    lines: Mapping[Kind, int] = field(default_factory=dict)
    """Number of lines of each kind."""


def write_tei(
    header: FrontContents,
    sections: list[Section],
    floats: list[Float],
    notes: list[Text],
    back: list[tuple[str, list[Section]]],
    references: Iterable[tuple[PrintedEntry, Reference]],
    linker: Linker,
    layer: TextLayer,
) -> bytes:
    """Return the TEI document in UTF-8 with XML declaration, deterministically."""
    root: etree._Element = etree.Element(f"{{{TEI}}}TEI", nsmap={None: TEI})
    _write_header(_add(root, "teiHeader"), header, layer, linker)
    text = _add(root, "text")
    body = _add(text, "body")
    formula_ids = (f"formula_{i}" for i in count())
    for section in sections:
        _write_section(body, section, linker, formula_ids)
    for i, note in enumerate(notes):
        _write_text(_add(_add(body, "note", place="foot", id=f"foot_{i}"), "p"), note, linker)
    for ident, item in _assign_ids(floats):
        _write_figure(body, ident, item)
    after = _add(text, "back")
    for kind, parts in back:
        div = _add(after, "div", type=kind)
        for section in parts:
            _write_section(div, section, linker, formula_ids)
    listing = _add(_add(after, "div", type="references"), "listBibl")
    for i, (entry, reference) in enumerate(references):
        _write_reference(listing, f"b{i}", entry, reference)
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True)


def _assign_ids(floats: list[Float]) -> list[tuple[str, Float]]:
    numbers = {True: count(), False: count()}
    return [(f"{'tab' if item.table else 'fig'}_{next(numbers[item.table])}", item) for item in floats]


def float_ids(floats: list[Float]) -> dict[tuple[bool, str], str]:
    """Return a map from (is a table, printed number) to xml:id."""
    ids: dict[tuple[bool, str], str] = {}
    for ident, item in _assign_ids(floats):
        ids.setdefault((item.table, item.label), ident)
    return ids


def _write_header(parent: etree._Element, header: FrontContents, layer: TextLayer, linker: Linker) -> None:
    file = _add(parent, "fileDesc")
    statement = _add(file, "titleStmt")
    _add(statement, "title", header.title, level="a", type="main")
    if header.subtitle:
        _add(statement, "title", header.subtitle, level="a", type="sub")
    extent = _add(file, "extent")
    for part in Kind:
        _add(extent, "measure", unit="lines", type=part.value, quantity=str(layer.lines.get(part, 0)))
    _add(extent, "measure", unit="pages", type="all", quantity=str(layer.pages))
    if layer.ocr:
        pages = " ".join(map(str, layer.ocr))
        _add(extent, "measure", unit="pages", type="ocr", quantity=str(len(layer.ocr)), n=pages)
    for defect in sorted({defect for _, defect in layer.defects}):
        numbers = [str(number) for number, this in layer.defects if this == defect]
        _add(extent, "measure", unit="pages", type=defect, quantity=str(len(numbers)), n=" ".join(numbers))
    _add(_add(file, "publicationStmt"), "publisher")
    structure = _add(_add(file, "sourceDesc"), "biblStruct")
    analytic = _add(structure, "analytic")
    keys: dict[str, str] = {}
    for author in header.authors:
        person = _add(analytic, "author")
        _write_person(person, author)
        if author.email:
            _add(person, "email", author.email)
        for place in author.affiliations:
            key = keys.setdefault(place.text, f"aff{len(keys)}")
            text = "" if place.mark else place.text
            note = _add(_add(person, "affiliation", key=key), "note", text, type="raw_affiliation")
            if place.mark:
                _add(note, "label", place.mark).tail = " " + _FORBIDDEN.sub("", place.text)
    _add(analytic, "title", header.title, level="a", type="main")
    if header.subtitle:
        _add(analytic, "title", header.subtitle, level="a", type="sub")
    date = _add(_add(_add(structure, "monogr"), "imprint"), "date")
    identity = header.identity
    if identity.date:
        date.set("type", "published")
        date.set("when", identity.date)
    arxiv = f"arXiv:{identity.arxiv_id}" if identity.arxiv_id else None
    for kind, value in (("DOI", identity.doi), ("arXiv", arxiv), ("PMCID", identity.pmc_id)):
        if value:
            _add(structure, "idno", value, type=kind)
    programs = _add(_add(parent, "encodingDesc"), "appInfo")
    application = _add(programs, "application", version=VERSION, ident=NAME)
    _add(application, "desc", f"{NAME} - text and structure of papers from the layout that pdfalto reports")
    if layer.ocr:
        _add(programs, "application", version=metadata.version("rapidocr"), ident="ocr")
    profile = _add(parent, "profileDesc")
    if header.keywords:
        holder = _add(_add(profile, "textClass"), "keywords")
        for keyword in header.keywords:
            _add(holder, "term", keyword)
    for code, paragraphs in (("", header.abstract), *header.translations.items()):
        abstract = _add(profile, "abstract")
        if code:
            abstract.set("{http://www.w3.org/XML/1998/namespace}lang", code)
        for paragraph in paragraphs:
            if paragraph.text:
                _write_text(_add(abstract, "p"), paragraph, linker)


def _write_person(parent: etree._Element, author: FrontAuthor) -> None:
    name = _add(parent, "persName")
    for i, forename in enumerate(author.forenames):
        _add(name, "forename", forename, type="middle" if i else "first")
    _add(name, "surname", author.surname)


def _write_section(parent: etree._Element, section: Section, linker: Linker, formula_ids: Iterator[str]) -> None:
    div = _add(parent, "div")
    if section.head:
        head = _add(div, "head", section.head)
        if section.number:
            head.set("n", section.number)
    for item in section.items:
        parent = _add(div, "p") if item.content.text else div  # a formula without text is no paragraph
        _write_paragraph(parent, item, linker.find(item.content), formula_ids)


def _write_text(parent: etree._Element, text: Text, linker: Linker) -> None:
    """Write a text without formulas, with links to the works that it cites."""
    _write_paragraph(parent, BodyParagraph(text), linker.find(text), iter(()))


def _write_paragraph(
    parent: etree._Element, paragraph: BodyParagraph, callouts: list[Callout], formula_ids: Iterator[str]
) -> None:
    content, position = paragraph.content, 0
    last: etree._Element | None = None

    def append_text(text: str) -> None:
        text = _FORBIDDEN.sub("", text)
        if last is None:
            parent.text = (parent.text or "") + text
        else:
            last.tail = (last.tail or "") + text

    items: list[tuple[int, int, Callout | Formula]] = [(at, at, formula) for at, formula in paragraph.formulas]
    items += [(callout.start, callout.end, callout) for callout in callouts]
    for start, end, item in sorted(items, key=lambda part: part[:2]):
        start, end = max(start, position), max(end, position)
        append_text(content.text[position:start])
        position = end
        if isinstance(item, Callout):
            last = _add(parent, "ref", content.text[start:end], type=item.kind)
            if item.target:
                last.set("target", f"#{item.target}")
        else:
            last = _add(parent, "formula", item.text, id=next(formula_ids))
            if item.label:
                _add(last, "label", item.label)
    append_text(content.text[position:])


def _write_figure(parent: etree._Element, ident: str, item: Float) -> None:
    figure = _add(parent, "figure", id=ident)
    if item.table:
        figure.set("type", "table")
    _add(figure, "head", item.head)
    _add(figure, "label", item.label)
    _add(figure, "figDesc", item.caption)
    if item.table:
        table = _add(figure, "table")
        for row in item.rows:
            line = _add(table, "row")
            for cell in row:
                _add(line, "cell", cell)
    if item.notes:
        _add(figure, "note", item.notes)


def _write_reference(parent: etree._Element, ident: str, entry: PrintedEntry, reference: Reference) -> None:
    structure = _add(parent, "biblStruct", id=ident)
    article = not reference.monograph
    if article:
        first = _add(structure, "analytic")
        _add(first, "title", reference.title, level="a", type="main")
    monograph = _add(structure, "monogr")
    if article:
        if reference.journal or reference.booktitle:
            _add(monograph, "title", reference.journal or reference.booktitle, level="j" if reference.journal else "m")
    else:
        first = monograph
        _add(first, "title", reference.title, level="m", type="main")
    for author in reference.authors:
        _write_person(_add(first, "author"), author)
    for kind, value in (("DOI", reference.doi), ("arXiv", f"arXiv:{reference.arxiv}" if reference.arxiv else "")):
        if value:
            _add(first, "idno", value, type=kind)
    if reference.url:
        _add(first, "ptr", target=reference.url)
    imprint = _add(monograph, "imprint")
    for unit, value in (("volume", reference.volume), ("issue", reference.issue)):
        if value:
            _add(imprint, "biblScope", value, unit=unit)
    if reference.pages:
        start, _, end = re.sub(r"\s*[-–—]+\s*", "-", reference.pages).partition("-")
        pages = _add(imprint, "biblScope", "" if end else start, unit="page")
        if end:
            pages.set("from", start)
            pages.set("to", end)
    if reference.year:
        _add(imprint, "date", type="published", when=reference.year[:4])
    if reference.publisher:
        _add(imprint, "publisher", reference.publisher)
    if reference.location:
        _add(imprint, "pubPlace", reference.location)
    if entry.label:
        structure.set("n", entry.label)
    _add(structure, "note", entry.raw, type="raw_reference")
