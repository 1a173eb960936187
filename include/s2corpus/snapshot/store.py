"""A snapshot's files in the lake: written once, known by their receipts, never changed once published."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.errors import UserError
from s2corpus.snapshot import pointer
from s2corpus.storage.lake import Lake
from s2corpus.storage.progress import count
from s2corpus_reader.files import File

_AT_ONCE = 8
"""Requests to the lake at a time."""


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

    def there(self, paths: Iterable[str]) -> dict[str, File]:
        """Those of the paths that were written from these tables and lie there as they were written."""
        known = {entry.key for entry in self.lake.list(f"{self._receipts}/")}
        asked = [path for path in paths if self._receipt_key(path) in known]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return {file.path: file for file in pool.map(self._there, asked) if file is not None}

    def _receipt_key(self, path: str) -> str:
        return f"{self._receipts}/{path}.json"

    def _there(self, path: str) -> File | None:
        receipt = orjson.loads(self.lake.get(self._receipt_key(path))[0])
        if receipt["inputs"] != self._inputs or receipt["etag"] != self.lake.etag(f"{self.prefix}/{path}"):
            return None
        return File(**receipt["file"])

    def put(self, files: Iterable[tuple[File, Path]]) -> None:
        """Upload local files, each with its receipt; one that lies there already is not written again.

        Raises:
            UserError: the snapshot was published with another file of that name.
        """
        given = list(files)
        there = self.there(file.path for file, _ in given)
        new = [(file, local) for file, local in given if there.get(file.path) != file]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(self._put, new))
        count("files", len(new))

    def _put(self, given: tuple[File, Path]) -> None:
        file, local = given
        if self._frozen is not None and self._frozen.get(file.path) != file:
            raise UserError(
                f"{self.lake.uri(self.prefix)} is published and never changes, but {file.path} came out different: "
                f"other content needs another id (change the spec, or the package's version)"
            )
        self.lake.upload(f"{self.prefix}/{file.path}", local)
        etag = self.lake.etag(f"{self.prefix}/{file.path}")
        receipt = {"inputs": self._inputs, "etag": etag, "file": file.as_json()}
        self.lake.put(self._receipt_key(file.path), orjson.dumps(receipt))

    def _fragment_key(self, name: str) -> str:
        return f"{self._receipts}/_fragments/{self._inputs}/{name}.parquet"

    def has_fragments(self, names: Iterable[str]) -> bool:
        """Whether all these pieces of a file that the end of the export puts together are kept."""
        known = {entry.key for entry in self.lake.list(f"{self._receipts}/_fragments/{self._inputs}/")}
        return known.issuperset(map(self._fragment_key, names))

    def put_fragments(self, fragments: Mapping[str, Path]) -> None:
        """Keep pieces, Parquet files, by name."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(self._put_fragment, fragments.items()))

    def _put_fragment(self, named: tuple[str, Path]) -> None:
        self.lake.upload(self._fragment_key(named[0]), named[1])
        named[1].unlink()

    def fragment(self, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """A piece that was kept, a row group after the other."""
        fs, root = self.lake.filesystem()
        with fs.open_input_file(root + self._fragment_key(name)) as source:
            file = pq.ParquetFile(source)
            for number in range(file.num_row_groups):
                yield file.read_row_group(number, None if columns is None else list(columns))
