"""A lake in an S3 bucket, and what S3's errors mean to a user."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from s2corpus.errors import TransientError, UserError
from s2corpus.storage.lake import ABSENT, Conflict, Entry, checked

if TYPE_CHECKING:
    import pyarrow.fs

_BAD_KEYS = frozenset({"403", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken"})
_PARTS_FROM = 8 << 20
"""Bytes from which a file is uploaded in parts, as boto3 does by default."""
_ALWAYS = {
    "get_object": ("ETag", "ContentLength"),
    "head_object": ("ETag", "ContentLength"),
    "put_object": ("ETag",),
}
"""What every whole answer has: http.client takes a head that breaks off for a whole one."""


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
        self._files: pyarrow.fs.FileSystem | None = None
        try:
            # not HEAD, whose answer cannot say whether keys, rights or the clock are wrong
            self._client.list_objects_v2(Bucket=self._bucket, Prefix=self._prefix, MaxKeys=1)
        except self._errors as error:
            if _code(error) != "AccessDenied":  # keys that may use a part of the lake may not list the whole
                raise _explained(self.root, error, opening=True) from None

    @property
    def _client(self) -> Any:
        if self._made is None:
            import boto3
            import botocore.session
            from botocore.config import Config

            # a session of our own: the default one keeps the first keys it saw, rotated or not
            session = botocore.session.get_session()
            session.register_component("data_loader", descriptions())
            self._made = boto3.session.Session(botocore_session=session).client(
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
        return {**self.__dict__, "_made": None, "_files": None}

    def _call(self, verb: str, key: str, **kwargs: Any) -> Any:
        try:
            answer = getattr(self._client, verb)(Bucket=self._bucket, Key=self._prefix + checked(key), **kwargs)
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

    def upload(self, key: str, path: Path, *, move: bool = False) -> None:
        """See `Lake.upload`."""
        if path.stat().st_size < _PARTS_FROM:  # one request; boto3's transfers start ten threads for each file
            self.put(key, path.read_bytes())
            return
        try:
            self._client.upload_file(str(path), self._bucket, self._prefix + checked(key))
        except self._errors as error:
            raise _explained(self.uri(key), error) from error

    def download(self, key: str, path: Path, *, link: bool = False) -> None:
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

    def check_file(self, key: str) -> None:
        """See `Lake.check_file`."""

    def filesystem(self) -> tuple[pyarrow.fs.FileSystem, str]:
        """See `Lake.filesystem`."""
        import pyarrow.fs

        if self._files is None:
            endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
            if endpoint:
                scheme, _, host = endpoint.partition("://")
                self._files = pyarrow.fs.S3FileSystem(
                    endpoint_override=host.rstrip("/"),
                    scheme=scheme,
                    region=os.environ.get("AWS_DEFAULT_REGION", "us-east-1"),
                    allow_bucket_creation=False,
                )
            else:
                self._files = pyarrow.fs.S3FileSystem()
        return self._files, f"{self._bucket}/{self._prefix}"


@cache
def descriptions() -> Any:
    """AWS' descriptions of S3, read once a process: each session of botocore's would read half a megabyte of its own."""
    import botocore.session

    loader = botocore.session.get_session().get_component("data_loader")
    for kind in ("service-2", "endpoint-rule-set-1", "paginators-1"):
        loader.load_service_model("s3", kind)
    loader.load_data("endpoints")
    return loader


def _code(error: Exception) -> str:
    """S3's word for an error; empty where S3 was not reached."""
    return str(getattr(error, "response", {}).get("Error", {}).get("Code", ""))


def _explained(uri: str, error: Exception, *, opening: bool = False) -> Exception:
    """What an S3 error means to a user: rights and names are the user's, the rest is transient."""
    code = _code(error)
    if code in _BAD_KEYS and not opening:
        return TransientError(
            f"{uri}: the AWS keys are refused ({code}) that opened the lake before: rotated? Another try reads them again"
        )
    if code in _BAD_KEYS or code in ("AccessDenied", "403"):  # HEAD has no words
        return UserError(f"{uri}: access refused ({code}): the AWS keys in the environment have no rights on it")
    if code in ("404", "NoSuchBucket"):
        return UserError(f"{uri}: no such bucket: create it, or name another lake with S2CORPUS_LAKE")
    if type(error).__name__ == "NoCredentialsError":
        return UserError(f"{uri}: no AWS keys given: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    return TransientError(f"{uri}: {error}")
