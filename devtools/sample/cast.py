"""Define a case of the sample and the cast of all cases. The cases are in `cases`, `dropped` and `months`."""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass, field
from typing import Any

from devtools.sample.compose import Titles, outline
from devtools.sample.formats import Row
from devtools.sample.model import InlineStyle, Paper
from devtools.sample.prose import SentenceWriter

STYLES = (InlineStyle.BRACKET, InlineStyle.NAME_YEAR, InlineStyle.BRACKET, InlineStyle.SUPERSCRIPT)
OPEN = {"open_access": True, "license": "CC-BY-4.0"}
SEED = 20200705


@dataclass(slots=True)
class PdfCase:
    """A PDF of the sample before typesetting: template data (or the name of a special file), its drops, its truth."""

    name: str
    make: str  # published, preprint, or the name of a special file in `broken`
    drops: tuple[str, ...] = ("2023-01-a",)
    selection: str = "selected"
    declared: dict[str, Any] | None = None
    belongs: bool = True  # whether it is a PDF of its case's paper
    title: str | None = None  # title of the PDF if it is not the paper's title
    prints_doi: bool = True
    prints_pmc: str | None = None  # the PMC id that it prints under the DOI
    treat: str | None = None  # encrypt, owner_password, truncate, rotate


@dataclass(slots=True)
class Case:
    """One paper: its content, its records and PDFs, and its expected outcomes."""

    key: str
    why: str
    paper: Paper
    writer: SentenceWriter
    body: str = "usual"  # kind of its text, see `texts`
    records: list[tuple[str, Row]] = field(default_factory=list)  # (delivery, row); file_sha1 may be "@<name of PDF>"
    pdfs: list[PdfCase] = field(default_factory=list)
    canonical: str | None = None  # name of its canonical PDF
    full_text: str | None = None  # name of its only full text if not a PDF; `generate.KINDS` has the suffixes
    filed_under: str | None = None  # its field of study in its sources, if that is not the paper's own
    declares: bool = False  # whether its drop declares title and authors for its PDF, which makes a separate record
    open_access: bool = True
    evidence: str | None = "declared"  # evidence that its canonical PDF is open
    license: str | None = "CC-BY-4.0"  # its license
    filtered: str = "kept"
    s2orc: str | None = "kept"
    s2ag: str | None = None
    split: str | None = "train"
    title: str | None = None  # canonical title if it is not the paper's own
    date: str | None = None  # canonical date if it is not the paper's own
    cites: list[str] = field(default_factory=list)  # papers it must cite, in addition to random ones
    citable: bool = True  # whether ordinary papers may cite it
    later: dict[int, dict[str, Any]] = field(default_factory=dict)  # release → changes from this release on

    def at(self, release: int) -> Case:
        """Return the case as the given release (1 or 2) must see it."""
        changes = [change for since, change in sorted(self.later.items()) if since <= release]
        return dataclasses.replace(self, **{k: v for change in changes for k, v in change.items()})


class Cast:
    """The collection of cases.

    Numbers and random states depend on the order and the key, so cases do not affect each other.
    """

    def __init__(self) -> None:
        self.titles = Titles()
        self.cases: list[Case] = []
        self.conflicts: tuple[str, ...] = ()  # papers that an edge to another is cut from
        self.extras: tuple[str, ...] = ()  # PDFs without a paper, see `generate.EXTRAS`

    def rng(self, key: str, purpose: str) -> random.Random:
        """Return the random state for one purpose of one case."""
        return random.Random(f"{SEED}:{key}:{purpose}")

    def add(
        self,
        key: str,
        why: str,
        date: str | None,
        *,
        title: str | None = None,
        authors: int = 3,
        style: InlineStyle | None = None,
        columns: int | None = None,
        **options: Any,
    ) -> Case:
        """Add and return a case of an open published paper; `options` change the defaults."""
        number = len(self.cases) + 1
        rng = self.rng(key, "outline")
        paper, w = outline(rng, key, number, self.titles, date=date, title=title, authors=authors)
        paper.style = style or STYLES[number % 4]
        paper.columns = columns or (2 if number % 3 == 0 else 1)
        case = Case(key, why, paper, w, **options)
        self.cases.append(case)
        return case

    def number(self, case: Case) -> int:
        """Return the case's number, from 1."""
        return self.cases.index(case) + 1


def published(case: Case, **changes: Any) -> PdfCase:
    """Add the published PDF to the case, open by declaration."""
    pdf = PdfCase(**{"name": f"{case.key}.pdf", "make": "published", "declared": OPEN} | changes)
    case.pdfs.append(pdf)
    if case.canonical is None and pdf.selection == "selected":
        case.canonical = pdf.name
    return pdf


def preprint(cast: Cast, case: Case, **changes: Any) -> PdfCase:
    """Add a preprint's PDF to the case, open because it is on arXiv, and the arXiv record for it."""
    year = case.paper.year or 2020
    case.paper.arxiv_id = f"{year % 100:02d}03.9{cast.number(case):04d}"
    pdf = PdfCase(**{"name": f"{case.paper.arxiv_id}v1.pdf", "make": "preprint"} | changes)
    case.evidence = "arxiv"
    case.pdfs.append(pdf)
    return pdf


def delivered(case: Case, *rows: Row, delivery: str = "full") -> None:
    """Add records to the case."""
    case.records += [(delivery, row) for row in rows]
