"""Outcomes of source archives."""

from __future__ import annotations

from enum import StrEnum


class LatexOutcome(StrEnum):
    """The outcome of a source archive. Only an archive with the outcome `ok` has a parse."""

    OK = "ok"
    PDF_ONLY = "pdf_only"  # arXiv has only a PDF or PostScript file
    WITHDRAWN = "withdrawn"  # the authors withdrew it; arXiv stores a notice
    NO_LATEX = "no_latex"  # no file starts a LaTeX document, e.g. plain TeX or HTML
    NOT_AN_ARCHIVE = "not_an_archive"  # neither gzip nor tar nor TeX
    UNREADABLE = "unreadable"  # the file cannot be read (`corpus latex`)
    DAMAGED = "damaged"  # truncated, or a wrong checksum
    UNSAFE_PATH = "unsafe:path"  # a name outside the folder
    UNSAFE_LINK = "unsafe:link"  # a symbolic or hard link
    UNSAFE_DEVICE = "unsafe:device"  # a device, pipe or other special file
    TOO_LARGE = "too_large"  # exceeds the maximum size after unpacking or after assembling its files
    TOO_MANY_FILES = "too_many_files"
    CONVERTER_FAILED = "converter_failed"
    TIMEOUT = "timeout"  # the converter exceeded its time limit
    OUT_OF_MEMORY = "out_of_memory"  # the converter exceeded its memory limit
    NO_TEXT = "no_text"  # converted, but the result has no text


class BadSource(Exception):
    """An error for a source archive that cannot be converted to a parse, with the outcome and a detail."""

    def __init__(self, outcome: LatexOutcome, detail: str = "") -> None:
        super().__init__(f"{outcome}: {detail}" if detail else str(outcome))
        self.outcome = outcome
        self.detail = detail
