"""docs/reading.md: a reader looks up a paper by any available identifier, and only the necessary data is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import s2corpus_reader
from s2corpus.commands.snapshots import read_command as command
from s2corpus_reader import Snapshot, SnapshotError


@pytest.fixture(scope="module")
def snapshot(published: Path) -> Snapshot:
    return s2corpus_reader.open(str(published))


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
        assert found is not None and (found["paper_id"], found["title"]) == (document["id"], document["title"])
    alias = pq.read_table(Path(snapshot.address) / "aliases.parquet").to_pylist()[0]
    former = snapshot.paper(alias["alias"])
    assert former is not None and former["paper_id"] == alias["paper_id"]
    assert set(snapshot.citations(document["id"])["paper_id"].to_pylist()) <= {document["id"]}


def test_paper_without_a_document_is_found(snapshot: Snapshot) -> None:
    ids = {id_ for batch in snapshot.documents(columns=["id"]) for id_ in batch["id"].to_pylist()}
    rows = pq.read_table(Path(snapshot.address) / "tables/papers").to_pylist()
    paper = next(row for row in rows if row["paper_id"] not in ids)
    assert snapshot.paper(doi=paper["doi"]) == paper
    assert snapshot.document(paper["paper_id"]) is None


def test_documents_are_read_in_filtered_batches(snapshot: Snapshot) -> None:
    columns, where = ["id", "licence", "text"], pc.field("licence") == "CC-BY-4.0"
    rows = [row for batch in snapshot.documents("s2orc", where=where, columns=columns) for row in batch.to_pylist()]
    assert rows and {row["licence"] for row in rows} == {"CC-BY-4.0"} and list(rows[0]) == columns


def test_missing_paper_is_none_and_wrong_identifier_an_error(snapshot: Snapshot) -> None:
    assert snapshot.paper(doi="10.9999/nobody") is None
    with pytest.raises(SnapshotError, match="'banana' is not a valid DOI"):
        snapshot.paper(doi="banana")
    with pytest.raises(SnapshotError, match="give one of id, doi"):
        snapshot.paper(doi="10.1234/1", title="On")
    with pytest.raises(SnapshotError, match="'test' is not a split"):
        next(snapshot.documents(split="test"))


def test_command_reads_by_doi(snapshot: Snapshot, document: dict[str, Any]) -> None:
    read = CliRunner().invoke(command, [snapshot.address, "--doi", document["doi"], "--text"])
    assert read.exit_code == 0 and read.stdout.strip() == document["text"].strip()
    missing = CliRunner().invoke(command, [snapshot.address, "--pmid", "1"])
    assert "no paper with pmid 1" in str(missing.exception)
