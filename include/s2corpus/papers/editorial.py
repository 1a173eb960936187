"""A paper's editorial status, from what its records say of it and what notices say of its identifiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from s2corpus.sources.editorial import worst
from s2corpus.sources.record import ARXIV, Editorial, Kind, Record

Said = tuple[Editorial, str]
"""(status, the record that says it)"""


def identifiers(record: Record) -> tuple[str, ...]:
    """A record's identifiers in the form that notices name them."""
    return tuple(f"{kind}:{value}" for kind, value in (("doi", record.doi), ("pmid", record.pubmed_id)) if value)


def editorial(
    records: Sequence[Record], notices: Mapping[str, Sequence[Said]], is_preprint: Callable[[str], bool]
) -> tuple[Editorial | None, tuple[str, ...]]:
    """The gravest status that is said of a paper, and the records that say it, sorted.

    A preprint that was withdrawn is not the paper's withdrawal where a publisher has the paper: what is said of the preprint alone
    then counts for nothing.
    """
    published = any(r.kind is Kind.PUBLISHER and not _preprint(r, is_preprint) for r in records)
    said: set[Said] = set()
    for record in records:
        if record.kind is Kind.PDF or (published and _preprint(record, is_preprint)):
            continue
        if record.editorial is not None:
            said.add((record.editorial, record.record_id))
        for name in identifiers(record):
            said.update(notices.get(name, ()))
    status = worst(status for status, _ in said)
    return status, tuple(sorted(record_id for found, record_id in said if found is status))


def _preprint(record: Record, is_preprint: Callable[[str], bool]) -> bool:
    return record.source == ARXIV or is_preprint(record.doi or "")
