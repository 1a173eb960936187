"""Send HTTP requests with one deadline for the complete request: connecting, TLS, sending, headers and body.

A timeout of `requests` limits a single read: a server that sends one header per second can extend a 3 s request to minutes.
Here a timer shuts the connection down. Redirects are not followed.
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
# DEBUG lines contain paths, and the path of a webhook is a secret.
logging.getLogger("urllib3.connectionpool").setLevel(logging.INFO)


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
        """Send a request and return the response with at most `max_bytes` + 1 bytes of its body, within `seconds`.

        Raises:
            requests.ReadTimeout: the response was not complete in time.
            requests.RequestException: no response or an incomplete response.
        """
        with _Deadline(seconds) as deadline:
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
                if deadline.is_over:
                    raise requests.ReadTimeout(f"no complete answer within {seconds:g} s") from None
                if isinstance(error, requests.RequestException):
                    raise
                raise requests.ConnectionError(error) from None
            if deadline.is_over:  # A closed connection can look like the end of a response without a length.
                raise requests.ReadTimeout(f"no complete answer within {seconds:g} s")
        return response


class _Deadline:
    """A timer that shuts down the connection of this thread's request."""

    def __init__(self, seconds: float) -> None:
        self.is_over = False
        self._end = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._shut_down)
        self._timer.daemon = True

    def __enter__(self) -> _Deadline:
        self._timer.start()
        _current.deadline = self
        return self

    def __exit__(self, *_: object) -> None:
        _current.deadline = None
        self._timer.cancel()
        with self._lock:
            self._replace_socket(None)

    def watch(self, socket_: socket.socket) -> None:
        """Shut down this connection at the deadline, instead of the previous connection."""
        with self._lock:
            self._replace_socket(socket_)
        if self.is_over:
            self._shut_down()

    def _replace_socket(self, socket_: socket.socket | None) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = socket_

    def _shut_down(self) -> None:
        with self._lock:
            self.is_over = True
            if self._socket is not None:
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)


class _WatchedConnection:
    """A connection that gives the timer a duplicate of its socket, because TLS detaches the original."""

    _socket: socket.socket | None = None

    def _new_conn(self) -> socket.socket:
        found: socket.socket = super()._new_conn()  # type: ignore[misc]
        if _is_link_local(str(found.getpeername()[0])):
            found.close()
            raise OSError("link-local address refused: metadata services of clouds give credentials to every client")
        self._socket = socket.socket(fileno=os.dup(found.fileno()))
        self._watch()
        return found

    def putrequest(self, *args: Any, **kwargs: Any) -> None:
        self._watch()
        super().putrequest(*args, **kwargs)  # type: ignore[misc]

    def close(self) -> None:
        super().close()  # type: ignore[misc]
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _watch(self) -> None:
        deadline: _Deadline | None = getattr(_current, "deadline", None)
        if deadline is not None and self._socket is not None:
            deadline.watch(self._socket.dup())  # The connection may close its socket before the response is read.


def _is_link_local(peer: str) -> bool:
    """Return whether the IP address of a peer is link-local, like the metadata services of clouds."""
    address = ipaddress.ip_address(peer.partition("%")[0])
    return (getattr(address, "ipv4_mapped", None) or address).is_link_local or address == _AMAZON


class _Connection(_WatchedConnection, HTTPConnection):
    pass


class _SecureConnection(_WatchedConnection, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


_POOLS = {"http": _Pool, "https": _SecurePool}


class _Adapter(HTTPAdapter):
    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = _POOLS
        return manager
