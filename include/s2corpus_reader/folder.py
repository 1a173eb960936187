"""Access to the folder of a snapshot: local, in S3 (`s3://`), or on a web server (`https://`)."""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Protocol
from urllib.parse import unquote

import obstore
from obstore.exceptions import BaseError, NotFoundError, PermissionDeniedError, UnauthenticatedError
from obstore.store import HTTPStore, S3Store

from s2corpus_reader.errors import NotASnapshotFile, SnapshotError, UnreachableError, describe

_CHUNK = 1 << 20
_KEY = re.compile(r"(?!\.\.?(/|$))[^/\\\0]+(/(?!\.\.?(/|$))[^/\\\0]+)*")


class Files(Protocol):
    """An object that opens files of a snapshot by path."""

    @property
    def root(self) -> str:
        """The address of the snapshot."""

    def open(self, key: str) -> BinaryIO:
        """Open a file for reading from its start; raise `FileNotFoundError` if it does not exist."""


class Folder:
    """A read-only folder of files."""

    def __init__(self, address: str, **options: Any) -> None:
        """Open the folder. `options` are the arguments of `s2corpus_reader.open`."""
        self.root = address.rstrip("/")
        self._store = _open_store(self.root, options)

    def open(self, key: str) -> BinaryIO:
        """Open a file for reading from its start; raise `FileNotFoundError` if it does not exist."""
        if isinstance(self._store, Path):
            return self._local(self._store, key).open("rb")
        with _translate_errors(self.root, key):
            result = obstore.get(self._store, _checked(self.root, key))
        return io.BufferedReader(_Stream(self._stream_chunks(key, result)), _CHUNK)

    def open_ranges(self, key: str) -> BinaryIO:
        """Open a file for random access: each read is one request."""
        if isinstance(self._store, Path):
            return self.open(key)
        with _translate_errors(self.root, key):
            size = int(obstore.head(self._store, _checked(self.root, key))["size"])
        return open_ranges(size, partial(self.read_range, key))

    def read_range(self, key: str, start: int, length: int) -> bytes:
        """Return some bytes of a file on a server."""
        with _translate_errors(self.root, key):
            return bytes(obstore.get_range(self._store, _checked(self.root, key), start=start, length=length))

    def _stream_chunks(self, key: str, result: obstore.GetResult) -> Iterator[bytes]:
        with _translate_errors(self.root, key):
            for chunk in result.stream(min_chunk_size=_CHUNK):
                yield bytes(chunk)

    def _local(self, folder: Path, key: str) -> Path:
        """Return the path of a regular file in a folder; a FIFO would block, and a device would never end."""
        path = folder / _checked(self.root, key)
        try:
            mode = path.stat().st_mode
        except NotADirectoryError:
            raise FileNotFoundError(str(path)) from None
        except OSError as error:
            if isinstance(error, FileNotFoundError):
                raise FileNotFoundError(str(path)) from None
            raise SnapshotError(f"{path} cannot be read: {describe(error)}") from None
        if not stat.S_ISREG(mode):
            raise NotASnapshotFile(f"{path}: not a regular file: remove it, or put the file there")
        if not path.resolve().is_relative_to(folder.resolve()):
            raise NotASnapshotFile(f"{path}: a link that leads out of {folder}: put the file itself there")
        return path

    def uri(self, key: str) -> str:
        """Return the address of a file."""
        return f"{self.root}/{key}"


class _Stream(io.RawIOBase):
    """A stream over the chunks of a file."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._remaining = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._remaining:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._remaining = memoryview(chunk)
        count = min(len(buffer), len(self._remaining))
        buffer[:count], self._remaining = self._remaining[:count], self._remaining[count:]
        return count


def open_ranges(size: int, read_range: Callable[[int, int], bytes]) -> BinaryIO:
    """Return a file with random access. Each read requests one range: start and length."""
    return _RandomAccess(size, read_range)  # type: ignore[return-value]


class _RandomAccess(io.RawIOBase):
    def __init__(self, size: int, read_range: Callable[[int, int], bytes]) -> None:
        self._size, self._read_range, self._at = size, read_range, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = max(0, self._size - self._at)
        size = left if size < 0 else min(size, left)
        data = self._read_range(self._at, size) if size else b""
        self._at += len(data)
        return data

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _checked(root: str, key: str) -> str:
    """Return a file's path below the folder; raise `NotASnapshotFile` if it leads out of it."""
    if not _KEY.fullmatch(key):
        raise NotASnapshotFile(f"{root}: {key[:300]!r} is not the path of a file in this folder")
    return key


def _open_store(address: str, options: dict[str, Any]) -> Any:
    scheme, separator, rest = address.partition("://")
    try:
        if not separator or scheme == "file":
            folder = Path(unquote(rest, errors="surrogateescape") if separator else address).absolute()
            if not folder.is_dir():
                raise SnapshotError(f"{address}: no such folder: give the folder of a snapshot or of a spec")
            return folder
        if scheme in ("http", "https"):
            return HTTPStore.from_url(address, client_options={"allow_http": scheme == "http"})
        if scheme == "s3":
            return _open_s3(address, **options)
    except BaseError as error:
        raise SnapshotError(f"{address}: {describe(error)}") from None
    raise SnapshotError(f"{address!r} is not an address: give a folder, s3://bucket/…, https://…, or file://…")


def _open_s3(
    address: str,
    *,
    endpoint: str | None = None,
    access_key_id: str | None = None,
    secret_access_key: str | None = None,
    region: str | None = None,
    anonymous: bool = False,
) -> S3Store:
    """Return the store of a bucket. Defaults come from the environment, as in all AWS tools."""
    environ = os.environ
    endpoint = endpoint or environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL")
    config: dict[str, Any] = {
        "region": region or environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    }
    if endpoint:
        config["endpoint"] = endpoint.rstrip("/")
    if anonymous:
        config["skip_signature"] = True
    given = {"access_key_id": access_key_id, "secret_access_key": secret_access_key}
    config |= {name: value for name, value in given.items() if value is not None}
    provider = None
    if not anonymous and access_key_id is None and "AWS_ACCESS_KEY_ID" not in environ:
        provider = _find_profile_keys(config["region"])
    options = {"allow_http": bool(endpoint and endpoint.startswith("http://"))}
    return S3Store.from_url(address, client_options=options, credential_provider=provider, **config)  # type: ignore[arg-type]


def _find_profile_keys(region: str) -> Any:
    """Return a provider of the AWS profile's keys, or None if boto3 is missing or finds no keys."""
    try:
        import boto3
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ModuleNotFoundError:
        return None
    session = boto3.session.Session(region_name=region)
    return Boto3CredentialProvider(session) if session.get_credentials() else None


@contextmanager
def _translate_errors(root: str, key: str) -> Iterator[None]:
    try:
        yield
    except (NotFoundError, FileNotFoundError):
        raise FileNotFoundError(f"{root}/{key}") from None
    except (PermissionDeniedError, UnauthenticatedError) as error:
        raise SnapshotError(
            f"{root}/{key}: access denied ({describe(error)}): "
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to keys with read access"
        ) from None
    except BaseError as error:
        raise UnreachableError(f"{root}/{key}: {describe(error)}") from None
