"""Cache of MinHash keys by text hash, shared by releases: keys of unchanged documents are not recomputed."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.storage.lake import Lake

log = logging.getLogger(__name__)
_SCHEMA = pa.schema(
    [pa.field("text", pa.binary(16), nullable=False), pa.field("keys", pa.list_(pa.int64()), nullable=False)]
)


class Signatures:
    """Cached keys for the texts of one bucket of papers, stored in one object of the lake."""

    def __init__(self, lake: Lake, key: str) -> None:
        """Read the cache from the object `key`; the name of the object identifies the rules of the keys."""
        self._lake = lake
        self._key = key
        self._stored = _SCHEMA.empty_table()
        self._requested: dict[bytes, list[int]] = {}
        with suppress(FileNotFoundError):
            try:
                self._stored = pq.read_table(pa.BufferReader(lake.get(key)[0])).cast(_SCHEMA)
            except (pa.ArrowException, ValueError) as error:
                log.warning("%s is damaged (%s): recomputing its signatures", lake.uri(key), error)
        self._row_of = {digest: row for row, digest in enumerate(self._stored["text"].to_pylist())}

    def get_keys(self, text: str, sign: Callable[[], list[int]]) -> list[int]:
        """Return the cached keys of a text, or compute them with `sign`."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]
        row = self._row_of.get(digest)
        keys = sign() if row is None else self._stored["keys"][row].as_py()
        self._requested[digest] = keys
        return keys

    def keep(self) -> None:
        """Write the requested keys to the lake if they differ from the stored cache."""
        if self._requested.keys() != self._row_of.keys():
            rows = [{"text": digest, "keys": self._requested[digest]} for digest in sorted(self._requested)]
            sink = pa.BufferOutputStream()
            pq.write_table(pa.Table.from_pylist(rows, _SCHEMA), sink, compression="zstd")
            self._lake.put(self._key, sink.getvalue().to_pybytes())
