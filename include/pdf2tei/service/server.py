"""Serve the extractor with GROBID's REST API: `pdf2tei --port 8070 --workers 2`.

GET /api/isalive, GET /api/version, POST /api/processFulltextDocument. Each PDF is read in a worker process with limits on
time and memory; a worker that crashes or hangs affects only its own request.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import hmac
import ipaddress
import logging
import multiprocessing
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from concurrent.futures import BrokenExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from pathlib import Path

import pdfalto
import uvicorn
from pebble import ProcessExpired, ProcessPool
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from pdf2tei.errors import Code, ExtractionError
from pdf2tei.pages import alto_cache, scans
from pdf2tei.version import NAME, VERSION
from s2orc_parse import sandbox
from s2orc_parse.errors import UserError

_LOG = logging.getLogger(__name__)

TIMEOUT = 120.0  # time limit per PDF, in seconds
OCR_TIMEOUT = 600.0  # minimum time limit per PDF with OCR, in seconds. OCR takes about five to ten seconds per page.
QUEUE_WAIT = 1.0  # maximum time that a request waits for a free worker before 503, in seconds (GROBID's poolMaxWait)
MAX_BYTES = 512 << 20  # maximum size of an upload, in bytes
WORKER_MEMORY = 4 << 30  # maximum address space of a worker, in bytes
_GC_THRESHOLD = 100_000
"""Number of new objects that starts the garbage collector. A paper's tokens form no cycles, and the collector took a tenth of a
worker's time."""
TASKS_PER_WORKER = 500  # a worker is replaced after this many PDFs, so that its memory cannot grow


def enter_worker_sandbox(uploads: str) -> None:
    """Enter the sandbox in a new worker, with a private folder and read access to the uploads. Libraries log nothing there."""
    logging.disable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    own = tempfile.mkdtemp(prefix="worker-", dir=uploads)
    binary = str(pdfalto.binary_path())
    sandbox.enter(
        sandbox.Policy(
            own,
            read=(*sandbox.interpreter_folders(), *sandbox.data_folders(binary), uploads),
            execute=(binary,),
            processes=8,
            limits={"AS": WORKER_MEMORY, "CORE": 0},
        )
    )
    os.environ.clear()
    tempfile.tempdir = own
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD, 50, 100)


def _extract_in_worker(path: str, timeout: float, ocr: bool) -> bytes | tuple[str, str] | None:
    """Extract one PDF in a worker; return the TEI, None if there is no content, or (code, message)."""
    from pdf2tei.paper import extract

    try:
        return extract(Path(path), timeout=timeout, ocr=ocr, cached=Path(path).with_name(alto_cache.ENTRY))
    except ExtractionError as error:
        return error.code.value, error.message
    except (MemoryError, RecursionError) as error:
        return Code.TOO_MANY_TOKENS.value, f"the document is too large: {type(error).__name__}"


class Service:
    """The HTTP application: workers, free slots, and the token that every request must send if one is configured."""

    def __init__(self, workers: int, token: str | None, timeout: float = TIMEOUT) -> None:
        self._workers = workers
        self._token = token
        self._timeout = timeout
        self._busy_workers = 0
        self._pool: ProcessPool | None = None
        self._folder = ""
        self._cache: Path | None = None
        self.app = Starlette(
            routes=[
                Route("/api/isalive", self._alive),
                Route("/api/version", self._version),
                Route("/api/processFulltextDocument", self._fulltext, methods=["POST", "PUT"]),
            ],
            lifespan=self._lifespan,
        )

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self._folder = tempfile.mkdtemp(prefix="s2corpus-uploads-")
        with contextlib.ExitStack() as stack:
            try:
                self._cache = stack.enter_context(alto_cache.open_folder())
            except (OSError, UserError) as error:
                _LOG.warning("select cannot share pdfalto's output with this server: %s", error)
            try:
                yield
            finally:
                if self._pool is not None:
                    self._pool.stop()  # type: ignore[no-untyped-call]
                    await asyncio.to_thread(self._pool.join, 10)
                shutil.rmtree(self._folder, ignore_errors=True)

    def _get_pool(self) -> ProcessPool:
        """Return the pool of workers; create a new pool if all workers of the old pool died."""
        if self._pool is None or not self._pool.active:
            context = multiprocessing.get_context("forkserver")
            # The fork server imports the extractor, because it would take each worker a second.
            context.set_forkserver_preload(["__main__", "pdf2tei.paper"])
            os.environ.update(sandbox.ONE_THREAD)
            self._pool = ProcessPool(
                self._workers,
                TASKS_PER_WORKER,
                initializer=enter_worker_sandbox,
                initargs=(self._folder,),
                context=context,
            )
        return self._pool

    def _authorise(self, request: Request) -> None:
        if self._token is None:
            return
        header = request.headers.get("authorization", "")
        if not hmac.compare_digest(header.encode(), f"Bearer {self._token}".encode()):
            raise HTTPException(401, "a valid bearer token is required", {"WWW-Authenticate": "Bearer"})

    async def _alive(self, request: Request) -> Response:
        self._authorise(request)
        return PlainTextResponse("true")

    async def _version(self, request: Request) -> Response:
        self._authorise(request)
        if "text/plain" in request.headers.get("accept", ""):
            return PlainTextResponse(VERSION)
        return JSONResponse({"version": VERSION, "name": NAME})

    async def _fulltext(self, request: Request) -> Response:
        self._authorise(request)
        with tempfile.TemporaryDirectory(prefix="upload-", dir=self._folder) as folder:
            path = Path(folder) / "input.pdf"
            try:
                ocr = await _receive(request, path)
            except ClientDisconnect:
                return PlainTextResponse("the upload was interrupted: send the PDF again", 400)
            if isinstance(ocr, Response):
                return ocr
            end = time.monotonic() + QUEUE_WAIT
            while self._busy_workers >= self._workers:
                if time.monotonic() > end:
                    return PlainTextResponse("all workers are busy", 503, {"Retry-After": "5"})
                await asyncio.sleep(0.02)
            self._busy_workers += 1
            work = asyncio.create_task(self._extract(path, ocr=ocr))
            disconnected = asyncio.create_task(_wait_for_disconnect(request))
            try:
                await asyncio.wait((work, disconnected), return_when=asyncio.FIRST_COMPLETED)
                return work.result() if work.done() else Response(status_code=499)  # the client has disconnected
            finally:
                disconnected.cancel()
                work.cancel()  # ends the worker if the client has disconnected
                self._busy_workers -= 1

    async def _extract(self, path: Path, *, ocr: bool) -> Response:
        timeout = max(self._timeout, OCR_TIMEOUT) if ocr else self._timeout
        if self._cache is not None:
            await asyncio.to_thread(alto_cache.take, self._cache, path)
        try:
            result = await self._run(path, timeout, ocr)
        except (FutureTimeout, TimeoutError):
            return _respond_failure(Code.TIMEOUT, f"took more than {timeout:g} s")
        except ProcessExpired as error:
            if error.exitcode in (-signal.SIGTERM, -signal.SIGINT):  # this server is being stopped
                return PlainTextResponse("the server is stopping: retry later", 503, {"Retry-After": "5"})
            return _respond_failure(Code.PDFALTO_CONVERSION_FAILURE, f"the worker died with status {error.exitcode}")
        except OSError as error:  # for example a full disk: a retry may succeed
            _LOG.warning("extraction failed, a retry may succeed: %s", error)
            return PlainTextResponse(f"{type(error).__name__}: {error}", 503, {"Retry-After": "5"})
        except Exception as error:  # a defect in this code must not look like a transient error
            _LOG.exception("extraction failed")
            return _respond_failure(Code.BAD_INPUT_DATA, f"{type(error).__name__}: {error}")
        if result is None:
            return Response(status_code=204)
        if isinstance(result, bytes):
            return Response(result, media_type="application/xml; charset=UTF-8")
        return _respond_failure(Code(result[0]), result[1])

    async def _run(self, path: Path, timeout: float, ocr: bool) -> bytes | tuple[str, str] | None:
        """Run a worker, and run it a second time if the pool is broken or the worker died.

        Only a second failure is attributed to the PDF.
        """
        for attempt in (1, 2):
            try:
                future = self._get_pool().schedule(
                    _extract_in_worker, args=(str(path), timeout * 0.8, ocr), timeout=timeout
                )
                result: bytes | tuple[str, str] | None = await asyncio.wrap_future(future)
                return result
            except (BrokenExecutor, RuntimeError, ProcessExpired):
                if attempt == 2:
                    raise
        raise AssertionError("unreachable")


def _respond_failure(code: Code, message: str) -> Response:
    """Return GROBID's response 500: its code in brackets, then the message."""
    return PlainTextResponse(f"[{code}] {message}", 500)


async def _wait_for_disconnect(request: Request) -> None:
    """Wait until the client disconnects."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _receive(request: Request, path: Path) -> bool | Response:
    """Store the form's `input` at `path`; return whether the request asks for OCR, or an error response."""
    if int(request.headers.get("content-length") or 0) > MAX_BYTES:
        return _respond_failure(Code.BAD_INPUT_DATA, f"larger than {MAX_BYTES} bytes")
    async with request.form(max_files=2, max_fields=64) as form:
        upload = form.get("input")
        if not isinstance(upload, UploadFile):
            return PlainTextResponse("[BAD_INPUT_DATA] the form has no file named input", 400)
        ocr = form.get("ocr") == "1"
        if ocr and not scans.installed():
            return PlainTextResponse(
                "the request has ocr=1, but OCR is not installed on this server: install pdf2tei[ocr], or omit ocr=1",
                501,
            )
        size = 0
        with path.open("wb") as out:
            while chunk := await upload.read(1 << 20):
                size += len(chunk)
                if size > MAX_BYTES:
                    return _respond_failure(Code.BAD_INPUT_DATA, f"larger than {MAX_BYTES} bytes")
                out.write(chunk)
    return ocr


def serve(port: int, workers: int, token: str | None, timeout: float = TIMEOUT, *, host: str = "127.0.0.1") -> None:
    """Serve on `host`:`port` until SIGTERM or SIGINT.

    Raises:
        UserError: the address cannot be used, or another machine could reach the server and it has no token.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError, OverflowError) as error:
        raise UserError(
            f"the extractor cannot listen on {host!r}, port {port} ({error}); give an address of this machine"
        ) from None
    if token is None and not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback:
        raise UserError(f"other machines can reach {host}: give --token-file, or listen on 127.0.0.1")
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
    except OSError as error:
        raise UserError(
            f"the extractor cannot listen on {host}:{port} ({error.strerror}); give a free port with --port"
        ) from None
    config = uvicorn.Config(
        Service(workers, token, timeout).app,
        log_level="warning",
        timeout_graceful_shutdown=5,
        server_header=False,
        lifespan="on",
    )
    for stop in (signal.SIGTERM, signal.SIGINT):
        signal.signal(stop, lambda *_: sys.exit(0))  # uvicorn raises the signal again after its shutdown
    uvicorn.Server(config).run(sockets=[listener])
