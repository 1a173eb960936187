"""Objects of the lake, on S3 or in a local folder, behind the same few verbs.

Keys are relative (`releases/x/papers/part-00000.parquet`). A conditional write is how two writers never overwrite each other:
`put(key, data, expect=ABSENT)` or `expect=<etag read before>` raises `Conflict` where somebody else was first.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol

from s2corpus.errors import TransientError, UserError

if TYPE_CHECKING:
    import pyarrow.fs

_BAD_KEYS = frozenset({"403", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken"})
_ALWAYS = {
    "get_object": ("ETag", "ContentLength"),
    "head_object": ("ETag", "ContentLength"),
    "put_object": ("ETag",),
}
"""What every whole answer has: http.client takes a head that breaks off for a whole one."""

ABSENT: Final = ""
"""Etag of an object that is not there: `expect=ABSENT` writes only what nobody wrote."""


class Conflict(Exception):
    """A conditional write came second: the object is not what the writer had read."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An object as a listing shows it."""

    key: str
    bytes: int


class Lake(Protocol):
    """What a lake can do. Keys never start with `/` and hold no `..`."""

    root: str

    def get(self, key: str) -> tuple[bytes, str]:
        """The object's bytes and its etag; `FileNotFoundError` where there is none."""

    def put(self, key: str, data: bytes, *, expect: str | None = None) -> str:
        """Write an object whole and return its etag; with `expect` only over that etag, else `Conflict`."""

    def etag(self, key: str) -> str:
        """The object's etag, `ABSENT` where there is none."""

    def size(self, key: str) -> int | None:
        """The object's size in bytes, None where there is none."""

    def upload(self, key: str, path: Path) -> None:
        """Write a local file's bytes to an object, whole or not at all."""

    def download(self, key: str, path: Path) -> None:
        """Write an object's bytes to a local file."""

    def open(self, key: str) -> BinaryIO:
        """The object as a stream of bytes; `FileNotFoundError` where there is none."""

    def list(self, prefix: str) -> Iterator[Entry]:
        """The objects whose keys start with `prefix`, in key order."""

    def folders(self, prefix: str) -> Sequence[str]:
        """Names of the folders directly under `prefix` (which ends in `/`), sorted."""

    def delete(self, key: str) -> None:
        """Remove an object; nothing happens where there is none."""

    def uri(self, key: str) -> str:
        """The object's address outside of the lake, `s3://…` or a path."""

    def filesystem(self) -> tuple[pyarrow.fs.FileSystem, str]:
        """The lake as an Arrow file system, and the prefix that its keys have there."""


def open_lake(uri: str) -> Lake:
    """The lake at `s3://bucket[/prefix]`, `file:///path` or a path.

    Raises:
        UserError: no such bucket, no rights on it, or not an address of a lake.
    """
    if uri.startswith("s3://"):
        return S3Lake(uri)
    if "://" in uri and not uri.startswith("file://"):
        raise UserError(f"{uri!r} is not a lake: expected s3://bucket[/prefix], file:///folder or a path")
    return LocalLake(Path(uri.removeprefix("file://")))


def lake_uri() -> str:
    """The lake that the environment names.

    Raises:
        UserError: S2CORPUS_LAKE is not set.
    """
    if not (uri := os.environ.get("S2CORPUS_LAKE")):
        raise UserError("no lake given: set S2CORPUS_LAKE to s3://bucket[/prefix] or a folder")
    return uri


def _checked(key: str) -> str:
    if not key or key.startswith("/") or ".." in key.split("/") or "\0" in key:
        raise ValueError(f"{key!r} is not a key of the lake")
    return key


class LocalLake:
    """A lake in a folder: for one machine and for tests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self.root = self._folder.as_uri()

    def _path(self, key: str) -> Path:
        return self._folder / _checked(key)

    def get(self, key: str) -> tuple[bytes, str]:
        """See `Lake.get`."""
        data = self._path(key).read_bytes()
        return data, hashlib.sha256(data).hexdigest()

    def put(self, key: str, data: bytes, *, expect: str | None = None) -> str:
        """See `Lake.put`."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._beside(path) as file:
            file.write(data)
            file.flush()
            if expect is None:
                Path(file.name).replace(path)
            else:
                with self._locked():
                    if self.etag(key) != expect:
                        raise Conflict(key)
                    Path(file.name).replace(path)
        return hashlib.sha256(data).hexdigest()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def etag(self, key: str) -> str:
        """See `Lake.etag`."""
        try:
            return self.get(key)[1]
        except FileNotFoundError:
            return ABSENT

    def size(self, key: str) -> int | None:
        """See `Lake.size`."""
        try:
            return self._path(key).stat().st_size
        except FileNotFoundError:
            return None

    def upload(self, key: str, path: Path) -> None:
        """See `Lake.upload`."""
        target = self._path(key)
        target.parent.mkdir(parents=True, exist_ok=True)
        with path.open("rb") as source, self._beside(target) as file:
            shutil.copyfileobj(source, file)
            file.flush()
            Path(file.name).replace(target)

    @contextmanager
    def _beside(self, path: Path) -> Iterator[Any]:
        """A file to write to in the folder of `path`; whoever writes it renames it, else nothing of it is left."""
        file = tempfile.NamedTemporaryFile(dir=path.parent, prefix=".put-", delete=False)  # noqa: SIM115
        try:
            with file:
                yield file
        finally:
            Path(file.name).unlink(missing_ok=True)

    def download(self, key: str, path: Path) -> None:
        """See `Lake.download`."""
        shutil.copyfile(self._path(key), path)

    def open(self, key: str) -> BinaryIO:
        """See `Lake.open`."""
        return self._path(key).open("rb")

    def list(self, prefix: str) -> Iterator[Entry]:
        """See `Lake.list`."""
        base = self._folder / prefix.rpartition("/")[0]
        found = []
        for folder, _, names in os.walk(base):
            for name in names:
                key = (Path(folder) / name).relative_to(self._folder).as_posix()
                if key.startswith(prefix) and not name.startswith((".put-", ".lock")):
                    found.append(Entry(key, (Path(folder) / name).stat().st_size))
        yield from sorted(found, key=lambda entry: entry.key)

    def folders(self, prefix: str) -> Sequence[str]:
        """See `Lake.folders`."""
        base = self._folder / prefix
        return sorted(p.name for p in base.iterdir() if p.is_dir()) if base.is_dir() else []

    def delete(self, key: str) -> None:
        """See `Lake.delete`."""
        self._path(key).unlink(missing_ok=True)

    def uri(self, key: str) -> str:
        """See `Lake.uri`."""
        return str(self._path(key))

    def filesystem(self) -> tuple[pyarrow.fs.FileSystem, str]:
        """See `Lake.filesystem`."""
        import pyarrow.fs

        return pyarrow.fs.LocalFileSystem(), f"{self._folder}/"


class S3Lake:
    """A lake in an S3 bucket. Endpoint, region and keys come from the environment as every AWS tool reads them."""

    def __init__(self, uri: str) -> None:
        match = re.fullmatch(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*?))?/?", uri)
        if match is None:
            raise UserError(f"{uri!r} is not an S3 address: expected s3://bucket or s3://bucket/prefix")
        self._bucket = match[1]
        self._prefix = f"{match[2]}/" if match[2] else ""
        self.root = f"s3://{self._bucket}/{self._prefix}".rstrip("/")
        self._made: Any = None
        try:
            # not HEAD, whose answer cannot say whether keys, rights or the clock are wrong
            self._client.list_objects_v2(Bucket=self._bucket, Prefix=self._prefix, MaxKeys=1)
        except self._errors as error:
            raise _explained(self.root, error, opening=True) from None

    @property
    def _client(self) -> Any:
        if self._made is None:
            import boto3
            from botocore.config import Config

            # a session of our own: the default one keeps the first keys it saw, rotated or not
            self._made = boto3.session.Session().client(
                "s3",
                config=Config(
                    retries={"mode": "standard", "max_attempts": 8},
                    connect_timeout=10,
                    read_timeout=60,
                    max_pool_connections=32,  # as many threads as verify files of several drops at a time
                ),
            )
        return self._made

    @property
    def _errors(self) -> tuple[type[Exception], ...]:
        from boto3.exceptions import S3UploadFailedError
        from botocore.exceptions import BotoCoreError, ClientError

        return (ClientError, BotoCoreError, S3UploadFailedError)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": None}

    def _call(self, verb: str, key: str, **kwargs: Any) -> Any:
        try:
            answer = getattr(self._client, verb)(Bucket=self._bucket, Key=self._prefix + _checked(key), **kwargs)
        except self._errors as error:
            code = _code(error)
            if code in ("NoSuchKey", "404", "NotFound"):
                raise FileNotFoundError(self.uri(key)) from None
            if code in ("PreconditionFailed", "ConditionalRequestConflict", "412", "409"):
                raise Conflict(key) from None
            raise _explained(self.uri(key), error) from error
        if missing := [name for name in _ALWAYS.get(verb, ()) if name not in answer]:
            raise TransientError(f"{self.uri(key)}: S3's answer broke off: it has no {' and no '.join(missing)}")
        return answer

    def get(self, key: str) -> tuple[bytes, str]:
        """See `Lake.get`."""
        answer = self._call("get_object", key)
        return answer["Body"].read(), answer["ETag"]

    def put(self, key: str, data: bytes, *, expect: str | None = None) -> str:
        """See `Lake.put`."""
        condition = {} if expect is None else {"IfNoneMatch": "*"} if expect == ABSENT else {"IfMatch": expect}
        try:
            etag: str = self._call("put_object", key, Body=data, **condition)["ETag"]
        except FileNotFoundError:  # If-Match on what was deleted meanwhile
            raise Conflict(key) from None
        return etag

    def etag(self, key: str) -> str:
        """See `Lake.etag`."""
        try:
            etag: str = self._call("head_object", key)["ETag"]
        except FileNotFoundError:
            return ABSENT
        return etag

    def size(self, key: str) -> int | None:
        """See `Lake.size`."""
        try:
            return int(self._call("head_object", key)["ContentLength"])
        except FileNotFoundError:
            return None

    def upload(self, key: str, path: Path) -> None:
        """See `Lake.upload`."""
        try:
            self._client.upload_file(str(path), self._bucket, self._prefix + _checked(key))
        except self._errors as error:
            raise _explained(self.uri(key), error) from error

    def download(self, key: str, path: Path) -> None:
        """See `Lake.download`."""
        body = self._call("get_object", key)["Body"]
        with path.open("wb") as file:
            shutil.copyfileobj(body, file, 1 << 20)

    def open(self, key: str) -> BinaryIO:
        """See `Lake.open`."""
        body: BinaryIO = self._call("get_object", key)["Body"]
        return body

    def list(self, prefix: str) -> Iterator[Entry]:
        """See `Lake.list`."""
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=self._prefix + prefix
        )
        try:
            for page in pages:
                for item in page.get("Contents", ()):
                    yield Entry(item["Key"].removeprefix(self._prefix), item["Size"])
        except self._errors as error:
            raise _explained(self.uri(prefix), error) from error

    def folders(self, prefix: str) -> Sequence[str]:
        """See `Lake.folders`."""
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=self._prefix + prefix, Delimiter="/"
        )
        try:
            return sorted(
                item["Prefix"].removeprefix(self._prefix + prefix).rstrip("/")
                for page in pages
                for item in page.get("CommonPrefixes", ())
            )
        except self._errors as error:
            raise _explained(self.uri(prefix), error) from error

    def delete(self, key: str) -> None:
        """See `Lake.delete`."""
        self._call("delete_object", key)

    def uri(self, key: str) -> str:
        """See `Lake.uri`."""
        return f"{self.root}/{key}"

    def filesystem(self) -> tuple[pyarrow.fs.FileSystem, str]:
        """See `Lake.filesystem`."""
        import pyarrow.fs

        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        if endpoint:
            scheme, _, host = endpoint.partition("://")
            fs = pyarrow.fs.S3FileSystem(
                endpoint_override=host.rstrip("/"),
                scheme=scheme,
                region=os.environ.get("AWS_DEFAULT_REGION", "us-east-1"),
                allow_bucket_creation=False,
            )
        else:
            fs = pyarrow.fs.S3FileSystem()
        return fs, f"{self._bucket}/{self._prefix}"


def _code(error: Exception) -> str:
    """S3's word for an error; empty where S3 was not reached."""
    return str(getattr(error, "response", {}).get("Error", {}).get("Code", ""))


def _explained(uri: str, error: Exception, *, opening: bool = False) -> Exception:
    """What an S3 error means to whom it reaches: rights and names are the user's, the rest may pass."""
    code = _code(error)
    if code in _BAD_KEYS and not opening:
        return TransientError(
            f"{uri}: the AWS keys are refused ({code}) that opened the lake before: rotated? Another try reads them anew"
        )
    if code in _BAD_KEYS or code == "AccessDenied":
        return UserError(f"{uri}: access refused ({code}): the AWS keys in the environment have no rights on it")
    if code in ("404", "NoSuchBucket"):
        return UserError(f"{uri}: no such bucket: create it, or name another lake with S2CORPUS_LAKE")
    if type(error).__name__ == "NoCredentialsError":
        return UserError(f"{uri}: no AWS keys given: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    return TransientError(f"{uri}: {error}")
