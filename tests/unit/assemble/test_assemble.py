"""Each paper gets the parse of its canonical PDF and its LaTeX parse from any part of the store (S2ORC §2.4)."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

from s2corpus.pipeline.run import Run, Shard
from s2corpus.pipeline.stages import stage_row
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.assemble import AssembleStage
from s2corpus.storage.lake import Lake
from s2corpus.tables.papers import MEMBERS, PAPERS
from s2corpus.tables.parses import ARTICLE_PARSES, LATEX_PARSES, PARSES, STORED_PARSES
from s2corpus.tables.texts import ENTRIES, FULLTEXTS

PAPERS_OF_BUCKET = 150
"""more papers than memory holds at a time"""


def sha(name: str) -> str:
    return hashlib.sha1(name.encode()).hexdigest()


def parse(name: str) -> bytes:
    entry = {
        "title": f"Cited by {name}", "authors": [{"first": "Ada", "middle": [], "last": "Lovelace", "suffix": ""}], "year": 1843,
        "venue": "", "other_ids": {"DOI": ["10.1/x"]}, "raw_text": "A. Lovelace, 1843.",
    }  # fmt: skip
    return orjson.dumps(
        {"paper_id": "", "body_text": [], "bib_entries": {"BIBREF1": entry, "BIBREF0": {**entry, "title": ""}}}
    )


@pytest.fixture
def run(lake: Lake, tmp_path: Path) -> Run:
    """Return a release with one bucket: every paper has a PDF, and every third one also a LaTeX source.

    One parse belongs to no paper.
    """
    run = Run(ReleaseSpec(name="one"), datetime(2023, 2, 1, tzinfo=UTC), lake, tmp_path)
    names = [f"paper {i}" for i in range(PAPERS_OF_BUCKET)]
    latex = names[::3]
    stored = store(run, "pdf", [*names, "nobody's"]) | store(run, "latex", [f"tex of {name}" for name in latex])
    rows = [index(stored, name) | {"file_sha1": sha(name), "kind": "pdf"} for name in [*names, "nobody's"]]
    run.table(PARSES).write(0, sorted(rows, key=lambda row: str(row["file_sha1"])))
    seen = {"first_seen": "2023-01-01T00:00:00Z"}
    run.table(LATEX_PARSES).write(
        0, [index(stored, name) | {"archive_sha1": sha(name)} | seen for name in (f"tex of {name}" for name in latex)]
    )
    run.table(PAPERS).write(0, [paper(i, name, name in latex) for i, name in enumerate(names)])
    run.table(ARTICLE_PARSES).write(0, [])
    run.table(MEMBERS).write(0, [])
    for table in (PARSES, LATEX_PARSES, ARTICLE_PARSES, PAPERS, MEMBERS):
        run.table(table).commit([0], {"paper_shards": 1})
    return run


def assemble(run: Run, buckets: int = 1) -> None:
    """Run all rounds over all buckets."""
    stage = AssembleStage()
    for round in range(stage_row("assemble").rounds):
        for bucket in range(buckets):
            stage.work(run, Shard(bucket), round)


def store(run: Run, kind: str, names: list[str]) -> dict[str, str]:
    """Put parses into a store, forty per part. Return the part of each name."""
    into = run.store(STORED_PARSES, kind)
    stored: dict[str, str] = {}
    for start in range(0, len(names), 40):
        some = names[start : start + 40]
        rows = [
            {"file_sha1": sha(name), "kind": kind, "outcome": "ok", "bytes": 1, "parse": parse(name)} for name in some
        ]
        stored |= dict.fromkeys(some, into.append(rows))
    return stored


def index(stored: dict[str, str], name: str) -> dict[str, Any]:
    return {"parse_id": f"{sha(name)}:x:1", "outcome": "ok", "bytes": 1, "stored": stored[name]}


def paper(number: int, name: str, with_latex: bool) -> dict[str, Any]:
    lists: dict[str, Any] = {
        field.name: [] for field in PAPERS.schema if not field.nullable and pa.types.is_nested(field.type)
    }
    return {
        **dict.fromkeys(PAPERS.schema.names), **lists, "paper_id": f"{number:015x}", "canonical_pdf": sha(name),
        "latex_parse_id": f"{sha(f'tex of {name}')}:latex:1" if with_latex else None, "open_access": number % 2 == 0 or with_latex,
        "access": [judged(name, "pdf", number % 2 == 0), *([judged(f"tex of {name}", "latex", True)] if with_latex else [])],
    }  # fmt: skip


def judged(name: str, kind: str, open_access: bool) -> dict[str, Any]:
    evidence = "arxiv" if open_access else None
    return {
        "sha1": sha(name),
        "kind": kind,
        "open_access": open_access,
        "oa_evidence": evidence,
        "licence": "CC-BY-4.0",
        "looks": [],
    }


def test_every_paper_has_its_own_texts_in_order(run: Run) -> None:
    assemble(run)
    rows = run.table(FULLTEXTS).read_shard(0).to_pylist()
    assert len(rows) == PAPERS_OF_BUCKET + PAPERS_OF_BUCKET // 3
    keys = [(row["paper_id"], row["parse_kind"]) for row in rows]
    assert keys == sorted(set(keys))
    for row in rows:
        number = int(row["paper_id"], 16)
        name = f"paper {number}" if row["parse_kind"] == "pdf" else f"tex of paper {number}"
        assert (row["file_sha1"], row["parse_id"], row["open_access"]) == (
            sha(name),
            f"{sha(name)}:x:1",
            number % 2 == 0 or row["parse_kind"] == "latex",
        )
        assert (row["oa_evidence"], row["licence"]) == ("arxiv" if row["open_access"] else None, "CC-BY-4.0")
        read = orjson.loads(row["parse"])
        assert read["paper_id"] == row["paper_id"]
        assert read["bib_entries"]["BIBREF1"]["title"] == f"Cited by {name}"


def test_bibliographies_are_rows_in_order(run: Run) -> None:
    assemble(run)
    rows = run.table(ENTRIES).read_shard(0).to_pylist()
    keys = [tuple(row[name] for name in ENTRIES.key) for row in rows]
    assert keys == sorted(set(keys)) and len(keys) == 2 * run.table(FULLTEXTS).read_shard(0).num_rows
    # The parses are ordered: latex before pdf.
    assert [rows[i]["title"] for i in (0, 1)] == [None, "Cited by tex of paper 0"]
    assert rows[0]["doi"] == "10.1/x" and rows[0]["authors"][0]["last"] == "Lovelace"


def test_same_input_gives_same_bytes(run: Run) -> None:
    for table in (FULLTEXTS, ENTRIES):
        assemble(run)
        first = run.lake.get(f"releases/{run.release_id}/{table.name}/part-00000.json")
        assemble(run)
        assert run.lake.get(f"releases/{run.release_id}/{table.name}/part-00000.json")[0] == first[0]
