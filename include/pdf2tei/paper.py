"""Convert a PDF to TEI: the sequence of steps.

Each step marks the lines that it recognizes. Later steps ignore these lines, so the order of the steps matters.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from pdf2tei.body.back import split_back_matter
from pdf2tei.body.callouts import Linker, detect_style
from pdf2tei.body.contents import mark_contents
from pdf2tei.body.guard import restore_floats, restore_front
from pdf2tei.body.notes import take_notes
from pdf2tei.body.sections import read_sections
from pdf2tei.errors import Code, ExtractionError
from pdf2tei.floats.figures_and_tables import build_floats, take_floats
from pdf2tei.front.affiliations import add_affiliations_of_sections
from pdf2tei.front.authors import AUTHOR_DETAILS
from pdf2tei.front.first_pages import PAGES, read_first_pages
from pdf2tei.front.header import read_front
from pdf2tei.front.identity import FirstPages, PrintedLine, identify
from pdf2tei.models.segmentation import SegmentLabel, label_lines, score_as_reference
from pdf2tei.pages.alto import read_document
from pdf2tei.pages.directions import reorder_right_to_left
from pdf2tei.pages.fragments import join_fragments
from pdf2tei.pages.furniture import mark_furniture
from pdf2tei.pages.health import find_defects
from pdf2tei.pages.hyphens import restore_hyphens
from pdf2tei.pages.ligatures import restore_ligatures
from pdf2tei.pages.measures import measure
from pdf2tei.pages.model import Kind, Line
from pdf2tei.pages.scans import recognize_pages
from pdf2tei.pages.text import Joiner
from pdf2tei.references.fields import parse_references
from pdf2tei.references.reference_list import take_references
from pdf2tei.tei import TextLayer, float_ids, write_tei


def extract(
    pdf: Path, *, timeout: float, ocr: bool = False, cached: Path | None = None, printed: list[Line] | None = None
) -> bytes | None:
    """Extract a PDF; see `pdf2tei.extract` and `alto_cache`. The lines are added, with their kinds, to the list `printed`."""
    document = read_document(pdf, timeout, cached)
    if not document.pages:
        raise ExtractionError(Code.NO_BLOCKS, "no pages")
    # Text layer: repair lost letters, or replace unusable pages with OCR.
    restore_ligatures(document, pdf)
    defects = find_defects(document)
    textless = not any(page.lines for page in document.pages)
    ocr_pages = ([page.number for page in document.pages] if textless else sorted(defects)) if ocr else []
    if ocr_pages:
        recognize_pages(document, ocr_pages, pdf, timeout)
    lines = [line for page in document.pages for line in page.lines]
    if not lines:
        return None
    if not textless:
        restore_hyphens(document, pdf)
    # Lines: remove what belongs to the page, and put the rest into reading order.
    mark_furniture(document)
    for page in document.pages:
        join_fragments(page)
        reorder_right_to_left(page)
    mark_contents(document)
    # Labels and measures of all lines, for the steps below.
    labels = label_lines(document)
    later = [(labels.get(id(line)), line) for page in document.pages[PAGES:] for line in page.lines]
    for label, group in groupby(later, itemgetter(0)):
        run = [line for _, line in group]  # references below a table at the top of a page look like the foot of a front
        scores = [score_as_reference(x.text) for x in run]
        if label is SegmentLabel.FRONT and len(run) > 2 and sum(scores) > 0.8 * len(run):  # one line may be dates
            labels |= dict.fromkeys(map(id, run), SegmentLabel.REFERENCE)
    text = [x for x in lines if x.kind is Kind.BODY and labels.get(id(x)) is not SegmentLabel.REFERENCE]
    measures = measure(text if len(text) > len(lines) / 4 else lines)
    lines = [line for page in document.pages for line in page.lines]
    joiner = Joiner(lines)
    # Parts of the paper: the front, the reference list, floats, notes; the rest is the body.
    front = read_front(document, labels, measures, joiner)
    first_lines = [[PrintedLine(x.text, 1 - min(x.y0 / y.height, 1)) for x in y.lines] for y in document.pages[:PAGES]]
    front.identity = identify(FirstPages(first_lines) if 1 in ocr_pages else read_first_pages(pdf.read_bytes()))
    is_details = False
    for line in lines:
        is_small_front = labels.get(id(line)) is SegmentLabel.FRONT and line.size < measures.size - 0.6
        is_details = AUTHOR_DETAILS.match(line.text) is not None or (is_details and is_small_front)
        if line.kind is Kind.BODY and is_small_front and not is_details:
            line.kind = Kind.FRONT  # affiliations and imprint next to the text, except in a section of their own
    restore_front(document, measures)
    entries = take_references(document, labels, joiner)
    float_lines = take_floats(document, measures)
    restore_floats(document, measures)
    found = build_floats(float_lines, joiner)
    footnotes = take_notes(document, measures, joiner)
    found_sections = read_sections(document, measures, joiner)
    front.authors = add_affiliations_of_sections(front.authors, found_sections)
    sections, back_parts = split_back_matter(found_sections)
    # References and citations.
    parsed = parse_references([entry.raw for entry in entries])
    texts = [item.content for section in sections for item in section.items]
    linker = Linker(detect_style(texts, entries), entries, parsed, float_ids(found))
    lines = [line for page in document.pages for line in page.lines]
    if printed is not None:
        printed += lines
    layer = TextLayer(
        len(document.pages),
        tuple(ocr_pages),
        tuple((n, defects[n].value) for n in sorted(set(defects) - set(ocr_pages))),
        Counter(line.kind for line in lines),
    )
    return write_tei(front, sections, found, footnotes, back_parts, zip(entries, parsed, strict=True), linker, layer)
