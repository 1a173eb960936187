"""Normalise the fields of a source's record, in one place for all sources."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from s2corpus.sources.record import (
    DatedLicence,
    Dropped,
    Editorial,
    EditorialNotice,
    OpenVersion,
    Record,
    RecordKind,
    RejectReason,
)
from s2corpus.sources.work_types import read_work_type
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


@dataclass(frozen=True, slots=True)
class RawRecord:
    """The fields of one record in the form of its source. `where` locates the entry in a `Dropped`.

    `date` is any value that `parse_date` accepts.
    """

    record_id: str
    source: str
    kind: RecordKind
    where: str
    title: object = None
    authors: Iterable[Author | None] = ()
    date: object = None
    venue: object = None
    journal: object = None
    abstract: object = None
    volume: object = None
    issue: object = None
    pages: object = None
    doi: object = None
    arxiv_id: object = None
    pubmed_id: object = None
    pmc_id: object = None
    acl_id: object = None
    mag_id: object = None
    file_sha1: object = None
    subjects: object = None
    licence: object = None
    later_licences: tuple[DatedLicence, ...] = ()
    open_access: object = None
    open_version: object = None
    type: object = None
    editorial: object = None
    notices: tuple[EditorialNotice, ...] = ()

    def normalize(self) -> Record | Dropped:
        """Return the record with every field normalised, or EMPTY if neither a title nor an identifier remains.

        A malformed identifier or date counts as absent. An arXiv DOI also sets the arXiv id.
        """
        parsed = parse_date(self.date)
        plain_doi = identifiers.normalise_doi(identifiers.plain(self.doi))
        record = Record(
            self.record_id,
            self.source,
            self.kind,
            title=clean_title(self.title),
            authors=select_authors(self.authors),
            date=parsed[0],
            date_precision=parsed[1],
            venue=clean_text(self.venue),
            journal=clean_text(self.journal),
            abstract=clean_abstract(self.abstract),
            volume=clean_locator(self.volume),
            issue=clean_locator(self.issue),
            pages=clean_locator(self.pages),
            doi=plain_doi,
            arxiv_id=identifiers.normalise_arxiv(identifiers.plain(self.arxiv_id))
            or identifiers.arxiv_of_doi(plain_doi),
            pubmed_id=identifiers.normalise_pmid(identifiers.plain(self.pubmed_id)),
            pmc_id=identifiers.normalise_pmcid(identifiers.plain(self.pmc_id)),
            acl_id=identifiers.normalise_acl(identifiers.plain(self.acl_id)),
            mag_id=identifiers.plain(self.mag_id) or None,
            file_sha1=_sha1(self.file_sha1),
            subjects=clean_words(self.subjects),
            licence=parse_licence(self.licence),
            later_licences=self.later_licences,
            open_access=self.open_access if isinstance(self.open_access, bool) else None,
            open_version=next((version for version in OpenVersion if version == self.open_version), None),
            type=read_work_type(self.type),
            editorial=next((status for status in Editorial if status == self.editorial), None),
            notices=self.notices,
        )
        identifying = (
            record.title,
            record.doi,
            record.arxiv_id,
            record.pubmed_id,
            record.pmc_id,
            record.acl_id,
            record.file_sha1,
        )
        return record if any(identifying) else Dropped(RejectReason.EMPTY, self.where)


def _sha1(value: object) -> str | None:
    text = identifiers.plain(value).lower()
    return text if len(text) == 40 and all(character in "0123456789abcdef" for character in text) else None
