"""Start and stop the embedded extractor as a local server."""

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
from s2corpus.extractors.grobid import GrobidServer
from s2orc_parse.scratch import check_socket_path

START_SECONDS = 60.0


@contextmanager
def embedded_extractor(workers: int, seconds: float | None = None) -> Iterator[tuple[str, str]]:
    """Run `pdf2tei.cli` on a free port of 127.0.0.1 and yield its (address, token); stop it at the end of the block.

    The server also stops if this process is killed. It cancels a PDF after `seconds`.

    Raises:
        UserError: the path of the scratch folder is too long for the server's sockets.
        TransientError: the server does not start.
    """
    check_socket_path()
    token = secrets.token_urlsafe(24)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    options = {"port": port, "workers": workers, "parent": os.getpid()} | (
        {} if seconds is None else {"timeout": seconds}
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "pdf2tei.cli", *(f"--{name}={value}" for name, value in options.items())],
        env={**os.environ, "S2CORPUS_EXTRACTOR_TOKEN": token},
        stdin=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        server = GrobidServer(url, {}, token=token, connections=1, max_bytes=1024)
        end = time.monotonic() + START_SECONDS
        while not server.alive(timeout=1.0):
            if process.poll() is not None or time.monotonic() > end:
                raise TransientError(f"the embedded extractor did not start on 127.0.0.1:{port}")
            time.sleep(0.1)
        yield url, token
    finally:
        process.terminate()
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
