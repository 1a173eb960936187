"""Store the files of a snapshot in the lake. Receipts identify written files; published files never change."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from s2corpus.errors import UserError
from s2corpus.snapshot import pointer
from s2corpus.storage.lake import Lake
from s2corpus.storage.part import count
from s2corpus_reader.files import SnapshotFile

_THREADS = 8
"""Number of concurrent requests to the lake."""
_SMALL_BYTES = 8 << 20
"""Below this size, a file is stored with one request, whose answer has its ETag."""


class Store:
    """The files of a snapshot in the lake. A receipt records the content and the input tables of each file."""

    def __init__(self, lake: Lake, snapshot: str, receipts: str, inputs: str) -> None:
        """Open the store. `receipts` is the folder of the receipts, `inputs` a digest of all inputs of the snapshot."""
        self.lake = lake
        self.prefix = f"snapshots/{snapshot}"
        self._receipts = f"{receipts}/{snapshot}"
        self._inputs = inputs
        self._published_sha256 = pointer.published_manifest_sha256(lake, snapshot)
        self._published_files = self._manifest() if self._published_sha256 else None

    def _manifest(self) -> dict[str, SnapshotFile] | None:
        """Return the files of the published manifest, or None if the manifest is lost or damaged: a rebuild restores it."""
        try:
            data, _ = self.lake.get(f"{self.prefix}/manifest.json")
        except FileNotFoundError:
            return None
        own = SnapshotFile("manifest.json", len(data), hashlib.sha256(data).hexdigest())
        if own.sha256 != self._published_sha256:
            return None
        return {file.path: file for file in [own, *(SnapshotFile(**f) for f in orjson.loads(data)["files"])]}

    def find_unchanged(self, paths: Iterable[str]) -> dict[str, SnapshotFile]:
        """Return the files at the given paths that were written from the same inputs and are unchanged."""
        receipts = {entry.key for entry in self.lake.list(f"{self._receipts}/")}
        candidates = [path for path in paths if self._receipt_key(path) in receipts]
        with ThreadPoolExecutor(_THREADS) as pool:
            return {file.path: file for file in pool.map(self._read_receipt, candidates) if file is not None}

    def _receipt_key(self, path: str) -> str:
        return f"{self._receipts}/{path}.json"

    def _read_receipt(self, path: str) -> SnapshotFile | None:
        """Return the file at a path; return None if the file is outdated or was changed."""
        receipt = orjson.loads(self.lake.get(self._receipt_key(path))[0])
        if receipt["inputs"] != self._inputs or receipt["etag"] != self.lake.etag(f"{self.prefix}/{path}"):
            return None
        return SnapshotFile(**receipt["file"])

    def put(self, files: Iterable[tuple[SnapshotFile, Path]]) -> None:
        """Upload local files with their receipts, except files that are already stored; delete the local files.

        Raises:
            UserError: the snapshot is published, and a file differs from the published one.
        """
        given = list(files)
        stored = self.find_unchanged(file.path for file, _ in given)
        new = [(file, local) for file, local in given if stored.get(file.path) != file]
        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(self._put, new))
        for _, local in given:
            local.unlink()
        count("files", len(new))

    def _put(self, given: tuple[SnapshotFile, Path]) -> None:
        file, local = given
        is_other_manifest = (
            file.path == "manifest.json"
            and self._published_sha256 is not None
            and file.sha256 != self._published_sha256
        )
        is_other_file = self._published_files is not None and self._published_files.get(file.path) != file
        if is_other_file or is_other_manifest:
            raise UserError(
                f"{self.lake.uri(self.prefix)} is published and cannot change, but {file.path} differs: "
                f"different content needs another id (change the spec or the package version)"
            )
        key = f"{self.prefix}/{file.path}"
        if file.bytes < _SMALL_BYTES:
            etag = self.lake.put(key, local.read_bytes())
        else:
            self.lake.upload(key, local)
            etag = self.lake.etag(key)
        receipt = {"inputs": self._inputs, "etag": etag, "file": file.as_json()}
        self.lake.put(self._receipt_key(file.path), orjson.dumps(receipt))

    def _fragment_key(self, name: str) -> str:
        return f"{self._receipts}/_fragments/{self._inputs}/{name}.parquet"

    def has_fragments(self, names: Iterable[str]) -> bool:
        """Return whether all the named fragments exist. The end of the export joins fragments into one file."""
        existing = {entry.key for entry in self.lake.list(f"{self._receipts}/_fragments/{self._inputs}/")}
        return existing.issuperset(map(self._fragment_key, names))

    def put_fragments(self, fragments: Mapping[str, Path]) -> None:
        """Upload fragments (local Parquet files) by name, and delete the local files."""
        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(self.lake.upload, map(self._fragment_key, fragments), fragments.values()))
        for local in fragments.values():
            local.unlink()

    def read_fragment(self, name: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the row groups of a fragment."""
        yield from self._row_groups(self._fragment_key(name), columns)

    def read_row(self, path: str, number: int) -> dict[str, Any]:
        """Return one row (from 0) of a Parquet file of the snapshot. Memory: one row group."""
        for group in self._row_groups(f"{self.prefix}/{path}"):
            if number < group.num_rows:
                row: dict[str, Any] = group.slice(number, 1).to_pylist()[0]
                return row
            number -= group.num_rows
        raise ValueError(f"{path} has fewer rows than the index states")

    def read_rows(
        self, path: str, where: pc.Expression | None = None, columns: Sequence[str] | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows of a Parquet file of the snapshot that satisfy a condition. Memory: one row group."""
        for group in self._row_groups(f"{self.prefix}/{path}", columns):
            yield from (group if where is None else group.filter(where)).to_pylist()

    def _row_groups(self, key: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        fs, root = self.lake.filesystem()
        with fs.open_input_file(root + key) as source:
            file = pq.ParquetFile(source)
            for number in range(file.num_row_groups):
                yield file.read_row_group(number, None if columns is None else list(columns))
