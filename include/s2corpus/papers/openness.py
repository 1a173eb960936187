"""Whether a PDF may be published, and what says so (SEMANTICS: Vote)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from s2corpus.sources.record import Kind, Record

UNPAYWALL = "unpaywall"


class Evidence(StrEnum):
    """What says that a PDF is open access, the strongest first."""

    ARXIV = "arxiv"  # it carries an arXiv id, or a record that names it does
    ACL = "acl"  # likewise an ACL Anthology id
    PMC = "pmc"  # its PMC article is in the open access subset
    UNPAYWALL = "unpaywall"  # its DOI is open in an Unpaywall delivery
    DECLARED = "declared"  # who delivered it says so, or the release is of the user's own PDFs


@dataclass(frozen=True, slots=True)
class Openness:
    """The judgement on one PDF."""

    open: bool
    evidence: Evidence | None
    licence: str | None


CLOSED = Openness(False, None, None)
"""Of no PDF at all."""


def openness(
    sha1: str, records: Sequence[Record], declared: bool | None, licence: str | None, all_open: bool = False
) -> Openness:
    """Judge one PDF by the records of its cluster and what was declared with its drop.

    A record speaks for the PDF if it names it: its own header, or a source's record with its SHA-1. A PDF declared closed is
    closed. A PDF that gives no DOI has the cluster's, if that has but one.
    """
    speaking = [record for record in records if record.pdf_sha1 == sha1]
    dois = {record.doi for record in speaking if record.doi} or {record.doi for record in records if record.doi}
    if len(dois) > 1 and not any(record.doi for record in speaking):
        dois = set()
    pmc_ids = {record.pmc_id for record in speaking if record.pmc_id}
    sharing = [
        r for r in records if r.pdf_sha1 == sha1 or (r.doi and r.doi in dois) or (r.pmc_id and r.pmc_id in pmc_ids)
    ]
    for evidence, found in (
        (Evidence.ARXIV, [r for r in speaking if r.arxiv_id]),
        (Evidence.ACL, [r for r in speaking if r.acl_id]),
        (Evidence.PMC, [r for r in sharing if r.pmc_id and r.open_access]),
        (Evidence.UNPAYWALL, [r for r in sharing if r.source == UNPAYWALL and r.open_access]),
        (Evidence.DECLARED, [r for r in speaking if r.open_access and r.kind is not Kind.PDF]),
    ):
        if found and declared is not False:
            return Openness(True, evidence, licence or _licence(found) or _licence(sharing))
    if declared is not False and (declared or all_open):
        return Openness(True, Evidence.DECLARED, licence or _licence(sharing))
    return Openness(False, None, licence or _licence(speaking))


def _licence(records: Sequence[Record]) -> str | None:
    return min((record.licence for record in records if record.licence), default=None)
