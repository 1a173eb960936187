"""The reader itself rejects forged snapshots without the pipeline's checks, and writes nothing."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import s2corpus_reader
from s2corpus_reader import SnapshotError, bounded
from s2corpus_reader.errors import NotASnapshotFile
from s2corpus_reader.folder import Folder

ID = "small-20230101-00000000"
TEXTS, PAPERS, DOCUMENTS = "v2/s2orc/train/00.jsonl.gz", "tables/papers/00.parquet", "documents/s2orc/train/00.parquet"
LINE = b'{"id":"%015x","sha1":"0","text":"one"}\n'


def written(table: pa.Table) -> bytes:
    out = BytesIO()
    pq.write_table(table, out, compression="zstd", row_group_size=max(len(table), 1))
    return out.getvalue()


FILES = {
    TEXTS: gzip.compress(b"".join(LINE % n for n in range(3)), mtime=0),
    PAPERS: written(pa.table({"paper_id": [f"{n:015x}" for n in range(3)]})),
    DOCUMENTS: written(pa.table({"id": [f"{n:015x}" for n in range(3)], "text": ["one"] * 3})),
    "aliases.parquet": written(pa.table({"alias": pa.array([], pa.string()), "paper_id": pa.array([], pa.string())})),
    "README.md": b"a card",
}


class Forged:
    """A small snapshot in a folder; tests change its manifest and files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / ID
        self.manifest: dict[str, Any] = {"snapshot": ID, "rules": {"export.files": 1}, "files": []}
        for path, content in FILES.items():
            self.put(path, content)
            self.list(path, content)
        self.write()

    def put(self, path: str, content: bytes) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_bytes(content)

    def list(self, path: str, content: bytes, **others: Any) -> None:
        value = {"path": path, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        if path.endswith(".gz") and not others:
            value |= {"rows": 3, "content_bytes": len(gzip.decompress(content)), "content_sha256": "0"}
        self.manifest["files"] = [file for file in self.manifest["files"] if file["path"] != path] + [value | others]

    def write(self) -> None:
        self.put("manifest.json", orjson.dumps(self.manifest))

    def replace(self, path: str, make: Callable[[Path], None]) -> None:
        (self.folder / path).unlink()
        make(self.folder / path)

    def open(self) -> s2corpus_reader.Snapshot:
        return s2corpus_reader.open(str(self.folder))


@pytest.fixture
def forged(tmp_path: Path) -> Forged:
    return Forged(tmp_path)


def test_right_snapshot_is_read(forged: Forged) -> None:
    snapshot = forged.open()
    assert [row["id"] for row in snapshot.texts()] == [f"{n:015x}" for n in range(3)]
    assert list(snapshot.verify()) == []
    assert snapshot.paper(f"{2:015x}") == {"paper_id": f"{2:015x}"}
    assert sum(batch.num_rows for batch in snapshot.documents()) == 3


@pytest.mark.parametrize(
    "path",
    [
        "../x", "/etc/passwd", "a/../../x", "manifest.json", "manifest.json/x", "README.md", "README.md/x", "a\0b", "..\\x", "", ".x",
        "v2/" + "x" * 400, 5, None,
    ],
)  # fmt: skip
def test_manifest_with_wrong_names_is_refused(forged: Forged, path: Any) -> None:
    forged.manifest["files"].append({"path": path, "bytes": 0, "sha256": hashlib.sha256().hexdigest()})
    forged.write()
    with pytest.raises(SnapshotError, match="is damaged") as refused:
        forged.open()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "value",
    [
        {"bytes": -1}, {"bytes": "6"}, {"bytes": 1 << 63}, {"bytes": True}, {"sha256": 5}, {"rows": 1.5}, {"content_bytes": 10**12},
        {"other": 1},
    ],
)  # fmt: skip
def test_manifest_with_wrong_sizes_is_refused(forged: Forged, value: dict[str, Any]) -> None:
    forged.manifest["files"][0] |= value
    forged.write()
    with pytest.raises(SnapshotError, match="is damaged"):
        forged.open()


@pytest.mark.parametrize("files", [10**18, 0, -3, "1", 1.0, True, None, 1001])
def test_number_of_files_has_bounds(forged: Forged, files: Any) -> None:
    forged.manifest["rules"]["export.files"] = files
    forged.write()
    with pytest.raises(SnapshotError, match=r"export\.files"):
        forged.open()


@pytest.mark.parametrize("content", [b"[]", b"5", b"{", b"", b"[" * 100_000, b'{"snapshot":1,"files":5,"rules":[]}'])
def test_manifest_of_another_form_is_refused(forged: Forged, content: bytes) -> None:
    forged.put("manifest.json", content)
    with pytest.raises(SnapshotError, match="is damaged"):
        forged.open()


@pytest.mark.parametrize("name", ["manifest.json", "latest.json"])
def test_huge_json_is_not_read(tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("wb") as out:
        out.truncate(1 << 40)
    with pytest.raises(SnapshotError, match="has more than"):
        s2corpus_reader.open(str(tmp_path))


def _outside(path: Path) -> None:
    path.symlink_to("/etc/hostname")


KINDS: dict[str, Callable[[Path], None]] = {
    "FIFO": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "folder": lambda path: path.mkdir(),
    "link that leads out": _outside,
}


@pytest.mark.parametrize("kind", KINDS)
def test_only_regular_files_are_opened(forged: Forged, kind: str) -> None:
    for path in FILES:
        forged.replace(path, KINDS[kind])
    snapshot = forged.open()
    faults = list(snapshot.verify())
    assert [fault.partition(": ")[0] for fault in faults] == list(FILES)
    for read in (
        lambda: list(snapshot.texts()),
        lambda: list(snapshot.documents()),
        lambda: snapshot.paper("x"),
        lambda: snapshot.document("x"),
        lambda: snapshot.citations("x"),
    ):
        with pytest.raises(NotASnapshotFile, match=r"not a regular file|leads out"):
            read()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["manifest.json", "latest.json"])
def test_manifest_and_pointer_are_regular_files(tmp_path: Path, kind: str, name: str) -> None:
    KINDS[kind](tmp_path / name)
    with pytest.raises(SnapshotError, match=r"not a regular file|leads out"):
        s2corpus_reader.open(str(tmp_path))


def test_link_inside_the_folder_is_read(forged: Forged) -> None:
    (forged.folder / "README.md").rename(forged.folder / "card")
    (forged.folder / "README.md").symlink_to("card")
    assert list(forged.open().verify()) == []


@pytest.mark.parametrize("key", ["../x", "a/../../x", "/etc/passwd", "..", ".", "a//b", "a/", "", "a\0b", "a\\b"])
def test_folder_reads_nothing_outside(forged: Forged, key: str) -> None:
    (forged.folder.parent / "x").write_bytes(b"secret")
    with pytest.raises(NotASnapshotFile):
        Folder(str(forged.folder)).open(key)


def _zip_of(lines: int, block: bytes) -> bytes:
    """Return a gzip file that repeats a block."""
    out = BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1, mtime=0) as file:
        for _ in range(lines):
            file.write(block)
    return out.getvalue()


_READ = """
import resource, sys
import s2corpus_reader
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
try:
    print(sum(1 for _ in s2corpus_reader.open(sys.argv[1]).texts()))
except s2corpus_reader.SnapshotError as error:
    print(error)
"""


def test_line_of_four_gigabytes_is_refused(forged: Forged) -> None:
    """The complete line would not fit in this process's memory."""
    part = _zip_of(64, bytes(1 << 20).replace(b"\0", b" "))
    content = part * 64
    forged.put(TEXTS, content)
    forged.list(TEXTS, content, rows=1, content_bytes=4 << 30, content_sha256="0")
    forged.write()
    done = subprocess.run([sys.executable, "-c", _READ, forged.folder], capture_output=True, text=True, check=True)
    assert f"a line has more than {bounded.MAX_LINE_BYTES:,} bytes" in done.stdout


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (_zip_of(1_000_000, LINE % 1), "more than"),
        (gzip.compress(b"") * 1000, "more than"),
        (b"no gzip", "Not a gzipped file"),
        (FILES[TEXTS][:-20], "ended before"),
        (gzip.compress(b"[1]\n"), "not a JSON object"),
        (gzip.compress(b"[" * 100 + b"\n"), "JSONDecodeError"),
        (gzip.compress(b"\xff\n"), "JSONDecodeError"),
    ],
)
def test_damaged_texts_give_one_sentence(forged: Forged, content: bytes, says: str) -> None:
    """The manifest lists the sizes of the correct file. The reader reads no more, regardless of the file's length."""
    forged.put(TEXTS, content)
    with pytest.raises(SnapshotError, match=says) as refused:
        list(forged.open().texts())
    assert "\n" not in str(refused.value)


def test_missing_texts_are_named(forged: Forged) -> None:
    (forged.folder / TEXTS).unlink()
    with pytest.raises(SnapshotError, match="missing"):
        list(forged.open().texts())


def test_verify_reads_no_more_than_listed(forged: Forged) -> None:
    for path in FILES:
        with (forged.folder / path).open("r+b") as out:
            out.truncate(1 << 40)  # A sparse file: reading it completely takes minutes.
    faults = list(forged.open().verify())
    assert [fault.partition(": ")[0] for fault in faults] == list(FILES)
    assert all("more bytes than" in fault for fault in faults)


def test_parquet_of_too_many_rows_is_refused(forged: Forged) -> None:
    many = written(pa.table({"paper_id": pa.nulls(3_000_000), "id": pa.nulls(3_000_000)}))
    for path in (PAPERS, DOCUMENTS):
        forged.put(path, many)
    snapshot = forged.open()
    for read in (lambda: list(snapshot.documents()), lambda: snapshot.paper("x")):
        with pytest.raises(SnapshotError, match="3,000,000 rows"):
            read()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no Parquet",
        b"PAR1" + bytes(40) + b"PAR1",
        FILES[DOCUMENTS][:4] + bytes(60) + FILES[DOCUMENTS][64:],
    ],
    ids=["empty", "text", "no footer", "no pages"],
)
def test_damaged_parquet_gives_one_sentence(forged: Forged, content: bytes) -> None:
    for path in (PAPERS, DOCUMENTS):
        forged.put(path, content)
    snapshot = forged.open()
    for read in (lambda: list(snapshot.documents()), lambda: snapshot.paper("x")):
        with pytest.raises(SnapshotError, match="is damaged") as refused:
            read()
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("table", [pa.table({"x": ["x"]}), pa.table({"paper_id": [1]})])
def test_papers_with_other_columns_give_one_sentence(forged: Forged, table: pa.Table) -> None:
    forged.put(PAPERS, written(table))
    with pytest.raises(SnapshotError, match="is damaged"):
        forged.open().paper("x")


class _Endless(http.server.SimpleHTTPRequestHandler):
    """A server that answers each request for documents with empty gzip members.

    It stops only when the reader closes the connection.
    """

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        if not self.path.endswith((TEXTS, "README.md")):
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 50))
        self.send_header("Last-Modified", self.date_time_string())
        self.end_headers()
        try:
            while True:
                self.wfile.write(gzip.compress(b"", mtime=0) * 10_000)
        except OSError:
            pass


@pytest.fixture
def server(forged: Forged) -> Iterator[str]:
    handler = partial(_Endless, directory=str(forged.folder.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as made:
        made.daemon_threads = True
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{made.server_address[1]}/{ID}"
        made.shutdown()


def test_endless_answer_of_a_server_is_cut(server: str) -> None:
    snapshot = s2corpus_reader.open(server)
    with pytest.raises(SnapshotError, match="the file has more than"):
        list(snapshot.texts())
    assert [fault.partition(":")[0] for fault in snapshot.verify()] == [TEXTS, "README.md"]


def test_folder_of_a_server_reads_nothing_outside(server: str) -> None:
    with pytest.raises(NotASnapshotFile):
        Folder(server).open("../secret")
