"""The pool decides which PDF to send next, to which server and when (docs/extractors.md, "Adapter").

The test sets the clock, and no server runs.
"""

import io
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import TypeAlias

import pytest

from s2corpus.extractors import Extraction, Limits, run
from s2corpus.extractors.grobid import GrobidServer
from s2corpus.extractors.load import Load
from s2corpus.extractors.protocol import ExtractorAnswer
from s2corpus.extractors.run import ExtractionRun, _Job
from s2corpus.outcomes import ExtractOutcome

LIMITS = Limits(
    in_flight=2, deadline=20.0, request=8.0, tries=3, busy_wait=(5.0, 5.0), retry_wait=(1.0, 1.0), failures=3,
    health_wait=(2.0, 4.0), outage=30.0, status=3.0, progress=60.0, max_tei_bytes=10,
)  # fmt: skip
LATE = ExtractorAnswer(ExtractOutcome.TIMEOUT, broken=True)
BUSY = ExtractorAnswer(ExtractOutcome.BUSY)
BROKEN = ExtractorAnswer(ExtractOutcome.CONNECTION, broken=True)
FAILED = ExtractorAnswer(ExtractOutcome.CONNECTION)
FINAL = ExtractorAnswer(ExtractOutcome.NO_BLOCKS)
Start: TypeAlias = Callable[..., ExtractionRun]
Clock: TypeAlias = SimpleNamespace


def server(name: str) -> GrobidServer:
    return GrobidServer(f"http://{name}", {}, token=None, connections=1, max_bytes=10)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    now = SimpleNamespace(at=100.0)
    monkeypatch.setattr(run, "time", SimpleNamespace(monotonic=lambda: now.at))
    return now


@pytest.fixture
def started(clock: Clock) -> Start:
    def start(count: int = 9, servers: str = "a", out: str = "", **limits: float) -> ExtractionRun:
        healthy = {f"http://{name}" for name in set(servers) - set(out)}
        items = iter([(f"pdf{number}", lambda: io.BytesIO(b"%PDF")) for number in range(count)])
        changed = replace(LIMITS, **limits)  # type: ignore[arg-type]  # the limits have several types
        state = ExtractionRun([server(name) for name in servers], healthy, lambda _: True, changed, items, count)
        state.changed.acquire()  # A pool thread acquires this lock before it calls `_next`.
        return state

    return start


def send(state: ExtractionRun) -> tuple[Load, _Job]:
    """Return the server's load and the job that the pool sends next."""
    found = state._next()
    assert isinstance(found, tuple) and found[1] is not None
    return found[0], found[1]


def test_pdfs_are_sent_in_order_to_the_least_loaded_server(started: Start) -> None:
    state = started(servers="ab", in_flight=4)
    sent = [send(state) for _ in range(4)]
    assert [(load.server.name[-1], job.file_sha1) for load, job in sent] == [
        *zip("abab", ("pdf0", "pdf1", "pdf2", "pdf3"), strict=True)
    ]
    assert state._next() == LIMITS.progress, "the limit is for all servers together"
    state._settle(*sent[1], FINAL)
    assert [found.outcome for found in state.done] == [ExtractOutcome.NO_BLOCKS]
    load, job = send(state)
    assert (load.server.name, job.file_sha1) == ("http://b", "pdf4")


def test_due_retry_goes_first_and_to_another_server(started: Start, clock: Clock) -> None:
    """The other server receives the second try, although it is busier."""
    state = started(servers="ab", in_flight=4)
    jobs = [send(state) for _ in range(4)]
    for load, job in jobs[:3:2]:
        state._settle(load, job, FAILED)
    assert send(state)[1].file_sha1 == "pdf4", "the retries are not due"
    clock.at = 101.0
    load, job = send(state)
    assert job is jobs[0][1] and load.server.name == "http://b" and load.in_flight == 3
    assert (job.tries, job.started, job.deadline) == (2, 101.0, 120.0)


def test_three_equal_failures_give_up_a_pdf(started: Start, clock: Clock) -> None:
    state = started(count=1, failures=99)
    for answer in (LATE, BROKEN, LATE, BROKEN, LATE):
        assert not state.done
        load, job = send(state)
        job.seconds = 0.5
        state._settle(load, job, answer)
        clock.at += 1.0
    assert list(state.done) == [Extraction("pdf0", ExtractOutcome.TIMEOUT, 5, 0.5, "http://a")]
    state._next()  # The pool finds that no items are left.
    assert state._next() is None, "all is done"


def test_busy_server_costs_no_tries_before_deadline(started: Start, clock: Clock) -> None:
    state = started(count=1)
    for at in (100.0, 105.0, 110.0, 115.0):
        assert not state.done
        clock.at = at
        load, job = send(state)
        state._settle(load, job, BUSY)
        assert job.not_before == at + 5.0
    (found,) = state.done  # The next try would be at 120, the deadline.
    assert (found.outcome, found.tries) == (ExtractOutcome.BUSY, 4)
    assert load.failures == 0 and not load.is_removed
    assert (load.refusals, load.capacity, load.capacity_until) == (4, 0, 120.0)


def test_three_failures_suspend_a_server_until_it_is_healthy(started: Start, clock: Clock) -> None:
    state = started(in_flight=6)
    jobs = [send(state) for _ in range(6)]
    for (load, job), answer in zip(jobs, (BROKEN, BROKEN, FINAL, BROKEN, BROKEN, BROKEN), strict=True):
        assert not load.is_removed
        state._settle(load, job, answer)
    assert load.is_removed
    assert state._next() == (load, None)
    assert state._next() == load.next_check - 100.0 == 3.0 + 4.0, "the time of a health check"
    state._record_health(load, False)
    assert 102.0 <= load.next_check <= 104.0
    state._record_health(load, True)
    assert (load.is_removed, load.failures, load.refusals, load.capacity_until) == (False, 0, 0, 0.0)
    assert send(state)[1].file_sha1 == "pdf6"


@pytest.mark.parametrize(("in_flight", "refusals"), [(1, 3), (5, 5)])
def test_refusals_limit_a_server_to_its_load(in_flight: int, refusals: int) -> None:
    """As many as requests in flight, and at least three."""
    load = Load(server("a"))
    load.in_flight = in_flight
    for _ in range(refusals):
        assert load.can_take(10.0)
        load.record_busy(30.0)
    assert [load.can_take(at) for at in (10.0, 29.9, 30.0)] == [False, False, True]
    load.in_flight -= 1
    assert load.can_take(10.0)
    load.record_success()
    assert load.refusals == 0


def test_long_outage_of_all_servers_gives_up(started: Start, clock: Clock) -> None:
    state = started(count=3, out="a")
    assert state._next() == (state.loads[0], None)
    state.loads[0].next_check = 200.0
    clock.at = 129.9
    assert state._next() == pytest.approx(70.1) and not state.done
    clock.at = 130.0
    assert [state._next() for _ in range(4)] == [0.0, 0.0, 0.0, None]
    assert state.counts == {ExtractOutcome.CONNECTION: 3}
