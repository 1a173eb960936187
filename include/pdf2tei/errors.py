"""Define extraction errors with GROBID's error codes."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """The error codes in GROBID's responses with status 500 that the extractor uses."""

    BAD_INPUT_DATA = "BAD_INPUT_DATA"
    NO_BLOCKS = "NO_BLOCKS"
    TOO_MANY_TOKENS = "TOO_MANY_TOKENS"
    PDFALTO_CONVERSION_FAILURE = "PDFALTO_CONVERSION_FAILURE"
    TIMEOUT = "TIMEOUT"


class ExtractionError(Exception):
    """Raised if a PDF cannot be extracted; `code` is the reason."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __reduce__(self) -> tuple[type[ExtractionError], tuple[Code, str]]:
        return ExtractionError, (self.code, self.message)
