"""The load of one server of a pool: how much it takes, and when it gets nothing."""

from __future__ import annotations

import logging

from s2corpus.extractors.protocol import Server

log = logging.getLogger(__name__)


class Load:
    """What a server works on, what it last refused, whether it is out."""

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
        """Whether it may be sent one more."""
        return not self.out and (self.in_flight < self.room or now >= self.room_until)

    def refused(self, until: float) -> None:
        """Note a 503. A row of them, as long as what it works on, says how much it has room for: tried again later.

        A single one says little: other clients, and servers that restart, give them at any load.
        """
        self.refusals += 1
        if self.refusals >= max(3, self.in_flight):
            self.room, self.room_until = self.in_flight, until

    def failed(self, limit: int, now: float, *, at_once: bool) -> None:
        """Note a timeout or broken connection; too many in a row and it is looked at before it is sent anything."""
        self.failures += 1
        if not self.out and (at_once or self.failures >= limit):
            log.warning("%s does not answer: taken out", self.server.name)
            self.out, self.look_at = True, now

    def answered(self) -> None:
        """Note a final answer."""
        self.failures = self.refusals = 0
