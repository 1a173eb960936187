"""Measure the CPU seconds of reading PDFs as a release does, in a worker inside the sandbox.

The figures include the worker and pdfalto; other work on the machine changes CPU seconds little. Programs that return
text without structure are measured for comparison.
"""

from __future__ import annotations

import multiprocessing
import resource
import shutil
import subprocess
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
from pebble import ProcessPool

from pdf2tei.pages.alto_cache import ENTRY
from pdf2tei.service.server import enter_worker_sandbox
from s2corpus.pdf.inspection import find_text_failure

TIMEOUT = 120.0
"""Maximum seconds per PDF."""


@dataclass(frozen=True, slots=True)
class Read:
    """A PDF's TEI (None if it failed) and the CPU seconds."""

    tei: bytes | None
    own: float
    pdfalto: float
    failed: bool = False


class Worker:
    """One sandboxed process that reads PDFs, already warm."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="extract-")
        self._pool = ProcessPool(
            1,
            initializer=enter_worker_sandbox,
            initargs=(self._folder,),
            context=multiprocessing.get_context("forkserver"),
        )

    def read(self, pdf: Path, *, is_cached: bool = False) -> Read:
        """Read a PDF; return its TEI and the CPU seconds. A failed PDF does not affect other PDFs.

        With `is_cached`, the worker finds pdfalto's output, as in a release after `select`.
        """
        if is_cached:
            with tempfile.TemporaryDirectory() as folder:
                find_text_failure(pdf.read_bytes(), Path(folder), timeout=TIMEOUT, cache=True)
                shutil.copy(Path(folder) / ENTRY, Path(self._folder) / ENTRY)
        copy = shutil.copyfile(pdf, Path(self._folder) / "input.pdf")
        try:
            read: Read = self._pool.schedule(_read, args=(str(copy),), timeout=TIMEOUT).result()
        except Exception:
            traceback.print_exc()
            return Read(None, 0.0, 0.0, failed=True)
        return read

    def close(self) -> None:
        """Stop the process."""
        self._pool.stop()  # type: ignore[no-untyped-call]  # pebble has no types
        self._pool.join()
        shutil.rmtree(self._folder, ignore_errors=True)


def _read(path: str) -> Read:
    from pdf2tei.paper import extract  # after the sandbox: its imports start threads

    own, other = _used(resource.RUSAGE_SELF), _used(resource.RUSAGE_CHILDREN)
    tei = extract(Path(path), timeout=TIMEOUT, cached=Path(path).with_name(ENTRY))
    return Read(tei, _used(resource.RUSAGE_SELF) - own, _used(resource.RUSAGE_CHILDREN) - other)


def peers(pdfs: list[Path]) -> dict[str, float]:
    """Return the CPU seconds of programs that extract the PDFs' text."""
    programs: dict[str, Callable[[Path], object]] = {"pypdfium2": _pdfium}
    if shutil.which("pdftotext"):
        programs["pdftotext"] = lambda pdf: subprocess.run(["pdftotext", pdf, "/dev/null"], capture_output=True)
    used: dict[str, float] = {}
    for name, run in programs.items():
        before = _used(resource.RUSAGE_SELF) + _used(resource.RUSAGE_CHILDREN)
        for pdf in pdfs:
            run(pdf)
        used[name] = _used(resource.RUSAGE_SELF) + _used(resource.RUSAGE_CHILDREN) - before
    return used


def pages(pdf: Path) -> int:
    """Return the number of pages of a PDF; 0 if it cannot be opened."""
    try:
        with pypdfium2.PdfDocument(pdf) as document:
            return len(document)
    except pypdfium2.PdfiumError:
        return 0


def _pdfium(pdf: Path) -> None:
    with pypdfium2.PdfDocument(pdf) as document:
        for page in document:
            page.get_textpage().get_text_range()


def _used(whose: int) -> float:
    usage = resource.getrusage(whose)
    return usage.ru_utime + usage.ru_stime
