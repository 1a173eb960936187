"""Tables in the lake: parts and their commit.

A shard writes `part-<shard>-<hash>.parquet` atomically, then its receipt `part-<shard>.json` with the name of the part. When all
receipts exist, the stage writes `_COMMITTED.json` with the list of parts. Readers use only this list, never a glob. The name of a part
contains a hash of its content. A repeated shard, even of a concurrent run, therefore never changes committed data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Generic

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from s2corpus.errors import LostRace, TransientError, UserError
from s2corpus.storage.lake import Conflict, Lake
from s2corpus.storage.part import Part, Rows, upload
from s2corpus.storage.progress import count
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


class NotCommitted(UserError):
    """The table is not committed."""


class TableRef(Generic[R_co]):
    """Table of a release: `<prefix>/part-*.parquet` and its commit."""

    def __init__(self, lake: Lake, prefix: str, table: Table[R_co]) -> None:
        self.lake = lake
        self.prefix = prefix.rstrip("/")
        self.table = table
        self._commit: Commit | None = None

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

    def written(self, shard: int) -> pa.Table:
        """Return the rows of a shard, committed or not."""
        part = Part(**self._json(self._receipt(shard)))
        self._refuse_damaged([part])
        fs, root = self.lake.filesystem()
        return pq.read_table(f"{root}{self.prefix}/{part.name}", filesystem=fs, schema=self.table.schema)

    def _json(self, key: str) -> Any:
        data, _ = self.lake.get(key)
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
        self._commit = None
        key = f"{self.prefix}/_COMMITTED.json"
        before = self.lake.etag(key)
        parts = []
        for shard in sorted(shards):
            try:
                parts.append(Part(**self._json(self._receipt(shard))))
            except FileNotFoundError:
                raise TransientError(
                    f"{self.lake.uri(self.prefix)}: part {shard} of {len(shards)} was never written"
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

    def committed(self) -> Commit:
        """Return the commit; it is cached until `commit` writes a new one.

        Raises:
            NotCommitted: the table is not committed, or has another schema.
        """
        if self._commit is not None:
            return self._commit
        try:
            raw = self._json(f"{self.prefix}/_COMMITTED.json")
        except FileNotFoundError:
            raise NotCommitted(
                f"{self.lake.uri(self.prefix)}: table {self.table.name} is not committed: the stage that writes it has to run first"
            ) from None
        if raw["schema_hash"] != self.table.schema_hash:
            raise NotCommitted(
                f"{self.lake.uri(self.prefix)}: written with another schema of {self.table.name}: run its stage again"
            )
        self._commit = Commit(**{**raw, "parts": tuple(Part(**part) for part in raw["parts"])})
        return self._commit

    def counts(self, *columns: str) -> Counter[tuple[Any, ...]]:
        """Return the number of committed rows by combination of values of counted columns."""
        found: Counter[tuple[Any, ...]] = Counter()
        for part in self.committed().parts:
            if part.counts is None:
                raise NotCommitted(f"{self.lake.uri(self.prefix)}: written by an older version: run its stage again")
            for values, rows in part.counts[",".join(columns)]:
                found[tuple(values)] += rows
        return found

    def _parts(self, shard: int | None = None) -> list[Part]:
        """Return the committed parts, or only the part of a shard."""
        named = "part-" if shard is None else f"part-{shard:05d}"
        return [part for part in self.committed().parts if part.name.startswith(named)]

    def keys(self, shard: int | None = None) -> list[str]:
        """Return the keys of the committed parts, or only of a shard."""
        return [f"{self.prefix}/{part.name}" for part in self._parts(shard)]

    def uris(self, shard: int | None = None) -> list[str]:
        """Return the addresses of the committed parts."""
        return [self.lake.uri(key) for key in self.keys(shard)]

    def _refuse_damaged(self, parts: Iterable[Part]) -> None:
        for part in parts:
            if (size := self.lake.size(f"{self.prefix}/{part.name}")) != part.bytes:
                found = "the file is missing" if size is None else f"found {size}"
                raise DamagedPart(
                    f"{self.lake.uri(self.prefix)}/{part.name}: committed with {part.bytes} bytes, {found}: "
                    f"run the stage that writes {self.table.name} again"
                )

    def whole(self) -> bool:
        """Return whether the table is committed and every part has its committed size."""
        try:
            self._refuse_damaged(self._parts())
        except (NotCommitted, DamagedPart):
            return False
        return True

    def dataset(self, shard: int | None = None) -> ds.Dataset:
        """Return the committed parts as an Arrow dataset.

        Raises:
            DamagedPart: a part does not have its committed size.
        """
        parts = self._parts(shard)
        self._refuse_damaged(parts)
        fs, root = self.lake.filesystem()
        return ds.dataset(
            [f"{root}{self.prefix}/{p.name}" for p in parts], schema=self.table.schema, filesystem=fs, format="parquet"
        )

    def view(self, connection: DuckDBPyConnection, some: slice = slice(None)) -> None:
        """Create a view of the committed parts (or of a slice), with the name of the table.

        Raises:
            DamagedPart: a part does not have its committed size.
        """
        from s2corpus.storage.duck import view

        parts = self._parts()[some]
        self._refuse_damaged(parts)
        fs, root = self.lake.filesystem()
        view(connection, self.table.name, [f"{root}{self.prefix}/{part.name}" for part in parts], fs)

    def read(
        self, columns: Sequence[str] | None = None, *, shard: int | None = None, where: pc.Expression | None = None
    ) -> pa.Table:
        """Return the committed rows (of one shard) in the order of parts."""
        return self.dataset(shard).to_table(columns=list(columns) if columns else None, filter=where)

    def leaves(self, columns: Sequence[str], *, shard: int, repeated: Sequence[str] = ()) -> pa.Table:
        """Return columns of the committed rows of one shard.

        A nested column is given by its leaves (`authors.list.element.last`); other leaves are not decoded. Columns in `repeated`
        become dictionaries.

        Raises:
            KeyError: the part has no such column or leaf, which the Parquet reader would ignore.
        """  # fmt: skip
        [part] = self._parts(shard)
        self._refuse_damaged([part])
        fs, root = self.lake.filesystem()
        with fs.open_input_file(f"{root}{self.prefix}/{part.name}") as file:
            parquet = pq.ParquetFile(file, read_dictionary=list(repeated), pre_buffer=True)
            paths = [column.path for column in parquet.schema]
            for name in (*columns, *repeated):
                if not any(path == name or path.startswith(f"{name}.") for path in paths):
                    raise KeyError(
                        f"{part.name} of {self.table.name} has no {name!r}: its leaves are {', '.join(paths)}"
                    )
            return parquet.read(list(columns), use_threads=False)

    def rows(
        self,
        columns: Sequence[str] | None = None,
        *,
        shard: int | None = None,
        where: pc.Expression | None = None,
        at_once: int = 4096,
    ) -> Iterator[R_co]:
        """Yield the committed rows (of one shard) with these columns, in order; `at_once` rows are in memory."""
        for batch in self.batches(columns, shard=shard, where=where, rows=at_once):
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
            for (
                group
            ) in fragment.split_by_row_group():  # A scan of all row groups keeps all data in memory until it ends.
                scanner = group.scanner(
                    schema=self.table.schema,
                    columns=list(columns) if columns else None,
                    filter=where,
                    batch_size=rows,
                    batch_readahead=1,
                    use_threads=False,
                )
                yield from (batch for batch in scanner.to_batches() if batch.num_rows)


class DamagedPart(UserError):
    """A part or its metadata is damaged or missing."""
