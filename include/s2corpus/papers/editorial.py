"""Determine a paper's editorial status from its records and from notices about its identifiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from s2corpus.sources.editorial import select_most_serious
from s2corpus.sources.record import ARXIV, Editorial, Record, RecordKind

Statement = tuple[Editorial, str]
"""(status, id of the record that states it)"""


def list_identifiers(record: Record) -> tuple[str, ...]:
    """Return a record's identifiers in the form that notices use."""
    return tuple(f"{kind}:{value}" for kind, value in (("doi", record.doi), ("pmid", record.pubmed_id)) if value)


def find_status(
    records: Sequence[Record], notices: Mapping[str, Sequence[Statement]], is_preprint: Callable[[str], bool]
) -> tuple[Editorial | None, tuple[str, ...]]:
    """Return the most serious editorial status of a paper, and the sorted ids of the records that state it.

    If a publisher record exists, statements about its preprint are ignored: the withdrawal of a preprint does not
    withdraw the published paper.
    """
    published = any(r.kind is RecordKind.PUBLISHER and not _is_preprint(r, is_preprint) for r in records)
    statements: set[Statement] = set()
    for record in records:
        if record.kind is RecordKind.PDF or (published and _is_preprint(record, is_preprint)):
            continue
        if record.editorial is not None:
            statements.add((record.editorial, record.record_id))
        for name in list_identifiers(record):
            statements.update(notices.get(name, ()))
    status = select_most_serious(status for status, _ in statements)
    return status, tuple(sorted(record_id for found, record_id in statements if found is status))


def _is_preprint(record: Record, is_preprint: Callable[[str], bool]) -> bool:
    return record.source == ARXIV or is_preprint(record.doi or "")
