"""The load of one server of a pool: its capacity and its health."""

from __future__ import annotations

import logging

from s2corpus.extractors.protocol import Server

log = logging.getLogger(__name__)


class Load:
    """The state of a server: its requests in flight, consecutive refusals and failures, and whether it is out of the pool."""

    def __init__(self, server: Server, *, out: bool = False) -> None:
        self.server = server
        self.in_flight = 0
        self.failures = 0
        self.refusals = 0
        self.room = 0
        self.room_until = 0.0
        self.out = out
        self.look_at = 0.0

    def takes(self, now: float) -> bool:
        """Return whether the server may receive another PDF at the time `now`."""
        return not self.out and (self.in_flight < self.room or now >= self.room_until)

    def refused(self, until: float) -> None:
        """Record a 503; after enough consecutive 503s, limit the server to its current load until the time `until`.

        The number needed is the number of PDFs in flight, and at least 3. A single 503 has no effect, because other clients and
        restarts also cause it.
        """
        self.refusals += 1
        if self.refusals >= max(3, self.in_flight):
            self.room, self.room_until = self.in_flight, until

    def failed(self, limit: int, now: float, *, at_once: bool) -> None:
        """Record a timeout or broken connection, and remove the server from the pool if it fails too often.

        The server leaves after `limit` consecutive failures, or after this failure with `at_once`. It returns after a
        successful health check; the first check is due immediately.
        """
        self.failures += 1
        if not self.out and (at_once or self.failures >= limit):
            log.warning("%s does not answer: taken out of the pool", self.server.name)
            self.out, self.look_at = True, now

    def answered(self) -> None:
        """Record a final answer, which resets the counts of consecutive failures and refusals."""
        self.failures = self.refusals = 0
