"""The example DAG fetches PubMed's update files from a stand-in for NLM's server.

It verifies checksums, fetches each file once, and fetches damaged files again.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import orjson
import pytest

from s2corpus.errors import TransientError, UserError
from s2corpus.storage.lake import open_lake

pytestmark = pytest.mark.airflow


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and an index page, as an HTTP mirror of an FTP server does."""

    asked: list[str] = []  # noqa: RUF012 (shared by the requests)

    def log_message(self, format: str, *args: Any) -> None:
        self.asked.append(self.path)


@pytest.fixture
def nlm(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Yield the address and the local folder of the update files."""
    folder = tmp_path / "pubmed" / "updatefiles"
    folder.mkdir(parents=True)
    Quiet.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/pubmed/updatefiles/", folder
    server.shutdown()


def offer(folder: Path, name: str, data: bytes) -> bytes:
    """Write a file and its checksum in NLM's format; return the compressed bytes."""
    packed = gzip.compress(data, mtime=0)
    (folder / name).write_bytes(packed)
    (folder / f"{name}.md5").write_text(f"MD5({name})= {hashlib.md5(packed).hexdigest()}\n")
    return packed


@pytest.fixture
def deliver_new(nlm: tuple[str, Path], load: Callable[..., Any]) -> Any:
    """Return the function of the DAG's task."""
    return load("example_pubmed", S2CORPUS_PUBMED=nlm[0]).deliver_new.function


def test_each_update_file_is_delivered_once_with_its_checksum(
    nlm: tuple[str, Path], deliver_new: Any, tmp_path: Path
) -> None:
    _, folder = nlm
    packed = offer(folder, "pubmed26n1335.xml.gz", b"<PubmedArticleSet/>")
    offer(folder, "pubmed26n1336.xml.gz", b"<PubmedArticleSet></PubmedArticleSet>")
    offer(folder, "README.xml.gz", b"not one of them")
    assert deliver_new() == ["pubmed26n1335", "pubmed26n1336"]
    lake = open_lake(str(tmp_path / "lake"))
    ready = orjson.loads(lake.get("sources/pubmed/pubmed26n1335/_READY")[0])
    assert ready["files"] == [
        {"name": "pubmed26n1335.xml.gz", "bytes": len(packed), "sha256": hashlib.sha256(packed).hexdigest()}
    ]
    assert lake.get("sources/pubmed/pubmed26n1335/pubmed26n1335.xml.gz")[0] == packed
    Quiet.asked.clear()
    assert deliver_new() == []
    assert Quiet.asked == ["/pubmed/updatefiles/"], "nothing is fetched twice"


def test_damaged_download_is_retried_and_never_delivered(
    nlm: tuple[str, Path], deliver_new: Any, tmp_path: Path
) -> None:
    _, folder = nlm
    offer(folder, "pubmed26n1335.xml.gz", b"<PubmedArticleSet/>")
    packed = offer(folder, "pubmed26n1336.xml.gz", b"<PubmedArticleSet></PubmedArticleSet>")
    (folder / "pubmed26n1336.xml.gz").write_bytes(packed[:-3])
    with pytest.raises(TransientError, match=r"pubmed26n1336.xml.gz: \d+ bytes, MD5 [0-9a-f]{32} expected"):
        deliver_new()
    lake = open_lake(str(tmp_path / "lake"))
    assert list(lake.folders("sources/pubmed/")) == ["pubmed26n1335"], "those before it are delivered"
    (folder / "pubmed26n1336.xml.gz").write_bytes(packed)
    assert deliver_new() == ["pubmed26n1336"]


def test_file_without_checksum_gives_one_sentence(nlm: tuple[str, Path], deliver_new: Any) -> None:
    _, folder = nlm
    offer(folder, "pubmed26n1335.xml.gz", b"<PubmedArticleSet/>")
    (folder / "pubmed26n1335.xml.gz.md5").write_text("soon")
    with pytest.raises(UserError, match="no MD5 found: 32 hexadecimal digits expected"):
        deliver_new()
    (folder / "pubmed26n1335.xml.gz.md5").unlink()
    with pytest.raises(UserError, match="md5: HTTP 404"):
        deliver_new()
