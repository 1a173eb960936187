"""The pool decides which PDF to send next, to which server and when. The test sets the clock, and no server runs."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import TypeAlias, cast

import pytest

from s2corpus.errors import TransientError, UserError
from s2corpus.extractors import Extraction, ExtractOutcome, Limits, Pool, run
from s2corpus.extractors.grobid import GrobidServer
from s2corpus.extractors.protocol import BackgroundTask, ExtractorAnswer, ExtractorIdentity
from s2corpus.extractors.run import ExtractionRun, Load, _Job

LIMITS = Limits(
    in_flight=2, deadline=20.0, request=8.0, tries=3, busy_wait=(5.0, 5.0), retry_wait=(1.0, 1.0), failures=3,
    health_wait=(2.0, 4.0), outage=30.0, status=3.0, progress=60.0, max_tei_bytes=10,
)  # fmt: skip
LATE = ExtractorAnswer(ExtractOutcome.TIMEOUT, broken=True)
BUSY = ExtractorAnswer(ExtractOutcome.BUSY)
BROKEN = ExtractorAnswer(ExtractOutcome.CONNECTION, broken=True)
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
    def start(
        count: int = 9, servers: tuple[str, ...] = ("a",), out: tuple[str, ...] = (), **limits: object
    ) -> ExtractionRun:
        found = [server(name) for name in servers]
        healthy = {one.name for one in found} - {f"http://{name}" for name in out}
        items = iter([(f"pdf{number}", lambda: io.BytesIO(b"%PDF")) for number in range(count)])
        state = ExtractionRun(found, healthy, lambda _: True, replace(LIMITS, **limits), items, count)  # type: ignore[arg-type]  # simulated servers

        state.changed.acquire()  # A pool thread acquires this lock before it calls `_next`.
        return state

    return start


def sent(state: ExtractionRun) -> tuple[Load, _Job]:
    """Return the server's load and the job that the pool sends next."""
    found = state._next()
    assert isinstance(found, tuple) and found[1] is not None
    return found[0], found[1]


@pytest.mark.parametrize(
    ("alive", "told", "expected"),
    [
        (True, ExtractorIdentity("grobid", "0.8.1"), True),
        (False, ExtractorIdentity("grobid", "0.8.1"), False),
        (True, ExtractorIdentity("grobid", "0.8.2"), False),
        (True, UserError("requires a token"), False),
        (True, TransientError("does not answer"), False),
    ],
)
def test_recovered_server_returns_to_pool(alive: bool, told: ExtractorIdentity | Exception, expected: bool) -> None:
    def identity(*, timeout: float) -> ExtractorIdentity:
        if isinstance(told, Exception):
            raise told
        return told

    pool = Pool(["http://a"])
    pool.common_identity = replace(ExtractorIdentity("grobid", "0.8.1"), options_hash=pool.options_hash)
    one = cast(GrobidServer, SimpleNamespace(name="http://a", alive=lambda timeout: alive, identity=identity))
    assert pool.can_rejoin(one) is expected
    pool.common_identity = None
    assert pool.can_rejoin(one) is alive


def test_pdfs_are_sent_in_order_up_to_limit(started: Start) -> None:
    state = started()
    for number in (1, 2):
        load, job = sent(state)
        assert (job.file_sha1, job.tries, job.server) == (f"pdf{number - 1}", 1, "http://a")
        assert (job.started, job.deadline) == (100.0, 120.0)
        assert (load.in_flight, state.in_flight) == (number, number)
    assert state._next() == LIMITS.progress
    state._settle(load, job, FINAL)
    assert (load.in_flight, state.in_flight) == (1, 1)
    assert [found.outcome for found in state.done] == [ExtractOutcome.NO_BLOCKS]
    assert sent(state)[1].file_sha1 == "pdf2"


def test_least_loaded_server_gets_next_pdf(started: Start) -> None:
    state = started(servers=("a", "b"), in_flight=4)
    assert [sent(state)[0].server.name for _ in range(4)] == ["http://a", "http://b"] * 2
    assert state._next() == LIMITS.progress, "the limit is for all servers together"


def test_failed_pdf_goes_to_another_server(started: Start, clock: Clock) -> None:
    """The other server receives the second try, although it is busier."""
    state = started(servers=("a", "b"), in_flight=4)
    jobs = [sent(state) for _ in range(4)]
    for load, job in jobs[:3:2]:
        state._settle(load, job, ExtractorAnswer(ExtractOutcome.CONNECTION))
    clock.at = 101.0
    load, job = sent(state)
    assert (job.tries, load.server.name, load.in_flight) == (2, "http://b", 3)


def test_due_retry_precedes_new_pdfs(started: Start, clock: Clock) -> None:
    state = started(in_flight=1)
    load, job = sent(state)
    state._settle(load, job, LATE)
    assert job.not_before == 101.0
    load, other = sent(state)
    assert other.file_sha1 == "pdf1"
    state._settle(load, other, FINAL)
    clock.at = 101.0
    again = sent(state)[1]
    assert again is job and (job.tries, job.started, job.deadline) == (2, 101.0, 120.0)


def test_three_equal_failures_give_up_a_pdf(started: Start, clock: Clock) -> None:
    state = started(count=1, failures=99)
    for number, answer in enumerate((LATE, BROKEN, LATE, BROKEN, LATE), 1):
        assert not state.done
        load, job = sent(state)
        assert job.tries == number
        clock.at += 0.5
        job.seconds = 0.5
        state._settle(load, job, answer)
        clock.at += 1.0
    (found,) = state.done
    assert found == Extraction("pdf0", ExtractOutcome.TIMEOUT, 5, 0.5, "http://a")
    state._next()  # The pool finds that no items are left.
    assert state._next() is None, "all is done"


def test_busy_server_costs_no_tries_before_deadline(started: Start, clock: Clock) -> None:
    state = started(count=1)
    for at in (100.0, 105.0, 110.0):
        clock.at = at
        load, job = sent(state)
        state._settle(load, job, BUSY)
        assert (job.not_before, list(state.done)) == (at + 5.0, [])
    clock.at = 115.0
    load, job = sent(state)
    state._settle(load, job, BUSY)  # The next try would be at 120, the deadline.
    (found,) = state.done
    assert (found.outcome, found.tries) == (ExtractOutcome.BUSY, 4)
    assert load.failures == 0 and not load.is_removed
    assert (load.refusals, load.capacity, load.capacity_until) == (4, 0, 120.0)


def test_waiting_pdf_is_given_up_at_its_deadline(started: Start, clock: Clock) -> None:
    state = started(count=1, busy_wait=(19.0, 19.0))
    load, job = sent(state)
    state._settle(load, job, BUSY)
    assert state._next() == 19.0, "until it is due"
    clock.at = 119.9
    load.capacity_until, load.capacity = 200.0, 0  # No server has room.
    assert state._next() == pytest.approx(80.1)
    clock.at = 120.0
    assert state._next() is None and [found.outcome for found in state.done] == [ExtractOutcome.BUSY]


def test_three_failures_suspend_a_server(started: Start, clock: Clock) -> None:
    state = started(in_flight=4)
    jobs = [sent(state) for _ in range(4)]
    for load, job in jobs[:2]:
        state._settle(load, job, BROKEN)
    assert not load.is_removed and load.failures == 2
    state._settle(*jobs[2], FINAL)
    assert load.failures == 0, "an answer in between"
    for _ in range(3):
        load.record_failure(3, 100.0, at_once=False)
    assert load.is_removed
    assert state._next() == (load, None)
    assert load.next_check == 100.0 + 3.0 + 4.0, "the time of a health check"
    assert state._next() == 7.0
    state._record_health(load, False)
    assert 102.0 <= load.next_check <= 104.0
    state._record_health(load, True)
    assert (load.is_removed, load.failures, load.refusals, load.capacity_until) == (False, 0, 0, 0.0)
    assert sent(state)[1].file_sha1 == "pdf4"


def test_unreachable_server_is_suspended_at_once(started: Start) -> None:
    load, job = sent(state := started())
    state._settle(load, job, replace(BROKEN, unreachable=True))
    assert (load.is_removed, load.next_check, load.failures) == (True, 100.0, 1)
    load.record_failure(3, 109.0, at_once=True)
    assert load.next_check == 100.0, "the time of the check is unchanged"


def test_three_refusals_limit_requests_of_a_server() -> None:
    load = Load(server("a"))
    load.in_flight = 5
    for _ in range(4):
        load.record_busy(30.0)
        assert load.can_take(10.0)
    load.record_busy(30.0)
    assert (load.capacity, load.capacity_until) == (5, 30.0)
    assert not load.can_take(29.9) and load.can_take(30.0)
    load.in_flight = 6
    assert not load.can_take(10.0), "above its capacity"
    load.in_flight = 4
    assert load.can_take(10.0)
    load.record_success()
    assert load.refusals == 0
    few = Load(server("b"))
    for _ in range(2):
        few.record_busy(30.0)
    few.in_flight = 1
    assert few.can_take(10.0), "two refusals do not limit a server"
    few.record_busy(30.0)
    assert (few.capacity, few.can_take(10.0)) == (1, False)


def test_long_outage_of_all_servers_gives_up(started: Start, clock: Clock) -> None:
    state = started(count=3, out=("a",))
    assert state._next() == (state.loads[0], None)
    clock.at = 129.9
    state.loads[0].next_check = 200.0
    assert state._next() == pytest.approx(70.1) and not state.done
    clock.at = 130.0
    for number in range(1, 4):
        assert state._next() == 0.0
        assert len(state.done) == number
    found = {(found.outcome, found.tries, found.server) for found in state.done}
    assert found == {(ExtractOutcome.CONNECTION, 0, None)}
    assert state._next() is None


def test_one_live_server_prevents_giving_up(started: Start, clock: Clock) -> None:
    state = started(servers=("a", "b"), out=("a",))
    state.loads[0].next_check = 1000.0
    sent(state)
    clock.at = 200.0
    sent(state)
    assert not state.done


def test_nothing_is_sent_while_results_are_waiting(started: Start) -> None:
    state = started()
    for number in range(4):
        load, job = sent(state)
        assert len(state.done) == number
        state._settle(load, job, FINAL)
    assert state._next() == LIMITS.progress
    state.done.popleft()
    sent(state)


def test_queue_is_limited_to_hundred_per_slot(started: Start) -> None:
    state = started(count=500, in_flight=1, failures=1000)
    for number in range(100):
        load, job = sent(state)
        assert job.number == number + 1
        state._settle(load, job, ExtractorAnswer(ExtractOutcome.CONNECTION))
    assert len(state.waiting) == 100
    assert state._next() == 1.0, "the first retry comes before a new PDF"


def test_oversized_response_is_discarded(started: Start) -> None:
    state = started(count=2)
    for size in (10, 11):
        state._settle(*sent(state), ExtractorAnswer(ExtractOutcome.OK, b"x" * size))
    small, large = state.done
    assert (small.outcome, small.tei) == (ExtractOutcome.OK, b"x" * 10)
    assert (large.outcome, large.tei) == (ExtractOutcome.BAD_ANSWER, None)


def test_asynchronous_task_is_polled_before_new_requests(started: Start, clock: Clock) -> None:
    state = started(in_flight=1)
    load, job = sent(state)
    task = BackgroundTask("t", wait=2.0)
    assert state._handle_task_reply(job, task) is task and job.not_before == 102.0
    assert state._next() == 2.0, "until then"
    clock.at = 102.0
    assert state._next() == (load, job)
    done = BackgroundTask("t", done=True, wait=2.0)
    assert state._handle_task_reply(job, done) is done
    assert job.not_before == 102.0, "a finished task is fetched immediately"
    assert state._next() == (load, job)
    clock.at = 107.0
    state._handle_task_reply(job, BackgroundTask("t", wait=5.0))
    assert job.not_before == 108.0, "a try takes no longer than a request may"
    clock.at = 108.0
    late = state._handle_task_reply(job, BackgroundTask("t"))
    assert isinstance(late, ExtractorAnswer) and (late.outcome, late.broken) == (ExtractOutcome.TIMEOUT, True)


def test_polls_may_fail_twice_in_a_row(started: Start, clock: Clock) -> None:
    state = started(count=1)
    _, job = sent(state)
    assert state._handle_task_reply(job, BUSY) is BUSY, "there is no task yet"
    task = BackgroundTask("t", wait=0.0)
    state._handle_task_reply(job, task)
    for _ in range(2):
        state.tasks.clear()
        assert state._handle_task_reply(job, BROKEN) is task and job.not_before == 101.0
    state._handle_task_reply(job, task)
    assert job.failed_polls == 0
    for reply in (BROKEN, BUSY):
        assert state._handle_task_reply(job, reply) is task
    assert job.not_before == 105.0, "the wait for a busy server is longer"
    assert state._handle_task_reply(job, BROKEN) is BROKEN
    job.failed_polls = 0
    for last in (ExtractorAnswer(ExtractOutcome.CONNECTION, lost=True), ExtractorAnswer(ExtractOutcome.NOT_CONVERTED)):
        assert state._handle_task_reply(job, last) is last
    clock.at = 108.0
    job.failed_polls = 0
    assert state._handle_task_reply(job, BROKEN) is BROKEN, "its time is over"


def test_request_timeout_is_rest_of_its_try(started: Start, clock: Clock) -> None:
    state = started(count=1)
    _, job = sent(state)
    asked: list[tuple[str, float]] = []

    def note(what: str) -> Callable[..., ExtractorAnswer]:
        return lambda *_, timeout: asked.append((what, timeout)) or BROKEN  # type: ignore[func-returns-value]  # appending returns None

    one = SimpleNamespace(submit=note("submit"), poll=note("poll"), fetch=note("fetch"))
    clock.at = 103.0
    state._send_request(one, job)
    job.task = BackgroundTask("t")
    state._send_request(one, job)
    job.task = BackgroundTask("t", done=True)
    state._send_request(one, job)
    clock.at = 150.0
    state._send_request(one, job)
    assert asked == [("submit", 5.0), ("poll", 3.0), ("fetch", 5.0), ("fetch", 0.1)]
    job.deadline = 101.0
    assert state._attempt_deadline(job) == 101.0


def test_default_limits_match_the_documentation() -> None:
    """The limits match the documentation; GROBID itself recommends the waits after a 503."""
    assert Limits() == Limits(4, 600.0, 200.0, 3, (5.0, 10.0), (1.0, 3.0), 3, (2.0, 4.0), 180.0, 10.0, 12_000_000, 5.0)
