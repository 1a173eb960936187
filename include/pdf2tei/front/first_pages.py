"""Read the first pages and the metadata of a PDF, for `identity`. Call it only in a sandboxed process."""

from __future__ import annotations

import io
import re

import pypdf
import pypdfium2

from pdf2tei.front.identity import FirstPages, PrintedLine
from pdf2tei.words import read_pattern

PAGES = 3  # number of pages that are read: a repository's cover, and the first two pages of the paper
MAX_CHARACTERS = 40_000  # maximum number of characters that are read from a page; a dense page has 10,000
MAX_XMP = 1 << 20
_PROPERTY = read_pattern("first_pages", "property", re.NOFLAG)


def read_first_pages(data: bytes) -> FirstPages:
    """Return the first pages and metadata of a PDF's bytes; unreadable parts are omitted.

    Raises:
        MemoryError: the caller's memory limit was exceeded.
    """
    try:
        pages = _pages(data)
    except MemoryError:
        raise
    except Exception:  # PDFium's errors and other errors of broken pages
        pages = []
    try:
        metadata = _metadata(data)
    except MemoryError:
        raise
    except Exception:  # pypdf does not wrap the errors of its parsers
        metadata = {}
    return FirstPages(pages, metadata)


def _pages(data: bytes) -> list[list[PrintedLine]]:
    found = []
    with pypdfium2.PdfDocument(data) as document:
        for number in range(min(PAGES, len(document))):
            page = document[number]
            height = page.get_height() or 1.0
            text_page = page.get_textpage()
            text = text_page.get_text_range(0, min(text_page.count_chars(), MAX_CHARACTERS))
            lines, at = [], 0
            for line in text.split("\r\n"):
                if line.strip():
                    start = at + len(line) - len(line.lstrip())
                    _, bottom, _, top = text_page.get_charbox(min(start, text_page.count_chars() - 1))
                    lines.append(PrintedLine(" ".join(line.split()), min(max((bottom + top) / 2 / height, 0.0), 1.0)))
                at += len(line) + 2
            found.append(lines)
    return found


def _metadata(data: bytes) -> dict[str, str]:
    reader = pypdf.PdfReader(io.BytesIO(data), strict=False)
    if reader.is_encrypted:
        reader.decrypt("")
    found: dict[str, str] = {}
    stream = reader.root_object.get("/Metadata")
    if stream is not None and hasattr(body := stream.get_object(), "get_data"):
        xmp = body.get_data()[:MAX_XMP].decode("utf-8", "replace")
        for name, text, attribute, value in _PROPERTY.findall(xmp):
            found.setdefault((name or attribute).lower(), " ".join((text or value).split()))
    for key, value in (reader.metadata or {}).items():
        found.setdefault(key.lstrip("/").lower(), " ".join(str(value)[:2000].split()))
    return {key: value for key, value in sorted(found.items()) if value}
