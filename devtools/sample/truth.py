"""Define the truth of a sample: the expected results for every PDF, record and paper in a release as of its `as_of`."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Self

from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True)
class PdfTruth:
    """One PDF: its places, whether the release sees it, and the outcome of its selection (SPEC §1)."""

    sha1: str
    places: tuple[tuple[str, str], ...]  # (drop, name)
    seen: bool
    selection: str
    paper: str | None  # key of its paper; None if it has no paper
    doi: str | None = None  # identifiers that it prints
    arxiv_id: str | None = None
    pmc_id: str | None = None


@dataclass(frozen=True, slots=True)
class ParagraphTruth:
    """A body paragraph as printed, under its innermost head."""

    section: str | None
    text: str


@dataclass(frozen=True, slots=True)
class EntryTruth:
    """A bibliography entry: the sample paper a release must link it to, if any, and the warning it must carry."""

    title: str
    links_to: str | None
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class PaperTruth:
    """One paper: its records and PDFs, its canonical metadata, and the expected outcome of each later stage."""

    key: str
    why: str  # reason for the case
    title: str | None
    authors: tuple[str, ...]  # surnames
    date: str | None
    record_ids: tuple[str, ...]
    pdfs: tuple[str, ...]  # SHA-1s of its selected PDFs
    canonical_pdf: str | None
    open_access: bool
    oa_evidence: str | None
    filtered: str
    s2orc: str | None  # None: no outcome, because the paper was filtered out
    s2ag: str | None  # None: no outcome, because filtered out or kept in s2orc
    split: str | None  # split of its document, None without a document
    citation_style: str | None = None
    abstract: str | None = None  # one line per part
    abstract_delivered: bool = False  # whether a source has it, so that the paper must have it
    field: str | None = None  # its primary field of study, by its sources' subjects
    identifiers: tuple[str, ...] = ()  # columns of the identifiers in its records or its PDFs, sorted
    fulltexts: tuple[str, ...] = ()  # kinds of its full texts
    license: str | None = None  # license of its open full text
    declared: tuple[tuple[str, str], ...] = ()  # (column, value) that its drop declares and the paper must have
    removed_heads: tuple[str, ...] = ()  # sections removed as too improbable
    body: tuple[ParagraphTruth, ...] = ()
    bibliography: tuple[EntryTruth, ...] = ()


@dataclass(frozen=True, slots=True)
class Truth:
    """The truth of a sample. `as_of` belongs to the release; drops and deliveries that are ready later are not seen."""

    as_of: str
    pdfs: tuple[PdfTruth, ...]
    papers: tuple[PaperTruth, ...]
    conflicts: tuple[str, ...] = ()  # records with an edge that was cut because it would join two different DOIs

    def to_json(self) -> str:
        """Return the content of `truth.json`."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False, indent=1, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read the truth from the text of `truth.json`."""
        return TypeAdapter(cls).validate_json(text)
