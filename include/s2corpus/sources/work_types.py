"""Types of works: the words of Crossref, Unpaywall, PubMed, DataCite, OpenAlex and JATS for them."""

from __future__ import annotations

import re

from s2corpus.sources.record import WorkType

_WORDS: dict[WorkType, tuple[str, ...]] = {
    WorkType.PREPRINT: ("preprint", "posted-content", "working-paper", "e-print", "eprint", "informal"),
    WorkType.ARTICLE: (
        "article",
        "journal-article",
        "research-article",
        "review",
        "review-article",
        "letter",
        "data-paper",
    ),
    WorkType.PROCEEDINGS: ("proceedings", "proceedings-article", "conference-paper", "inproceedings"),
    WorkType.CHAPTER: (
        "chapter",
        "book-chapter",
        "book-section",
        "book-part",
        "book-track",
        "reference-entry",
        "incollection",
    ),
    WorkType.BOOK: ("book", "monograph", "edited-book", "reference-book"),
    WorkType.THESIS: ("thesis", "dissertation", "phdthesis", "mastersthesis"),
    WorkType.REPORT: ("report", "report-component", "technical-report", "standard"),
    WorkType.OTHER: ("other", "dataset", "editorial", "erratum", "peer-review", "software", "text"),
}
_TYPES = {re.sub("[^a-z]", "", word): type_ for type_, words in _WORDS.items() for word in words}


def work_type(value: object) -> WorkType | None:
    """Return the type that a source's word names, or None if the word is unknown; case, spaces and hyphens do not matter."""
    return _TYPES.get(re.sub("[^a-z]", "", value.lower())) if isinstance(value, str) else None
