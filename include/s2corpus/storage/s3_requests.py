"""Requests to an S3 bucket, each with its complete and verified answer, and readable messages for errors of S3."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property, partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

from s2corpus.errors import TransientError, UserError
from s2corpus.storage.objects import Conflict, check_key
from s2corpus.storage.s3_errors import BrokenAnswer, convert_s3_error, s3_code

if TYPE_CHECKING:
    from s2corpus.storage.s3_objects import ObjectStream

_TRIES = 4
"""Number of requests before an answer that is cut or not from S3 is an error; boto3 repeats only requests without an answer."""
_REQUIRED_FIELDS = {
    "get_object": ("ETag", "ContentLength"),
    "head_object": ("ETag", "ContentLength"),
    "put_object": ("ETag",),
    "list_objects_v2": ("IsTruncated",),
}
"""Fields of every complete response. A truncated header, or a page of a proxy, has none of them."""
_STATUS = {"delete_object": 204}
_ETAG = re.compile(r'"?[0-9a-f]{32}(-\d+)?"?')
"""ETags of S3; those of web servers are shorter"""
Result = TypeVar("Result")

_OPTIONS = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token", "endpoint_url", "region_name")


class S3Requests:
    """The requests to a bucket; keys are below its prefix.

    Endpoint, region and keys come from the variables S2CORPUS_S3_<argument of boto3's client>, as in S2CORPUS_S3_ENDPOINT_URL. Where
    they are not set, the standard AWS environment variables and boto3's other sources apply.
    """

    def __init__(self, uri: str) -> None:
        match = re.fullmatch(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(.*?))?/?", uri)
        if match is None:
            raise UserError(f"{uri!r} is not an S3 address: expected s3://bucket or s3://bucket/prefix")
        self._bucket = match[1]
        self._prefix = f"{match[2]}/" if match[2] else ""
        self.root = f"s3://{self._bucket}/{self._prefix}".rstrip("/")
        try:
            # A response to HEAD would not show whether keys, rights or the clock are wrong.
            self._retry(lambda: self._read_page("", MaxKeys=1))
        except (UserError, TransientError) as error:
            cause = error.__cause__
            if cause is None:
                raise
            if s3_code(cause) != "AccessDenied":  # Keys with access to only a part of the lake cannot list the root.
                raise convert_s3_error(self.root, cause, opening=True) from None

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
        options: dict[str, Any] = {name: os.environ.get(f"S2CORPUS_S3_{name.upper()}") for name in _OPTIONS}
        try:
            client = boto3.session.Session(botocore_session=session).client("s3", config=config, **options)
        except ValueError as error:
            raise UserError(
                f"{self.root}: {error}: correct AWS_DEFAULT_REGION, and AWS_ENDPOINT_URL (http(s)://host:port, or empty)"
            ) from None
        # After a redirect without a region, boto3 requests the bucket to learn it, which a proxy redirects too, without end.
        client.meta.events.register("before-call.s3.HeadBucket", _answer_no_region)
        return client

    @property
    def _errors(self) -> tuple[type[Exception], ...]:
        from boto3.exceptions import S3UploadFailedError
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError

        return (ClientError, BotoCoreError, ResponseParserError, S3UploadFailedError)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_client"}

    def _call(self, verb: str, key: str, **kwargs: Any) -> Any:
        """Send one request and return its complete answer."""
        try:
            answer = getattr(self._client, verb)(Bucket=self._bucket, Key=self._prefix + check_key(key), **kwargs)
        except self._errors as error:
            if verb == "head_object":
                error = self._find_cause(key, error)
            if isinstance(error, BrokenAnswer):
                raise error from None
            code = s3_code(error)
            if code in ("NoSuchKey", "404", "NotFound"):
                raise FileNotFoundError(self.uri(key)) from None
            is_conflict = code in ("PreconditionFailed", "ConditionalRequestConflict", "412", "409")
            if is_conflict and kwargs.keys() & {"IfMatch", "IfNoneMatch"}:
                raise Conflict(key) from None
            raise convert_s3_error(self.uri(key), error, is_read=verb in ("get_object", "head_object")) from error
        self._check_answer(verb, self.uri(key), answer)
        return answer

    def _find_cause(self, key: str, error: Exception) -> Exception:
        """Return the error of a GET instead of that of a HEAD, which does not contain the cause."""
        if not re.fullmatch("4(?!04|12)..", s3_code(error)):
            return error
        try:
            self._client.get_object(Bucket=self._bucket, Key=self._prefix + key, Range="bytes=0-0")["Body"].close()
        except self._errors as cause:
            if s3_code(cause) != "InvalidRange":  # The object is empty.
                return cause
        headers = getattr(error, "response", {}).get("ResponseMetadata", {}).get("HTTPHeaders", {})
        if not headers.get("content-type", "").startswith("text/html"):
            return error
        why = f"HEAD fails with {s3_code(error)}, GET does not: a proxy may answer instead"
        return BrokenAnswer(f"{self.uri(key)}: the answer is not from S3: {why}; check AWS_ENDPOINT_URL and the proxy")

    @staticmethod
    def _check_answer(verb: str, uri: str, answer: Mapping[str, Any]) -> None:
        """Raise BrokenAnswer for an answer that is not one of S3."""
        missing = [name for name in _REQUIRED_FIELDS.get(verb, ()) if name not in answer]
        status, headers = (answer["ResponseMetadata"][name] for name in ("HTTPStatusCode", "HTTPHeaders"))
        # An object may be a page, but then its ETag is that of S3.
        is_page = headers.get("content-type", "").startswith("text/html") and not _ETAG.fullmatch(
            answer.get("ETag", "")
        )
        if missing or is_page or status != _STATUS.get(verb, status):
            what = "a page in HTML" if is_page else f"{' and '.join(missing) or 'nothing'} missing"
            raise BrokenAnswer(
                f"{uri}: the answer is cut or not from S3 (HTTP {status}, {what}): "
                "a proxy may answer instead; check AWS_ENDPOINT_URL and the proxy"
            )

    def _retry(self, step: Callable[[], Result]) -> Result:
        """Repeat a step after an answer that is cut or not from S3."""
        for attempt in range(_TRIES - 1):
            try:
                return step()
            except BrokenAnswer:
                time.sleep(0.5 * 2**attempt)
        return step()

    def _read(self, key: str) -> tuple[ObjectStream, str]:
        """Request an object; return its verified stream and its ETag."""
        answer = self._call("get_object", key)
        return self._stream(key, answer, is_complete=True), answer["ETag"]

    def _stream(self, key: str, answer: Mapping[str, Any], *, is_complete: bool) -> ObjectStream:
        """Return the body of an answer as a verified stream. Only a complete object has a checksum."""
        from s2corpus.storage.s3_objects import ObjectStream, find_md5

        has_md5 = is_complete and not self._bucket.endswith("--x-s3")  # ETags of directory buckets are no MD5.
        md5 = find_md5(answer) if has_md5 else None
        return ObjectStream(answer, self.uri(key), md5, lambda error: self._convert_body_error(key, error))

    def _convert_body_error(self, key: str, error: Exception) -> Exception:
        from urllib3.exceptions import HTTPError

        if isinstance(error, (*self._errors, HTTPError, OSError)):
            return BrokenAnswer(f"{self.uri(key)}: the answer of S3 was cut: {error}")
        return error

    def _check_range(self, key: str, answer: Mapping[str, Any], start: int, size: int) -> None:
        """Raise BrokenAnswer if the answer is not this range."""
        found = answer.get("ContentRange", "").partition("/")[0], answer["ContentLength"]
        if found != (f"bytes {start}-{start + size - 1}", size):
            answer["Body"].close()
            raise BrokenAnswer(
                f"{self.uri(key)}: the answer is not the requested range: a proxy may answer instead of S3"
            )

    def _pages(self, prefix: str, **options: str) -> Iterator[dict[str, Any]]:
        """Yield the pages of a listing."""
        token: dict[str, str] = {}
        while True:
            page = self._retry(partial(self._read_page, prefix, **options, **token))
            yield page
            if not page["IsTruncated"]:
                return
            token = {"ContinuationToken": page["NextContinuationToken"]}

    def _read_page(self, prefix: str, **options: Any) -> dict[str, Any]:
        try:
            page: dict[str, Any] = self._client.list_objects_v2(
                Bucket=self._bucket, Prefix=self._prefix + prefix, **options
            )
        except self._errors as error:
            raise convert_s3_error(self.uri(prefix), error) from error
        self._check_answer("list_objects_v2", self.uri(prefix), page)
        is_complete = all("Key" in item and "Size" in item for item in page.get("Contents", ()))
        if not is_complete or (page["IsTruncated"] and "NextContinuationToken" not in page):
            raise BrokenAnswer(
                f"{self.uri(prefix)}: a listing without keys, sizes or its next page: check AWS_ENDPOINT_URL"
            )
        return page

    def uri(self, key: str) -> str:
        """Implement `Lake.uri`."""
        return f"{self.root}/{key}"


def _answer_no_region(**_: Any) -> Any:
    return SimpleNamespace(status_code=301), {"Error": {"Code": "301"}, "ResponseMetadata": {"HTTPHeaders": {}}}


@cache
def load_s3_model() -> Any:
    """Return the loader of botocore's descriptions of S3, cached per process: each session would load half a megabyte."""
    import botocore.session

    loader = botocore.session.get_session().get_component("data_loader")
    for kind in ("service-2", "endpoint-rule-set-1", "paginators-1"):
        loader.load_service_model("s3", kind)
    loader.load_data("endpoints")
    return loader
