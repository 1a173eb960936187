"""Lake in an S3 bucket, with readable messages for errors of S3."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from s2corpus.errors import TransientError, UserError
from s2corpus.storage.lake import ABSENT, Conflict, ListedObject, check_key

if TYPE_CHECKING:
    import pyarrow.fs

_BAD_KEYS = frozenset({"403", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken"})
_PARTS_FROM = 8 << 20
"""Minimum size of a multipart upload in bytes; the default of boto3."""
_REQUIRED_FIELDS = {
    "get_object": ("ETag", "ContentLength"),
    "head_object": ("ETag", "ContentLength"),
    "put_object": ("ETag",),
}
"""Fields of every complete response: http.client accepts a truncated header as complete."""


class S3Lake:
    """Lake in an S3 bucket. Endpoint, region and keys come from the standard AWS environment variables."""

    def __init__(self, uri: str) -> None:
        match = re.fullmatch(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*?))?/?", uri)
        if match is None:
            raise UserError(f"{uri!r} is not an S3 address: expected s3://bucket or s3://bucket/prefix")
        self._bucket = match[1]
        self._prefix = f"{match[2]}/" if match[2] else ""
        self.root = f"s3://{self._bucket}/{self._prefix}".rstrip("/")
        try:
            # A response to HEAD would not show whether keys, rights or the clock are wrong.
            self._client.list_objects_v2(Bucket=self._bucket, Prefix=self._prefix, MaxKeys=1)
        except self._errors as error:
            if _code(error) != "AccessDenied":  # Keys with access to only a part of the lake cannot list the root.
                raise _convert_error(self.root, error, opening=True) from None

    @cached_property
    def _client(self) -> Any:
        import boto3
        import botocore.session
        from botocore.config import Config

        # A separate session: the default session caches the first keys, even after a rotation.
        session = botocore.session.get_session()
        session.register_component("data_loader", load_s3_model())
        config = Config(
            retries={"mode": "standard", "max_attempts": 8},
            connect_timeout=10,
            read_timeout=60,
            max_pool_connections=32,  # the number of threads that verify files of several drops
        )
        return boto3.session.Session(botocore_session=session).client("s3", config=config)

    @property
    def _errors(self) -> tuple[type[Exception], ...]:
        from boto3.exceptions import S3UploadFailedError
        from botocore.exceptions import BotoCoreError, ClientError

        return (ClientError, BotoCoreError, S3UploadFailedError)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_client", "_arrow_files")}

    def _call(self, verb: str, key: str, **kwargs: Any) -> Any:
        try:
            answer = getattr(self._client, verb)(Bucket=self._bucket, Key=self._prefix + check_key(key), **kwargs)
        except self._errors as error:
            code = _code(error)
            if code in ("NoSuchKey", "404", "NotFound"):
                raise FileNotFoundError(self.uri(key)) from None
            if code in ("PreconditionFailed", "ConditionalRequestConflict", "412", "409"):
                raise Conflict(key) from None
            raise _convert_error(self.uri(key), error) from error
        if missing := [name for name in _REQUIRED_FIELDS.get(verb, ()) if name not in answer]:
            raise TransientError(f"{self.uri(key)}: incomplete response from S3: {' and '.join(missing)} missing")
        return answer

    def get(self, key: str) -> tuple[bytes, str]:
        """Implement `Lake.get`."""
        answer = self._call("get_object", key)
        return answer["Body"].read(), answer["ETag"]

    def put(self, key: str, data: bytes, *, expect: str | None = None) -> str:
        """Implement `Lake.put`."""
        condition = {} if expect is None else {"IfNoneMatch": "*"} if expect == ABSENT else {"IfMatch": expect}
        try:
            etag: str = self._call("put_object", key, Body=data, **condition)["ETag"]
        except FileNotFoundError:  # If-Match for an object that was deleted
            raise Conflict(key) from None
        return etag

    def etag(self, key: str) -> str:
        """Implement `Lake.etag`."""
        try:
            etag: str = self._call("head_object", key)["ETag"]
        except FileNotFoundError:
            return ABSENT
        return etag

    def size(self, key: str) -> int | None:
        """Implement `Lake.size`."""
        try:
            return int(self._call("head_object", key)["ContentLength"])
        except FileNotFoundError:
            return None

    def upload(self, key: str, path: Path, *, move: bool = False) -> None:
        """Implement `Lake.upload`."""
        if path.stat().st_size < _PARTS_FROM:  # One request; a transfer of boto3 starts ten threads for each file.
            self.put(key, path.read_bytes())
            return
        try:
            self._client.upload_file(str(path), self._bucket, self._prefix + check_key(key))
        except self._errors as error:
            raise _convert_error(self.uri(key), error) from error

    def download(self, key: str, path: Path, *, link: bool = False) -> None:
        """Implement `Lake.download`."""
        body = self._call("get_object", key)["Body"]
        with path.open("wb") as file:
            shutil.copyfileobj(body, file)

    def open(self, key: str) -> BinaryIO:
        """Implement `Lake.open`."""
        body: BinaryIO = self._call("get_object", key)["Body"]
        return body

    def list(self, prefix: str) -> Iterator[ListedObject]:
        """Implement `Lake.list`."""
        for page in self._pages(prefix):
            for item in page.get("Contents", ()):
                yield ListedObject(item["Key"].removeprefix(self._prefix), item["Size"])

    def folders(self, prefix: str) -> Sequence[str]:
        """Implement `Lake.folders`."""
        items = (item for page in self._pages(prefix, Delimiter="/") for item in page.get("CommonPrefixes", ()))
        return sorted(item["Prefix"].removeprefix(self._prefix + prefix).rstrip("/") for item in items)

    def _pages(self, prefix: str, **options: str) -> Iterator[dict[str, Any]]:
        """Yield the pages of a listing."""
        paginator = self._client.get_paginator("list_objects_v2")
        try:
            yield from paginator.paginate(Bucket=self._bucket, Prefix=self._prefix + prefix, **options)
        except self._errors as error:
            raise _convert_error(self.uri(prefix), error) from error

    def delete(self, key: str) -> None:
        """Implement `Lake.delete`."""
        self._call("delete_object", key)

    def uri(self, key: str) -> str:
        """Implement `Lake.uri`."""
        return f"{self.root}/{key}"

    def check_file(self, key: str) -> None:
        """Implement `Lake.check_file`."""

    def filesystem(self) -> tuple[pyarrow.fs.FileSystem, str]:
        """Implement `Lake.filesystem`."""
        return self._arrow_files, f"{self._bucket}/{self._prefix}"

    @cached_property
    def _arrow_files(self) -> pyarrow.fs.FileSystem:
        import pyarrow.fs

        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        if not endpoint:
            return pyarrow.fs.S3FileSystem()
        scheme, _, host = endpoint.partition("://")
        return pyarrow.fs.S3FileSystem(
            endpoint_override=host.rstrip("/"),
            scheme=scheme,
            region=os.environ.get("AWS_DEFAULT_REGION", "us-east-1"),
            allow_bucket_creation=False,
        )


@cache
def load_s3_model() -> Any:
    """Return the loader of botocore's descriptions of S3, cached per process: each session would load half a megabyte."""
    import botocore.session

    loader = botocore.session.get_session().get_component("data_loader")
    for kind in ("service-2", "endpoint-rule-set-1", "paginators-1"):
        loader.load_service_model("s3", kind)
    loader.load_data("endpoints")
    return loader


def _code(error: Exception) -> str:
    """Return the error code of S3; empty if S3 did not respond."""
    return str(getattr(error, "response", {}).get("Error", {}).get("Code", ""))


def _convert_error(uri: str, error: Exception, *, opening: bool = False) -> Exception:
    """Return a UserError for wrong keys, rights and names, and a TransientError for all other errors of S3."""
    code = _code(error)
    if code in _BAD_KEYS and not opening:
        return TransientError(
            f"{uri}: S3 refuses the AWS keys that it accepted before ({code}): they may have been rotated; the next try reads them again"
        )
    if code in _BAD_KEYS or code in ("AccessDenied", "403"):  # a response to HEAD has no message
        return UserError(f"{uri}: access refused ({code}): the AWS keys in the environment have no rights on it")
    if code in ("404", "NoSuchBucket"):
        return UserError(f"{uri}: no such bucket: create it, or name another lake with S2CORPUS_LAKE")
    if type(error).__name__ == "NoCredentialsError":
        return UserError(f"{uri}: no AWS keys given: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    return TransientError(f"{uri}: {error}")
