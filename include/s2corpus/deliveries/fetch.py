"""Files that a source offers over HTTP with a checksum beside each, fetched to this machine, as NLM offers PubMed."""

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
"""that one file may take"""
log = logging.getLogger(__name__)


def offered(index: str, pattern: str) -> list[str]:
    """The names that a folder's index page links to and that match `pattern` as a whole, in order.

    Raises:
        TransientError: the server does not answer, or with an error of its own. UserError: it answers that there is no such page.
    """
    page = _get(web.Session(), index, MAX_INDEX_BYTES, 60.0).decode("utf-8", "replace")
    return sorted({name for name in re.findall(r'href="([^"/?#]+)"', page) if re.fullmatch(pattern, name)})


def fetch(index: str, names: Iterable[str], folder: Path) -> list[Path]:
    """Fetch these files of a folder that have `<name>.md5` beside them; what is there already with its checksum is kept.

    Raises:
        TransientError: the server does not answer, or a file has not its checksum. UserError: a file or its checksum is not there.
    """
    session, found = web.Session(), []
    for name in names:
        address, path = urljoin(index, name), folder / name
        wanted = _md5_in(_get(session, f"{address}.md5", 4096, 60.0), f"{address}.md5")
        if not (path.is_file() and _md5(path.read_bytes()) == wanted):
            data = _get(session, address, MAX_FILE_BYTES, SECONDS)
            if _md5(data) != wanted:
                raise TransientError(f"{address}: {len(data)} bytes whose MD5 is not {wanted}: damaged on its way")
            part = path.with_name(f".{name}.part")
            part.write_bytes(data)
            part.rename(path)
            log.info("%s: %d bytes, checksum right", address, len(data))
        found.append(path)
    return found


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def _md5_in(data: bytes, address: str) -> str:
    """The checksum in a file of the form `MD5(name)= <32 hex digits>`, or `<32 hex digits>  name`."""
    match = re.search(rb"\b[0-9a-fA-F]{32}\b", data)
    if match is None:
        raise UserError(f"{address}: no MD5 in it: 32 hexadecimal digits were expected")
    return match[0].decode().lower()


def _get(session: web.Session, address: str, max_bytes: int, seconds: float) -> bytes:
    try:
        answer = web.ask(session, "GET", address, seconds=seconds, max_bytes=max_bytes)
    except requests.RequestException as error:
        raise TransientError(f"{address}: {error}") from None
    if answer.status_code >= 500 or answer.status_code == 429:
        raise TransientError(f"{address}: HTTP {answer.status_code}")
    if answer.status_code != 200:
        raise UserError(f"{address}: HTTP {answer.status_code}")
    if len(answer.content) > max_bytes:
        raise UserError(f"{address}: more than {max_bytes} bytes")
    return answer.content
