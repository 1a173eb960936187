"""The embedded extractor as a server of our own, for as long as it is needed."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from s2corpus.errors import TransientError
from s2corpus.extractors.grobid import Server
from s2orc_parse.scratch import check_socket_path

START_SECONDS = 60.0


@contextmanager
def embedded_extractor(workers: int, seconds: float | None = None) -> Iterator[tuple[str, str]]:
    """Run `pdf2tei.server` on a free port of 127.0.0.1: its (address, token), until the block ends.

    The server ends with this process, also if this process is killed.

    A PDF that takes longer than `seconds` is ended there too, so that it keeps no worker from the PDFs after it.

    Raises:
        UserError: the path of the scratch folder is too long for the server's sockets.
        TransientError: it does not come up.
    """
    check_socket_path()
    token = secrets.token_urlsafe(24)
    limited = [] if seconds is None else ["--timeout", str(seconds)]
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "pdf2tei.cli",
            "--port",
            str(port),
            "--workers",
            str(workers),
            "--parent",
            str(os.getpid()),
            *limited,
        ],
        env={**os.environ, "S2CORPUS_EXTRACTOR_TOKEN": token},
        stdin=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        server = Server(url, {}, token=token, connections=1, max_bytes=1024)
        end = time.monotonic() + START_SECONDS
        while not server.alive(timeout=1.0):
            if process.poll() is not None or time.monotonic() > end:
                raise TransientError(f"the embedded extractor does not come up on 127.0.0.1:{port}")
            time.sleep(0.1)
        yield url, token
    finally:
        process.terminate()
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
