"""docs/reading.md: the reader alone reads documents, checksums and the latest snapshot, without pyarrow and the pipeline."""

from __future__ import annotations

import gzip
import http.server
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import orjson
import pytest

import s2corpus_reader
from s2corpus.titles import normalise_one
from s2corpus_reader import SnapshotError, UnreachableError, identifiers
from s2orc_parse.bibliography import identifiers as bibliography

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

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def list_directory(self, path: object) -> None:
            self.send_error(403)

    handler = partial(Quiet, directory=str(published.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{made.server_address[1]}"
        made.shutdown()


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
    longer, shorter = copy / "funnel.csv", copy / "README.md"
    longer.write_bytes(longer.read_bytes() + b"x")
    shorter.write_bytes(b"x")
    faults = dict(fault.split(": ", 1) for fault in s2corpus_reader.open(str(copy)).verify())
    assert faults.keys() == {"stats.json", "funnel.csv", "README.md", changed.relative_to(copy).as_posix()}
    assert faults["stats.json"] == "missing" and faults["README.md"].startswith("1 bytes; the manifest expects ")


@pytest.mark.parametrize(
    ("address", "latest", "error"),
    [
        ("/nowhere/at/all", None, "no such folder"),
        ("ftp://host/x", None, "is not an address"),
        ("http://127.0.0.1:9/x", None, "127.0.0.1"),
        ("", None, r"no manifest\.json and no latest\.json found"),
        ("", b'{"snapshot": "../../etc"}', "is not the id of a snapshot"),
        ("", b'{"snapshot": null}', "all its snapshots were withdrawn"),
        ("", b"[]", r"latest\.json is damaged"),
    ],
)
def test_wrong_address_or_pointer_gives_one_sentence(
    tmp_path: Path, address: str, latest: bytes | None, error: str
) -> None:
    if latest:
        (tmp_path / "latest.json").write_bytes(latest)
    with pytest.raises((SnapshotError, UnreachableError), match=error):
        s2corpus_reader.open(address or str(tmp_path))


def test_folders_have_encoded_addresses_and_snapshots_the_time_of_their_release(
    published: Path, tmp_path: Path
) -> None:
    copy, spec = tmp_path / "a b/small-20230101T120000-00000000", tmp_path / "a b/small"
    shutil.copytree(published, copy)
    spec.mkdir()
    (spec / "latest.json").write_bytes(orjson.dumps({"snapshot": copy.name}))
    for address in (str(spec), spec.as_uri()):
        assert list(s2corpus_reader.open(address).verify()) == []


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
        "doi": bibliography.normalise_doi, "arxiv_id": bibliography.normalise_arxiv, "pubmed_id": bibliography.normalise_pmid,
        "pmc_id": bibliography.normalise_pmcid, "acl_id": bibliography.normalise_acl, "title": normalise_one,
    }  # fmt: skip
    assert identifiers.normalize(kind, written) == forms[kind](written)
