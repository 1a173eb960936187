"""Download files with MD5 checksum files over HTTP, as NLM offers them for PubMed."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from urllib.parse import urljoin

import requests

from s2corpus import web
from s2corpus.errors import TransientError, UserError

MAX_INDEX_BYTES = 32 << 20
MAX_FILE_BYTES = 2 << 30
SECONDS = 1800.0
"""time limit of one file"""


def list_files(index: str, pattern: str) -> list[str]:
    """Return the sorted names that an index page links to and that match the complete `pattern`.

    Raises:
        TransientError: the server does not respond or fails. UserError: the page does not exist.
    """
    page = _get(web.Session(), index, MAX_INDEX_BYTES, 60.0).decode("utf-8", "replace")
    return sorted({name for name in re.findall(r'href="([^"/?#]+)"', page) if re.fullmatch(pattern, name)})


def fetch(index: str, name: str, folder: Path) -> Path:
    """Download a file, and check it against `<name>.md5`, which has 32 hex digits and may name the file.

    Raises:
        TransientError: the server does not respond, or the checksum is wrong. UserError: the file or its checksum is missing.
    """
    session, address, path = web.Session(), urljoin(index, name), folder / name
    found = re.search(rb"\b[0-9a-fA-F]{32}\b", _get(session, f"{address}.md5", 4096, 60.0))
    if found is None:
        raise UserError(f"{address}.md5: no MD5 found: 32 hexadecimal digits expected")
    data, wanted = _get(session, address, MAX_FILE_BYTES, SECONDS), found[0].decode().lower()
    if hashlib.md5(data, usedforsecurity=False).hexdigest() != wanted:
        raise TransientError(f"{address}: {len(data)} bytes, MD5 {wanted} expected: damaged during the download")
    path.write_bytes(data)
    return path


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
