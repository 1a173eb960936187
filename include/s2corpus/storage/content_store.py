"""Stores of results keyed by file content, shared by all releases."""

from __future__ import annotations

import hashlib
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Generic

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from s2corpus.errors import UserError
from s2corpus.storage.lake import Lake, ListedObject
from s2corpus.storage.objects import DamagedPart
from s2corpus.storage.part import FORMAT, FORMAT_KEY, Chunk, as_table, upload
from s2corpus.tables.schema import R_co, Table

log = logging.getLogger(__name__)
KEY = "file_sha1"
"""Column that keys the rows."""
_STORED_GROUP_BYTES = 4 << 20
"""Uncompressed size of a row group. Row groups are small because a fetch of one row reads its complete row group."""
_SMALL_BYTES = 1 << 20
"""Maximum size of the parts that are merged."""
_MERGED_BYTES = 64 << 20
"""Maximum uncompressed size of the rows of a merged part, which are in memory."""
_MERGED_PARTS = 32
"""Maximum number of parts that a task merges."""
_LISTINGS = 3
"""How often parts are listed if other tasks merge them meanwhile. A row that is not found is computed again."""


class ContentStore(Generic[R_co]):
    """Extractions and parses, keyed by the SHA-1 of the file and shared by all releases.

    The name of a part contains its range of keys, `<first>-<last>-<hash>.parquet`, so a reader opens only overlapping parts. A part
    never changes. If several parts contain a key, the part whose name sorts first is used. Every release adds parts, so `merge` joins
    the small parts of a range; `fetch` finds their rows in the merged part.
    """

    def __init__(self, lake: Lake, prefix: str, table: Table[R_co]) -> None:
        self.lake = lake
        self.prefix = prefix.rstrip("/")
        self.table = table

    def append(self, rows: Chunk) -> str:
        """Store rows (at least one) as one part and return its key."""
        table = as_table(self.table, rows).sort_by(KEY)
        first, last = table[KEY][0].as_py(), table[KEY][-1].as_py()
        digest = hashlib.sha256()
        for sha in table[KEY].to_pylist():
            digest.update(sha.encode())
        key = f"{self.prefix}/{first[:12]}-{last[:12]}-{digest.hexdigest()[:12]}.parquet"
        upload(self.lake, key, self.table, table, _STORED_GROUP_BYTES)
        return key

    def _parts(self, first: str, last: str) -> Iterator[tuple[ListedObject, bool]]:
        """Yield the parts that overlap a range of keys, each with whether it is inside the range."""
        for entry in self.lake.list(f"{self.prefix}/"):
            low, high, _ = entry.key.rpartition("/")[2].split("-", 2)
            if low <= last[:12] and high >= first[:12]:
                yield entry, first[:12] <= low and high <= last[:12]

    def merge(self, first: str, last: str) -> None:
        """Merge small parts inside a range of keys, after its rows were stored: the next release opens one part instead of several.

        The merged part is complete before the others are deleted, so a reader finds each row at any time.
        """
        inside = (part.key for part, is_inside in self._parts(first, last) if is_inside and part.bytes < _SMALL_BYTES)
        small = list(islice(inside, _MERGED_PARTS))
        tables: dict[str, pa.Table] = {}
        for part in small if len(small) > 1 else ():
            try:
                table = pa.Table.from_batches(
                    self._scan(part, self.table.schema.names, lambda key: key.is_valid()), self.table.schema
                )
            except DamagedPart:  # or merged by another task
                continue
            if table.nbytes + sum(each.nbytes for each in tables.values()) > _MERGED_BYTES:
                self._replace(tables)
                tables = {}
            if table.num_rows:  # A part of another format has no rows that this version reads.
                tables[part] = table
        self._replace(tables)

    def _replace(self, tables: Mapping[str, pa.Table]) -> None:
        """Store the rows of parts as one part, and delete the parts."""
        if len(tables) < 2:
            return
        rows = pa.concat_tables(tables.values())
        first_rows = {key: number for number, key in reversed(list(enumerate(rows[KEY].to_pylist())))}
        merged = self.append(rows.take(pa.array(first_rows.values(), pa.int64())))
        for part in tables.keys() - {merged}:
            self.lake.delete(part)

    def known(self, first: str, last: str, columns: Sequence[str]) -> dict[str, tuple[R_co, str]]:
        """Return the `columns` of all keys from `first` to `last` (inclusive), by file_sha1, each with the name of its part.

        A damaged part is deleted, so that its rows are computed again.
        """
        for _ in range(_LISTINGS):
            found, is_outdated = self._read_known(first, last, list(dict.fromkeys([KEY, *columns])))
            if not is_outdated:
                break
        return found

    def _read_known(self, first: str, last: str, names: list[str]) -> tuple[dict[str, tuple[R_co, str]], bool]:
        """Return the rows by key with their parts, and whether another task has merged listed parts meanwhile."""
        found: dict[str, tuple[R_co, str]] = {}
        is_outdated = False
        for part, _ in self._parts(first, last):
            rows = []
            try:
                for batch in self._scan(part.key, names, lambda key: (key >= first) & (key <= last)):
                    rows += batch.to_pylist()
            except _MissingPart:
                is_outdated = True
                continue
            except DamagedPart as damaged:
                log.warning("%s; deleting it: its rows are computed again", damaged)
                self.lake.delete(part.key)
                continue
            for row in rows:
                found.setdefault(row[KEY], (row, part.key))
        return found, is_outdated

    def fetch(self, part: str, keys: Iterable[str], columns: Sequence[str]) -> Iterator[R_co]:
        """Yield the rows of one part for these keys, in key order, in bounded memory. If it was merged, yield them by merged part.

        Raises:
            DamagedPart: the part is damaged, or it is missing and its rows are nowhere else.
        """
        left = dict.fromkeys(sorted(set(keys)))
        try:
            wanted = pa.array(left, pa.string())
            for batch in self._scan(part, list(dict.fromkeys([KEY, *columns])), lambda key: key.isin(wanted)):
                for row in batch.to_pylist():
                    del left[row[KEY]]
                    yield row
        except _MissingPart:
            places = self.known(min(left), max(left), [KEY])
            if left.keys() - places.keys():
                raise
            keys_by_part = defaultdict(list)
            for key in left:
                keys_by_part[places[key][1]].append(key)
            for other, moved in sorted(keys_by_part.items()):
                yield from self.fetch(other, moved, columns)

    def _scan(
        self, part: str, columns: Sequence[str], matches: Callable[[pc.Expression], pc.Expression]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the columns of the rows whose key matches.

        Parts without a format number (before 1.0.0) have another key column: no row matches, and the results are computed again.
        """
        fs, root = self.lake.filesystem()
        try:
            dataset = ds.dataset([root + part], schema=self.table.schema, filesystem=fs, format="parquet")
            (fragment,) = dataset.get_fragments()
            number = int((fragment.metadata.metadata or {}).get(FORMAT_KEY, b"0"))
            if number > FORMAT:
                raise UserError(
                    f"{self.lake.uri(part)} has format {number}; this version reads up to {FORMAT}: install a later version of s2corpus"
                )
            # A pre-buffer joins adjacent requests and keeps a complete part in memory, which is small.
            options = ds.ParquetFragmentScanOptions(pre_buffer=True)
            yield from dataset.to_batches(
                columns=list(columns), filter=matches(pc.field(KEY)), batch_size=64, batch_readahead=1, use_threads=False,
                fragment_scan_options=options,
            )  # fmt: skip
        except (pa.ArrowInvalid, FileNotFoundError) as error:
            is_missing = isinstance(error, FileNotFoundError)
            found = "is missing" if is_missing else f"is damaged ({error})"
            raise (_MissingPart if is_missing else DamagedPart)(
                f"{self.lake.uri(part)} {found}: run the stage that writes {self.table.name} again"
            ) from None


class _MissingPart(DamagedPart):
    """A part is missing: another task has merged it, or it was lost."""
