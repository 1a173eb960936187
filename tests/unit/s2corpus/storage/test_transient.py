"""Transient errors are retried; permanent errors are not."""

from __future__ import annotations

import errno
import re

import duckdb
import psycopg2
import pyarrow as pa
import pytest
import requests
import sqlalchemy.exc

from s2corpus.errors import TransientError, UserError
from s2corpus.storage.parts import DamagedPart
from s2corpus.storage.transient import convert_environment_error, convert_errors


@pytest.mark.parametrize(
    "error",
    [
        OSError("When reading information for key 'x': AWS Error NETWORK_CONNECTION during HeadObject operation"),
        ConnectionResetError(104, "Connection reset by peer"),
        duckdb.IOException("Could not write file: No space left on device"),
        sqlalchemy.exc.OperationalError("SELECT 1", {}, Exception("terminating connection")),
        TransientError("a lease was lost"),
        psycopg2.OperationalError("server closed the connection"),
        Exception("database or disk is full"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_transient_errors_are_retried(error: Exception) -> None:
    with pytest.raises(TransientError, match=r"\w"), convert_errors():
        raise error


@pytest.mark.parametrize(
    "error",
    [
        UserError("no such bucket"),
        DamagedPart("committed with 5 bytes, found 3"),
        FileNotFoundError(2, "No such file"),
        pa.ArrowInvalid("column paper_id is null"),
        duckdb.Error("FileNotFoundError: [Errno 2] Failed to open local file"),
        ValueError("IOError: text of another library"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_permanent_errors_are_not_retried(error: Exception) -> None:
    with pytest.raises(type(error)) as raised, convert_errors():
        raise error
    assert raised.value is error


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (OSError(errno.ENOSPC, "No space left", "/scratch/part"), TransientError, "^the disk is full: .*free space in the scratch folder"),
        (requests.ConnectionError("refused"), TransientError, r"^requests\.exceptions\.ConnectionError: refused$"),
        (OSError(errno.EROFS, "Read-only"), UserError, "^the file system is read-only: .*name a folder that can be written to"),
        (duckdb.OutOfMemoryException("Out of Memory Error: x\n\nsecond"), UserError, r"^memory_mb is too .* \(Out of Memory Error: x\)$"),
    ],
)  # fmt: skip
def test_error_is_explained_in_words(error: Exception, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words), convert_errors():
        raise error
    found = convert_environment_error(error)
    assert type(found) is kind and re.search(words, str(found))


def test_error_of_a_file_names_the_file() -> None:
    found = convert_environment_error(PermissionError(13, "Permission denied", "/a\nb"))
    assert type(found) is UserError and str(found) == "/a\\nb: Permission denied"
    assert convert_environment_error(ValueError("a bug")) is None
