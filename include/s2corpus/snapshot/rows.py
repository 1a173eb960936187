"""Join a release's tables into the rows of snapshot files.

Every table is sorted by paper_id, so that a merge join runs in bounded memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypedDict, TypeVar

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.papers.licenses import to_spdx
from s2corpus.papers.vote import VoteRule
from s2corpus.snapshot import rights
from s2corpus.snapshot.documents import IDENTIFIERS, year
from s2corpus.snapshot.metadata import released_parse
from s2corpus.snapshot.rights import TableOpener
from s2corpus.storage.by_paper import ByPaper
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.published import DocumentKeyRow, DocumentOriginRow
from s2corpus.tables.schema import Table, file_schema
from s2corpus.tables.texts import (
    CONTEXTS,
    DOCUMENTS,
    FILTERED,
    FULLTEXTS,
    LINKS,
    SPLITS,
    DocumentRow,
    FilteredRow,
    FulltextRow,
    LinkRow,
)
from s2corpus.text.personal import MaskedText, mask_parse, mask_text
from s2corpus.titles import normalize_one
from s2corpus_reader.files import lookup_key
from s2corpus_reader.parquet import parquet_writer

T = TypeVar("T")
Row = dict[str, Any]


ROW_GROUP = 16_384
"""Rows per row group of the Parquet files. A different number changes the published bytes."""


class DocumentFileRow(TypedDict):
    """The place of a document in the JSON lines."""

    file: Annotated[str, "path of the file that contains the document"]
    line: Annotated[int, "line in that file, from 1"]


class IndexRow(DocumentKeyRow, DocumentFileRow, DocumentOriginRow):
    """The documents of all sets: place, metadata, number of words, and a hash of the normalized text."""

    words: Annotated[int, "number of words between white space"]
    text_key: Annotated[int, "hash of the normalized text"]


INDEX = file_schema(IndexRow)
"""Columns of `index.parquet`."""


KEYS = pa.schema([pa.field("key", pa.int64(), nullable=False), pa.field("paper_id", pa.string(), nullable=False)])
"""Columns of `keys/<nn>.parquet`, which maps identifiers, SHA-1s and titles to papers.

A key is a hash. The file number is the key modulo the number of files, and each file is sorted by key. A look-up therefore reads
one row group, regardless of the size of the snapshot. A title may have several papers; an identifier rarely has more than one.
"""
KEYS_ROW_GROUP = 2048
"""Rows per row group of the key files (about 35 KB). One look-up reads one row group."""

CITATIONS = pa.schema([("cited_paper_id", pa.string()), ("paper_id", pa.string())])
"""Columns of the citation pairs: cited paper, citing paper."""
_BATCH_ROWS = 256
"""Rows per batch of Python objects, for each table and bucket. All buckets of a file are read in parallel, so batches are small."""
_TEXT_BATCH_ROWS = 64
"""Rows per batch with texts, which need more memory."""
_PARSE_BATCH_ROWS = 16
"""Rows per batch with parses, which need even more memory."""
_HAS_CITED_PAPER = pc.field("cited_paper_id").is_valid()
_PASSED_FILTER = pc.field("outcome") == "kept"


def read_documents(tables: TableOpener, bucket: int, set_: str, *, mask: bool, links: bool) -> Iterator[Row]:
    """Yield the published documents of one set in one bucket: text, split and index fields.

    In s2orc, license and evidence belong to the PDF or source file. In s2ag, the license belongs to the abstract, and the evidence
    to the paper.

    Args:
        tables: opens a table of the release.
        bucket: the bucket of papers.
        set_: `s2orc` or `s2ag`.
        mask: replace personal data (`clean.pii`).
        links: add `linked`, a mapping from bibliography entry to cited paper.

    Raises:
        ValueError: a document has no split or no paper.
    """
    published = (pc.field("set") == set_) & (pc.field("outcome") == "kept")
    columns = ["paper_id", "text", "text_key", "sha1", "log_prob", "top_word", "top_share"]
    columns += ["removed_sections", "section_log_probs"]
    columns += ["license", "oa_evidence"] if set_ == "s2orc" else []
    texts = tables(DOCUMENTS).rows(columns, shard=bucket, where=published, batch_size=_TEXT_BATCH_ROWS)
    columns = ["paper_id", "parse_kind", "file_sha1", "text_layer", "parse"]
    parses = ByPaper(
        tables(FULLTEXTS).rows(columns, shard=bucket, where=pc.field("open_access"), batch_size=_PARSE_BATCH_ROWS)
    )
    links_by_paper = (
        ByPaper(tables(LINKS).rows(shard=bucket, where=_HAS_CITED_PAPER, batch_size=_BATCH_ROWS)) if links else None
    )
    abstracts = ByPaper(rights.read_abstract_origins(tables, bucket, _BATCH_ROWS))
    columns = ["paper_id", "split"]
    splits = ByPaper(tables(SPLITS).rows(columns, shard=bucket, where=pc.field("set") == set_, batch_size=_BATCH_ROWS))
    columns = ["paper_id", "title", "date", *IDENTIFIERS, "editorial", "license", "oa_evidence", "fields_of_study"]
    papers = ByPaper(tables(PAPERS).rows(columns, shard=bucket, batch_size=_BATCH_ROWS))
    for document in texts:
        split = splits.one(document["paper_id"])
        paper = papers.one(document["paper_id"])
        if split is None or paper is None:
            raise ValueError(f"document {document['paper_id']} of {set_} has no split or no paper")
        if split["split"] in ("train", "valid"):
            fulltexts = parses.at(document["paper_id"]) if set_ == "s2orc" else []
            row = {**paper, **document, "split": split["split"], **_select_parse(document, fulltexts, mask=mask)}
            origin = abstracts.one(document["paper_id"])
            row["abstract_source"], license = rights.find_abstract_rights(paper, origin)
            row["license"] = to_spdx(document["license"]) if set_ == "s2orc" else license
            if mask:
                row["title"] = _mask(row["title"])
            if links_by_paper is not None:
                row["linked"] = _map_entries(links_by_paper.at(document["paper_id"]), row["parse_kind"])
            yield row


def _map_entries(links: Iterable[LinkRow], parse_kind: str | None) -> dict[str, str]:
    """Return the cited paper of each linked bibliography entry of one parse."""
    return {link["ref_id"]: link["cited_paper_id"] or "" for link in links if link["parse_kind"] == parse_kind}


def _select_parse(document: DocumentRow, fulltexts: list[FulltextRow], *, mask: bool) -> Row:
    """Return the parse behind a document's text, its kind and its text layer. All are null for titles and abstracts."""
    fulltext = next((text for text in fulltexts if text["file_sha1"] == document["sha1"]), None)
    if fulltext is None:
        return {"parse_kind": None, "text_layer": None, "parse": None}
    parse = orjson.loads(fulltext["parse"])
    kind, layer = fulltext["parse_kind"], fulltext["text_layer"]
    return {"parse_kind": kind, "text_layer": layer, "parse": mask_parse(parse) if mask else parse}


def build_index_row(document: Row, set_: str, path: str, line: int) -> Row:
    """Return the row of a document in the index, without its text."""
    words = len(document["text"].split())
    row = {**document, "id": document["paper_id"], "set": set_, "file": path, "line": line, "words": words}
    row["year"] = year(document["date"])
    return {name: row[name] for name in INDEX.names}


def read_released_papers(tables: TableOpener, bucket: int, *, mask: bool) -> Iterator[Row]:
    """Yield the papers of a bucket that passed the filter, joined with their parses and citations.

    Each row has the columns of `papers`, plus:

    - `outbound`: the ids of the cited papers, sorted;
    - `parses`: parse kind → released parse;
    - `fulltexts`: parse kind → license and evidence;
    - `abstract_from`: the source of the abstract, or None;
    - `publisher_abstract`: true if a metadata source, not a PDF, supplied the abstract;
    - `decisions`: the paper's documents in each set, with their split.

    Args:
        tables: opens a table of the release.
        bucket: the bucket of papers.
        mask: replace personal data (`clean.pii`).
    """
    filtered = _read_filtered_papers(tables, bucket)
    columns = ["paper_id", "parse_kind", "file_sha1", "open_access", "oa_evidence", "license", "parse"]
    fulltexts = ByPaper(tables(FULLTEXTS).rows(columns, shard=bucket, batch_size=_PARSE_BATCH_ROWS))
    links = ByPaper(tables(LINKS).rows(shard=bucket, where=_HAS_CITED_PAPER, batch_size=_BATCH_ROWS))
    abstracts = ByPaper(rights.read_abstract_origins(tables, bucket, _BATCH_ROWS))
    decisions = [_join_decisions(tables, bucket, set_) for set_ in ("s2ag", "s2orc")]
    columns = [column.name for column in PAPERS.columns if column.name != "provenance"]
    for paper in tables(PAPERS).rows(columns, shard=bucket, batch_size=_BATCH_ROWS):
        if not filtered.at(paper["paper_id"]):
            continue
        linked = links.at(paper["paper_id"])
        texts = {fulltext["parse_kind"]: fulltext for fulltext in fulltexts.at(paper["paper_id"])}
        parses = {}
        for kind, fulltext in texts.items():
            parse = orjson.loads(fulltext["parse"])
            if mask:
                parse = mask_parse(parse)
            parses[kind] = released_parse(parse, _map_entries(linked, kind), open_access=fulltext["open_access"])
        if mask:
            paper |= {"title": _mask(paper["title"]), "abstract": _mask(paper["abstract"])}
        abstract_from = abstracts.one(paper["paper_id"])
        yield {
            **paper,
            "license": to_spdx(paper["license"]),
            "outbound": sorted({link["cited_paper_id"] or "" for link in linked if link["warning"] is None}),
            "parses": parses,
            "fulltexts": texts,
            "decisions": [row for by_set in decisions for row in by_set(paper["paper_id"])],
            "abstract_from": abstract_from,
            "publisher_abstract": abstract_from is not None and abstract_from["rule"] != VoteRule.PDF,
        }


def _join_decisions(tables: TableOpener, bucket: int, set_: str) -> Callable[[str], list[Row]]:
    """Return a function that returns a paper's document in one set, published or not, with its split and without its text."""
    in_set = pc.field("set") == set_
    columns = [c.name for c in DOCUMENTS.columns if c.name not in ("text", "minhash", "language_votes")]
    documents = ByPaper(tables(DOCUMENTS).rows(columns, shard=bucket, where=in_set, batch_size=_BATCH_ROWS))
    splits = ByPaper(tables(SPLITS).rows(["paper_id", "split"], shard=bucket, where=in_set, batch_size=_BATCH_ROWS))

    def find(paper_id: str) -> list[Row]:
        split = splits.one(paper_id)
        return [{**row, "split": split and split["split"]} for row in documents.at(paper_id)]

    return find


def _mask(text: str | None) -> str | None:
    return text and mask_text(text)


def read_graph_rows(tables: TableOpener, table: Table[Any], bucket: int, *, mask: bool) -> Iterator[Row]:
    """Yield the linked rows of `links` or `contexts` for the filtered papers of a bucket.

    `mask` replaces personal data in contexts and shifts their spans accordingly.
    """
    filtered = _read_filtered_papers(tables, bucket)
    for row in tables(table).rows(shard=bucket, where=_HAS_CITED_PAPER, batch_size=_BATCH_ROWS):
        if not filtered.at(row["paper_id"]):
            continue
        if mask and table is CONTEXTS:
            text = MaskedText(row["text"])
            row["text"] = text.text
            row["start"], row["end"] = text.map_range(row["start"], row["end"])
        yield row


def _read_filtered_papers(tables: TableOpener, bucket: int) -> ByPaper[FilteredRow]:
    """Return the ids of the papers of a bucket that passed the filter."""
    return ByPaper(tables(FILTERED).rows(["paper_id"], shard=bucket, where=_PASSED_FILTER, batch_size=_BATCH_ROWS))


def read_counted_citations(tables: TableOpener, bucket: int) -> pa.Table:
    """Return the distinct citations by the filtered papers of a bucket, with the columns of CITATIONS."""
    filtered = tables(FILTERED).read(["paper_id"], shard=bucket, where=_PASSED_FILTER)["paper_id"]
    where = _HAS_CITED_PAPER & pc.field("paper_id").isin(filtered.combine_chunks()) & pc.field("warning").is_null()
    pairs = tables(LINKS).read(CITATIONS.names, shard=bucket, where=where)
    return pairs.group_by(CITATIONS.names, use_threads=False).aggregate([]).cast(CITATIONS)


def group_by_cited(citations: pa.Table) -> ByPaper[dict[str, str]]:
    """Group rows of CITATIONS by cited paper; the citing papers (`paper_id`) are sorted."""
    ordered = citations.sort_by([(name, "ascending") for name in CITATIONS.names])
    rows = (row for batch in ordered.to_batches(max_chunksize=_BATCH_ROWS) for row in batch.to_pylist())
    return ByPaper(rows, "cited_paper_id")


def hash_identifiers(paper: Mapping[str, Any]) -> Iterator[int]:
    """Yield the keys of the identifiers and the title of a paper."""
    yield from (lookup_key(name, paper[name]) for name in IDENTIFIERS if paper[name])
    if paper["title"] and (title := normalize_one(paper["title"])):
        yield lookup_key("title", title)


def hash_preprints(paper: Mapping[str, Any]) -> list[int]:
    """Return the keys of the identifiers of a paper's preprints that the paper itself does not have, sorted."""
    others = {
        (name, row[name])
        for row in paper["preprints"] or ()
        for name in ("doi", "arxiv_id")
        if row[name] != paper[name]
    }
    return sorted(lookup_key(name, value) for name, value in others if value)


def write_groups(local: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch], group: int = ROW_GROUP) -> int:
    """Write rows to a Parquet file and return their number. Row groups do not depend on the batch sizes."""
    count = 0
    pending = schema.empty_table()
    with parquet_writer(local, schema) as writer:
        for batch in batches:
            count += batch.num_rows
            pending = pa.concat_tables([pending, pa.Table.from_batches([batch]).cast(schema)])
            while pending.num_rows >= group:
                writer.write_table(pending.slice(0, group).combine_chunks())
                pending = pending.slice(group)
        if pending.num_rows:
            writer.write_table(pending.combine_chunks())
    return count
