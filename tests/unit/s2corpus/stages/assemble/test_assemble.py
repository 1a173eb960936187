"""Each paper gets the parse of its canonical PDF and its LaTeX parse from any part of the store (SPEC §5.22, S2ORC §2.4)."""

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

COUNT = 150
"""more papers than are in memory at a time"""
NAMES = [f"paper {number}" for number in range(COUNT)]


def sha(name: str) -> str:
    return hashlib.sha1(name.encode()).hexdigest()


def parse(name: str) -> bytes:
    authors = [{"first": "Ada", "middle": [], "last": "Lovelace", "suffix": ""}]
    entry = {"authors": authors, "year": 1843, "venue": "", "other_ids": {"DOI": ["10.1/x"]}, "raw_text": ""}
    entries = {"BIBREF1": {**entry, "title": f"Cited by {name}"}, "BIBREF0": {**entry, "title": ""}}
    return orjson.dumps({"paper_id": "", "body_text": [], "bib_entries": entries})


@pytest.fixture
def run(lake: Lake, tmp_path: Path) -> Run:
    """Return a release: every paper has a PDF, every third one also a LaTeX source, and one parse belongs to no paper."""
    run = Run(ReleaseSpec(name="one"), datetime(2023, 2, 1, tzinfo=UTC), lake, tmp_path)
    pdfs = store(run, "pdf", [*NAMES, "nobody's"])
    latex = store(run, "latex", [f"tex of {name}" for name in NAMES[::3]])
    run.table(PARSES).write(0, sorted(({**row, "kind": "pdf"} for row in pdfs), key=lambda row: str(row["file_sha1"])))
    seen = {"first_seen": "2023-01-01T00:00:00Z"}
    run.table(LATEX_PARSES).write(0, [{**row, **seen, "archive_sha1": row["file_sha1"]} for row in latex])
    run.table(PAPERS).write(0, [paper(number) for number in range(COUNT)])
    run.table(ARTICLE_PARSES).write(0, [])
    run.table(MEMBERS).write(0, [])
    for table in (PARSES, LATEX_PARSES, ARTICLE_PARSES, PAPERS, MEMBERS):
        run.table(table).commit([0], {"paper_shards": 1})
    return run


def store(run: Run, kind: str, names: list[str]) -> list[dict[str, Any]]:
    """Put parses into a store, forty per part. Return their rows."""
    rows = []
    for start in range(0, len(names), 40):
        known = {"outcome": "ok", "bytes": 1}
        some = [{"file_sha1": sha(name), "parse": parse(name), **known} for name in names[start : start + 40]]
        part = run.store(STORED_PARSES, kind).append([{**row, "kind": kind} for row in some])
        rows += [{**row, "parse_id": f"{row['file_sha1']}:x:1", "stored": part} for row in some]
    return [{key: value for key, value in row.items() if key != "parse"} for row in rows]


def paper(number: int) -> dict[str, Any]:
    """Return a paper of which every second PDF and every LaTeX source is open."""
    name, has_latex, is_open = NAMES[number], number % 3 == 0, number % 2 == 0
    files = [(name, "pdf", is_open), (f"tex of {name}", "latex", True)][: 1 + has_latex]
    return {
        **{field.name: [] if pa.types.is_nested(field.type) else None for field in PAPERS.schema},
        "paper_id": f"{number:015x}", "canonical_pdf": sha(name), "open_access": is_open or has_latex,
        "latex_parse_id": f"{sha(f'tex of {name}')}:latex:1" if has_latex else None,
        "access": [
            {"sha1": sha(name), "kind": kind, "open_access": open_access, "oa_evidence": "arxiv" if open_access else None,
             "license": "CC-BY-4.0", "searches": []} for name, kind, open_access in files
        ],
    }  # fmt: skip


def test_every_paper_has_its_texts_and_entries(run: Run) -> None:
    """The same input gives the same bytes."""
    assemble(run)
    parts = [f"releases/{run.release_id}/{table.name}/part-00000.json" for table in (FULLTEXTS, ENTRIES)]
    first = [run.lake.get(key)[0] for key in parts]
    assemble(run)
    assert [run.lake.get(key)[0] for key in parts] == first
    rows = run.table(FULLTEXTS).read_shard(0).to_pylist()
    entries = iter(run.table(ENTRIES).read_shard(0).to_pylist())
    keys = [(row["paper_id"], row["parse_kind"]) for row in rows]
    assert keys == sorted(set(keys)) and len(keys) == COUNT + COUNT // 3
    for row, (paper_id, kind) in zip(rows, keys, strict=True):
        number = int(paper_id, 16)
        name = NAMES[number] if kind == "pdf" else f"tex of {NAMES[number]}"
        is_open = number % 2 == 0 or kind == "latex"
        assert orjson.loads(row.pop("parse")) == {**orjson.loads(parse(name)), "paper_id": paper_id}
        assert row == {
            "paper_id": paper_id, "parse_kind": kind, "file_sha1": sha(name), "parse_id": f"{sha(name)}:x:1", "open_access": is_open,
            "oa_evidence": "arxiv" if is_open else None, "license": "CC-BY-4.0", "text_layer": None,
        }  # fmt: skip
        for ref_id, title in (("BIBREF0", None), ("BIBREF1", f"Cited by {name}")):
            entry = next(entries)
            assert tuple(entry[column] for column in ENTRIES.key) == (paper_id, kind, ref_id)
            assert (entry["title"], entry["doi"], entry["year"], entry["venue"]) == (title, "10.1/x", 1843, None)
            assert entry["authors"][0]["last"] == "Lovelace" and entry["parse_id"] == row["parse_id"]
    assert next(entries, None) is None


def assemble(run: Run) -> None:
    for round in range(stage_row("assemble").rounds):
        AssembleStage().work(run, Shard(0), round)
