"""Send HTTP requests to local services without a proxy, and call Airflow's REST API."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from s2corpus.errors import TransientError, UserError

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


class AirflowClient:
    """A client of one Airflow, authenticated as one user."""

    def __init__(self, url: str, user: str, password: str) -> None:
        self.url = url.rstrip("/")
        answer = ask(f"{self.url}/auth/token", method="POST", body={"username": user, "password": password}, seconds=30)
        if answer.status != 201:
            raise UserError(f"Airflow at {self.url} refuses user {user!r} (HTTP {answer.status})")
        token: Any = answer.json()
        self._headers = {"Authorization": f"Bearer {token['access_token']}"}

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None, *, absent: Any = None) -> Any:
        """Call a path below `/api/v2` and return the JSON of the response.

        If `absent` is given, return it for status 404 instead of raising. Requests without a response are sent again. So are
        requests with status 500, unless they create something: Airflow answers so if its scheduler has locked a row.

        Raises:
            UserError: Airflow rejects the request. TransientError: Airflow does not respond.
        """
        for attempt in range(5):
            try:
                answer = ask(f"{self.url}/api/v2/{path}", method=method, headers=self._headers, body=body, seconds=30)
            except OSError as error:
                if attempt == 4:
                    raise TransientError(f"Airflow at {self.url} does not respond: {error}") from None
                time.sleep(1 + attempt)
                continue
            if answer.status == 500 and method != "POST" and attempt < 4:
                time.sleep(1 + attempt)
                continue
            if answer.status == 404 and absent is not None:
                return absent
            if answer.status >= 400:
                text = answer.body[:500].decode(errors="replace")
                raise UserError(f"Airflow refuses {method} {path} (HTTP {answer.status}): {text}")
            return answer.json() if answer.body else None
        raise AssertionError("unreachable")
