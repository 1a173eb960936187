"""Check that a port of a server gives no answer without a key."""

from __future__ import annotations

import ssl
import urllib.error
import urllib.request

import pytest


def refuses(request: urllib.request.Request, statuses: set[int]) -> None:
    """Fail if the server answers; a refusal is one of these statuses, or no HTTP answer."""
    try:
        with urllib.request.urlopen(request, timeout=5, context=ssl._create_unverified_context()) as response:
            pytest.fail(f"{request.method} {request.full_url} answered {response.status}: {response.read(100)!r}")
    except urllib.error.HTTPError as error:
        assert error.code in statuses, (request.method, request.full_url, error.code)
    except OSError:
        pass
