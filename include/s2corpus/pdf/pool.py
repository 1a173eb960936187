"""A pool of limited child processes that read PDFs: a crash, hang or bomb costs its own PDF one outcome.

The children are fresh interpreters, not forks and not `multiprocessing` spawns (pebble's too): those would count this
process's address space towards the memory limit, or import its `__main__` again, which takes seconds in Airflow.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import selectors
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterable
from pathlib import Path

from pdf2tei.identity import NOTHING, Identity
from s2corpus.pdf.outcome import DISK_FULL, OUT_OF_MEMORY, Reading, Selection, SelectOutcome
from s2corpus.rules.select import SelectRules
from s2orc_parse.sandbox import ONE_THREAD

PDFS_PER_CHILD = 500
"""A child is replaced after this number of PDFs, which bounds its memory."""
START_SECONDS = 120.0
_GRACE = 5.0
_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "PDFALTO_BINARY")


def inspect_many(
    items: Iterable[tuple[str, Path]],
    *,
    rules: SelectRules,
    workers: int,
    timeout: float,
    memory_bytes: int,
) -> Generator[Selection, None, None]:
    """Inspect PDFs `(file_sha1, path)` in `workers` child processes: yield one Selection each, in order of completion.

    `timeout` (seconds) limits each of three steps: reading the PDF, pdfalto, and identifying the paper. `memory_bytes` limits the
    child and pdfalto separately. At most `workers` items are consumed ahead. Closing the iterator kills the children.

    Raises:
        RuntimeError: a child does not start, which no PDF can cause.
        OSError: the disk is full.
    """
    command = [
        sys.executable,
        "-P",
        "-m",
        "s2corpus.pdf.child",
        str(memory_bytes),
        str(timeout),
        rules.model_dump_json(),
    ]
    todo = iter(items)
    children = [_Child(command, timeout) for _ in range(workers)]
    try:
        with selectors.DefaultSelector() as selector:
            while True:
                for child in children:
                    if child.item is None and (item := next(todo, None)) is not None:
                        child.take(item, selector)
                busy = [child for child in children if child.item is not None]
                if not busy:
                    return
                wait = min(child.deadline for child in busy) - time.monotonic()
                ready = {key.data for key, _ in selector.select(max(wait, 0.0))}
                now = time.monotonic()
                for child in busy:
                    if child in ready or now >= child.deadline:
                        selection = child.listen(selector, heard=child in ready)
                        if selection is not None:
                            yield selection
    finally:
        for child in children:
            child.kill()


def _environment() -> dict[str, str]:
    """Return the environment of a child, without keys and tokens."""
    variables = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    search = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")]))
    return {**variables, **ONE_THREAD, "PYTHONPATH": search}


class _Child:
    """One child process and its current PDF."""

    def __init__(self, command: list[str], timeout: float) -> None:
        self.command = command
        self.timeout = timeout
        self.item: tuple[str, Path] | None = None
        self.deadline = 0.0
        self.process: subprocess.Popen[bytes] | None = None
        self.orders: socket.socket | None = None
        self.folder = ""
        self.served = 0
        self.started = False
        self.reading: Reading | None = None
        self.selected = False
        self.buffer = b""
        self.lost_before = False

    def take(self, item: tuple[str, Path], selector: selectors.BaseSelector) -> None:
        """Start on a PDF, in a new process if there is none or it has served long enough."""
        self.lost_before = False
        self._begin(item, selector)

    def _begin(self, item: tuple[str, Path], selector: selectors.BaseSelector) -> None:
        if self.process is not None and (self.served >= PDFS_PER_CHILD or self.process.poll() is not None):
            self._end(selector)
        if self.process is None:
            self.folder = tempfile.mkdtemp(prefix="s2corpus-pdf-")
            self.orders, theirs = socket.socketpair()
            with theirs:
                self.process = subprocess.Popen(
                    [*self.command, self.folder],
                    stdin=theirs.fileno(),
                    stdout=subprocess.PIPE,
                    cwd="/",
                    start_new_session=True,
                    env=_environment(),
                )
            assert self.process.stdout is not None
            selector.register(self.process.stdout, selectors.EVENT_READ, self)
            self.served, self.started, self.buffer = 0, False, b""
        self.item, self.reading, self.selected = item, None, False
        self.served += 1
        self.deadline = time.monotonic() + (self.timeout if self.started else START_SECONDS)
        with contextlib.suppress(BrokenPipeError):  # If the child died, its closed output reports it.
            self._order(item[1])

    def _order(self, path: Path) -> None:
        """Give the process the opened file: the sandbox prevents it from opening files."""
        assert self.orders is not None
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe must not block
        except OSError as error:
            self.orders.sendall(f"{type(error).__name__}: {error}".encode()[:1000])
            return
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                self.orders.sendall(b"not a file")
                return
            socket.send_fds(self.orders, [b"-"], [file])
        finally:
            os.close(file)

    def listen(self, selector: selectors.BaseSelector, *, heard: bool) -> Selection | None:
        """Read the child's output; return the Selection once it is decided. `heard` is False if the deadline passed."""
        assert self.process is not None and self.process.stdout is not None and self.item is not None
        output = os.read(self.process.stdout.fileno(), 1 << 16) if heard else b""
        if not output:
            return self._lost(selector, timed_out=not heard)
        self.buffer += output
        *lines, self.buffer = self.buffer.split(b"\n")
        for line in lines:
            answer = json.loads(line)
            self.deadline = time.monotonic() + self.timeout + (_GRACE if self.started else 0.0)
            if not self.started:
                self.started = True
            elif self.reading is None:
                self.reading = Reading(*answer)
                if self.reading.outcome is not None:
                    return self._decided(SelectOutcome(self.reading.outcome), self.reading.detail)
            elif self.selected:
                return self._decided(SelectOutcome.SELECTED, None, Identity(*answer))
            elif answer[0] == SelectOutcome.SELECTED:
                self.selected = True
            else:
                return self._decided(SelectOutcome(answer[0]), answer[1])
        return None

    def _lost(self, selector: selectors.BaseSelector, *, timed_out: bool) -> Selection | None:
        """Return the outcome of a PDF after its child died or timed out, by the step that failed; None to retry.

        The kernel or an operator may also kill a child. The first death causes a retry; a second one is attributed to the PDF.
        """
        status = self._end(selector, at_its_end=not timed_out)
        if not self.started:
            raise RuntimeError(f"the process that reads PDFs does not start (exit status {status})")
        if status == DISK_FULL:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.environ.get("TMPDIR", "/tmp"))
        if not timed_out and status != OUT_OF_MEMORY and not self.lost_before:
            assert self.item is not None
            self.lost_before = True
            self._begin(self.item, selector)
            return None
        if self.selected:  # only the identity is missing
            return self._decided(SelectOutcome.SELECTED, None)
        how = f"ended its process (status {status})"
        if timed_out:
            how = f"took more than {self.timeout:g} s"
        elif status == OUT_OF_MEMORY:
            how = "needs more than its memory"
        return self._decided(SelectOutcome.UNREADABLE if self.reading is None else SelectOutcome.PDFALTO_FAILED, how)

    def _decided(self, outcome: SelectOutcome, detail: str | None, identity: Identity = NOTHING) -> Selection:
        assert self.item is not None
        seen = self.reading or Reading(outcome)
        selection = Selection(self.item[0], outcome, seen.pages, seen.width_pt, seen.height_pt, detail, identity)
        self.item = None
        return selection

    def _end(self, selector: selectors.BaseSelector, *, at_its_end: bool = False) -> int | None:
        assert self.process is not None and self.process.stdout is not None
        selector.unregister(self.process.stdout)
        return self.kill(at_its_end=at_its_end)

    def kill(self, *, at_its_end: bool = False) -> int | None:
        """Kill the process and its children; return its exit status."""
        if self.process is None:
            return None
        process, self.process = self.process, None
        try:
            status = process.wait(timeout=1.0 if at_its_end else 0.0)
        except subprocess.TimeoutExpired:
            status = None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdout is not None and self.orders is not None
        process.stdout.close()
        self.orders.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        return status
