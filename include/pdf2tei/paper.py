"""Convert a PDF to TEI: the sequence of steps."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pdf2tei.first_pages import PAGES, read_first_pages
from pdf2tei.identity import FirstPages, PrintedLine, identify

from . import (
    affiliations,
    alto,
    back,
    body,
    callouts,
    columns,
    contents,
    directions,
    fields,
    floats,
    fragments,
    furniture,
    guard,
    header,
    health,
    hyphens,
    ligatures,
    notes,
    references,
    scans,
    segmentation,
    tei,
)
from .errors import Code, ExtractionError
from .measures import measure
from .model import Document, Kind
from .text import Joiner


def extract(pdf: Path, *, timeout: float, ocr: bool = False) -> bytes | None:
    """Extract a PDF; see `pdf2tei.extract`."""
    document = alto.read(pdf, timeout)
    if not document.pages:
        raise ExtractionError(Code.NO_BLOCKS, "no pages")
    ligatures.restore(document, pdf)
    ills = health.ills(document)
    textless = not any(page.lines for page in document.pages)
    drawn = ([page.number for page in document.pages] if textless else sorted(ills)) if ocr else []
    if drawn:
        scans.read(document, drawn, pdf, timeout)
    lines = [line for page in document.pages for line in page.lines]
    if not lines:
        return None
    if not textless:
        hyphens.restore(document, pdf)
    furniture.mark(document)
    for page in document.pages:
        columns.order(page)
        fragments.mend(page)
        directions.order(page)
    contents.mark(document)
    labels = segmentation.label(document)
    text = [x for x in lines if x.kind is Kind.BODY and labels.get(id(x)) is not segmentation.SegmentLabel.REFERENCE]
    measures = measure(text if len(text) > len(lines) / 4 else lines)
    lines = [line for page in document.pages for line in page.lines]
    joiner = Joiner(lines)
    front = header.read(document, labels, measures, joiner)
    front.identity = identify(_list_printed_lines(document) if 1 in drawn else read_first_pages(pdf.read_bytes()))
    for line in lines:
        if (
            line.kind is Kind.BODY
            and labels.get(id(line)) is segmentation.SegmentLabel.FRONT
            and line.size < measures.size - 0.6
        ):
            line.kind = Kind.FRONT  # affiliations and imprint next to the text
    restored = guard.restore_front(document, measures)
    entries = references.read(document, labels, measures, joiner)
    found = floats.read(document, measures, joiner)
    restored += guard.restore_floats(document, measures)
    feet = notes.read(document, measures, joiner)
    found_sections = body.read(document, measures, joiner)
    front.authors = affiliations.complete(front.authors, found_sections)
    sections, behind = back.part(found_sections)
    parsed = fields.parse_each([entry.raw for entry in entries])
    texts = [item.content for section in sections for item in section.items if isinstance(item, body.BodyParagraph)]
    linker = callouts.Linker(callouts.style_of(texts, entries), entries, parsed, tei.float_ids(found))
    lines = [line for page in document.pages for line in page.lines]
    layer = tei.TextLayer(
        len(document.pages),
        tuple(drawn),
        tuple((n, ills[n].value) for n in sorted(set(ills) - set(drawn))),
        restored,
        Counter(line.kind for line in lines),
    )
    return tei.write(front, sections, found, feet, behind, zip(entries, parsed, strict=True), linker, layer)


def _list_printed_lines(document: Document) -> FirstPages:
    """Return the first pages' lines, for the identity of a paper without a text layer."""
    pages = document.pages[:PAGES]
    return FirstPages([[PrintedLine(x.text, 1 - min(x.y0 / page.height, 1.0)) for x in page.lines] for page in pages])
