"""docs/hostile-input.md: the reader itself rejects forged snapshots without the pipeline's checks, and writes nothing.

tests/unit/s2corpus/snapshot/test_forged.py tests every form of a manifest's entries, and deltas.
"""

import gzip
import http.server
from collections.abc import Callable, Iterator
from contextlib import suppress
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
from tests.http_server import serve_folder
from tests.unit.s2corpus.snapshot.test_forged import KINDS, serialize, snapshot

ID = "small-20230101-00000000"
TEXTS, PAPERS, DOCUMENTS = "v2/s2orc/train/00.jsonl.gz", "tables/papers/00.parquet", "documents/s2orc/train/00.parquet"
LINE = b'{"id":"%015x","sha1":"0","text":"one"}\n'
IDS = [f"{n:015x}" for n in range(3)]
FILES = {
    "README.md": b"a card",
    "aliases.parquet": serialize(pa.table({"alias": pa.array([], pa.string()), "paper_id": pa.array([], pa.string())})),
    DOCUMENTS: serialize(pa.table({"id": IDS, "text": ["one"] * 3})),
    PAPERS: serialize(pa.table({"paper_id": IDS})),
    TEXTS: gzip.compress(b"".join(LINE % n for n in range(3)), mtime=0),
}


def compress_blocks(count: int, block: bytes) -> bytes:
    """Return a gzip file that repeats a block."""
    out = BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1, mtime=0) as file:
        for _ in range(count):
            file.write(block)
    return out.getvalue()


class Forged:
    """A small snapshot in a folder; tests change its manifest and files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / ID
        snapshot(self.folder, ID, FILES, rules={"export.files": 1})
        self.manifest: dict[str, Any] = orjson.loads((self.folder / "manifest.json").read_bytes())

    def put(self, path: str, content: bytes | bytearray) -> None:
        (self.folder / path).write_bytes(content)

    def open(self) -> s2corpus_reader.Snapshot:
        self.put("manifest.json", orjson.dumps(self.manifest))
        return s2corpus_reader.open(str(self.folder))


@pytest.fixture
def forged(tmp_path: Path) -> Forged:
    return Forged(tmp_path)


def test_right_snapshot_is_read_also_through_links(forged: Forged) -> None:
    (forged.folder / "README.md").rename(forged.folder / "card")
    (forged.folder / "README.md").symlink_to("card")
    found = forged.open()
    assert [row["id"] for row in found.texts()] == IDS
    assert list(found.verify()) == []
    assert found.paper(IDS[2]) == {"paper_id": IDS[2]}
    assert sum(batch.num_rows for batch in found.documents()) == 3


@pytest.mark.parametrize("files", [10**18, 0, "1", True, None, 1001])
def test_number_of_files_has_bounds(forged: Forged, files: Any) -> None:
    forged.manifest["rules"]["export.files"] = files
    with pytest.raises(SnapshotError, match=r"export\.files"):
        forged.open()


OUTSIDE = b'{"snapshot":"x","rules":{"export.files":1},"files":[{"path":"../x","bytes":0,"sha256":"0"}]}'


@pytest.mark.parametrize("content", [b"{", b"[" * 100_000, b'{"snapshot":1,"files":5,"rules":[]}', OUTSIDE])
def test_manifest_of_another_form_is_refused(forged: Forged, content: bytes) -> None:
    forged.put("manifest.json", content)
    with pytest.raises(SnapshotError, match="is damaged") as refused:
        s2corpus_reader.open(str(forged.folder))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", KINDS)
def test_only_regular_files_of_the_listed_size_are_read(forged: Forged, kind: str) -> None:
    for path in FILES:
        (forged.folder / path).unlink()
        KINDS[kind](forged.folder / path)
    found = forged.open()
    faults = list(found.verify())
    assert [fault.partition(": ")[0] for fault in faults] == list(FILES)
    if kind == "huge":
        assert all("more bytes than" in fault for fault in faults)
        return
    reads: list[Callable[[], Any]] = [found.texts, found.documents]
    for read in reads + [partial(one, "x") for one in (found.paper, found.document)]:
        with pytest.raises(NotASnapshotFile, match=r"not a regular file|leads out"):
            list(read() or ())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["manifest.json", "latest.json"])
def test_manifest_and_pointer_are_small_regular_files(tmp_path: Path, kind: str, name: str) -> None:
    KINDS[kind](tmp_path / name)
    with pytest.raises(SnapshotError, match="has more than" if kind == "huge" else r"not a regular file|leads out"):
        s2corpus_reader.open(str(tmp_path))


@pytest.mark.parametrize("key", ["../x", "a/../../x", "/etc/passwd", "..", "a//b", "", "a\0b", "a\\b"])
def test_folder_reads_nothing_outside(forged: Forged, key: str) -> None:
    (forged.folder.parent / "x").write_bytes(b"secret")
    with pytest.raises(NotASnapshotFile):
        Folder(str(forged.folder)).open(key)
    with pytest.raises(NotASnapshotFile, match=f"'/{'x' * 299}' is not the path"):
        Folder(str(forged.folder)).open("/" + "x" * 1000)


def test_line_beyond_the_limit_is_refused(forged: Forged) -> None:
    size = bounded.MAX_LINE_BYTES + (2 << 20)
    content = compress_blocks(size >> 20, b" " * (1 << 20))
    forged.put(TEXTS, content)
    forged.manifest["files"][-1] |= {"bytes": len(content), "rows": 1, "content_bytes": size}
    with pytest.raises(SnapshotError, match=f"a line has more than {bounded.MAX_LINE_BYTES:,} bytes"):
        list(forged.open().texts())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(compress_blocks(1_000_000, LINE % 1), "more than", id="many lines"),
        pytest.param(b"no gzip", "Not a gzipped file", id="no gzip"), pytest.param(FILES[TEXTS][:-20], "ended before", id="cut"),
        pytest.param(gzip.compress(b"[1]\n", mtime=0), "not a JSON object", id="array"), pytest.param(None, "missing", id="missing"),
    ],
)  # fmt: skip
def test_damaged_texts_give_one_sentence(forged: Forged, content: bytes | None, says: str) -> None:
    """The manifest lists the sizes of the correct file. The reader reads no more, regardless of the file's length."""
    (forged.folder / TEXTS).unlink()
    if content is not None:
        forged.put(TEXTS, content)
    with pytest.raises(SnapshotError, match=says) as refused:
        list(forged.open().texts())
    assert "\n" not in str(refused.value)


MANY_ROWS = serialize(pa.table({"paper_id": pa.nulls(3_000_000), "id": pa.nulls(3_000_000)}), 3_000_000)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(MANY_ROWS, "3,000,000 rows", id="rows"),
        pytest.param(b"PAR1" + bytes(40) + b"PAR1", "is damaged", id="no footer"),
        pytest.param(FILES[DOCUMENTS][:4] + bytes(60) + FILES[DOCUMENTS][64:], "is damaged", id="no pages"),
    ],
)
def test_damaged_parquet_gives_one_sentence(forged: Forged, content: bytes, says: str) -> None:
    for path in (PAPERS, DOCUMENTS):
        forged.put(path, content)
    found = forged.open()
    for read in (lambda: list(found.documents()), lambda: found.paper("x")):
        with pytest.raises(SnapshotError, match=says) as refused:
            read()
        assert "\n" not in str(refused.value)
    forged.put(PAPERS, serialize(pa.table({"paper_id": [1]})))
    with pytest.raises(SnapshotError, match="is damaged"):
        forged.open().paper("x")


def test_look_up_reads_one_row_group(forged: Forged) -> None:
    """docs/reading.md: only what an answer needs is read. Here all other row groups are damaged."""
    ids = [f"{n:015x}" for n in range(0, 20, 2)]
    content = serialize(pa.table({"paper_id": ids, "n": range(10)}), 3)
    groups = [pq.ParquetFile(BytesIO(content)).metadata.row_group(group).column(0) for group in range(4)]
    for number, id_ in [*enumerate(ids), (None, f"{5:015x}")]:
        damaged = bytearray(content)
        for group, column in enumerate(groups):
            if number is None or group != number // 3:
                damaged[column.data_page_offset : column.data_page_offset + 20] = bytes(20)
        forged.put(PAPERS, damaged)
        assert forged.open().paper(id_) == (None if number is None else {"paper_id": id_, "n": number})


@pytest.fixture
def server(forged: Forged) -> Iterator[str]:
    """Yield the URL of a server that sends empty gzip members for each document until the reader closes the connection."""

    class Endless(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.path.endswith((TEXTS, "README.md")):
                super().do_GET()
                return
            self.send_response(200)
            self.send_header("Content-Length", str(1 << 50))
            self.send_header("Last-Modified", self.date_time_string())
            self.end_headers()
            with suppress(OSError):
                while True:
                    self.wfile.write(gzip.compress(b"", mtime=0) * 10_000)

    with serve_folder(forged.folder.parent, Endless) as url:
        yield f"{url}/{ID}"


def test_endless_answer_of_a_server_is_cut(server: str) -> None:
    found = s2corpus_reader.open(server)
    with pytest.raises(SnapshotError, match="the file has more than"):
        list(found.texts())
    assert [fault.partition(":")[0] for fault in found.verify()] == ["README.md", TEXTS]
    with pytest.raises(NotASnapshotFile):
        Folder(server).open("../secret")
