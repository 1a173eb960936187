"""The extractor's service implements GROBID's REST API, requires its token and survives hostile PDFs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from pdf2tei import VERSION, extract
from tests.unit.pdf.bad_pdfs import drawn_forever

TOKEN = "a token for this test only"


@pytest.fixture(scope="module")
def service() -> Iterator[tuple[httpx.Client, subprocess.Popen[bytes]]]:
    """Yield a client with the token and the process of a server with one worker on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "pdf2tei.cli", "--port", str(port), "--workers", "1"],
        env={**os.environ, "S2CORPUS_EXTRACTOR_TOKEN": TOKEN},
    )
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60)
    try:
        for _ in range(300):
            try:
                client.get("/api/isalive")
                break
            except httpx.ConnectError:
                time.sleep(0.1)
        yield client, process
    finally:
        client.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def send(client: httpx.Client, content: bytes) -> httpx.Response:
    form = {"consolidateHeader": "0", "includeRawCitations": "1"}
    return client.post(
        "/api/processFulltextDocument", files={"input": ("x.pdf", content, "application/pdf")}, data=form
    )


def test_server_reports_health_and_version(service: tuple[httpx.Client, subprocess.Popen[bytes]]) -> None:
    client, _ = service
    assert client.get("/api/isalive").text == "true"
    assert client.get("/api/version").json()["version"] == VERSION
    assert client.get("/api/version", headers={"Accept": "text/plain"}).text == VERSION


@pytest.mark.parametrize("header", [None, "Bearer wrong", f"Basic {TOKEN}"])
def test_server_requires_the_token(service: tuple[httpx.Client, subprocess.Popen[bytes]], header: str | None) -> None:
    client, _ = service
    for path in ("/api/isalive", "/api/version", "/api/processFulltextDocument"):
        method = "POST" if path.endswith("Document") else "GET"
        bare = httpx.request(method, client.base_url.join(path), headers={"Authorization": header} if header else {})
        assert bare.status_code == 401


def test_server_response_equals_the_library(
    service: tuple[httpx.Client, subprocess.Popen[bytes]], paper: Callable[[int, str], Path]
) -> None:
    client, _ = service
    path = paper(2, "bracket")
    answer = send(client, path.read_bytes())
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/xml")
    assert answer.content == extract(path, timeout=60)


@pytest.mark.parametrize(
    ("content", "status", "says"),
    [
        (b"no PDF at all", 500, "[BAD_INPUT_DATA]"),
        (b"%PDF-1.7\nbroken", 500, "[PDFALTO_CONVERSION_FAILURE]"),
    ],
)
def test_server_errors_have_grobids_codes(
    service: tuple[httpx.Client, subprocess.Popen[bytes]], content: bytes, status: int, says: str
) -> None:
    client, _ = service
    answer = send(client, content)
    assert (answer.status_code, answer.text[: len(says)]) == (status, says)


def test_request_without_input_is_refused(service: tuple[httpx.Client, subprocess.Popen[bytes]]) -> None:
    client, _ = service
    assert client.post("/api/processFulltextDocument", data={"other": "x"}).status_code == 400


def test_server_is_busy_if_its_worker_is(
    service: tuple[httpx.Client, subprocess.Popen[bytes]], shared_data: Path
) -> None:
    """One worker receives eight parallel requests: each gets a TEI or a request to retry."""
    client, _ = service
    content = max((shared_data / "pairs").glob("*.pdf"), key=lambda p: p.stat().st_size).read_bytes()
    with ThreadPoolExecutor(8) as pool:
        statuses = [a.status_code for a in pool.map(lambda _: send(client, content), range(8))]
    assert set(statuses) == {200, 503}


def test_closed_connection_frees_the_worker(
    service: tuple[httpx.Client, subprocess.Popen[bytes]], paper: Callable[[int, str], Path]
) -> None:
    """The PDF would block the only worker for two minutes; its client disconnects after three seconds."""
    client, _ = service
    content = paper(2, "bracket").read_bytes()
    form = {"input": ("x.pdf", drawn_forever(b"q Q"), "application/pdf")}
    with pytest.raises(httpx.ReadTimeout):
        client.post("/api/processFulltextDocument", files=form, timeout=3)
    assert send(client, content).status_code == 200


def test_dead_worker_fails_one_request(
    service: tuple[httpx.Client, subprocess.Popen[bytes]], paper: Callable[[int, str], Path]
) -> None:
    import psutil

    client, process = service
    content = paper(2, "bracket").read_bytes()
    assert send(client, content).status_code == 200
    workers = [p for p in psutil.Process(process.pid).children(recursive=True) if not p.children()]
    for worker in workers:
        if "resource_tracker" not in " ".join(worker.cmdline()):
            worker.kill()
    answers = [send(client, content).status_code for _ in range(3)]
    assert answers[-1] == 200 and set(answers) <= {200, 500}


def test_occupied_port_gives_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "pdf2tei.cli", "--port", str(port)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert str(port) in done.stderr and "Traceback" not in done.stderr
