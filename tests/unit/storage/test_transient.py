"""Transient errors are retried; permanent errors are not."""

from __future__ import annotations

import errno

import botocore.exceptions
import duckdb
import pyarrow as pa
import pytest
import requests
import sqlalchemy.exc

from s2corpus.errors import TransientError, UserError
from s2corpus.storage.parts import DamagedPart
from s2corpus.storage.transient import explained


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError("When reading information for key 'x': AWS Error NETWORK_CONNECTION during HeadObject operation"),
        ConnectionResetError(104, "Connection reset by peer"),
        TimeoutError(),
        botocore.exceptions.ReadTimeoutError(endpoint_url="http://127.0.0.1:1"),
        botocore.exceptions.IncompleteReadError(actual_bytes=1, expected_bytes=2),
        requests.ConnectionError("refused"),
        duckdb.IOException("Could not write file: No space left on device"),
        duckdb.OutOfMemoryException("failed to offload data block (this limit was set by 'max_temp_directory_size')"),
        duckdb.Error("OSError: When reading information for key 'x': Unexpected end of stream"),
        duckdb.InvalidInputException("arrow_scan: get_next failed(): IOError: AWS Error NETWORK_CONNECTION"),
        sqlalchemy.exc.OperationalError("SELECT 1", {}, Exception("terminating connection")),
        TransientError("a lease was lost"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_may_pass(error: Exception) -> None:
    with pytest.raises(TransientError, match=r"\w"), explained():
        raise error


@pytest.mark.parametrize(
    "error",
    [
        UserError("no such bucket"),
        DamagedPart("committed with 5 bytes, found 3"),
        FileNotFoundError(2, "No such file"),
        PermissionError(13, "Permission denied"),
        pa.ArrowInvalid("column paper_id is null"),
        duckdb.ParserException("syntax error"),
        duckdb.Error("FileNotFoundError: [Errno 2] Failed to open local file"),
        sqlalchemy.exc.IntegrityError("INSERT", {}, Exception("duplicate key")),
        ValueError("a bug"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_would_fail_again(error: Exception) -> None:
    with pytest.raises(type(error)) as raised, explained():
        raise error
    assert raised.value is error


def test_a_full_disk_says_where_to_make_room() -> None:
    with pytest.raises(TransientError, match=r"the disk is full: .*make room in the scratch folder"), explained():
        raise OSError(errno.ENOSPC, "No space left on device", "/scratch/part-00000.parquet")
