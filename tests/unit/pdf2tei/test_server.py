"""The extractor's service implements GROBID's REST API, requires its token and survives hostile PDFs."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
import pytest

from pdf2tei import VERSION, extract
from tests.unit.pdf2tei.samples import typeset
from tests.unit.s2corpus.pdf.bad_pdfs import drawn_forever

TOKEN = "a token for this test only"
PROCESS = "/api/processFulltextDocument"
PAPER = typeset("ieee")[0]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, int]]:
    """Yield a client with the token, and the process id of a server with one worker on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "pdf2tei.cli", "--port", str(port), "--workers", "1"],
            env={**os.environ, "S2CORPUS_EXTRACTOR_TOKEN": TOKEN},
            stderr=output,
        )
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60)
    try:
        for _ in range(300):
            try:
                client.get("/api/isalive")
                break
            except httpx.ConnectError:
                time.sleep(0.1)
        yield client, process.pid
    finally:
        client.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert "not defined" not in log.read_text(), "warnings of pypdf"


@pytest.fixture
def client(server: tuple[httpx.Client, int]) -> httpx.Client:
    return server[0]


def send(client: httpx.Client, content: bytes, timeout: float = 60) -> httpx.Response:
    form = {"consolidateHeader": "0", "includeRawCitations": "1"}
    files = {"input": ("x.pdf", content, "application/pdf")}
    return client.post(PROCESS, files=files, data=form, timeout=timeout)


def test_server_reports_health_and_version(client: httpx.Client) -> None:
    assert client.get("/api/isalive").text == "true"
    assert client.get("/api/version").json()["version"] == VERSION
    assert client.get("/api/version", headers={"Accept": "text/plain"}).text == VERSION


@pytest.mark.parametrize("header", [None, "Bearer wrong", f"Basic {TOKEN}"])
def test_server_requires_the_token(client: httpx.Client, header: str | None) -> None:
    headers = {"Authorization": header} if header else {}
    for method, path in (("GET", "/api/isalive"), ("GET", "/api/version"), ("POST", PROCESS)):
        assert httpx.request(method, client.base_url.join(path), headers=headers).status_code == 401


def test_pdf_without_its_document_information_is_read(client: httpx.Client) -> None:
    """pypdf warns that the object does not exist."""
    broken = re.sub(rb"/Info \d+", b"/Info 99999", PAPER)
    assert broken != PAPER and send(client, broken).content == send(client, PAPER).content


def test_server_response_equals_the_library(client: httpx.Client, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(PAPER)
    answer = send(client, PAPER)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/xml")
    assert answer.content == extract(tmp_path / "a.pdf", timeout=60)


def test_server_errors_have_grobids_codes(client: httpx.Client) -> None:
    answer = send(client, b"no PDF at all")
    assert answer.status_code == 500 and answer.text.startswith("[BAD_INPUT_DATA]")


def test_server_is_busy_if_its_worker_is(client: httpx.Client, shared_data: Path) -> None:
    """One worker receives eight parallel requests: each gets a TEI or a request to retry."""
    content = max((shared_data / "pairs").glob("*.pdf"), key=lambda p: p.stat().st_size).read_bytes()
    with ThreadPoolExecutor(8) as pool:
        assert {a.status_code for a in pool.map(lambda _: send(client, content), range(8))} == {200, 503}


def test_closed_connection_frees_the_worker(client: httpx.Client) -> None:
    """The PDF would block the only worker for two minutes; its client disconnects after three seconds."""
    with pytest.raises(httpx.ReadTimeout):
        send(client, drawn_forever(b"q Q"), timeout=3)
    assert send(client, PAPER).status_code == 200


def test_dead_worker_fails_one_request(server: tuple[httpx.Client, int]) -> None:
    client, pid = server
    assert send(client, PAPER).status_code == 200
    for worker in [p for p in psutil.Process(pid).children(recursive=True) if not p.children()]:
        if "resource_tracker" not in " ".join(worker.cmdline()):
            worker.kill()
    answers = [send(client, PAPER).status_code for _ in range(3)]
    assert answers[-1] == 200 and set(answers) <= {200, 500}
