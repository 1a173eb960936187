"""Files of a web folder are downloaded by their checksums, and a tree of folders is delivered."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from s2corpus.deliveries import fetch
from s2corpus.deliveries.upload import deliver_tree
from s2corpus.errors import TransientError, UserError
from s2corpus.storage.local_lake import LocalLake


class Shelf:
    """A web folder with some files that counts requests."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.status: dict[str, int] = {}
        self.asked: list[str] = []
        shelf = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.rpartition("/")[2]
                shelf.asked.append(name)
                body = shelf.files.get(name)
                self.send_response(shelf.status.get(name, 404 if body is None else 200))
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_: object) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/files/"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def put(self, name: str, data: bytes, checksum: str = "{md5}  {name}\n") -> None:
        self.files[name] = data
        self.files[f"{name}.md5"] = checksum.format(md5=hashlib.md5(data).hexdigest(), name=name).encode()


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    found = Shelf()
    yield found
    found.server.shutdown()
    found.server.server_close()


def test_index_lists_names_that_match(shelf: Shelf) -> None:
    links = ("b.xml.gz", "a.xml.gz", "a.xml.gz", "a.xml.gz.md5", "../x.xml.gz", "c.xml.gz?x")
    shelf.files[""] = "".join(f'<a href="{link}">' for link in links).encode()
    assert fetch.list_files(shelf.url, r".*\.xml\.gz") == ["a.xml.gz", "b.xml.gz"]


@pytest.mark.parametrize("form", ["{md5}", "{md5}  {name}\n", "MD5({name})= {md5}\n"])
def test_file_with_its_checksum_is_downloaded(shelf: Shelf, tmp_path: Path, form: str) -> None:
    shelf.put("a", b"1", form)
    assert fetch.fetch(shelf.url, "a", tmp_path).read_bytes() == b"1"
    assert shelf.asked == ["a.md5", "a"] and [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize(
    ("name", "status", "kind"),
    [("a.md5", 404, UserError), ("a", 301, UserError), ("a", 429, TransientError), ("a", 503, TransientError)],
)
def test_response_without_file_is_an_error(
    shelf: Shelf, tmp_path: Path, name: str, status: int, kind: type[Exception]
) -> None:
    shelf.put("a", b"")
    shelf.status[name] = status
    with pytest.raises(kind, match=f"HTTP {status}"):
        fetch.fetch(shelf.url, "a", tmp_path)
    assert not list(tmp_path.iterdir())


def test_damaged_files_and_checksums_are_refused(shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.put("a", b"1")
    shelf.files["a"] = b"2"
    with pytest.raises(TransientError, match=r"1 bytes, MD5 .* expected"):
        fetch.fetch(shelf.url, "a", tmp_path)
    shelf.files["a.md5"] = b"no checksum " + b"0" * 31
    with pytest.raises(UserError, match="no MD5 found"):
        fetch.fetch(shelf.url, "a", tmp_path)
    shelf.put("a", b"12345")
    monkeypatch.setattr(fetch, "MAX_FILE_BYTES", 4)
    with pytest.raises(UserError, match="more than 4 bytes"):
        fetch.fetch(shelf.url, "a", tmp_path)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(fetch, "MAX_FILE_BYTES", 5)
    assert fetch.fetch(shelf.url, "a", tmp_path)


def test_tree_is_delivered_once(tmp_path: Path) -> None:
    tree, lake = tmp_path / "tree", LocalLake(tmp_path / "lake")
    files = (f"{folder}/{name}" for folder in ("drops/one", "sources/crossref/day") for name in ("a.pdf", "_READY"))
    names = {"suppress.jsonl", *files}
    for name in (*names, "drops/writing/b.pdf", "other/file"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("{}")
    assert deliver_tree(lake, tree) == 5
    assert {entry.key for entry in lake.list("")} == names
    (tmp_path / "lake/drops/one/a.pdf").write_text("as it was sent")
    (tree / "sources/crossref/day/_READY").write_text('{"again": true}')
    assert deliver_tree(lake, tree) == 3
    assert lake.get("drops/one/a.pdf")[0] == b"as it was sent"
    assert lake.get("sources/crossref/day/_READY")[0] == b'{"again": true}'
