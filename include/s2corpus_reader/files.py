"""File names of a snapshot, canonical JSON lines, and gzip output that depends only on its content."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Self

import deflate
import orjson

from s2corpus_reader.bounded import can_have_rows, can_inflate_to
from s2corpus_reader.errors import SnapshotError

LEVEL = 4
"""Compression level of libdeflate: files are 4 % larger than with gzip's best level, at six times the speed."""
MEMBER_BYTES = 1 << 20
"""Uncompressed size at which a gzip member ends, after a complete line. It limits the memory per file."""


SNAPSHOT_FORMAT = 3
"""Format of the snapshots that this version writes. Readers accept it and all earlier formats (docs/compatibility.md)."""
_FORMAT = re.compile(r"s2corpus-snapshot-([1-9]\d{0,3})", re.ASCII)
_PATH = re.compile(r"[A-Za-z0-9_][\w.-]*(/[A-Za-z0-9_][\w.-]*)*", re.ASCII)
_MAX_PATH = 300
"""Maximum length; the release page accepts no longer paths."""


@dataclass(frozen=True, slots=True)
class SnapshotFile:
    """One file of a snapshot as the manifest lists it.

    Raises:
        ValueError: the path could lead out of the snapshot, or a number or checksum has another form.
    """

    path: str
    bytes: int
    sha256: str
    rows: int | None = None
    """number of lines or rows; None for text files"""
    content_bytes: int | None = None
    """size of the uncompressed content; None if the file is not a gzip file"""
    content_sha256: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.path, str) or len(self.path) > _MAX_PATH or not _PATH.fullmatch(self.path):
            raise ValueError(f"{str(self.path)[:_MAX_PATH]!r} is not the path of a file")
        sizes = (self.bytes, self.rows, self.content_bytes)
        if any(size is not None and (type(size) is not int or not 0 <= size < 1 << 63) for size in sizes):
            raise ValueError(f"{self.path} has sizes {sizes}")
        if self.bytes is None or not isinstance(self.sha256, str):
            raise ValueError(f"{self.path} has no size or no checksum")
        if self.content_bytes is not None and not can_inflate_to(self.bytes, self.content_bytes):
            raise ValueError(f"{self.path} has {self.content_bytes:,} bytes of content in {self.bytes:,} bytes")
        if self.path.endswith(".parquet") and not can_have_rows(self.bytes, self.rows or 0):
            raise ValueError(f"{self.path} has {self.rows:,} rows in {self.bytes:,} bytes")

    def as_json(self) -> dict[str, Any]:
        """Return the fields that apply to the file."""
        return {key: value for key, value in asdict(self).items() if value is not None}


def snapshot_format(manifest: Mapping[str, Any]) -> int:
    """Return the format number of a snapshot's manifest; a manifest without one has format 1.

    Raises:
        SnapshotError: the format is later than `SNAPSHOT_FORMAT`.
        ValueError: the format is malformed.
    """
    given = manifest.get("format", "s2corpus-snapshot-1")
    match = _FORMAT.fullmatch(given) if isinstance(given, str) else None
    if match is None:
        raise ValueError(f"its format is {str(given)[:100]!r}; expected s2corpus-snapshot-1 to {SNAPSHOT_FORMAT}")
    if (number := int(match[1])) > SNAPSHOT_FORMAT:
        raise SnapshotError(
            f"a snapshot of {given}; this version reads up to {SNAPSHOT_FORMAT}: install a later version"
        )
    return number


def list_files(manifest: Mapping[str, Any]) -> dict[str, SnapshotFile]:
    """Return the files of a manifest by path, before any of them is opened or written.

    Raises:
        ValueError: a path is invalid, repeated, `manifest.json`, or both a file and a folder.
    """
    files: dict[str, SnapshotFile] = {}
    for value in manifest["files"]:
        file = SnapshotFile(**value)
        if file.path in files or file.path == "manifest.json":
            raise ValueError(f"the manifest lists {file.path} {'twice' if file.path in files else 'itself'}")
        files[file.path] = file
    paths = {"manifest.json", *files}
    for path in files:
        if folder := next((str(p) for p in PurePosixPath(path).parents if str(p) in paths), None):
            raise ValueError(f"the manifest lists {folder} as a file and as a folder")
    return files


def file_number(paper_id: str, files: int) -> int:
    """Return the number of the file that contains a paper.

    The number is the first 8 bytes of SHA-1(paper_id), big-endian, modulo the number of files.
    """
    return int.from_bytes(hashlib.sha1(paper_id.encode(), usedforsecurity=False).digest()[:8], "big") % files


def documents_path(set_: str, split: str, number: int, piece: int | None = None) -> str:
    """Return the path of a document file: `v2/<set>/<split>/<nn>.jsonl.gz`.

    With `export.shard_bytes` of version 1.0.0, the name is `<nn>-<piece>.jsonl.gz`. Pieces start at 0 and have six digits, so that names
    sort.
    """
    return f"v2/{set_}/{split}/{number:02d}{'' if piece is None else f'-{piece:06d}'}.jsonl.gz"


def table_path(table: str, number: int) -> str:
    """Return the path of a file of a table, for example of `papers`: `tables/<table>/<nn>.parquet`."""
    return f"tables/{table}/{number:02d}.parquet"


def keys_path(number: int) -> str:
    """Return the path of a file that maps identifiers to papers: `keys/<nn>.parquet`."""
    return f"keys/{number:02d}.parquet"


def lookup_key(kind: str, value: str) -> int:
    """Return the 63-bit look-up key of an identifier or a normalized title, computed with SHA-256.

    `kind` is `doi`, `arxiv_id`, `pubmed_id`, `pmc_id`, `acl_id`, `sha1` or `title`.
    """
    return int.from_bytes(hashlib.sha256(f"{kind}:{value}".encode()).digest()[:8], "big") >> 1


def parquet_path(path: str) -> str:
    """Return the path of the Parquet file with the documents of `v2/<set>/<split>/<nn>.jsonl.gz`.

    It is `documents/<set>/<split>/<nn>.parquet`.
    """
    return f"documents/{path.removeprefix('v2/').removesuffix('.jsonl.gz')}.parquet"


_PIECE = re.compile(r"-\d{6}(?=\.jsonl\.gz$|\.parquet$)")


def remove_piece(path: str) -> str:
    """Return the path of a document file without its piece number."""
    return _PIECE.sub("", path)


def corpus_path(folder: str, number: int) -> str:
    """Return the path `corpus/<folder>/<folder>_<n>.jsonl.gz`.

    S2ORC 20200705 names its files in this way, for example `metadata_0.jsonl.gz`.
    """
    return f"corpus/{folder}/{folder}_{number}.jsonl.gz"


def json_line(value: Any) -> bytes:
    """Serialize a value to canonical JSON (UTF-8, no spaces, keys in the given order) and a newline."""
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def document_line(paper_id: str, sha1: str | None, text: str) -> bytes:
    """Serialize a document to a line with `id`, `sha1` and `text` (S2 V2 card: Format).

    Only documents of `s2orc` have `sha1`, the hash of the file that the text comes from.
    """
    return json_line({"id": paper_id, "sha1": sha1, "text": text} if sha1 else {"id": paper_id, "text": text})


class GzipLines:
    """Writes lines to a gzip file and computes the count and checksums for the manifest.

    The file is a sequence of gzip members without name and time. libdeflate compresses each member in one call. Equal
    lines therefore give equal bytes on every machine. A file without lines has one empty member.
    """

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = path.open("wb")
        self._buffer = bytearray()
        self._content = hashlib.sha256()
        self._compressed = hashlib.sha256()
        self.rows = self.bytes = self.content_bytes = 0

    def write(self, line: bytes) -> None:
        """Append one line, including its newline."""
        self._buffer += line
        self.rows += 1
        if len(self._buffer) >= MEMBER_BYTES:
            self._end_member()

    def _end_member(self) -> None:
        member = deflate.gzip_compress(self._buffer, LEVEL)
        self._content.update(self._buffer)
        self._compressed.update(member)
        self._file.write(member)
        self.content_bytes += len(self._buffer)
        self.bytes += len(member)
        self._buffer.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write the remaining lines and close the file."""
        if self._buffer or not self.bytes:
            self._end_member()
        self._file.close()

    def describe(self, path: str) -> SnapshotFile:
        """Return the manifest's description of the closed file."""
        return SnapshotFile(
            path, self.bytes, self._compressed.hexdigest(), self.rows, self.content_bytes, self._content.hexdigest()
        )


def describe_file(path: str, local: Path, rows: int | None = None) -> SnapshotFile:
    """Return the manifest's description of a finished local file."""
    with local.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return SnapshotFile(path, local.stat().st_size, sha256, rows)
