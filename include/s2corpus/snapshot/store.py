"""A snapshot's files in the lake: written once, known by their receipts, never changed once published."""

from __future__ import annotations

import hashlib
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.errors import UserError
from s2corpus.lake import Lake
from s2corpus.snapshot import pointer
from s2corpus.snapshot.files import File


class Store:
    """The snapshot's files in the lake, each with a receipt of what was written from which tables."""

    def __init__(self, lake: Lake, snapshot: str, receipts: str, inputs: str) -> None:
        """`receipts` is the folder for bookkeeping, `inputs` a digest of all that the snapshot is made from."""
        self.lake = lake
        self.prefix = f"snapshots/{snapshot}"
        self._receipts = f"{receipts}/{snapshot}"
        self._inputs = inputs
        self._frozen = self._manifest() if pointer.is_published(lake, snapshot) else None

    def _manifest(self) -> dict[str, File]:
        data, _ = self.lake.get(f"{self.prefix}/manifest.json")
        own = File("manifest.json", len(data), hashlib.sha256(data).hexdigest())
        return {file.path: file for file in [own, *(File(**f) for f in orjson.loads(data)["files"])]}

    def there(self, path: str) -> File | None:
        """The file, if it was written from these tables and lies there as it was written."""
        try:
            receipt = orjson.loads(self.lake.get(f"{self._receipts}/{path}.json")[0])
        except FileNotFoundError:
            return None
        if receipt["inputs"] != self._inputs or receipt["etag"] != self.lake.etag(f"{self.prefix}/{path}"):
            return None
        return File(**receipt["file"])

    def put(self, file: File, local: Path) -> File:
        """Upload a file and its receipt.

        Raises:
            UserError: the snapshot was published with another file of that name.
        """
        if self._frozen is not None and self._frozen.get(file.path) != file:
            raise UserError(
                f"{self.lake.uri(self.prefix)} is published and never changes, but {file.path} came out different: "
                f"other content needs another id (change the spec, or the package's version)"
            )
        if self._frozen is None:
            self.lake.upload(f"{self.prefix}/{file.path}", local)
        etag = self.lake.etag(f"{self.prefix}/{file.path}")
        receipt = {"inputs": self._inputs, "etag": etag, "file": file.as_json()}
        self.lake.put(f"{self._receipts}/{file.path}.json", orjson.dumps(receipt))
        return file

    def fragment_key(self, name: str) -> str:
        """Where a piece of a file that `finish` puts together is kept."""
        return f"{self._receipts}/_fragments/{self._inputs}/{name}.parquet"

    def put_fragment(self, name: str, table: pa.Table) -> None:
        """Keep a piece."""
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd")
        self.lake.put(self.fragment_key(name), sink.getvalue().to_pybytes())

    def fragment(self, name: str) -> pa.Table:
        """A piece kept by `put_fragment`."""
        return pq.read_table(pa.BufferReader(self.lake.get(self.fragment_key(name))[0]))
