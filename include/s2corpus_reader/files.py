"""The files of a snapshot: their names, canonical JSON lines, and gzip whose bytes depend on the content only."""

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

LEVEL = 4
"""libdeflate's level: its files are 4 % larger than gzip's best, at six times the speed (devtools/bench/export.py)."""
MEMBER_BYTES = 1 << 20
"""Uncompressed size from which a gzip member ends, at the end of a line: what is held in memory a file."""


_PATH = re.compile(r"[A-Za-z0-9_][\w.-]*(/[A-Za-z0-9_][\w.-]*)*", re.ASCII)
_MAX_PATH = 300
"""characters; the release page takes no longer paths"""


@dataclass(frozen=True, slots=True)
class File:
    """One file of a snapshot as the manifest lists it.

    Raises:
        ValueError: the path could lead out of the snapshot, or a number or checksum has another form.
    """

    path: str
    bytes: int
    sha256: str
    rows: int | None = None
    """lines or rows; null for prose"""
    content_bytes: int | None = None
    """size of the uncompressed content; null where the file is not compressed as a whole"""
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
        """The file without what does not apply to it."""
        return {key: value for key, value in asdict(self).items() if value is not None}


def list_files(manifest: Mapping[str, Any]) -> dict[str, File]:
    """Return the files of a manifest by path, before any of them is opened or written.

    Raises:
        ValueError: a path is not one of a file, is listed twice, is the manifest's own, or is the folder of another one.
    """
    files: dict[str, File] = {}
    for value in manifest["files"]:
        file = File(**value)
        if file.path in files or file.path == "manifest.json":
            raise ValueError(f"the manifest lists {file.path} {'twice' if file.path in files else 'itself'}")
        files[file.path] = file
    for path in files:
        if folder := next((str(p) for p in PurePosixPath(path).parents if str(p) in files), None):
            raise ValueError(f"the manifest lists {folder} as a file and as a folder")
    if "manifest.json" in {path.partition("/")[0] for path in files}:
        raise ValueError("the manifest lists its own name as a folder")
    return files


def number(paper_id: str, files: int) -> int:
    """The file of a paper: first 8 bytes of SHA-1(paper_id), big-endian, modulo the number of files."""
    return int.from_bytes(hashlib.sha1(paper_id.encode(), usedforsecurity=False).digest()[:8], "big") % files


def documents_path(set_: str, split: str, number: int, piece: int | None = None) -> str:
    """`v2/<set>/<split>/<nn>.jsonl.gz`; with `export.shard_bytes` `<nn>-<piece>.jsonl.gz`, pieces from 0 in six digits: names sort."""
    return f"v2/{set_}/{split}/{number:02d}{'' if piece is None else f'-{piece:06d}'}.jsonl.gz"


def papers_path(number: int) -> str:
    """`tables/papers/<nn>.parquet`: the metadata of the papers of one number."""
    return f"tables/papers/{number:02d}.parquet"


def keys_path(number: int) -> str:
    """`keys/<nn>.parquet`: which paper an identifier is of."""
    return f"keys/{number:02d}.parquet"


def key(kind: str, value: str) -> int:
    """Return the key of `doi`, `arxiv_id`, `pubmed_id`, `pmc_id`, `acl_id`, `sha1` or `title` (normalized): 63 bits of SHA-256."""
    return int.from_bytes(hashlib.sha256(f"{kind}:{value}".encode()).digest()[:8], "big") >> 1


def parquet_copy(path: str) -> str:
    """`documents/<set>/<split>/<nn>.parquet`: the Parquet file with the documents of `v2/<set>/<split>/<nn>.jsonl.gz`."""
    return f"documents/{path.removeprefix('v2/').removesuffix('.jsonl.gz')}.parquet"


_PIECE = re.compile(r"-\d{6}(?=\.jsonl\.gz$|\.parquet$)")


def whole(path: str) -> str:
    """The name that a file of documents would have without pieces."""
    return _PIECE.sub("", path)


def corpus_path(folder: str, number: int) -> str:
    """`corpus/<folder>/<folder>_<n>.jsonl.gz`, named as S2ORC 20200705 names its files: `metadata_0.jsonl.gz`."""
    return f"corpus/{folder}/{folder}_{number}.jsonl.gz"


def json_line(value: Any) -> bytes:
    """Canonical JSON (UTF-8, no spaces, keys in the order given) and a newline."""
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def document_line(paper_id: str, sha1: str | None, text: str) -> bytes:
    """A document's line: `id`, `sha1` (of s2orc: of the file the text is from), `text` (S2 V2 card: Format)."""
    return json_line({"id": paper_id, "sha1": sha1, "text": text} if sha1 else {"id": paper_id, "text": text})


class GzipLines:
    """Writes lines to a gzip file and keeps the count and checksums that the manifest lists.

    A file is a chain of gzip members, each compressed whole by libdeflate, with no name or time in it: equal lines give equal
    bytes on every machine. A file without lines has one empty member.
    """

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = path.open("wb")
        self._buffer = bytearray()
        self._content = hashlib.sha256()
        self._compressed = hashlib.sha256()
        self.rows = self.bytes = self.content_bytes = 0

    def write(self, line: bytes) -> None:
        """Append one line, its newline included."""
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
        """End the file."""
        if self._buffer or not self.bytes:
            self._end_member()
        self._file.close()

    def listed(self, path: str) -> File:
        """The closed file as `path` in the manifest."""
        return File(
            path, self.bytes, self._compressed.hexdigest(), self.rows, self.content_bytes, self._content.hexdigest()
        )


def listed(path: str, local: Path, rows: int | None = None) -> File:
    """A finished local file as `path` in the manifest."""
    with local.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return File(path, local.stat().st_size, sha256, rows)
