"""Read the papers of a published snapshot for datasets: shard by shard, one paper at a time."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from operator import itemgetter
from typing import Any, BinaryIO, Generic, TypeVar

import orjson
import pyarrow.parquet as pq

from s2corpus_datasets.lake import SnapshotFiles
from s2corpus_reader.bounded import gzip_lines, read_object
from s2corpus_reader.files import file_number, list_files
from s2corpus_reader.parquet import check_parquet
from s2orc_parse.errors import UserError
from s2orc_parse.parse_model import ParseKind

Row = dict[str, Any]
T = TypeVar("T")
_TABLE = ("paper_id", "license", "open_access", "issns", "subjects", "volume", "issue", "pages", "date")
_BATCH = 256
_CORPUS = re.compile(r"corpus/(metadata|[a-z]+_parses)/[a-z_]+_([0-9]+)\.jsonl\.gz")
_PAPERS = re.compile(r"tables/papers/([0-9]+)\.parquet")


@dataclass(frozen=True, slots=True)
class SnapshotPaper:
    """A paper of a snapshot: its metadata as in S2ORC 20200705, additional Parquet columns, and its full texts."""

    metadata: Row
    columns: Row
    """license, open_access, issns, subjects, volume, issue, pages, date"""
    parses: dict[str, Row] = field(default_factory=dict)
    """kind → parse; the parse of a closed full text contains no text"""
    line_offsets: dict[str, int] = field(default_factory=dict)
    """kind → byte offset of the parse's line in the uncompressed file of parses"""
    shard: str = ""
    """number of the shard that contains the paper, as in the names of files"""
    shards: int = 1
    """number of shards of the snapshot"""

    @property
    def id(self) -> str:
        """Paper id."""
        return str(self.metadata["paper_id"])

    @property
    def fields(self) -> list[str]:
        """MAG fields of study, the primary one first; empty if unknown."""
        return list(self.metadata["mag_field_of_study"] or ())

    def full_text(self, kinds: Sequence[str]) -> tuple[str, Row] | None:
        """Return the kind and parse of the first of `kinds` with body text, or None."""
        for kind in kinds:
            if (parse := self.parses.get(kind)) and parse["body_text"]:
                return kind, parse
        return None


class SnapshotSource:
    """The papers of a published snapshot, in `shards` independent groups, each sorted by id."""

    def __init__(self, folder: SnapshotFiles) -> None:
        self.folder = folder
        self.manifest: Row = read_object(folder, "manifest.json")
        self.id = str(self.manifest["snapshot"])
        self.as_of = str(self.manifest["as_of"])
        self._files = list_files(self.manifest)
        self._corpus = {(found[1], int(found[2])): path for path in self._files if (found := _CORPUS.fullmatch(path))}
        self._tables = {int(found[1]): path for path in self._files if (found := _PAPERS.fullmatch(path))}
        self.shards = sum(folder == "metadata" for folder, _ in self._corpus)
        if not self.shards or not self._tables:
            raise UserError(
                f"{folder.root}: corpus/metadata or tables/papers is missing (snapshot of an older version): build the release again"
            )

    def content_digest(self, shard: int) -> str:
        """Return a digest of all content read for a shard. It is equal for two snapshots if the shard's papers are equal."""
        digest = hashlib.sha256(f"{self.shards}:{len(self._tables)};".encode())
        paths = [path for (_, number), path in sorted(self._corpus.items()) if number == shard]
        for path in (*paths, *self._table_paths(shard)):
            file = self._files[path]
            digest.update(f"{path}:{file.content_sha256 or file.sha256};".encode())
        return digest.hexdigest()[:16]

    def count_bytes(self, shard: int) -> int:
        """Return the number of bytes in the files of `corpus/` that contain the papers of a shard."""
        return sum(self._files[path].bytes for (_, number), path in self._corpus.items() if number == shard)

    def _table_paths(self, shard: int) -> list[str]:
        """Return the files of `tables/papers` that may contain papers of a shard: corpus and tables can have different numbers of files."""
        step = math.gcd(self.shards, len(self._tables))
        return [self._tables[number] for number in range(shard % step, len(self._tables), step)]

    def read_rows(self, shard: int, columns: Sequence[str] = _TABLE) -> Iterator[Row]:
        """Return rows of `tables/papers` for a shard's papers, ordered by id. `columns` must include `paper_id`."""
        rows = merge(
            *(self._read_table(path, columns) for path in self._table_paths(shard)), key=itemgetter("paper_id")
        )
        return (row for row in rows if file_number(row["paper_id"], self.shards) == shard)

    def _read_table(self, path: str, columns: Sequence[str]) -> Iterator[Row]:
        with self.folder.open_ranges(path) as file:
            parquet = pq.ParquetFile(file)
            check_parquet(parquet.metadata, path, self._files[path].bytes)
            for batch in parquet.iter_batches(_BATCH, columns=list(columns)):
                yield from batch.to_pylist()

    def papers(self, shard: int) -> Iterator[SnapshotPaper]:
        """Yield the papers of a shard in the order of ids; only one is in memory at a time.

        Raises:
            UserError: corpus and tables contain different papers.
        """
        texts = {
            str(kind): SortedRows(_read_parses(self.folder, self._corpus.get((f"{kind}_parses", shard))))
            for kind in ParseKind
        }
        rows = self.read_rows(shard)
        for _, line in _read_lines(self.folder, self._corpus["metadata", shard]):
            metadata = orjson.loads(line)
            row = next(rows, None)
            if row is None or row["paper_id"] != metadata["paper_id"]:
                raise UserError(
                    f"{self.folder.root}: corpus/metadata and tables/papers contain different papers in shard {shard}"
                )
            located = {kind: found for kind, parses in texts.items() if (found := parses.find(metadata["paper_id"]))}
            yield SnapshotPaper(
                metadata,
                row,
                {kind: parse for kind, (_, parse) in located.items()},
                {kind: offset for kind, (offset, _) in located.items()},
                str(shard),
                self.shards,
            )


class SortedRows(Generic[T]):
    """Rows in ascending order of paper ids, requested in this order. One row is in memory."""

    def __init__(self, rows: Iterator[tuple[str, T]]) -> None:
        self._rows = rows
        self._next = next(rows, None)

    def find(self, paper_id: str) -> T | None:
        """Return the row of a paper, or None. Papers must be requested in ascending order."""
        while self._next is not None and self._next[0] < paper_id:
            self._next = next(self._rows, None)
        return self._next[1] if self._next is not None and self._next[0] == paper_id else None


def _read_parses(folder: SnapshotFiles, path: str | None) -> Iterator[tuple[str, tuple[int, Row]]]:
    """Yield the paper id, byte offset and content of each parse."""
    for offset, line in _read_lines(folder, path) if path else ():
        parse = orjson.loads(line)
        yield parse["paper_id"], (offset, parse)


def _read_lines(folder: SnapshotFiles, path: str) -> Iterator[tuple[int, bytes]]:
    """Yield the byte offset and content of each line of a gzipped file."""
    offset = 0
    raw: BinaryIO
    with folder.open(path) as raw:
        for line in gzip_lines(raw):
            yield offset, line
            offset += len(line)
