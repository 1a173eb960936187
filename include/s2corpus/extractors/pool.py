"""PDFs through one or several servers of an extractor: every PDF ends with one outcome, and none is sent again that was answered."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import BinaryIO

from s2corpus.errors import TransientError, UserError
from s2corpus.extractors.limits import Extraction, Limits
from s2corpus.extractors.protocol import Identity, Server, options_hash
from s2corpus.extractors.registry import adapter, by_address
from s2corpus.extractors.run import Run
from s2corpus.rules.extract import Extract

log = logging.getLogger(__name__)


class Pool:
    """Some servers of one extractor that answer in the same way, and what may be asked of them.

    `servers` are addresses: of GROBID's REST API, or with the name of another adapter in front (`docling+http://host:5001`).
    """

    def __init__(
        self,
        servers: Sequence[str],
        asked: Extract | None = None,
        limits: Limits | None = None,
        *,
        token: str | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.adapter, urls = by_address(servers)
        form = adapter(self.adapter).form(asked or Extract())
        self.options_hash = options_hash(form)
        self.servers: list[Server] = [
            adapter(self.adapter).server(
                url, form, token=token, connections=self.limits.in_flight, max_bytes=self.limits.max_tei_bytes
            )
            for url in urls
        ]
        self.known: Identity | None = None
        self.answering = {server.name for server in self.servers}

    def identity(self) -> Identity:
        """Who the servers are, and what they are asked for; asked again each time.

        A server that does not answer now is left out until it does, and then has to be of this version too.

        Raises:
            TransientError: none of them answers.
            UserError: one is not what its address says, wants a token, or is of another version than the others.
        """
        told: dict[str, Identity] = {}
        silent: list[TransientError] = []
        for server in self.servers:
            try:
                told[server.name] = self._identity(server)
            except TransientError as error:
                log.warning("%s", error)
                silent.append(error)
        if not told:
            raise silent[0]
        if len(set(told.values())) > 1:
            found = ", ".join(f"{name} is {identity}" for name, identity in told.items())
            raise UserError(f"the servers of one pool must be of one version, but {found}")
        self.answering = set(told)
        self.known = next(iter(told.values()))
        return self.known

    def _identity(self, server: Server) -> Identity:
        found = replace(server.identity(timeout=self.limits.status), options_hash=self.options_hash)
        if not found.valid:
            raise UserError(
                f"{server.name} says that it is {str(found)!r}: expected a name and a version, each one word"
            )
        return found

    def fit(self, server: Server) -> bool:
        """Whether a server that was out may be sent PDFs again: it is alive, and what the others are."""
        try:
            return server.alive(timeout=self.limits.status) and (
                self.known is None or self._identity(server) == self.known
            )
        except (TransientError, UserError) as error:
            log.warning("%s", error)
            return False

    def extract(
        self, items: Iterable[tuple[str, Callable[[], BinaryIO]]], *, total: int | None = None
    ) -> Iterator[Extraction]:
        """Send PDFs `(file_sha1, open)` and give one Extraction each, in the order in which they are decided.

        `open` is called once a try and gives a stream, which is read in blocks. Items are taken as they are
        needed, and no faster than the results are: memory does not grow with their number. `total` is their number,
        for the log.
        """
        run = Run(self.servers, self.answering, self.fit, self.limits, iter(items), total)
        try:
            yield from run.results()
        finally:
            run.stop()
