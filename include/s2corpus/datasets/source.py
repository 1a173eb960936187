"""A published snapshot as datasets read it: its papers, shard by shard, one at a time."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson
import pyarrow.parquet as pq

from s2corpus.errors import UserError
from s2corpus.parse_model import ParseKind
from s2corpus.snapshot import flat

if TYPE_CHECKING:
    from s2corpus.storage.lake import Lake

Row = dict[str, Any]
_TABLE = ("paper_id", "licence", "open_access", "subjects", "volume", "issue", "pages", "date")
_BATCH = 256


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper of a snapshot: its metadata as in S2ORC 20200705, what Parquet has beside them, and its full texts."""

    metadata: Row
    known: Row
    """licence, open_access, subjects, volume, issue, pages, date"""
    parses: dict[str, Row] = field(default_factory=dict)
    """kind → parse; of a closed full text without its text"""
    places: dict[str, int] = field(default_factory=dict)
    """kind → byte in the uncompressed file of parses where the parse's line starts"""
    file: str = ""
    """the number of the files it is in, as their names write it"""
    files: int = 1
    """how many such numbers the snapshot has"""

    @property
    def id(self) -> str:
        """The paper's id."""
        return str(self.metadata["paper_id"])

    @property
    def fields(self) -> list[str]:
        """MAG fields of study, the primary one first; none where nothing is known."""
        return list(self.metadata["mag_field_of_study"] or ())

    def full_text(self, kinds: Sequence[str]) -> tuple[str, Row] | None:
        """The kind and parse of the first of `kinds` that has body text."""
        for kind in kinds:
            if (parse := self.parses.get(kind)) and parse["body_text"]:
                return kind, parse
        return None


class Source:
    """A snapshot whose papers are read in order, `shards` groups of them apart from each other."""

    def __init__(self, folder: Lake) -> None:
        self.folder = folder
        self.manifest: Row = orjson.loads(folder.get("manifest.json")[0])
        self.id = str(self.manifest["snapshot"])
        self.as_of = str(self.manifest["as_of"])
        self.shards = int(self.manifest["rules"]["export.files"])
        self._files = {file["path"]: file for file in self.manifest["files"]}

    def key(self, shard: int) -> str:
        """Digest of the content of all that is read of a shard: equal in two snapshots where its papers are."""
        digest = hashlib.sha256()
        for path in self._paths(shard):
            file = self._files[path]
            digest.update(f"{path}:{file.get('content_sha256') or file['sha256']};".encode())
        return digest.hexdigest()[:16]

    def _paths(self, shard: int) -> list[str]:
        wanted = [
            _lines_path("metadata", shard),
            *(_lines_path(f"{kind}_parses", shard) for kind in ParseKind),
            flat.path("papers", shard),
        ]
        if missing := [path for path in wanted if path not in self._files]:
            raise UserError(
                f"{self.folder.root}: no {missing[0]}: the snapshot was made before it had such files; make the release again"
            )
        return wanted

    def papers(self, shard: int) -> Iterator[Paper]:
        """The papers of a shard in the order of ids; one is in memory at a time."""
        self._paths(shard)
        texts = {str(kind): _Parses(self.folder, _lines_path(f"{kind}_parses", shard)) for kind in ParseKind}
        known = self._table(flat.path("papers", shard))
        for _, line in _lines(self.folder, _lines_path("metadata", shard)):
            metadata = orjson.loads(line)
            row = next(known)
            if row["paper_id"] != metadata["paper_id"]:
                raise UserError(f"{self.folder.root}: papers of shard {shard} are in another order than their metadata")
            at = {kind: found for kind, parses in texts.items() if (found := parses.at(metadata["paper_id"]))}
            yield Paper(
                metadata,
                row,
                {kind: parse for kind, (_, parse) in at.items()},
                {kind: place for kind, (place, _) in at.items()},
                f"{shard:02d}",
                self.shards,
            )

    def _table(self, path: str) -> Iterator[Row]:
        filesystem, root = self.folder.filesystem()
        with filesystem.open_input_file(f"{root}{path}") as file:
            for batch in pq.ParquetFile(file).iter_batches(_BATCH, columns=list(_TABLE)):
                yield from batch.to_pylist()


class _Parses:
    """The parses of one kind, asked for by paper in the order of ids."""

    def __init__(self, folder: Lake, path: str) -> None:
        self._lines = _lines(folder, path)
        self._next: tuple[int, Row] | None = None

    def at(self, paper_id: str) -> tuple[int, Row] | None:
        """The place and the parse of a paper that comes after all asked for before; None where it has none."""
        while self._next is None or self._next[1]["paper_id"] < paper_id:
            found = next(self._lines, None)
            if found is None:
                return None
            self._next = found[0], orjson.loads(found[1])
        return self._next if self._next[1]["paper_id"] == paper_id else None


def _lines_path(folder: str, shard: int) -> str:
    return f"corpus/{folder}/{folder}_{shard:02d}.jsonl.gz"


def _lines(folder: Lake, path: str) -> Iterator[tuple[int, bytes]]:
    place = 0
    raw: BinaryIO
    with folder.open(path) as raw, gzip.open(raw) as lines:
        for line in lines:
            yield place, line
            place += len(line)
