"""Each paper gets the parse of its canonical PDF and its LaTeX parse from any part of the store (SPEC §5.22, S2ORC §2.4)."""

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
"""more papers than are in memory at a time"""


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


def assemble(run: Run) -> None:
    for round in range(stage_row("assemble").rounds):
        AssembleStage().work(run, Shard(0), round)


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
        "access": [make_access(name, "pdf", number % 2 == 0), *([make_access(f"tex of {name}", "latex", True)] if with_latex else [])],
    }  # fmt: skip


def make_access(name: str, kind: str, open_access: bool) -> dict[str, Any]:
    evidence = {"open_access": open_access, "oa_evidence": "arxiv" if open_access else None}
    return {"sha1": sha(name), "kind": kind, **evidence, "licence": "CC-BY-4.0", "looks": []}


def test_every_paper_has_its_texts_and_entries(run: Run) -> None:
    assemble(run)
    rows = run.table(FULLTEXTS).read_shard(0).to_pylist()
    assert len(rows) == PAPERS_OF_BUCKET + PAPERS_OF_BUCKET // 3
    entries = iter(run.table(ENTRIES).read_shard(0).to_pylist())
    keys = [(row["paper_id"], row["parse_kind"]) for row in rows]
    assert keys == sorted(set(keys))
    for row, key in zip(rows, keys, strict=True):
        number, kind = int(row["paper_id"], 16), row["parse_kind"]
        name = f"paper {number}" if kind == "pdf" else f"tex of paper {number}"
        is_open = number % 2 == 0 or kind == "latex"
        read = orjson.loads(row.pop("parse"))
        assert (read["paper_id"], read["bib_entries"]["BIBREF1"]["title"]) == (row["paper_id"], f"Cited by {name}")
        assert row == {
            "paper_id": key[0], "parse_kind": kind, "file_sha1": sha(name), "parse_id": f"{sha(name)}:x:1", "open_access": is_open,
            "oa_evidence": "arxiv" if is_open else None, "licence": "CC-BY-4.0", "text_layer": None,
        }  # fmt: skip
        for ref_id, title in (("BIBREF0", None), ("BIBREF1", f"Cited by {name}")):
            entry = next(entries)
            assert tuple(entry[column] for column in ENTRIES.key) == (*key, ref_id)
            assert (entry["title"], entry["doi"], entry["year"], entry["venue"]) == (title, "10.1/x", 1843, None)
            assert entry["authors"][0]["last"] == "Lovelace" and entry["parse_id"] == row["parse_id"]
    assert next(entries, None) is None


def test_same_input_gives_same_bytes(run: Run) -> None:
    keys = [f"releases/{run.release_id}/{table.name}/part-00000.json" for table in (FULLTEXTS, ENTRIES)]
    assemble(run)
    first = [run.lake.get(key)[0] for key in keys]
    assemble(run)
    assert [run.lake.get(key)[0] for key in keys] == first
