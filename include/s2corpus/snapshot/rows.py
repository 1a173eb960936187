"""The rows of a snapshot's files, joined from a release's tables in bounded memory: every table is sorted by paper_id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.snapshot.documents import IDENTIFIERS, year
from s2corpus.snapshot.metadata import metadata_row, released_parse
from s2corpus.storage.parts import TableRef
from s2corpus.tables import DOCUMENTS, FILTERED, FULLTEXTS, LINKS, PAPERS, SPLITS, Table

Tables = Callable[[Table], TableRef]
"""A release's tables."""
Row = dict[str, Any]

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
        pa.field("licence", pa.string()),
        pa.field("oa_evidence", pa.string()),
        pa.field("fields_of_study", pa.list_(pa.string())),
        pa.field("words", pa.int64(), nullable=False),
        pa.field("text_key", pa.int64(), nullable=False),
    ]
)
"""Where each document is (file and line, from 1), what is known of it, its words, and a hash of its normalised text."""


def documents(tables: Tables, bucket: int, set_: str) -> Iterator[Row]:
    """The published documents of a set in one bucket of papers: text, split and what the index says of them.

    Licence and evidence are those of the file the text is from; of titles and abstracts (s2ag), the paper's.
    """
    kept = (pc.field("set") == set_) & (pc.field("outcome") == "kept")
    columns = ["paper_id", "text", "text_key", "sha1", "log_prob", "top_word", "top_share"]
    columns += ["licence", "oa_evidence"] if set_ == "s2orc" else []
    texts = _rows(tables(DOCUMENTS), bucket, columns, kept, 64)
    columns = ["paper_id", "parse_kind", "pdf_sha1", "parse"]
    parses = _Lookup(_grouped(_rows(tables(FULLTEXTS), bucket, columns, pc.field("open_access"), 16)))
    splits = _Lookup(_rows(tables(SPLITS), bucket, ["paper_id", "split"], pc.field("set") == set_))
    columns = ["paper_id", "title", "date", *IDENTIFIERS, "licence", "oa_evidence", "fields_of_study"]
    papers = _Lookup(_rows(tables(PAPERS), bucket, columns))
    for document in texts:
        split = splits.at(document["paper_id"])
        paper = papers.at(document["paper_id"])
        if split is None or paper is None:
            raise ValueError(f"document {document['paper_id']} of {set_} has no split or no paper")
        if split["split"] in ("train", "valid"):
            yield {
                **paper,
                **document,
                "split": split["split"],
                **_parse_of(document, parses if set_ == "s2orc" else None),
            }


def _parse_of(document: Row, parses: _Lookup | None) -> Row:
    """The parse that a document's text is from, and its kind; both null for titles and abstracts."""
    found = parses.at(document["paper_id"]) if parses else None
    for fulltext in found["rows"] if found else ():
        if fulltext["pdf_sha1"] == document["sha1"]:
            return {"parse_kind": fulltext["parse_kind"], "parse": fulltext["parse"]}
    return {"parse_kind": None, "parse": None}


def index_row(document: Row, set_: str, path: str, line: int) -> Row:
    """A document's row of the index; not its text."""
    words = len(document["text"].split())
    row = {**document, "id": document["paper_id"], "set": set_, "file": path, "line": line, "words": words}
    row["year"] = year(document["date"])
    return {name: row[name] for name in INDEX.names}


def kept_papers(tables: Tables) -> pa.Array:
    """Ids of all papers that passed the filter."""
    return tables(FILTERED).read(["paper_id"], where=pc.field("outcome") == "kept")["paper_id"].combine_chunks()


def released_papers(tables: Tables, bucket: int, count_warnings: tuple[str, ...]) -> Iterator[Row]:
    """The kept papers of a bucket with `outbound` (cited papers, sorted) and `parses` (kind → released parse)."""
    kept = set(tables(FILTERED).read(["paper_id"], shard=bucket, where=pc.field("outcome") == "kept")[0].to_pylist())
    columns = ["paper_id", "parse_kind", "open_access", "parse"]
    fulltexts = _Lookup(_grouped(_rows(tables(FULLTEXTS), bucket, columns, rows=16)))
    links = _Lookup(_grouped(_rows(tables(LINKS), bucket, where=pc.field("cited_paper_id").is_valid())))
    for paper in _rows(tables(PAPERS), bucket, [c.name for c in PAPERS.columns if c.name != "provenance"]):
        if paper["paper_id"] not in kept:
            continue
        linked = (links.at(paper["paper_id"]) or {"rows": []})["rows"]
        paper["outbound"] = sorted({link["cited_paper_id"] for link in linked if _counts(link, count_warnings)})
        paper["parses"] = {}
        for fulltext in (fulltexts.at(paper["paper_id"]) or {"rows": []})["rows"]:
            kind = fulltext["parse_kind"]
            targets = {link["ref_id"]: link["cited_paper_id"] for link in linked if link["parse_kind"] == kind}
            parse = orjson.loads(fulltext["parse"])
            paper["parses"][kind] = released_parse(parse, targets, open_access=fulltext["open_access"])
        yield paper


def metadata_of(paper: Row, inbound: Sequence[str]) -> Row:
    """The metadata of a released paper, given who cites it."""
    return metadata_row(paper, paper["outbound"], inbound, paper["parses"].get("pdf"))


def graph_rows(tables: Tables, table: Table, bucket: int) -> Iterator[Row]:
    """Rows of links or contexts that go from a kept paper of the bucket to a paper."""
    kept = tables(FILTERED).read(["paper_id"], shard=bucket, where=pc.field("outcome") == "kept")["paper_id"]
    where = pc.field("cited_paper_id").is_valid() & pc.field("paper_id").isin(kept.combine_chunks())
    return _rows(tables(table), bucket, where=where)


class Inbound:
    """Who cites each paper of some buckets: asked by ascending paper id."""

    def __init__(self, cited: pa.Array, citing: pa.Array) -> None:
        """Both sorted by (cited, citing), each pair once."""
        changes = pc.not_equal(cited[1:], cited[:-1]).to_numpy(zero_copy_only=False)
        starts = np.flatnonzero(np.append(True, changes)) if len(cited) else np.empty(0, np.int64)
        self._ends = np.append(starts, len(cited)).astype(np.int64)
        self._cited = cited
        self._citing = citing
        self._next = 0

    def at(self, paper_id: str) -> list[str]:
        """The papers that cite it, sorted."""
        while self._next + 1 < len(self._ends):
            start, end = self._ends[self._next], self._ends[self._next + 1]
            cited = self._cited[start].as_py()
            if cited > paper_id:
                break
            self._next += 1
            if cited == paper_id:
                citing: list[str] = self._citing[start:end].to_pylist()
                return citing
        return []


def inbound_citations(
    tables: Tables, buckets: Iterable[int], kept: pa.Array, count_warnings: tuple[str, ...]
) -> Inbound:
    """Citations of the papers of `buckets` by kept papers of any bucket."""
    ids = [tables(FILTERED).read(["paper_id"], shard=bucket)["paper_id"].combine_chunks() for bucket in buckets]
    mine = pa.concat_arrays(ids) if ids else pa.array([], pa.string())
    where = pc.field("cited_paper_id").isin(mine) & pc.field("paper_id").isin(kept)
    where &= pc.field("warning").is_null() | pc.field("warning").isin(pa.array(count_warnings, pa.string()))
    pairs = tables(LINKS).read(["cited_paper_id", "paper_id"], where=where)
    pairs = pairs.group_by(["cited_paper_id", "paper_id"]).aggregate([])
    pairs = pairs.sort_by([("cited_paper_id", "ascending"), ("paper_id", "ascending")]).combine_chunks()
    columns = [pairs[name].combine_chunks() for name in ("cited_paper_id", "paper_id")]
    return Inbound(*(c.chunk(0) if isinstance(c, pa.ChunkedArray) else c for c in columns))


def _counts(link: Row, count_warnings: tuple[str, ...]) -> bool:
    return link["warning"] is None or link["warning"] in count_warnings


def _rows(
    table: TableRef,
    bucket: int,
    columns: Sequence[str] | None = None,
    where: pc.Expression | None = None,
    rows: int = 1024,
) -> Iterator[Row]:
    for batch in table.batches(columns, shard=bucket, where=where, rows=rows):
        yield from batch.to_pylist()


def _grouped(rows: Iterator[Row]) -> Iterator[Row]:
    for paper_id, group in groupby(rows, key=itemgetter("paper_id")):
        yield {"paper_id": paper_id, "rows": list(group)}


class _Lookup:
    """Rows by paper_id, each asked for in ascending order."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows
        self._row = next(rows, None)

    def at(self, paper_id: str) -> Row | None:
        while self._row is not None and self._row["paper_id"] < paper_id:
            self._row = next(self._rows, None)
        return self._row if self._row is not None and self._row["paper_id"] == paper_id else None


def tally(table: TableRef, columns: Sequence[str]) -> Counter[tuple[Any, ...]]:
    """How many rows of a committed table have each combination of values."""
    counts: Counter[tuple[Any, ...]] = Counter()
    for batch in table.batches(columns, rows=65_536):
        grouped = pa.Table.from_batches([batch]).group_by(list(columns)).aggregate([([], "count_all")])
        for row in grouped.to_pylist():
            counts[tuple(row[column] for column in columns)] += row["count_all"]
    return counts
