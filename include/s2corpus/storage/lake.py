"""Open the lake at an address. `s2corpus.storage.objects` defines its interface."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

from s2corpus.errors import UserError
from s2corpus.storage.objects import ABSENT, Conflict, Lake, ListedObject, NotALakeFile

__all__ = ["ABSENT", "Conflict", "Lake", "ListedObject", "NotALakeFile", "lake_uri", "open_lake"]


def open_lake(uri: str, *, confined: bool = False) -> Lake:
    """Open the lake at `s3://bucket[/prefix]`, `file:///path` (with `%20` for a space, as in `Lake.root`) or a path.

    `confined` forbids reading through links that lead out of a local folder.

    Raises:
        UserError: no such bucket, no rights on it, or not an address of a lake.
    """
    from s2corpus.storage.local_lake import LocalLake
    from s2corpus.storage.s3_lake import S3Lake

    if uri.startswith("s3://"):
        return S3Lake(uri)
    path = unquote(uri.removeprefix("file://"), errors="surrogateescape") if uri.startswith("file:///") else uri
    # This also rejects typing errors such as `s3:/bucket`.
    if not path.strip() or "\0" in path or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:/", path):
        raise UserError(f"{uri!r} is not a lake: expected s3://bucket[/prefix], file:///folder or a path")
    return LocalLake(Path(path), confined=confined)


def lake_uri() -> str:
    """Return the address of the lake from the environment.

    Raises:
        UserError: S2CORPUS_LAKE is not set.
    """
    if not (uri := os.environ.get("S2CORPUS_LAKE")):
        raise UserError("no lake given: set S2CORPUS_LAKE to s3://bucket[/prefix] or a folder")
    return uri
