"""Draw the pages of a paper's open PDF as images, in a limited child process for each page (docs/hostile-input.md)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from threading import BoundedSemaphore

from fastapi import HTTPException

from s2corpus.deliveries.files import ChangedInput, read_file
from s2corpus.pipeline.run import ReleaseTables, Row
from s2corpus.tables.intake import PDFS
from s2corpus.tables.parses import SELECTIONS
from s2corpus.tables.texts import FULLTEXTS
from s2corpus_datasets.crops.child import render_page
from s2orc_parse.parse_model import ParseKind

MOST_PAGES = 100
"""maximum number of pages that a document shows"""
MOST_BYTES = 64 << 20
"""maximum size of a PDF"""
DPI = 100
_LIMITS = {"dpi": DPI, "max_pixels": 3_000_000}
_SECONDS, _MEMORY_MB = 20.0, 1024
_PERMITS = BoundedSemaphore(2)
"""child processes at the same time"""


def find_sheets(tables: ReleaseTables, paper_id: str) -> Row | None:
    """Return SHA-1, number of pages, and width and height of the first page in pixels; None if the paper has no open PDF."""
    columns = ["paper_id", "parse_kind", "file_sha1", "open_access"]
    for row in tables.of_paper(FULLTEXTS, paper_id, columns):
        if row["parse_kind"] == ParseKind.PDF and row["open_access"]:
            for selection in tables.of_pdf(SELECTIONS, row["file_sha1"]):
                width, height = (round((selection[name] or 0) * DPI / 72) for name in ("width_pt", "height_pt"))
                pages = min(selection["pages"] or 0, MOST_PAGES)
                return {"sha1": row["file_sha1"], "pages": pages, "width": width, "height": height}
    return None


def draw_sheet(tables: ReleaseTables, paper_id: str, number: int) -> bytes:
    """Return a page of a paper's open PDF as PNG.

    Raises:
        HTTPException: the page does not exist or cannot be drawn, or other pages are being drawn.
    """
    found = find_sheets(tables, paper_id)
    delivered = next(iter(tables.of_pdf(PDFS, found["sha1"])), None) if found and number <= found["pages"] else None
    if found is None or delivered is None:
        raise HTTPException(404, "This paper has no open PDF with this page.")
    if delivered["bytes"] > MOST_BYTES:
        raise HTTPException(404, f"The PDF is not shown: it is larger than {MOST_BYTES >> 20} MB.")
    if not _PERMITS.acquire(timeout=_SECONDS):
        raise HTTPException(503, "Other pages are being drawn: load this page again.")
    try:
        pdf = read_file(tables.lake, delivered["places"][0], found["sha1"])
        with tempfile.TemporaryDirectory(prefix="s2corpus-page-") as folder:
            image = render_page(pdf, number, Path(folder), limits=_LIMITS, seconds=_SECONDS, memory_mb=_MEMORY_MB)
    except (FileNotFoundError, ChangedInput):
        raise HTTPException(404, "The lake no longer contains this PDF.") from None
    finally:
        _PERMITS.release()
    if image is None:
        raise HTTPException(404, "This page of the PDF cannot be drawn within the limits.")
    return image
