"""Map the names of types of works in Crossref, Unpaywall, PubMed, DataCite, OpenAlex and JATS to `WorkType`."""

from __future__ import annotations

import re

from s2corpus.sources.record import WorkType

_NAMES: dict[WorkType, tuple[str, ...]] = {
    WorkType.PREPRINT: ("preprint", "posted-content", "working-paper", "e-print", "eprint", "informal"),
    WorkType.ARTICLE: ("article", "journal-article", "research-article", "review", "review-article", "letter", "data-paper"),
    WorkType.PROCEEDINGS: ("proceedings", "proceedings-article", "conference-paper", "inproceedings"),
    WorkType.CHAPTER: (
        "chapter", "book-chapter", "book-section", "book-part", "book-track", "reference-entry", "incollection",
    ),
    WorkType.BOOK: ("book", "monograph", "edited-book", "reference-book"),
    WorkType.THESIS: ("thesis", "dissertation", "phdthesis", "mastersthesis"),
    WorkType.REPORT: ("report", "report-component", "technical-report", "standard"),
    WorkType.OTHER: ("other", "dataset", "editorial", "erratum", "peer-review", "software", "text"),
}  # fmt: skip
_TYPES = {re.sub("[^a-z]", "", word): type_ for type_, words in _NAMES.items() for word in words}


def read_work_type(value: object) -> WorkType | None:
    """Return the type for a source's name of it, or None. Case, spaces and hyphens are ignored."""
    return _TYPES.get(re.sub("[^a-z]", "", value.lower())) if isinstance(value, str) else None
