"""A pool of limited child processes that read PDFs: a crash, hang or bomb affects only the outcome of that PDF.

The children are fresh interpreters. Forks would inherit this process's memory, which counts towards the memory limit. Spawns of
`multiprocessing` (also pebble's) would import `__main__` again, which takes seconds in Airflow.
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

from pdf2tei.front.identity import NOTHING, Identity
from pdf2tei.pages import alto_cache
from s2corpus.outcomes import SelectOutcome
from s2corpus.pdf.outcome import DISK_FULL, OUT_OF_MEMORY, Inspection, Selection
from s2corpus.rules import SelectRules
from s2orc_parse.sandbox import ONE_THREAD

PDFS_PER_CHILD = 500
"""A child is replaced after this number of PDFs, which bounds its memory."""
START_SECONDS = 120.0
_GRACE = 5.0
_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "PDFALTO_BINARY")


def inspect_many(
    items: Iterable[tuple[str, Path]], *, rules: SelectRules, workers: int, timeout: float, memory_bytes: int
) -> Generator[Selection, None, None]:
    """Inspect PDFs `(file_sha1, path)` in `workers` child processes: yield one Selection each, in order of completion.

    `timeout` (seconds) limits each of three steps: reading the PDF, pdfalto, and identifying the paper. `memory_bytes` limits the
    child and pdfalto separately. At most `workers` items are consumed ahead. Closing the iterator kills the children.
    pdfalto's output is cached for the extractor, unless pdfalto may use more memory here than there.

    Raises:
        RuntimeError: a child does not start, which no PDF can cause.
        OSError: the disk is full.
    """
    cache = alto_cache.Writer.find() if memory_bytes <= alto_cache.MEMORY_BYTES else None
    arguments = [str(memory_bytes), str(timeout), rules.model_dump_json(), str(int(cache is not None))]
    command = [sys.executable, "-P", "-m", "s2corpus.pdf.child", *arguments]
    todo = iter(items)
    children = [_Child(command, timeout, cache) for _ in range(workers)]
    try:
        with selectors.DefaultSelector() as selector:
            while True:
                for child in children:
                    if child.item is None and (item := next(todo, None)) is not None:
                        child.start(item, selector)
                busy = [child for child in children if child.item is not None]
                if not busy:
                    return
                wait = min(child.deadline for child in busy) - time.monotonic()
                ready = {key.data for key, _ in selector.select(max(wait, 0.0))}
                now = time.monotonic()
                for child in busy:
                    if child in ready or now >= child.deadline:
                        selection = child.read_output(selector, is_ready=child in ready)
                        if selection is not None:
                            yield selection
    finally:
        for child in children:
            child.stop()


def _environment() -> dict[str, str]:
    """Return the environment of a child, without keys and tokens."""
    variables = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    search = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")]))
    return {**variables, **ONE_THREAD, "PYTHONPATH": search}


class _Child:
    """One child process and its current PDF."""

    def __init__(self, command: list[str], timeout: float, cache: alto_cache.Writer | None) -> None:
        self.command = command
        self.timeout = timeout
        self.cache = cache
        self.item: tuple[str, Path] | None = None
        self.deadline = 0.0
        self.process: subprocess.Popen[bytes] | None = None
        self.requests: socket.socket | None = None
        self.folder = ""
        self.served = 0
        self.started = False
        self.inspection: Inspection | None = None
        self.selected = False
        self.buffer = b""
        self.is_retry = False

    def start(self, item: tuple[str, Path], selector: selectors.BaseSelector, *, is_retry: bool = False) -> None:
        """Start on a PDF, in a new process if there is none or it has served long enough."""
        if self.process is not None and (self.served >= PDFS_PER_CHILD or self.process.poll() is not None):
            self._end(selector)
        if self.process is None:
            self.folder = tempfile.mkdtemp(prefix="s2corpus-pdf-")
            self.requests, theirs = socket.socketpair()
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
        self.item, self.inspection, self.selected, self.is_retry = item, None, False, is_retry
        self.served += 1
        self.deadline = time.monotonic() + (self.timeout if self.started else START_SECONDS)
        with contextlib.suppress(BrokenPipeError):  # If the child died, its closed output reports it.
            self._send(item[1])

    def _send(self, path: Path) -> None:
        """Send the opened file to the process: the sandbox prevents it from opening files."""
        assert self.requests is not None
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe must not block
        except OSError as error:
            self.requests.sendall(f"{type(error).__name__}: {error}".encode()[:1000])
            return
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                self.requests.sendall(b"not a file")
                return
            socket.send_fds(self.requests, [b"-"], [file])
        finally:
            os.close(file)

    def read_output(self, selector: selectors.BaseSelector, *, is_ready: bool) -> Selection | None:
        """Read the child's output; return the Selection once it is decided. `is_ready` is False if the deadline passed."""
        assert self.process is not None and self.process.stdout is not None and self.item is not None
        output = os.read(self.process.stdout.fileno(), 1 << 16) if is_ready else b""
        if not output:
            return self._handle_death(selector, timed_out=not is_ready)
        self.buffer += output
        *lines, self.buffer = self.buffer.split(b"\n")
        for line in lines:
            answer = json.loads(line)
            self.deadline = time.monotonic() + self.timeout + (_GRACE if self.started else 0.0)
            if not self.started:
                self.started = True
            elif self.inspection is None:
                self.inspection = Inspection(*answer)
                if self.inspection.outcome is not None:
                    return self._finish(SelectOutcome(self.inspection.outcome), self.inspection.detail)
            elif self.selected:
                return self._finish(SelectOutcome.SELECTED, None, Identity(*answer))
            else:
                if answer[0] != SelectOutcome.SELECTED:
                    return self._finish(SelectOutcome(answer[0]), answer[1])
                if self.cache is not None:
                    self.cache.store(self.item[0], Path(self.folder) / alto_cache.ENTRY)
                self.selected = True
        return None

    def _handle_death(self, selector: selectors.BaseSelector, *, timed_out: bool) -> Selection | None:
        """Return the outcome of a PDF after its child died or timed out, by the step that failed, or None after starting a retry.

        The kernel or an operator may also kill a child. The first death causes a retry; a second one is attributed to the PDF.
        """
        status = self._end(selector, has_ended=not timed_out)
        if not self.started:
            raise RuntimeError(f"the process that reads PDFs does not start (exit status {status})")
        if status == DISK_FULL:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.environ.get("TMPDIR", "/tmp"))
        if not timed_out and status != OUT_OF_MEMORY and not self.is_retry:
            assert self.item is not None
            self.start(self.item, selector, is_retry=True)
            return None
        if self.selected:  # only the identity is missing
            return self._finish(SelectOutcome.SELECTED, None)
        how = f"ended its process (status {status})"
        if timed_out:
            how = f"took more than {self.timeout:g} s"
        elif status == OUT_OF_MEMORY:
            how = "needs more than its memory"
        return self._finish(SelectOutcome.UNREADABLE if self.inspection is None else SelectOutcome.PDFALTO_FAILED, how)

    def _finish(self, outcome: SelectOutcome, detail: str | None, identity: Identity = NOTHING) -> Selection:
        assert self.item is not None
        seen = self.inspection or Inspection(outcome)
        selection = Selection(self.item[0], outcome, seen.pages, seen.width_pt, seen.height_pt, detail, identity)
        self.item = None
        return selection

    def _end(self, selector: selectors.BaseSelector, *, has_ended: bool = False) -> int | None:
        assert self.process is not None and self.process.stdout is not None
        selector.unregister(self.process.stdout)
        return self.stop(has_ended=has_ended)

    def stop(self, *, has_ended: bool = False) -> int | None:
        """Kill the process and its children; return its exit status. If it `has_ended`, its own status is awaited for a second."""
        if self.process is None:
            return None
        process, self.process = self.process, None
        try:
            status = process.wait(timeout=1.0 if has_ended else 0.0)
        except subprocess.TimeoutExpired:
            status = None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdout is not None and self.requests is not None
        process.stdout.close()
        self.requests.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        return status
