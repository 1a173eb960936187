"""The embedded extractor: a PDF's text and structure from the layout pdfalto reports, as GROBID-shaped TEI."""

from __future__ import annotations

from pathlib import Path

from .errors import Code, ExtractionError
from .version import VERSION

__all__ = ["VERSION", "Code", "ExtractionError", "extract"]


def extract(pdf: Path, *, timeout: float, ocr: bool = False) -> bytes | None:
    """Return the GROBID-shaped TEI of a PDF; None if its pages contain no text.

    `timeout` is in seconds. With `ocr`, pages with a missing or unusable text layer are read with OCR, which needs the extra
    `ocr`. The same PDF always gives the same bytes. Raises ExtractionError with GROBID's code for the error.
    """
    from .paper import extract as run

    return run(pdf, timeout=timeout, ocr=ocr)
