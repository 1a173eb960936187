"""Files of a web folder are downloaded by their checksums, and a tree of folders is delivered.

`tests/dags/test_example_pubmed.py` downloads from a real server.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import requests

from s2corpus import web
from s2corpus.deliveries import fetch
from s2corpus.deliveries.upload import deliver_tree
from s2corpus.errors import TransientError, UserError
from s2corpus.storage.local_lake import LocalLake

MD5 = hashlib.md5(b"12345").hexdigest()


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[int, bytes]]:
    """Return the status and body of each file of a web folder."""
    served = {"a.md5": (200, MD5.encode()), "a": (200, b"12345")}

    def ask(_: object, method: str, url: str, *, seconds: float, max_bytes: int) -> requests.Response:
        response = requests.Response()
        response.status_code, response._content = served[url.removeprefix("http://host/")]
        return response

    monkeypatch.setattr(web.Session, "ask", ask)
    return served


def test_index_lists_names_that_match(files: dict[str, tuple[int, bytes]]) -> None:
    links = ("b.xml.gz", "a.xml.gz", "a.xml.gz", "a.xml.gz.md5", "../x.xml.gz", "c.xml.gz?x")
    files[""] = 200, "".join(f'<a href="{link}">' for link in links).encode()
    assert fetch.list_files("http://host/", r".*\.xml\.gz") == ["a.xml.gz", "b.xml.gz"]


@pytest.mark.parametrize("form", ["{}", "{}  a\n", "MD5(a)= {}\n"])
def test_file_with_its_checksum_is_downloaded(files: dict[str, tuple[int, bytes]], tmp_path: Path, form: str) -> None:
    files["a.md5"] = 200, form.format(MD5.upper()).encode()
    assert fetch.fetch("http://host/", "a", tmp_path).read_bytes() == b"12345"


@pytest.mark.parametrize(
    ("name", "status", "content", "error", "said"),
    [
        ("a.md5", 404, b"", UserError, "HTTP 404"), ("a", 404, b"", UserError, "HTTP 404"), ("a", 301, b"", UserError, "HTTP 301"),
        ("a", 204, b"", UserError, "HTTP 204"), ("a", 429, b"", TransientError, "HTTP 429"), ("a", 499, b"", UserError, "HTTP 499"),
        ("a", 500, b"", TransientError, "HTTP 500"), ("a.md5", 503, b"", TransientError, "HTTP 503"),
        ("a", 200, b"12346", TransientError, r"5 bytes, MD5 .* expected"), ("a", 200, b"123456", UserError, "more than 5 bytes"),
        ("a.md5", 200, b"no checksum " + b"0" * 31, UserError, "no MD5 found"), ("a.md5", 200, b"0" * 33, UserError, "no MD5 found"),
    ],
)  # fmt: skip
def test_other_response_is_an_error(
    files: dict[str, tuple[int, bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    name: str, status: int, content: bytes, error: type[Exception], said: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(fetch, "MAX_FILE_BYTES", 5)
    files[name] = status, content
    with pytest.raises(error, match=said):
        fetch.fetch("http://host/", "a", tmp_path)
    assert not list(tmp_path.iterdir())


def test_silent_server_is_a_transient_error(tmp_path: Path) -> None:
    with pytest.raises(TransientError, match=r"^http://127\.0\.0\.1:9/a\.md5: "):
        fetch.fetch("http://127.0.0.1:9/", "a", tmp_path)


def test_tree_is_delivered_once(tmp_path: Path) -> None:
    tree, lake = tmp_path / "tree", LocalLake(tmp_path / "lake")
    for name, content in {
        "drops/one/a.pdf": "1", "drops/one/_READY": "{}", "drops/writing/b.pdf": "2", "sources/crossref/day/x.jsonl": "3",
        "sources/crossref/day/_READY": "{}", "suppress.jsonl": "", "other/file": "4",
    }.items():  # fmt: skip
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(content)
    assert deliver_tree(lake, tree) == 5
    assert {entry.key for entry in lake.list("")} == {
        "drops/one/a.pdf", "drops/one/_READY", "sources/crossref/day/x.jsonl", "sources/crossref/day/_READY", "suppress.jsonl",
    }  # fmt: skip
    (tmp_path / "lake/drops/one/a.pdf").write_text("as it was sent")
    (tree / "sources/crossref/day/_READY").write_text('{"again": true}')
    assert deliver_tree(lake, tree) == 3
    assert lake.get("drops/one/a.pdf")[0] == b"as it was sent"
    assert lake.get("sources/crossref/day/_READY")[0] == b'{"again": true}'
