"""Why a PDF gave no TEI: GROBID's own words for it."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """The error codes of GROBID's 500 answers that the extractor can give."""

    BAD_INPUT_DATA = "BAD_INPUT_DATA"
    NO_BLOCKS = "NO_BLOCKS"
    TOO_MANY_BLOCKS = "TOO_MANY_BLOCKS"
    TOO_MANY_TOKENS = "TOO_MANY_TOKENS"
    PDFALTO_CONVERSION_FAILURE = "PDFALTO_CONVERSION_FAILURE"
    TIMEOUT = "TIMEOUT"


class ExtractionError(Exception):
    """A PDF that cannot be extracted; `code` says why."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[type[ExtractionError], tuple[Code, str]]:
        return ExtractionError, (self.code, self.message)
