"""The closed list of answers about a PDF (S2ORC App. B)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from pdf2tei.identity import NOTHING, Identity

SELECTION_VERSION = "1"  # part of the key of what select keeps: raise it when any PDF may get another outcome
OUT_OF_MEMORY = 98
"""Exit status of a child process that reached its memory limit."""
DISK_FULL = 97
"""Exit status of a child process that found the disk full."""


class Outcome(StrEnum):
    """Why a PDF is extracted or not, in the order in which it is decided."""

    UNREADABLE = "unreadable"
    ENCRYPTED = "encrypted"
    TOO_MANY_PAGES = "too_many_pages"
    LANDSCAPE = "landscape"
    PDFALTO_FAILED = "pdfalto_failed"
    SELECTED = "selected"


@dataclass(frozen=True, slots=True)
class Selection:
    """One PDF's outcome, with what was learnt until it was decided: sizes in points as displayed."""

    file_sha1: str
    outcome: Outcome
    pages: int | None = None
    width_pt: float | None = None
    height_pt: float | None = None
    detail: str | None = None
    identity: Identity = NOTHING

    def as_row(self) -> dict[str, Any]:
        """The selection as a row of the table `selections`."""
        row = asdict(self)
        del row["identity"]
        return row | asdict(self.identity)


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading a PDF in this process says; `outcome` is None while pdfalto has yet to decide."""

    outcome: Outcome | None
    pages: int | None = None
    width_pt: float | None = None
    height_pt: float | None = None
    detail: str | None = None
