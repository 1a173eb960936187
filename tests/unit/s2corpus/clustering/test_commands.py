"""Commands cluster a file of records, explain clusters, and report wrong inputs."""

import json
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from s2corpus.cli import corpus
from s2corpus.clustering.explain import explanations, format_explanation
from s2corpus.commands import records
from s2corpus.commands.papers import cluster_command
from s2corpus.errors import UserError
from s2corpus.sources.arrow import read_latest
from s2corpus.storage.lake import open_lake
from s2corpus.storage.parts import TableRef
from s2corpus.tables.papers import CLUSTERS, EDGES
from s2corpus.tables.schema import TABLES

WORK = {"title": "Deep parsing of scientific papers", "authors": "Ada Lovelace", "year": 2020}
TEXT = "We parse scientific papers and say how well that went. " * 3
LINES: list[dict[str, Any]] = [
    {**WORK, "record_id": "crossref:1", "source": "crossref", "kind": "publisher", "doi": "10.18653/v1/x1"},
    {**WORK, "record_id": "arxiv:1", "source": "arxiv", "year": 2019, "arxiv_id": "1911.02782", "abstract": TEXT},
    {**WORK, "record_id": "crossref:2", "source": "crossref", "kind": "publisher", "doi": "10.18653/v1/x2"},
]


def run(command: click.Command, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def given(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path


def test_commands_turn_records_into_clusters(given: Path, tmp_path: Path) -> None:
    r, c = tmp_path / "r.parquet", tmp_path / "c.parquet"
    assert "3 entries, 3 records" in run(records.command, "jsonl", given, "--out", r).output
    run(records.command, "jsonl", given, "--out", tmp_path / "r.jsonl")
    assert (
        "2 papers" in run(cluster_command, "--records", tmp_path / "r.jsonl", "--out", tmp_path / "again.jsonl").output
    )
    told = run(cluster_command, "--records", r, "--out", c, "--explain").output
    assert "arxiv:1 — crossref:1: S_title = 1.000" in told and "3 records, 2 papers, 1 conflicts" in told
    assert pq.read_table(c).column_names == ["record_id", "paper_id"]
    assert "cut" in told


ROWS: dict[str, list[dict[str, Any]]] = {
    "selections": [{"file_sha1": "a", "outcome": "selected"}, {"file_sha1": "b", "outcome": "landscape"}],
    "documents": [{"paper_id": "p1", "set": "s2orc", "outcome": "=1+1"}],
    "papers": [
        {"paper_id": "p1", "title": "T", "open_access": True}, {"paper_id": "p2", "title": "U", "open_access": False},
    ],
    "filtered": [{"paper_id": "p1", "outcome": "kept"}, {"paper_id": "p2", "outcome": "not_english"}],
}  # fmt: skip


def test_reports_print_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S2CORPUS_LAKE", str(tmp_path))
    for name, table in TABLES.items():
        ref = TableRef(open_lake(str(tmp_path)), f"releases/tiny-20230201/{name}", table)
        lists: dict[str, Any] = {field.name: [] for field in table.schema if pa.types.is_nested(field.type)}
        ref.write(0, [{**dict.fromkeys(table.schema.names), **lists, **row} for row in ROWS.get(name, [])])
        ref.commit([0], {"pdf_shards": 1, "paper_shards": 1})
    for report, expected in {
        "funnel": [["landscape", 1], ["unreadable", 0], ["not english", 1], ["kept", 1], ["s2orc", "=1+1", 1]],
        "coverage": [["title", 1, 100.0], ["authors", 0, 0.0]],
    }.items():
        printed = json.loads(run(corpus, "report", report, "tiny-20230201", "--json").output)
        rows = [row for table in printed for row in table["rows"]]
        assert all(row in rows for row in expected), rows


def test_explanation_lists_edges_and_records_of_a_paper() -> None:
    papers = {"a:1": "p", "b:1": "p", "c:1": "q", "a:0": "p"}
    rows = [{"record_id": id_, "paper_id": paper, "first_ready": None} for id_, paper in papers.items()]
    edges = [
        ("a:1", "b:1", "title", 0.9, True, "title almost equal +9: 14 of 10"), ("a:0", "a:1", "doi", 7.0, True, None),
        ("b:1", "c:1", "title", 0.85, False, None), ("a:1", "c:1", "unrelated", 6.0, False, None),
        ("a:0", "c:1", "authors", 0.95, False, "authors differ -4: 7 of 10"),
    ]  # fmt: skip
    found = pa.Table.from_pylist([dict(zip(EDGES.schema.names, edge, strict=True)) for edge in edges], EDGES.schema)
    (one,) = explanations(pa.Table.from_pylist(rows, CLUSTERS.schema), found, {"p"})
    assert format_explanation(one).splitlines() == [
        "paper p: 3 record(s)", "  a:0", "  a:1", "  b:1", "  joined a:0 — a:1: equal doi",
        "  joined a:1 — b:1: S_title = 0.900 (title almost equal +9: 14 of 10)",
        "  cut    a:1 — c:1: equal identifier; cut: unrelated titles and other authors or pages",
        "  cut    a:0 — c:1: S_title = 0.950; cut: their authors differ (authors differ -4: 7 of 10)",
        "  cut    b:1 — c:1: S_title = 0.850; cut: their clusters have different DOIs, contradicting years or contradicting records",
    ]  # fmt: skip


def test_wrong_input_gives_one_sentence(given: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.parquet"
    for command, arguments in (
        (records.command, ("crosref", given, "--out", out)),
        (cluster_command, ("--records", given, "--out", tmp_path / "no" / "folder.parquet")),
    ):
        with pytest.raises(UserError, match=r"expected|no source|cannot be written"):
            run(command, *arguments)


def test_last_of_duplicate_records_counts(given: Path) -> None:
    given.write_text(json.dumps(LINES[0]) + "\n" + json.dumps(LINES[0] | {"title": "Corrected"}) + "\n")
    assert read_latest([given])["title"].to_pylist() == ["Corrected"]
