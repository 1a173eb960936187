"""Lake in an S3 bucket."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from s2corpus.errors import TransientError, UnreadableObject
from s2corpus.storage.objects import ABSENT, NO_SIZES, Conflict, ListedObject, check_key
from s2corpus.storage.s3_errors import BrokenAnswer, convert_s3_error, s3_code
from s2corpus.storage.s3_requests import S3Requests

if TYPE_CHECKING:
    import pyarrow.fs


_PARTS_FROM = 8 << 20
"""Minimum size of a multipart upload in bytes; the default of boto3."""


class S3Lake(S3Requests):
    """Lake in an S3 bucket."""

    def get(self, key: str) -> tuple[bytes, str]:
        """Implement `Lake.get`."""

        def read() -> tuple[bytes, str]:
            stream, etag = self._read(key)
            with stream:
                return stream.readall(), etag

        return self._retry(read)

    def read_range(self, key: str, start: int, size: int, etag: str) -> bytes:
        """Return `size` bytes of an object that has this ETag.

        Raises:
            TransientError: the object was replaced.
        """

        def read() -> bytes:
            try:
                answer = self._call("get_object", key, Range=f"bytes={start}-{start + size - 1}", IfMatch=etag)
            except Conflict:
                raise TransientError(
                    f"{self.uri(key)}: another process replaced the object while it was read"
                ) from None
            self._check_range(key, answer, start, size)
            with self._stream(key, answer, is_complete=False) as stream:
                return stream.readall()

        return self._retry(read)

    def read_tail(self, key: str, size: int) -> tuple[bytes, int, str]:
        """Return the last `size` bytes of an object, or all of its bytes, with its complete size and its ETag."""

        def read() -> tuple[bytes, int, str]:
            try:
                answer = self._call("get_object", key, Range=f"bytes=-{size}")
            except TransientError as error:
                if s3_code(error.__cause__ or error) != "InvalidRange":
                    raise
                return b"", 0, ABSENT  # An empty object has no range.
            total = int(answer.get("ContentRange", "").rpartition("/")[2] or answer["ContentLength"])
            start = max(0, total - size)
            if start or "ContentRange" in answer:  # A server may answer with a small object instead of its range.
                self._check_range(key, answer, start, total - start)
            with self._stream(key, answer, is_complete=start == 0) as stream:
                return stream.readall(), total, answer["ETag"]

        return self._retry(read)

    def head(self, key: str) -> Mapping[str, Any]:
        """Return size, ETag and time of an object; raise `FileNotFoundError` if it does not exist."""
        answer: Mapping[str, Any] = self._retry(lambda: self._call("head_object", key))
        return answer

    def put(self, key: str, data: bytes, *, expect: str | None = None) -> str:
        """Implement `Lake.put`.

        A conflict with an equal object is no conflict: S3 stored the object, but its answer was lost, and boto3 sent the request again.
        """
        condition = {} if expect is None else {"IfNoneMatch": "*"} if expect == ABSENT else {"IfMatch": expect}
        try:
            etag: str = self._retry(lambda: self._call("put_object", key, Body=data, **condition))["ETag"]
        except FileNotFoundError:  # If-Match for an object that was deleted
            raise Conflict(key) from None
        except Conflict:
            try:
                stored, etag = self.get(key)
            except (FileNotFoundError, UnreadableObject):
                raise Conflict(key) from None
            if stored != data:
                raise
        return etag

    def etag(self, key: str) -> str:
        """Implement `Lake.etag`."""
        try:
            return str(self.head(key)["ETag"])
        except FileNotFoundError:
            return ABSENT

    def size(self, key: str) -> int | None:
        """Implement `Lake.size`."""
        try:
            return int(self.head(key)["ContentLength"])
        except FileNotFoundError:
            return None

    def upload(self, key: str, path: Path, *, move: bool = False) -> None:
        """Implement `Lake.upload`."""
        if path.stat().st_size < _PARTS_FROM:  # One request; a transfer of boto3 starts ten threads for each file.
            self.put(key, path.read_bytes())
            return

        def send() -> None:
            try:
                self._client.upload_file(str(path), self._bucket, self._prefix + check_key(key))
            except KeyError as error:  # s3transfer reads the ETag of each part.
                raise BrokenAnswer(
                    f"{self.uri(key)}: an answer to the upload is incomplete or not from S3: {error} missing"
                ) from None
            except self._errors as error:
                cause = error.__context__ or error  # boto3 hides the error of S3.
                # S3 joined the parts, but its answer was lost; or a proxy lost a part.
                if s3_code(cause) in ("NoSuchUpload", "InvalidPart"):
                    why = f"an answer to the upload was lost, or is not from S3 ({cause}): check the proxy"
                    raise BrokenAnswer(f"{self.uri(key)}: {why}") from None
                raise convert_s3_error(self.uri(key), cause) from error
            sent, stored = path.stat().st_size, self.size(key)
            if sent != stored:  # boto3 ignores the answer to the request that joins the parts.
                raise BrokenAnswer(
                    f"{self.uri(key)}: {stored} of {sent} bytes are stored after an upload: a proxy may answer instead of S3; "
                    "check AWS_ENDPOINT_URL and the proxy"
                )

        self._retry(send)

    def download(self, key: str, path: Path) -> None:
        """Implement `Lake.download`."""

        def read() -> None:
            with self._read(key)[0] as stream, path.open("wb") as file:
                shutil.copyfileobj(stream, file, 1 << 20)

        self._retry(read)

    def open(self, key: str) -> BinaryIO:
        """Implement `Lake.open`."""
        return cast(BinaryIO, self._retry(lambda: self._read(key))[0])

    def open_ranges(self, key: str) -> BinaryIO:
        """Implement `Lake.open_ranges`."""
        return cast(BinaryIO, self.filesystem()[0].open_input_file(key))

    def list(self, prefix: str) -> Iterator[ListedObject]:
        """Implement `Lake.list`."""
        for page in self._pages(prefix):
            for item in page.get("Contents", ()):
                yield ListedObject(item["Key"].removeprefix(self._prefix), item["Size"])

    def folders(self, prefix: str) -> Sequence[str]:
        """Implement `Lake.folders`."""
        items = (item for page in self._pages(prefix, Delimiter="/") for item in page.get("CommonPrefixes", ()))
        return sorted(item["Prefix"].removeprefix(self._prefix + prefix).rstrip("/") for item in items)

    def delete(self, key: str) -> None:
        """Implement `Lake.delete`."""
        self._retry(lambda: self._call("delete_object", key))

    def check_file(self, key: str) -> None:
        """Implement `Lake.check_file`."""

    def filesystem(self, sizes: Mapping[str, int] = NO_SIZES) -> tuple[pyarrow.fs.FileSystem, str]:
        """Implement `Lake.filesystem`."""
        from s2corpus.storage.s3_objects import arrow_files

        return arrow_files(self, sizes), ""
