"""Read files at user-supplied addresses: a path, file://, s3:// or https://."""

from __future__ import annotations

from urllib.parse import unquote, urljoin, urlsplit

import requests

from s2corpus import web
from s2corpus.errors import TransientError, UserError
from s2corpus.storage.lake import open_lake

SECONDS = 1800.0
"""Time limit of one address, including redirects."""
_MAX_BYTES = 1 << 30
_MAX_REDIRECTS = 5


def fetch(uri: str) -> bytes:
    """Return all bytes at `uri`, at most 1 GiB. Only redirects to the same host are followed.

    Raises:
        UserError: the file is missing or too large, or redirects to another host.
        TransientError: the server or disk failed.
    """
    try:
        if uri.startswith(("https://", "http://")):
            body = _download(uri)
            size = len(body)
        else:
            folder, slash, name = uri.rpartition("/")
            lake, key = open_lake(f"{folder}{slash}" or "."), unquote(name) if uri.startswith("file://") else name
            size = lake.size(key) or 0
            body = lake.get(key)[0] if size <= _MAX_BYTES else b""
    except FileNotFoundError:
        raise UserError(f"{uri}: no such file: give a path, file://, s3:// or https:// address") from None
    except OSError as error:
        raise TransientError(f"{uri}: {error}") from error
    if size > _MAX_BYTES:
        raise UserError(f"{uri}: more than {_MAX_BYTES:,} bytes")
    return body


def _download(uri: str) -> bytes:
    url = uri
    with web.Session() as session:
        for _ in range(_MAX_REDIRECTS + 1):
            response = session.ask("GET", url, seconds=SECONDS, max_bytes=_MAX_BYTES)
            if response.is_redirect:
                url = _follow_redirect(uri, url, response.headers["Location"])
                continue
            if response.status_code in (404, 410):
                raise FileNotFoundError(uri)
            if response.status_code >= 500 or response.status_code in (408, 429):
                raise TransientError(f"{uri}: HTTP {response.status_code}")
            if response.status_code != requests.codes.ok:
                raise UserError(f"{uri}: HTTP {response.status_code}: only public addresses are supported")
            return bytes(response.content)
    raise UserError(f"{uri}: more than {_MAX_REDIRECTS} redirects")


def _follow_redirect(uri: str, url: str, location: str) -> str:
    """Return the target of a redirect if the host is the same and TLS is not lost."""
    old, new = urlsplit(url), urlsplit(target := urljoin(url, location))
    schemes = ("https",) if old.scheme == "https" else ("http", "https")
    if new.hostname != old.hostname or new.scheme not in schemes:
        where = f"{new.scheme}://{new.hostname}"
        raise UserError(
            f"{uri}: redirects to {where}: give that address (only redirects to the same host that keep TLS are followed)"
        )
    return target
