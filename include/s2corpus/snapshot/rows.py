"""The rows of a snapshot's files, joined from a release's tables in bounded memory: every table is sorted by paper_id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.papers.licences import to_spdx
from s2corpus.papers.vote import Rule
from s2corpus.snapshot import rights
from s2corpus.snapshot.documents import IDENTIFIERS, year
from s2corpus.snapshot.metadata import metadata_row, released_parse
from s2corpus.storage.by_paper import ByPaper
from s2corpus.storage.parts import TableRef
from s2corpus.tables import (
    CONTEXTS,
    DOCUMENTS,
    FILTERED,
    FULLTEXTS,
    LINKS,
    PAPERS,
    SPLITS,
    DocumentRow,
    FilteredRow,
    FulltextRow,
    LinkRow,
    Table,
)
from s2corpus.text.masking import Masked, masked, masked_parse
from s2corpus_reader.parquet import parquet_writer

T = TypeVar("T")
Row = dict[str, Any]


class Tables(Protocol):
    """A release's tables."""

    def __call__(self, table: Table[T]) -> TableRef[T]:
        """One of them."""


ROW_GROUP = 16_384
"""Rows of a row group of the Parquet files: part of their bytes."""

INDEX = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("set", pa.string(), nullable=False),
        pa.field("split", pa.string(), nullable=False),
        pa.field("file", pa.string(), nullable=False),
        pa.field("line", pa.int64(), nullable=False),
        pa.field("sha1", pa.string()),
        pa.field("title", pa.string()),
        pa.field("date", pa.string()),
        pa.field("year", pa.int32()),
        *(pa.field(name, pa.string()) for name in IDENTIFIERS),
        pa.field("editorial", pa.string()),
        pa.field("licence", pa.string(), nullable=False),
        pa.field("oa_evidence", pa.string()),
        pa.field("abstract_source", pa.string()),
        pa.field("fields_of_study", pa.list_(pa.string())),
        pa.field("words", pa.int64(), nullable=False),
        pa.field("text_key", pa.int64(), nullable=False),
    ]
)
"""Where each document is (file and line, from 1), what is known of it, its words, and a hash of its normalised text."""


CITATIONS = pa.schema([("cited_paper_id", pa.string()), ("paper_id", pa.string())])
"""Who cites whom."""
_AT_ONCE = 256
"""Rows of one table and bucket that are held as Python's: all buckets of a file are read side by side."""
_TEXTS_AT_ONCE = 64
_PARSES_AT_ONCE = 16


def documents(tables: Tables, bucket: int, set_: str, *, mask: bool, links: bool) -> Iterator[Row]:
    """The published documents of a set in one bucket of papers: text, split and what the index says of them.

    Licence and evidence are those of the file the text is from; of titles and abstracts (s2ag) the licence is the abstract's, the
    evidence the paper's. `mask`: without personal data (`clean.pii`). `links`: with the works that are papers, as `linked`.
    """
    kept = (pc.field("set") == set_) & (pc.field("outcome") == "kept")
    columns = ["paper_id", "text", "text_key", "sha1", "log_prob", "top_word", "top_share"]
    columns += ["licence", "oa_evidence"] if set_ == "s2orc" else []
    texts = tables(DOCUMENTS).rows(columns, shard=bucket, where=kept, at_once=_TEXTS_AT_ONCE)
    columns = ["paper_id", "parse_kind", "file_sha1", "text_layer", "parse"]
    opened = pc.field("open_access")
    parses = ByPaper(tables(FULLTEXTS).rows(columns, shard=bucket, where=opened, at_once=_PARSES_AT_ONCE))
    works = ByPaper(tables(LINKS).rows(shard=bucket, where=_LINKED, at_once=_AT_ONCE)) if links else None
    known = rights.abstracts(tables, bucket, _AT_ONCE)
    columns = ["paper_id", "split"]
    splits = ByPaper(tables(SPLITS).rows(columns, shard=bucket, where=pc.field("set") == set_, at_once=_AT_ONCE))
    columns = ["paper_id", "title", "date", *IDENTIFIERS, "editorial", "licence", "oa_evidence", "fields_of_study"]
    papers = ByPaper(tables(PAPERS).rows(columns, shard=bucket, at_once=_AT_ONCE))
    for document in texts:
        split = splits.one(document["paper_id"])
        paper = papers.one(document["paper_id"])
        if split is None or paper is None:
            raise ValueError(f"document {document['paper_id']} of {set_} has no split or no paper")
        if split["split"] in ("train", "valid"):
            mine = parses.at(document["paper_id"]) if set_ == "s2orc" else []
            row = {**paper, **document, "split": split["split"], **_parse_of(document, mine, mask=mask)}
            told = known.one(document["paper_id"])
            row["abstract_source"], licence = rights.of_abstract(paper, told["found"] if told else None)
            row["licence"] = to_spdx(document["licence"]) if set_ == "s2orc" else licence
            if mask and row["title"]:
                row["title"] = masked(row["title"])
            if works is not None:
                row["linked"] = _links_of(works.at(document["paper_id"]), row["parse_kind"])
            yield row


_LINKED = pc.field("cited_paper_id").is_valid()


def _links_of(links: Iterable[LinkRow], parse_kind: str | None) -> dict[str, str]:
    """Bibliography entries of one parse → the paper each is."""
    return {one["ref_id"]: one["cited_paper_id"] or "" for one in links if one["parse_kind"] == parse_kind}


def _parse_of(document: DocumentRow, fulltexts: list[FulltextRow], *, mask: bool) -> Row:
    """The parse that a document's text is from, its kind and what is known of its text layer; null for titles and abstracts."""
    for fulltext in fulltexts:
        if fulltext["file_sha1"] == document["sha1"]:
            parse = orjson.loads(fulltext["parse"])
            return {
                "parse_kind": fulltext["parse_kind"],
                "text_layer": fulltext["text_layer"],
                "parse": masked_parse(parse) if mask else parse,
            }
    return {"parse_kind": None, "text_layer": None, "parse": None}


def index_row(document: Row, set_: str, path: str, line: int) -> Row:
    """A document's row of the index; not its text."""
    words = len(document["text"].split())
    row = {**document, "id": document["paper_id"], "set": set_, "file": path, "line": line, "words": words}
    row["year"] = year(document["date"])
    return {name: row[name] for name in INDEX.names}


def released_papers(tables: Tables, bucket: int, count_warnings: tuple[str, ...], *, mask: bool) -> Iterator[Row]:
    """The kept papers of a bucket with `outbound` (cited papers, sorted), `parses` (kind → released parse), `fulltexts` (kind → licence
    and evidence), where their abstract is from (`abstract_from`), and whether that is a source and not a PDF (`publisher_abstract`).

    `mask`: without personal data (`clean.pii`).
    """
    kept = _kept(tables, bucket)
    columns = ["paper_id", "parse_kind", "file_sha1", "open_access", "oa_evidence", "licence", "parse"]
    fulltexts = ByPaper(tables(FULLTEXTS).rows(columns, shard=bucket, at_once=_PARSES_AT_ONCE))
    links = ByPaper(tables(LINKS).rows(shard=bucket, where=_LINKED, at_once=_AT_ONCE))
    abstracts = rights.abstracts(tables, bucket, _AT_ONCE)
    columns = [column.name for column in PAPERS.columns if column.name != "provenance"]
    for paper in tables(PAPERS).rows(columns, shard=bucket, at_once=_AT_ONCE):
        if not kept.at(paper["paper_id"]):
            continue
        linked = links.at(paper["paper_id"])
        texts = {fulltext["parse_kind"]: fulltext for fulltext in fulltexts.at(paper["paper_id"])}
        parses = {}
        for kind, fulltext in texts.items():
            parse = orjson.loads(fulltext["parse"])
            if mask:
                parse = masked_parse(parse)
            parses[kind] = released_parse(parse, _links_of(linked, kind), open_access=fulltext["open_access"])
        if mask:
            paper |= {"title": _masked(paper["title"]), "abstract": _masked(paper["abstract"])}
        told = abstracts.one(paper["paper_id"])
        found = told["found"] if told else None
        yield {
            **paper,
            "licence": to_spdx(paper["licence"]),
            "outbound": sorted({one["cited_paper_id"] or "" for one in linked if _counts(one, count_warnings)}),
            "parses": parses,
            "fulltexts": texts,
            "abstract_from": found,
            "publisher_abstract": found is not None and found.rule != Rule.PDF,
        }


def _masked(text: str | None) -> str | None:
    return text and masked(text)


def metadata_of(paper: Row, inbound: Sequence[str]) -> Row:
    """The metadata of a released paper, given who cites it."""
    return metadata_row(paper, paper["outbound"], inbound, paper["parses"].get("pdf"))


def graph_rows(tables: Tables, table: Table[Any], bucket: int, *, mask: bool) -> Iterator[Row]:
    """Rows of links or contexts that go from a kept paper of the bucket to a paper; of contexts `mask`: without personal data."""
    kept = _kept(tables, bucket)
    for row in tables(table).rows(shard=bucket, where=_LINKED, at_once=_AT_ONCE):
        if not kept.at(row["paper_id"]):
            continue
        if mask and table is CONTEXTS:
            text = Masked(row["text"])
            row["text"] = text.text
            row["start"], row["end"] = text.moved(row["start"], row["end"])
        yield row


def _kept(tables: Tables, bucket: int) -> ByPaper[FilteredRow]:
    """The kept papers of a bucket."""
    kept = pc.field("outcome") == "kept"
    return ByPaper(tables(FILTERED).rows(["paper_id"], shard=bucket, where=kept, at_once=_AT_ONCE))


def counted_citations(tables: Tables, bucket: int, count_warnings: tuple[str, ...]) -> pa.Table:
    """The citations by kept papers of a bucket, rows of CITATIONS, each once."""
    kept = tables(FILTERED).read(["paper_id"], shard=bucket, where=pc.field("outcome") == "kept")["paper_id"]
    counted = pc.field("warning").is_null() | pc.field("warning").isin(pa.array(count_warnings, pa.string()))
    where = _LINKED & pc.field("paper_id").isin(kept.combine_chunks()) & counted
    pairs = tables(LINKS).read(CITATIONS.names, shard=bucket, where=where)
    return pairs.group_by(CITATIONS.names).aggregate([]).cast(CITATIONS)


def by_cited(citations: pa.Table) -> ByPaper[dict[str, str]]:
    """Rows of CITATIONS by the paper that is cited: its citing ones as `paper_id`, sorted."""
    ordered = citations.sort_by([(name, "ascending") for name in CITATIONS.names])
    rows = (row for batch in ordered.to_batches(max_chunksize=_AT_ONCE) for row in batch.to_pylist())
    return ByPaper(rows, "cited_paper_id")


def _counts(link: LinkRow, count_warnings: tuple[str, ...]) -> bool:
    return link["warning"] is None or link["warning"] in count_warnings


def write_groups(local: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch], group: int = ROW_GROUP) -> int:
    """Write rows to a Parquet file, whose row groups do not depend on how the rows come; how many there were."""
    count = 0
    waiting = schema.empty_table()
    with parquet_writer(local, schema) as writer:
        for batch in batches:
            count += batch.num_rows
            waiting = pa.concat_tables([waiting, pa.Table.from_batches([batch]).cast(schema)])
            while waiting.num_rows >= group:
                writer.write_table(waiting.slice(0, group).combine_chunks())
                waiting = waiting.slice(group)
        if waiting.num_rows:
            writer.write_table(waiting.combine_chunks())
    return count
