"""HTTP requests with one deadline for the complete request: connecting, TLS, sending, headers and body.

A timeout of `requests` limits a single read: a server that sends one header per second can extend a 3 s request to minutes.
A timer shuts the connection down here. Redirects are not followed.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import os
import socket
import threading
import time
from collections.abc import Mapping
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError

CONNECT_SECONDS = 10.0
_BLOCK = 1 << 16
_AMAZON = ipaddress.ip_address("fd00:ec2::254")
"""Amazon's metadata service on IPv6."""
_current = threading.local()
logging.getLogger("urllib3.connectionpool").setLevel(
    logging.INFO
)  # its DEBUG lines have paths, and a webhook's path is a secret


class Session(requests.Session):
    """A session with connections that a timer can shut down; it pools `connections` per server."""

    def __init__(self, connections: int = 1) -> None:
        super().__init__()
        for scheme in ("http://", "https://"):
            self.mount(scheme, _Adapter(pool_connections=1, pool_maxsize=connections))

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Return None: otherwise the library reads the complete body of a redirect."""

    def ask(
        self,
        method: str,
        url: str,
        *,
        seconds: float,
        max_bytes: int,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        data: Any = None,
        files: dict[Any, Any] | None = None,
    ) -> requests.Response:
        """Send a request and read its answer, at most `max_bytes` + 1 bytes, within `seconds`.

        Raises:
            requests.ReadTimeout: the answer was not complete in time.
            requests.RequestException: no answer or an incomplete answer.
        """
        with _Clock(seconds) as clock:
            try:
                with self.request(
                    method,
                    url,
                    headers=dict(headers or {}),
                    params=params,
                    data=data,
                    files=files,
                    timeout=(min(seconds, CONNECT_SECONDS), seconds),
                    allow_redirects=False,
                    stream=True,
                ) as response:
                    body = bytearray()
                    try:
                        # read1 returns available bytes; a read of a full block would wait for a slow server.
                        while len(body) <= max_bytes and (block := response.raw.read1(_BLOCK, decode_content=True)):
                            body += block
                    except HTTPError as error:
                        raise requests.ConnectionError(error) from None
                    response._content = bytes(body)
            except (requests.RequestException, OSError) as error:
                if clock.passed:
                    raise requests.ReadTimeout(f"no complete answer within {seconds:g} s") from None
                if isinstance(error, requests.RequestException):
                    raise
                raise requests.ConnectionError(error) from None
            if clock.passed:  # A closed connection can look like the end of an answer without a length.
                raise requests.ReadTimeout(f"no complete answer within {seconds:g} s")
        return response


class _Clock:
    """A timer that shuts down the connection of this thread's request."""

    def __init__(self, seconds: float) -> None:
        self.passed = False
        self._end = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> _Clock:
        self._timer.start()
        _current.clock = self
        return self

    def __exit__(self, *_: object) -> None:
        _current.clock = None
        self._timer.cancel()
        with self._lock:
            self._keep(None)

    def watch(self, line: socket.socket) -> None:
        """Make this the connection to shut down."""
        with self._lock:
            self._keep(line)
        if self.passed:
            self._cut()

    def _keep(self, line: socket.socket | None) -> None:
        if self._line is not None:
            self._line.close()
        self._line = line

    def _cut(self) -> None:
        with self._lock:
            self.passed = True
            if self._line is not None:
                with contextlib.suppress(OSError):
                    self._line.shutdown(socket.SHUT_RDWR)


class _Cut:
    """A connection that gives the timer a second handle of its socket: TLS detaches the first."""

    _line: socket.socket | None = None

    def _new_conn(self) -> socket.socket:
        found: socket.socket = super()._new_conn()  # type: ignore[misc]
        if _is_link_local(str(found.getpeername()[0])):
            found.close()
            raise OSError("link-local address refused: metadata services of clouds give credentials to every client")
        self._line = socket.socket(fileno=os.dup(found.fileno()))
        self._watch()
        return found

    def putrequest(self, *args: Any, **kwargs: Any) -> None:
        self._watch()
        super().putrequest(*args, **kwargs)  # type: ignore[misc]

    def close(self) -> None:
        super().close()  # type: ignore[misc]
        if self._line is not None:
            self._line.close()
            self._line = None

    def _watch(self) -> None:
        clock: _Clock | None = getattr(_current, "clock", None)
        if clock is not None and self._line is not None:
            clock.watch(self._line.dup())  # The connection may be closed before its answer is read.


def _is_link_local(peer: str) -> bool:
    """Return whether a connection's other side is link-local, as the metadata services of clouds are; names are resolved by then."""
    address = ipaddress.ip_address(peer.partition("%")[0])
    return (getattr(address, "ipv4_mapped", None) or address).is_link_local or address == _AMAZON


class _Connection(_Cut, HTTPConnection):
    pass


class _SecureConnection(_Cut, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


class _Adapter(HTTPAdapter):
    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
        return manager
