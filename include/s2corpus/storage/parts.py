"""Tables in the lake: parts and their commit.

A shard writes `part-<shard>-<hash>.parquet` atomically, then its receipt `part-<shard>.json` with the name of the part. When all
receipts exist, the stage writes `_COMMITTED.json` with the list of parts. Readers use only this list, never a glob. The name of a part
contains a hash of its content. A repeated shard, even of a concurrent run, therefore never changes committed data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Generic

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from s2corpus.errors import LostRace, TransientError, UserError
from s2corpus.storage.lake import Conflict, Lake
from s2corpus.storage.objects import DamagedPart
from s2corpus.storage.part import FORMAT, Part, Rows, count, upload
from s2corpus.tables.schema import R_co, Table
from s2corpus.version import code_version

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class Commit:
    """Committed list of the parts of a table."""

    table: str
    schema_hash: str
    code_version: str
    rows: int
    parts: tuple[Part, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT
    """format of the commit and its parts; absent in commits of versions before 1.0.0, which have the same form"""


class NotCommitted(UserError):
    """The table is not committed."""


PRUNED = "_pruned.json"
"""file of a release whose tables `corpus prune` deleted"""


class OtherColumns(NotCommitted):
    """Another version committed the table with other columns. A stage writes it again; a page asks for that version."""


class PrunedTables(OtherColumns):
    """The tables of the release were deleted; its snapshot is unchanged."""


class TableRef(Generic[R_co]):
    """Table of a release: `<prefix>/part-*.parquet` and its commit."""

    def __init__(self, lake: Lake, prefix: str, table: Table[R_co]) -> None:
        self.lake = lake
        self.prefix = prefix.rstrip("/")
        self.table = table
        self._commit: Commit | None = None
        self._stored = b""

    def write(self, shard: int, rows: Rows) -> Part:
        """Write the part of a shard, then its receipt. Rows are cast to the schema of the table; `rows` may be empty.

        Raises:
            pa.ArrowInvalid: rows do not match the schema, or a non-nullable column contains null.
        """
        part = upload(self.lake, f"{self.prefix}/part-{shard:05d}-{{sha256}}.parquet", self.table, rows)
        self.lake.put(self._receipt(shard), orjson.dumps(asdict(part)))
        count(self.table.name, part.rows)
        return part

    def _receipt(self, shard: int) -> str:
        return f"{self.prefix}/part-{shard:05d}.json"

    def read_shard(self, shard: int) -> pa.Table:
        """Return the rows of a shard, committed or not."""
        fs, [path] = self._find_files([Part(**self._json(self._receipt(shard)))])
        return pq.read_table(path, filesystem=fs, schema=self.table.schema)

    def _json(self, key: str) -> Any:
        return self._parse(key, self.lake.get(key)[0])

    def _parse(self, key: str, data: bytes) -> Any:
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError:
            raise DamagedPart(
                f"{self.lake.uri(key)}: {len(data)} bytes that are not JSON: run the stage that writes {self.table.name} again"
            ) from None

    def commit(self, shards: Sequence[int], facts: Mapping[str, Any] | None = None) -> Commit:
        """Commit the parts of these shards. Any process may commit the same content again.

        Raises:
            TransientError: a shard has not written its part, or another run has committed different content.
        """
        self._commit, self._stored = None, b""
        key = self._commit_key
        before = self.lake.etag(key)
        parts = []
        for shard in sorted(shards):
            try:
                parts.append(Part(**self._json(self._receipt(shard))))
            except FileNotFoundError:
                raise TransientError(
                    f"{self.lake.uri(self.prefix)}: part {shard} was never written ({len(shards)} shards)"
                ) from None
        commit = Commit(
            self.table.name,
            self.table.schema_hash,
            code_version(),
            sum(part.rows for part in parts),
            tuple(parts),
            dict(facts or {}),
        )
        data = orjson.dumps(asdict(commit), option=orjson.OPT_INDENT_2)
        try:
            self.lake.put(key, data, expect=before)
        except Conflict:
            if self.lake.get(key)[0] != data:
                raise LostRace(f"{self.lake.uri(key)}: another run has committed different content") from None
        return commit

    @property
    def _commit_key(self) -> str:
        return f"{self.prefix}/_COMMITTED.json"

    def read_commit(self) -> bytes:
        """Return the stored commit, or no bytes without one. It is cached until `commit` writes a new one."""
        if not self._stored:
            with suppress(FileNotFoundError):
                self._stored = self.lake.get(self._commit_key)[0]
        return self._stored

    def committed(self) -> Commit:
        """Return the commit; it is cached until `commit` writes a new one.

        Raises:
            NotCommitted: the table is not committed, or has other columns (`OtherColumns`).
            UserError: a later version wrote it in a format that this version does not read.
        """
        if self._commit is not None:
            return self._commit
        if not (data := self.read_commit()):
            release = self.prefix.rpartition("/")[0]
            if self.lake.size(f"{release}/{PRUNED}") is not None:
                raise PrunedTables(
                    f"{self.lake.uri(release)}: the tables of this release were pruned; its snapshot is unchanged. "
                    "Ask about a newer release, or run this release again with the same code"
                )
            raise NotCommitted(
                f"{self.lake.uri(self.prefix)}: table {self.table.name} is not committed: run the stage that writes it first"
            )
        raw = self._parse(self._commit_key, data)
        if raw.get("format", FORMAT) > FORMAT:
            raise UserError(
                f"{self.lake.uri(self.prefix)}: {self.table.name} has format {raw['format']}; this version reads up to {FORMAT}: "
                "install a later version of s2corpus"
            )
        if raw["schema_hash"] != self.table.schema_hash:
            raise OtherColumns(self._describe_columns(raw["code_version"]))
        self._commit = Commit(**{**raw, "parts": tuple(Part(**part) for part in raw["parts"])})
        return self._commit

    def _describe_columns(self, version: str) -> str:
        return (
            f"{self.lake.uri(self.prefix)}: version {version} wrote {self.table.name} with other columns. The snapshot of a "
            "published release stays valid: use that version to see this table. Clear the stage only in an unpublished release"
        )

    def counts(self, *columns: str) -> Counter[tuple[Any, ...]]:
        """Return the number of committed rows by combination of values of counted columns."""
        counter: Counter[tuple[Any, ...]] = Counter()
        for part in self.committed().parts:
            if part.counts is None:
                raise OtherColumns(self._describe_columns(self.committed().code_version))
            for values, rows in part.counts[",".join(columns)]:
                counter[tuple(values)] += rows
        return counter

    def _parts(self, shard: int | None = None) -> list[Part]:
        """Return the committed parts, or only the part of a shard."""
        prefix = "part-" if shard is None else f"part-{shard:05d}"
        return [part for part in self.committed().parts if part.name.startswith(prefix)]

    def keys(self, shard: int | None = None) -> list[str]:
        """Return the keys of the committed parts, or only of a shard."""
        return [f"{self.prefix}/{part.name}" for part in self._parts(shard)]

    def _find_files(self, parts: Iterable[Part]) -> tuple[pa.fs.FileSystem, list[str]]:
        """Return a file system that requires the committed sizes of parts, and their paths there."""
        sizes = {f"{self.prefix}/{part.name}": part.bytes for part in parts}
        fs, root = self.lake.filesystem(sizes)
        return fs, [root + key for key in sizes]

    def is_complete(self) -> bool:
        """Return whether the table is committed and every part has its committed size."""
        try:
            return all(self.lake.size(f"{self.prefix}/{part.name}") == part.bytes for part in self._parts())
        except NotCommitted:
            return False

    def dataset(self, shard: int | None = None) -> ds.Dataset:
        """Return the committed parts as an Arrow dataset.

        Raises:
            DamagedPart: a part does not have its committed size (on S3: when it is read).
        """
        fs, paths = self._find_files(self._parts(shard))
        return ds.dataset(paths, schema=self.table.schema, filesystem=fs, format="parquet")

    def view(self, connection: DuckDBPyConnection, some: slice = slice(None)) -> None:
        """Create a view of the committed parts (or of a slice), with the name of the table.

        Raises:
            DamagedPart: a part does not have its committed size (on S3: when it is read).
        """
        from s2corpus.storage.duck import create_view

        fs, paths = self._find_files(self._parts()[some])
        create_view(connection, self.table.name, paths, fs)

    def read(
        self, columns: Sequence[str] | None = None, *, shard: int | None = None, where: pc.Expression | None = None
    ) -> pa.Table:
        """Return the committed rows (of one shard) in the order of parts."""
        return self.dataset(shard).to_table(columns=list(columns) if columns else None, filter=where)

    def rows(
        self,
        columns: Sequence[str] | None = None,
        *,
        shard: int | None = None,
        where: pc.Expression | None = None,
        batch_size: int = 4096,
    ) -> Iterator[R_co]:
        """Yield the committed rows (of one shard) with these columns, in order; `batch_size` rows are in memory."""
        for batch in self.batches(columns, shard=shard, where=where, rows=batch_size):
            yield from batch.to_pylist()

    def batches(
        self,
        columns: Sequence[str] | None = None,
        *,
        shard: int | None = None,
        where: pc.Expression | None = None,
        rows: int = 4096,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the committed rows as batches of at most `rows` rows, in order and in bounded memory."""
        dataset = self.dataset(shard)
        for fragment in dataset.get_fragments():
            # A scan of all row groups keeps all data in memory until it ends.
            for group in fragment.split_by_row_group():
                scanner = group.scanner(
                    schema=self.table.schema,
                    columns=list(columns) if columns else None,
                    filter=where,
                    batch_size=rows,
                    batch_readahead=1,
                    use_threads=False,
                )
                yield from (batch for batch in scanner.to_batches() if batch.num_rows)
