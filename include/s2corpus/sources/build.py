"""A record from what a source says as it says it: every field is normalised here, once."""

from __future__ import annotations

from collections.abc import Iterable

from s2corpus.sources.record import DatedLicence, Dropped, Editorial, Kind, Notice, OpenVersion, Reason, Record
from s2corpus.sources.work_types import work_type
from s2orc_parse.bibliography import identifiers
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.dates import parse_date
from s2orc_parse.bibliography.fields import (
    clean_abstract,
    clean_locator,
    clean_text,
    clean_title,
    clean_words,
    parse_licence,
    select_authors,
)


def build(
    record_id: str,
    source: str,
    kind: Kind,
    where: str,
    *,
    title: object = None,
    authors: Iterable[Author | None] = (),
    date: object = None,
    venue: object = None,
    journal: object = None,
    abstract: object = None,
    volume: object = None,
    issue: object = None,
    pages: object = None,
    doi: object = None,
    arxiv_id: object = None,
    pubmed_id: object = None,
    pmc_id: object = None,
    acl_id: object = None,
    mag_id: object = None,
    file_sha1: object = None,
    subjects: object = None,
    licence: object = None,
    later_licences: tuple[DatedLicence, ...] = (),
    open_access: object = None,
    open_version: object = None,
    type: object = None,
    editorial: object = None,
    notices: tuple[Notice, ...] = (),
) -> Record | Dropped:
    """The record, or EMPTY where neither a title nor an identifier is left.

    What is not such an identifier, date, … is taken as absent; arXiv's own DOIs say the arXiv id. `date` is anything `parse_date`
    reads, what it returned included.
    """
    parsed = parse_date(date)
    plain_doi = identifiers.normalise_doi(identifiers.plain(doi))
    record = Record(
        record_id,
        source,
        kind,
        title=clean_title(title),
        authors=select_authors(authors),
        date=parsed[0],
        date_precision=parsed[1],
        venue=clean_text(venue),
        journal=clean_text(journal),
        abstract=clean_abstract(abstract),
        volume=clean_locator(volume),
        issue=clean_locator(issue),
        pages=clean_locator(pages),
        doi=plain_doi,
        arxiv_id=identifiers.normalise_arxiv(identifiers.plain(arxiv_id)) or identifiers.arxiv_of_doi(plain_doi),
        pubmed_id=identifiers.normalise_pmid(identifiers.plain(pubmed_id)),
        pmc_id=identifiers.normalise_pmcid(identifiers.plain(pmc_id)),
        acl_id=identifiers.normalise_acl(identifiers.plain(acl_id)),
        mag_id=identifiers.plain(mag_id) or None,
        file_sha1=_sha1(file_sha1),
        subjects=clean_words(subjects),
        licence=parse_licence(licence),
        later_licences=later_licences,
        open_access=open_access if isinstance(open_access, bool) else None,
        open_version=next((version for version in OpenVersion if version == open_version), None),
        type=work_type(type),
        editorial=next((status for status in Editorial if status == editorial), None),
        notices=notices,
    )
    telling = (
        record.title,
        record.doi,
        record.arxiv_id,
        record.pubmed_id,
        record.pmc_id,
        record.acl_id,
        record.file_sha1,
    )
    return record if any(telling) else Dropped(Reason.EMPTY, where)


def _sha1(value: object) -> str | None:
    text = identifiers.plain(value).lower()
    return text if len(text) == 40 and all(character in "0123456789abcdef" for character in text) else None
