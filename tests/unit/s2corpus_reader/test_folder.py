"""docs/reading.md: the reader requests only what it needs from a server, accepts any division of a response, and explains refusals."""

from __future__ import annotations

import gzip
import io
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from obstore.store import S3Store

from s2corpus_reader import SnapshotError, UnreachableError, bounded, folder, parquet
from s2corpus_reader.errors import NotASnapshotFile
from s2corpus_reader.folder import Folder

CONTENT = bytes(range(256)) * 8192  # 2 MiB
MEGABYTE = 1 << 20


def test_limits_of_readers() -> None:
    """docs/hostile-input.md: the largest files and lines that a reader takes from others."""
    limits = {
        "MAX_LINE_BYTES": 64 * MEGABYTE, "MAX_JSON_BYTES": 64 * MEGABYTE, "MAX_PLAN_BYTES": 256 * MEGABYTE, "MAX_SMALL_BYTES": 65_536,
        "MAX_PARQUET_BYTES": 4096 * MEGABYTE, "MAX_DEFLATE": 1032,
    }  # fmt: skip
    assert {name: getattr(bounded, name) for name in limits} == limits
    assert (parquet.MAX_GROUP_BYTES, parquet.MAX_GROUP_ROWS) == (1024 * MEGABYTE, 16 * MEGABYTE)


class Server(ThreadingHTTPServer):
    """A server for one file that records the requested ranges; other paths give the status in their name."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.ranges: list[str | None] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/snapshot/"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        status, body, first = (int(name), b"", 0) if name.isdigit() else (200, CONTENT, 0)
        asked = self.headers.get("Range")
        self.server.ranges.append(asked)
        if asked and status == 200:
            first, last = map(int, asked.removeprefix("bytes=").split("-"))
            status, body = 206, CONTENT[first : last + 1]
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Last-Modified", self.date_time_string())
        if status == 206:
            self.send_header("Content-Range", f"bytes {first}-{first + len(body) - 1}/{len(CONTENT)}")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as made:
        threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
        yield made
        made.shutdown()


def test_ranges_are_requested_and_no_more(server: Server) -> None:
    server.ranges.clear()
    size = len(CONTENT)
    with Folder(server.url).open_ranges("file") as file:
        assert (file.seek(-8, io.SEEK_END), file.read(4), file.tell()) == (size - 8, CONTENT[-8:-4], size - 4)
        assert (file.read(100), file.read(100)) == (CONTENT[-4:], b"")
        assert (file.seek(10), file.seek(5, io.SEEK_CUR), file.read(1)) == (10, 15, CONTENT[15:16])
    assert server.ranges == [None, f"bytes={size - 8}-{size - 5}", f"bytes={size - 4}-{size - 1}", "bytes=15-15"]


def test_file_of_a_server_is_read_in_pieces(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(CONTENT)
    for opened in (Folder(server.url), Folder(str(tmp_path)), Folder(f"file://{tmp_path}/")):
        assert bounded.read_bytes(opened, "file") == CONTENT
        with opened.open("file") as file:
            assert file.read(3) + file.read(MEGABYTE) == CONTENT[: MEGABYTE + 3]
        with pytest.raises(bounded.TooLarge, match=f"file has more than {len(CONTENT) - 1:,} bytes"):
            bounded.read_bytes(opened, "file", len(CONTENT) - 1)
        assert opened.uri("a") == f"{opened.root}/a" and not opened.root.endswith("/")


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (404, FileNotFoundError, "snapshot/404"), (401, SnapshotError, "access denied .*set AWS_ACCESS_KEY_ID"),
        (403, SnapshotError, "access denied"), (400, UnreachableError, "snapshot/400: "),
    ],
)  # fmt: skip
def test_refusals_of_servers(server: Server, status: int, error: type[Exception], words: str) -> None:
    opened = Folder(server.url)
    for act in (
        lambda: opened.open(f"{status}"),
        lambda: opened.open_ranges(f"{status}"),
        lambda: opened.read_range(f"{status}", 0, 1),
    ):
        with pytest.raises(error, match=words) as raised:
            act()
        assert "\n" not in str(raised.value) and len(str(raised.value)) < 500
    with pytest.raises(NotASnapshotFile):
        opened.read_range("../x", 0, 1)


ENVIRONMENT = ("ENDPOINT_URL_S3", "ENDPOINT_URL", "REGION", "DEFAULT_REGION", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY")


@pytest.mark.parametrize(
    ("options", "environ", "config", "http", "profile"),
    [
        ({}, {}, {"region": "us-east-1"}, False, True),
        ({"anonymous": True}, {"AWS_DEFAULT_REGION": "eu-west-3"}, {"region": "eu-west-3", "skip_signature": True}, False, False),
        ({"access_key_id": "k", "secret_access_key": "s", "region": "x"}, {"AWS_REGION": "y", "AWS_DEFAULT_REGION": "z"},
         {"region": "x", "access_key_id": "k", "secret_access_key": "s"}, False, False),
        ({"endpoint": "http://h:1/"}, {"AWS_ENDPOINT_URL": "https://e"}, {"region": "us-east-1", "endpoint": "http://h:1"}, True, True),
        ({}, {"AWS_ENDPOINT_URL": "https://e", "AWS_ENDPOINT_URL_S3": "https://s3"}, {"region": "us-east-1", "endpoint": "https://s3"},
         False, True),
    ],
)  # fmt: skip
def test_s3_is_opened_with_arguments_or_the_environment(
    options: Any, environ: dict[str, str], config: Any, http: bool, profile: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ENVIRONMENT:
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    given: list[Any] = []
    monkeypatch.setattr(folder, "_find_profile_keys", lambda region: ("keys of the profile", region))
    monkeypatch.setattr(S3Store, "from_url", lambda address, **others: given.append((address, others)))
    Folder("s3://bucket/x/", **options)
    provider = ("keys of the profile", config["region"]) if profile else None
    expected = {"client_options": {"allow_http": http}, "credential_provider": provider, **config}
    assert given == [("s3://bucket/x", expected)]


class Trickle(io.BytesIO):
    """A stream without random access that returns at most three bytes per read."""

    def seekable(self) -> bool:
        return False

    def read(self, size: int | None = -1) -> bytes:
        return super().read(3 if size is None or size < 0 else min(3, size))


class Files:
    root = "files"

    def __init__(self, content: bytes) -> None:
        self.content = content

    def open(self, key: str) -> Any:
        return Trickle(self.content)


def test_streams_may_return_small_pieces(tmp_path: Path) -> None:
    files = Files(b'{"a": 12345}')
    assert bounded.read_object(files, "a") == {"a": 12345} and bounded.read_bytes(files, "a", 12) == files.content
    bounded.copy_file(files, "a", tmp_path / "a", 12)
    assert (tmp_path / "a").read_bytes() == files.content
    zipped = gzip.compress(b"a\nbc\n") + gzip.compress(b"d")
    for limit, size in ((None, None), (6, len(zipped))):
        assert list(bounded.gzip_lines(Trickle(zipped), limit, size)) == [b"a\n", b"bc\n", b"d"]
    with pytest.raises(bounded.TooLarge, match=f"the file has more than {len(zipped) - 1} bytes"):
        list(bounded.gzip_lines(Trickle(zipped), 6, len(zipped) - 1))


def test_tables_of_servers_are_read(tmp_path: Path) -> None:
    """A stream without random access is read into memory; list items and nested fields keep their names."""
    nested = pa.list_(pa.struct([("a", pa.int64()), ("b", pa.list_(pa.string()))]))
    schema = pa.schema([pa.field("y", pa.string(), nullable=False), ("x", nested)])
    table = pa.table({"x": [[{"a": 1, "b": ["c"]}], [], None], "y": ["1", "2", "3"]}, schema=schema)
    with parquet.parquet_writer(tmp_path / "t.parquet", schema) as writer:
        writer.write_table(table)
    content = (tmp_path / "t.parquet").read_bytes()
    found = parquet.restore_schema(parquet.read_table(Files(content), "t.parquet"))
    assert found.equals(table) and found.schema.equals(schema, check_metadata=True)
    assert parquet.read_table(Files(content), "t.parquet", ["y"]).to_pydict() == {"y": ["1", "2", "3"]}
    statistics = [pq.ParquetFile(tmp_path / "t.parquet").metadata.row_group(0).column(i).is_stats_set for i in range(3)]
    assert statistics == [True, False, False], "only the first column has statistics"
