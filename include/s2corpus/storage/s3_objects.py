"""Read objects of S3, the only code that reads the bodies of its answers.

A body is complete if it has the announced length and the checksum: that of S3, which boto3 compares, and the MD5 in the ETag. A body
that was cut or replaced, such as by the login page of a proxy, raises `BrokenAnswer`.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import pyarrow as pa
from pyarrow.fs import FileInfo, FileType, FSSpecHandler, PyFileSystem

from s2corpus.storage.objects import check_size
from s2corpus.storage.s3_errors import BrokenAnswer
from s2corpus_reader.folder import open_ranges

_BLOCK = 1 << 20
_SMALL_BYTES = 1 << 19
"""Maximum size of an object that is read in one request, with its checksum, for random access."""


class ObjectStream(io.RawIOBase):
    """The body of an answer. The last block is given out only after the length and the checksum were compared."""

    def __init__(
        self, answer: Mapping[str, Any], uri: str, md5: str | None, convert: Callable[[Exception], Exception]
    ) -> None:
        self._body, self._uri, self._md5, self._convert = answer["Body"], uri, md5, convert
        self._size = int(answer["ContentLength"])
        self._received = 0
        self._digest = hashlib.md5(usedforsecurity=False)

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read at most `size` bytes, or all.

        Raises:
            BrokenAnswer: the body is cut, or differs from its checksum.
        """
        if size < 0:
            return self.readall()
        try:
            block: bytes = self._body.read(min(size, self._size - self._received + 1))
            if block and self._received + len(block) == self._size:
                self._body.read(1)  # At the end, boto3 compares the checksum of S3.
        except Exception as error:
            raise self._convert(error) from error
        self._received += len(block)
        if self._md5:
            self._digest.update(block)
        if size and not block and self._received != self._size:
            raise BrokenAnswer(f"{self._uri}: the answer of S3 was cut: {self._received} of {self._size} bytes arrived")
        if block and self._received == self._size and self._md5 not in (None, self._digest.hexdigest()):
            raise BrokenAnswer(
                f"{self._uri}: the {self._size} bytes of the answer do not have the MD5 {self._md5} of the ETag: "
                "a proxy replaced the answer, or AWS_ENDPOINT_URL names a server whose ETags are no MD5"
            )
        return block

    def readall(self) -> bytes:
        """Read all bytes. Raises as `read`."""
        blocks = []
        while block := self.read(_BLOCK):
            blocks.append(block)
        return b"".join(blocks)

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer. Raises as `read`."""
        block = self.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        """Close the connection unless the body was read to its end."""
        self._body.close()
        super().close()


def find_md5(answer: Mapping[str, Any]) -> str | None:
    """Return the MD5 in the ETag of a complete object; None if the ETag is none.

    The ETag is an MD5 if the object was sent in one part and no key of the customer or of KMS encrypts it
    (https://docs.aws.amazon.com/AmazonS3/latest/API/API_Object.html).
    """
    etag = str(answer["ETag"]).strip('"')
    is_plain = answer.get("ServerSideEncryption", "AES256") == "AES256" and "SSECustomerAlgorithm" not in answer
    return etag if is_plain and re.fullmatch("[0-9a-f]{32}", etag) else None


class RangeReader(Protocol):
    """The requests that random access needs (`S3Lake`)."""

    def head(self, key: str) -> Mapping[str, Any]:
        """Return size, ETag and time of an object."""

    def uri(self, key: str) -> str:
        """Return the address of the object."""

    def read_tail(self, key: str, size: int) -> tuple[bytes, int, str]:
        """Return the last `size` bytes of an object, or all of its bytes, with its complete size and its ETag."""

    def read_range(self, key: str, start: int, size: int, etag: str) -> bytes:
        """Return a range of an object that still has this ETag."""


class _ArrowFiles(FSSpecHandler):  # type: ignore[misc]
    """Files of Arrow that read objects through the lake. Only reading is implemented.

    Opening a file is one request, which gives its size and its end: a small object, or the footer of a Parquet file. The last file is
    cached, because Arrow opens a file twice to read its footer and its rows.
    """

    def __init__(self, lake: RangeReader, sizes: Mapping[str, int]) -> None:
        self._lake, self._sizes = lake, sizes
        self._last: tuple[str, bytes, int, str] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ArrowFiles) and (other._lake, other._sizes) == (self._lake, self._sizes)

    def get_type_name(self) -> str:
        return "s2corpus"

    def normalize_path(self, path: str) -> str:
        return path

    def get_file_info(self, paths: list[str]) -> list[FileInfo]:
        found = []
        for path in paths:
            try:
                facts = self._lake.head(path)
            except FileNotFoundError:
                found.append(FileInfo(path, FileType.NotFound))
            else:
                found.append(
                    FileInfo(path, FileType.File, size=facts["ContentLength"], mtime=facts.get("LastModified"))
                )
        return found

    def open_input_file(self, path: str) -> pa.PythonFile:
        if self._last is None or self._last[0] != path:
            self._last = (path, *self._open(path))
        _, tail, size, etag = self._last
        if len(tail) == size:
            return pa.PythonFile(io.BytesIO(tail), mode="r")

        def read(start: int, length: int) -> bytes:
            if (begin := start - size + len(tail)) >= 0:  # The opening request gave the end.
                return tail[begin : begin + length]
            return self._lake.read_range(path, start, length, etag)  # It refuses a changed object.

        return pa.PythonFile(open_ranges(size, read), mode="r")

    open_input_stream = open_input_file

    def _open(self, path: str) -> tuple[bytes, int, str]:
        try:
            opened = self._lake.read_tail(path, _SMALL_BYTES)
        except FileNotFoundError:
            check_size(self._lake.uri(path), self._sizes.get(path), None)
            raise
        check_size(self._lake.uri(path), self._sizes.get(path), opened[1])
        return opened


def arrow_files(lake: RangeReader, sizes: Mapping[str, int]) -> PyFileSystem:
    """Return the lake as a file system of Arrow that raises the errors of the lake, and `DamagedPart` for files of other sizes."""
    return PyFileSystem(_ArrowFiles(lake, sizes))
