"""What may become of a source archive."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The word for each archive; everything but `ok` means there is no parse."""

    OK = "ok"
    PDF_ONLY = "pdf_only"  # arXiv has only the PDF (or a PostScript file)
    WITHDRAWN = "withdrawn"  # the authors withdrew it: arXiv keeps a notice
    NO_LATEX = "no_latex"  # no file starts a LaTeX document: plain TeX, HTML, Word, figures only
    NOT_AN_ARCHIVE = "not_an_archive"  # neither gzip nor tar nor TeX
    UNREADABLE = "unreadable"  # a file that cannot be read (`corpus latex`)
    DAMAGED = "damaged"  # breaks off or does not check
    UNSAFE_PATH = "unsafe:path"  # a name that leaves the folder
    UNSAFE_LINK = "unsafe:link"  # a symbolic or hard link
    UNSAFE_DEVICE = "unsafe:device"  # a device, pipe or other thing that is not a file
    TOO_LARGE = "too_large"  # more bytes than allowed once unpacked, or once its files are put together
    TOO_MANY_FILES = "too_many_files"
    CONVERTER_FAILED = "converter_failed"  # the converter gave up on it
    TIMEOUT = "timeout"  # the converter took longer than its time
    OUT_OF_MEMORY = "out_of_memory"  # the converter needed more than its memory
    NO_TEXT = "no_text"  # converted, but nothing is left to read


class BadSource(Exception):
    """A source archive of which there is no parse."""

    def __init__(self, outcome: Outcome, detail: str = "") -> None:
        super().__init__(f"{outcome}: {detail}" if detail else str(outcome))
        self.outcome = outcome
        self.detail = detail
