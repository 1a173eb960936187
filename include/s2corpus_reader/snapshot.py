"""A published snapshot: iterate over documents, look up papers, verify files."""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import orjson

from s2corpus_reader import identifiers
from s2corpus_reader.bounded import MAX_SMALL_BYTES, gzip_lines, read_object
from s2corpus_reader.errors import NotASnapshotFile, SnapshotError
from s2corpus_reader.files import (
    SnapshotFile,
    documents_path,
    file_number,
    keys_path,
    list_files,
    lookup_key,
    parquet_path,
    remove_piece,
    snapshot_format,
    table_path,
)
from s2corpus_reader.folder import Folder
from s2corpus_reader.parquet_rows import ParquetRows, Row, damaged_file, format_error, import_arrow, missing_file
from s2corpus_reader.rebuild import COLUMNS, PARAGRAPH_COLUMNS, SCORES, change_rules, read_rules, rebuild

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc

SETS, SPLITS = ("s2orc", "s2ag"), ("train", "valid")
SNAPSHOT_ID = re.compile(r"([a-z0-9_]+)-(\d{8}(?:T\d{6})?)-[0-9a-f]{8}", re.ASCII)
"""Pattern of the id of a snapshot: the spec, the day (with the time if it is not midnight), and a hash."""
MAX_FILES = 1000
"""The largest number of files of a set and split that a release can have."""
_CHUNK = 1 << 20


class Snapshot:
    """One snapshot. Look-ups read only footers, requested columns and row groups that may contain the id."""

    def __init__(self, folder: Folder) -> None:
        """Read the manifest of a snapshot's folder.

        Raises:
            SnapshotError: the folder does not contain a valid manifest.
        """
        self._folder, self._rows = folder, ParquetRows(folder)
        self.address = folder.root
        try:
            self.manifest: dict[str, Any] = read_object(folder, "manifest.json")
            self.format = snapshot_format(self.manifest)
            self.id = str(self.manifest["snapshot"])
            self.files: dict[str, SnapshotFile] = list_files(self.manifest)
            self._shards = self.manifest["rules"]["export.files"]
            if type(self._shards) is not int or not 1 <= self._shards <= MAX_FILES:
                raise ValueError(f"export.files is {str(self._shards)[:100]}; expected a number from 1 to {MAX_FILES}")
        except (ValueError, LookupError, TypeError) as error:
            raise SnapshotError(f"{folder.uri('manifest.json')} is damaged: {format_error(error)}") from None

    def texts(
        self, set: str | None = None, split: str | None = None, *, rules: Mapping[str, Any] | None = None
    ) -> Iterator[Row]:
        """Yield documents as `{"id", "sha1", "text"}` in the order of the files, optionally of one set or split.

        With `rules`, texts are built as by a spec with other values of `clean.min_log_prob`, `clean.formulas`,
        `clean.citations` or `clean.layout`.
        `rules={"clean.min_log_prob": -math.inf}` gives every removed section back. The documents remain the same.

        Raises:
            SnapshotError: the set, split or rule does not exist, a file is damaged, or the snapshot cannot be rebuilt.
        """
        if rules:
            yield from self._rebuild(set, split, rules)
            return
        for path in self._paths("v2/", set, split):
            try:
                with self._folder.open(path) as raw:
                    for line in gzip_lines(raw, self.files[path].content_bytes or 0, self.files[path].bytes):
                        yield _read_line(line)
            except FileNotFoundError:
                raise missing_file(self._folder, path) from None
            except (EOFError, MemoryError, ValueError, zlib.error, gzip.BadGzipFile) as error:
                raise damaged_file(self._folder, path, error) from None

    def verify(self) -> Iterator[str]:
        """Yield a message for each file that is missing or differs from the manifest in size or SHA-256."""
        for path, file in self.files.items():
            digest, size = hashlib.sha256(), 0
            try:
                with self._folder.open(path) as stream:
                    while size <= file.bytes and (chunk := stream.read(min(_CHUNK, file.bytes + 1 - size))):
                        digest.update(chunk)
                        size += len(chunk)
            except FileNotFoundError:
                yield f"{path}: missing"
                continue
            except NotASnapshotFile as error:
                yield f"{path}: {error}"
                continue
            if size > file.bytes:
                yield f"{path}: more bytes than the {file.bytes} that the manifest expects"
            elif size < file.bytes:
                yield f"{path}: {size} bytes; the manifest expects {file.bytes}"
            elif digest.hexdigest() != file.sha256:
                yield f"{path}: SHA-256 {digest.hexdigest()}; the manifest expects {file.sha256}"

    def documents(
        self,
        set: str | None = None,
        split: str | None = None,
        *,
        where: pc.Expression | None = None,
        columns: Sequence[str] | None = None,
        batch_size: int = 1024,
    ) -> Iterator[pa.RecordBatch]:
        """Yield documents as Arrow batches with all or the given columns of `documents/`; `where` filters by any column.

        >>> for batch in snapshot.documents("s2orc", "train", where=pc.field("license") == "CC-BY-4.0"): ...

        Raises:
            SnapshotError: the set or split does not exist, or pyarrow is not installed.
        """
        for path in self._paths("documents/", set, split):
            yield from self._rows.scan(path, where, columns, batch_size)

    def paper(
        self,
        id: str | None = None,
        *,
        doi: str | None = None,
        arxiv: str | None = None,
        pmid: str | None = None,
        pmcid: str | None = None,
        acl: str | None = None,
        sha1: str | None = None,
        title: str | None = None,
    ) -> Row | None:
        """Return the row of `tables/papers` of one paper, or None if the snapshot does not contain it.

        The paper is given by its id or former id, an identifier, the SHA-1 of the file that its text comes from, or its
        title. Identifiers may have any usual form. Titles are compared without case, accents and punctuation. If
        several papers have the title, the paper with the smallest id is returned.

        Raises:
            SnapshotError: not exactly one argument is given, its value is not an identifier of this kind, or pyarrow is not installed.
        """
        given = {
            name: value
            for name, value in (
                ("id", id), ("doi", doi), ("arxiv_id", arxiv), ("pubmed_id", pmid), ("pmc_id", pmcid), ("acl_id", acl),
                ("sha1", sha1), ("title", title),
            )
            if value is not None
        }  # fmt: skip
        if len(given) != 1:
            raise SnapshotError(f"give one of id, doi, arxiv, pmid, pmcid, acl, sha1, title; {len(given)} were given")
        name, value = next(iter(given.items()))
        paper_id = self._current_id(value) if name == "id" else self._find_id(name, identifiers.normalize(name, value))
        return (
            None
            if paper_id is None
            else self._rows.find_row(table_path("papers", self._number(paper_id)), "paper_id", paper_id)
        )

    def document(self, id: str) -> Row | None:
        """Return a paper's document with its text and signals, or None if the snapshot does not contain it."""
        id = self._current_id(id)
        for set_ in SETS:
            for split in SPLITS:
                parquet = parquet_path(documents_path(set_, split, self._number(id)))
                for path in self._pieces.get(parquet, ()):
                    if found := self._rows.find_row(path, "id", id):
                        return found
        return None

    def citations(self, id: str) -> pa.Table:
        """Return a paper's outgoing links in `graph/links`: the papers that its bibliography entries cite."""
        arrow = import_arrow("pyarrow")
        id = self._current_id(id)
        path = f"graph/links/{self._number(id):02d}.parquet"
        where = import_arrow("pyarrow.compute").field("paper_id") == id
        return arrow.Table.from_batches(self._rows.scan(path, where, None, 1024), self._rows.read_schema(path))

    def _rebuild(self, set_: str | None, split: str | None, rules: Mapping[str, Any]) -> Iterator[Row]:
        """Yield the documents with texts under other rules. Memory: the paragraphs of one paper."""
        own = read_rules(self.manifest["rules"])
        new = change_rules(own, rules)
        for path in self._paths("documents/", set_, split):
            if SCORES not in self._rows.read_schema(path).names:
                raise SnapshotError(f"{self._folder.uri(path)} has no {SCORES}: the snapshot is older than this")
            paragraphs: Iterator[tuple[str, Iterable[Row]]] | None = None
            current: str = ""
            rows: Iterable[Row] = ()
            for batch in self._rows.scan(path, None, COLUMNS, 64):
                for document in batch.to_pylist():
                    if document[SCORES] is not None:
                        if paragraphs is None:
                            paragraphs = self._group_paragraphs(path, document["id"])
                        while current < document["id"]:
                            current, rows = next(paragraphs, ("~", ()))
                        document["text"] = rebuild(document, rows if current == document["id"] else (), own, new)
                    yield {name: document[name] for name in ("id", "sha1", "text") if document[name] is not None}

    def _group_paragraphs(self, path: str, first: str) -> Iterator[tuple[str, Iterable[Row]]]:
        """Yield the paragraphs of the papers from `first` on in the file of `tables/paragraphs` that belongs to a file of documents."""
        number = int(PurePosixPath(path).stem.partition("-")[0])
        where = import_arrow("pyarrow.compute").field("paper_id") >= first
        batches = self._rows.scan(table_path("paragraphs", number), where, PARAGRAPH_COLUMNS, 256)
        rows = (row for batch in batches for row in batch.to_pylist())
        yield from groupby(rows, key=itemgetter("paper_id"))

    def _paths(self, top: str, set_: str | None, split: str | None) -> list[str]:
        """Return the paths below `v2/` or `documents/` of a set and split."""
        for given, allowed, name in ((set_, SETS, "set"), (split, SPLITS, "split")):
            if given is not None and given not in allowed:
                raise SnapshotError(f"{given!r} is not a {name}: give one of {', '.join(allowed)}")
        sets, splits = [set_] if set_ else SETS, [split] if split else SPLITS
        folders = tuple(f"{top}{name}/{part}/" for name in sets for part in splits)
        return [path for path in self.files if path.startswith(folders)]

    @cached_property
    def _pieces(self) -> dict[str, list[str]]:
        """Paths of Parquet files with documents, by their path without the piece number."""
        pieces: dict[str, list[str]] = {}
        for path in self.files:
            pieces.setdefault(remove_piece(path), []).append(path)
        return pieces

    def _number(self, paper_id: str) -> int:
        return file_number(paper_id, self._shards)

    def _current_id(self, paper_id: str) -> str:
        """Return the current id of a paper, given its current or a former id."""
        alias = self._rows.find_row("aliases.parquet", "alias", paper_id)
        return str(alias["paper_id"]) if alias else paper_id

    def _find_id(self, column: str, value: str) -> str | None:
        """Return the smallest id of the papers with this value."""
        key = lookup_key(column, value)
        path = keys_path(key % self._shards)
        return min((row["paper_id"] for row in self._rows.find_rows(path, "key", key)), default=None)


def open_snapshot(address: str, **options: Any) -> Snapshot:
    """Open a snapshot, or the latest snapshot of a spec, from the address of its folder.

    Raises:
        SnapshotError: the address contains no snapshot.
    """
    folder = Folder(address, **options)
    try:
        return Snapshot(folder)
    except FileNotFoundError:
        pass
    try:
        latest = read_object(folder, "latest.json", MAX_SMALL_BYTES)["snapshot"]
    except FileNotFoundError:
        raise SnapshotError(
            f"{address}: no manifest.json and no latest.json found: give the folder of a snapshot or of a spec"
        ) from None
    except (ValueError, LookupError, TypeError) as error:
        raise SnapshotError(f"{folder.uri('latest.json')} is damaged: {format_error(error)}") from None
    if latest is None:
        raise SnapshotError(f"{address}: all its snapshots were withdrawn")
    if not isinstance(latest, str) or not SNAPSHOT_ID.fullmatch(latest):
        raise SnapshotError(
            f"{folder.uri('latest.json')} is damaged: {str(latest)[:100]!r} is not the id of a snapshot"
        )
    return Snapshot(Folder(f"{folder.root.rpartition('/')[0]}/{latest}", **options))


def _read_line(line: bytes) -> Row:
    value = orjson.loads(line)
    if not isinstance(value, dict):
        raise ValueError("a line is not a JSON object")
    return value
