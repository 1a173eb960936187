"""The bytes at an address that a user names: a path, file://, s3:// or https://."""

from __future__ import annotations

import urllib.request

from s2corpus.errors import TransientError, UserError
from s2corpus.storage.lake import open_lake

_MAX_BYTES = 1 << 30


def fetch(uri: str) -> bytes:
    """All bytes at `uri`, at most 1 GiB.

    Raises:
        UserError: nothing is there, or it is too large.
        TransientError: it could not be read this time.
    """
    try:
        if uri.startswith(("https://", "http://")):
            with urllib.request.urlopen(uri, timeout=60) as answer:
                body: bytes = answer.read(_MAX_BYTES + 1)
        else:
            folder, _, name = uri.rpartition("/")
            body = open_lake(folder or ("/" if uri.startswith("/") else ".")).get(name)[0]
    except FileNotFoundError:
        raise UserError(f"{uri}: no such file: give a path, file://, s3:// or https:// address") from None
    except OSError as error:
        raise TransientError(f"{uri}: {error}") from error
    if len(body) > _MAX_BYTES:
        raise UserError(f"{uri}: more than {_MAX_BYTES:,} bytes")
    return body
