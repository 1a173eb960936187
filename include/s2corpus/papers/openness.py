"""Determine whether a full text may be published, with the evidence found and not found (SPEC §5.15–5.21)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from s2corpus.papers.licences import select_strictest
from s2corpus.sources.record import ACL, ARXIV, DECLARED, OPENALEX, UNPAYWALL, OpenVersion, Record, RecordKind
from s2orc_parse.bibliography.identifiers import (
    acl_id_of_name,
    acl_of_doi,
    arxiv_id_of_name,
    arxiv_of_doi,
    pmc_id_of_name,
)


class Evidence(StrEnum):
    """The kinds of evidence for open access, strongest first."""

    # the PDF carries an arXiv id, is an arXiv source, is delivered as one, or its paper exists only at arXiv
    ARXIV = "arxiv"
    ACL = "acl"  # the same for the ACL Anthology
    PMC = "pmc"  # the article is in PMC's open access subset
    UNPAYWALL = "unpaywall"  # the DOI is open in an Unpaywall delivery
    PUBLISHER = "publisher"  # the publisher's own record states open access
    DECLARED = "declared"  # the deliverer states open access, or the release contains the user's own PDFs


@dataclass(frozen=True, slots=True)
class EvidenceSearch:
    """The search for one kind of evidence: whether it was found, and the place or the searched places."""

    evidence: Evidence
    found: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Openness:
    """The decision about one full text.

    `evidence` is the strongest evidence found. The license comes from that evidence and from the deliverers of the
    file.
    """

    open: bool
    evidence: Evidence | None
    licence: str | None
    looks: tuple[EvidenceSearch, ...] = ()
    licence_detail: str | None = None
    """the licenses from which the strictest was selected, if there were several"""


CLOSED = Openness(False, None, None)
"""the result without a full text"""


@dataclass(frozen=True, slots=True)
class Declaration:
    """One place of a file in a drop, and the drop's declarations about it."""

    drop: str
    name: str
    open_access: bool | None = None
    licence: str | None = None

    def __str__(self) -> str:
        return f"{self.drop}/{self.name}"


@dataclass(frozen=True, slots=True)
class _Found:
    """Evidence as text, and the records that give the license."""

    detail: str
    records: Sequence[Record] = ()


@dataclass(frozen=True, slots=True)
class _Archive:
    """An archive that contains only open papers, with the functions that recognize its records and file names."""

    name: str
    source: str
    field: Literal["arxiv_id", "acl_id"]
    id_of_doi: Callable[[str | None], str | None]
    id_of_name: Callable[[str], str | None]
    marking_archives: tuple[_Archive, ...] = ()
    """archives that mark their PDFs: a PDF without their mark belongs to this archive if only they and this archive
    have its paper
    """

    def list_ids(self, record: Record) -> set[str]:
        """Return the archive's ids in a record."""
        return {i for i in (getattr(record, self.field), self.id_of_doi(record.doi)) if i}

    def applies_to(self, record: Record) -> bool:
        """Return whether a record is the archive's own or has a DOI that the archive registered."""
        return record.source == self.source or self.id_of_doi(record.doi) is not None


def decide_openness(
    sha1: str,
    records: Sequence[Record],
    declarations: Sequence[Declaration] = (),
    *,
    is_preprint: Callable[[str], bool],
    all_open: bool = False,
) -> Openness:
    """Decide about one PDF from the records of its cluster and from its file names and declarations in drops.

    `is_preprint` recognizes DOIs of preprint servers. A PDF that one drop declares closed is closed, regardless of
    other evidence. A publisher's PDF is closed if only its preprint is open.
    """
    own = [r for r in records if r.file_sha1 == sha1 and (r.kind is RecordKind.PDF or r.source == DECLARED)]
    others = [r for r in records if r.kind is not RecordKind.PDF and r.source != DECLARED]
    names = sorted({d.name for d in declarations})
    shared = _collect_shared(sha1, own, others, records, names, is_preprint)
    found = {
        Evidence.ARXIV: _search_archive(_ARXIV, sha1, own, others, names, is_preprint),
        Evidence.ACL: _search_archive(_ACL, sha1, own, others, names, is_preprint),
        Evidence.PMC: _search_pmc(shared),
        Evidence.UNPAYWALL: _search_unpaywall(shared, is_preprint),
        Evidence.PUBLISHER: _search_publisher(shared),
        Evidence.DECLARED: _search_declarations([r for r in others if r.file_sha1 == sha1], declarations, all_open),
    }
    return _decide(found, declarations)


def decide_source_openness(
    arxiv_id: str, records: Sequence[Record], declarations: Sequence[Declaration] = ()
) -> Openness:
    """Decide about a LaTeX source archive of arXiv: it is open unless a drop declares it closed.

    The license is from its arXiv record.
    """
    theirs = [r for r in records if _ARXIV.applies_to(r) and arxiv_id in _ARXIV.list_ids(r)]
    found = _Found(f"it is the source archive of arXiv {arxiv_id}", theirs)
    declared = _search_declarations([], declarations, all_open=False)
    return _decide({Evidence.ARXIV: found, Evidence.DECLARED: declared}, declarations)


def decide_article_openness(
    sha1: str,
    records: Sequence[Record],
    declarations: Sequence[Declaration] = (),
    *,
    own: Record,
    is_preprint: Callable[[str], bool],
    all_open: bool = False,
) -> Openness:
    """Decide about a publisher's full text (JATS, Elsevier's JSON) from its own metadata (`own`) and its cluster's
    records.

    A license in the file is the publisher's statement about exactly this text.
    """
    others = [r for r in records if r.kind is not RecordKind.PDF and r.source != DECLARED]
    shared = _collect_shared(sha1, [own], others, records, sorted({d.name for d in declarations}), is_preprint)
    said = _Found(f"it says itself that it is open access{f', {own.licence}' if own.licence else ''}", [own])
    found = {
        Evidence.PMC: _search_pmc(shared),
        Evidence.UNPAYWALL: _search_unpaywall(shared, is_preprint),
        Evidence.PUBLISHER: said if own.open_access else _search_publisher(shared),
        Evidence.DECLARED: _search_declarations([], declarations, all_open),
    }
    return _decide(found, declarations)


def _decide(found: dict[Evidence, _Found | str], declarations: Sequence[Declaration]) -> Openness:
    closing = [d for d in declarations if d.open_access is False]
    looks = [
        EvidenceSearch(evidence, True, said.detail)
        if isinstance(said, _Found)
        else EvidenceSearch(evidence, False, said)
        for evidence, said in found.items()
    ]
    declared = [d.licence for d in declarations]
    evidence = next((look.evidence for look in looks if look.found), None)
    if closing:
        opening = [str(d) for d in declarations if d.open_access]
        detail = f"declared closed by {_format_list(map(str, closing))}"
        detail += f", though {_format_list(opening)} declares it open" if opening else ""
        looks = [look for look in looks if look.evidence is not Evidence.DECLARED]
        looks.append(EvidenceSearch(Evidence.DECLARED, False, f"{detail}: closed wins"))
        evidence = None
    licences = list(declared)
    if evidence is not None and isinstance(said := found[evidence], _Found):
        licences += [record.licence for record in said.records]
    given = sorted({licence for licence in licences if licence})
    detail_of = f"{select_strictest(given)}: the strictest of {_format_list(given)}" if len(given) > 1 else None
    return Openness(evidence is not None, evidence, select_strictest(given), tuple(looks), detail_of)


def _search_archive(
    archive: _Archive,
    sha1: str,
    own: Sequence[Record],
    others: Sequence[Record],
    names: Sequence[str],
    is_preprint: Callable[[str], bool],
) -> _Found | str:
    """Search for evidence that a PDF belongs to an archive: its id, its name, a declaration, or that only the archive
    has it.
    """

    def records_with(ids: set[str]) -> list[Record]:
        return [r for r in others if archive.applies_to(r) and archive.list_ids(r) & ids]

    if carried := {i for r in own if r.kind is RecordKind.PDF for i in archive.list_ids(r)}:
        return _Found(f"it carries the id {_format_list(carried)} of {archive.name}", records_with(carried))
    if naming := [r for r in others if r.source == archive.source and r.file_sha1 == sha1]:
        return _Found(f"{_format_list(r.record_id for r in naming)} names it", naming)
    known = {i for r in others for i in archive.list_ids(r)}
    named = {i for name in names if (i := archive.id_of_name(name))}
    if delivered := named & known:
        return _Found(
            f"it was delivered under the name {_format_list(delivered)}, its paper's id of {archive.name}",
            records_with(delivered),
        )
    declared = {i for r in own if r.source == DECLARED for i in archive.list_ids(r)}
    if said := declared & known:
        return _Found(
            f"its drop declares the id {_format_list(said)}, its paper's of {archive.name}", records_with(said)
        )
    elsewhere = [r for r in others if not any(a.applies_to(r) for a in (archive, *archive.marking_archives))]
    printed = {r.doi for r in own if r.doi and not is_preprint(r.doi) and not archive.applies_to(r)}
    if (theirs := [r for r in others if archive.applies_to(r)]) and not elsewhere and not printed:
        alone = " and ".join(
            a.name for a in (archive, *archive.marking_archives) if any(a.applies_to(r) for r in others)
        )
        return _Found(
            f"its paper is known to {alone} alone", [r for r in theirs if r.source == archive.source] or theirs
        )
    looked = [f"no id of {archive.name} on it"]
    if names:
        looked.append(f"none {'of its paper ' if named else ''}in its name ({_format_list(names)})")
    if declared:
        looked.append(f"{_format_list(declared)} declared, which no other record of its paper has")
    if theirs:
        looked.append(
            f"its paper is known to {_format_list(sorted({r.source for r in elsewhere}))} too"
            if elsewhere
            else f"it has the DOI {_format_list(printed)}"
        )
    return ", ".join(looked)


@dataclass(frozen=True)
class _Shared:
    """The identifiers that a PDF shares with records of its cluster."""

    dois: set[str]
    pmc_ids: set[str]
    records: Sequence[Record]  # records other than PDFs' that name the PDF, or have one of its DOIs or PMC ids
    ambiguous: set[str]  # the cluster's DOIs, if the PDF has none and there are several


def _collect_shared(
    sha1: str,
    own: Sequence[Record],
    others: Sequence[Record],
    records: Sequence[Record],
    names: Sequence[str],
    is_preprint: Callable[[str], bool],
) -> _Shared:
    """Return a PDF's DOIs and PMC ids: its own, its publisher record's, and the PMC id in its file name.

    A PDF without a DOI has its cluster's DOI if there is only one. DOIs of preprints do not make the cluster's DOI
    ambiguous. They also do not open a PDF that has a published DOI too.
    """
    identifying = [*own, *(r for r in others if r.file_sha1 == sha1)]

    def published(dois: set[str]) -> set[str]:
        return {doi for doi in dois if not is_preprint(doi)} or dois

    dois, ambiguous = published({r.doi for r in identifying if r.doi}), set[str]()
    if not dois:
        candidates = published({r.doi for r in records if r.doi})
        if len(candidates) == 1:
            dois = candidates
        else:
            ambiguous = candidates
    identifying += [r for r in others if r.kind is RecordKind.PUBLISHER and r.doi in dois]
    dois = published(dois | {r.doi for r in identifying if r.doi})
    named = {i for name in names if (i := pmc_id_of_name(name))}
    pmc_ids = {r.pmc_id for r in identifying if r.pmc_id} | {r.pmc_id for r in others if r.pmc_id in named}
    sharing = [r for r in others if r.file_sha1 == sha1 or r.doi in dois or (r.pmc_id and r.pmc_id in pmc_ids)]
    return _Shared(dois, pmc_ids, sharing, ambiguous)


def _search_pmc(shared: _Shared) -> _Found | str:
    if found := [r for r in shared.records if r.pmc_id and r.open_access and r.source not in (UNPAYWALL, OPENALEX)]:
        ids = _format_list({r.pmc_id for r in found if r.pmc_id})
        return _Found(f"{ids} is in PMC's open access subset, by {_format_list(r.record_id for r in found)}", found)
    return f"no record of PMC's open access subset has {_format_identifiers(shared)}"


def _search_unpaywall(shared: _Shared, is_preprint: Callable[[str], bool]) -> _Found | str:
    theirs = [r for r in shared.records if r.source == UNPAYWALL and r.doi] or [
        r for r in shared.records if r.source == OPENALEX and r.doi and r.open_access is not None
    ]  # OpenAlex repeats Unpaywall's data, so a delivery of Unpaywall itself decides.
    opening = [r for r in theirs if r.open_access]
    found = [r for r in opening if r.open_version is not OpenVersion.COPY or is_preprint(r.doi or "")]
    if found:
        return _Found(f"{_format_list(r.doi for r in found if r.doi)} is open", found)
    if opening:
        return f"of {_format_list(r.doi for r in opening if r.doi)} only copies are open, none the publisher's or of the published version"
    if theirs:
        return f"{_format_list(r.doi for r in theirs if r.doi)} is closed"
    return f"no record has {_format_identifiers(shared, pmc=False)}"


def _search_publisher(shared: _Shared) -> _Found | str:
    if found := [r for r in shared.records if r.kind is RecordKind.PUBLISHER and r.open_access]:
        return _Found(f"{_format_list(r.record_id for r in found)} says that it is open access", found)
    return f"no publisher's record that has {_format_identifiers(shared)} says so"


def _search_declarations(naming: Sequence[Record], declarations: Sequence[Declaration], all_open: bool) -> _Found | str:
    if opening := [str(d) for d in declarations if d.open_access]:
        return _Found(f"declared open by {_format_list(opening)}")
    if found := [r for r in naming if r.open_access]:
        return _Found(f"{_format_list(r.record_id for r in found)} names it and says that it is open access", found)
    return _Found("the release is of the user's own PDFs") if all_open else "no drop says that it is open access"


def _format_identifiers(shared: _Shared, *, pmc: bool = True) -> str:
    given = sorted(shared.dois) + (sorted(shared.pmc_ids) if pmc else [])
    if given:
        return f"{_format_list(given)} of this PDF"
    return (
        f"its DOI, which may be any of {_format_list(shared.ambiguous)}"
        if shared.ambiguous
        else "its DOI: none is known"
    )


def _format_list(texts: Iterable[str], most: int = 5) -> str:
    given = sorted(set(texts))
    return ", ".join(given[:most]) + (f" and {len(given) - most} more" if len(given) > most else "")


_ARXIV = _Archive("arXiv", ARXIV, "arxiv_id", arxiv_of_doi, arxiv_id_of_name)
_ACL = _Archive("the ACL Anthology", ACL, "acl_id", acl_of_doi, acl_id_of_name, marking_archives=(_ARXIV,))
