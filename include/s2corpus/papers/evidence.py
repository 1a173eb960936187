"""Search for the evidence that a full text is open access (SPEC §5.16–5.21)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from s2corpus.papers.file_names import acl_id_of_name, arxiv_id_of_name, pmc_id_of_name
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
class Declaration:
    """A file name in a drop, and the drop's declarations about that file."""

    drop: str
    name: str
    open_access: bool | None = None
    license: str | None = None

    def __str__(self) -> str:
        return f"{self.drop}/{self.name}"


@dataclass(frozen=True, slots=True)
class Found:
    """Evidence as text, and the records that give the license."""

    detail: str
    records: Sequence[Record] = ()


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive that contains only open papers, with the functions that recognize its records and file names."""

    name: str
    source: str
    field: Literal["arxiv_id", "acl_id"]
    id_of_doi: Callable[[str | None], str | None]
    id_of_name: Callable[[str], str | None]
    marking_archives: tuple[Archive, ...] = ()
    """archives that stamp their PDFs: if only they and this archive have a paper, its PDF without stamp is this archive's"""

    def list_ids(self, record: Record) -> set[str]:
        """Return the archive's ids in a record."""
        return {i for i in (getattr(record, self.field), self.id_of_doi(record.doi)) if i}

    def applies_to(self, record: Record) -> bool:
        """Return whether a record is the archive's own or has a DOI that the archive registered."""
        return record.source == self.source or self.id_of_doi(record.doi) is not None


def search_paper(records: Sequence[Record], all_open: bool) -> dict[Evidence, Found | str]:
    """Search for S2ORC's evidence, which concerns the paper and so all its files (S2ORC §2.4)."""
    dois = [r for r in records if r.doi and r.open_access is not None]
    by_evidence = {
        Evidence.ARXIV: [r for r in records if ARXIV_ARCHIVE.list_ids(r)],
        Evidence.ACL: [r for r in records if ACL_ARCHIVE.list_ids(r)],
        Evidence.PMC: [r for r in records if r.pmc_id and r.open_access and r.source not in (UNPAYWALL, OPENALEX)],
        Evidence.UNPAYWALL: [
            r
            for r in [r for r in dois if r.source == UNPAYWALL] or [r for r in dois if r.source == OPENALEX]
            if r.open_access
        ],
    }
    found: dict[Evidence, Found | str] = {
        evidence: Found(f"the paper has {format_list(r.record_id for r in found)}", found)
        if found
        else "no record of the paper"
        for evidence, found in by_evidence.items()
    }
    return found | ({Evidence.DECLARED: search_declarations([], [], all_open)} if all_open else {})


def search_archive(
    archive: Archive,
    sha1: str,
    own: Sequence[Record],
    others: Sequence[Record],
    names: Sequence[str],
    is_preprint: Callable[[str], bool],
) -> Found | str:
    """Search for evidence that a PDF belongs to an archive: the archive's id in the PDF, its file name or a declaration.

    A paper with records only from the archive is evidence too.
    """
    theirs = [r for r in others if archive.applies_to(r)]

    def records_with(ids: set[str]) -> list[Record]:
        return [r for r in theirs if archive.list_ids(r) & ids]

    if printed := {i for r in own if r.kind is RecordKind.PDF for i in archive.list_ids(r)}:
        return Found(f"the PDF contains the {archive.name} id {format_list(printed)}", records_with(printed))
    if naming := [r for r in others if r.source == archive.source and r.file_sha1 == sha1]:
        return Found(f"referenced by {format_list(r.record_id for r in naming)}", naming)
    ids_of_paper = {i for r in others for i in archive.list_ids(r)}
    named = {i for name in names if (i := archive.id_of_name(name))}
    if ids := named & ids_of_paper:
        return Found(f"the file name contains the paper's {archive.name} id {format_list(ids)}", records_with(ids))
    declared = {i for r in own if r.source == DECLARED for i in archive.list_ids(r)}
    if ids := declared & ids_of_paper:
        return Found(f"the drop declares the paper's {archive.name} id {format_list(ids)}", records_with(ids))
    archives = (archive, *archive.marking_archives)
    elsewhere = {r.source for r in others if not any(a.applies_to(r) for a in archives)}
    dois = {r.doi for r in own if r.doi and not is_preprint(r.doi) and not archive.applies_to(r)}
    if theirs and not elsewhere and not dois:
        only = " and ".join(a.name for a in archives if any(a.applies_to(r) for r in others))
        return Found(
            f"the paper has records only from {only}", [r for r in theirs if r.source == archive.source] or theirs
        )
    searched = [f"no {archive.name} id in the PDF"]
    if names:
        which = "none of the paper's ids" if named else "none"
        searched.append(f"{which} in the file name ({format_list(names)})")
    if declared:
        searched.append(f"no other record of the paper has the declared {format_list(declared)}")
    if theirs and elsewhere:
        searched.append(f"the paper also has records from {format_list(elsewhere)}")
    elif theirs:
        searched.append(f"the PDF has the DOI {format_list(dois)}")
    return ", ".join(searched)


@dataclass(frozen=True)
class Shared:
    """The identifiers of a full text, and the records of its cluster that share them."""

    dois: set[str]
    pmc_ids: set[str]
    records: Sequence[Record]  # metadata records that reference the file, or have one of its DOIs or PMC ids
    ambiguous: set[str]  # the cluster's DOIs, if the file has none and there are several


def collect_shared(
    sha1: str,
    own: Sequence[Record],
    others: Sequence[Record],
    records: Sequence[Record],
    names: Sequence[str],
    is_preprint: Callable[[str], bool],
) -> Shared:
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
    return Shared(dois, pmc_ids, sharing, ambiguous)


def search_pmc(shared: Shared) -> Found | str:
    """Search for a record that PMC's open access subset contains the article."""
    if found := [r for r in shared.records if r.pmc_id and r.open_access and r.source not in (UNPAYWALL, OPENALEX)]:
        ids = format_list({r.pmc_id for r in found if r.pmc_id})
        records = format_list(r.record_id for r in found)
        return Found(f"{ids} is in PMC's open access subset (according to {records})", found)
    return f"no record of PMC's open access subset has {format_identifiers(shared)}"


def search_unpaywall(shared: Shared, is_preprint: Callable[[str], bool]) -> Found | str:
    """Search for an open version of a DOI in Unpaywall, or in OpenAlex without a delivery of Unpaywall."""
    theirs = [r for r in shared.records if r.source == UNPAYWALL and r.doi] or [
        r for r in shared.records if r.source == OPENALEX and r.doi and r.open_access is not None
    ]  # OpenAlex repeats Unpaywall's data, so a delivery of Unpaywall itself decides.
    opening = [r for r in theirs if r.open_access]
    found = [r for r in opening if r.open_version is not OpenVersion.COPY or is_preprint(r.doi or "")]
    if found:
        return Found(f"{format_list(r.doi for r in found if r.doi)} is open", found)
    if opening:
        return f"{format_list(r.doi for r in opening if r.doi)}: only copies are open, not the published version"
    if theirs:
        return f"{format_list(r.doi for r in theirs if r.doi)} is closed"
    return f"no record has {format_identifiers(shared, pmc=False)}"


def search_publisher(shared: Shared) -> Found | str:
    """Search for a publisher's record that states open access."""
    if found := [r for r in shared.records if r.kind is RecordKind.PUBLISHER and r.open_access]:
        return Found(f"open access according to {format_list(r.record_id for r in found)}", found)
    return f"no publisher record with {format_identifiers(shared)} states open access or an open license"


def search_declarations(naming: Sequence[Record], declarations: Sequence[Declaration], all_open: bool) -> Found | str:
    """Search for a deliverer's statement of open access, in declarations or in records that reference the file."""
    if opening := [str(d) for d in declarations if d.open_access]:
        return Found(f"declared open by {format_list(opening)}")
    if found := [r for r in naming if r.open_access]:
        return Found(f"referenced as open access by {format_list(r.record_id for r in found)}", found)
    return Found("the release contains the user's own PDFs") if all_open else "no drop declares open access"


def format_identifiers(shared: Shared, *, pmc: bool = True) -> str:
    """Return the identifiers that were searched, as text."""
    if ids := sorted(shared.dois) + (sorted(shared.pmc_ids) if pmc else []):
        return f"an identifier of this full text ({format_list(ids)})"
    candidates = f"ambiguous: {format_list(shared.ambiguous)}" if shared.ambiguous else "none is available"
    return f"the DOI of this full text ({candidates})"


def format_list(texts: Iterable[str]) -> str:
    """Return the first five of some distinct texts, and the number of the others."""
    given = sorted(set(texts))
    return ", ".join(given[:5]) + (f" and {len(given) - 5} more" if len(given) > 5 else "")


ARXIV_ARCHIVE = Archive("arXiv", ARXIV, "arxiv_id", arxiv_of_doi, arxiv_id_of_name)
ACL_ARCHIVE = Archive("ACL Anthology", ACL, "acl_id", acl_of_doi, acl_id_of_name, marking_archives=(ARXIV_ARCHIVE,))
