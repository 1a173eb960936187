"""Define the tables of intake: files, records and deliveries."""

from __future__ import annotations

from typing import Annotated, TypedDict

from s2corpus.tables.columns import (
    ArticleKind,
    ArticlePlace,
    FileFirstSeen,
    FilePlace,
    FirstSeen,
    LaterLicense,
    MetadataRow,
    PdfSha1,
    RecordId,
    RecordNotice,
)
from s2corpus.tables.schema import INT32, define

Bytes = Annotated[int, "size, bytes"]
Places = Annotated[
    list[FilePlace], "drops that contain the file, sorted, with the rights that each drop's records.jsonl declares"
]


class PdfRow(TypedDict):
    """PDFs of the release. Files with equal bytes share one row."""

    file_sha1: PdfSha1
    bytes: Bytes
    places: Places
    first_seen: FirstSeen


PDFS = define(PdfRow, "pdfs", key=("file_sha1",), shards="pdf")


class LatexSourceRow(TypedDict):
    """LaTeX source archives of the release. Archives with equal bytes share one row."""

    archive_sha1: Annotated[str, "SHA-1 of the archive's bytes, 40 hex digits"]
    bytes: Bytes
    places: Places
    first_seen: FirstSeen
    arxiv_id: Annotated[str | None, "arXiv id without version; assigns the archive to its paper"]


LATEX_SOURCES = define(LatexSourceRow, "latex_sources", key=("archive_sha1",), shards="pdf")


class ArticleRow(TypedDict):
    """Publishers' full texts (JATS, Elsevier JSON) of the release. Files with equal bytes share one row."""

    file_sha1: Annotated[str, "SHA-1 of the file's bytes, 40 hex digits"]
    kind: ArticleKind
    bytes: Bytes
    places: Annotated[
        list[ArticlePlace], "folders that contain the file, sorted, with the rights that each drop declares"
    ]
    first_seen: FileFirstSeen
    record_ids: Annotated[list[str], "ids of the records in the file, sorted; they assign the file to its paper"]


ARTICLES = define(ArticleRow, "articles", key=("file_sha1",), shards="pdf")


class RecordHeadRow(TypedDict):
    """The origin of a record."""

    record_id: RecordId
    source: Annotated[str, "source of the record: crossref, arxiv, …; for a PDF's header the extractor or scienceparse"]
    kind: Annotated[str, "publisher (authoritative metadata), archive, or pdf"]
    delivery: Annotated[str | None, "delivery or drop that contains the record"]
    ready_at: Annotated[str | None, "ready_at of that delivery, ISO UTC"]


class RecordRow(RecordHeadRow, MetadataRow):
    """Metadata records: the latest version for each record_id."""

    mag_id: Annotated[str | None, "Microsoft Academic Graph id"]
    file_sha1: Annotated[str | None, "SHA-1 of the PDF that the record describes, if the source names it"]
    issns: Annotated[list[str] | None, "ISSNs of the journal, such as 1932-6203"]
    subjects: Annotated[list[str] | None, "subjects from the source: categories, headings, codes"]
    license: Annotated[str | None, "license; an SPDX id if one exists"]
    later_licenses: Annotated[
        list[LaterLicense] | None,
        "more permissive licenses that start at a later ISO date, such as after an embargo; best first",
    ]
    open_access: Annotated[bool | None, "whether the source declares the paper open access"]
    open_version: Annotated[str | None, "published: the published version is open; copy: only another version is open"]
    type: Annotated[
        str | None, "type of the work: preprint, article, proceedings, chapter, book, thesis, report or other"
    ]
    original_title: Annotated[
        str | None,
        "title as delivered, if intake removed a mark, a prefix, an author line or a name of a journal from it",
    ]
    document: Annotated[
        str | None,
        "kind of document that is no article: erratum, reply, comment, review, editorial, front matter or abstract",
    ]
    editorial: Annotated[
        str | None, "editorial status of the work: retracted, withdrawn, expression_of_concern or corrected"
    ]
    notices: Annotated[
        list[RecordNotice] | None,
        "editorial status of other works (doi:…, pmid:…), for example from a retraction notice",
    ]


RECORDS = define(RecordRow, "records", key=("record_id",), shards="record")


class NoticeRow(TypedDict):
    """Editorial notices in records about other works, such as retractions and corrections."""

    about: Annotated[str, "work that the notice concerns: doi:… or pmid:…"]
    status: Annotated[str, "editorial status: retracted, withdrawn, expression_of_concern or corrected"]
    record_id: RecordId


NOTICES = define(NoticeRow, "notices", key=("about", "status", "record_id"))


class RegisteredFileRow(TypedDict):
    """Files of one drop, verified against its _READY. All releases share this table."""

    name: Annotated[str, "file name in the drop"]
    kind: Annotated[
        str, "kind of file: pdf, latex (source archive), jats or elsevier (publisher's full text), or other"
    ]
    bytes: Bytes
    sha1: Annotated[str, "SHA-1 of the file's bytes"]
    arxiv_id: Annotated[
        str | None, "arXiv id of a source archive: from the drop's records.jsonl, else from the file name"
    ]
    record_id: Annotated[str | None, "id of the record in a publisher's full text"]
    open_access: Annotated[bool | None, "open access as declared in the drop's records.jsonl"]
    license: Annotated[str | None, "license declared in the drop's records.jsonl"]


REGISTERED_FILES = define(RegisteredFileRow, "registered_files", key=("name",))


class PositionRow(TypedDict):
    """The place of an entry in its delivery."""

    position: Annotated[
        int, "position in the delivery: file number << 40 | entry number; the last entry of a record counts"
    ]


class RegisteredRecordRow(PositionRow, RecordRow):
    """Records of one delivery or drop in their original order. All releases share this table."""

    deleted: Annotated[bool, "whether the source withdrew the record"]


REGISTERED_RECORDS = define(RegisteredRecordRow, "registered_records", key=("position",))


class DeliveryRow(TypedDict):
    """Drops and deliveries that intake found, each with outcome and reason."""

    kind: Annotated[str, "drop or delivery"]
    source: Annotated[str, "source of the delivery; empty for a drop"]
    delivery: Annotated[str, "drop_id or delivery_id"]
    ready_at: Annotated[str | None, "ready_at from its _READY, ISO UTC"]
    outcome: Annotated[
        str,
        "a `DeliveryOutcome`, or refused:<reason> with a `Refusal`",
    ]
    detail: Annotated[
        str | None, "details of the fault with the key of an unreadable object, or the reason for waiting"
    ]
    files: Annotated[int, INT32, "number of listed files"]
    rows: Annotated[int, "number of accepted records"]
    dropped: Annotated[int, "number of unreadable records"]
    not_read: Annotated[int, INT32, "number of files of a drop that no release reads"]
    warnings: Annotated[list[str], "unusable values in a drop's records.jsonl, by line and key"]


DELIVERIES = define(DeliveryRow, "deliveries", key=("kind", "source", "delivery"), counted=(("outcome",),))
