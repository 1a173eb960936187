"""Decide the kind of an error of S3, and name its cause and the next step."""

from __future__ import annotations

import re
from typing import Any

from s2corpus.errors import TransientError, UnreadableObject, UserError

_KEY_CODES = frozenset(
    {
        "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "ExpiredTokenException", "InvalidToken", "TokenRefreshRequired",
    }
)  # fmt: skip
_ACCESS_CODES = frozenset({"AccessDenied", "AllAccessDisabled", "Forbidden", "401", "403"})
_CLOCK_CODES = frozenset({"RequestTimeTooSkewed", "RequestExpired"})
_REDIRECTS = frozenset({"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"})
_FULL = re.compile("Quota|StorageFull|InsufficientStorage")
_PASSING = re.compile(
    "Throttl|SlowDown|Time(d)?Out|TooMany|LimitExceeded|Internal|Unavailable|Incomplete|Digest|SHA256|Aborted|NoSuch|Precondition",
    re.IGNORECASE,
)
"""Codes of requests that may succeed later. KMS has such codes too."""
_PASSING_CLASSES = frozenset(
    {"ConnectionError", "HTTPClientError", "CredentialRetrievalError", "MetadataRetrievalError", "ChecksumError"}
)
"""Errors of botocore that may pass; its others are errors of the settings."""
_KMS = "KMS."


class BrokenAnswer(TransientError):
    """An answer of S3 was cut, or is not from S3."""


def s3_code(error: BaseException) -> str:
    """Return the error code of S3; empty if S3 did not respond."""
    return str(_get(error, "Error").get("Code", ""))


def convert_s3_error(uri: str, error: BaseException, *, opening: bool = False, is_read: bool = False) -> Exception:
    """Return the error to raise instead of an error of boto3.

    Keys that S3 accepted before are transient errors, unlike keys that it refuses when the lake is opened (`opening`). An object that
    S3 refuses to give (`is_read`) is an `UnreadableObject`.
    """
    code = s3_code(error)
    detail = " ".join(str(_get(error, "Error").get("Message") or "").split())[:300]
    status = _get(error, "ResponseMetadata").get("HTTPStatusCode")
    why = f"({code}{detail and f': {detail}'})"
    if code in _KEY_CODES and not opening:
        return TransientError(
            f"{uri}: S3 refuses the AWS keys that it accepted before ({code}): they may have been rotated or expired; "
            "the next try reads them again. If it fails too, set new keys"
        )
    if code in _CLOCK_CODES:
        return TransientError(f"{uri}: the clock of this machine differs from that of S3 ({code}): set the clock (NTP)")
    if _FULL.search(code):
        return TransientError(
            f"{uri}: the storage of S3 is full or over its quota {why}: free space or raise the quota"
        )
    is_refused = code in _ACCESS_CODES or (code.startswith(_KMS) and not _PASSING.search(code))
    if is_read and code == "InvalidObjectState":
        return UnreadableObject(
            f"{uri}: access refused ({code}): the object is archived: restore it from its storage class"
        )
    if is_read and is_refused:
        return UnreadableObject(
            f"{uri}: access refused {why}: another account may own this object, or another key encrypt it: "
            "let its owner grant s3:GetObject (and kms:Decrypt) to the keys of the pipeline"
            + (", or deliver it again" if re.search("/(drops|sources)/", uri) else "")
        )
    if is_refused and code.startswith(_KMS):
        return UserError(
            f"{uri}: access refused {why}: the KMS key of the bucket is disabled, or may not be used: enable it, or let its owner grant "
            "kms:GenerateDataKey and kms:Decrypt to the keys of the pipeline"
        )
    if is_refused or code in _KEY_CODES or (code and status == 403):  # Other codes refuse an account.
        return UserError(f"{uri}: access refused {why}: the AWS keys in the environment have no rights on it")
    if code in _REDIRECTS:
        return UserError(
            f"{uri}: the bucket is in another region or at another address ({detail}): set AWS_DEFAULT_REGION and AWS_ENDPOINT_URL"
        )
    if code in ("404", "NoSuchBucket"):
        return UserError(f"{uri}: no such bucket: create it, or name another lake with S2CORPUS_LAKE")
    line = " ".join(str(error).split())[:300]
    if status in (400, 405, 501) and code and not code.isdecimal() and not _PASSING.search(code):
        return UserError(
            f"{uri}: S3 refuses the request {why}: the lake needs a server with ListObjectsV2, conditional writes and uploads in parts"
        )
    # An error of S3 has a code; the page of a proxy has none.
    is_foreign = type(error).__name__ == "ResponseParserError" or (status is not None and not code)
    if is_foreign or re.fullmatch(r"[23]\d\d", code):
        return BrokenAnswer(
            f"{uri}: the answer is cut or not from S3{f' (HTTP {status})' if status else ''}: a proxy may answer instead; "
            f"check AWS_ENDPOINT_URL and the proxy ({line})"
        )
    return _convert_client_error(uri, error, line)


def _convert_client_error(uri: str, error: BaseException, line: str) -> Exception:
    """Return the error for wrong settings and failing connections."""
    classes = {each.__name__ for each in type(error).__mro__}
    if "NoCredentialsError" in classes:
        return UserError(f"{uri}: no AWS keys given: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    if re.search("CERTIFICATE_VERIFY_FAILED|WRONG_VERSION_NUMBER", line):
        return UserError(
            f"{uri}: no TLS with the server: check AWS_ENDPOINT_URL, and name its authority's certificate in AWS_CA_BUNDLE ({line})"
        )
    if "BotoCoreError" in classes and not classes & _PASSING_CLASSES:
        return UserError(
            f"{uri}: the settings of AWS are wrong: {line}: correct the variables AWS_… and S2CORPUS_S3_…, or ~/.aws/config"
        )
    return TransientError(f"{uri}: {line}")


def _get(error: BaseException, name: str) -> dict[str, Any]:
    return (getattr(error, "response", None) or {}).get(name) or {}
