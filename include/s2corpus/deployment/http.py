"""Send HTTP requests to local services without a proxy."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass

_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class HttpResponse:
    """An HTTP response with any status."""

    status: int
    body: bytes

    def json(self) -> object:
        """Return the body read as JSON; `ValueError` if it is not JSON."""
        return json.loads(self.body)


def ask(
    url: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: object = None,
    seconds: float = 5.0,
) -> HttpResponse:
    """Send an HTTP request and return the response; `body` is sent as JSON. Raise `OSError` if the server does not respond."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, dict(headers or {}), method=method)
    if data is not None:
        request.add_header("Content-Type", "application/json")
    try:
        with _DIRECT.open(request, timeout=seconds) as response:
            return HttpResponse(response.status, response.read(10_000_000))
    except urllib.error.HTTPError as error:
        return HttpResponse(error.code, error.read(10_000_000))
