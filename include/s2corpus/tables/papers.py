"""Define the tables of cluster and vote: the papers and their records."""

from __future__ import annotations

from typing import Annotated, TypedDict

from s2corpus.tables.columns import (
    Access,
    Editorial,
    FieldProvenance,
    FieldsOfStudy,
    FilePlace,
    FirstSeen,
    MetadataRow,
    PaperId,
    PaperKeyRow,
    PaperPreprint,
    RecordId,
)
from s2corpus.tables.intake import RecordRow
from s2corpus.tables.schema import Table, columns_of, define


class EdgeRow(TypedDict):
    """Pairs of records considered for merging, with the reason and the decision."""

    left: Annotated[str, "smaller record_id of the pair"]
    right: Annotated[str, "greater record_id of the pair"]
    reason: Annotated[
        str,
        "declared (records.jsonl assigns the file to the record), doi, arxiv_id, pubmed_id, pmc_id, acl_id, "
        "file_sha1, title, place (similar titles in one volume), prefix (one title lacks the subtitle "
        "of the other); for rejected pairs document, number, contradiction (place), years, authors, weak, dois or unrelated",
    ]
    strength: Annotated[float, "strength of the evidence: identifiers above 1, title similarity at most 1"]
    taken: Annotated[
        bool, "false if rejected: the clusters conflict in DOI, year, printed location, or titles and authors"
    ]
    evidence: Annotated[str | None, "evidence of each fact and their sum, for pairs with similar titles"]


EDGES = define(EdgeRow, "edges", key=("left", "right"))


class ClusterRow(TypedDict):
    """The paper of each record."""

    record_id: RecordId
    paper_id: PaperId
    first_ready: Annotated[str | None, "ready_at of the first delivery in this release and its parents, ISO UTC"]


CLUSTERS = define(ClusterRow, "clusters", key=("record_id",))


class AliasRow(TypedDict):
    """Former paper ids and their present papers."""

    alias: Annotated[str, "former paper id"]
    paper_id: PaperId


ALIASES = define(AliasRow, "aliases", key=("alias",))


class MemberRow(PaperKeyRow, RecordRow):
    """Records, sorted by their paper."""


MEMBERS = define(MemberRow, "members", key=("paper_id", "record_id"), shards="paper", counted=(("source",),))


class PaperRow(PaperKeyRow, MetadataRow):
    """Canonical metadata by vote (S2ORC §2.3)."""

    preprints: Annotated[
        list[PaperPreprint] | None,
        "preprints of the paper with their DOI, arXiv id and date; `doi` and `date` are the published paper's",
    ]
    mag_ids: Annotated[list[str] | None, "Microsoft Academic Graph ids of the records, sorted"]
    fields_of_study: FieldsOfStudy
    issns: Annotated[list[str] | None, "distinct ISSNs of the records, sorted"]
    subjects: Annotated[list[str] | None, "distinct subjects of the records, sorted"]
    canonical_pdf: Annotated[str | None, "SHA-1 of the canonical PDF"]
    latex_parse_id: Annotated[str | None, "parse_id of the LaTeX parse, found by arXiv id"]
    open_access: Annotated[bool, "whether a full text may be published"]
    oa_evidence: Annotated[
        str | None,
        "evidence for the first open full text: arxiv, acl, pmc, unpaywall, publisher, declared or correction",
    ]
    license: Annotated[str | None, "license of the first open full text"]
    editorial: Editorial
    editorial_by: Annotated[list[str], "ids of the records with that status, sorted"]
    access: Annotated[
        list[Access], "open-access decision for each full text: PDFs (canonical one first), then the LaTeX source"
    ]
    provenance: Annotated[list[tuple[str, FieldProvenance]], "field → record that provides the value, rule, and votes"]
    record_ids: Annotated[list[str], "ids of the records, sorted"]


PAPERS = define(PaperRow, "papers", key=("paper_id",), shards="paper")


class CorrectionRow(PaperKeyRow):
    """Corrections by operators that were ready before the release (`corrections.jsonl`), each with its outcome."""

    field: Annotated[str, "corrected field"]
    ready_at: Annotated[str, "instant of the correction, ISO UTC"]
    value: Annotated[str, "value as written"]
    outcome: Annotated[str, "a `CorrectionOutcome`"]
    reason: Annotated[str, "reason"]
    evidence: Annotated[str, "URL or description of the evidence"]
    by: Annotated[str, "name of the person"]


CORRECTIONS = define(
    CorrectionRow, "corrections", key=("paper_id", "field", "ready_at"), shards="paper", counted=(("outcome",),)
)


class KnownFileRow(TypedDict):
    """Files that the identifiers of a bucket's records name. The rounds of vote exchange them."""

    about: Annotated[str, "pdf:<SHA-1>, arxiv:<arXiv id> or record:<record id>"]
    sha1: Annotated[str, "SHA-1 of the file"]
    kind: Annotated[str, "pdf, latex, jats or elsevier"]
    parse_id: Annotated[str | None, "id of the LaTeX parse"]
    first_seen: FirstSeen
    doi: Annotated[str | None, "DOI in a publisher's full text; the next columns are from there too"]
    pmc_id: Annotated[str | None, "PubMed Central id"]
    license: Annotated[str | None, "license"]
    open_access: Annotated[bool | None, "whether the file declares open access"]
    places: Annotated[list[FilePlace], "folders that contain the file, with the rights that each declares"]


class KnownJournalRow(TypedDict):
    """Declared fields of study of the journals of a bucket's papers. The rounds of vote exchange them."""

    journal: Annotated[str, "issn:<ISSN> or name:<normalized name>"]
    field: Annotated[str, "field of study; empty for any field"]
    papers: Annotated[int, "papers of the journal that declare it"]


KNOWN_FILES = Table("files", str(KnownFileRow.__doc__), ("about",), columns_of(KnownFileRow))
KNOWN_JOURNALS = Table("journals", str(KnownJournalRow.__doc__), ("journal", "field"), columns_of(KnownJournalRow))
