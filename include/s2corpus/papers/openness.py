"""Determine whether a full text may be published, with the evidence found and not found (SPEC §5.15–5.21)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from s2corpus.papers.file_names import acl_id_of_name, arxiv_id_of_name, pmc_id_of_name
from s2corpus.papers.licenses import select_strictest
from s2corpus.sources.record import ACL, ARXIV, DECLARED, OPENALEX, UNPAYWALL, OpenVersion, Record, RecordKind
from s2orc_parse.bibliography.identifiers import acl_of_doi, arxiv_of_doi
from s2orc_parse.outcomes import Outcome, Word


class Evidence(Outcome):
    """The kinds of evidence for open access, strongest first."""

    ARXIV = Word(
        "arxiv",
        "an arXiv id in the PDF, in its file name or in a declaration; a LaTeX source; or a paper with records only from arXiv",
    )
    ACL = Word("acl", "the same for the ACL Anthology, except LaTeX sources")
    PMC = Word("pmc", "the article is in PMC's open access subset")
    UNPAYWALL = Word("unpaywall", "the DOI is open in an Unpaywall delivery")
    PUBLISHER = Word("publisher", "the publisher's own record states open access")
    DECLARED = Word("declared", "the deliverer states open access, or the release contains the user's own PDFs")
    CORRECTION = Word(
        "correction", "an operator corrected the openness of the full text, with the URL of a statement (§5.26)"
    )


@dataclass(frozen=True, slots=True)
class EvidenceSearch:
    """The result of the search for one kind of evidence. `detail` describes what was found, or what was searched."""

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


@dataclass(frozen=True, slots=True)
class Declaration:
    """A file name in a drop, and the drop's declarations about that file."""

    drop: str
    name: str
    open_access: bool | None = None
    license: str | None = None

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
    """archives that stamp their PDFs: if only they and this archive have a paper, its PDF without stamp is this archive's"""

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
    unit: Literal["file", "paper"] = "file",
) -> Openness:
    """Decide about one PDF from the records of its cluster and from its file names and declarations in drops.

    `is_preprint` recognizes DOIs of preprint servers. A PDF that one drop declares closed is closed, regardless of
    other evidence. A publisher's PDF is closed if only its preprint is open, unless the `unit` is the paper (`vote.openness`).
    """
    if unit == "paper":
        return _decide(_search_paper(records, all_open), declarations)
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
    return _decide(found, declarations, others, shared)


def decide_source_openness(
    arxiv_id: str, records: Sequence[Record], declarations: Sequence[Declaration] = ()
) -> Openness:
    """Decide about a LaTeX source archive of arXiv: it is open unless a drop declares it closed.

    The license is from its arXiv record.
    """
    theirs = [r for r in records if _ARXIV.applies_to(r) and arxiv_id in _ARXIV.list_ids(r)]
    found = _Found(f"this is the source archive of arXiv {arxiv_id}", theirs)
    declared = _search_declarations([], declarations, all_open=False)
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
        return _decide(_search_paper(records, all_open), declarations)
    others = [r for r in records if r.kind is not RecordKind.PDF and r.source != DECLARED]
    shared = _collect_shared(sha1, [own], others, records, sorted({d.name for d in declarations}), is_preprint)
    stated = _Found(f"its own metadata states open access{f', {own.license}' if own.license else ''}", [own])
    found = {
        Evidence.PMC: _search_pmc(shared),
        Evidence.UNPAYWALL: _search_unpaywall(shared, is_preprint),
        Evidence.PUBLISHER: stated if own.open_access else _search_publisher(shared),
        Evidence.DECLARED: _search_declarations([], declarations, all_open),
    }
    return _decide(found, declarations, others, shared)


def _search_paper(records: Sequence[Record], all_open: bool) -> dict[Evidence, _Found | str]:
    """Search for S2ORC's evidence, which concerns the paper and so all its files (S2ORC §2.4)."""
    dois = [r for r in records if r.doi and r.open_access is not None]
    by_evidence = {
        Evidence.ARXIV: [r for r in records if _ARXIV.list_ids(r)],
        Evidence.ACL: [r for r in records if _ACL.list_ids(r)],
        Evidence.PMC: [r for r in records if r.pmc_id and r.open_access and r.source not in (UNPAYWALL, OPENALEX)],
        Evidence.UNPAYWALL: [
            r
            for r in [r for r in dois if r.source == UNPAYWALL] or [r for r in dois if r.source == OPENALEX]
            if r.open_access
        ],
    }
    found: dict[Evidence, _Found | str] = {
        evidence: _Found(f"the paper has {_format_list(r.record_id for r in found)}", found)
        if found
        else "no record of the paper"
        for evidence, found in by_evidence.items()
    }
    return found | ({Evidence.DECLARED: _search_declarations([], [], all_open)} if all_open else {})


def _decide(
    found: dict[Evidence, _Found | str],
    declarations: Sequence[Declaration],
    records: Sequence[Record] = (),
    shared: _Shared | None = None,
) -> Openness:
    searches = [
        EvidenceSearch(evidence, True, result.detail)
        if isinstance(result, _Found)
        else EvidenceSearch(evidence, False, result)
        for evidence, result in found.items()
    ]
    evidence = next((search.evidence for search in searches if search.found), None)
    if closed_by := [str(d) for d in declarations if d.open_access is False]:
        opened_by = [str(d) for d in declarations if d.open_access]
        detail = f"declared closed by {_format_list(closed_by)}"
        detail += f" and open by {_format_list(opened_by)}" if opened_by else ""
        searches = [search for search in searches if search.evidence is not Evidence.DECLARED]
        searches.append(EvidenceSearch(Evidence.DECLARED, False, f"{detail}: closed has priority"))
        evidence = None
    used: dict[Evidence, Sequence[Record]] = {
        name: result.records for name, result in found.items() if evidence and isinstance(result, _Found)
    }
    stating, licenses = evidence, _list_licenses(declarations, used.get(evidence, ()) if evidence else ())
    if evidence not in (Evidence.ARXIV, Evidence.ACL):  # The other evidence is about another version.
        for other in used if not licenses else ():
            if licenses := _list_licenses((), used[other]):
                stating = other
                break
    strictest = select_strictest(licenses)
    chosen = f"{strictest}: the strictest of {_format_list(licenses)}" if len(licenses) > 1 else strictest
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
    shared: _Shared | None,
) -> str:
    """Return what a record's rights open, or the rule that forbids it and what would help."""
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
            f"not applied: it does not have {_format_identifiers(shared)} (SPEC §5.18); "
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


def _search_archive(
    archive: _Archive,
    sha1: str,
    own: Sequence[Record],
    others: Sequence[Record],
    names: Sequence[str],
    is_preprint: Callable[[str], bool],
) -> _Found | str:
    """Search for evidence that a PDF belongs to an archive: the archive's id in the PDF, its file name or a declaration.

    A paper with records only from the archive is evidence too.
    """
    theirs = [r for r in others if archive.applies_to(r)]

    def records_with(ids: set[str]) -> list[Record]:
        return [r for r in theirs if archive.list_ids(r) & ids]

    if printed := {i for r in own if r.kind is RecordKind.PDF for i in archive.list_ids(r)}:
        return _Found(f"the PDF contains the {archive.name} id {_format_list(printed)}", records_with(printed))
    if naming := [r for r in others if r.source == archive.source and r.file_sha1 == sha1]:
        return _Found(f"referenced by {_format_list(r.record_id for r in naming)}", naming)
    ids_of_paper = {i for r in others for i in archive.list_ids(r)}
    named = {i for name in names if (i := archive.id_of_name(name))}
    if ids := named & ids_of_paper:
        return _Found(f"the file name contains the paper's {archive.name} id {_format_list(ids)}", records_with(ids))
    declared = {i for r in own if r.source == DECLARED for i in archive.list_ids(r)}
    if ids := declared & ids_of_paper:
        return _Found(f"the drop declares the paper's {archive.name} id {_format_list(ids)}", records_with(ids))
    archives = (archive, *archive.marking_archives)
    elsewhere = {r.source for r in others if not any(a.applies_to(r) for a in archives)}
    dois = {r.doi for r in own if r.doi and not is_preprint(r.doi) and not archive.applies_to(r)}
    if theirs and not elsewhere and not dois:
        only = " and ".join(a.name for a in archives if any(a.applies_to(r) for r in others))
        return _Found(
            f"the paper has records only from {only}", [r for r in theirs if r.source == archive.source] or theirs
        )
    searched = [f"no {archive.name} id in the PDF"]
    if names:
        which = "none of the paper's ids" if named else "none"
        searched.append(f"{which} in the file name ({_format_list(names)})")
    if declared:
        searched.append(f"no other record of the paper has the declared {_format_list(declared)}")
    if theirs and elsewhere:
        searched.append(f"the paper also has records from {_format_list(elsewhere)}")
    elif theirs:
        searched.append(f"the PDF has the DOI {_format_list(dois)}")
    return ", ".join(searched)


@dataclass(frozen=True)
class _Shared:
    """The identifiers of a full text, and the records of its cluster that share them."""

    dois: set[str]
    pmc_ids: set[str]
    records: Sequence[Record]  # metadata records that reference the file, or have one of its DOIs or PMC ids
    ambiguous: set[str]  # the cluster's DOIs, if the file has none and there are several


def _collect_shared(
    sha1: str,
    own: Sequence[Record],
    others: Sequence[Record],
    records: Sequence[Record],
    names: Sequence[str],
    is_preprint: Callable[[str], bool],
) -> _Shared:
    """Return a full text's DOIs and PMC ids: its own, its publisher record's, and the PMC id in its file name.

    A file without a DOI has its cluster's DOI if there is only one. If there is a published DOI, DOIs of preprints are
    ignored: they neither make the DOI ambiguous nor serve as evidence.
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
        records = _format_list(r.record_id for r in found)
        return _Found(f"{ids} is in PMC's open access subset (according to {records})", found)
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
        return f"{_format_list(r.doi for r in opening if r.doi)}: only copies are open, not the published version"
    if theirs:
        return f"{_format_list(r.doi for r in theirs if r.doi)} is closed"
    return f"no record has {_format_identifiers(shared, pmc=False)}"


def _search_publisher(shared: _Shared) -> _Found | str:
    if found := [r for r in shared.records if r.kind is RecordKind.PUBLISHER and r.open_access]:
        return _Found(f"open access according to {_format_list(r.record_id for r in found)}", found)
    return f"no publisher record with {_format_identifiers(shared)} states open access or an open license"


def _search_declarations(naming: Sequence[Record], declarations: Sequence[Declaration], all_open: bool) -> _Found | str:
    if opening := [str(d) for d in declarations if d.open_access]:
        return _Found(f"declared open by {_format_list(opening)}")
    if found := [r for r in naming if r.open_access]:
        return _Found(f"referenced as open access by {_format_list(r.record_id for r in found)}", found)
    return _Found("the release contains the user's own PDFs") if all_open else "no drop declares open access"


def _format_identifiers(shared: _Shared, *, pmc: bool = True) -> str:
    if ids := sorted(shared.dois) + (sorted(shared.pmc_ids) if pmc else []):
        return f"an identifier of this full text ({_format_list(ids)})"
    candidates = f"ambiguous: {_format_list(shared.ambiguous)}" if shared.ambiguous else "none is available"
    return f"the DOI of this full text ({candidates})"


def _format_list(texts: Iterable[str], most: int = 5) -> str:
    given = sorted(set(texts))
    return ", ".join(given[:most]) + (f" and {len(given) - most} more" if len(given) > most else "")


_ARXIV = _Archive("arXiv", ARXIV, "arxiv_id", arxiv_of_doi, arxiv_id_of_name)
_ACL = _Archive("ACL Anthology", ACL, "acl_id", acl_of_doi, acl_id_of_name, marking_archives=(_ARXIV,))
