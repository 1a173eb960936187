"""Decide the kind of an error of a library: content, access, transport or our own (`s2corpus.errors`).

S3, Arrow, DuckDB and the catalog raise different errors. Tasks are retried only after a `TransientError`.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from s2corpus.errors import TransientError, UnreadableObject, UserError
from s2orc_parse.outputs import printable

_PERMANENT_ERRORS = (FileNotFoundError, FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError)
_PERMANENT_ERRNOS = frozenset({errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP, errno.EFBIG})
_NETWORK_LIBRARIES = frozenset({"botocore", "boto3", "s3transfer", "urllib3", "requests", "psycopg2"})
# Messages of the system, DuckDB and SQLite.
_DISK_FULL_TEXTS = ("No space left on device", "max_temp_directory_size", "database or disk is full")
# Arrow and DuckDB report errors of S3 and disks only in the message.
_TRANSIENT_TEXTS = ("AWS Error", "Could not establish connection", "curlCode", "IOError", "OSError:")

_KEY_CODES = frozenset(
    {"InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "TokenRefreshRequired"}
)
_ACCESS_CODES = frozenset({"AccessDenied", "AllAccessDisabled", "AccountProblem", "Forbidden", "401", "403"})
_REDIRECTS = frozenset({"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"})


class BrokenAnswer(TransientError):
    """An answer of S3 was cut, or is not from S3."""


_CLASSES = {kind.__name__: kind for kind in (BrokenAnswer, TransientError, UnreadableObject, UserError)}
_IN_DUCKDB = re.compile(rf"(?:[\w ]+ Error: )?({'|'.join(_CLASSES)}): (.+)")
"""Errors of the lake, which DuckDB turns into text."""


@contextmanager
def convert_errors() -> Iterator[None]:
    """Convert transient errors to `TransientError` and errors of the setup to `UserError`; pass other errors on."""
    try:
        yield
    except Exception as error:
        if known := classify_error(error):
            raise known from error
        raise


def classify_error(error: Exception) -> UserError | TransientError | None:
    """Return the error to raise instead of a transient error or an error of the setup; None for other errors."""
    if isinstance(error, UserError | TransientError):
        return None
    if (raised := _IN_DUCKDB.match(str(error))) and type(error).__module__.lstrip("_").startswith("duckdb"):
        return _CLASSES[raised[1]](raised[2])
    if message := _transient_message(error):
        return TransientError(message)
    if message := _setup_message(error):
        return UserError(message)
    return None


def convert_environment_error(error: Exception) -> UserError | TransientError | None:
    """Return the error of a disk, file or server for the user of a command; return None for an unexpected error."""
    if known := classify_error(error):
        return known
    if isinstance(error, OSError):
        where = f"{printable(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        return UserError(f"{where}{error.strerror or error}")
    return None


def _setup_message(error: Exception) -> str | None:
    """Return a message for a read-only disk, a memory limit that is too low, or an unreadable snapshot; None for other errors."""
    if type(error).__name__ == "SnapshotError":  # an error of s2corpus_reader, which most tasks do not import
        return str(error)
    if type(error).__name__ == "OutOfMemoryException":  # of DuckDB; a full disk is a transient error
        message = str(error).partition("\n")[0]
        return f"memory_mb is too small to sort and join these tables, even with temporary files: double it in the spec ({message})"
    if getattr(error, "errno", None) != errno.EROFS and "Read-only file system" not in str(error):
        return None
    return f"the file system is read-only: {error}: name a folder that can be written to"


def _transient_message(error: Exception) -> str | None:
    """Return a message for a transient error; return None for other errors."""
    text = str(error).strip() or type(error).__name__
    if type(error).__name__ == "UnreachableError":
        return text
    if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or any(full in text for full in _DISK_FULL_TEXTS):
        return f"the disk is full: {text}: free space in the scratch folder (TMPDIR, S2CORPUS_SCRATCH) or in the output folder"
    kind = f"{type(error).__module__}.{type(error).__name__}"
    library = kind.partition(".")[0].lstrip("_")
    if isinstance(error, OSError) and not isinstance(error, _PERMANENT_ERRORS) and error.errno not in _PERMANENT_ERRNOS:
        return f"{kind.removeprefix('builtins.')}: {text}"
    if kind in ("sqlalchemy.exc.OperationalError", "sqlalchemy.exc.InterfaceError"):
        cause = getattr(error, "orig", None) or error
        return (
            f"the catalog (S2CORPUS_CATALOG) does not respond: {_one_line(cause)}: start its database, or wait for it"
        )
    if library in _NETWORK_LIBRARIES:
        return f"{kind}: {_one_line(error)}"
    if library in ("duckdb", "pyarrow") and any(transient in text for transient in _TRANSIENT_TEXTS):
        return f"{kind}: {text}"
    return None


def _s3_error(error: BaseException) -> dict[str, Any]:
    response: dict[str, Any] = getattr(error, "response", None) or {}
    return response.get("Error") or {}


def s3_code(error: BaseException) -> str:
    """Return the error code of S3; empty if S3 did not respond."""
    return str(_s3_error(error).get("Code", ""))


def convert_s3_error(uri: str, error: BaseException, *, opening: bool = False, is_read: bool = False) -> Exception:
    """Return the error to raise instead of an error of boto3.

    Keys that S3 accepted before are transient errors, unlike keys that it refuses when the lake is opened (`opening`). An object that
    S3 refuses to give (`is_read`) is an `UnreadableObject`.
    """
    code = s3_code(error)
    detail = " ".join(str(_s3_error(error).get("Message") or "").split())[:300]
    if code in _KEY_CODES and not opening:
        return TransientError(
            f"{uri}: S3 refuses the AWS keys that it accepted before ({code}): they may have been rotated or expired; "
            "the next try reads them again. If it fails too, set new keys"
        )
    if code == "RequestTimeTooSkewed":
        return TransientError(f"{uri}: the clock of this machine differs from that of S3 ({code}): set the clock (NTP)")
    if is_read and code == "InvalidObjectState":
        return UnreadableObject(
            f"{uri}: access refused ({code}): the object is archived: restore it from its storage class"
        )
    if is_read and (code in _ACCESS_CODES or code.startswith("KMS.")):
        return UnreadableObject(
            f"{uri}: access refused ({code}{detail and f': {detail}'}): another account may own this object, or another key encrypt it: "
            "let its owner grant s3:GetObject (and kms:Decrypt) to the keys of the pipeline"
            + (", or deliver it again" if re.search("/(drops|sources)/", uri) else "")
        )
    if code in _KEY_CODES | _ACCESS_CODES:
        return UserError(
            f"{uri}: access refused ({code}{detail and f': {detail}'}): the AWS keys in the environment have no rights on it"
        )
    if code in _REDIRECTS:
        return UserError(
            f"{uri}: the bucket is in another region or at another address ({detail}): set AWS_DEFAULT_REGION and AWS_ENDPOINT_URL"
        )
    if code in ("404", "NoSuchBucket"):
        return UserError(f"{uri}: no such bucket: create it, or name another lake with S2CORPUS_LAKE")
    if type(error).__name__ == "NoCredentialsError":
        return UserError(f"{uri}: no AWS keys given: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    if type(error).__name__ == "ResponseParserError" or re.fullmatch(r"[23]\d\d", code):
        return BrokenAnswer(
            f"{uri}: the answer is cut or not from S3: a proxy may answer instead; check AWS_ENDPOINT_URL and the proxy "
            f"({_one_line(error)})"
        )
    return TransientError(f"{uri}: {_one_line(error)}")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]
