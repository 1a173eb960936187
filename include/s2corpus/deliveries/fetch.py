"""Download files with MD5 checksum files over HTTP, as NLM offers them for PubMed."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urljoin

import requests

from s2corpus import web
from s2corpus.errors import TransientError, UserError

MAX_INDEX_BYTES = 32 << 20
MAX_FILE_BYTES = 2 << 30
SECONDS = 1800.0
"""time limit of one file"""
log = logging.getLogger(__name__)


def list_files(index: str, pattern: str) -> list[str]:
    """Return the sorted names that an index page links to and that match the complete `pattern`.

    Raises:
        TransientError: the server does not respond or fails. UserError: the page does not exist.
    """
    page = _get(web.Session(), index, MAX_INDEX_BYTES, 60.0).decode("utf-8", "replace")
    return sorted({name for name in re.findall(r'href="([^"/?#]+)"', page) if re.fullmatch(pattern, name)})


def fetch(index: str, names: Iterable[str], folder: Path) -> list[Path]:
    """Download files and check them against `<name>.md5`; skip local files with the right checksum.

    Raises:
        TransientError: the server does not respond, or a checksum is wrong. UserError: a file or its checksum is missing.
    """
    session, paths = web.Session(), []
    for name in names:
        address, path = urljoin(index, name), folder / name
        wanted = _md5_in(_get(session, f"{address}.md5", 4096, 60.0), f"{address}.md5")
        if not (path.is_file() and _md5(path.read_bytes()) == wanted):
            data = _get(session, address, MAX_FILE_BYTES, SECONDS)
            if _md5(data) != wanted:
                raise TransientError(
                    f"{address}: {len(data)} bytes, MD5 {wanted} expected: damaged during the download"
                )
            part = path.with_name(f".{name}.part")
            part.write_bytes(data)
            part.rename(path)
            log.info("%s: %d bytes, checksum verified", address, len(data))
        paths.append(path)
    return paths


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def _md5_in(data: bytes, address: str) -> str:
    """Return the checksum in a file of the form `MD5(name)= <32 hex digits>`, or `<32 hex digits>  name`."""
    match = re.search(rb"\b[0-9a-fA-F]{32}\b", data)
    if match is None:
        raise UserError(f"{address}: no MD5 found: 32 hexadecimal digits expected")
    return match[0].decode().lower()


def _get(session: web.Session, address: str, max_bytes: int, seconds: float) -> bytes:
    try:
        answer = session.ask("GET", address, seconds=seconds, max_bytes=max_bytes)
    except requests.RequestException as error:
        raise TransientError(f"{address}: {error}") from None
    if answer.status_code >= 500 or answer.status_code == 429:
        raise TransientError(f"{address}: HTTP {answer.status_code}")
    if answer.status_code != 200:
        raise UserError(f"{address}: HTTP {answer.status_code}")
    if len(answer.content) > max_bytes:
        raise UserError(f"{address}: more than {max_bytes} bytes")
    return answer.content
