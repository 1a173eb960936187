"""Decide the kind of an error of a library: content, access, transport or our own (`s2corpus.errors`).

S3, Arrow, DuckDB and the catalog raise different errors. Tasks are retried only after a `TransientError`.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

from s2corpus.errors import TransientError, UnreadableObject, UserError
from s2corpus.storage.objects import DamagedPart
from s2corpus.storage.s3_errors import BrokenAnswer
from s2orc_parse.outputs import printable

_PERMANENT_ERRORS = (FileNotFoundError, FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError)
_PERMANENT_ERRNOS = frozenset({errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP, errno.EFBIG})
_NETWORK_LIBRARIES = frozenset({"botocore", "boto3", "s3transfer", "urllib3", "requests", "psycopg2"})
# Messages of the system, DuckDB and SQLite.
_DISK_FULL_TEXTS = ("No space left on device", "max_temp_directory_size", "database or disk is full")
# Arrow and DuckDB report errors of S3 and disks only in the message.
_TRANSIENT_TEXTS = ("AWS Error", "Could not establish connection", "curlCode", "IOError", "OSError:")

_DATABASE_REFUSES = re.compile(
    'authentication failed|no pg_hba.conf entry|(database|role) "[^"]*" (does not exist|is not)|permission denied|does not support SSL'
    "|unable to open database file|readonly database|file is not a database"
)
_CLASSES = {kind.__name__: kind for kind in (BrokenAnswer, DamagedPart, TransientError, UnreadableObject, UserError)}
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
    if type(error).__module__ == "sqlalchemy.exc" and (cause := getattr(error, "orig", None)):
        return _convert_database_error(type(error).__name__, " ".join(str(cause).split())[:300])
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


def _convert_database_error(kind: str, message: str) -> UserError | TransientError | None:
    """Return the error to raise instead of an error of the catalog's database; None for an error of our statements."""
    catalog = "the catalog (S2CORPUS_CATALOG)"
    if any(full in message for full in _DISK_FULL_TEXTS):
        return TransientError(f"the disk is full: {message}: free space where {catalog} stores its data")
    if "read-only transaction" in message:
        return TransientError(f"{catalog} is read-only: {message}: after a failover, name the primary server")
    if kind not in ("IntegrityError", "DataError") and _DATABASE_REFUSES.search(message):
        return UserError(f"{catalog} refuses access: {message}: correct its URL, or let its owner grant the rights")
    if kind in ("OperationalError", "InterfaceError"):
        return TransientError(f"{catalog} does not respond: {message}: start its database, or wait for it")
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
    if library in _NETWORK_LIBRARIES:
        return f"{kind}: {' '.join(text.split())[:300]}"
    if library in ("duckdb", "pyarrow") and any(transient in text for transient in _TRANSIENT_TEXTS):
        return f"{kind}: {text}"
    return None
