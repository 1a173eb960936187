"""Classification of library errors: unavailable servers, broken connections and full disks are transient.

S3, Arrow, DuckDB and the catalog raise different errors. Tasks are retried only after a `TransientError`.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from s2corpus.errors import TransientError, UserError
from s2corpus.storage.outputs import printable

_LASTING = (FileNotFoundError, FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError)
_LASTING_NUMBERS = frozenset({errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP, errno.EFBIG})
_NETWORKED = frozenset({"botocore", "boto3", "s3transfer", "urllib3", "requests", "psycopg2"})
_FULL = (
    "No space left on device",
    "max_temp_directory_size",
    "database or disk is full",
)  # the last two are from DuckDB and SQLite
# Arrow and DuckDB report errors of S3 and disks only in the message.
_PASSING_TEXTS = ("AWS Error", "Could not establish connection", "curlCode", "IOError", "OSError:")


@contextmanager
def explained() -> Iterator[None]:
    """Convert transient errors to `TransientError` and errors of the setup to `UserError`; pass other errors on."""
    try:
        yield
    except (UserError, TransientError):
        raise
    except Exception as error:
        if said := _passing(error):
            raise TransientError(said) from error
        if said := _refused(error):
            raise UserError(said) from error
        raise


def as_environment_error(error: Exception) -> UserError | TransientError | None:
    """Return the error of a disk, file or server for the user of a command; return None for an unexpected error."""
    if said := _passing(error):
        return TransientError(said)
    if said := _refused(error):
        return UserError(said)
    if isinstance(error, OSError):
        where = f"{printable(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        return UserError(f"{where}{error.strerror or error}")
    return None


def _refused(error: Exception) -> str | None:
    """Return a read-only disk, a limit that is too low, or a snapshot that cannot be read as a sentence; None for any other error."""
    if type(error).__name__ == "SnapshotError":  # an error of s2corpus_reader, which most tasks do not import
        return str(error)
    if type(error).__name__ == "OutOfMemoryException":  # an error of DuckDB; `_passing` handles full disks
        said = str(error).partition("\n")[0]
        return f"memory_mb is too small to sort and join these tables, even with temporary files: double it in the spec ({said})"
    if getattr(error, "errno", None) != errno.EROFS and "Read-only file system" not in str(error):
        return None
    return f"the file system is read-only: {error}: name a folder that can be written to"


def _passing(error: Exception) -> str | None:
    """Return a message for a transient error; return None for other errors."""
    text = str(error).strip() or type(error).__name__
    if type(error).__name__ == "UnreachableError":
        return text
    if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or any(full in text for full in _FULL):
        return f"the disk is full: {text}: make room in the scratch folder (TMPDIR, S2CORPUS_SCRATCH) or where files are written"
    kind = f"{type(error).__module__}.{type(error).__name__}"
    library = kind.partition(".")[0].lstrip("_")
    if isinstance(error, OSError) and not isinstance(error, _LASTING) and error.errno not in _LASTING_NUMBERS:
        return f"{kind.removeprefix('builtins.')}: {text}"
    if library in _NETWORKED or kind in ("sqlalchemy.exc.OperationalError", "sqlalchemy.exc.InterfaceError"):
        return f"{kind}: {text}"
    if library in ("duckdb", "pyarrow") and any(passing in text for passing in _PASSING_TEXTS):
        return f"{kind}: {text}"
    return None
