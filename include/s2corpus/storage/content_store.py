"""Stores of results keyed by file content, shared by all releases."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from s2corpus.errors import UserError
from s2corpus.storage.lake import Lake
from s2corpus.storage.objects import DamagedPart
from s2corpus.storage.part import FORMAT, FORMAT_KEY, Chunk, as_table, upload
from s2corpus.tables.schema import R_co, Table

log = logging.getLogger(__name__)
KEY = "file_sha1"
"""Column that keys the rows."""
_STORED_GROUP_BYTES = 1 << 20
"""Uncompressed size of a row group. Row groups are small because a fetch of one row reads its complete row group."""


class ContentStore(Generic[R_co]):
    """Extractions and parses, keyed by the SHA-1 of the file and shared by all releases.

    The name of a part contains its range of keys, `<first>-<last>-<hash>.parquet`, so a reader opens only overlapping parts. A part
    never changes. If several parts contain a key, the part whose name sorts first is used.
    """

    def __init__(self, lake: Lake, prefix: str, table: Table[R_co]) -> None:
        self.lake = lake
        self.prefix = prefix.rstrip("/")
        self.table = table

    def append(self, rows: Chunk) -> str:
        """Store rows (sorted by file_sha1, at least one) as one part and return its key."""
        table = as_table(self.table, rows).sort_by(KEY)
        first, last = table[KEY][0].as_py(), table[KEY][-1].as_py()
        digest = hashlib.sha256()
        for sha in table[KEY].to_pylist():
            digest.update(sha.encode())
        key = f"{self.prefix}/{first[:12]}-{last[:12]}-{digest.hexdigest()[:12]}.parquet"
        upload(self.lake, key, self.table, table, _STORED_GROUP_BYTES)
        return key

    def _parts(self, first: str, last: str) -> list[str]:
        found = []
        for entry in self.lake.list(f"{self.prefix}/"):
            low, high, _ = entry.key.rpartition("/")[2].split("-", 2)
            if low <= last[:12] and high >= first[:12]:
                found.append(entry.key)
        return found

    def known(self, first: str, last: str, columns: Sequence[str]) -> dict[str, tuple[R_co, str]]:
        """Return the `columns` of all keys from `first` to `last` (inclusive), by file_sha1, each with the name of its part.

        A damaged part is deleted, so that its rows are computed again.
        """
        found: dict[str, tuple[R_co, str]] = {}
        names = list(dict.fromkeys([KEY, *columns]))
        for part in self._parts(first, last):
            rows = []
            try:
                for batch in self._scan(part, names, lambda key: (key >= first) & (key <= last)):
                    rows += batch.to_pylist()
            except DamagedPart as damaged:
                log.warning("%s; deleting it: its rows are computed again", damaged)
                self.lake.delete(part)
                continue
            for row in rows:
                found.setdefault(row[KEY], (row, part))
        return found

    def fetch(self, part: str, keys: Iterable[str], columns: Sequence[str]) -> Iterator[R_co]:
        """Yield the rows of one part for these keys, in key order, in bounded memory.

        Raises:
            DamagedPart: the part is missing or damaged.
        """
        wanted = pa.array(sorted(set(keys)), pa.string())
        for batch in self._scan(part, columns, lambda key: key.isin(wanted)):
            yield from batch.to_pylist()

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
            # With a pre-buffer, Arrow keeps all data in memory until the end.
            options = ds.ParquetFragmentScanOptions(pre_buffer=False)
            yield from dataset.to_batches(
                columns=list(columns), filter=matches(pc.field(KEY)), batch_size=64, batch_readahead=1, use_threads=False,
                fragment_scan_options=options,
            )  # fmt: skip
        except (pa.ArrowInvalid, FileNotFoundError) as error:
            found = "is missing" if isinstance(error, FileNotFoundError) else f"is damaged ({error})"
            raise DamagedPart(
                f"{self.lake.uri(part)} {found}: run the stage that writes {self.table.name} again"
            ) from None
