"""From a PDF to its TEI: the order of the steps."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from s2corpus.pdf.first_pages import read_first_pages
from s2corpus.pdf.identity import identify

from . import (
    alto,
    back,
    body,
    callouts,
    fields,
    floats,
    fragments,
    furniture,
    header,
    hyphens,
    notes,
    references,
    segmentation,
    tei,
)
from .errors import Code, ExtractionError
from .measures import measure
from .model import Kind
from .text import Joiner
from .version import VERSION


def extract(pdf: Path, *, timeout: float) -> bytes | None:
    """See `s2corpus.layout.extract`."""
    document = alto.read(pdf, timeout)
    if not document.pages:
        raise ExtractionError(Code.NO_BLOCKS, "no pages")
    lines = [line for page in document.pages for line in page.lines]
    if not lines:
        return None
    hyphens.restore(document, pdf)
    furniture.mark(document)
    for page in document.pages:
        fragments.mend(page)
    labels = segmentation.label(document)
    measures = measure([line for line in lines if line.kind is Kind.BODY] or lines)
    lines = [line for page in document.pages for line in page.lines]
    joiner = Joiner(lines)
    front = header.read(document, labels, measures, joiner)
    front.identity = identify(read_first_pages(pdf.read_bytes()))
    for line in lines:
        if (
            line.kind is Kind.BODY
            and labels.get(id(line)) is segmentation.Label.FRONT
            and line.size < measures.size - 0.6
        ):
            line.kind = Kind.FRONT  # affiliations and imprint beside the text
    entries = references.read(document, labels, joiner)
    found = floats.read(document, measures, joiner)
    feet = notes.read(document, measures, joiner)
    sections, behind = back.part(body.read(document, measures, joiner))
    parsed = [fields.parse(entry.raw) for entry in entries]
    texts = [item.content for section in sections for item in section.items if isinstance(item, body.Paragraph)]
    linker = callouts.Linker(callouts.style_of(texts, entries), entries, parsed, tei.float_ids(found))
    lines = [line for page in document.pages for line in page.lines]
    parts = Counter(line.kind for line in lines)
    return tei.write(VERSION, front, sections, found, feet, behind, entries, parsed, linker, parts)
