"""The record that a file gives → the header of its parse: the two say the same."""

from __future__ import annotations

from s2corpus.parse_model import Header
from s2corpus.sources.record import Record


def header_of(record: object) -> Header:
    """The header with the values of a source's record; nothing of an entry that gave none."""
    if not isinstance(record, Record):
        return Header()
    return Header(
        title=record.title or "", authors=record.authors, date=record.date, date_precision=record.date_precision,
        venue=record.venue, journal=record.journal, doi=record.doi, arxiv_id=record.arxiv_id, pubmed_id=record.pubmed_id,
        pmc_id=record.pmc_id, licence=record.licence, open_access=record.open_access,
    )  # fmt: skip
