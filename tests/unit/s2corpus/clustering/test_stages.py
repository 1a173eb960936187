"""The stages cluster, vote and filter run over a lake folder, and again in a second release."""

from __future__ import annotations

import io
import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from s2corpus.compiled import MAX_PYTHON_COMPARISONS, MAX_PYTHON_ROWS
from s2corpus.pipeline import quality
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import stage_row
from s2corpus.sources import Record, RecordKind, read
from s2corpus.sources.arrow import batches
from s2corpus.spec import ReleaseSpec, ResourceRules
from s2corpus.stages import cluster as stage
from s2corpus.stages.cluster import ClusterStage
from s2corpus.stages.filter import FilterStage
from s2corpus.stages.vote import VoteStage
from s2corpus.storage.lake import Lake
from s2corpus.tables.intake import ARTICLES, DELIVERIES, LATEX_SOURCES, NOTICES, PDFS, RECORDS
from s2corpus.tables.papers import ALIASES, CLUSTERS, EDGES, MEMBERS, PAPERS
from s2corpus.tables.parses import ARTICLE_PARSES, LATEX_PARSES, PDF_RECORDS
from s2corpus.tables.schema import Table
from s2corpus.tables.texts import ENTRIES, FILTERED, FULLTEXTS

RECORD_LINES: list[dict[str, Any]] = [
    {"record_id": "crossref:10.18653/v1/n18", "source": "crossref", "kind": "publisher", "title": "Deep parsing of papers at scale",
     "authors": "Ada Lovelace, Alan Turing", "date": "2020-05-01", "doi": "10.18653/v1/n18", "venue": "Journal of Parsing"},
    {"record_id": "arxiv:1911.02782", "source": "arxiv", "title": "Deep Parsing of Papers, at Scale",
     "authors": "Ada Lovelace; Alan Turing", "date": "2019-11-07", "arxiv_id": "1911.02782", "abstract": "We parse papers. " * 10},
    {"record_id": "dblp:conf/x/1", "source": "dblp", "title": "An unrelated paper on graphs", "authors": "Kurt Gödel", "year": 2001},
]  # fmt: skip
SHA1 = "a" * 40


def records(lines: list[dict[str, Any]]) -> list[Record]:
    found = list(read("jsonl", io.BytesIO(b"\n".join(orjson.dumps(line) for line in lines))))
    records = [entry for entry in found if isinstance(entry, Record)]
    assert records == found
    return records


@pytest.fixture
def run(lake: Lake, tmp_path: Path) -> Run:
    return Run(
        ReleaseSpec(name="tiny", resources=ResourceRules(papers_per_shard=1)),
        datetime(2023, 2, 1, tzinfo=UTC),
        lake,
        tmp_path,
    )


def deliver(
    run: Run, lines: list[dict[str, Any]], ready_at: str = "2023-01-05T00:00:00Z", parent: str | None = None
) -> None:
    header = Record(
        f"grobid:{SHA1}", "grobid", RecordKind.PDF, title="Deep parsing of papers at scale", file_sha1=SHA1, doi="10.18653/v1/n18"
    )  # fmt: skip
    place = {"drop": "d", "name": "a.pdf", "open_access": True, "licence": "CC-BY-4.0"}
    pdf = {"file_sha1": SHA1, "bytes": 1, "places": [place], "first_seen": ready_at}
    given: dict[Table, Any] = {
        RECORDS: make_table(records(lines), ready_at), PDF_RECORDS: make_table([header], ready_at), PDFS: [pdf],
    }  # fmt: skip
    facts: dict[Table, Any] = {PDFS: {"pdf_shards": 1}, DELIVERIES: {"inputs": "", "parent": parent}}
    for table in (*given, LATEX_SOURCES, LATEX_PARSES, ARTICLES, ARTICLE_PARSES, NOTICES, DELIVERIES):
        run.table(table).write(0, given.get(table, []))
        run.table(table).commit([0], facts.get(table))
    run.lake.put(
        f"releases/{run.release_id}/suppress.jsonl", json.dumps({"doi": "10.18653/V1/N18", "reason": "asked"}).encode()
    )


def make_table(found: list[Record], ready_at: str) -> pa.Table:
    return pa.Table.from_batches(batches(found, delivery="d", ready_at=ready_at), schema=RECORDS.schema)


def run_stage(run: Run, stage: Any) -> dict[str, float]:
    for number in range(stage_row(stage.name).rounds):
        for shard in stage.plan(run, number):
            stage.work(run, shard, number)
    quality.measure(run, stage.name, stage.finish(run))
    return quality.read_metrics(run)[stage.name]


def write_no_texts(run: Run) -> None:
    for table in (FULLTEXTS, ENTRIES):
        for shard in range(run.paper_shards):
            run.table(table).write(shard, [])
        run.table(table).commit(range(run.paper_shards))


def test_long_titles_count_as_many_comparisons(run: Run) -> None:
    deliver(run, RECORD_LINES)
    assert stage._comparisons(run) < MAX_PYTHON_COMPARISONS
    deliver(run, [{**RECORD_LINES[0], "record_id": f"crossref:{n}", "title": "long words " * 1000} for n in range(200)])
    assert stage._comparisons(run) > MAX_PYTHON_COMPARISONS
    deliver(run, [{**RECORD_LINES[0], "record_id": f"crossref:{n}"} for n in range(MAX_PYTHON_ROWS)])
    assert stage._comparisons(run) > MAX_PYTHON_COMPARISONS


def test_every_record_is_stored_with_its_paper(run: Run) -> None:
    deliver(run, RECORD_LINES)
    metrics = run_stage(run, ClusterStage())
    papers = dict(zip(*run.table(CLUSTERS).read(["record_id", "paper_id"]).to_pydict().values(), strict=True))
    assert len({papers[id_] for id_ in ("crossref:10.18653/v1/n18", "arxiv:1911.02782", f"grobid:{SHA1}")}) == 1
    expected = {"papers": 2, "rows.members": 4, "edges.title": 1, "edges.doi": 1}
    assert {name: metrics[name] for name in expected} == expected
    assert run.paper_shards == len(set(papers.values())) == 2
    for shard in range(2):
        members = run.table(MEMBERS).read(["paper_id", "record_id"], shard=shard).to_pylist()
        assert members == sorted(members, key=lambda row: (row["paper_id"], row["record_id"]))
    assert run.table(EDGES).committed().rows == 2


def test_cut_edges_and_decided_fields_are_counted(run: Run) -> None:
    deliver(run, [*RECORD_LINES, {**RECORD_LINES[0], "record_id": "crossref:2", "doi": "10.18653/v1/n19"}])
    conflicts = run_stage(run, ClusterStage())["conflicts"]
    assert conflicts == run.table(EDGES).read()["taken"].to_pylist().count(False) > 0
    metrics = run_stage(run, VoteStage())
    decided = [dict(row["provenance"]).values() for row in run.table(PAPERS).read().to_pylist()]
    counts = Counter(f"rule.{decision['rule']}" for fields in decided for decision in fields)
    assert {name: n for name, n in metrics.items() if name.startswith("rule.")} == counts


def test_notice_reaches_the_paper_by_identifier(run: Run) -> None:
    deliver(run, RECORD_LINES)
    said = {"about": "doi:10.18653/v1/n18", "status": "retracted", "record_id": "crossref:10.18653/v1/n19"}
    run.table(NOTICES).write(0, [said, {**said, "about": "doi:10.1/of-another"}])
    run.table(NOTICES).commit([0])
    run_stage(run, ClusterStage())
    run_stage(run, VoteStage())
    papers = {row["doi"]: (row["editorial"], row["editorial_by"]) for row in run.table(PAPERS).read().to_pylist()}
    assert papers == {"10.18653/v1/n18": ("retracted", ["crossref:10.18653/v1/n19"]), None: (None, [])}


def test_vote_and_filter_follow_the_clusters(run: Run) -> None:
    deliver(run, RECORD_LINES)
    run_stage(run, ClusterStage())
    metrics = run_stage(run, VoteStage())
    assert metrics["rows.papers"] == 2 and metrics["with_pdf"] == 1 and metrics["open_access"] == 1
    (paper,) = [row for row in run.table(PAPERS).read().to_pylist() if row["doi"]]
    expected = {
        "title": "Deep parsing of papers at scale", "date": "2020-05-01", "date_precision": "day", "arxiv_id": "1911.02782",
        "canonical_pdf": SHA1, "licence": "CC-BY-4.0",
    }  # fmt: skip
    assert {name: paper[name] for name in expected} == expected
    assert dict(paper["provenance"])["title"]["rule"] == "publisher"
    write_no_texts(run)
    run_stage(run, FilterStage())
    outcomes = dict(zip(*run.table(FILTERED).read(["paper_id", "outcome"]).to_pydict().values(), strict=True))
    assert outcomes.pop(paper["paper_id"]) == "suppressed" and [*outcomes.values()] == ["short_text"]


def test_second_release_retains_ids_and_aliases(run: Run, tmp_path: Path) -> None:
    apart = [{**RECORD_LINES[0], "title": "Something else entirely, by hand"}, *RECORD_LINES[1:]]
    deliver(run, apart)
    run_stage(run, ClusterStage())
    before = dict(zip(*run.table(CLUSTERS).read(["record_id", "paper_id"]).to_pydict().values(), strict=True))
    snapshot = tmp_path / "lake" / "snapshots" / "tiny-20230201-00000000"
    snapshot.mkdir(parents=True)
    for table in (CLUSTERS, ALIASES):
        pq.write_table(run.table(table).read(), snapshot / f"{table.name}.parquet")

    later = Run(run.spec, datetime(2023, 3, 1, tzinfo=UTC), run.lake, tmp_path)
    deliver(later, RECORD_LINES, ready_at="2023-02-05T00:00:00Z", parent=snapshot.name)
    run_stage(later, ClusterStage())
    after = dict(zip(*later.table(CLUSTERS).read(["record_id", "paper_id"]).to_pydict().values(), strict=True))
    assert after["dblp:conf/x/1"] == before["dblp:conf/x/1"]
    assert after["crossref:10.18653/v1/n18"] == after["arxiv:1911.02782"] in before.values()
    (alias,) = later.table(ALIASES).read().to_pylist()
    assert {alias["alias"], alias["paper_id"]} == {before["crossref:10.18653/v1/n18"], before["arxiv:1911.02782"]}
    first = later.table(CLUSTERS).read(["first_ready"])["first_ready"].unique().to_pylist()
    assert first == ["2023-01-05T00:00:00Z"]  # Redelivered, but the date is unchanged.


def test_empty_release_has_empty_tables(run: Run) -> None:
    deliver(run, [])
    run.table(PDF_RECORDS).write(0, [])
    run.table(PDF_RECORDS).commit([0])
    run_stage(run, ClusterStage())
    assert run.paper_shards == 1 and run.table(CLUSTERS).committed().rows == 0
    assert run_stage(run, VoteStage())["rows.papers"] == 0
