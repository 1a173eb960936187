"""Define columns that several Parquet files of a snapshot have. Each module of `snapshot` that writes a file defines its other columns."""

from __future__ import annotations

from typing import Annotated, TypedDict

from s2corpus.tables.columns import (
    AclId,
    ArxivId,
    Date,
    Doi,
    Editorial,
    FieldsOfStudy,
    PmcId,
    PubmedId,
    Set,
    Title,
    Year,
)

PublishedId = Annotated[str, "id of the paper, stable across releases"]


class DocumentKeyRow(TypedDict):
    """The key of a document, and its split."""

    id: PublishedId
    set: Set
    split: Annotated[str, "train or valid"]


class DocumentOriginRow(TypedDict):
    """The origin of a document, and the metadata of its paper."""

    sha1: Annotated[str | None, "SHA-1 of the text's file (s2orc only)"]
    title: Title
    date: Date
    year: Year
    doi: Doi
    arxiv_id: ArxivId
    pubmed_id: PubmedId
    pmc_id: PmcId
    acl_id: AclId
    editorial: Editorial
    license: Annotated[str, "license of the file (s2orc) or of the abstract (s2ag), SPDX id"]
    oa_evidence: Annotated[str | None, "s2orc: evidence that the file is open"]
    abstract_source: Annotated[str | None, "source of the record that provides the abstract"]
    fields_of_study: FieldsOfStudy
