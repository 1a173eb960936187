"""SPEC §10.14, docs/reading.md: `corpus verify` finds damages; `corpus read` and readers find every paper and document.

test_contradictions.py tests each check, test_tampering.py each column.
"""

import gzip
import shutil
from pathlib import Path

import orjson
import pyarrow.parquet as pq
import pytest

import s2corpus_reader
from s2corpus.snapshot.verify import verify as find_faults
from s2corpus.storage.lake import open_lake
from s2corpus_reader import Snapshot, SnapshotError
from tests.commands import invoke
from tests.unit.s2corpus.snapshot.test_tampering import list_again


@pytest.fixture
def copy(published: Path, tmp_path: Path) -> Path:
    """Return a copy of the snapshot and its publication that a test may damage."""
    return Path(shutil.copytree(published.parents[1], tmp_path / "lake")) / "snapshots" / published.name


@pytest.mark.parametrize(
    ("content", "says"),
    [(bytes(200_000_000), ": corrupt gzip data"), (b"\n" * 2_000_000, "the content of the file has more than ")],
)
def test_gzip_bomb_is_read_only_to_its_listed_sizes(copy: Path, content: bytes, says: str) -> None:
    path = "v2/s2orc/train/00.jsonl.gz"
    (copy / path).write_bytes(gzip.compress(content, mtime=0))
    faults = [str(fault) for fault in find_faults(open_lake(str(copy)))]
    assert any(fault.startswith(path) and says in fault for fault in faults)


def test_publication_and_parent_are_compared(published: Path, copy: Path) -> None:
    assert invoke("verify", published).exit_code == 0
    found = find_faults(open_lake(str(published)), parent=open_lake(str(published)))
    assert [str(fault) for fault in found] == [f"manifest.json: the parent is None; expected {published.name}"]
    mark = copy.parent / "small/published" / copy.name
    right = mark.read_bytes()
    for data in (right.replace(b'_sha256":"', b'_sha256":"0'), b"null"):
        mark.write_bytes(data)
        assert "this is not the published manifest" in invoke("verify", copy).output
    mark.write_bytes(right)
    (copy / "README.md").write_bytes((copy / "README.md").read_bytes().replace(b"CC-BY-4.0", b"CC0-1.0  "))
    list_again(copy)
    assert "this is not the published manifest" in invoke("verify", copy).output


def test_folder_below_current_one_needs_no_address(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("S2CORPUS_LAKE", raising=False)
    monkeypatch.chdir(published.parent)
    assert invoke("verify", published.name).exit_code == 0
    assert invoke("verify", "small").exit_code == 0, "the folder of a spec opens its latest snapshot"


# -- corpus read


def ids(published: Path) -> list[str]:
    return sorted(pq.read_table(published / "index.parquet")["id"].to_pylist())


def test_document_is_read_by_id_and_former_id(published: Path) -> None:
    wanted = ids(published)[3]
    assert orjson.loads(invoke("read", published, wanted).stdout_bytes)["id"] == wanted
    (alias,) = pq.read_table(published / "aliases.parquet").to_pylist()
    assert orjson.loads(invoke("read", published, alias["alias"]).stdout_bytes)["id"] == alias["paper_id"]
    for given, said in (
        ("f" * 15, f"no document {'f' * 15}"),
        ("pmid:1", "no paper with pmid 1"),
        ("A title", "title A title"),
    ):
        assert said in str(invoke("read", published, given).exception)


def test_sample_is_reproducible(published: Path) -> None:
    words = ("--sample", 3, "--set", "s2ag")
    first = invoke("read", published, *words).stdout_bytes
    assert [orjson.loads(line)["text"].count("\n\n") for line in first.splitlines()] == [1, 1, 1]
    assert invoke("read", "small", "--lake", published.parents[1], *words).stdout_bytes == first


def test_documents_are_read_by_regular_expression(published: Path) -> None:
    found = invoke("read", published, "--grep", "^On [A-M]").stdout_bytes.splitlines()
    everything = invoke("read", published, "--grep", ".").stdout_bytes.splitlines()
    assert sorted(orjson.loads(line)["id"] for line in everything) == ids(published)
    assert found == [line for line in everything if "A" <= orjson.loads(line)["text"][3] <= "M"]
    assert "not a regular expression" in str(invoke("read", published, "--grep", "(").exception)
    for options in ([], ["a", "--sample", "1"]):
        assert "select documents with exactly one of PAPERS" in str(invoke("read", published, *options).exception)


# -- s2corpus_reader


@pytest.fixture(scope="module")
def snapshot(published: Path) -> Snapshot:
    return s2corpus_reader.open(str(published))


def test_paper_is_found_by_any_identifier(snapshot: Snapshot) -> None:
    document = next(snapshot.documents("s2orc", "train")).slice(0, 1).to_pylist()[0]
    for found in (
        snapshot.paper(document["id"]),
        snapshot.paper(doi=f"https://doi.org/{document['doi'].upper()}"),
        snapshot.paper(sha1=document["sha1"].upper()),
        snapshot.paper(title=document["title"].upper().replace(" ", "  ")),
    ):
        assert found is not None and (found["paper_id"], found["title"]) == (document["id"], document["title"])
    alias = pq.read_table(Path(snapshot.address) / "aliases.parquet").to_pylist()[0]
    former = snapshot.paper(alias["alias"])
    assert former is not None and former["paper_id"] == alias["paper_id"]
    assert set(snapshot.citations(document["id"])["paper_id"].to_pylist()) <= {document["id"]}
    read = invoke("read", snapshot.address, document["doi"], "--text")
    assert read.exit_code == 0 and read.stdout.strip() == document["text"].strip()


def test_paper_without_a_document_is_found(snapshot: Snapshot) -> None:
    known = {id_ for batch in snapshot.documents(columns=["id"]) for id_ in batch["id"].to_pylist()}
    rows = pq.read_table(Path(snapshot.address) / "tables/papers").to_pylist()
    paper = next(row for row in rows if row["paper_id"] not in known)
    assert snapshot.paper(doi=paper["doi"]) == paper
    assert snapshot.document(paper["paper_id"]) is None


def test_paper_is_found_by_the_doi_of_its_preprint(snapshot: Snapshot) -> None:
    rows = pq.read_table(Path(snapshot.address) / "tables/papers").to_pylist()
    paper = next(row for row in rows if row["preprints"])
    assert paper["preprints"][0]["doi"] != paper["doi"]
    assert snapshot.paper(doi=paper["preprints"][0]["doi"]) == paper


def test_missing_paper_is_none_and_wrong_identifier_an_error(snapshot: Snapshot) -> None:
    assert snapshot.paper(doi="10.9999/nobody") is None
    with pytest.raises(SnapshotError, match="'banana' is not a valid DOI"):
        snapshot.paper(doi="banana")
    with pytest.raises(SnapshotError, match="give one of id, doi"):
        snapshot.paper(doi="10.1234/1", title="On")
    with pytest.raises(SnapshotError, match="'test' is not a split"):
        next(snapshot.documents(split="test"))
