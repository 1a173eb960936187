"""One run of a pool: `in_flight` threads share the queue of PDFs, the load of the servers and the results.

A waiting PDF occupies no thread and no request, whether it waits for a retry or for a background server.
"""

from __future__ import annotations

import hashlib
import heapq
import logging
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import BinaryIO, cast

from s2corpus.extractors.load import Load
from s2corpus.extractors.protocol import BackgroundServer, BackgroundTask, Extraction, ExtractorAnswer, Limits, Server
from s2corpus.outcomes import ExtractOutcome

log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class _Job:
    """A PDF in process; ordered by the time of its next request."""

    not_before: float
    number: int
    file_sha1: str
    open_pdf: Callable[[], BinaryIO]
    deadline: float = 0.0
    """0 until the first request"""
    tries: int = 0
    failures: Counter[ExtractOutcome] = field(default_factory=Counter)
    outcome: ExtractOutcome = ExtractOutcome.CONNECTION
    detail: str = ""
    seconds: float = 0.0
    server: str | None = None
    load: Load | None = None
    started: float = 0.0
    task: BackgroundTask | None = None
    failed_polls: int = 0
    """consecutive failed polls of the task"""

    def __lt__(self, other: _Job) -> bool:
        return (self.not_before, self.number) < (other.not_before, other.number)


class ExtractionRun:
    """The shared state of one `Pool.extract`.

    `_next`, `_handle_task_reply`, `_settle` and `_record_health` make all decisions; they run under the lock.
    """

    def __init__(
        self,
        servers: Sequence[Server],
        healthy: Set[str],
        can_rejoin: Callable[[Server], bool],
        limits: Limits,
        items: Iterator[tuple[str, Callable[[], BinaryIO]]],
        total: int | None,
    ) -> None:
        self.can_rejoin = can_rejoin
        self.limits = limits
        self.items = items
        self.total = total
        self.loads = [Load(server, is_removed=server.name not in healthy) for server in servers]
        self.changed = threading.Condition()
        self.waiting: list[_Job] = []
        self.tasks: list[_Job] = []
        self.done: deque[Extraction] = deque()
        self.taken = 0
        self.in_flight = 0
        self.counts: Counter[ExtractOutcome] = Counter()
        self.exhausted = False
        self.stopped = False
        self.last_seen = time.monotonic()
        self.error: BaseException | None = None

    def results(self) -> Iterator[Extraction]:
        """Start the threads, yield finished extractions and log the progress every few seconds."""
        for number in range(self.limits.in_flight):
            threading.Thread(target=self._work, name=f"extractor-{number}", daemon=True).start()
        started = time.monotonic()
        logged_at = started
        while True:
            with self.changed:
                if not self.done and not self.error and not self._finished():
                    self.changed.wait(self.limits.progress)
                if self.error is not None:
                    raise self.error
                batch = list(self.done)
                self.done.clear()
                self.changed.notify_all()
                finished = self._finished()
            yield from batch
            now = time.monotonic()
            if finished or now - logged_at >= self.limits.progress:
                logged_at = now
                log.info("%s", self._progress(now - started))
            if finished:
                return

    def stop(self) -> None:
        """Stop the threads; open requests end by their own timeouts."""
        with self.changed:
            self.stopped = True
            self.changed.notify_all()

    def _finished(self) -> bool:
        return self.exhausted and not self.waiting and not self.in_flight

    def _progress(self, seconds: float) -> str:
        done = sum(self.counts.values())
        outcomes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(self.counts.items())) or "none"
        servers = ", ".join(f"{load.server.name} {'out' if load.is_removed else load.in_flight}" for load in self.loads)
        of_total = f" of {self.total}" if self.total else ""
        return (
            f"extracted {done}{of_total} PDFs in {seconds:.0f} s ({done / max(seconds, 1e-9):.2f}/s): {outcomes}; "
            f"{self.in_flight} in flight, {len(self.waiting)} waiting; {servers}"
        )

    def _work(self) -> None:
        try:
            while True:
                with self.changed:
                    while True:
                        if self.stopped or (step := self._next()) is None:
                            return
                        if isinstance(step, tuple):
                            break
                        self.changed.wait(step)
                load, job = step
                if job is None:
                    is_healthy = self.can_rejoin(load.server)
                    with self.changed:
                        self._record_health(load, is_healthy)
                else:
                    reply = self._send_request(load.server, job)
                    job.seconds = time.monotonic() - job.started
                    with self.changed:
                        if not isinstance(answer := self._handle_task_reply(job, reply), BackgroundTask):
                            self._settle(load, job, answer)
        except BaseException as error:
            with self.changed:
                self.error = error
                self.changed.notify_all()

    def _send_request(self, server: Server, job: _Job) -> ExtractorAnswer | BackgroundTask:
        """Send the next request for a PDF: submit it, poll its task or fetch the answer."""
        left = max(self._attempt_deadline(job) - time.monotonic(), 0.1)
        if job.task is None:
            return server.submit(job.file_sha1, job.open_pdf, timeout=left)
        background = cast(BackgroundServer, server)
        if job.task.done:
            return background.fetch(job.task, timeout=left)
        return background.poll(job.task, timeout=min(left, self.limits.status))

    def _attempt_deadline(self, job: _Job) -> float:
        """Return the time at which the current attempt times out."""
        return min(job.deadline, job.started + self.limits.request)

    def _handle_task_reply(
        self, job: _Job, reply: ExtractorAnswer | BackgroundTask
    ) -> ExtractorAnswer | BackgroundTask:
        """Return the task if it is polled again later, or the answer that ends the attempt."""
        now = time.monotonic()
        in_time = now < self._attempt_deadline(job)
        if isinstance(reply, BackgroundTask):
            job.task, job.failed_polls = reply, 0
            if not in_time:
                return ExtractorAnswer(ExtractOutcome.TIMEOUT, broken=True, detail=f"task {reply.id}: not done in time")
            wait = 0.0 if reply.done else max(reply.wait, 0.0)
        else:
            job.failed_polls += 1
            is_final = reply.outcome.final or reply.lost
            if job.task is None or is_final or not in_time or job.failed_polls >= self.limits.tries:
                return reply
            is_busy = reply.outcome is ExtractOutcome.BUSY
            wait = random.uniform(*(self.limits.busy_wait if is_busy else self.limits.retry_wait))
        job.not_before = min(now + wait, self._attempt_deadline(job))
        heapq.heappush(self.tasks, job)
        self.changed.notify_all()
        return job.task

    def _next(self) -> tuple[Load, _Job | None] | float | None:
        """Return the next step of a free thread: (server, PDF), (server, None) for a health check, seconds to wait, or None to end."""
        now = time.monotonic()
        for load in self.loads:
            if load.is_removed and now >= load.next_check:
                load.next_check = now + self.limits.status + self.limits.health_wait[1]
                return load, None
        if any(not load.is_removed for load in self.loads):
            self.last_seen = now
        if len(self.done) >= 2 * self.limits.in_flight:
            return self.limits.progress  # until the results are taken
        outage = now - self.last_seen >= self.limits.outage
        for job in [job for job in self.waiting if outage or now >= job.deadline]:
            self.waiting.remove(job)
            self._finish(job)
        heapq.heapify(self.waiting)
        if outage and self._load_next_item():
            self._finish(self.waiting.pop())  # The queue contains only this item: an outage has emptied it.
            return 0.0
        if self.tasks and self.tasks[0].not_before <= now:
            job = heapq.heappop(self.tasks)
            assert job.load is not None
            return job.load, job
        if self._finished():
            self.changed.notify_all()
            return None
        takers = [load for load in self.loads if load.can_take(now) and self.in_flight < self.limits.in_flight]
        due = bool(self.waiting) and self.waiting[0].not_before <= now
        if takers and (due or (len(self.waiting) < 100 * self.limits.in_flight and self._load_next_item())):
            job = heapq.heappop(self.waiting)
            load = min(takers, key=lambda load: (load.server.name == job.server, load.in_flight))
            load.in_flight += 1
            self.in_flight += 1
            job.tries += 1
            job.server, job.load = load.server.name, load
            job.started, job.task, job.failed_polls = now, None, 0
            job.deadline = job.deadline or now + self.limits.deadline
            return load, job
        if takers:
            then = self.waiting[0].not_before if self.waiting else now + self.limits.progress
        elif self.in_flight < self.limits.in_flight:
            then = min(load.next_check if load.is_removed else load.capacity_until for load in self.loads)
        else:
            then = now + self.limits.progress
        return max(min(then, self.tasks[0].not_before if self.tasks else then) - now, 0.0)

    def _load_next_item(self) -> bool:
        """Move the next item to the head of the queue; return False at the end."""
        if self.exhausted:
            return False
        item = next(self.items, None)
        if item is None:
            self.exhausted = True
            self.changed.notify_all()
            return False
        self.taken += 1
        heapq.heappush(self.waiting, _Job(0.0, self.taken, *item))
        return True

    def _settle(self, load: Load, job: _Job, answer: ExtractorAnswer) -> None:
        """Record an attempt: finish the PDF, retry it after a wait, or give it up."""
        now = time.monotonic()
        load.in_flight -= 1
        self.in_flight -= 1
        if answer.outcome is ExtractOutcome.OK and len(answer.body) > self.limits.max_tei_bytes:
            answer = ExtractorAnswer(ExtractOutcome.BAD_ANSWER, detail="too large")
        job.outcome, job.detail = answer.outcome, answer.detail
        if answer.outcome.final:
            load.record_success()
            self._finish(job, answer.body if answer.outcome is ExtractOutcome.OK else None)
            return
        log.debug("%s at %s: %s: %s", job.file_sha1, load.server.name, answer.outcome, answer.detail)
        wait = self.limits.retry_wait
        if answer.outcome is ExtractOutcome.BUSY:
            wait = self.limits.busy_wait
        elif answer.broken:
            load.record_failure(self.limits.failures, now, is_unreachable=answer.unreachable)
        job.failures[answer.outcome] += 1
        job.not_before = now + random.uniform(*wait)
        if answer.outcome is ExtractOutcome.BUSY:
            load.record_busy(job.not_before)
        exhausted = answer.outcome is not ExtractOutcome.BUSY and job.failures[answer.outcome] >= self.limits.tries
        if exhausted or job.not_before >= job.deadline:
            log.warning("gave up %s: %s after %d tries: %s", job.file_sha1, answer.outcome, job.tries, answer.detail)
            self._finish(job)
        else:
            heapq.heappush(self.waiting, job)
            self.changed.notify_all()

    def _record_health(self, load: Load, is_healthy: bool) -> None:
        """Return a healthy server to the pool, or schedule the next health check."""
        if is_healthy:
            log.info("%s is healthy again: returned to the pool", load.server.name)
            load.rejoin()
            self.changed.notify_all()
        else:
            load.next_check = time.monotonic() + random.uniform(*self.limits.health_wait)

    def _finish(self, job: _Job, tei: bytes | None = None) -> None:
        tei_sha1 = None if tei is None else hashlib.sha1(tei, usedforsecurity=False).hexdigest()
        self.counts[job.outcome] += 1
        self.done.append(
            Extraction(
                job.file_sha1, job.outcome, job.tries, round(job.seconds, 3), job.server, tei, tei_sha1, job.detail
            )
        )
        self.changed.notify_all()
