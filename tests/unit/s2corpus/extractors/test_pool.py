"""The pool handles every fault of real HTTP servers: GROBID, and docling-serve, which works in the background.

docs/extractors.md, "Adapter": lost tasks are submitted again; answers above the limit are `bad_answer`.
"""

import hashlib
import io
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import orjson
import pytest
from grobid_client.grobid_client import GrobidClient

from devtools.examples import docling
from s2corpus.errors import TransientError, UserError
from s2corpus.extractors import Extraction, Limits, Pool
from s2corpus.extractors.grobid import GrobidServer
from s2corpus.extractors.registry import by_address
from s2corpus.outcomes import ExtractOutcome
from s2corpus.spec import ExtractRules
from tests import standin_docling
from tests.standin_grobid import StandIn, Upload

QUICK = Limits(
    in_flight=8, deadline=20.0, request=0.4, busy_wait=(0.05, 0.1), retry_wait=(0.02, 0.05), health_wait=(0.05, 0.1), outage=10.0,
    status=5.0, progress=60.0,  # No test may wait for it.
)  # fmt: skip
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
    (None, ExtractOutcome.OK, 1), ("chunked", ExtractOutcome.OK, 1), ("unended", ExtractOutcome.CONNECTION, 3),
    ("no_content", ExtractOutcome.NO_CONTENT, 1), ("half", ExtractOutcome.CONNECTION, 3), ("huge", ExtractOutcome.BAD_TEI, 1),
    ("NO_BLOCKS", ExtractOutcome.NO_BLOCKS, 1), ("TIMEOUT", ExtractOutcome.TIMEOUT, 3), ("GENERAL", ExtractOutcome.CONNECTION, 3),
    ("502", ExtractOutcome.CONNECTION, 3), ("drop", ExtractOutcome.CONNECTION, 3), ("truncate", ExtractOutcome.CONNECTION, 3),
    ("hang", ExtractOutcome.TIMEOUT, 3), ("stall", ExtractOutcome.TIMEOUT, 3), ("trickle", ExtractOutcome.TIMEOUT, 3),
]  # fmt: skip


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


def test_every_option_is_sent() -> None:
    names = ("consolidateHeader", "consolidateCitations", "includeRawCitations", "segmentSentences")
    with StandIn() as server:
        for rules in (
            ExtractRules(),
            ExtractRules(options={"consolidateHeader": "2", "consolidateCitations": "1", "includeRawCitations": "0"}),
            ExtractRules(ocr="scans", options={"segmentSentences": "1", "teiCoordinates": "ref,biblStruct"}),
        ):
            run(Pool([server.url], rules, QUICK), pdfs(1))
    others: list[dict[str, str]] = [{}, {}, {"ocr": "1", "teiCoordinates": "ref,biblStruct"}]
    forms = [dict(zip(names, values, strict=True)) for values in ("0010", "2100", "0011")]
    assert server.forms == [{**form, **other} for form, other in zip(forms, others, strict=True)]


@pytest.mark.parametrize("method", ["process_pdf", "post"])
def test_grobid_client_python_makes_the_requests(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library, every PDF fails, and no request reaches the server (SPEC §2.1)."""

    def disabled(*_: object, **__: object) -> tuple[str, int, str]:
        return "", 500, "disabled"

    monkeypatch.setattr(GrobidClient, method, disabled)
    with StandIn() as server:
        results = run(Pool([server.url], limits=QUICK), pdfs(2))
    assert {r.outcome for r in results.values()} == {ExtractOutcome.CONNECTION} and not server.requests


def test_large_pdf_is_streamed() -> None:
    class Stream(io.BytesIO):
        """Bytes without positions, as those of S3."""

        def seek(self, offset: int, whence: int = 0) -> int:
            raise io.UnsupportedOperation

    data = b"%PDF" + bytes(range(256)) * 40_000
    sha1 = hashlib.sha1(data).hexdigest()
    with StandIn() as server:
        pool = Pool([server.url], limits=replace(QUICK, request=20.0))
        assert run(pool, [(sha1, lambda: Stream(data))])[sha1].outcome == "ok"


def test_stopped_server_is_suspended_at_once() -> None:
    with StandIn() as broken, StandIn() as alive:
        broken.stop()
        results = run(Pool([broken.url, alive.url], limits=QUICK), pdfs(100))
    assert {r.outcome for r in results.values()} == {ExtractOutcome.OK}
    assert sum(r.tries - 1 for r in results.values()) <= QUICK.in_flight


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

    with StandIn() as server:
        items = [*pdfs(5), ("f" * 40, gone)]
        results = run(Pool([server.url], limits=QUICK), items)
    assert [r.outcome for _, r in sorted(results.items())].count(ExtractOutcome.OK) == 5
    assert results["f" * 40].outcome == ExtractOutcome.LAKE


@pytest.mark.parametrize(("ready", "healthy"), [(None, True), (None, False), (True, True), (False, True)])
def test_server_is_healthy_when_models_are_loaded(ready: bool | None, healthy: bool) -> None:
    """GROBID since 0.9 reports its models in `/api/health`; older versions have only `/api/isalive`."""
    with StandIn() as stand_in:
        stand_in.ready, stand_in.healthy = ready, healthy
        server = GrobidServer(stand_in.url, {}, token=None, connections=1, max_bytes=1024)
        assert server.alive(timeout=5) is (healthy if ready is None else ready)


def test_servers_of_one_pool_have_one_name_and_version() -> None:
    with StandIn(version={"version": "0.1.0", "name": "a-third"}) as third, StandIn(version="0.8.2") as grobid:
        assert str(Pool([third.url], limits=QUICK).identity()) == "a-third 0.1.0"
        with pytest.raises(UserError, match=r"the same version: .* a-third 0\.1\.0, .* grobid 0\.8\.2"):
            Pool([third.url, grobid.url], limits=QUICK).identity()


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


def test_token_is_sent_and_missing_token_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a proxy nor a .netrc of the user applies."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ann password x")
    with StandIn(token="s3cret") as server:
        results = run(Pool([server.url], limits=QUICK, token="s3cret"), pdfs(2))
        assert {r.outcome for r in results.values()} == {ExtractOutcome.OK}
        with pytest.raises(UserError, match="S2CORPUS_EXTRACTOR_TOKEN"):
            Pool([server.url], limits=QUICK).identity()


def test_password_in_an_address_is_hidden() -> None:
    with StandIn() as server:
        pool = Pool([server.url.replace("//", "//user:s3cret@") + "/"], limits=QUICK)
        assert {r.server for r in run(pool, pdfs(1)).values()} == {server.url}


TASKS = replace(QUICK, request=2.0, status=0.5)
TASK_CASES = [
    (None, ExtractOutcome.OK, 1), ("polls 500", ExtractOutcome.OK, 1), ("failure", ExtractOutcome.NOT_CONVERTED, 1),
    ("garbage", ExtractOutcome.BAD_ANSWER, 1), ("huge", ExtractOutcome.BAD_ANSWER, 1), ("lost", ExtractOutcome.CONNECTION, 3),
    ("redirect", ExtractOutcome.CONNECTION, 3), ("never", ExtractOutcome.TIMEOUT, 3), ("hang", ExtractOutcome.TIMEOUT, 3),
]  # fmt: skip


@pytest.fixture
def adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the adapter through an entry point, as its package would."""
    monkeypatch.setattr(docling, "WAIT", 0.02)
    info = tmp_path / "docling_adapter-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: docling-adapter\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[s2corpus.extractors]\ndocling = devtools.examples.docling\n")
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("adapter")
def test_fault_of_a_task_gives_its_outcome() -> None:
    items = pdfs(len(TASK_CASES))
    fault_of = {sha1: fault for (sha1, _), (fault, _, _) in zip(items, TASK_CASES, strict=True)}
    with standin_docling.StandIn(faults=lambda sha1, times: fault_of[sha1]) as server:
        results = run(Pool([server.url], limits=replace(TASKS, in_flight=len(items))), items)
    assert [(fault_of[sha1], results[sha1].outcome, server.submitted[sha1]) for sha1, _ in items] == TASK_CASES
    assert server.elsewhere == 0  # The redirect is not followed.
    assert orjson.loads(results[items[0][0]].tei or b"") == standin_docling.SMALL


@pytest.mark.usefixtures("adapter")
def test_task_is_not_polled_before_the_wait_of_its_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait is longer than the attempt, so the task is polled at most when the attempt ends."""
    monkeypatch.setattr(docling, "WAIT", 3600.0)
    with standin_docling.StandIn(faults=lambda sha1, times: "never") as server:
        results = run(Pool([server.url], limits=replace(TASKS, request=1.0, tries=1)), pdfs(1))
        assert [one.outcome for one in results.values()] == [ExtractOutcome.TIMEOUT]
        assert [work.polls <= 1 for work in server.tasks.values()] == [True]


@pytest.mark.usefixtures("adapter")
def test_restarted_server_gets_its_lost_tasks_again() -> None:
    lost: set[str] = set()

    def faults(sha1: str, times: int) -> str | None:
        if server.submitted.total() <= 4:
            lost.add(sha1)
            return "never"
        if server.submitted.total() == 8:  # Meanwhile, four items have waited.
            server.tasks.clear()
        return None

    with standin_docling.StandIn(faults=faults) as server:
        results = run(Pool([server.url], limits=replace(TASKS, in_flight=5, request=60.0, deadline=60.0)), pdfs(20))
        assert Counter(r.outcome for r in results.values()) == {ExtractOutcome.OK: 20}
        assert server.submitted == {sha1: 2 if sha1 in lost else 1 for sha1 in results}


@pytest.mark.usefixtures("adapter")
def test_unknown_adapters_mixed_adapters_and_options_are_errors() -> None:
    with pytest.raises(UserError, match=r"'speed' given; docling has do_ocr, pdf_backend, table_mode"):
        Pool(["docling+http://localhost:5001"], ExtractRules(options={"speed": "fast"}))
    with pytest.raises(UserError, match=r"no extractor is called 'mineru': expected one of docling, grobid"):
        Pool(["mineru+http://localhost:8000"])
    with pytest.raises(UserError, match="the same extractor: found docling, grobid"):
        Pool(["docling+http://localhost:5001", "http://localhost:8070"])


def test_address_of_a_program_names_its_adapter() -> None:
    assert by_address(["word+program://java"]) == ("word", ["program://java"])
