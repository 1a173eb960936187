"""The embedded extractor: a PDF's text and structure from the layout pdfalto reports, as GROBID-shaped TEI."""

from __future__ import annotations

from pathlib import Path

from .errors import Code, ExtractionError
from .version import VERSION

__all__ = ["VERSION", "Code", "ExtractionError", "extract"]


def extract(pdf: Path, *, timeout: float, ocr: bool = False) -> bytes | None:
    """GROBID-shaped TEI of a PDF; None if its pages hold no text.

    `timeout` is in seconds. With `ocr`, pages whose text layer is missing or unusable are read from their pictures, which
    needs the extra `ocr`. Same PDF, same bytes. Raises ExtractionError with GROBID's code for what is wrong."""
    from .paper import extract as run

    return run(pdf, timeout=timeout, ocr=ocr)
