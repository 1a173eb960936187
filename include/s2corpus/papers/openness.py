"""Whether a full text may be published, what says so, and what was looked for in vain (SEMANTICS §5, open access)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from s2corpus.papers.licences import strictest
from s2corpus.sources.record import ACL, ARXIV, DECLARED, OPENALEX, UNPAYWALL, Kind, OpenVersion, Record
from s2orc_parse.bibliography.identifiers import (
    acl_id_of_name,
    acl_of_doi,
    arxiv_id_of_name,
    arxiv_of_doi,
    pmc_id_of_name,
)


class Evidence(StrEnum):
    """What says that a full text is open access, the strongest first."""

    ARXIV = "arxiv"  # it carries an arXiv id, is an arXiv source, is delivered as one, or its paper is arXiv's alone
    ACL = "acl"  # likewise the ACL Anthology's
    PMC = "pmc"  # its article is in PMC's open access subset
    UNPAYWALL = "unpaywall"  # its DOI is open in an Unpaywall delivery
    PUBLISHER = "publisher"  # its publisher's own record says that it is open access
    DECLARED = "declared"  # who delivered it says so, or the release is of the user's own PDFs


@dataclass(frozen=True, slots=True)
class Look:
    """One kind of evidence: whether it was found, and where, or where it was looked for."""

    evidence: Evidence
    found: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Openness:
    """The judgement on one full text: `evidence` is the strongest found, the licence is by that and by who delivered the file."""

    open: bool
    evidence: Evidence | None
    licence: str | None
    looks: tuple[Look, ...] = ()
    licence_detail: str | None = None
    """the licences among which the strictest was taken, where there were several"""


CLOSED = Openness(False, None, None)
"""Of no full text at all."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """One place a file was delivered to, and what the drop declares of it there."""

    drop: str
    name: str
    open_access: bool | None = None
    licence: str | None = None

    def __str__(self) -> str:
        return f"{self.drop}/{self.name}"


@dataclass(frozen=True, slots=True)
class _Found:
    """What is evidence, in words, and the records that give the licence."""

    detail: str
    records: Sequence[Record] = ()


@dataclass(frozen=True, slots=True)
class _Archive:
    """An archive all of whose papers are open, and how a record or a file's name is known as its."""

    name: str
    source: str
    field: Literal["arxiv_id", "acl_id"]
    id_of_doi: Callable[[str | None], str | None]
    id_of_name: Callable[[str], str | None]
    besides: tuple[_Archive, ...] = ()
    """archives that mark what is theirs: a PDF without their mark, of a paper known to them and to this one alone, is this one's"""

    def ids_of(self, record: Record) -> set[str]:
        """The archive's ids that a record gives."""
        return {i for i in (getattr(record, self.field), self.id_of_doi(record.doi)) if i}

    def holds(self, record: Record) -> bool:
        """Whether a record is the archive's own, or of a DOI that the archive registered."""
        return record.source == self.source or self.id_of_doi(record.doi) is not None


def openness(
    sha1: str,
    records: Sequence[Record],
    declarations: Sequence[Declaration] = (),
    *,
    is_preprint: Callable[[str], bool],
    all_open: bool = False,
) -> Openness:
    """Judge one PDF by the records of its cluster and by its places: its names as delivered, and what its drops declare.

    `is_preprint` recognises the DOIs of preprint servers. Closed stays closed: a PDF that one drop declares closed, whatever else is
    found; and a publisher's PDF whose preprint alone is open.
    """
    own = [r for r in records if r.file_sha1 == sha1 and (r.kind is Kind.PDF or r.source == DECLARED)]
    others = [r for r in records if r.kind is not Kind.PDF and r.source != DECLARED]
    names = sorted({d.name for d in declarations})
    shared = _shared(sha1, own, others, records, names, is_preprint)
    found = {
        Evidence.ARXIV: _of_archive(_ARXIV, sha1, own, others, names, is_preprint),
        Evidence.ACL: _of_archive(_ACL, sha1, own, others, names, is_preprint),
        Evidence.PMC: _of_pmc(shared),
        Evidence.UNPAYWALL: _of_unpaywall(shared, is_preprint),
        Evidence.PUBLISHER: _of_publisher(shared),
        Evidence.DECLARED: _declared([r for r in others if r.file_sha1 == sha1], declarations, all_open),
    }
    return _judged(found, declarations)


def openness_of_source(arxiv_id: str, records: Sequence[Record], declarations: Sequence[Declaration] = ()) -> Openness:
    """Judge a LaTeX source archive of arXiv: open by itself, unless a drop declares it closed; the licence is its arXiv record's."""
    theirs = [r for r in records if _ARXIV.holds(r) and arxiv_id in _ARXIV.ids_of(r)]
    found = _Found(f"it is the source archive of arXiv {arxiv_id}", theirs)
    declared = _declared([], declarations, all_open=False)
    return _judged({Evidence.ARXIV: found, Evidence.DECLARED: declared}, declarations)


def openness_of_article(
    sha1: str,
    records: Sequence[Record],
    declarations: Sequence[Declaration] = (),
    *,
    own: Record,
    is_preprint: Callable[[str], bool],
    all_open: bool = False,
) -> Openness:
    """Judge a publisher's full text (JATS, Elsevier's JSON) by what it says of itself (`own`) and by the records of its cluster.

    The licence that the publisher prints in the file is the publisher's word on this very text.
    """
    others = [r for r in records if r.kind is not Kind.PDF and r.source != DECLARED]
    shared = _shared(sha1, [own], others, records, sorted({d.name for d in declarations}), is_preprint)
    said = _Found(f"it says itself that it is open access{f', {own.licence}' if own.licence else ''}", [own])
    found = {
        Evidence.PMC: _of_pmc(shared),
        Evidence.UNPAYWALL: _of_unpaywall(shared, is_preprint),
        Evidence.PUBLISHER: said if own.open_access else _of_publisher(shared),
        Evidence.DECLARED: _declared([], declarations, all_open),
    }
    return _judged(found, declarations)


def _judged(found: dict[Evidence, _Found | str], declarations: Sequence[Declaration]) -> Openness:
    closing = [d for d in declarations if d.open_access is False]
    looks = [
        Look(evidence, True, said.detail) if isinstance(said, _Found) else Look(evidence, False, said)
        for evidence, said in found.items()
    ]
    declared = [d.licence for d in declarations]
    evidence = next((look.evidence for look in looks if look.found), None)
    if closing:
        opening = [str(d) for d in declarations if d.open_access]
        detail = f"declared closed by {_list(map(str, closing))}"
        detail += f", though {_list(opening)} declares it open" if opening else ""
        looks = [look for look in looks if look.evidence is not Evidence.DECLARED]
        looks.append(Look(Evidence.DECLARED, False, f"{detail}: closed wins"))
        evidence = None
    licences = list(declared)
    if evidence is not None and isinstance(said := found[evidence], _Found):
        licences += [record.licence for record in said.records]
    given = sorted({licence for licence in licences if licence})
    detail_of = f"{strictest(given)}: the strictest of {_list(given)}" if len(given) > 1 else None
    return Openness(evidence is not None, evidence, strictest(given), tuple(looks), detail_of)


def _of_archive(
    archive: _Archive,
    sha1: str,
    own: Sequence[Record],
    others: Sequence[Record],
    names: Sequence[str],
    is_preprint: Callable[[str], bool],
) -> _Found | str:
    """Whether a PDF is an archive's: by the id it carries, its name, its deliverer's word, or because its paper is nowhere else."""

    def of(ids: set[str]) -> list[Record]:
        return [r for r in others if archive.holds(r) and archive.ids_of(r) & ids]

    if carried := {i for r in own if r.kind is Kind.PDF for i in archive.ids_of(r)}:
        return _Found(f"it carries the id {_list(carried)} of {archive.name}", of(carried))
    if naming := [r for r in others if r.source == archive.source and r.file_sha1 == sha1]:
        return _Found(f"{_list(r.record_id for r in naming)} names it", naming)
    known = {i for r in others for i in archive.ids_of(r)}
    named = {i for name in names if (i := archive.id_of_name(name))}
    if delivered := named & known:
        return _Found(
            f"it was delivered under the name {_list(delivered)}, its paper's id of {archive.name}", of(delivered)
        )
    declared = {i for r in own if r.source == DECLARED for i in archive.ids_of(r)}
    if said := declared & known:
        return _Found(f"its drop declares the id {_list(said)}, its paper's of {archive.name}", of(said))
    elsewhere = [r for r in others if not any(a.holds(r) for a in (archive, *archive.besides))]
    printed = {r.doi for r in own if r.doi and not is_preprint(r.doi) and not archive.holds(r)}
    if (theirs := [r for r in others if archive.holds(r)]) and not elsewhere and not printed:
        alone = " and ".join(a.name for a in (archive, *archive.besides) if any(a.holds(r) for r in others))
        return _Found(
            f"its paper is known to {alone} alone", [r for r in theirs if r.source == archive.source] or theirs
        )
    looked = [f"no id of {archive.name} on it"]
    if names:
        looked.append(f"none {'of its paper ' if named else ''}in its name ({_list(names)})")
    if declared:
        looked.append(f"{_list(declared)} declared, which no other record of its paper has")
    if theirs:
        looked.append(
            f"its paper is known to {_list(sorted({r.source for r in elsewhere}))} too"
            if elsewhere
            else f"it has the DOI {_list(printed)}"
        )
    return ", ".join(looked)


@dataclass(frozen=True)
class _Shared:
    """What a PDF shares with the records of its cluster."""

    dois: set[str]
    pmc_ids: set[str]
    records: Sequence[Record]  # those not of PDFs that name it, or have one of its DOIs or PMC ids
    ambiguous: set[str]  # the DOIs of its cluster, where it has none itself and they are several


def _shared(
    sha1: str,
    own: Sequence[Record],
    others: Sequence[Record],
    records: Sequence[Record],
    names: Sequence[str],
    is_preprint: Callable[[str], bool],
) -> _Shared:
    """A PDF's DOIs and PMC ids: its own, its publisher record's, and the PMC id of its paper that it was delivered under. One without a
    DOI has its cluster's, if that has but one.

    Preprints' DOIs do not make the cluster's ambiguous, and do not open a PDF that has a published one too.
    """
    telling = [*own, *(r for r in others if r.file_sha1 == sha1)]

    def published(dois: set[str]) -> set[str]:
        return {doi for doi in dois if not is_preprint(doi)} or dois

    dois, ambiguous = published({r.doi for r in telling if r.doi}), set[str]()
    if not dois:
        candidates = published({r.doi for r in records if r.doi})
        if len(candidates) == 1:
            dois = candidates
        else:
            ambiguous = candidates
    telling += [r for r in others if r.kind is Kind.PUBLISHER and r.doi in dois]
    dois = published(dois | {r.doi for r in telling if r.doi})
    named = {i for name in names if (i := pmc_id_of_name(name))}
    pmc_ids = {r.pmc_id for r in telling if r.pmc_id} | {r.pmc_id for r in others if r.pmc_id in named}
    sharing = [r for r in others if r.file_sha1 == sha1 or r.doi in dois or (r.pmc_id and r.pmc_id in pmc_ids)]
    return _Shared(dois, pmc_ids, sharing, ambiguous)


def _of_pmc(shared: _Shared) -> _Found | str:
    if found := [r for r in shared.records if r.pmc_id and r.open_access and r.source not in (UNPAYWALL, OPENALEX)]:
        ids = _list({r.pmc_id for r in found if r.pmc_id})
        return _Found(f"{ids} is in PMC's open access subset, by {_list(r.record_id for r in found)}", found)
    return f"no record of PMC's open access subset has {_identifiers(shared)}"


def _of_unpaywall(shared: _Shared, is_preprint: Callable[[str], bool]) -> _Found | str:
    theirs = [r for r in shared.records if r.source == UNPAYWALL and r.doi] or [
        r for r in shared.records if r.source == OPENALEX and r.doi and r.open_access is not None
    ]  # OpenAlex repeats what Unpaywall says: Unpaywall's own delivery decides where there is one
    opening = [r for r in theirs if r.open_access]
    found = [r for r in opening if r.open_version is not OpenVersion.COPY or is_preprint(r.doi or "")]
    if found:
        return _Found(f"{_list(r.doi for r in found if r.doi)} is open", found)
    if opening:
        return f"of {_list(r.doi for r in opening if r.doi)} only copies are open, none the publisher's or of the published version"
    if theirs:
        return f"{_list(r.doi for r in theirs if r.doi)} is closed"
    return f"no record has {_identifiers(shared, pmc=False)}"


def _of_publisher(shared: _Shared) -> _Found | str:
    if found := [r for r in shared.records if r.kind is Kind.PUBLISHER and r.open_access]:
        return _Found(f"{_list(r.record_id for r in found)} says that it is open access", found)
    return f"no publisher's record that has {_identifiers(shared)} says so"


def _declared(naming: Sequence[Record], declarations: Sequence[Declaration], all_open: bool) -> _Found | str:
    if opening := [str(d) for d in declarations if d.open_access]:
        return _Found(f"declared open by {_list(opening)}")
    if found := [r for r in naming if r.open_access]:
        return _Found(f"{_list(r.record_id for r in found)} names it and says that it is open access", found)
    return _Found("the release is of the user's own PDFs") if all_open else "no drop says that it is open access"


def _identifiers(shared: _Shared, *, pmc: bool = True) -> str:
    given = sorted(shared.dois) + (sorted(shared.pmc_ids) if pmc else [])
    if given:
        return f"{_list(given)} of this PDF"
    return f"its DOI, which may be any of {_list(shared.ambiguous)}" if shared.ambiguous else "its DOI: none is known"


def _list(texts: Iterable[str], most: int = 5) -> str:
    given = sorted(set(texts))
    return ", ".join(given[:most]) + (f" and {len(given) - most} more" if len(given) > most else "")


_ARXIV = _Archive("arXiv", ARXIV, "arxiv_id", arxiv_of_doi, arxiv_id_of_name)
_ACL = _Archive("the ACL Anthology", ACL, "acl_id", acl_of_doi, acl_id_of_name, besides=(_ARXIV,))
