"""docs/reading.md: the reader reads folders and servers without pyarrow and the pipeline, in parts, and explains refusals."""

import gzip
import http.server
import io
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from email.utils import formatdate
from pathlib import Path

import orjson
import pyarrow as pa
import pytest

import s2corpus_reader
from s2corpus.titles import normalize_one
from s2corpus_reader import SnapshotError, UnreachableError, bounded, identifiers, parquet
from s2corpus_reader.errors import NotASnapshotFile
from s2corpus_reader.folder import Folder
from s2orc_parse.bibliography import identifiers as bibliography
from tests.http_server import Answer, Request, Server, serve_folder

INCLUDE = Path(s2corpus_reader.__file__).parents[1]
WITHOUT_ARROW = """
import sys
for name in ("pyarrow", "s2corpus", "s2orc_parse", "pdf2tei", "numpy", "boto3"):
    sys.modules[name] = None
import s2corpus_reader
snapshot = s2corpus_reader.open(sys.argv[1])
print(sum(1 for _ in snapshot.texts()), list(snapshot.verify()))
try:
    snapshot.paper(doi="10.1/2")
except s2corpus_reader.SnapshotError as error:
    print(error)
"""


@pytest.fixture
def server(published: Path) -> Iterator[str]:
    """Yield the URL of a web server for the folder of snapshots. The server lists no folders."""

    class Unlisted(http.server.SimpleHTTPRequestHandler):
        def list_directory(self, path: object) -> None:
            self.send_error(403)

    with serve_folder(published.parent, Unlisted) as url:
        yield url


def lines(folder: Path, set_: str, split: str) -> list[dict[str, str]]:
    files = sorted((folder / f"v2/{set_}/{split}").glob("*.jsonl.gz"))
    return [orjson.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]


def test_folder_and_web_server_are_read_without_listing(published: Path, server: str) -> None:
    for address in (str(published), f"{server}/{published.name}"):
        snapshot = s2corpus_reader.open(address)
        expected = lines(published, "s2orc", "train")
        assert list(snapshot.texts("s2orc", "train")) == expected and len(expected) > 20
        assert list(snapshot.verify()) == []
    spec = published.name.rpartition("-")[0].rpartition("-")[0]
    assert s2corpus_reader.open(str(published.parent / spec)).id == published.name, "the latest of a spec"


def test_reader_needs_neither_pyarrow_nor_the_pipeline(published: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_ARROW, str(published)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=INCLUDE)
    documents = sum(len(lines(published, set_, split)) for set_ in ("s2orc", "s2ag") for split in ("train", "valid"))
    assert done.stdout == f"{documents} []\nthis needs pyarrow: pip install 's2corpus-reader[arrow]'\n"


def test_verify_names_missing_and_changed_files(published: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(published, tmp_path / published.name)
    (copy / "stats.json").unlink()
    changed = next((copy / "v2/s2orc/train").glob("*.jsonl.gz"))
    data = bytearray(changed.read_bytes())
    data[-1] ^= 1
    changed.write_bytes(data)
    (copy / "README.md").write_bytes(b"x")
    faults = dict(fault.split(": ", 1) for fault in s2corpus_reader.open(str(copy)).verify())
    assert faults.keys() == {"stats.json", "README.md", changed.relative_to(copy).as_posix()}
    assert faults["stats.json"] == "missing" and faults["README.md"].startswith("1 bytes; the manifest expects ")


@pytest.mark.parametrize(
    ("address", "latest", "error"),
    [
        ("/nowhere/at/all", None, "no such folder"), ("ftp://host/x", None, "is not an address"),
        ("http://127.0.0.1:9/x", None, "127.0.0.1"), ("", None, r"no manifest\.json and no latest\.json found"),
        ("", b'{"snapshot": "../../etc"}', "is not the id of a snapshot"), ("", b'{"snapshot": null}', "all its snapshots were withdrawn"),
        ("", b"[]", r"latest\.json is damaged"),
    ],
)  # fmt: skip
def test_wrong_address_gives_one_sentence(tmp_path: Path, address: str, latest: bytes | None, error: str) -> None:
    if latest:
        (tmp_path / "latest.json").write_bytes(latest)
    with pytest.raises((SnapshotError, UnreachableError), match=error):
        s2corpus_reader.open(address or str(tmp_path))


WRITTEN = {
    "doi": ["https://doi.org/10.1016/S0022-0000(05)80002-1", "DOI: 10.1000/ABC%2Fdef", "http://dx.doi.org/10.1021/ja01234a567."],
    "arxiv_id": ["arXiv:1706.03762v5", "https://arxiv.org/pdf/1911.02782v3.pdf", "math.GT/0309136"],
    "pubmed_id": ["PMID: 0012345", "https://pubmed.ncbi.nlm.nih.gov/12345/"],
    "pmc_id": ["PMC4391421.1", "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC4391421/"],
    "acl_id": ["https://aclanthology.org/2020.acl-main.447/", "n18-3011"],
    "title": ["Über die Größe — «S2ORC»: naïve & co. (2nd ed.)", "हिन्दी में शीर्षक", "ﬁne-tuning  ²"],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "written"), [(kind, value) for kind, values in WRITTEN.items() for value in values])
def test_reader_normalizes_as_the_pipeline_does(kind: str, written: str) -> None:
    forms = {
        "doi": bibliography.normalize_doi, "arxiv_id": bibliography.normalize_arxiv, "pubmed_id": bibliography.normalize_pmid,
        "pmc_id": bibliography.normalize_pmcid, "acl_id": bibliography.normalize_acl, "title": normalize_one,
    }  # fmt: skip
    assert identifiers.normalize(kind, written) == forms[kind](written)


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


class Ranges(Server):
    """A server for one file that records the requested ranges; other paths give the status in their name."""

    def __init__(self) -> None:
        self.ranges: list[str | None] = []
        self.content = CONTENT

    def answer(self, request: Request) -> Answer:
        name, headers = request.path.rpartition("/")[2], {"Last-Modified": formatdate(usegmt=True)}
        status, body = (int(name), b"") if name.isdigit() else (200, self.content)
        asked = request.headers.get("Range")
        self.ranges.append(asked)
        if asked and status == 200:
            first, last = map(int, asked.removeprefix("bytes=").split("-"))
            status, body = 206, self.content[first : last + 1]
            headers["Content-Range"] = f"bytes {first}-{first + len(body) - 1}/{len(self.content)}"
        return status, body, headers


@pytest.fixture(scope="module")
def ranges() -> Iterator[Ranges]:
    with Ranges() as made:
        made.url = f"{made.url}/snapshot/"
        yield made


def test_ranges_are_requested_and_no_more(ranges: Ranges) -> None:
    ranges.ranges.clear()
    size = len(CONTENT)
    with Folder(ranges.url).open_ranges("file") as file:
        assert (file.seek(-8, io.SEEK_END), file.read(4), file.tell()) == (size - 8, CONTENT[-8:-4], size - 4)
        assert (file.read(100), file.read(100)) == (CONTENT[-4:], b"")
        assert (file.seek(10), file.seek(5, io.SEEK_CUR), file.read(1)) == (10, 15, CONTENT[15:16])
    assert ranges.ranges == [None, f"bytes={size - 8}-{size - 5}", f"bytes={size - 4}-{size - 1}", "bytes=15-15"]


def test_file_of_a_server_is_read_in_pieces(ranges: Ranges, tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    (folder / "file").write_bytes(CONTENT)
    assert "a%20b" in folder.as_uri()
    for opened in (Folder(ranges.url), Folder(str(folder)), Folder(f"{folder.as_uri()}/")):
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
def test_refusals_of_servers(ranges: Ranges, status: int, error: type[Exception], words: str) -> None:
    opened = Folder(ranges.url)
    read: list[Callable[[str], object]] = [opened.open, opened.open_ranges, lambda name: opened.read_range(name, 0, 1)]
    for act in read:
        with pytest.raises(error, match=words) as raised:
            act(str(status))
        assert "\n" not in str(raised.value) and len(str(raised.value)) < 500
    with pytest.raises(NotASnapshotFile):
        opened.read_range("../x", 0, 1)


def test_tables_of_servers_are_read(ranges: Ranges, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """List items and nested fields keep their names."""
    nested = pa.list_(pa.struct([("a", pa.int64()), ("b", pa.list_(pa.string()))]))
    schema = pa.schema([pa.field("y", pa.string(), nullable=False), ("x", nested)])
    table = pa.table({"x": [[{"a": 1, "b": ["c"]}], [], None], "y": ["1", "2", "3"]}, schema=schema)
    with parquet.parquet_writer(tmp_path / "t.parquet", schema) as writer:
        writer.write_table(table)
    monkeypatch.setattr(ranges, "content", (tmp_path / "t.parquet").read_bytes())
    found = parquet.restore_schema(parquet.read_table(Folder(ranges.url), "t.parquet"))
    assert found.equals(table) and found.schema.equals(schema, check_metadata=True)
    assert parquet.read_table(Folder(ranges.url), "t.parquet", ["y"]).to_pydict() == {"y": ["1", "2", "3"]}
