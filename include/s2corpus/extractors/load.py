"""The load of one server of a pool: the number of PDFs that it receives, and when it leaves and returns."""

from __future__ import annotations

import logging

from s2corpus.extractors.protocol import Server

log = logging.getLogger(__name__)


class Load:
    """The state of a server: its requests in flight, consecutive refusals and failures, and whether it was removed from the pool."""

    def __init__(self, server: Server, *, is_removed: bool = False) -> None:
        self.server = server
        self.in_flight = 0
        self.failures = 0
        self.refusals = 0
        self.capacity = 0
        self.capacity_until = 0.0
        self.is_removed = is_removed
        self.next_check = 0.0

    def can_take(self, now: float) -> bool:
        """Return whether the server may receive another PDF at the time `now`."""
        return not self.is_removed and (self.in_flight < self.capacity or now >= self.capacity_until)

    def record_busy(self, until: float) -> None:
        """Record a 503; after enough consecutive 503s, limit the server to its current load until the time `until`.

        The number needed is the number of PDFs in flight, and at least 3. A single 503 has no effect, because other clients and
        restarts also cause it.
        """
        self.refusals += 1
        if self.refusals >= max(3, self.in_flight):
            self.capacity, self.capacity_until = self.in_flight, until

    def record_failure(self, limit: int, now: float, *, is_unreachable: bool) -> None:
        """Record a timeout or broken connection, and remove the server from the pool if it fails too often.

        The server leaves after `limit` consecutive failures, or after this failure with `is_unreachable`. It returns after a
        successful health check; the first check is due immediately.
        """
        self.failures += 1
        if not self.is_removed and (is_unreachable or self.failures >= limit):
            log.warning("%s does not respond: removed from the pool", self.server.name)
            self.is_removed, self.next_check = True, now

    def record_success(self) -> None:
        """Record a final response, which resets the counts of consecutive failures and refusals."""
        self.failures = self.refusals = 0

    def rejoin(self) -> None:
        """Return the server to the pool, with full capacity."""
        self.is_removed, self.failures, self.refusals, self.capacity_until = False, 0, 0, 0.0
