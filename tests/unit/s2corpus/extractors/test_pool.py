"""The pool handles every fault of a real HTTP server."""

from __future__ import annotations

import hashlib
import io
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import BinaryIO

import pytest

from s2corpus.errors import TransientError, UserError
from s2corpus.extractors import Extraction, ExtractOutcome, Limits, Pool
from s2corpus.extractors.grobid import GrobidServer
from s2corpus.spec import ExtractRules
from tests.standin_grobid import StandIn, Upload

QUICK = Limits(
    in_flight=8,
    deadline=20.0,
    request=0.4,
    busy_wait=(0.05, 0.1),
    retry_wait=(0.02, 0.05),
    health_wait=(0.05, 0.1),
    outage=10.0,
    status=5.0,
    progress=60.0,  # No test may wait for it.
)
Item = tuple[str, Callable[[], BinaryIO]]


def pdfs(count: int, size: int = 100) -> list[Item]:
    """Return different uploads. They need not be valid PDFs, because the pool does not parse them."""

    def item(number: int) -> Item:
        data = b"%PDF-1.7 " + str(number).encode().ljust(size, b".")
        return hashlib.sha1(data).hexdigest(), lambda: io.BytesIO(data)

    return [item(number) for number in range(count)]


def run(pool: Pool, items: list[Item]) -> dict[str, Extraction]:
    """Extract the items, and check that each PDF has exactly one outcome."""
    results = list(pool.extract(iter(items)))
    assert sorted(r.file_sha1 for r in results) == sorted(sha1 for sha1, _ in items)
    return {r.file_sha1: r for r in results}


CASES = [
    (None, ExtractOutcome.OK, 1),
    ("chunked", ExtractOutcome.OK, 1),
    ("unended", ExtractOutcome.CONNECTION, 3),
    ("no_content", ExtractOutcome.NO_CONTENT, 1),
    ("half", ExtractOutcome.BAD_TEI, 1),
    ("huge", ExtractOutcome.BAD_TEI, 1),
    ("NO_BLOCKS", ExtractOutcome.NO_BLOCKS, 1),
    ("TIMEOUT", ExtractOutcome.TIMEOUT, 3),
    ("GENERAL", ExtractOutcome.CONNECTION, 3),
    ("502", ExtractOutcome.CONNECTION, 3),
    ("drop", ExtractOutcome.CONNECTION, 3),
    ("truncate", ExtractOutcome.CONNECTION, 3),
    ("hang", ExtractOutcome.TIMEOUT, 3),
    ("stall", ExtractOutcome.TIMEOUT, 3),
    ("trickle", ExtractOutcome.TIMEOUT, 3),
]


def test_fault_gives_outcome_and_number_of_tries() -> None:
    items = pdfs(len(CASES))
    fault_of = {sha1: fault for (sha1, _), (fault, _, _) in zip(items, CASES, strict=True)}
    with StandIn(faults=lambda upload: fault_of[upload.sha1]) as server:
        # A busy machine needs more than 0.4 s for the 13 MB of `huge`.
        results = run(Pool([server.url], limits=replace(QUICK, request=2.0)), items)
        found = [(fault_of[sha1], results[sha1].outcome, server.uploads[sha1]) for sha1, _ in items]
    assert found == CASES
    for sha1, result in results.items():
        tei = server.recorded(sha1) if result.outcome == "ok" else None
        assert (result.tries, result.tei, result.server) == (server.uploads[sha1], tei, server.url)
        assert result.tei_sha1 == (tei and hashlib.sha1(tei).hexdigest())


@pytest.mark.parametrize("fault", [None, "chunked", "no_content"])
def test_connections_are_reused(fault: str | None) -> None:
    with StandIn(faults=lambda _: fault) as server:
        run(Pool([server.url], limits=replace(QUICK, in_flight=2)), pdfs(20))
    assert server.connections <= 2


def test_every_option_is_sent() -> None:
    with StandIn() as server:
        pool = Pool([server.url], ExtractRules(consolidate_header=1, include_raw_citations=False), QUICK)
        run(pool, pdfs(1))
    assert server.forms == [
        {"consolidateHeader": "1", "consolidateCitations": "0", "includeRawCitations": "0", "segmentSentences": "0"}
    ]
    assert pool.options_hash != Pool([server.url], ExtractRules()).options_hash == "2531976d7b1d5c70"


def test_large_pdf_is_streamed() -> None:
    """A stream of S3 has no positions."""

    class Blocks(io.BytesIO):
        largest = 0

        def seek(self, offset: int, whence: int = 0) -> int:
            raise io.UnsupportedOperation

        def read(self, size: int | None = -1) -> bytes:
            block = super().read(size)
            Blocks.largest = max(Blocks.largest, len(block))
            return block

    data = b"%PDF" + bytes(range(256)) * 40_000
    sha1 = hashlib.sha1(data).hexdigest()
    with StandIn() as server:
        pool = Pool([server.url], limits=replace(QUICK, request=20.0))  # A busy machine needs more than 0.4 s.
        assert run(pool, [(sha1, lambda: Blocks(data))])[sha1].outcome == "ok"
    assert list(server.uploads) == [sha1]
    assert Blocks.largest <= 1 << 17


def test_busy_server_is_not_overloaded_with_retries() -> None:
    with StandIn(slots=2, latency=0.02) as server:
        results = run(Pool([server.url], limits=replace(QUICK, busy_wait=(0.5, 1.0))), pdfs(40))
    assert {r.outcome for r in results.values()} == {ExtractOutcome.OK}
    assert server.statuses["503"] < 40
    assert server.most_in_work == 2


@pytest.mark.parametrize("hangs", [True, False])
def test_hanging_or_stopped_server_is_suspended(hangs: bool) -> None:
    with StandIn(faults=lambda _: "hang") as broken, StandIn() as alive:
        broken.healthy = False
        if not hangs:
            broken.stop()
        results = run(Pool([broken.url, alive.url], limits=QUICK), pdfs(100))
    assert {r.outcome for r in results.values()} == {ExtractOutcome.OK}
    assert broken.requests <= 2 * QUICK.in_flight
    assert hangs or sum(r.tries - 1 for r in results.values()) <= QUICK.in_flight


@pytest.mark.slow
def test_every_fault_and_a_restart_lose_nothing() -> None:
    once = ["busy", "drop", "truncate", "502", "GENERAL", "TIMEOUT", "hang", None, None, None]

    def faults(upload: Upload) -> str | None:
        return once[int(upload.sha1, 16) % len(once)] if upload.times == 1 else None

    items = pdfs(150)
    with StandIn(faults=faults, latency=0.01) as server:
        pool = Pool([server.url], limits=QUICK)
        results = []
        for number, result in enumerate(pool.extract(items)):
            results.append(result)
            assert all(t.daemon for t in threading.enumerate() if t.name.startswith("extractor-"))
            if number == 60:
                server.stop()
                threading.Timer(0.3, server.start).start()
    assert Counter(r.outcome for r in results) == {ExtractOutcome.OK: 150}
    assert {r.file_sha1 for r in results} == {sha1 for sha1, _ in items}
    # A response that the server's death interrupted was never received.
    assert sum(times > 1 for times in server.answered.values()) <= QUICK.in_flight


def test_unreadable_pdf_does_not_count_against_the_server() -> None:
    def gone() -> BinaryIO:
        raise FileNotFoundError("no such object")

    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError("connection to the storage lost")

    items = [*pdfs(5), ("f" * 40, gone), ("e" * 40, lambda: Broken(b"%PDF"))]
    with StandIn() as server:
        results = run(Pool([server.url], limits=QUICK), items)
    assert results["f" * 40].outcome == results["e" * 40].outcome == ExtractOutcome.CONNECTION
    assert sum(r.outcome is ExtractOutcome.OK for r in results.values()) == 5


def test_error_while_listing_pdfs_fails_the_extraction() -> None:
    def items() -> Iterator[Item]:
        yield pdfs(1)[0]
        raise RuntimeError("listing broke")

    with StandIn() as server, pytest.raises(RuntimeError, match="listing broke"):
        list(Pool([server.url], limits=QUICK).extract(items()))


def test_progress_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with StandIn(latency=0.05) as server, caplog.at_level(logging.INFO):
        run(Pool([server.url], limits=replace(QUICK, in_flight=2, progress=0.1)), pdfs(20))
    lines = [r.message for r in caplog.records if r.message.startswith("extracted")]
    assert len(lines) > 2
    assert lines[-1].startswith("extracted 20 PDFs in")
    assert "20 ok; 0 in flight, 0 waiting" in lines[-1]


@pytest.mark.parametrize(
    ("ready", "healthy", "expected"),
    [(None, True, True), (None, False, False), (True, True, True), (False, True, False), (False, False, False)],
)
def test_server_is_healthy_when_models_are_loaded(ready: bool | None, healthy: bool, expected: bool) -> None:
    """GROBID since 0.9 reports its models in `/api/health`; older versions have only `/api/isalive`."""
    with StandIn() as stand_in:
        stand_in.ready, stand_in.healthy = ready, healthy
        server = GrobidServer(stand_in.url, {}, token=None, connections=1, max_bytes=1024)
        assert server.alive(timeout=5) is expected


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("0.6.1", ("grobid", "0.6.1")),
        ({"version": "0.8.2", "revision": "a3f"}, ("grobid", "0.8.2")),
        ({"version": "0.1.0", "name": "s2corpus-layout"}, ("s2corpus-layout", "0.1.0")),
    ],
)
def test_identity_is_read_from_the_version_response(version: object, told: tuple[str, str]) -> None:
    with StandIn(version=version) as server:
        identity = Pool([server.url], limits=QUICK).identity()
        assert (identity.extractor, identity.version) == told


def test_servers_of_one_pool_have_one_version() -> None:
    with (
        StandIn(version="0.8.1") as old,
        StandIn(version="0.8.2") as new,
        pytest.raises(UserError, match=r"the same version: .* 0\.8\.1, .* 0\.8\.2"),
    ):
        Pool([old.url, new.url], limits=QUICK).identity()


def test_server_with_changed_version_is_not_used() -> None:
    with StandIn(version="0.8.1", latency=0.01) as other, StandIn(version="0.8.2", latency=0.01) as one:
        other.stop()
        pool = Pool([other.url, one.url], limits=QUICK)
        assert str(pool.identity()) == "grobid 0.8.2"
        other.start()
        assert {r.server for r in run(pool, pdfs(60)).values()} == {one.url} and other.requests == 0


def test_wrong_address_is_a_clear_error() -> None:
    for given in ("localhost:8070", "ftp://host", "http://"):
        with pytest.raises(UserError, match=f"'{given}' is not a GROBID server: expected an address such as"):
            Pool([given])
    assert Pool(["https://localhost:8070"])
    with pytest.raises(UserError, match="no GROBID server was named"):
        Pool(["", " "])
    with StandIn(version="<html>") as server, pytest.raises(UserError, match="is not a GROBID server"):
        Pool([server.url], limits=QUICK).identity()
    with pytest.raises(TransientError, match="does not answer"):
        Pool([server.url], limits=QUICK).identity()


def test_token_is_sent_and_missing_token_is_explained() -> None:
    with StandIn(token="s3cret") as server:
        results = run(Pool([server.url], limits=QUICK, token="s3cret"), pdfs(2))
        assert {r.outcome for r in results.values()} == {ExtractOutcome.OK}
        with pytest.raises(UserError, match="S2CORPUS_EXTRACTOR_TOKEN"):
            Pool([server.url], limits=QUICK).identity()


def test_password_in_an_address_is_hidden() -> None:
    with StandIn() as server:
        pool = Pool([server.url.replace("//", "//user:s3cret@") + "/"], limits=QUICK)
        assert {r.server for r in run(pool, pdfs(1)).values()} == {server.url}
