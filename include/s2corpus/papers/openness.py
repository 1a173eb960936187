"""Determine whether a full text may be published, with the evidence found and not found (SPEC §5.15–5.21)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from s2corpus.papers.evidence import (
    ACL_ARCHIVE,
    ARXIV_ARCHIVE,
    Declaration,
    Evidence,
    Found,
    Shared,
    collect_shared,
    format_identifiers,
    format_list,
    search_archive,
    search_declarations,
    search_paper,
    search_pmc,
    search_publisher,
    search_unpaywall,
)
from s2corpus.papers.licenses import select_strictest
from s2corpus.sources.record import DECLARED, Record, RecordKind


@dataclass(frozen=True, slots=True)
class EvidenceSearch:
    """The result of the search for one kind of evidence. `detail` describes the evidence, or the search."""

    evidence: Evidence
    found: bool
    detail: str


@dataclass(frozen=True, slots=True)
class StatedRights:
    """A record's license and statement about open access, and their effect on one full text."""

    record_id: str
    license: str | None
    open_access: bool | None
    effect: str


@dataclass(frozen=True, slots=True)
class Openness:
    """The decision about one full text.

    `evidence` is the strongest evidence found. The license comes from that evidence and from the deliverers of the
    file; if they state none, from the next evidence that does, unless the file is an archive's.
    """

    open: bool
    evidence: Evidence | None
    license: str | None
    searches: tuple[EvidenceSearch, ...] = ()
    license_detail: str | None = None
    """the licenses from which the strictest was selected, if there were several; or the evidence that states the license"""
    stated: tuple[StatedRights, ...] = ()
    """the rights that the records of the paper state, by record id"""


CLOSED = Openness(False, None, None)
"""the result without a full text"""


def decide_openness(
    sha1: str,
    records: Sequence[Record],
    declarations: Sequence[Declaration] = (),
    *,
    is_preprint: Callable[[str], bool],
    all_open: bool = False,
    unit: Literal["file", "paper"] = "file",
) -> Openness:
    """Decide about one PDF from the records of its cluster and from its file names and declarations in drops.

    `is_preprint` recognizes DOIs of preprint servers. A PDF that one drop declares closed is closed, regardless of
    other evidence. A publisher's PDF is closed if only its preprint is open, unless the `unit` is the paper (`vote.openness`).
    """
    if unit == "paper":
        return _decide(search_paper(records, all_open), declarations)
    own = [r for r in records if r.file_sha1 == sha1 and (r.kind is RecordKind.PDF or r.source == DECLARED)]
    others = [r for r in records if r.kind is not RecordKind.PDF and r.source != DECLARED]
    names = sorted({d.name for d in declarations})
    shared = collect_shared(sha1, own, others, records, names, is_preprint)
    found = {
        Evidence.ARXIV: search_archive(ARXIV_ARCHIVE, sha1, own, others, names, is_preprint),
        Evidence.ACL: search_archive(ACL_ARCHIVE, sha1, own, others, names, is_preprint),
        Evidence.PMC: search_pmc(shared),
        Evidence.UNPAYWALL: search_unpaywall(shared, is_preprint),
        Evidence.PUBLISHER: search_publisher(shared),
        Evidence.DECLARED: search_declarations([r for r in others if r.file_sha1 == sha1], declarations, all_open),
    }
    return _decide(found, declarations, others, shared)


def decide_source_openness(
    arxiv_id: str, records: Sequence[Record], declarations: Sequence[Declaration] = ()
) -> Openness:
    """Decide about a LaTeX source archive of arXiv: it is open unless a drop declares it closed.

    The license is from its arXiv record.
    """
    theirs = [r for r in records if ARXIV_ARCHIVE.applies_to(r) and arxiv_id in ARXIV_ARCHIVE.list_ids(r)]
    found = Found(f"this is the source archive of arXiv {arxiv_id}", theirs)
    declared = search_declarations([], declarations, all_open=False)
    return _decide({Evidence.ARXIV: found, Evidence.DECLARED: declared}, declarations, records)


def decide_article_openness(
    sha1: str,
    records: Sequence[Record],
    declarations: Sequence[Declaration] = (),
    *,
    own: Record,
    is_preprint: Callable[[str], bool],
    all_open: bool = False,
    unit: Literal["file", "paper"] = "file",
) -> Openness:
    """Decide about a publisher's full text (JATS, Elsevier's JSON) from the records of its cluster and its own metadata.

    `own` is that metadata: a license in the file is the publisher's statement about exactly this text.
    """
    if unit == "paper":
        return _decide(search_paper(records, all_open), declarations)
    others = [r for r in records if r.kind is not RecordKind.PDF and r.source != DECLARED]
    shared = collect_shared(sha1, [own], others, records, sorted({d.name for d in declarations}), is_preprint)
    stated = Found(f"its own metadata states open access{f', {own.license}' if own.license else ''}", [own])
    found = {
        Evidence.PMC: search_pmc(shared),
        Evidence.UNPAYWALL: search_unpaywall(shared, is_preprint),
        Evidence.PUBLISHER: stated if own.open_access else search_publisher(shared),
        Evidence.DECLARED: search_declarations([], declarations, all_open),
    }
    return _decide(found, declarations, others, shared)


def _decide(
    found: dict[Evidence, Found | str],
    declarations: Sequence[Declaration],
    records: Sequence[Record] = (),
    shared: Shared | None = None,
) -> Openness:
    searches = [
        EvidenceSearch(evidence, True, result.detail)
        if isinstance(result, Found)
        else EvidenceSearch(evidence, False, result)
        for evidence, result in found.items()
    ]
    evidence = next((search.evidence for search in searches if search.found), None)
    if closed_by := [str(d) for d in declarations if d.open_access is False]:
        opened_by = [str(d) for d in declarations if d.open_access]
        detail = f"declared closed by {format_list(closed_by)}"
        detail += f" and open by {format_list(opened_by)}" if opened_by else ""
        searches = [search for search in searches if search.evidence is not Evidence.DECLARED]
        searches.append(EvidenceSearch(Evidence.DECLARED, False, f"{detail}: closed has priority"))
        evidence = None
    used: dict[Evidence, Sequence[Record]] = {
        name: result.records for name, result in found.items() if evidence and isinstance(result, Found)
    }
    stating, licenses = evidence, _list_licenses(declarations, used.get(evidence, ()) if evidence else ())
    if evidence not in (Evidence.ARXIV, Evidence.ACL):  # The other evidence is about another version.
        for other in used if not licenses else ():
            if licenses := _list_licenses((), used[other]):
                stating = other
                break
    strictest = select_strictest(licenses)
    chosen = f"{strictest}: the strictest of {format_list(licenses)}" if len(licenses) > 1 else strictest
    is_other = strictest is not None and stating is not evidence
    origin = f"{chosen}, by {stating}: {evidence} states no license" if is_other else chosen
    rights = tuple(
        StatedRights(r.record_id, r.license, r.open_access, _describe_effect(r, evidence, used, stating, shared))
        for r in sorted(records, key=lambda record: record.record_id)
        if r.kind is not RecordKind.PDF and (r.license or r.open_access is not None)
    )
    return Openness(
        evidence is not None, evidence, strictest, tuple(searches), origin if origin != strictest else None, rights
    )


def _list_licenses(declarations: Iterable[Declaration], records: Iterable[Record]) -> list[str]:
    given = [*(one.license for one in declarations), *(record.license for record in records)]
    return sorted({license for license in given if license})


def _describe_effect(
    record: Record,
    evidence: Evidence | None,
    used: Mapping[Evidence, Sequence[Record]],
    stating: Evidence | None,
    shared: Shared | None,
) -> str:
    """Return the access that a record's rights give, or the rule that forbids access and a remedy."""
    opens = evidence is not None and record in used.get(evidence, ())
    if record.license and stating is not None and record in used.get(stating, ()):
        return "opens this text and states its license" if opens else "states the license of this text"
    if opens:
        return "opens this text"
    if any(record in some for some in used.values()):
        return f"not needed: {evidence} decides (SPEC §5.15)"
    if evidence in (Evidence.ARXIV, Evidence.ACL):
        return "not applied: this text is the archive's copy, and its rights are the archive's (SPEC §5.16, §5.17)"
    if shared is not None and record not in shared.records:
        return (
            f"not applied: it does not have {format_identifiers(shared)} (SPEC §5.18); "
            "if it describes this file, declare its doi in the drop's records.jsonl"
        )
    if record.open_access is False:
        return "states that the work is closed"
    if record.kind is not RecordKind.PUBLISHER:
        return (
            "not applied: only publishers, PMC, Unpaywall and OpenAlex open a text (SPEC §5.18, §5.19); "
            "deliver one of them, or declare open_access in the drop's records.jsonl"
        )
    return (
        "not applied: the publisher states a license, but not open access (SPEC §5.19); "
        "if you have the rights, declare open_access in the drop's records.jsonl"
    )
