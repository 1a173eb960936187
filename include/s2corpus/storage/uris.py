"""The bytes at an address that a user names: a path, file://, s3:// or https://."""

from __future__ import annotations

from urllib.parse import unquote, urljoin, urlsplit

import requests

from s2corpus import web
from s2corpus.errors import TransientError, UserError
from s2corpus.storage.lake import open_lake

SECONDS = 1800.0
"""Time of one address, its redirects included."""
_MAX_BYTES = 1 << 30
_MAX_REDIRECTS = 5


def fetch(uri: str) -> bytes:
    """All bytes at `uri`, at most 1 GiB. A redirect is followed on the same host only.

    Raises:
        UserError: nothing is there, it is too large, or it leads to another host.
        TransientError: it could not be read this time.
    """
    try:
        if uri.startswith(("https://", "http://")):
            body = _download(uri)
        else:
            folder, slash, name = uri.rpartition("/")
            body = open_lake(f"{folder}{slash}" or ".").get(unquote(name) if uri.startswith("file://") else name)[0]
    except FileNotFoundError:
        raise UserError(f"{uri}: no such file: give a path, file://, s3:// or https:// address") from None
    except OSError as error:
        raise TransientError(f"{uri}: {error}") from error
    if len(body) > _MAX_BYTES:
        raise UserError(f"{uri}: more than {_MAX_BYTES:,} bytes")
    return body


def _download(uri: str) -> bytes:
    at = uri
    with web.Session() as session:
        for _ in range(_MAX_REDIRECTS + 1):
            response = web.ask(session, "GET", at, seconds=SECONDS, max_bytes=_MAX_BYTES)
            if response.is_redirect:
                at = _same_host(uri, at, response.headers["Location"])
                continue
            if response.status_code in (404, 410):
                raise FileNotFoundError(uri)
            if response.status_code >= 500 or response.status_code in (408, 429):
                raise TransientError(f"{uri}: HTTP {response.status_code}")
            if response.status_code != requests.codes.ok:
                raise UserError(f"{uri}: HTTP {response.status_code}: give an address that anyone may read")
            return bytes(response.content)
    raise UserError(f"{uri}: more than {_MAX_REDIRECTS} redirects")


def _same_host(uri: str, at: str, location: str) -> str:
    """Where a redirect leads, if that is the host that was named, and not from TLS to none."""
    old, new = urlsplit(at), urlsplit(target := urljoin(at, location))
    schemes = ("https",) if old.scheme == "https" else ("http", "https")
    if new.hostname != old.hostname or new.scheme not in schemes:
        where = f"{new.scheme}://{new.hostname}"
        raise UserError(f"{uri}: leads to {where}, another host than the one that was named: name that address itself")
    return target
