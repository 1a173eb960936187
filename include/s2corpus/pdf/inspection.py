"""Inspect one PDF (S2ORC App. B). Runs inside a limited child process: see `pool`."""

from __future__ import annotations

import io
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pdfalto
import pypdf
import pypdfium2

from pdf2tei.pages.alto_cache import ENTRY, OPTIONS, pack
from s2corpus.outcomes import SelectOutcome
from s2corpus.pdf.outcome import Inspection
from s2orc_parse import sandbox
from s2orc_parse.outputs import check_free_space
from s2orc_parse.sandbox.confine import NOT_CONFINED

if TYPE_CHECKING:  # not in the child: it starts with little memory
    from s2corpus.rules import SelectRules

NO_TEXT = "no text strings: a scan; `extract: {ocr: scans}` lets it through"
"""Detail of a PDF without a text layer, which counts as not converted."""
ALTO_BYTES = 1 << 30
"""Largest file pdfalto may write, bytes: real papers stay below 100 MB."""
_STRING = b"<String "
_PIECE = 1 << 20
"""Block size for reading pdfalto's output, bytes."""


def inspect(data: bytes, rules: SelectRules) -> Inspection:
    """Inspect a PDF with pypdf (readable, encrypted) and PDFium (number of pages, size of page 1).

    An owner password alone does not prevent reading. Any error of either library means `unreadable`, except MemoryError, which is
    raised: the caller ends its process.
    """
    try:
        reader = pypdf.PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and reader.decrypt("") == pypdf.PasswordType.NOT_DECRYPTED:
            return Inspection(SelectOutcome.ENCRYPTED, detail="asks for a password")
        _ = reader.root_object
        with pypdfium2.PdfDocument(data) as document:
            pages = len(document)
            if pages > rules.max_pages:  # before the page tree is walked: it may have a million leaves
                return Inspection(
                    SelectOutcome.TOO_MANY_PAGES, pages, detail=f"{pages} pages, at most {rules.max_pages}"
                )
            if not len(reader.pages) or not pages:
                return Inspection(SelectOutcome.UNREADABLE, pages, detail="has no pages")
            # The displayed size, after rotation and cropping.
            width, height = document.get_page_size(0)
    except MemoryError:
        raise
    except Exception as error:  # pypdf raises many types of errors
        return Inspection(SelectOutcome.UNREADABLE, detail=describe(error))
    if width > height:
        return Inspection(SelectOutcome.LANDSCAPE, pages, width, height)
    return Inspection(None, pages, width, height)


def find_text_failure(data: bytes, folder: Path, *, timeout: float, cache: bool = False) -> str | None:
    """Run pdfalto on a PDF in a separate folder; return None if it finds text, or the reason for the failure.

    pdfalto exits with 0 on scans and on most bombs, so an output without text strings is a failure too.
    `timeout` is in seconds. pdfalto inherits the memory limit of this process. Afterwards, the folder contains only ENTRY,
    and only with `cache` and if pdfalto ended well.

    Raises:
        OSError: the disk is full.
    """
    alto = folder / "out.xml"
    (folder / ENTRY).unlink(missing_ok=True)
    (folder / "in.pdf").write_bytes(data)
    cpu = int(timeout) + 1
    policy = sandbox.Policy(
        str(folder),
        read=sandbox.data_folders(str(pdfalto.binary_path())),
        limits={"CPU": cpu, "FSIZE": ALTO_BYTES, "CORE": 0},
    )
    status = 0
    try:
        for _ in range(2):
            command = [str(pdfalto.binary_path()), *OPTIONS, "in.pdf", "out.xml"]
            ended = sandbox.wait(sandbox.start(command, policy, seconds=timeout), timeout)
            if ended is None or ended == -signal.SIGXCPU:
                return f"took more than {timeout:g} s"
            status = ended
            if status == NOT_CONFINED:
                raise OSError("pdfalto could not be started in its sandbox")
            if status != -signal.SIGKILL:  # No limit sends SIGKILL: another process sent it.
                break
        if cache and status == pdfalto.EXIT_OK:
            pack(alto, folder / ENTRY)
        if status in (pdfalto.EXIT_OK, pdfalto.EXIT_STREAMING_DISABLED) and alto.exists() and _contains(alto, _STRING):
            return None
        check_free_space(folder)
        if status not in (pdfalto.EXIT_OK, pdfalto.EXIT_STREAMING_DISABLED):
            return f"exit status {status}" if status > 0 else f"killed by signal {-status}"
        return NO_TEXT if alto.exists() else "wrote nothing"
    finally:
        for path in folder.iterdir():
            if path.name != ENTRY:
                path.unlink()


def _contains(path: Path, needle: bytes) -> bool:
    """Return whether a file contains the bytes."""
    tail = b""
    with path.open("rb") as file:
        while block := file.read(_PIECE):
            if needle in tail + block:
                return True
            tail = block[-len(needle) :]
    return False


def describe(error: BaseException) -> str:
    """Return an exception as one short line."""
    return f"{type(error).__name__}: {error}".replace("\n", " ")[:200]
