"""Each SQL report runs over real tables and prints the values of their rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from s2corpus.commands.papers import explain_command
from s2corpus.commands.releases import REPORTS
from s2corpus.commands.releases import report_command as command
from s2corpus.pipeline.quality import SQL
from s2corpus.storage.lake import open_lake
from s2corpus.storage.parts import TableRef
from s2corpus.tables.schema import TABLES

PARSE = {
    "abstract": [{"text": "We", "cite_spans": [{"ref_id": "BIBREF0"}]}],
    "body_text": [{"text": "a", "cite_spans": [{}, {}]}, {"text": "b", "cite_spans": []}],
    "bib_entries": {"BIBREF0": {}, "BIBREF1": {}},
}
DECISION = {"source": "crossref", "record_id": "crossref:1", "rule": "majority", "votes_for": 1, "votes_against": 0}
ACCESS = {
    "sha1": "a", "kind": "pdf", "open_access": True, "oa_evidence": "arxiv", "licence": "CC-BY-4.0", "licence_detail": None,
    "looks": [{"evidence": "arxiv", "found": True, "detail": "the PDF contains the arXiv id 1911.02782"},
              {"evidence": "acl", "found": False, "detail": "no ACL Anthology id in the PDF"}],
}  # fmt: skip
ROWS: dict[str, list[dict[str, Any]]] = {
    "selections": [{"file_sha1": "a", "outcome": "selected"}, {"file_sha1": "b", "outcome": "landscape"}],
    "papers": [
        {"paper_id": "p1", "title": "T", "abstract": "A", "doi": "10.18653/v1/n18", "canonical_pdf": "a", "open_access": True,
         "oa_evidence": "arxiv",
         "access": [ACCESS], "provenance": [("abstract", DECISION)], "record_ids": [], "editorial_by": [],
         "fields_of_study": ["cs.CL"]},
        {"paper_id": "p2", "title": "U", "open_access": False, "access": [], "provenance": [], "record_ids": [], "editorial_by": []},
    ],
    "filtered": [{"paper_id": "p1", "outcome": "kept"}, {"paper_id": "p2", "outcome": "not_english"}],
    "fulltexts": [{"paper_id": "p1", "parse_kind": "pdf", "parse_id": "a:pdf:-:1", "file_sha1": "a", "open_access": True,
                   "parse": json.dumps(PARSE).encode()}],
    "clusters": [{"record_id": "crossref:1", "paper_id": "p1"}],
    "members": [{"paper_id": "p1", "record_id": "crossref:1", "source": "crossref", "kind": "publisher"}],
    "links": [{"paper_id": "p1", "parse_kind": "pdf", "ref_id": f"BIBREF{i}", "cited_paper_id": cited, "reason": "id"}
              for i, cited in enumerate(["p2", None])],
}  # fmt: skip


@pytest.fixture
def lake_with_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S2CORPUS_LAKE", str(tmp_path))
    for name, table in TABLES.items():
        ref = TableRef(open_lake(str(tmp_path)), f"releases/tiny-20230201/{name}", table)
        ref.write(0, [{**dict.fromkeys(table.schema.names), **row} for row in ROWS.get(name, [])])
        ref.commit([0], {"pdf_shards": 1, "paper_shards": 1})


@pytest.mark.usefixtures("lake_with_release")
def test_explain_lists_the_evidence_of_every_full_text() -> None:
    result = CliRunner().invoke(explain_command, ["crossref:1", "--release", "tiny-20230201"], catch_exceptions=False)
    assert result.output.splitlines()[2:] == [
        "  PDF a: open by arxiv; CC-BY-4.0",
        "    arxiv      found: the PDF contains the arXiv id 1911.02782",
        "    acl        not found: no ACL Anthology id in the PDF",
        "  kept; clean has not run",
    ]


def test_every_report_has_its_file() -> None:
    """The report `tables` belongs to the snapshot."""
    assert {*(path.stem for path in (SQL / "reports").glob("*.sql")), "tables"} == set(REPORTS)


@pytest.mark.usefixtures("lake_with_release")
def test_reports_print_counts() -> None:
    for report, lines in {
        "funnel": {"Page width > height,1", "PyPDF error,0", "Not English,1", "Kept,1"},
        "provenance": {"crossref,publisher,1,1", "abstract,majority,crossref,1"},
        "coverage": {"title,1,100.0", "authors,0,0.0"},
    }.items():
        result = CliRunner().invoke(command, [report, "tiny-20230201", "--csv"], catch_exceptions=False)
        assert lines <= set(result.output.splitlines())
