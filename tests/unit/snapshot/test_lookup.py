"""A reader can look up a paper in a snapshot by any available identifier, and only the necessary data is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import s2corpus_reader
from s2corpus.commands.read import command
from s2corpus.snapshot.pointer import publish
from s2corpus_reader import Snapshot, SnapshotError
from tests.unit.snapshot.test_export import release


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    run = release(tmp_path_factory.mktemp("lookup"))
    publish(run.lake, run.snapshot_id)
    return s2corpus_reader.open(run.lake.uri(f"snapshots/{run.snapshot_id}"))


@pytest.fixture(scope="module")
def document(snapshot: Snapshot) -> dict[str, Any]:
    """Return some document of a full text."""
    found: dict[str, Any] = next(snapshot.documents("s2orc", "train")).slice(0, 1).to_pylist()[0]
    return found


def test_paper_is_found_by_any_identifier(snapshot: Snapshot, document: dict[str, Any]) -> None:
    for found in (
        snapshot.paper(document["id"]),
        snapshot.paper(doi=document["doi"]),
        snapshot.paper(doi=f"https://doi.org/{document['doi'].upper()}"),
        snapshot.paper(sha1=document["sha1"].upper()),
        snapshot.paper(title=document["title"].upper().replace(" ", "  ")),
    ):
        assert found is not None and found["paper_id"] == document["id"]
        assert found["title"] == document["title"]


def test_paper_without_a_document_is_found(snapshot: Snapshot) -> None:
    ids = {id_ for batch in snapshot.documents(columns=["id"]) for id_ in batch["id"].to_pylist()}
    rows = pq.read_table(Path(snapshot.address) / "tables/papers").to_pylist()
    paper = next(row for row in rows if row["paper_id"] not in ids)
    assert snapshot.paper(doi=paper["doi"]) == {**paper, "paper_id": paper["paper_id"]}
    assert snapshot.document(paper["paper_id"]) is None


def test_former_id_leads_to_the_current_paper(snapshot: Snapshot) -> None:
    alias = pq.read_table(Path(snapshot.address) / "aliases.parquet").to_pylist()[0]
    found = snapshot.paper(alias["alias"])
    assert found is not None and found["paper_id"] == alias["paper_id"]


def test_documents_are_read_in_filtered_batches(snapshot: Snapshot) -> None:
    rows = [
        row
        for batch in snapshot.documents(
            "s2orc", where=pc.field("licence") == "CC-BY-4.0", columns=["id", "licence", "text"]
        )
        for row in batch.to_pylist()
    ]
    assert rows and {row["licence"] for row in rows} == {"CC-BY-4.0"}
    assert {"id", "licence", "text"} == set(rows[0])


def test_citations_equal_the_links_of_the_paper(snapshot: Snapshot, document: dict[str, Any]) -> None:
    links = snapshot.citations(document["id"])
    assert set(links["paper_id"].to_pylist()) <= {document["id"]}


def test_missing_paper_is_none_and_wrong_identifier_an_error(snapshot: Snapshot) -> None:
    assert snapshot.paper(doi="10.9999/nobody") is None
    with pytest.raises(SnapshotError, match="'banana' is not a valid DOI"):
        snapshot.paper(doi="banana")
    with pytest.raises(SnapshotError, match="give one of id, doi"):
        snapshot.paper(doi="10.1234/1", title="On")
    with pytest.raises(SnapshotError, match="'test' is not a split"):
        next(snapshot.documents(split="test"))


def test_command_reads_by_doi(snapshot: Snapshot, document: dict[str, Any]) -> None:
    root = snapshot.address
    read = CliRunner().invoke(command, [root, "--doi", document["doi"], "--text"])
    assert read.exit_code == 0 and read.stdout.strip() == document["text"].strip()
    missing = CliRunner().invoke(command, [root, "--pmid", "1"])
    assert "no paper with pmid 1" in str(missing.exception)
