"""The facts about the records of each bucket are equal on DuckDB, with functions that get few rows, and on Spark."""

from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from s2corpus.pipeline.run import Run, Shard
from s2corpus.sources import Record, RecordKind
from s2corpus.sources.arrow import batches
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.vote import VoteStage
from s2corpus.storage import engine
from s2corpus.storage.local_lake import LocalLake
from s2corpus.storage.parts import TableRef
from s2corpus.tables.intake import ARTICLES, LATEX_SOURCES, NOTICES, PDFS, RECORDS
from s2corpus.tables.papers import KNOWN_FILES, KNOWN_JOURNALS, MEMBERS
from s2corpus.tables.parses import ARTICLE_PARSES, LATEX_PARSES
from s2corpus.tables.schema import Table, paper_shard
from tests.unit.s2corpus.clustering.test_engines import SPARK

BUCKETS, PAPERS = 3, 40
Rows = list[dict[str, Any]]


def _places(rng: np.random.Generator, folder: str) -> Rows:
    return [
        {folder: f"drops/{n}", "name": "a", "open_access": [None, True][n], "license": [None, "CC-BY-4.0"][n]}
        for n in range(rng.integers(1, 3))
    ]


def _files(rng: np.random.Generator, table: Table, folder: str = "drop", **columns: Any) -> tuple[Rows, Rows]:
    """Return files that were seen on one of three days, and their parses, of which a third failed."""
    files, parses = [], []
    for n in range(60):
        found = {table.key[0]: f"{n:040x}", "first_seen": f"2023-01-0{rng.integers(1, 4)}T00:00:00Z", "bytes": 1}
        found |= {name: make(n) for name, make in columns.items()}
        files.append({**found, "places": _places(rng, folder)})
        parses.append(
            {**found, "parse_id": f"{n}:x", "outcome": ["ok", "ok", "failed"][n % 3], "citation_style": "none"}
        )
    return files, parses


def _write(run: Run, rng: np.random.Generator) -> dict[str, Any]:
    """Write a release before the stage vote, and return its tables."""
    papers: dict[str, list[Record]] = {}
    for n in range(PAPERS):
        ids = [f"{kind}:{n}-{i}" for i, kind in enumerate(rng.choice(["crossref", "openalex", "grobid"], 3))]
        papers[f"p{n:02d}"] = [
            Record(
                id_, id_.partition(":")[0], RecordKind.PDF if id_.startswith("grobid") else RecordKind.ARCHIVE,
                file_sha1=f"{rng.integers(80):040x}", doi=f"10.1/{rng.integers(50)}", journal=["Blood", "BLOOD.", None][rng.integers(3)],
                arxiv_id=[None, f"1911.{rng.integers(10):05d}"][rng.integers(2)], pubmed_id=[None, "7"][rng.integers(2)],
                subjects=(("Medicine",), ("Biology", "Medicine"), ())[rng.integers(3)], issns=(("1932-6203",), ())[rng.integers(2)],
            )
            for id_ in sorted(ids)
        ]  # fmt: skip
    for bucket in range(BUCKETS):
        of_bucket = [
            (id_, one) for id_, found in papers.items() if paper_shard(id_, BUCKETS) == bucket for one in found
        ]
        table = pa.Table.from_batches(batches([one for _, one in of_bucket], ready_at=""), schema=RECORDS.schema)
        table = table.append_column("paper_id", pa.array([id_ for id_, _ in of_bucket], pa.string()))
        run.table(MEMBERS).write(bucket, table.select(MEMBERS.schema.names))
    run.table(MEMBERS).commit(range(BUCKETS), {"paper_shards": BUCKETS, "files": [1, 1]})
    given: dict[Table, Rows] = {PDFS: _files(rng, PDFS)[0]}
    given[LATEX_SOURCES], given[LATEX_PARSES] = _files(rng, LATEX_SOURCES, arxiv_id=lambda n: f"1911.{n % 20:05d}")
    ids = sorted(one.record_id for found in papers.values() for one in found)
    given[ARTICLES], given[ARTICLE_PARSES] = _files(
        rng, ARTICLES, "folder", kind=lambda n: "jats", record_ids=lambda n: [ids[n], ids[n + 1]], open_access=lambda n: n % 2 == 0
    )  # fmt: skip
    given[NOTICES] = [
        {"about": about, "status": status, "record_id": "crossref:9"}
        for about in ("doi:10.1/3", "doi:10.1/99", "pmid:7")
        for status in ("corrected", "retracted")
    ]
    for table, rows in given.items():
        for part in range(2):
            some = [{name: row.get(name) for name in table.schema.names} for row in rows[part::2]]
            run.table(table).write(part, pa.Table.from_pylist(some, table.schema))
        run.table(table).commit(range(2))
    return {"papers": papers, **{table.name: rows for table, rows in given.items()}}


def _expected(given: dict[str, Any], bucket: int) -> tuple[dict[str, Any], Rows, dict[tuple[str, str], int]]:
    """Return, by the rules, the files, notices and journals that the records of a bucket name."""
    files = {f"pdf:{row['file_sha1']}": row["file_sha1"] for row in given["pdfs"]}
    for kind, key, names in (("arxiv", "archive_sha1", "latex_parses"), ("record", "file_sha1", "article_parses")):
        parsed = [row for row in given[names] if row["outcome"] == "ok"]
        for row in sorted(sorted(parsed, key=lambda row: row[key], reverse=True), key=lambda row: row["first_seen"]):
            for value in row.get("record_ids") or [row["arxiv_id"]]:
                files[f"{kind}:{value}"] = row[key]
    records = [one for id_, found in given["papers"].items() if paper_shard(id_, BUCKETS) == bucket for one in found]
    named = {f"pdf:{one.file_sha1}" for one in records if one.kind is RecordKind.PDF}
    named |= {f"arxiv:{one.arxiv_id}" for one in records} | {f"record:{one.record_id}" for one in records}
    named |= {f"doi:{one.doi}" for one in records} | {f"pmid:{one.pubmed_id}" for one in records}

    counts = defaultdict[tuple[str, str], int](int)
    in_bucket = set[str]()
    for id_, found in given["papers"].items():
        listed = [one for one in found if one.kind is not RecordKind.PDF]
        journals = {"name:blood" for one in listed if one.journal} | {f"issn:{n}" for one in listed for n in one.issns}
        fields = {field for one in listed if one.source != "openalex" for field in one.subjects}
        in_bucket |= journals if paper_shard(id_, BUCKETS) == bucket else set()
        for pair in ((journal, field) for journal in journals for field in ({"", *fields} if fields else ())):
            counts[pair] += 1
    return (
        {about: sha1 for about, sha1 in files.items() if about in named},
        [row for row in given["notices"] if row["about"] in named],
        {key: n for key, n in counts.items() if key[0] in in_bucket},
    )


@pytest.mark.parametrize("name", ["here", pytest.param("local[2]", marks=SPARK)])
def test_each_bucket_gets_facts_about_its_records(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(ReleaseSpec(name="known"), datetime(2023, 2, 1, tzinfo=UTC), LocalLake(tmp_path / "lake"), tmp_path)
    given = _write(run, np.random.default_rng(3))
    monkeypatch.setattr(engine, "_ROWS", 10)
    monkeypatch.setenv("ENGINE", name)
    places = {row["file_sha1"]: row["places"] for row in given["articles"]}
    for _ in range(2):  # A repeated task writes the same parts.
        VoteStage().work(run, Shard(0))
    for bucket in range(BUCKETS):
        refs = (TableRef(run.lake, f"{run.folder}/_vote/{t.name}", t) for t in (KNOWN_FILES, NOTICES, KNOWN_JOURNALS))
        files, notices, journals = (ref.read_shard(bucket).to_pylist() for ref in refs)
        expected = _expected(given, bucket)
        assert [(row["about"], row["sha1"]) for row in files] == sorted(expected[0].items())
        assert notices == sorted(expected[1], key=lambda row: (row["about"], row["status"]))
        counted = [((row["journal"], row["field"]), row["papers"]) for row in journals]
        assert counted == sorted(expected[2].items())
        articles = [row for row in files if row["kind"] == "jats"]
        assert len(articles) > 5 and {row["about"].partition(":")[0] for row in files} == {"pdf", "arxiv", "record"}
        for row in articles:  # The names of the columns differ between articles and other files.
            assert [place | {"folder": place["drop"]} for place in row["places"]] == [
                place | {"drop": place["folder"]} for place in places[row["sha1"]]
            ]
    entries = [entry.key for entry in run.lake.list(f"{run.folder}/_vote/")]
    assert len(entries) == 3 * BUCKETS * 2, "a part and its receipt for each table and bucket"
