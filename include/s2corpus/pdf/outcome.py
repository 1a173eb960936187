"""The outcomes of selecting a PDF (S2ORC App. B)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pdf2tei.front.identity import NOTHING, Identity
from s2corpus.outcomes import SelectOutcome

SELECTION_VERSION = "2"  # part of the key of stored decisions: increase it when any outcome may change
OUT_OF_MEMORY = 98
"""Exit status of a child process that reached its memory limit."""
DISK_FULL = 97
"""Exit status of a child process that found the disk full."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The outcome for one PDF and the values measured before the decision; sizes are as displayed, in points."""

    file_sha1: str
    outcome: SelectOutcome
    pages: int | None = None
    width_pt: float | None = None
    height_pt: float | None = None
    detail: str | None = None
    identity: Identity = NOTHING

    def as_row(self) -> dict[str, Any]:
        """Return the selection as a row of the table `selections`."""
        row = asdict(self)
        del row["identity"]
        return row | asdict(self.identity)


@dataclass(frozen=True, slots=True)
class Inspection:
    """The result of inspecting a PDF with libraries; `outcome` is None if pdfalto decides."""

    outcome: SelectOutcome | None
    pages: int | None = None
    width_pt: float | None = None
    height_pt: float | None = None
    detail: str | None = None
