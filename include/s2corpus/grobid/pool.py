"""PDFs through one or several GROBID servers: every PDF ends with one outcome, and none is sent again that was answered."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO

from s2corpus.errors import TransientError, UserError
from s2corpus.grobid.answer import Options
from s2corpus.grobid.extraction import Extraction, Limits
from s2corpus.grobid.run import Run
from s2corpus.grobid.server import Server

log = logging.getLogger(__name__)


class Pool:
    """Some GROBID servers that answer in the same way, and what may be asked of them."""

    def __init__(
        self,
        servers: Sequence[str],
        options: Options | None = None,
        limits: Limits | None = None,
        *,
        token: str | None = None,
    ) -> None:
        self.options = options or Options()
        self.limits = limits or Limits()
        urls = list(dict.fromkeys(url.strip() for url in servers if url.strip()))
        if not urls:
            raise UserError("no GROBID server was named: expected addresses such as http://localhost:8070")
        self.servers = [
            Server(url, token=token, connections=self.limits.in_flight, max_bytes=self.limits.max_tei_bytes)
            for url in urls
        ]
        self.known: tuple[str, str] | None = None
        self.answering = {server.name for server in self.servers}

    def identity(self) -> tuple[str, str]:
        """(extractor, version) of the servers, for instance `("grobid", "0.8.2")`; asked anew each time.

        A server that does not answer now is left out until it does, and then has to be of this version too.

        Raises:
            TransientError: none of them answers.
            UserError: one is not a GROBID server, wants a token, or is of another version than the others.
        """
        told: dict[str, tuple[str, str]] = {}
        silent: list[TransientError] = []
        for server in self.servers:
            try:
                told[server.name] = server.identity(timeout=self.limits.status)
            except TransientError as error:
                log.warning("%s", error)
                silent.append(error)
        if not told:
            raise silent[0]
        if len(set(told.values())) > 1:
            found = ", ".join(f"{name} is {extractor} {version}" for name, (extractor, version) in told.items())
            raise UserError(f"the servers of one pool must be of one version, but {found}")
        self.answering = set(told)
        self.known = next(iter(told.values()))
        return self.known

    def fit(self, server: Server) -> bool:
        """Whether a server that was out may be sent PDFs again: it is alive, and what the others are."""
        try:
            return server.alive(timeout=self.limits.status) and (
                self.known is None or server.identity(timeout=self.limits.status) == self.known
            )
        except (TransientError, UserError) as error:
            log.warning("%s", error)
            return False

    def extract(
        self, items: Iterable[tuple[str, Callable[[], BinaryIO]]], *, total: int | None = None
    ) -> Iterator[Extraction]:
        """Send PDFs `(pdf_sha1, open)` and give one Extraction each, in the order in which they are decided.

        `open` is called once a try and gives a stream, which is read in blocks. Items are taken as they are
        needed, and no faster than the results are: memory does not grow with their number. `total` is their number,
        for the log.
        """
        run = Run(self.servers, self.answering, self.fit, self.options, self.limits, iter(items), total)
        try:
            yield from run.results()
        finally:
            run.stop()
