"""Send PDFs to the servers of one extractor. Each PDF gets one outcome; a finished PDF is not sent again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import replace
from typing import BinaryIO

from s2corpus.errors import TransientError, UserError
from s2corpus.extractors.protocol import Extraction, ExtractorIdentity, Limits, Server, options_hash
from s2corpus.extractors.registry import EXTRACTORS, by_address
from s2corpus.extractors.run import ExtractionRun
from s2corpus.rules import ExtractRules

log = logging.getLogger(__name__)


class Pool:
    """Servers of one extractor and version, with their options and limits.

    `servers` are addresses of GROBID's REST API; other adapters have their name as prefix (`docling+http://host:5001`).
    """

    def __init__(
        self,
        servers: Sequence[str],
        rules: ExtractRules | None = None,
        limits: Limits | None = None,
        *,
        token: str | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.adapter, urls = by_address(servers)
        form = EXTRACTORS.load(self.adapter).form(rules or ExtractRules())
        self.options_hash = options_hash(form)
        self.servers: list[Server] = [
            EXTRACTORS.load(self.adapter).server(
                url, form, token=token, connections=self.limits.in_flight, max_bytes=self.limits.max_tei_bytes
            )
            for url in urls
        ]
        self.common_identity: ExtractorIdentity | None = None
        self.healthy = {server.name for server in self.servers}

    def identity(self) -> ExtractorIdentity:
        """Query and return the common identity of the servers.

        A server that does not respond joins the pool later if it reports the same identity.

        Raises:
            TransientError: no server responds.
            UserError: a server is not an extractor, requires a token, or has another version than the others.
        """
        identities: dict[str, ExtractorIdentity] = {}
        errors: list[TransientError] = []
        for server in self.servers:
            try:
                identities[server.name] = self._identity(server)
            except TransientError as error:
                log.warning("%s", error)
                errors.append(error)
        if not identities:
            raise errors[0]
        if len(set(identities.values())) > 1:
            found = ", ".join(f"{name} is {identity}" for name, identity in identities.items())
            raise UserError(f"all servers of a pool must have the same version: {found}")
        self.healthy = set(identities)
        self.common_identity = next(iter(identities.values()))
        return self.common_identity

    def _identity(self, server: Server) -> ExtractorIdentity:
        identity = replace(server.identity(timeout=self.limits.status), options_hash=self.options_hash)
        if not identity.valid:
            raise UserError(
                f"{server.name} reports the identity {str(identity)!r}: expected a name and a version, each a single word"
            )
        return identity

    def can_rejoin(self, server: Server) -> bool:
        """Return whether a server may rejoin the pool: it is alive and has the identity of the others."""
        try:
            return server.alive(timeout=self.limits.status) and (
                self.common_identity is None or self._identity(server) == self.common_identity
            )
        except (TransientError, UserError) as error:
            log.warning("%s", error)
            return False

    def extract(
        self, items: Iterable[tuple[str, Callable[[], BinaryIO]]], *, total: int | None = None
    ) -> Generator[Extraction, None, None]:
        """Send PDFs `(file_sha1, open)` and yield one Extraction for each, in order of completion.

        Each attempt calls `open` for a stream, which is read in blocks. Items are consumed no faster than the results, so that
        memory does not grow with their number. `total` is their number, for the log.
        """
        run = ExtractionRun(self.servers, self.healthy, self.can_rejoin, self.limits, iter(items), total)
        try:
            yield from run.results()
        finally:
            run.stop()
