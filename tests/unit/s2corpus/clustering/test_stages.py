"""SPEC §4–5: the stages cluster and vote run over a lake folder."""

import io
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

from s2corpus.pipeline import quality
from s2corpus.pipeline.run import Run, Shard
from s2corpus.pipeline.stages import stage_row
from s2corpus.sources import Record, RecordKind, read
from s2corpus.sources.arrow import batches
from s2corpus.spec import ReleaseSpec, ResourceRules, VoteRules
from s2corpus.stages.cluster import ClusterStage
from s2corpus.stages.vote import VoteStage
from s2corpus.storage.exchange import RowsRemoved
from s2corpus.storage.lake import Lake
from s2corpus.tables.intake import ARTICLES, DELIVERIES, LATEX_SOURCES, NOTICES, PDFS, RECORDS
from s2corpus.tables.papers import CLUSTERS, PAPERS
from s2corpus.tables.parses import ARTICLE_PARSES, LATEX_PARSES, PDF_RECORDS
from s2corpus.tables.schema import Table
from tests.unit.s2corpus.clustering.samples import pdf
from tests.unit.s2corpus.deliveries.samples import change_spec

SHA1, OTHER = "a" * 40, "b" * 40
TITLE_OF_PDF = "Deep parsing of papers at scale"
GRAPHS = {"title": "An unrelated paper on graphs", "authors": "Kurt Gödel", "year": 2001}
RECORD_LINES: list[dict[str, Any]] = [
    {"record_id": "crossref:10.18653/v1/n18", "source": "crossref", "kind": "publisher", "title": TITLE_OF_PDF,
     "authors": "Ada Lovelace, Alan Turing", "date": "2020-05-01", "doi": "10.18653/v1/n18", "venue": "Journal of Parsing"},
    {"record_id": "arxiv:1911.02782", "source": "arxiv", "title": "Deep Parsing of Papers, at Scale",
     "authors": "Ada Lovelace; Alan Turing", "date": "2019-11-07", "arxiv_id": "1911.02782", "abstract": "We parse papers. " * 10},
    {**GRAPHS, "record_id": "pubmed:1", "source": "pubmed", "venue": "Graphs"},
    {**GRAPHS, "record_id": "declared:d/b.pdf", "source": "declared", "venue": "Ours", "file_sha1": OTHER},
]  # fmt: skip


@pytest.fixture
def run(lake: Lake, tmp_path: Path) -> Run:
    """Return a release with four records and two PDFs. The second has no declaration of openness."""
    spec = ReleaseSpec(name="tiny", resources=ResourceRules(papers_per_shard=1))
    run = Run(spec, datetime(2023, 2, 1, tzinfo=UTC), lake, tmp_path)
    headers = [
        pdf(f"grobid:{SHA1}", TITLE_OF_PDF, "", None, file_sha1=SHA1, doi="10.18653/v1/n18"),
        pdf(f"grobid:{OTHER}", None, "", None, file_sha1=OTHER),
    ]
    place = {"drop": "d", "name": "a.pdf", "open_access": True, "license": "CC-BY-4.0"}
    lines = read("jsonl", io.BytesIO(b"\n".join(orjson.dumps(line) for line in RECORD_LINES)))
    given: dict[Table, Any] = {
        RECORDS: make_table(line for line in lines if isinstance(line, Record)), PDF_RECORDS: make_table(headers),
        PDFS: [{"file_sha1": SHA1, "bytes": 1, "places": [place], "first_seen": "2023-01-05T00:00:00Z"}],
    }  # fmt: skip
    facts: dict[Table, Any] = {PDFS: {"pdf_shards": 1}, DELIVERIES: {"inputs": "", "parent": None}}
    for table in (*given, LATEX_SOURCES, LATEX_PARSES, ARTICLES, ARTICLE_PARSES, NOTICES, DELIVERIES):
        run.table(table).write(0, given.get(table, []))
        run.table(table).commit([0], facts.get(table))
    run.lake.put(f"releases/{run.release_id}/corrections.jsonl", b"")
    return run


def make_table(found: Iterable[Record]) -> pa.Table:
    return pa.Table.from_batches(batches(found, ready_at="2023-01-05T00:00:00Z"), schema=RECORDS.schema)


def run_stage(run: Run, stage: Any) -> dict[str, float]:
    for number in range(stage_row(stage.name).rounds):
        for shard in stage.plan(run, number):
            stage.work(run, shard, number)
    quality.measure(run, stage.name, stage.finish(run))
    return quality.read_metrics(run)[stage.name]


def test_every_record_is_stored_with_its_paper(run: Run) -> None:
    metrics = run_stage(run, ClusterStage())
    papers = dict(zip(*run.table(CLUSTERS).read(["record_id", "paper_id"]).to_pydict().values(), strict=True))
    assert len({papers[id_] for id_ in ("crossref:10.18653/v1/n18", "arxiv:1911.02782", f"grobid:{SHA1}")}) == 1
    expected = {"papers": 2, "rows.members": 6, "edges.title": 2, "edges.doi": 1, "edges.declared": 1}
    assert {name: metrics[name] for name in expected} == expected
    assert run.paper_shards == len(set(papers.values())) == 2


@pytest.mark.parametrize(("profile", "open_access", "venue"), [("public", 1, "Graphs"), ("own", 2, "Ours")])
def test_vote_follows_the_clusters(run: Run, profile: str, open_access: int, venue: str) -> None:
    """In profile `own` all PDFs are open, and `declared` is the most trusted source (SPEC §5.10, §5.19)."""
    run.spec = run.spec.model_copy(update={"profile": profile})
    run_stage(run, ClusterStage())
    metrics = run_stage(run, VoteStage())
    assert metrics["rows.papers"] == metrics["with_pdf"] == 2 and metrics["open_access"] == open_access
    paper, other = sorted(run.table(PAPERS).read().to_pylist(), key=lambda row: row["doi"] is None)
    assert (paper["title"], paper["date"], paper["arxiv_id"]) == (TITLE_OF_PDF, "2020-05-01", "1911.02782")
    assert (paper["canonical_pdf"], paper["license"]) == (SHA1, "CC-BY-4.0")
    assert dict(paper["provenance"])["title"]["rule"] == "publisher" and other["venue"] == venue
    with pytest.raises(RowsRemoved, match="_vote/journals is incomplete"):  # as in a build that another one overtakes
        VoteStage().work(run, Shard(0), 1)


@pytest.mark.parametrize(("infer", "fields"), [(True, ["Medicine"]), (False, [])])
def test_field_is_inferred_from_papers_of_all_buckets(run: Run, infer: bool, fields: list[str]) -> None:
    """Each paper is in another bucket (SPEC §5.14)."""
    run = change_spec(run, vote=VoteRules(infer_fields=infer))
    subjects: list[list[str]] = [[], *[["Medicine"]] * 5]
    titles = [
        "Sleep of owls", "Vaccines in trials", "Hearts of athletes", "On bone marrow", "Kidney stones", "Eyes and light",
    ]  # fmt: skip
    found = (
        Record(f"pubmed:{n}", "pubmed", RecordKind.ARCHIVE, title=title, subjects=tuple(found), issns=("1932-6203",))
        for n, (title, found) in enumerate(zip(titles, subjects, strict=True))
    )
    run.table(RECORDS).write(0, make_table(found))
    run.table(RECORDS).commit([0])
    run_stage(run, ClusterStage())
    metrics = run_stage(run, VoteStage())
    papers = {row["title"]: row for row in run.table(PAPERS).read().to_pylist()}
    assert papers["Sleep of owls"]["fields_of_study"] == fields and run.paper_shards >= 6
    counts = {name: metrics.get(f"fields.{name}") for name in ("hidden", "hidden.correct", "inferred")}
    # Each of the five has only four others.
    assert counts == ({"hidden": 5, "hidden.correct": None, "inferred": 1} if infer else dict.fromkeys(counts))


@pytest.mark.parametrize(("profile", "declared", "opened"), [("public", None, 0), ("own", None, 1), ("own", False, 0)])
def test_own_pdfs_are_open_unless_declared_closed(run: Run, profile: str, declared: bool | None, opened: int) -> None:
    (row,) = run.table(PDFS).read().to_pylist()
    row["places"][0]["open_access"] = declared
    header = make_table([pdf(f"grobid:{SHA1}", TITLE_OF_PDF, "", None, file_sha1=SHA1)])
    for table, rows in ((PDFS, [row]), (PDF_RECORDS, header), (RECORDS, [])):  # No record shows that the PDF is open.
        run.table(table).write(0, rows)
        run.table(table).commit([0], {"pdf_shards": 1})
    own = change_spec(run, profile=profile)
    run_stage(own, ClusterStage())
    assert run_stage(own, VoteStage())["open_access"] == opened
