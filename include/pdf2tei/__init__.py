"""Convert a PDF to TEI in GROBID's format, from the layout that pdfalto reports."""

from __future__ import annotations

from pathlib import Path

from pdf2tei.errors import Code, ExtractionError
from pdf2tei.version import VERSION

__all__ = ["VERSION", "Code", "ExtractionError", "extract"]


def extract(pdf: Path, *, timeout: float, ocr: bool = False) -> bytes | None:
    """Return the TEI of a PDF in GROBID's format; None if its pages contain no text.

    `timeout` is in seconds. With `ocr`, pages with a missing or unusable text layer are read with OCR, which needs the extra
    `ocr`. The same PDF always gives the same bytes.

    Raises:
        ExtractionError: the PDF cannot be extracted; `code` is GROBID's code for the reason.
    """
    from pdf2tei.paper import extract as run

    return run(pdf, timeout=timeout, ocr=ocr)
