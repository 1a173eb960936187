"""The reader alone reads documents, checksums and the latest snapshot, without pyarrow and the pipeline."""

from __future__ import annotations

import gzip
import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import orjson
import pytest

import s2corpus_reader
from s2corpus.snapshot.pointer import publish
from s2corpus.titles.normalised import normalise_one
from s2corpus_reader import SnapshotError, UnreachableError, identifiers
from s2orc_parse.bibliography import identifiers as bibliography
from tests.unit.snapshot.test_export import release

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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = release(tmp_path_factory.mktemp("reader"))
    publish(run.lake, run.snapshot_id)
    return Path(run.lake.uri(f"snapshots/{run.snapshot_id}"))


@pytest.fixture
def server(folder: Path) -> Iterator[str]:
    """Yield the URL of a web server for the folder of snapshots. The server lists no folders."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def list_directory(self, path: object) -> None:
            self.send_error(403)

    handler = partial(Quiet, directory=str(folder.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{made.server_address[1]}"
        made.shutdown()


def lines(folder: Path, set_: str, split: str) -> list[dict[str, str]]:
    files = sorted((folder / f"v2/{set_}/{split}").glob("*.jsonl.gz"))
    return [orjson.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]


def test_texts_are_the_lines_of_a_set_and_split(folder: Path) -> None:
    expected = lines(folder, "s2orc", "train")
    assert len(expected) > 20
    assert list(s2corpus_reader.open(str(folder)).texts("s2orc", "train")) == expected


def test_web_server_is_read_without_listing(folder: Path, server: str) -> None:
    snapshot = s2corpus_reader.open(f"{server}/{folder.name}")
    assert list(snapshot.texts("s2ag", "train")) == lines(folder, "s2ag", "train")
    assert list(snapshot.verify()) == []


def test_folder_of_a_spec_gives_its_latest_snapshot(folder: Path) -> None:
    spec = folder.name.rpartition("-")[0].rpartition("-")[0]
    assert s2corpus_reader.open(str(folder.parent / spec)).id == folder.name


def test_reader_needs_neither_pyarrow_nor_the_pipeline(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_ARROW, str(folder)], capture_output=True, text=True, check=True, cwd=INCLUDE
    )
    documents = sum(len(lines(folder, set_, split)) for set_ in ("s2orc", "s2ag") for split in ("train", "valid"))
    assert done.stdout.splitlines() == [
        f"{documents} []",
        "this needs pyarrow: pip install 's2corpus-reader[arrow]'",
    ]


def test_verify_names_missing_and_changed_files(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / folder.name
    subprocess.run(["cp", "-r", folder, copy], check=True)
    (copy / "stats.json").unlink()
    changed = next((copy / "v2/s2orc/train").glob("*.jsonl.gz"))
    data = bytearray(changed.read_bytes())
    data[-1] ^= 1
    changed.write_bytes(data)
    (copy / "funnel.csv").write_bytes((copy / "funnel.csv").read_bytes() + b"x")
    faults = list(s2corpus_reader.open(str(copy)).verify())
    assert sorted(fault.split(":")[0] for fault in faults) == sorted(
        ["stats.json", "funnel.csv", changed.relative_to(copy).as_posix()]
    )
    assert "stats.json: missing" in faults


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("/nowhere/at/all", "no such folder"),
        ("ftp://host/x", "is not an address"),
        ("http://127.0.0.1:9/x", "127.0.0.1"),
    ],
)
def test_wrong_address_gives_one_sentence(address: str, error: str) -> None:
    with pytest.raises((SnapshotError, UnreachableError), match=error):
        s2corpus_reader.open(address)


def test_pointer_outside_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec/latest.json").write_bytes(orjson.dumps({"snapshot": "../../etc"}))
    with pytest.raises(SnapshotError, match="is not the id of a snapshot"):
        s2corpus_reader.open(str(tmp_path / "spec"))


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        ("doi", "10.18653/v1/2020.acl-main.447"),
        ("doi", "https://doi.org/10.1016/S0022-0000(05)80002-1"),
        ("doi", "DOI: 10.1000/ABC%2Fdef"),
        ("doi", "http://dx.doi.org/10.1021/ja01234a567."),
        ("arxiv_id", "arXiv:1706.03762v5"),
        ("arxiv_id", "https://arxiv.org/abs/hep-th/9711200v3"),
        ("arxiv_id", "https://arxiv.org/pdf/1911.02782v3.pdf"),
        ("arxiv_id", "math.GT/0309136"),
        ("pubmed_id", "PMID: 0012345"),
        ("pubmed_id", "https://pubmed.ncbi.nlm.nih.gov/12345/"),
        ("pmc_id", "PMC4391421.1"),
        ("pmc_id", "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC4391421/"),
        ("acl_id", "https://aclanthology.org/2020.acl-main.447/"),
        ("acl_id", "n18-3011"),
        ("title", "Über die Größe — «S2ORC»: naïve & co. (2nd ed.)"),
        ("title", "हिन्दी में शीर्षक"),
        ("title", "ﬁne-tuning  ²"),
    ],
)
def test_reader_normalizes_as_the_pipeline_does(kind: str, written: str) -> None:
    forms = {
        "doi": bibliography.normalise_doi, "arxiv_id": bibliography.normalise_arxiv, "pubmed_id": bibliography.normalise_pmid,
        "pmc_id": bibliography.normalise_pmcid, "acl_id": bibliography.normalise_acl, "title": normalise_one,
    }  # fmt: skip
    assert identifiers.normalize(kind, written) == forms[kind](written)
